"""What do the tags of a document say that is not well-formed XML?

Stray ampersands, forgotten and crossed end tags, characters that XML forbids: each costs at most its own
element. Every character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import Protocol

MOST_TAGS = 2_000_000
"""Looked at, tags or not; the rest of such a document is not read."""

_TAG = re.compile(r"""<(/?)([A-Za-z_][\w.:-]*+)((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""", re.ASCII)
_ATTRIBUTE = re.compile(r"""([\w.:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.ASCII)
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,31}));", re.ASCII)
_LAST_CODE_POINT = 0x10FFFF
# What is skipped as a whole: its beginning, its end, and whether what is between is text.
_SECTIONS = (("<!--", "-->", False), ("<![CDATA[", "]]>", True), ("<?", "?>", False))


class Sink(Protocol):
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


def unescaped(text: str) -> str:
    """The text with its references resolved; an ampersand that begins none stays."""
    return _REFERENCE.sub(_referred, text) if "&" in text else text


def _referred(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name is not None:
        return html5.get(name + ";", found[0])
    code = int(decimal) if decimal is not None else int(hexadecimal, 16)
    is_character = 0 < code <= _LAST_CODE_POINT and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else ""


def feed_soup(markup: str, sink: Sink) -> None:
    """Tell the sink every tag and text; ends that nobody opened are dropped, those forgotten are added."""
    at, opened = 0, [""]
    for _ in range(MOST_TAGS):
        tag_at = markup.find("<", at)
        if tag_at < 0:
            return
        if tag_at > at:
            sink.text(unescaped(markup[at:tag_at]))
        at = _section_end(markup, tag_at, sink)
        if at == tag_at:
            at = _tag_end(markup, tag_at, sink, opened)
        if at < 0:
            return


def _section_end(markup: str, at: int, sink: Sink) -> int:
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


def _tag_end(markup: str, at: int, sink: Sink, opened: list[str]) -> int:
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
    return {found[1]: unescaped(found[2] or found[3] or found[4] or "") for found in _ATTRIBUTE.finditer(written)}


def _close(name: str, sink: Sink, opened: list[str]) -> None:
    if name in opened:
        while (last := opened.pop()) != name:
            sink.end(last)
        sink.end(name)
