"""Items that handlers of users find in pages: dataclasses, pydantic models or mappings, stored with their version."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.encoding import decode_body, detect_charset
from evercrawl.model.change import Change
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers, header

MAX_ITEMS = 10_000  # Items of one version that are stored.
MAX_ITEMS_CHARS = 8_000_000  # Characters of the stored items of one version, as JSON.
MAX_ERROR_CHARS = 200
ITEMS_KEY = "items"
"""The name under which items are stored with the results of analysers."""
TYPE_KEY = "@type"
"""The field of a stored item that holds the name of its class."""


@dataclass(frozen=True)
class ItemPage:
    """A version of a page as extractors get it, parsed, with what changed since the version before."""

    url: str
    document: Document
    headers: Headers = ()
    body: bytes = field(default=b"", repr=False)
    change: Change | None = None  # Since the version before; None: the first version, or not compared.

    @cached_property
    def html(self) -> str:
        """The body as text, up to where it is too costly to parse."""
        body = truncate_markup(self.body)
        charset = detect_charset(body, header(self.headers, "content-type"))
        return decode_body(body[charset.bom_bytes :], charset.encoding)

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The elements of the page, for CSS selectors."""
        return LexborHTMLParser(self.html)

    def css(self, selector: str) -> list[LexborNode]:
        """Return the elements that a CSS selector matches."""
        return list(self.tree.css(selector))

    def text_of(self, selector: str) -> str | None:
        """Return the text of the first element that a CSS selector matches; None: there is none."""
        found = self.tree.css_first(selector)
        return None if found is None else " ".join(found.text().split())

    @property
    def added(self) -> tuple[str, ...]:
        """The texts that are new since the version before; of a first version nothing."""
        return () if self.change is None else tuple(edit.added for edit in self.change.edits if edit.added)


ExtractItems = Callable[[ItemPage], Iterable[Any]]
"""Yields the items of a page: dataclasses, pydantic models or mappings."""


def item_fields(item: object) -> dict[str, Any]:
    """Return an item as fields with the name of its class; raise TypeError if it is not an item."""
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        fields = dataclasses.asdict(item)
    elif callable(dump := getattr(item, "model_dump", None)):  # A pydantic model.
        fields = dump(mode="json")
    elif isinstance(item, Mapping):
        return {str(name): value for name, value in item.items()}
    else:
        raise TypeError(f"an item is a dataclass, a pydantic model or a mapping, not {type(item).__name__}")
    return {TYPE_KEY: type(item).__name__, **fields}


def stored_items(found: Iterable[object]) -> list[dict[str, Any]]:
    """Return items as they are stored; raise ValueError if there are too many, and TypeError if one is none."""
    items: list[dict[str, Any]] = []
    chars = 0
    for item in found:
        fields = item_fields(item)
        text = json.dumps(fields, default=_plain, ensure_ascii=False)
        chars += len(text)
        if len(items) >= MAX_ITEMS or chars > MAX_ITEMS_CHARS:
            raise ValueError(f"more than {MAX_ITEMS:,} items, or {MAX_ITEMS_CHARS:,} characters, in one version")
        items.append(json.loads(text))
    return items


def _plain(value: object) -> object:
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


def extract_items(page: ItemPage, name: str, extract: ExtractItems) -> dict[str, Any]:
    """Return the items of one extractor for storing; if it fails, only its own items are lost."""
    try:
        items = stored_items(extract(page) or ())
    except Exception as error:
        return {f"{name}_error": f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]}
    return {ITEMS_KEY: items} if items else {}


def build_item(kind: type, fields: Mapping[str, Any]) -> Any:
    """Return stored fields as an instance of a dataclass or pydantic model; unknown fields are left out."""
    own = {name: value for name, value in fields.items() if name != TYPE_KEY}
    if callable(validate := getattr(kind, "model_validate", None)):
        return validate(own)
    if dataclasses.is_dataclass(kind):
        known = {one.name for one in dataclasses.fields(kind) if one.init}
        own = {name: value for name, value in own.items() if name in known}
    return kind(**own)
