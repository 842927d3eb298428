"""What the pages of the ten templates say on each day: a price, a table, a list and a date, as plain values."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import NamedTuple

FIRST_DAY = date(2026, 3, 2)
PRICE_CHANGE, TABLE_CHANGE, LIST_CHANGE, DATE_CHANGE = 0.35, 0.25, 0.3, 0.4
"""Chance per day that each of them changes."""
SOLD_OUT = 0.04
"""Chance per day that the price is missing for one or two days."""


class DayFacts(NamedTuple):
    """The truth about one page on one day."""

    price: float | None  # None: the page shows none.
    rows: tuple[tuple[str, str], ...]
    items: tuple[str, ...]
    day: date
    other_prices: tuple[float, ...]  # Of other things on the same page.


class Subject(NamedTuple):
    """What the page of one template is about."""

    price: float
    step: float  # The smallest difference of two prices.
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # Labels with the values that each may have.
    items: tuple[str, ...]  # Entries that may be in the list.


def live(subject: Subject, *, seed: str, days: int) -> list[DayFacts]:
    """Return the facts of each day."""
    chance = Random(seed)
    price, missing = subject.price, 0
    cells = [values[0] for _, values in subject.rows]
    items = list(subject.items[: max(3, len(subject.items) // 2)])
    waiting = [item for item in subject.items if item not in items]
    day = FIRST_DAY - timedelta(days=3)
    others = tuple(_near(price, subject.step, chance) for _ in range(3))
    found = []
    for number in range(days):
        if number:
            if chance.random() < PRICE_CHANGE:
                price = _near(price, subject.step, chance)
            if chance.random() < TABLE_CHANGE:
                at = chance.randrange(len(cells))
                cells[at] = chance.choice(subject.rows[at][1])
            if chance.random() < LIST_CHANGE:
                _change_list(items, waiting, chance)
            if chance.random() < DATE_CHANGE:
                day = FIRST_DAY + timedelta(days=number)
            missing = missing - 1 if missing else (chance.randint(1, 2) if chance.random() < SOLD_OUT else 0)
        rows = tuple((label, cell) for (label, _), cell in zip(subject.rows, cells, strict=True))
        found.append(DayFacts(None if missing else price, rows, tuple(items), day, others))
    return found


def _near(price: float, step: float, chance: Random) -> float:
    steps = max(4, round(price / step))
    changed = round(steps * chance.uniform(0.8, 1.22)) * step
    return round(max(step, changed), 2)


def _change_list(items: list[str], waiting: list[str], chance: Random) -> None:
    if waiting and (len(items) < 4 or chance.random() < 0.5):
        items.insert(chance.randrange(len(items) + 1), waiting.pop(0))
    elif len(items) > 3:
        waiting.append(items.pop(chance.randrange(len(items))))
