"""What a topic is, learned from examples: what its pages look like, and which links lead towards them.

A link can lead to a page on topic (level 0) or to a hub, a page that links to such pages (level 1).
Examples that link to each other teach what such links look like. Where they do not, a link is judged as if
its anchor were the title of a page at its URL.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from random import Random

from evercrawl.core.focus.classifier import UNDECIDED, Classifier, Example, trained
from evercrawl.core.focus.feature import Blocks, is_home, page_blocks, way_of
from evercrawl.core.focus.linked import LEVELS, ExamplePage, LinkExample, link_examples, linked
from evercrawl.core.focus.place import OUTSIDE, Places
from evercrawl.core.focus.stack import Stack, fitted
from evercrawl.model.document import Document, Link

FEWEST_LINKS = 10
"""With fewer links of a level among the examples nothing is learned about it."""
UNKNOWN_HUB_LOGIT = -1.5
"""The log odds of a hub where nothing was learned about them."""
ENOUGH_OFF_TOPIC = 100
"""With so many examples off topic the background is not needed."""
FORMAT = 2

__all__ = ["LEVELS", "ExamplePage", "Focus", "Outlook", "learned", "linked"]

Outlook = tuple[float, ...]
"""The log odds of each level, but for what the place of the target says."""


@dataclass(frozen=True, slots=True)
class Level:
    """How links of one level look: their views, and how far to trust each sign."""

    links: Classifier
    signs: Stack


@dataclass(frozen=True, slots=True)
class Focus:
    """A learned topic. Never changes; what a crawl learns on its way is kept by `Steering`."""

    pages: Classifier
    placed: Stack
    levels: tuple[Level, ...]

    def score(self, url: str, document: Document) -> float:
        """How likely the page is on topic, 0 to 1, by itself."""
        return self.pages.score(page_blocks(url, document))

    def logit(self, url: str, document: Document) -> float:
        """The log odds of that."""
        return self.pages.logit(page_blocks(url, document))

    def placed_logit(self, logit: float, place: str) -> float:
        """The same, knowing where the page lies beside others on topic."""
        return self.placed.logit({"page": logit, place: 1.0}) if self.placed.knows_anything else logit

    def outlook(self, source: str, source_logit: float, link: Link, blocks: Blocks) -> Outlook:
        """What can be expected of a link before it is followed."""
        as_page = self.pages.logit({"title": blocks["anchor"], "url": blocks["url"]})
        found = [as_page, UNKNOWN_HUB_LOGIT]
        for place, level in enumerate(self.levels):
            if level.signs.knows_anything:
                signs = _signs(source, source_logit, link, as_page, level.links.logit(blocks))
                found[place] = level.signs.logit(signs)
        return tuple(found)

    def of_place(self, level: int, place: str) -> float:
        """What the place of a target adds to a level's log odds.

        Links taught little about it, for what leads into a folder says most; pages themselves taught more.
        """
        added = self.levels[level].signs.weights.get(place, 0.0)
        if level == 0:
            added += self.placed.weights.get(place, 0.0) - self.placed.weights.get(OUTSIDE, 0.0)
        return added

    def to_bytes(self) -> bytes:
        """The topic as bytes that `from_bytes` reads."""
        return zlib.compress(json.dumps({"format": FORMAT, **asdict(self)}, separators=(",", ":")).encode())

    @classmethod
    def from_bytes(cls, stored: bytes) -> Focus:
        """The topic that `to_bytes` wrote; raises ValueError for anything else."""
        try:
            fields = json.loads(zlib.decompress(stored))
            if fields.pop("format") != FORMAT:
                raise ValueError("the stored focus is of another format")
            levels = [Level(Classifier(**row["links"]), Stack(**row["signs"])) for row in fields["levels"]]
            return cls(Classifier(**fields["pages"]), Stack(**fields["placed"]), tuple(levels))
        except (zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored focus") from error


def _signs(source: str, source_logit: float, link: Link, as_page: float, as_link: float) -> dict[str, float]:
    way = way_of(source, link.url)
    home = float(is_home(link.url))
    return {"as page": as_page, "link": as_link, "source": source_logit, way: 1.0, "home": home}


def learned(examples: Iterable[ExamplePage], *, random: Random, background: Sequence[Blocks] = ()) -> Focus:
    """The topic of the examples; the background stands in where few of them are off topic."""
    pages = list(examples)
    rows = [Example(page_blocks(page.url, page.document), page.on_topic) for page in pages]
    missing = max(0, ENOUGH_OFF_TOPIC - sum(not page.on_topic for page in pages))
    rows += [Example(blocks, False) for blocks in background[:missing]]
    classifier, held_out = trained(rows, random=random)
    places = Places(page.url for page in pages if page.on_topic)
    in_places = [{"page": logit, places.of(page.url): 1.0} for page, logit in zip(pages, held_out, strict=False)]
    logits = {page.url: logit for page, logit in zip(pages, held_out, strict=False)}
    links = link_examples(pages)
    return Focus(
        classifier,
        fitted(in_places, [page.on_topic for page in pages]),
        tuple(
            _level(number, links, classifier, places=places, logits=logits, random=random) for number in range(LEVELS)
        ),
    )


def _level(
    number: int,
    links: Sequence[LinkExample],
    pages: Classifier,
    *,
    places: Places,
    logits: dict[str, float],
    random: Random,
) -> Level:
    labels = [example.leads_to[number] for example in links]
    if min(sum(labels), len(labels) - sum(labels)) < FEWEST_LINKS:
        return Level(UNDECIDED, Stack({}))
    rows = [Example(example.blocks, label) for example, label in zip(links, labels, strict=True)]
    classifier, held_out = trained(rows, random=random)
    signs = []
    for (source, link, blocks, _), as_link in zip(links, held_out, strict=True):
        as_page = pages.logit({"title": blocks["anchor"], "url": blocks["url"]})
        row = _signs(source, logits[source], link, as_page, as_link)
        signs.append({**row, places.of(link.url): 1.0})
    return Level(classifier, fitted(signs, labels))
