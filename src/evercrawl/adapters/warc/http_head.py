"""How does an HTTP head look in a record?

As it was received, except where that would mislead whoever reads the block: the body is stored without its
transfer coding, so the field that announced one is renamed (RFC 9112 section 7); lines end in CRLF, and one
empty line, at the end, parts head and body (FastWARC finds no payload behind bare LF, warcio finds it
behind any blank line); HTTP/2 is written as HTTP/1.1 text without pseudo header fields.
"""

from __future__ import annotations

import re

_END = b"\r\n\r\n"
_BLANKS = bytes(code for code in range(128) if chr(code).isspace())
_BLANK_LINE = re.compile(rb"\n[" + re.escape(_BLANKS.replace(b"\n", b"")) + rb"]*\n")
_HTTP2_VERSION = re.compile(rb"HTTP/[23](?:\.0)?(?=[ \r\n]|\Z)")
_FRAMING_FIELD = re.compile(rb"(?im)^(?=(?:transfer-encoding|content-length)[ \t]*:)")
_PSEUDO_FIELD = re.compile(rb"(?m)^:[^\n]*\n")
RENAMED = b"X-Archive-Orig-"


def response_block_head(head: bytes, *, body_bytes: int | None) -> bytes:
    """The head of a response as it goes before a body without transfer coding; None: length not stated."""
    clean = _well_formed(head)
    if b"\ntransfer-encoding" not in clean.lower():
        return clean
    renamed = _FRAMING_FIELD.sub(RENAMED, clean)
    if body_bytes is None:
        return renamed
    return b"%bContent-Length: %d\r\n\r\n" % (renamed[:-2], body_bytes)


def request_block_head(head: bytes) -> bytes:
    """The head of a request."""
    return _well_formed(head)


def _well_formed(head: bytes) -> bytes:
    if not _is_well_formed(head):
        lines = [line.rstrip(b"\r") for line in head.split(b"\n")]
        head = b"\r\n".join([line for line in lines if line.strip(_BLANKS)]) + _END
    if b"\n:" in head or b"HTTP/2" in head or b"HTTP/3" in head:
        head = _PSEUDO_FIELD.sub(b"", head)
        first, newline, rest = head.partition(b"\n")
        head = _HTTP2_VERSION.sub(b"HTTP/1.1", first, count=1) + newline + rest
    return head


def _is_well_formed(head: bytes) -> bool:
    blank = _BLANK_LINE.search(head)
    ends_once = blank is not None and blank[0] == b"\n\r\n" and blank.end() == len(head)
    return ends_once and head.count(b"\n") == head.count(b"\r\n") and not head.startswith(b"\r\n")
