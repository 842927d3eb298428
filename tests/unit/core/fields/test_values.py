"""Numbers, units, currencies and dates as people write them."""

from __future__ import annotations

from datetime import date

import pytest

from evercrawl.core.fields.values import find_date, find_number, read_text
from evercrawl.model.fields import FieldType


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


@pytest.mark.parametrize(
    ("text", "lang", "day"),
    [
        ("٥ مارس ٢٠٢٦", "ar", date(2026, 3, 5)),
        ("07\u200f/01\u200f/2026", "ar", date(2026, 1, 7)),
        ("5 במרץ 2026", "he", date(2026, 3, 5)),
        ("7 जन॰ 2026", "hi", date(2026, 1, 7)),
        ("5 มี.ค. 2569", "th", date(2026, 3, 5)),
        ("令和8年3月5日", "ja", date(2026, 3, 5)),
        ("3月5日（2026年）", "ja", date(2026, 3, 5)),
        ("7 tháng 1, 2026", "vi", date(2026, 1, 7)),
        ("2026. gada 7. janvāris", "lv", date(2026, 1, 7)),
        ("2026 m. sausio 7 d.", "lt", date(2026, 1, 7)),
        ("7 січ. 2026 р.", "uk", date(2026, 1, 7)),
        ("10. listopada 2026.", "hr", date(2026, 10, 10)),
        ("10 listopada 2026", "", date(2026, 11, 10)),
        ("24 Agustus 2026", "id", date(2026, 8, 24)),
        ("19 d'abr. 2026", "ca", date(2026, 4, 19)),
        ("You may order up to 12 pieces of the stock of 2026", "en", None),
    ],
)
def test_dates_of_many_languages(text: str, lang: str, day: date | None):
    assert read_text([text], FieldType.DATE, lang=lang).value == (None if day is None else day.isoformat())


@pytest.mark.parametrize(
    ("text", "lang", "value", "unit"),
    [
        ("السعر: ١٬٨٩٩٫٥٠ ر.س", "ar", 1899.5, "SAR"),
        ("\u200f0.99\xa0ج.م.\u200f", "ar", 0.99, "EGP"),
        ("۱۲٬۵۰۰ تومان", "fa", 12500, "IRT"),
        ("￥１２，８００", "ja", 12800, "JPY"),
        ("¥88.00", "zh-cn", 88.0, "CNY"),
        ("249 kr", "sv", 249, "SEK"),
        ("249 kr", "", 249, "kr"),
        ("1 234,50 ₸", "kk", 1234.5, "KZT"),
        ("Rp1.250.000", "id", 1250000, "IDR"),
        ("AED 45.00", "en", 45.0, "AED"),
    ],
)
def test_prices_of_many_languages(text: str, lang: str, value: float, unit: str):
    assert find_number(text, lang=lang) == (value, unit)


def test_american_pages_write_the_month_first():
    assert find_date("3/4/2026", lang="en-us") == date(2026, 3, 4)
    assert find_date("18/11/2026", lang="en-us") == date(2026, 11, 18)
