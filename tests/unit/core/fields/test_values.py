"""Numbers, units, currencies and dates as people write them."""

from __future__ import annotations

from datetime import date

import pytest

from evercrawl.core.fields.values import find_date, find_number


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("Price: $1,299.00", 1299.0, "USD"),
        ("1.299,00 €", 1299.0, "EUR"),
        ("1 299,50 kr", 1299.5, "kr"),
        ("CHF 1'299.–", 1299, "CHF"),
        ("EUR 12", 12, "EUR"),
        ("1,299 GBP", 1299, "GBP"),
        ("0.125 %", 0.125, "%"),
        ("-3 °C", -3, "°C"),
        ("-$5.20", -5.2, "USD"),
        ("1.234.567", 1234567, None),
        ("12,5", 12.5, None),
        ("42 items in stock", 42, "items"),
        ("₹ 1,23,456", 123456, "INR"),
        ("１２ 個", 12, "個"),
        ("¥12,000 (tax included)", 12000, "JPY"),
        ("version 2", 2, None),
        ("no number", None, None),
        ("120 km/h", 120, "km/h"),
        ("1.5", 1.5, None),
        ("3 4", 3, None),
        ("from £9", 9, "GBP"),
        ("1.234,56 €", 1234.56, "EUR"),
        ("₹1,23,456", 123456, "INR"),
        ("A$ 12.50", 12.5, "AUD"),
        ("R$ 1.234,56", 1234.56, "BRL"),
        ("1 234,50 €", 1234.5, "EUR"),
        ("45 900 zł", 45900, "PLN"),
        ("年 3.45 %", 3.45, "%"),
    ],
)
def test_numbers(text: str, number: float | None, unit: str | None):
    found = find_number(text)
    if number is None:
        assert found is None
    else:
        assert found is not None
        assert (found.number, found.unit) == (number, unit)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Updated 2026-11-18 10:00", date(2026, 11, 18)),
        ("18.11.2026", date(2026, 11, 18)),
        ("11/18/2026", date(2026, 11, 18)),
        ("3/4/2026", date(2026, 4, 3)),
        ("November 18, 2026", date(2026, 11, 18)),
        ("18 novembre 2026", date(2026, 11, 18)),
        ("18. März 2026", date(2026, 3, 18)),
        ("3 de agosto de 2026", date(2026, 8, 3)),
        ("2026年11月18日", date(2026, 11, 18)),
        ("1st of May 2026", date(2026, 5, 1)),
        ("Wed, 18 Nov 2026 10:00:00 GMT", date(2026, 11, 18)),
        ("31.02.2026", None),
        ("Dodano 18 listopada 2026", date(2026, 11, 18)),
        ("18 ноября 2026 г.", date(2026, 11, 18)),
        ("18. marraskuuta 2026", date(2026, 11, 18)),
        ("18 Kasım 2026", date(2026, 11, 18)),
        ("2026. november 18.", date(2026, 11, 18)),
        ("18-Nov-2026", date(2026, 11, 18)),
        ("18.11.26", date(2026, 11, 18)),
        ("1er mars 2026", date(2026, 3, 1)),
        ("12 items 2026, updated 3 May 2026", date(2026, 5, 3)),
        ("2026-11-18 replaces 2025-01-02", date(2026, 11, 18)),
        ("soon", None),
    ],
)
def test_dates(text: str, day: date | None):
    assert find_date(text) == day


def test_american_pages_write_the_month_first():
    assert find_date("3/4/2026", is_month_first=True) == date(2026, 3, 4)
    assert find_date("18/11/2026", is_month_first=True) == date(2026, 11, 18)
