"""How much of a page may the tree builder see?

Tree building takes time that grows with the square of the nesting and of the attributes of one tag. Real pages have
little of both, so a page is cut where it goes beyond all measure. Small pages cannot hurt and are not looked at.
"""

from __future__ import annotations

import re

HARMLESS_BYTES = 131_072
"""The worst page of this size costs a second or two."""
HARMLESS_TAGS = 20_000
MOST_NESTING = 2_000
MOST_TAG_PIECES = 16_384
"""Characters and quoted values of one tag."""

_LONG_TAG = re.compile(rb"<[A-Za-z](?:[^<>\"']|\"[^\"]*+\"|'[^']*+'){%d}" % MOST_TAG_PIECES)
_RAW = b"script|style|textarea|title|xmp|iframe|noembed|noframes|noscript"
_TAG = re.compile(
    rb"<!--(?:-?>|.*?--!?>|.*\Z)"
    rb"|<(?i:(?P<raw>" + _RAW + rb"))(?=[\s/>]).*?(?:</(?i:(?P=raw))(?=[\s/>])|\Z)"
    rb"|<(/?[A-Za-z][^\s/>]*)",
    re.DOTALL,
)
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
# Elements that end by themselves when the next of their kind begins.
_ENDS_ITSELF = frozenset(
    b"p li dt dd option optgroup tr td th tbody thead tfoot colgroup a nobr rb rp rt rtc html head body".split()
)
_WALLS = frozenset(b"table caption object applet marquee template select svg math".split())
_REACHES_BACK = frozenset(
    b"address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form header"
    b" hgroup main menu nav ol pre section summary ul table".split()
)
LONGEST_REACH = 32


def bounded(body: bytes) -> bytes:
    """The page up to the place where it becomes dangerous; nearly always all of it."""
    if len(body) <= HARMLESS_BYTES:
        return body
    long_tag = _LONG_TAG.search(body)
    if long_tag is not None:
        body = body[: long_tag.start()]
    if body.count(b"<") <= HARMLESS_TAGS:
        return body
    return body[: _too_deep_at(body)]


def _too_deep_at(body: bytes) -> int:
    """Where the nesting, never judged too low, passes the limit."""
    stack: list[bytes] = []
    for match in _TAG.finditer(body):
        name = match[2]
        if name is None:
            continue
        name = name.lower()
        if name[0] == 0x2F:
            _close(stack, name[1:])
        elif name not in _VOID and name not in _ENDS_ITSELF:
            stack.append(name)
            if len(stack) > MOST_NESTING:
                return match.start()
    return len(body)


def _close(stack: list[bytes], name: bytes) -> None:
    """Take away what an end tag surely closes; an end tag that browsers might ignore closes nothing."""
    if stack and stack[-1] == name:
        stack.pop()
    elif name in _REACHES_BACK:
        for back in range(2, min(LONGEST_REACH, len(stack)) + 1):
            if stack[-back] == name:
                del stack[-back:]
                return
            if stack[-back] in _WALLS and name != b"table":
                return
