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
from math import sqrt
from random import Random
from typing import Any, NamedTuple

from evercrawl.core.document.html import parse_document
from evercrawl.core.focus.classifier import (
    UNDECIDED,
    Classifier,
    FeatureShares,
    LabelledBlocks,
    LogisticModel,
    fit_logistic,
    sample_pages,
    train_classifier,
)
from evercrawl.core.focus.page_features import (
    MOST_LINKS,
    Blocks,
    folder_of,
    is_home,
    link_blocks,
    page_blocks,
    texts_around,
    way_of,
    words_of,
)
from evercrawl.model.document import Document, Link
from evercrawl.model.settings import ParseSettings

FEWEST_LINKS = 10
"""With fewer links of a level among the examples nothing is learned about it."""
UNKNOWN_HUB_LOGIT = -1.5
"""The log odds of a hub where nothing was learned about them."""
ENOUGH_OFF_TOPIC = 100
"""With so many examples off topic the background is not needed."""
FORMAT = 2


LinkLogits = tuple[float, ...]
"""The log odds of each level, but for what the place of the target says."""


@dataclass(frozen=True, slots=True)
class LinkLevel:
    """How links of one level look: their views, and how far to trust each sign."""

    links: Classifier
    signals: LogisticModel


@dataclass(frozen=True, slots=True)
class Focus:
    """A learned topic. Never changes; what a crawl learns on its way is kept by `Steering`."""

    pages: Classifier
    location_model: LogisticModel
    levels: tuple[LinkLevel, ...]

    def score(self, url: str, document: Document) -> float:
        """How likely the page is on topic, 0 to 1, by itself."""
        return self.pages.score(page_blocks(url, document))

    def logit(self, url: str, document: Document) -> float:
        """The log odds of that."""
        return self.pages.logit(page_blocks(url, document))

    def located_logit(self, logit: float, place: str) -> float:
        """The same, knowing where the page lies beside others on topic."""
        return self.location_model.logit({"page": logit, place: 1.0}) if self.location_model.is_trained else logit

    def link_logits(self, source: str, source_logit: float, link: Link, blocks: Blocks) -> LinkLogits:
        """What can be expected of a link before it is followed."""
        as_page = self.pages.logit({"title": blocks["anchor"], "url": blocks["url"]})
        found = [as_page, UNKNOWN_HUB_LOGIT]
        for place, level in enumerate(self.levels):
            if level.signals.is_trained:
                signs = _signs(source, source_logit, link, as_page, level.links.logit(blocks))
                found[place] = level.signals.logit(signs)
        return tuple(found)

    def location_logit(self, level: int, place: str) -> float:
        """What the place of a target adds to a level's log odds.

        Links taught little about it, for what leads into a folder says most; pages themselves taught more.
        """
        added = self.levels[level].signals.weights.get(place, 0.0)
        if level == 0:
            added += self.location_model.weights.get(place, 0.0) - self.location_model.weights.get(OUTSIDE, 0.0)
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
            levels = [LinkLevel(Classifier(**row["links"]), LogisticModel(**row["signals"])) for row in fields["levels"]]
            return cls(Classifier(**fields["pages"]), LogisticModel(**fields["location_model"]), tuple(levels))
        except (zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored focus") from error


def _signs(source: str, source_logit: float, link: Link, as_page: float, as_link: float) -> dict[str, float]:
    way = way_of(source, link.url)
    home = float(is_home(link.url))
    return {"as page": as_page, "link": as_link, "source": source_logit, way: 1.0, "home": home}


def learn_focus(examples: Iterable[ExamplePage], *, random: Random, background: Sequence[Blocks] = ()) -> Focus:
    """The topic of the examples; the background stands in where few of them are off topic."""
    pages = list(examples)
    rows = [LabelledBlocks(page_blocks(page.url, page.document), page.on_topic) for page in pages]
    missing = max(0, ENOUGH_OFF_TOPIC - sum(not page.on_topic for page in pages))
    rows += [LabelledBlocks(blocks, False) for blocks in background[:missing]]
    classifier, held_out = train_classifier(rows, random=random)
    places = TopicFolders(page.url for page in pages if page.on_topic)
    in_places = [{"page": logit, places.location(page.url): 1.0} for page, logit in zip(pages, held_out, strict=False)]
    logits = {page.url: logit for page, logit in zip(pages, held_out, strict=False)}
    links = link_examples(pages)
    return Focus(
        classifier,
        fit_logistic(in_places, [page.on_topic for page in pages]),
        tuple(
            _level(number, links, classifier, places=places, logits=logits, random=random) for number in range(LEVELS)
        ),
    )


def _level(
    number: int,
    links: Sequence[LinkExample],
    pages: Classifier,
    *,
    places: TopicFolders,
    logits: dict[str, float],
    random: Random,
) -> LinkLevel:
    labels = [example.leads_to[number] for example in links]
    if min(sum(labels), len(labels) - sum(labels)) < FEWEST_LINKS:
        return LinkLevel(UNDECIDED, LogisticModel({}))
    rows = [LabelledBlocks(example.blocks, label) for example, label in zip(links, labels, strict=True)]
    classifier, held_out = train_classifier(rows, random=random)
    signs = []
    for (source, link, blocks, _), as_link in zip(links, held_out, strict=True):
        as_page = pages.logit({"title": blocks["anchor"], "url": blocks["url"]})
        row = _signs(source, logits[source], link, as_page, as_link)
        signs.append({**row, places.location(link.url): 1.0})
    return LinkLevel(classifier, fit_logistic(signs, labels))


LEVELS = 2
"""Pages on topic, and pages that link to such."""


class ExamplePage(NamedTuple):
    """A page of which somebody says whether it is on topic."""

    url: str
    document: Document
    on_topic: bool


class LinkExample(NamedTuple):
    """One link between examples."""

    source: str
    link: Link
    blocks: Blocks
    leads_to: tuple[bool, ...]
    """For each level whether the target is of it."""


def link_examples(pages: Sequence[ExamplePage]) -> list[LinkExample]:
    """All links between examples."""
    known = {page_name(page.url) for page in pages}
    on_topic = {page_name(page.url) for page in pages if page.on_topic}
    hubs = {page_name(page.url) for page in pages if _leads_elsewhere(page, on_topic)}
    found = []
    for page in pages:
        for link, blocks in links_with_blocks(page.url, page.document, on_topic=page.on_topic):
            name = page_name(link.url)
            if name in known and name != page_name(page.url):
                found.append(LinkExample(page.url, link, blocks, (name in on_topic, name in hubs)))
    return found


def _leads_elsewhere(page: ExamplePage, targets: set[str]) -> bool:
    """Some link leads to a target outside: one up to the page that this one belongs to is no find."""
    here = folder_of(page.url)
    links = page.document.links
    return any(page_name(link.url) in targets and not here.startswith(folder_of(link.url)) for link in links)


def links_with_blocks(url: str, document: Document, *, on_topic: bool) -> Iterable[tuple[Link, Blocks]]:
    """The links of a page with their views."""
    around = texts_around(document)
    title = document.title or ""
    for link, text in zip(document.links[:MOST_LINKS], around, strict=False):
        yield link, link_blocks(url, link, around=text, source_title=title, source_on_topic=on_topic)


def page_name(url: str) -> str:
    """One name for a folder with and without its slash."""
    return url.removesuffix("/")


OUTSIDE = "outside"
MOST_FOLDERS = 200_000
"""Beyond this no new folders are remembered."""


class TopicFolders:
    """The folders of pages on topic. A page does not count as its own neighbour."""

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._folders: dict[str, set[str]] = {}
        for url in urls:
            self.add(url)

    def add(self, url: str) -> None:
        """One more page is on topic."""
        folder = folder_of(url)
        if folder in self._folders or len(self._folders) < MOST_FOLDERS:
            self._folders.setdefault(folder, set()).add(url)

    def urls(self) -> list[str]:
        """All pages that were added."""
        return [url for urls in self._folders.values() for url in sorted(urls)]

    def location(self, url: str) -> str:
        """In or below the folder of another page on topic, and whether that page is the folder's first."""
        own = folder = folder_of(url)
        while folder.count("/") > 3:
            others = self._folders.get(folder, set()) - {url}
            if others:
                kind = "home" if any(map(is_home, others)) else "page"
                return f"{'beside' if folder == own else 'below'} {kind}"
            folder = folder_of(folder[:-1])
        return OUTSIDE


VIEW_WEIGHTS = {"text": 1.0, "title": 1.5, "url": 1.0, "anchors": 0.3}
SLOPE = 3.0
SHIFT = -3.5
"""All words in the text alone do not make a page on topic; with the title or the URL they do."""


def focus_of_query(query: str) -> Focus:
    """The topic of a query; raises ValueError where it has no words."""
    words = sorted(set(words_of(query)))
    if not words:
        raise ValueError("a query needs at least one word")
    # A view is brought to length one over the words that it has: all of n words add up to sqrt(n).
    share = 1.0 / sqrt(len(words))
    scales = {view: dict.fromkeys(words, 1.0) for view in VIEW_WEIGHTS}
    weights = {view: dict.fromkeys(words, weight * share) for view, weight in VIEW_WEIGHTS.items()}
    levels = tuple(LinkLevel(UNDECIDED, LogisticModel({})) for _ in range(LEVELS))
    return Focus(Classifier(scales, weights, SLOPE, SHIFT), LogisticModel({}), levels)


SEED = 7
"""Learning shuffles its examples; the same examples give the same scores."""
_HTML = (("Content-Type", "text/html; charset=utf-8"),)
_LIMITS = ParseSettings()


def page_of(url: str, html: str) -> Document:
    """The document of a page that is at hand as text."""
    body = html.encode("utf-8", "replace")
    return parse_document(url, _HTML, body, agent="evercrawl", limits=_LIMITS)


def example_of(row: dict[str, Any]) -> ExamplePage:
    """A row of an examples file: `url`, `html` or `text`, `on_topic` (true where it is absent)."""
    url = str(row.get("url") or "")
    html = row.get("html")
    document = page_of(url, str(html)) if html is not None else Document("utf-8", url, text=str(row["text"]))
    return ExamplePage(url, document, bool(row.get("on_topic", True)))


def focus_of(rows: Iterable[dict[str, Any]], *, background: FeatureShares) -> Focus:
    """The topic of an examples file; raises ValueError where no row is on topic."""
    examples = [example_of(row) for row in rows]
    if not any(example.on_topic for example in examples):
        raise ValueError("an examples file needs at least one row with on_topic true")
    random = Random(SEED)
    return learn_focus(
        examples, random=random, background=sample_pages(background, pages=ENOUGH_OFF_TOPIC, random=random)
    )


def relevance(focus: Focus, url: str, html: str) -> float:
    """How likely the page is on topic, 0 to 1."""
    return focus.score(url, page_of(url, html))
