"""A topic learned from examples of both kinds: its pages, and the links that lead to them.
A link can lead to a page on topic (level 0) or to a hub that links to such pages (level 1). Examples that link to each
other teach this; otherwise a link is judged as if its anchor were the title of a page at its URL."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, NamedTuple

from evercrawl.core.document.compression import inflate
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
    MAX_LINKS,
    Blocks,
    folder_of,
    is_home,
    link_blocks,
    link_contexts,
    link_direction,
    page_blocks,
)
from evercrawl.model.document import Document, Link
from evercrawl.model.settings import ParseSettings

MIN_LINKS = 10  # Links of a level needed to learn about it.
UNKNOWN_HUB_LOGIT = -1.5  # Log odds of a hub if nothing was learned about hubs.
ENOUGH_OFF_TOPIC = 100  # Negative examples that make the background unnecessary.
FORMAT = 2
LinkLogits = tuple[float, ...]  # The log odds of each level, without the location of the target.


@dataclass(frozen=True, slots=True)
class LinkLevel:
    """A model of the links of one level."""

    links: Classifier
    signals: LogisticModel


@dataclass(frozen=True, slots=True)
class Focus:
    """A learned topic. It never changes; `LinkScorer` keeps what a crawl learns."""

    pages: Classifier
    location_model: LogisticModel
    levels: tuple[LinkLevel, ...]

    def score(self, url: str, document: Document) -> float:
        """Return the probability that the page is on topic, by itself."""
        return self.pages.score(page_blocks(url, document))

    def logit(self, url: str, document: Document) -> float:
        """Return the log odds that the page is on topic, by itself."""
        return self.pages.logit(page_blocks(url, document))

    def located_logit(self, logit: float, place: str) -> float:
        """Return the log odds given the page's location among pages on topic."""
        return self.location_model.logit({"page": logit, place: 1.0}) if self.location_model.is_trained else logit

    def link_logits(self, source: str, source_logit: float, link: Link, blocks: Blocks) -> LinkLogits:
        """Return the log odds of a link before it is followed."""
        as_page = self.pages.logit({"title": blocks["anchor"], "url": blocks["url"]})
        found = [as_page, UNKNOWN_HUB_LOGIT]
        for place, level in enumerate(self.levels):
            if level.signals.is_trained:
                signs = _link_signals(source, source_logit, link, as_page, level.links.logit(blocks))
                found[place] = level.signals.logit(signs)
        return tuple(found)

    def location_logit(self, level: int, place: str) -> float:
        """Return what the location of a target adds to a level's log odds.
        Links teach little about it, because links into a folder dominate; the pages themselves teach more."""
        added = self.levels[level].signals.weights.get(place, 0.0)
        if level == 0:
            added += self.location_model.weights.get(place, 0.0) - self.location_model.weights.get(OUTSIDE, 0.0)
        return added

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return zlib.compress(json.dumps({"format": FORMAT, **asdict(self)}, separators=(",", ":")).encode())

    @classmethod
    def from_bytes(cls, stored: bytes) -> Focus:
        """Read the stored form; raises ValueError for anything else."""
        try:
            fields = json.loads(inflate(stored))
            if fields.pop("format") != FORMAT:
                raise ValueError("the stored focus is of another format")
            levels = [
                LinkLevel(Classifier(**row["links"]), LogisticModel(**row["signals"])) for row in fields["levels"]
            ]
            return cls(Classifier(**fields["pages"]), LogisticModel(**fields["location_model"]), tuple(levels))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored focus") from error


def _link_signals(source: str, source_logit: float, link: Link, as_page: float, as_link: float) -> dict[str, float]:
    way = link_direction(source, link.url)
    home = float(is_home(link.url))
    return {"as page": as_page, "link": as_link, "source": source_logit, way: 1.0, "home": home}


def learn_focus(examples: Iterable[ExamplePage], *, random: Random, background: Sequence[Blocks] = ()) -> Focus:
    """Learn a topic from examples. The background fills in for missing negative ones."""
    pages = list(examples)
    rows = [LabelledBlocks(page_blocks(page.url, page.document), page.on_topic) for page in pages]
    missing = max(0, ENOUGH_OFF_TOPIC - sum(not page.on_topic for page in pages))
    rows += [LabelledBlocks(blocks, False) for blocks in background[:missing]]
    classifier, held_out = train_classifier(rows, random=random)
    places = TopicFolders(page.url for page in pages if page.on_topic)
    in_places = [{"page": logit, places.location(page.url): 1.0} for page, logit in zip(pages, held_out, strict=False)]
    logits = {page.url: logit for page, logit in zip(pages, held_out, strict=False)}
    links = link_examples(pages)
    curve = fit_logistic(in_places, [page.on_topic for page in pages])
    levels = (
        _learn_level(number, links, classifier, places=places, logits=logits, random=random) for number in range(LEVELS)
    )
    return Focus(classifier, curve, tuple(levels))


def _learn_level(
    number: int,
    links: Sequence[LinkExample],
    pages: Classifier,
    *,
    places: TopicFolders,
    logits: dict[str, float],
    random: Random,
) -> LinkLevel:
    labels = [example.leads_to[number] for example in links]
    if min(sum(labels), len(labels) - sum(labels)) < MIN_LINKS:
        return LinkLevel(UNDECIDED, LogisticModel({}))
    rows = [LabelledBlocks(example.blocks, label) for example, label in zip(links, labels, strict=True)]
    classifier, held_out = train_classifier(rows, random=random)
    signs = []
    for (source, link, blocks, _), as_link in zip(links, held_out, strict=True):
        as_page = pages.logit({"title": blocks["anchor"], "url": blocks["url"]})
        row = _link_signals(source, logits[source], link, as_page, as_link)
        signs.append({**row, places.location(link.url): 1.0})
    return LinkLevel(classifier, fit_logistic(signs, labels))


LEVELS = 2  # Pages on topic, and pages that link to them.


class ExamplePage(NamedTuple):
    """A page labelled as on or off topic."""

    url: str
    document: Document
    on_topic: bool


class LinkExample(NamedTuple):
    """A link between examples."""

    source: str
    link: Link
    blocks: Blocks
    leads_to: tuple[bool, ...]  # For each level, whether the target belongs to it.


def link_examples(pages: Sequence[ExamplePage]) -> list[LinkExample]:
    """Return all links between examples."""
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
    """True if a link leads to a target elsewhere. A link up to the parent page is not a find."""
    here = folder_of(page.url)
    links = page.document.links
    return any(page_name(link.url) in targets and not here.startswith(folder_of(link.url)) for link in links)


def links_with_blocks(url: str, document: Document, *, on_topic: bool) -> Iterable[tuple[Link, Blocks]]:
    """Yield the links of a page with their feature blocks."""
    around = link_contexts(document)
    title = document.title or ""
    for link, text in zip(document.links[:MAX_LINKS], around, strict=False):
        yield link, link_blocks(url, link, around=text, source_title=title, source_on_topic=on_topic)


def page_name(url: str) -> str:
    """Return one name for a folder with and without its slash."""
    return url.removesuffix("/")


OUTSIDE = "outside"
MAX_FOLDERS = 200_000  # Folders kept.


class TopicFolders:
    """The folders of pages on topic. A page is not its own neighbour."""

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._folders: dict[str, set[str]] = {}
        for url in urls:
            self.add(url)

    def add(self, url: str) -> None:
        """Add a page on topic."""
        folder = folder_of(url)
        if folder in self._folders or len(self._folders) < MAX_FOLDERS:
            self._folders.setdefault(folder, set()).add(url)

    def urls(self) -> list[str]:
        """Return all added pages."""
        return [url for urls in self._folders.values() for url in sorted(urls)]

    def location(self, url: str) -> str:
        """Return whether the URL is in or below the folder of another page on topic, and if that is a home page."""
        own = folder = folder_of(url)
        while folder.count("/") > 3:
            others = self._folders.get(folder, set()) - {url}
            if others:
                kind = "home" if any(map(is_home, others)) else "page"
                return f"{'beside' if folder == own else 'below'} {kind}"
            folder = folder_of(folder[:-1])
        return OUTSIDE


SEED = 7  # Learning shuffles its examples. The same examples give the same scores.
_HTML = (("Content-Type", "text/html; charset=utf-8"),)
_LIMITS = ParseSettings()


def parse_page(url: str, html: str) -> Document:
    """Parse a page given as text."""
    body = html.encode("utf-8", "replace")
    return parse_document(url, _HTML, body, agent="evercrawl", limits=_LIMITS)


def parse_example(row: dict[str, Any]) -> ExamplePage:
    """Parse a row of an examples file: `url`, `html` or `text`, `on_topic` (true by default)."""
    url = str(row.get("url") or "")
    html = row.get("html")
    document = parse_page(url, str(html)) if html is not None else Document("utf-8", url, text=str(row["text"]))
    return ExamplePage(url, document, bool(row.get("on_topic", True)))


def focus_from_rows(rows: Iterable[dict[str, Any]], *, background: FeatureShares) -> Focus:
    """Learn the topic of an examples file; raises ValueError if no row is on topic."""
    examples = [parse_example(row) for row in rows]
    if not any(example.on_topic for example in examples):
        raise ValueError("an examples file needs at least one row with on_topic true")
    random = Random(SEED)
    return learn_focus(
        examples, random=random, background=sample_pages(background, pages=ENOUGH_OFF_TOPIC, random=random)
    )


def relevance(focus: Focus, url: str, html: str) -> float:
    """Return the probability that the page is on topic."""
    return focus.score(url, parse_page(url, html))
