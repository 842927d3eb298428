"""How old is what a page has earned? Generations, counted for all shards of a process together.

A generation is over when half of all credit has been spent. Were each shard to count its own, a small one
would have seen several of them while a large one is in its first, and what their pages have earned could not
be compared.
"""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.core.credit.flow import Ledger

HALF_LIVES = 2
"""Generations in which as much credit is spent as there is; what a page earned counts half in the next."""


class Age(NamedTuple):
    """The generation that all shards of a process are in, and what they have spent in it."""

    generation: int = 0
    turnover: int = 0


def joined(age: Age, ledger: Ledger) -> Age:
    """The age with a shard more, as its books were stored: the oldest says which generation it is."""
    if ledger.generation > age.generation:
        return Age(ledger.generation, ledger.turnover)
    same = ledger.generation == age.generation
    return age._replace(turnover=age.turnover + ledger.turnover) if same else age


def spent(age: Age, credit: int, *, whole: int) -> Age:
    """The age when so much more was spent of all the credit there is."""
    if whole < HALF_LIVES:
        return age
    generations, turnover = divmod(age.turnover + credit, whole // HALF_LIVES)
    return Age(age.generation + generations, turnover)


def aged(ledger: Ledger, age: Age) -> Ledger:
    """The books in the generation that all shards are in."""
    if ledger.generation >= age.generation:
        return ledger
    return ledger._replace(generation=age.generation, turnover=0)
