"""Where does the sitemap begin, and in which encoding is it?

The protocol wants UTF-8, so bytes that are valid UTF-8 are UTF-8 whatever anything declares. Byte order
marks, white space, a program's warnings before the XML declaration, the declaration and the document type are
taken off: no entity is ever declared, so none can expand or name a file.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from html.entities import html5
from typing import NamedTuple, Protocol
from xml.parsers import expat

from evercrawl.core.document.encoding import DEFAULT_ENCODING, charset_parameter, decode_body, prescan
from evercrawl.core.sitemap.sitemap_values import absolute_url, parse_date
from evercrawl.model.sitemap import SitemapEntry, SitemapLimits, SitemapType

PRESCAN_BYTES = 1024
LONGEST_PREAMBLE = 64 * 1024
"""Bytes before the sitemap that are looked through for its beginning."""
LONGEST_DOCTYPE = 16 * 1024

_SLICE_BYTES = 1024 * 1024
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_WIDE_STARTS = ((b"<\0", "utf-16le"), (b"\0<", "utf-16be"))
_EMPTY = re.compile(rb"(?:\xef\xbb\xbf|[\s\0])*+")
_BEFORE_ROOT = re.compile(rb"(?:\s++|<!--.*?-->|<\?.*?(?:\?>|>))*+", re.DOTALL)
_START = re.compile(rb"<\?xml\s|<(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>]", re.IGNORECASE)
_DOCTYPE = re.compile(
    rb"""<!DOCTYPE(?:[^\[\]<>"']|"[^"]*+"|'[^']*+')*+"""
    rb"""(?:\[(?:[^\]<"']|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<)*+\]\s*+)?+>""",
    re.DOTALL | re.IGNORECASE,
)
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|script|h1)[\s>]", re.IGNORECASE)


def as_utf8(body: bytes, content_type: str | None) -> bytes:
    """The document in valid UTF-8, without byte order mark and the white space around its beginning."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _from(body[len(mark) :], encoding)
    for start, encoding in _WIDE_STARTS:
        if body.startswith(start):
            return _from(body, encoding)
    if _is_utf8(body):
        return _trimmed(body)
    return _from(body, _declared(body, content_type))


def _from(body: bytes, encoding: str) -> bytes:
    if encoding == "utf-8" and _is_utf8(body):
        return _trimmed(body)
    return _trimmed(decode_body(body, encoding).encode("utf-8", "replace"))


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    # In slices: the text of a large body would be up to four times as large.
    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(body), _SLICE_BYTES):
            decoder.decode(body[at : at + _SLICE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _declared(body: bytes, content_type: str | None) -> str:
    """The first name that can be true of bytes that are not UTF-8; UTF-8 where only that is named."""
    named = (prescan(body[:PRESCAN_BYTES].lstrip()), charset_parameter(content_type))
    for encoding in named:
        if encoding is not None and encoding != "utf-8":
            return encoding
    return "utf-8" if "utf-8" in named else DEFAULT_ENCODING


def _trimmed(document: bytes) -> bytes:
    found = _EMPTY.match(document)
    return document[found.end() :] if found else document


def is_html(document: bytes) -> bool:
    """The document is a web page, as a server's page of errors is."""
    return _HTML.match(document, _root_at(document)) is not None


def _root_at(document: bytes) -> int:
    found = _BEFORE_ROOT.match(document)
    return found.end() if found else 0


def markup_of(document: bytes) -> bytes | None:
    """The document from its root element on (or comments before it); None where it is no markup."""
    if not document.startswith(b"<"):
        found = _START.search(document, 0, LONGEST_PREAMBLE)
        if found is None:
            return None
        document = document[found.start() :]
    at = _root_at(document)
    if doctype := _DOCTYPE.match(document[at : at + LONGEST_DOCTYPE]):
        at += doctype.end()
    return document[at:]


MOST_TAGS = 2_000_000
"""Looked at, tags or not; the rest of such a document is not read."""

_TAG = re.compile(r"""<(/?)([A-Za-z_][\w.:-]*+)((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""", re.ASCII)
_ATTRIBUTE = re.compile(r"""([\w.:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.ASCII)
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,31}));", re.ASCII)
_LAST_CODE_POINT = 0x10FFFF
# What is skipped as a whole: its beginning, its end, and whether what is between is text.
_SECTIONS = (("<!--", "-->", False), ("<![CDATA[", "]]>", True), ("<?", "?>", False))


class TagHandler(Protocol):
    """Whoever is told what stands in a document, in order."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """The innermost open element ends."""

    def text(self, data: str) -> None:
        """Characters inside the innermost open element."""


def entity_text(name: str) -> str:
    """What a named entity stands for: HTML's, and nothing else; no document can declare one."""
    return html5.get(name + ";", "")


def resolve_references(text: str) -> str:
    """The text with its references resolved; an ampersand that begins none stays."""
    return _REFERENCE.sub(_referred, text) if "&" in text else text


def _referred(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name is not None:
        return html5.get(name + ";", found[0])
    code = int(decimal) if decimal is not None else int(hexadecimal, 16)
    is_character = 0 < code <= _LAST_CODE_POINT and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else ""


def parse_tags(markup: str, sink: TagHandler) -> None:
    """Tell the sink every tag and text; ends that nobody opened are dropped, those forgotten are added."""
    at, opened = 0, [""]
    for _ in range(MOST_TAGS):
        tag_at = markup.find("<", at)
        if tag_at < 0:
            return
        if tag_at > at:
            sink.text(resolve_references(markup[at:tag_at]))
        at = _section_end(markup, tag_at, sink)
        if at == tag_at:
            at = _tag_end(markup, tag_at, sink, opened)
        if at < 0:
            return


def _section_end(markup: str, at: int, sink: TagHandler) -> int:
    """Behind the comment, CDATA section or instruction that begins here; `at` where none does, -1 where it
    never ends.
    """
    for start, end, is_text in _SECTIONS:
        if markup.startswith(start, at):
            end_at = markup.find(end, at + len(start))
            if end_at < 0:
                return -1
            if is_text:
                sink.text(markup[at + len(start) : end_at])
            return end_at + len(end)
    return at


def _tag_end(markup: str, at: int, sink: TagHandler, opened: list[str]) -> int:
    found = _TAG.match(markup, at)
    if found is None:
        # A lone "<" is text.
        sink.text("<")
        return at + 1
    is_end, name, attributes = found.groups()
    if is_end:
        _close(name, sink, opened)
    else:
        # No element of these formats stands inside one of its own name: the one before was never ended.
        _close(name, sink, opened)
        sink.start(name, _attributes(attributes))
        if attributes.endswith("/"):
            sink.end(name)
        else:
            opened.append(name)
    return found.end()


def _attributes(written: str) -> dict[str, str]:
    if "=" not in written:
        return {}
    return {
        found[1]: resolve_references(found[2] or found[3] or found[4] or "") for found in _ATTRIBUTE.finditer(written)
    }


def _close(name: str, sink: TagHandler, opened: list[str]) -> None:
    if name in opened:
        while (last := opened.pop()) != name:
            sink.end(last)
        sink.end(name)


LONGEST_TOKEN = 1024 * 1024
"""Bytes of one tag or comment; expat looks at an unfinished one again with every slice."""

_SLICE_BYTES_xml = 256 * 1024


class NotWellFormed(NamedTuple):
    """Why and where expat gave up."""

    message: str


class LimitExceeded(Exception):
    """The document goes beyond a limit, or asks for what is never done."""


def parse_xml(markup: bytes, sink: TagHandler) -> NotWellFormed | None:
    """Tell the sink every tag and text of UTF-8 markup up to the first error, which is given back."""
    parser = _parser(sink)
    try:
        for at in range(0, len(markup), _SLICE_BYTES_xml):
            parser.Parse(markup[at : at + _SLICE_BYTES_xml], False)
            if at - parser.CurrentByteIndex > LONGEST_TOKEN:
                raise LimitExceeded(f"a tag is longer than {LONGEST_TOKEN} bytes")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        return NotWellFormed(str(error))
    return None


def _parser(sink: TagHandler) -> expat.XMLParserType:
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    # A document type nobody reads: entities that are not XML's own are then skipped instead of being errors.
    parser.UseForeignDTD(True)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.StartElementHandler = sink.start
    parser.EndElementHandler = sink.end
    parser.CharacterDataHandler = sink.text
    parser.SkippedEntityHandler = lambda name, _is_parameter: sink.text(entity_text(name))
    parser.EntityDeclHandler = _refuse_entity
    return parser


def _refuse_entity(name: str, *_rest: object) -> None:
    raise LimitExceeded(f"the document declares the entity {name[:40]!r}")


LONGEST_FIELD = 16 * 1024
"""Characters kept of one element's text."""
NAMES_REMEMBERED = 1024

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
    """An element inside a record; the record's own children have the parent ""."""

    parent: str
    name: str
    attributes: dict[str, str]
    text: str


class EntryElement(NamedTuple):
    """One entry as it stands in the document; the base is what its relative URLs are relative to."""

    base: str
    attributes: dict[str, str]
    fields: list[EntryField]
    text: str


EntryParser = Callable[[EntryElement], list[SitemapEntry]]


class _Open:
    """An element that has not ended yet."""

    __slots__ = ("attributes", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.text = ""


class EntryCollector:
    """Takes a document's tags and gives its entries; never more, deeper or longer than the limits."""

    def __init__(self, url: str, meanings: dict[SitemapType, EntryParser], *, limits: SitemapLimits) -> None:
        self.type = SitemapType.UNKNOWN
        self.root = ""
        self.entries: list[SitemapEntry] = []
        self.feed_lastmod: datetime | None = None
        self._base = url
        self._limits = limits
        self._meanings = meanings
        self._meaning: EntryParser = meanings[SitemapType.EXTENDED]
        self._records = self._feed_dates = _NONE
        self._prefix = ""
        self._depth = 0
        self._room = limits.most_elements
        self._open: list[_Open] = []
        self._fields: list[EntryField] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._room -= 1
        if self._depth > self._limits.most_depth:
            raise LimitExceeded(f"elements are nested more than {self._limits.most_depth} deep")
        if self._room < 0:
            raise LimitExceeded(f"more than {self._limits.most_elements} elements")
        if not self.root:
            self._begin(name, attributes)
            return
        local = _local(name, self._prefix)
        if self._open or self._is_record(local):
            self._open.append(_Open(local, attributes))

    def _is_record(self, local: str) -> bool:
        if self._records:
            return local in self._records or local in self._feed_dates
        return self._depth == 2

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self.root = name
        self._prefix, _, local = name.rpartition(":")
        self.type = _TYPES.get(local.lower(), SitemapType.UNKNOWN)
        self._records = _RECORDS.get(self.type, _NONE)
        self._feed_dates = _FEED_DATES.get(self.type, _NONE)
        self._meaning = self._meanings.get(self.type, self._meaning)
        if local.lower() == "rdf":
            # Its items are of RSS, not of RDF, and have no prefix.
            self._prefix = ""
        self._base = _base_of(attributes, self._base)
        if local.lower() == "html":
            raise LimitExceeded("a web page, not a sitemap")

    def text(self, data: str) -> None:
        """Characters inside the innermost open element."""
        if self._open:
            element = self._open[-1]
            if len(element.text) < LONGEST_FIELD:
                element.text += data

    def end(self, _name: str) -> None:
        """The innermost open element ends."""
        self._depth -= 1
        if not self._open:
            return
        element = self._open.pop()
        if not self._open:
            self._end_record(element)
            return
        if len(self._fields) >= self._limits.most_fields:
            raise LimitExceeded(f"more than {self._limits.most_fields} elements in one entry")
        parent = self._open[-1].name if len(self._open) > 1 else ""
        self._fields.append(EntryField(parent, element.name, element.attributes, element.text))

    def _end_record(self, element: _Open) -> None:
        fields, self._fields = self._fields, []
        if element.name in self._feed_dates:
            self._see_feed_date(element.text)
            return
        record = EntryElement(_base_of(element.attributes, self._base), element.attributes, fields, element.text)
        for entry in self._meaning(record):
            if len(self.entries) >= self._limits.most_entries:
                raise LimitExceeded(f"more than {self._limits.most_entries} entries; the rest was not read")
            self.entries.append(entry)

    def _see_feed_date(self, text: str) -> None:
        moment = parse_date(text)
        if moment is not None and (self.feed_lastmod is None or moment > self.feed_lastmod):
            self.feed_lastmod = moment

    def finish(self) -> str | None:
        """The document stops here: of a record that was cut, the elements that ended count. Gives back the
        limit that it went beyond.
        """
        if not self._open or self._open[0].name in self._feed_dates:
            return None
        record = self._open[0]
        self._open = []
        # Its own text may have been cut in the middle of a URL.
        record.text = ""
        try:
            self._end_record(record)
        except LimitExceeded as limit:
            return str(limit)
        return None


@lru_cache(maxsize=NAMES_REMEMBERED)
def _local(name: str, own_prefix: str) -> str:
    prefix, colon, local = name.rpartition(":")
    return local.lower() if not colon or prefix == own_prefix else ":" + local.lower()


def _base_of(attributes: dict[str, str], base: str) -> str:
    written = attributes.get("xml:base")
    return base if not written else absolute_url(written, base) or base
