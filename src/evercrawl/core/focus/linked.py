"""The links between examples, with what they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evercrawl.core.focus.around import texts_around
from evercrawl.core.focus.feature import MOST_LINKS, Blocks, folder_of, link_blocks
from evercrawl.model.document import Document, Link

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
    known = {name_of(page.url) for page in pages}
    on_topic = {name_of(page.url) for page in pages if page.on_topic}
    hubs = {name_of(page.url) for page in pages if _leads_elsewhere(page, on_topic)}
    found = []
    for page in pages:
        for link, blocks in linked(page.url, page.document, on_topic=page.on_topic):
            name = name_of(link.url)
            if name in known and name != name_of(page.url):
                found.append(LinkExample(page.url, link, blocks, (name in on_topic, name in hubs)))
    return found


def _leads_elsewhere(page: ExamplePage, targets: set[str]) -> bool:
    """Some link leads to a target outside: one up to the page that this one belongs to is no find."""
    here = folder_of(page.url)
    links = page.document.links
    return any(name_of(link.url) in targets and not here.startswith(folder_of(link.url)) for link in links)


def linked(url: str, document: Document, *, on_topic: bool) -> Iterable[tuple[Link, Blocks]]:
    """The links of a page with their views."""
    around = texts_around(document)
    title = document.title or ""
    for link, text in zip(document.links[:MOST_LINKS], around, strict=False):
        yield link, link_blocks(url, link, around=text, source_title=title, source_on_topic=on_topic)


def name_of(url: str) -> str:
    """One name for a folder with and without its slash."""
    return url.removesuffix("/")
