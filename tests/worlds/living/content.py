"""The content of a living site's pages, and the edits of its authors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from evercrawl.testing.site_plan import ChangeTimes, hash_number, random_stream
from tests.worlds.living.language import Language, sentence

SHORTEST_TEXT, LONGEST_TEXT = 2, 12
"""Paragraphs of a page."""
COMMON_SENTENCES = 6
"""Sentences that authors add to many pages at different times."""
SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a page at some moment."""

    title: str
    paragraphs: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


class PageContent:
    """The content of one page at any moment. Reading does not change it."""

    def __init__(self, key: str, own: Language, *, page: int, per_day: float) -> None:
        self._key = f"{key}/{page}"
        self._own = own
        self._changes = ChangeTimes(random_stream(self._key, "changes"), per_day=per_day)
        shared = random_stream(key, "common")
        self._common = tuple(sentence(shared, own) for _ in range(COMMON_SENTENCES))
        self._states = [self._first()]

    def at(self, at_s: float) -> Content:
        """Return the content at this moment."""
        count = self._changes.count(at_s)
        while len(self._states) <= count:
            self._states.append(self._edited(len(self._states)))
        return self._states[count]

    def _first(self) -> Content:
        chance, own = random_stream(self._key, "first"), self._own
        paragraphs = tuple(self._paragraph(chance) for _ in range(chance.randint(3, 8)))
        facts: tuple[tuple[str, str], ...] = ()
        if chance.random() < 0.5:
            facts = tuple(
                (label, _fact(chance, own, place)) for place, label in enumerate(own.facts) if chance.random() < 0.8
            )
        return Content(sentence(chance, own).rstrip(".。"), paragraphs, facts)

    def _paragraph(self, chance: Random) -> str:
        joint = "" if self._own.code == "ja" else " "
        return joint.join(sentence(chance, self._own) for _ in range(chance.randint(1, 4)))

    def _edited(self, version: int) -> Content:
        """Return the content after one more edit, which always changes something."""
        before = self._states[-1]
        for attempt in range(100):
            after = self._edit(random_stream(self._key, version, attempt), before)
            if after != before:
                return after
        raise AssertionError(f"{self._key}: no edit changed version {version}")

    def _edit(self, chance: Random, now: Content) -> Content:
        kind = chance.choice(("rewrite", "rewrite", "add", "add", "remove", "number", "fact", "fact", "title", "undo"))
        texts = list(now.paragraphs)
        place = chance.randrange(len(texts))
        if kind == "rewrite":
            texts[place] = self._paragraph(chance)
        elif kind == "add" and len(texts) < LONGEST_TEXT:
            is_common = chance.random() < 0.3
            texts.insert(place, chance.choice(self._common) if is_common else self._paragraph(chance))
        elif kind == "remove" and len(texts) > SHORTEST_TEXT:
            del texts[place]
        elif kind == "number":
            texts[place] = _other_number(chance, texts[place])
        elif kind == "fact" and now.facts:
            return self._with_other_fact(chance, now)
        elif kind == "title":
            return replace(now, title=sentence(chance, self._own).rstrip(".。"))
        elif kind == "undo" and len(self._states) > 1:
            return self._states[-2]
        return replace(now, paragraphs=tuple(texts))

    def _with_other_fact(self, chance: Random, now: Content) -> Content:
        facts = list(now.facts)
        place = chance.randrange(len(facts))
        label = facts[place][0]
        facts[place] = label, _fact(chance, self._own, self._own.facts.index(label))
        return replace(now, facts=tuple(facts))


def _fact(chance: Random, own: Language, place: int) -> str:
    if place == 0:
        money = chance.choice(("{} €", "${}", "{}"))
        return money.format(f"{chance.randint(5, 900)}.{chance.choice(('00', '50', '90', '99'))}")
    if place == 1:
        return chance.choice(own.stock)
    if place == 2:
        return f"{chance.randint(1, 9)}.{chance.randint(0, 20)}.{chance.randint(0, 9)}"
    return f"0{chance.randint(30, 899)} {chance.randint(10_000, 999_999)}"


def _other_number(chance: Random, text: str) -> str:
    """Return the text with another number, if it has one."""
    parts = text.split(" ")
    places = [place for place, part in enumerate(parts) if part.isdigit()]
    if places:
        parts[chance.choice(places)] = str(chance.randint(2, 900))
    return " ".join(parts)


def content_mark(content: Content) -> int:
    """Return a number that is equal for equal content."""
    return hash_number(content.title, *content.paragraphs, *content.facts)
