"""Author, dates, headings and robots directives that a page states; nothing is guessed from its text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.document.elements import Attributes, Elements
from evercrawl.core.document.links import collapse_space
from evercrawl.model.document import Directives

MAX_AUTHOR_CHARS = 200
MAX_DATE_CHARS = 64
MAX_AUTHORS = 20
MAX_SCRIPTS = 20
MAX_SCRIPT_CHARS = 500_000
MAX_JSON_VALUES = 5_000  # Objects and lists of JSON-LD that are read.

_AUTHOR_KEYS = "author article:author dc.creator dcterms.creator citation_author parsely-author sailthru.author byl"
_PUBLISHED_KEYS = (
    "article:published_time datepublished og:published_time date dc.date dc.date.issued dcterms.date dcterms.issued"
    " dcterms.created dc.date.created citation_publication_date citation_date parsely-pub-date sailthru.date pubdate"
    " publishdate publish-date publication_date cxenseparse:recs:publishtime article.published ptime"
)
_MODIFIED_KEYS = (
    "article:modified_time datemodified og:updated_time dcterms.modified dc.date.modified last-modified"
    " lastmod revised article.updated"
)
_FIELD_OF = (
    dict.fromkeys(_AUTHOR_KEYS.split(), "author")
    | dict.fromkeys(_PUBLISHED_KEYS.split(), "published")
    | dict.fromkeys(_MODIFIED_KEYS.split(), "modified")
)
_ARTICLE_TYPES = ("article", "posting", "report", "recipe", "review", "chapter", "book", "webpage", "videoobject")
_TIMES = {
    "published": "[itemprop=datePublished],time[pubdate],time.published,time.entry-date",
    "modified": "[itemprop=dateModified],time.updated",
}


class PageMetadata(NamedTuple):
    """What a page states about itself; dates in ISO 8601, as precise as stated."""

    author: str | None = None
    published: str | None = None
    modified: str | None = None


def extract_metadata(tree: LexborHTMLParser, elements: Elements) -> PageMetadata:
    """Return author and dates from meta elements, JSON-LD and time elements, in this order."""
    found = _from_metas(elements.metas)
    scripts = _scripts(elements)
    if scripts and len(found) < len(PageMetadata._fields):
        found = _from_scripts(scripts) | found
    if "published" not in found and (scripts or _is_article_by_meta(elements.metas)):
        found = _from_time_elements(tree) | found
    return PageMetadata(**found)


def parse_date(stated: object) -> str | None:
    """Return a date or time in ISO 8601; None if it is ambiguous."""
    if not isinstance(stated, str) or not 4 < len(text := stated.strip()) <= MAX_DATE_CHARS:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(text).isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def parse_author(stated: object) -> str | None:
    """Return the names in a text, an object with a name, or a list of these; URLs are not names."""
    stated = stated if isinstance(stated, list) else [stated]
    names = []
    for one in stated[:MAX_AUTHORS]:
        name = one.get("name") if isinstance(one, dict) else one
        if isinstance(name, str) and (name := " ".join(name[:MAX_AUTHOR_CHARS].split())) and "://" not in name:
            names.append(name)
    return ", ".join(dict.fromkeys(names))[:MAX_AUTHOR_CHARS] or None


def _from_metas(metas: list[Attributes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in metas:
        key = meta.get("name") or meta.get("property") or meta.get("itemprop")
        field = _FIELD_OF.get(key.lower()) if key else None
        if field is not None and field not in found:
            content = meta.get("content")
            value = parse_author(content) if field == "author" else parse_date(content)
            if value is not None:
                found[field] = value
    return found


def _is_article_by_meta(metas: list[Attributes]) -> bool:
    return any(
        meta.get("property") == "og:type" and (meta.get("content") or "").startswith(("article", "blog"))
        for meta in metas
    )


def _scripts(elements: Elements) -> list[str]:
    """Return the JSON-LD texts of the page."""
    return [text for text in elements.linked_data[:MAX_SCRIPTS] if len(text) <= MAX_SCRIPT_CHARS]


def _from_scripts(scripts: list[str]) -> dict[str, str]:
    """Return what the first article states; of other objects, the first with a date."""
    found: dict[str, str] = {}
    for wants_article in (True, False):
        for script in scripts:
            for item in _objects(script):
                if not wants_article or _is_article(item):
                    found = _object_metadata(item) | found
            if "published" in found:
                return found
    return found


def _objects(script: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a script, outer ones first."""
    try:
        waiting = [json.loads(script, strict=False)]
    except (ValueError, RecursionError):
        return
    seen = 0
    while waiting and seen < MAX_JSON_VALUES:
        values, waiting = waiting, []
        for value in values[: MAX_JSON_VALUES - seen]:
            seen += 1
            if isinstance(value, dict):
                yield value
                waiting += [inner for inner in value.values() if isinstance(inner, dict | list)]
            elif isinstance(value, list):
                waiting += [inner for inner in value if isinstance(inner, dict | list)]


def _is_article(item: dict[str, Any]) -> bool:
    kinds = item.get("@type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return any(isinstance(kind, str) and kind.lower().endswith(_ARTICLE_TYPES) for kind in kinds)


def _object_metadata(item: dict[str, Any]) -> dict[str, str]:
    stated = {
        "author": parse_author(item.get("author") or item.get("creator")),
        "published": parse_date(item.get("datePublished") or item.get("dateCreated")),
        "modified": parse_date(item.get("dateModified")),
    }
    return {field: value for field, value in stated.items() if value is not None}


def _from_time_elements(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for field, selector in _TIMES.items():
        node = tree.css_first(selector)
        if node is not None:
            attributes = node.attributes
            value = parse_date(attributes.get("datetime") or attributes.get("content") or node.text_lexbor())
            if value is not None:
                found[field] = value
    return found


ALL_ROBOTS = ("robots", "*")
_WITH_VALUE = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
_AGENT_NAME = re.compile(r"[A-Za-z0-9_.*/-]+\Z")


def parse_directives(agent: str, metas: Iterable[tuple[str, str]], tags: Iterable[str]) -> Directives:
    """Return the directives for `agent` from meta elements (name, content) and X-Robots-Tag values.
    Only refusals count: `index` or `all` takes nothing back. Case does not matter; unknown rules are ignored."""
    rules: set[str] = set()
    for name, content in metas:
        if _is_addressed(name, agent):
            rules.update(rule.strip().lower() for rule in content.split(","))
    for tag in tags:
        rules.update(_tag_rules(tag, agent))
    if not rules:
        return NO_DIRECTIVES
    return Directives(
        noindex=not rules.isdisjoint(("noindex", "none")),
        nofollow=not rules.isdisjoint(("nofollow", "none")),
        noarchive=not rules.isdisjoint(("noarchive", "nocache")),
    )


NO_DIRECTIVES = Directives()


def _is_addressed(name: str, agent: str) -> bool:
    name = name.strip().lower()
    return name in ALL_ROBOTS or (name != "" and name == agent)


def _tag_rules(tag: str, agent: str) -> Iterable[str]:
    """Yield the rules that apply to us; those after `name:` belong to that robot, to the end of the field."""
    addressed = True
    for part in tag.split(","):
        before, colon, after = part.partition(":")
        name = before.strip().lower()
        if colon and name not in _WITH_VALUE and _AGENT_NAME.match(name):
            addressed = _is_addressed(name, agent)
            part = after
        if addressed:
            yield part.strip().lower()


MAX_HEADINGS = 200
MAX_HEADING_CHARS = 200


def extract_headings(elements: Elements) -> tuple[str, ...]:
    """Return the texts of the headings of the first three levels, each once."""
    found: dict[str, None] = {}
    for heading in elements.headings:
        if text := collapse_space(heading, MAX_HEADING_CHARS):
            found[text] = None
        if len(found) >= MAX_HEADINGS:
            break
    return tuple(found)
