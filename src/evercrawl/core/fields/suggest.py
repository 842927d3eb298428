"""Suggest fields from pages of one template: structured data, labelled values, parts that differ from page to page,
and lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from evercrawl.core.fields.data_markup import json_leaves
from evercrawl.core.fields.outline import (
    Element,
    PageOutline,
    group_selectors,
    label_of,
    name_words,
    own_selectors,
    page_tables,
)
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.core.fields.structured import structured_items, structured_values
from evercrawl.core.fields.values import find_date, find_number
from evercrawl.model.fields import FieldType

MAX_SUGGESTIONS = 60
MAX_PER_SOURCE = 25
MAX_CHARS = 300  # Of a suggested value.
MIN_SHARE = 0.6  # Share of the pages that must have the part.
MIN_ENTRIES = 3  # Entries of a list.
_SLUG = re.compile(r"[^\W_]+")
_PRICE = re.compile(r"price|cost|amount|rating|count|value|number|quantity|weight", re.IGNORECASE)
_AROUND = frozenset(("nav", "header", "footer"))  # Lists in them are menus.
_LABELLED = re.compile(r"([^\W\d][^:\n]{1,29}): *(\S.{0,79})")
_FEED = "*[local-name()='item' or local-name()='entry']"


class FieldSuggestion(NamedTuple):
    """A field that pages have."""

    name: str
    select: str
    type: FieldType
    source: str  # structured data, table, text, list, feed or json.
    pages: int  # How many of the pages have it.
    values: tuple[str, ...]  # Examples, of different pages.


def suggest_fields(pages: Sequence[PagePart]) -> list[FieldSuggestion]:
    """Return fields for pages of one template, those that pages state themselves first."""
    html = [page for page in pages if page.is_html]
    if html:
        drafts = [
            *_from_data(html), *_from_tables(html), *_from_texts(html), *_from_labels(html), *_from_lists(html)
        ]  # fmt: skip
    else:
        drafts = [*_from_json(pages), *_from_feed(pages)]
    found: list[FieldSuggestion] = []
    seen: set[tuple[str, ...]] = set()
    for source, name, select in drafts:
        suggestion = _checked(pages, source, name, select)
        if suggestion is None or (suggestion.values in seen and source != "structured data"):
            continue
        seen.add(suggestion.values)
        found.append(suggestion._replace(name=_unused(suggestion.name, {one.name for one in found})))
        if len(found) == MAX_SUGGESTIONS:
            break
    return found


_Draft = tuple[str, str, str]  # Source, name and selector.


def _checked(pages: Sequence[PagePart], source: str, name: str, select: str) -> FieldSuggestion | None:
    """Return a suggestion with what it reads; None if too few pages have it."""
    read = [[text for text in parse_selector(select)(page) if text] for page in pages]
    found = [texts for texts in read if texts]
    if len(found) < MIN_SHARE * len(pages) or any(len(texts[0]) > MAX_CHARS for texts in found):
        return None
    is_list = source == "list" or max(len(texts) for texts in found) > 1
    kind = FieldType.LIST if is_list else type_of([texts[0] for texts in found], name)
    values = tuple(dict.fromkeys(", ".join(texts)[:MAX_CHARS] for texts in found))[:5]
    return FieldSuggestion(name, select, kind, source, len(found), values)


def type_of(texts: Sequence[str], name: str) -> FieldType:
    """Return the type of values that look like these, in a field of this name."""
    if all(find_date(text) is not None for text in texts):
        return FieldType.DATE
    numbers = [find_number(text) for text in texts]
    is_short = all(len(text) <= 40 for text in texts)
    if is_short and all(one is not None and (one.unit or _PRICE.search(name)) for one in numbers):
        return FieldType.NUMBER
    is_plain = all(re.fullmatch(r"[-+]?[\d.,\s]+", text) for text in texts)
    return FieldType.NUMBER if is_plain and _PRICE.search(name) else FieldType.TEXT


def field_name(words: Iterable[str]) -> str:
    """Return a name for a field, made of words."""
    text = "_".join(word.lower() for one in words for word in _SLUG.findall(one))[:40].strip("_")
    return text if text and not text[0].isdigit() else f"field_{text}".strip("_")


def _unused(name: str, used: set[str]) -> str:
    return name if name not in used else next(f"{name}_{n}" for n in range(2, 1000) if f"{name}_{n}" not in used)


def _from_data(pages: Sequence[PagePart]) -> Iterator[_Draft]:
    counts = Counter(
        path for page in pages for path in dict.fromkeys(p for p, _ in structured_values(structured_items(page.tree)))
    )
    for path in list(counts)[:MAX_PER_SOURCE]:
        parts = re.split(r"[.:]", path)
        yield "structured data", field_name(parts[-1:] if len(parts[-1]) > 3 else parts[-2:]), f"data:{path}"


def _from_tables(pages: Sequence[PagePart]) -> Iterator[_Draft]:
    labels = Counter(
        label
        for page in pages
        for label in dict.fromkeys(row[0] for table in page_tables(page.outline) for row in table.rows if len(row) == 2)
    )
    usable = [label for label in labels if label_of(label) and "/" not in label and len(label) <= 60]
    for label in usable[:MAX_PER_SOURCE]:
        yield "table", field_name([label]), f"table:{label}"


def _from_texts(pages: Sequence[PagePart]) -> Iterator[_Draft]:
    """Yield named parts that occur once per page, and whose text differs from page to page."""
    texts: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for page in pages:
        for css, element, text in _named_parts(page.outline):
            texts.setdefault(css, []).append(text)
            names.setdefault(css, field_name(sorted(name_words(element)) or [element.tag]))
    chosen = [
        css
        for css, found in texts.items()
        if len(found) >= MIN_SHARE * len(pages) and (len(set(found)) > 1 or (len(pages) == 1 and _is_telling(found[0])))
    ]
    for css in chosen[:MAX_PER_SOURCE]:
        yield "text", names[css], f"css:{css}"


def _from_labels(pages: Sequence[PagePart]) -> Iterator[_Draft]:
    """Yield what follows a label in lines such as `Price: 5 €`, where it differs from page to page."""
    values: dict[str, list[str]] = {}
    for page in pages:
        lines = (found for line in page.text.splitlines() if (found := _LABELLED.fullmatch(line.strip())))
        for label, value in {found[1]: found[2] for found in lines}.items():
            values.setdefault(label, []).append(value)
    is_single = len(pages) == 1
    chosen = [
        label
        for label, found in values.items()
        if len(found) >= MIN_SHARE * len(pages) and (len(set(found)) > 1 or (is_single and _is_telling(found[0])))
    ]
    for label in chosen[:MAX_PER_SOURCE]:
        yield "text", field_name([label]), f"text:(?m)^\\s*{re.escape(label)}: *(.+)"


def _is_telling(text: str) -> bool:
    number = find_number(text)
    return find_date(text) is not None or (number is not None and number.unit is not None and len(text) <= 40)


def _named_parts(page: PageOutline) -> Iterator[tuple[str, Element, str]]:
    """Yield the innermost elements with a name, each with a selector that matches only this one."""
    counts = Counter(css for element in page.elements for css in own_selectors(element))
    for element in page.elements:
        text = page.text(element, MAX_CHARS)
        inner = page.children.get(element.place, [])
        if not text or any(own_selectors(page.elements[at]) for at in inner) or len(inner) > 3:
            continue
        names = [css for css in own_selectors(element) if counts[css] == 1]
        if names or element.tag == "h1":
            yield (names[0] if names else "h1"), element, text


def _from_lists(pages: Sequence[PagePart]) -> Iterator[_Draft]:
    """Yield groups of elements of one parent with the same tag and classes."""
    page = pages[0].outline
    count = 0
    for place, inner in page.children.items():
        groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for at in inner:
            element = page.elements[at]
            if page.text(element, MAX_CHARS):
                groups.setdefault((element.tag, element.classes), []).append(at)
        for (tag, _), members in groups.items():
            if len(members) < MIN_ENTRIES or tag in ("td", "th", "tr", "dt", "dd", "br", "option") or place < 0:
                continue
            if any(one.tag in _AROUND for one in (page.elements[place], *page.ancestors(page.elements[place]))):
                continue
            css = next((one for one in group_selectors(page, members) if set(page.select(one)) == set(members)), None)
            if css is not None and count < MAX_PER_SOURCE:
                count += 1
                parent = page.elements[place]
                words = sorted(name_words(page.elements[members[0]]) or name_words(parent))
                yield "list", field_name(words or [page.heading(page.elements[members[0]]) or tag]), f"css:{css}"


def _from_json(pages: Sequence[PagePart]) -> Iterator[_Draft]:
    paths: dict[str, str] = {}
    for path, key in json_leaves(pages[0].markup) if pages else ():
        paths.setdefault(re.sub(r"\[\d+\]", "[*]", path), key)
    for path, key in list(paths.items())[:MAX_PER_SOURCE]:
        yield "json", field_name([key]), f"json:{path}"


def _from_feed(pages: Sequence[PagePart]) -> Iterator[_Draft]:
    if pages and re.search(r"<(?:rss|feed|rdf:RDF)\b", pages[0].markup[:2000]):
        for name in ("title", "link", "pubDate", "published", "updated"):
            yield "feed", field_name([name]), f"xpath://{_FEED}/*[local-name()='{name}']"
