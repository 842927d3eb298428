"""Structured data that pages carry: JSON-LD, microdata, RDFa Lite and Open Graph, as items with properties.

https://www.w3.org/TR/json-ld11/#embedding-json-ld-in-html-documents, https://html.spec.whatwg.org/multipage/microdata.html,
https://www.w3.org/TR/rdfa-lite/, https://ogp.me/
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.url import join

MAX_SCRIPTS = 50
MAX_SCRIPT_CHARS = 1_000_000
MAX_ITEMS = 2000  # Items of one page.
MAX_DATA_CHARS = 1_000_000  # Of all texts in microdata and RDFa of one page.
MAX_DEPTH = 20
MAX_NAME_CHARS = 2000  # Of a base, of the name of a property, of a path; longer ones are no names.
MAX_VALUES = 5000  # Values of one page that become fields.
_URL_ATTRIBUTES = {
    "a": "href", "area": "href", "link": "href", "img": "src", "audio": "src", "video": "src", "embed": "src",
    "iframe": "src", "source": "src", "track": "src", "object": "data",
}  # fmt: skip
_VALUE_ATTRIBUTES = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}
_OPEN_GRAPH = ("og", "article", "book", "profile", "music", "video", "product")
_VOCABULARY_END = re.compile(r"[/#:]")
_NOTABLE = re.compile(r'["/,]')
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_CLOSING = re.compile(r"\s*[}\]]")
_COMMENT = re.compile(r"^\s*(?:<!--|//<!\[CDATA\[|/\*<!\[CDATA\[\*/)|(?:-->|//\]\]>|/\*\]\]>\*/)\s*$")


@dataclass
class DataItem:
    """An item of structured data."""

    syntax: str  # json-ld, microdata, rdfa or opengraph.
    types: tuple[str, ...] = ()  # As written: names or URLs.
    identifier: str | None = None
    properties: dict[str, list[Any]] = field(default_factory=dict)  # Texts, numbers, or items inside.

    def add(self, name: str, value: Any) -> None:
        """Add a value of a property."""
        self.properties.setdefault(name, []).append(value)

    @property
    def name(self) -> str:
        """Return the name of its type without the vocabulary."""
        return _local_name(self.types[0]) if self.types else ""


def _local_name(name: str) -> str:
    """Return a name without its vocabulary: Offer for https://schema.org/Offer and schema:Offer."""
    return _VOCABULARY_END.split(name)[-1]


def structured_items(tree: LexborHTMLParser, base: str = "") -> list[DataItem]:
    """Return the items of a page at the top level, in the order JSON-LD, microdata, RDFa, Open Graph."""
    found = [_json_item(value) for value in json_ld(tree)]
    found += _marked_items(tree, base)
    graph = open_graph(tree)
    if graph:
        item = DataItem("opengraph", tuple(value for name, value in graph if name == "og:type")[:1])
        for name, value in graph:
            item.add(name, value)
        found.append(item)
    return found[:MAX_ITEMS]


# JSON-LD


def json_ld(tree: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON-LD scripts at the top level, those of `@graph` one by one."""
    for node in tree.css('script[type*="ld+json" i]')[:MAX_SCRIPTS]:
        code = _COMMENT.sub("", (node.text() or "")[:MAX_SCRIPT_CHARS])
        value = _parse_json(code)
        for one in value if isinstance(value, list) else [value]:
            graph = one.get("@graph") if isinstance(one, dict) and "@type" not in one else None
            for each in graph if isinstance(graph, list) else [one]:
                if isinstance(each, dict):
                    yield each


def _parse_json(code: str) -> Any:
    """Return the value of a script; comments and commas before a closing bracket, which JSON forbids, are left out."""
    for read in (str, _without_extras):
        try:
            return json.loads(read(code), strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _without_extras(code: str) -> str:
    parts: list[str] = []
    place = 0
    while (found := _NOTABLE.search(code, place)) is not None:
        at = found.start()
        parts.append(code[place:at])
        if (text := _TEXT.match(code, at)) is not None:
            parts.append(text[0])
            place = text.end()
        elif code.startswith(("//", "/*"), at):
            end = "\n" if code[at + 1] == "/" else "*/"
            close = code.find(end, at + 2)
            place = len(code) if close < 0 else close + len(end)
        else:
            if code[at] == "/" or _CLOSING.match(code, at + 1) is None:
                parts.append(code[at])
            place = at + 1
    return "".join((*parts, code[place:]))


def _json_item(value: dict[str, Any], depth: int = 0) -> DataItem:
    kinds = value.get("@type", ())
    types = tuple(map(str, kinds)) if isinstance(kinds, list) else (str(kinds),) if kinds else ()
    identifier = value.get("@id")
    item = DataItem("json-ld", types, identifier if isinstance(identifier, str) else None)
    for name, found in value.items():
        if name.startswith("@") or depth >= MAX_DEPTH:
            continue
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, dict):
                item.add(name, one["@value"] if "@value" in one else _json_item(one, depth + 1))
            elif one is not None:
                item.add(name, one)
    return item


# Microdata and RDFa


def _marked_items(tree: LexborHTMLParser, base: str) -> list[DataItem]:
    """Return the items of microdata and of RDFa Lite; both are read in one pass over the page."""
    root = tree.root
    if root is None or tree.css_first("[itemscope], [typeof]") is None:
        return []
    reader = _MarkupReader(_base_of(tree, base))
    references = _references(tree)
    for node in root.traverse():
        reader.read(node, references.get(node.attributes.get("id") or ""))
    return [*reader.top["microdata"], *reader.top["rdfa"]]


def _base_of(tree: LexborHTMLParser, base: str) -> str:
    node = tree.css_first("base[href]")
    stated = (node.attributes.get("href") or "") if node is not None else ""
    return _resolved(base, stated) if 0 < len(stated) <= MAX_NAME_CHARS else base


def _resolved(base: str, link: str) -> str:
    """Return a URL in full; as it is written if that cannot be done."""
    return (join(base, link) if base else None) or link


def _references(tree: LexborHTMLParser) -> dict[str, int]:
    """Return, for each id in an `itemref`, the node of the item that it belongs to."""
    found: dict[str, int] = {}
    for node in tree.css("[itemscope][itemref]")[:MAX_ITEMS]:
        for name in (node.attributes.get("itemref") or "").split():
            found.setdefault(name, node.mem_id)
    return found


class _MarkupReader:
    """Reads elements in document order; each belongs to the innermost item around it."""

    def __init__(self, base: str) -> None:
        self.top: dict[str, list[DataItem]] = {"microdata": [], "rdfa": []}
        self._base = base
        self._items: dict[int, DataItem] = {}  # Node -> the item that it begins.
        self._owner: dict[int, dict[str, DataItem]] = {}  # Node -> the innermost items at its children.
        self._vocabulary: dict[int, str] = {}
        self._waiting: dict[int, list[tuple[str, Any]]] = {}  # Of items that come later in the page.
        self._left = MAX_DATA_CHARS
        self._count = 0

    def read(self, node: LexborNode, referred_by: int | None) -> None:
        """Read one element."""
        parent = node.parent.mem_id if node.parent is not None else 0
        around = self._owner.get(parent, {})
        attributes = node.attributes
        vocabulary = attributes.get("vocab") or self._vocabulary.get(parent, "")
        if vocabulary:
            self._vocabulary[node.mem_id] = vocabulary
        inside = around
        if "itemscope" in attributes or "itemprop" in attributes:
            inside = self._read_microdata(node, around, referred_by)
        if "typeof" in attributes or ("property" in attributes and "rdfa" in around):
            inside = self._read_rdfa(node, inside, vocabulary)
        elif referred_by is not None and "itemprop" not in attributes and referred_by in self._items:
            inside = {**around, "microdata": self._items[referred_by]}
        if inside:
            self._owner[node.mem_id] = inside

    def _read_microdata(
        self, node: LexborNode, around: dict[str, DataItem], referred_by: int | None
    ) -> dict[str, DataItem]:
        attributes = node.attributes
        item = None
        if "itemscope" in attributes and self._count < MAX_ITEMS:
            item = DataItem("microdata", tuple((attributes.get("itemtype") or "").split()), attributes.get("itemid"))
            self._items[node.mem_id] = item
            self._count += 1
            for name, value in self._waiting.pop(node.mem_id, ()):
                item.add(name, value)
        names = (attributes.get("itemprop") or "").split()
        owner = around.get("microdata")
        if names:
            value = item if item is not None else self._value(node)
            for name in names:
                if referred_by is not None and owner is None and referred_by not in self._items:
                    self._waiting.setdefault(referred_by, []).append((name, value))
                elif (target := self._items.get(referred_by or 0) or owner) is not None:
                    target.add(name, value)
        if item is not None and (not names or (owner is None and referred_by is None)):
            self.top["microdata"].append(item)  # Also a property of nothing.
        return around if item is None else {**around, "microdata": item}

    def _read_rdfa(self, node: LexborNode, around: dict[str, DataItem], vocabulary: str) -> dict[str, DataItem]:
        attributes = node.attributes
        item = None
        if "typeof" in attributes and self._count < MAX_ITEMS:
            types = tuple(_expand(one, vocabulary) for one in (attributes.get("typeof") or "").split())
            about = attributes.get("resource") or attributes.get("about")
            item = DataItem("rdfa", types, _resolved(self._base, about) if about else None)
            self._count += 1
        names = [_expand(name, vocabulary) for name in (attributes.get("property") or "").split()]
        owner = around.get("rdfa")
        if names and owner is not None:
            value = item if item is not None else attributes.get("content") or self._value(node, is_rdfa=True)
            for name in names:
                owner.add(name, value)
        elif item is not None:
            self.top["rdfa"].append(item)
        return around if item is None else {**around, "rdfa": item}

    def _value(self, node: LexborNode, *, is_rdfa: bool = False) -> str:
        tag, attributes = node.tag or "", node.attributes
        if tag in _URL_ATTRIBUTES:
            target = attributes.get("resource") if is_rdfa else None
            return _resolved(self._base, target or attributes.get(_URL_ATTRIBUTES[tag]) or "")
        stated = attributes.get(_VALUE_ATTRIBUTES.get(tag, ""))
        if stated is not None:
            return stated.strip()
        if self._left <= 0:
            return ""
        text = node.text()
        self._left -= len(text)
        return " ".join(text.split())


def _expand(name: str, vocabulary: str) -> str:
    """Return a term of RDFa with its vocabulary; schema.org also where it is written as a prefix."""
    prefix, colon, rest = name.partition(":")
    if colon and prefix == "schema":
        return f"http://schema.org/{rest}"
    return name if colon or not 0 < len(vocabulary) <= MAX_NAME_CHARS else vocabulary + name


# Open Graph


def open_graph(tree: LexborHTMLParser) -> list[tuple[str, str]]:
    """Return the properties of Open Graph in order."""
    found = []
    for node in tree.css("meta[property][content]")[:MAX_VALUES]:
        name = (node.attributes.get("property") or "").strip()
        if name.partition(":")[0] in _OPEN_GRAPH and ":" in name:
            found.append((name, (node.attributes.get("content") or "").strip()))
    return found


# As fields


def structured_values(items: list[DataItem]) -> list[tuple[str, str]]:
    """Return the values of items with their paths, such as `Product.offers.price`, in order."""
    prefixes = ((item, "" if item.syntax == "opengraph" else item.name) for item in items)
    found = (one for item, prefix in prefixes if prefix or item.syntax == "opengraph" for one in _values(item, prefix))
    return [one for one in islice(found, MAX_VALUES) if one is not None]


def _values(item: DataItem, prefix: str, depth: int = 0) -> Iterator[tuple[str, str] | None]:
    """Yield the values of an item with their paths, and None for each item inside: one that has several names occurs
    several times, so that items count as well."""
    for name, values in item.properties.items():
        own = name if item.syntax == "opengraph" else _local_name(name)
        path = f"{prefix}.{own}" if prefix else own
        for value in values if len(path) <= MAX_NAME_CHARS else ():
            if not isinstance(value, DataItem):
                yield path, value if isinstance(value, str) else json.dumps(value)
            elif depth < MAX_DEPTH:
                yield None
                yield from _values(value, path, depth + 1)


def select_data(tree: LexborHTMLParser, path: str) -> list[str]:
    """Return the values at a path; the first syntax that has some wins, so that nothing is read twice."""
    wanted = path.strip().lower()
    for syntax in ("json-ld", "microdata", "rdfa", "opengraph"):
        items = [item for item in structured_items(tree) if item.syntax == syntax]
        values = [text for name, text in structured_values(items) if name.lower() == wanted]
        if values:
            return values
    return []
