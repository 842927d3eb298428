"""What a topic is, learned from examples: what its pages look like, which links lead to them, which to hubs.

Examples that link to each other teach what such links look like. Where they do not, a link is judged as if
its anchor were the title of a page at its URL.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import NamedTuple

from evercrawl.core.focus.around import texts_around
from evercrawl.core.focus.classifier import Classifier, Example, trained
from evercrawl.core.focus.feature import MOST_LINKS, Blocks, link_blocks, page_blocks
from evercrawl.model.document import Document, Link

FEWEST_LINKS = 10
"""With fewer links to pages on topic among the examples nothing is learned about links."""
PAGE_SHARE = 0.25
"""How much of a link's outlook is what the page classifier makes of its anchor and URL."""
UNKNOWN_HUB_LOGIT = -1.5
ENOUGH_OFF_TOPIC = 100
"""With so many examples off topic the background is not needed."""
FORMAT = 1


class ExamplePage(NamedTuple):
    """A page of which somebody says whether it is on topic."""

    url: str
    document: Document
    on_topic: bool


class Outlook(NamedTuple):
    """The log odds that a link leads to a page on topic, and to one that links to such pages."""

    topic: float
    hub: float


@dataclass(frozen=True, slots=True)
class Focus:
    """A learned topic. Never changes; what a crawl learns on its way is kept by `Steering`."""

    pages: Classifier
    links: Classifier
    hubs: Classifier

    def score(self, url: str, document: Document) -> float:
        """How likely the page is on topic, 0 to 1."""
        return self.pages.score(page_blocks(url, document))

    def outlook(self, blocks: Blocks) -> Outlook:
        """What can be expected of a link before it is followed."""
        as_page = self.pages.logit({"title": blocks["anchor"], "url": blocks["url"]})
        topic = as_page
        if self.links.knows_anything:
            topic = (1 - PAGE_SHARE) * self.links.logit(blocks) + PAGE_SHARE * as_page
        hub = self.hubs.logit(blocks) if self.hubs.knows_anything else UNKNOWN_HUB_LOGIT
        return Outlook(topic, hub)

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
            return cls(**{name: Classifier(**parts) for name, parts in fields.items()})
        except (zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored focus") from error


def learned(examples: Iterable[ExamplePage], *, random: Random, background: Sequence[Blocks] = ()) -> Focus:
    """The topic of the examples; the background stands in where few of them are off topic."""
    pages = list(examples)
    rows = [Example(page_blocks(page.url, page.document), page.on_topic) for page in pages]
    missing = max(0, ENOUGH_OFF_TOPIC - sum(not page.on_topic for page in pages))
    rows += [Example(blocks, False) for blocks in background[:missing]]
    links = _link_examples(pages)
    return Focus(
        trained(rows, random=random),
        _trained_if_enough(links, lambda target: target.on_topic, random),
        _trained_if_enough(links, lambda target: target.leads_to_topic, random),
    )


class _Target(NamedTuple):
    on_topic: bool
    leads_to_topic: bool


def _link_examples(pages: Sequence[ExamplePage]) -> list[tuple[Blocks, _Target]]:
    """The links between examples, with what they lead to."""
    on_topic = {_name(page.url): page.on_topic for page in pages}
    leading = {
        _name(page.url)
        for page in pages
        if any(on_topic.get(_name(link.url)) for link in page.document.links if link.url != page.url)
    }
    found = []
    for page in pages:
        for link, blocks in linked(page.url, page.document, on_topic=page.on_topic):
            name = _name(link.url)
            if name in on_topic and name != _name(page.url):
                found.append((blocks, _Target(on_topic[name], name in leading)))
    return found


def linked(url: str, document: Document, *, on_topic: bool) -> Iterable[tuple[Link, Blocks]]:
    """The links of a page with their views."""
    around = texts_around(document)
    for link, text in zip(document.links[:MOST_LINKS], around, strict=False):
        yield (
            link,
            link_blocks(url, link, around=text, source_title=document.title or "", source_on_topic=on_topic),
        )


def _name(url: str) -> str:
    return url.removesuffix("/")


def _trained_if_enough(
    links: Sequence[tuple[Blocks, _Target]], verdict: Callable[[_Target], bool], random: Random
) -> Classifier:
    counts = Counter(verdict(target) for _, target in links)
    enough = min(counts[True], counts[False]) >= FEWEST_LINKS
    return trained(
        [Example(blocks, verdict(target)) for blocks, target in links] if enough else [], random=random
    )
