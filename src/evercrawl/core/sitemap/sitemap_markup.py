"""Parse the markup of sitemaps and feeds into entry elements.
Valid UTF-8 is UTF-8 whatever the document declares. Declarations and document types are removed, so no entity can
expand. Broken markup is read tag by tag. Names are in lower case, with a leading colon outside the root's vocabulary.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from html.entities import html5
from typing import NamedTuple, Protocol
from xml.parsers import expat

from evercrawl.core.document.encoding import DEFAULT_ENCODING, charset_parameter, decode_body, prescan
from evercrawl.core.sitemap.sitemap_values import absolute_url, parse_date
from evercrawl.model.sitemap import SitemapEntry, SitemapLimits, SitemapType

PRESCAN_BYTES = 1024
MAX_PREAMBLE = 64 * 1024  # Bytes searched for the start of the sitemap.
MAX_DOCTYPE = 16 * 1024

_SLICE_BYTES = 1024 * 1024
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_WIDE_STARTS = ((b"<\0", "utf-16le"), (b"\0<", "utf-16be"))
_EMPTY = re.compile(rb"(?:\xef\xbb\xbf|[\s\0])*+")
_BEFORE_ROOT = re.compile(rb"(?:\s++|<!--.*?-->|<\?.*?(?:\?>|>))*+", re.DOTALL)
_START = re.compile(rb"<\?xml\s|<(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>]", re.IGNORECASE)
_DOCTYPE = re.compile(
    rb"""<!DOCTYPE(?:[^\[\]<>"']|"[^"]*+"|'[^']*+')*+"""
    rb"""(?:\[(?:[^\]<"']|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+\]\s*+)?+>""",
    re.DOTALL | re.IGNORECASE,
)
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|script|h1)[\s>]", re.IGNORECASE)


def as_utf8(body: bytes, content_type: str | None) -> bytes:
    """Return the document in UTF-8, without byte order mark and leading white space."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _from(body[len(mark) :], encoding)
    for start, encoding in _WIDE_STARTS:
        if body.startswith(start):
            return _from(body, encoding)
    return _trimmed(body) if _is_utf8(body) else _from(body, _declared(body, content_type))


def _from(body: bytes, encoding: str) -> bytes:
    if encoding == "utf-8" and _is_utf8(body):
        return _trimmed(body)
    return _trimmed(decode_body(body, encoding).encode("utf-8", "replace"))


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    # In slices, because the text of a large body can be four times as large.
    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(body), _SLICE_BYTES):
            decoder.decode(body[at : at + _SLICE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _declared(body: bytes, content_type: str | None) -> str:
    """Return the first declared encoding that is possible for bytes that are not UTF-8."""
    named = (prescan(body[:PRESCAN_BYTES].lstrip()), charset_parameter(content_type))
    for encoding in named:
        if encoding is not None and encoding != "utf-8":
            return encoding
    return "utf-8" if "utf-8" in named else DEFAULT_ENCODING


def _trimmed(document: bytes) -> bytes:
    found = _EMPTY.match(document)
    return document[found.end() :] if found else document


def is_html(document: bytes) -> bool:
    """True if the document is a web page, such as an error page."""
    return _HTML.match(document, _root_at(document)) is not None


def _root_at(document: bytes) -> int:
    found = _BEFORE_ROOT.match(document)
    return found.end() if found else 0


def markup_of(document: bytes) -> bytes | None:
    """Return the document from its root element on; None if it is no markup."""
    if not document.startswith(b"<"):
        found = _START.search(document, 0, MAX_PREAMBLE)
        if found is None:
            return None
        document = document[found.start() :]
    at = _root_at(document)
    if doctype := _DOCTYPE.match(document[at : at + MAX_DOCTYPE]):
        at += doctype.end()
    return document[at:]


MAX_TAGS = 2_000_000  # Tags examined. The rest of such a document is not read.

_TAG = re.compile(r"""<(/?)([A-Za-z_][\w.:-]*+)((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""", re.ASCII)
_ATTRIBUTE = re.compile(r"""(?<![\w.:-])([\w.:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.ASCII)
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,31}));", re.ASCII)
_LAST_CODE_POINT = 0x10FFFF
# Sections to skip: start, end, and whether the content is text.
_SECTIONS = (("<!--", "-->", False), ("<![CDATA[", "]]>", True), ("<?", "?>", False))


class TagHandler(Protocol):
    """Receives the tags and text of a document in order."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Start an element."""

    def end(self, name: str) -> None:
        """End the innermost open element."""

    def text(self, data: str) -> None:
        """Add characters to the innermost open element."""


def entity_text(name: str) -> str:
    """Return the text of a named HTML entity. Documents cannot declare any."""
    return html5.get(name + ";", "")


def resolve_references(text: str) -> str:
    """Resolve character references. Stray ampersands stay."""
    return _REFERENCE.sub(_resolve, text) if "&" in text else text


def _resolve(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name is not None:
        return html5.get(name + ";", found[0])
    code = int(decimal) if decimal is not None else int(hexadecimal, 16)
    is_character = 0 < code <= _LAST_CODE_POINT and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else ""


def parse_tags(markup: str, handler: TagHandler) -> None:
    """Pass every tag and text to the handler. Unmatched end tags are dropped, missing ones added."""
    at = 0
    opened: dict[str, None] = {}  # In order; no name occurs twice.
    for _ in range(MAX_TAGS):
        tag_at = markup.find("<", at)
        if tag_at < 0:
            return
        if tag_at > at:
            handler.text(resolve_references(markup[at:tag_at]))
        at = _section_end(markup, tag_at, handler)
        if at == tag_at:
            at = _tag_end(markup, tag_at, handler, opened)
        if at < 0:
            return


def _section_end(markup: str, at: int, handler: TagHandler) -> int:
    """Return the position after the comment, CDATA section or instruction at `at`, if any; -1 if it never ends."""
    for start, end, is_text in _SECTIONS:
        if markup.startswith(start, at):
            end_at = markup.find(end, at + len(start))
            if end_at < 0:
                return -1
            if is_text:
                handler.text(markup[at + len(start) : end_at])
            return end_at + len(end)
    return at


def _tag_end(markup: str, at: int, handler: TagHandler, opened: dict[str, None]) -> int:
    found = _TAG.match(markup, at)
    if found is None:
        # A lone "<" is text.
        handler.text("<")
        return at + 1
    is_end, name, attributes = found.groups()
    if is_end:
        _close(name, handler, opened)
    else:
        # No element of these formats contains one of its own name: the previous end tag is missing.
        _close(name, handler, opened)
        handler.start(name, _attributes(attributes))
        if attributes.endswith("/"):
            handler.end(name)
        else:
            opened[name] = None
    return found.end()


def _attributes(written: str) -> dict[str, str]:
    if "=" not in written:
        return {}
    return {
        found[1]: resolve_references(found[2] or found[3] or found[4] or "") for found in _ATTRIBUTE.finditer(written)
    }


def _close(name: str, handler: TagHandler, opened: dict[str, None]) -> None:
    if name in opened:
        while (last := opened.popitem()[0]) != name:
            handler.end(last)
        handler.end(name)


MAX_TOKEN_BYTES = 1024 * 1024  # Bytes of one tag or comment. Expat scans an unfinished one again with every slice.

_XML_SLICE_BYTES = 256 * 1024


class NotWellFormed(NamedTuple):
    """The error at which expat stopped."""

    message: str


class LimitExceeded(Exception):
    """The document exceeds a limit or declares an entity."""


def parse_xml(markup: bytes, handler: TagHandler) -> NotWellFormed | None:
    """Pass every tag and text of UTF-8 markup to the handler; return the first error, if any."""
    parser = _parser(handler)
    try:
        for at in range(0, len(markup), _XML_SLICE_BYTES):
            parser.Parse(markup[at : at + _XML_SLICE_BYTES], False)
            if at - parser.CurrentByteIndex > MAX_TOKEN_BYTES:
                raise LimitExceeded(f"a tag is longer than {MAX_TOKEN_BYTES} bytes")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        return NotWellFormed(str(error))
    return None


def _parser(handler: TagHandler) -> expat.XMLParserType:
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    # With an external document type, unknown entities are skipped instead of being errors.
    parser.UseForeignDTD(True)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.SkippedEntityHandler = lambda name, _is_parameter: handler.text(entity_text(name))
    parser.EntityDeclHandler = _refuse_entity
    return parser


def _refuse_entity(name: str, *_rest: object) -> None:
    raise LimitExceeded(f"the document declares the entity {name[:40]!r}")


MAX_FIELD_CHARS = 16 * 1024  # Characters kept of one element's text.
CACHED_NAMES = 1024

_TYPES = {
    "urlset": SitemapType.URLSET,
    "sitemapindex": SitemapType.INDEX,
    "rss": SitemapType.RSS,
    "rdf": SitemapType.RSS,
    "feed": SitemapType.ATOM,
}
_RECORDS = {
    SitemapType.URLSET: frozenset({"url"}),
    SitemapType.INDEX: frozenset({"sitemap"}),
    SitemapType.RSS: frozenset({"item"}),
    SitemapType.ATOM: frozenset({"entry"}),
}
_FEED_DATES = {
    SitemapType.RSS: frozenset({"pubdate", "lastbuilddate", ":date"}),
    SitemapType.ATOM: frozenset({"updated", "modified"}),
}
_NONE: frozenset[str] = frozenset()


class EntryField(NamedTuple):
    """An element inside an entry. Direct children have the parent ""."""

    parent: str
    name: str
    attributes: dict[str, str]
    text: str


class EntryElement(NamedTuple):
    """One entry of the document. Relative URLs are relative to the base."""

    base: str
    attributes: dict[str, str]
    fields: list[EntryField]
    text: str


EntryParser = Callable[[EntryElement], list[SitemapEntry]]


class _OpenElement:
    """An element without end tag so far."""

    __slots__ = ("attributes", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.text = ""


class EntryCollector:
    """Collects entries from the tags of a document, within the limits."""

    def __init__(self, url: str, parsers: Mapping[SitemapType, EntryParser], *, limits: SitemapLimits) -> None:
        self.type = SitemapType.UNKNOWN
        self.root = ""
        self.entries: list[SitemapEntry] = []
        self.feed_lastmod: datetime | None = None
        self._base = url
        self._limits = limits
        self._parsers = parsers
        self._parse_entry: EntryParser = parsers[SitemapType.EXTENDED]
        self._records = self._feed_dates = _NONE
        self._prefix = ""
        self._depth = 0
        self._elements_left = limits.max_elements
        self._open: list[_OpenElement] = []
        self._fields: list[EntryField] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Start an element."""
        self._depth += 1
        self._elements_left -= 1
        if self._depth > self._limits.max_depth:
            raise LimitExceeded(f"elements are nested more than {self._limits.max_depth} deep")
        if self._elements_left < 0:
            raise LimitExceeded(f"more than {self._limits.max_elements} elements")
        if not self.root:
            self._start_root(name, attributes)
            return
        local = _local(name, self._prefix)
        if self._open or self._is_record(local):
            self._open.append(_OpenElement(local, attributes))

    def _is_record(self, local: str) -> bool:
        return local in (*self._records, *self._feed_dates) if self._records else self._depth == 2

    def _start_root(self, name: str, attributes: dict[str, str]) -> None:
        self.root = name
        self._prefix, _, local = name.rpartition(":")
        self.type = _TYPES.get(local.lower(), SitemapType.UNKNOWN)
        self._records = _RECORDS.get(self.type, _NONE)
        self._feed_dates = _FEED_DATES.get(self.type, _NONE)
        self._parse_entry = self._parsers.get(self.type, self._parse_entry)
        if local.lower() == "rdf":
            # Its items belong to RSS, not RDF, and have no prefix.
            self._prefix = ""
        self._base = _base_of(attributes, self._base)
        if local.lower() == "html":
            raise LimitExceeded("a web page, not a sitemap")

    def text(self, data: str) -> None:
        """Add characters to the innermost open element."""
        if self._open:
            element = self._open[-1]
            if len(element.text) < MAX_FIELD_CHARS:
                element.text += data

    def end(self, _name: str) -> None:
        """End the innermost open element."""
        self._depth -= 1
        if not self._open:
            return
        element = self._open.pop()
        if not self._open:
            self._end_record(element)
            return
        if len(self._fields) >= self._limits.max_fields:
            raise LimitExceeded(f"more than {self._limits.max_fields} elements in one entry")
        parent = self._open[-1].name if len(self._open) > 1 else ""
        self._fields.append(EntryField(parent, element.name, element.attributes, element.text))

    def _end_record(self, element: _OpenElement) -> None:
        fields, self._fields = self._fields, []
        if element.name in self._feed_dates:
            self._add_feed_date(element.text)
            return
        record = EntryElement(_base_of(element.attributes, self._base), element.attributes, fields, element.text)
        for entry in self._parse_entry(record):
            if len(self.entries) >= self._limits.max_entries:
                raise LimitExceeded(f"more than {self._limits.max_entries} entries; the rest was not read")
            self.entries.append(entry)

    def _add_feed_date(self, text: str) -> None:
        moment = parse_date(text)
        if moment is not None and (self.feed_lastmod is None or moment > self.feed_lastmod):
            self.feed_lastmod = moment

    def finish(self) -> str | None:
        """Finish a document that was cut, keeping the complete elements; return the limit that it exceeded, if any."""
        if not self._open or self._open[0].name in self._feed_dates:
            return None
        record = self._open[0]
        self._open = []
        # Its own text may be cut in the middle of a URL.
        record.text = ""
        try:
            self._end_record(record)
        except LimitExceeded as limit:
            return str(limit)
        return None


@lru_cache(maxsize=CACHED_NAMES)
def _local(name: str, own_prefix: str) -> str:
    prefix, colon, local = name.rpartition(":")
    return local.lower() if not colon or prefix == own_prefix else ":" + local.lower()


def _base_of(attributes: dict[str, str], base: str) -> str:
    written = attributes.get("xml:base")
    return base if not written else absolute_url(written, base) or base
