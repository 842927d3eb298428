"""What does a well-formed document say? By expat, with no document type, no entities and nothing fetched."""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat

from evercrawl.core.sitemap.soup import Sink, entity_text

LONGEST_TOKEN = 1024 * 1024
"""Bytes of one tag or comment; expat looks at an unfinished one again with every slice."""

_SLICE_BYTES = 256 * 1024


class NotWellFormed(NamedTuple):
    """Why and where expat gave up."""

    message: str


class Refused(Exception):
    """The document goes beyond a limit, or asks for what is never done."""


def feed_xml(markup: bytes, sink: Sink) -> NotWellFormed | None:
    """Tell the sink every tag and text of UTF-8 markup up to the first error, which is given back."""
    parser = _parser(sink)
    try:
        for at in range(0, len(markup), _SLICE_BYTES):
            parser.Parse(markup[at : at + _SLICE_BYTES], False)
            if at - parser.CurrentByteIndex > LONGEST_TOKEN:
                raise Refused(f"a tag is longer than {LONGEST_TOKEN} bytes")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        return NotWellFormed(str(error))
    return None


def _parser(sink: Sink) -> expat.XMLParserType:
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
    raise Refused(f"the document declares the entity {name[:40]!r}")
