"""Limits on markup that is expensive to parse.
Tree building takes time quadratic in the nesting and in the attributes of one tag, and about 200 bytes of memory per
tag. Real pages have little of either, so a page is cut where it exceeds the limits. Small pages are harmless."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

HARMLESS_BYTES = 24_576  # The worst page of this size, or with this many tags, takes a tenth of a second.
HARMLESS_TAGS = 6_000
HARMLESS_STEPS = 100_000_000  # Open elements times tags: an end tag may look through everything that is open.
MAX_MARKUP_BYTES = 8 * 1024 * 1024
MAX_TAGS = 500_000  # The longest specifications on the web have fewer.
MAX_NESTING = 2_000
MAX_ATTRIBUTES = 2_000  # Of one tag. Any character but white space, / and > may be part of a name, also < and quotes.
MAX_TAG_OVERLAP = 16  # Characters of tags inside tags, times the size: more of them would take quadratic time.

# Tokenization (HTML standard 13.2.5) of lower-case markup. In tags, \v is no white space.
_PARTS = {
    b"end": rb"(?=[\t\n\f\r />])",
    b"name": rb"[^\t\n\f\r />]",
    b"key": rb"[^\t\n\f\r />=]",
    b"value": rb"[^\t\n\f\r >]",
    b"first": rb"[^\t\n\f\r >\"']",
    b"equals": rb"[\t\n\f\r ]*+=[\t\n\f\r ]*+",
    b"between": rb"[\t\n\f\r /]*+",
}
_ATTRIBUTE = (
    rb"(?:%(between)s%(name)s%(key)s*+(?:%(equals)s(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|%(first)s%(value)s*+)?+)?+)"
    % _PARTS
)
_TAG_REST = rb"%s*+%s>?" % (_ATTRIBUTE, _PARTS[b"between"])
_TAG = rb"<(/?[a-z]%s*+)%s" % (_PARTS[b"name"], _TAG_REST)
_LONG_TAG = re.compile(
    rb"<[a-z]%s*+%s{0,%d}+(%s%s)?" % (_PARTS[b"name"], _ATTRIBUTE, MAX_ATTRIBUTES, _PARTS[b"between"], _PARTS[b"name"])
)
# A cheap test that every long tag passes: others have few attributes, with short names.
_MAYBE_LONG_TAG = re.compile(
    rb"<[A-Za-z](?:%(name)s{64}|%(name)s{0,63}+(?:%(between)s%(name)s%(key)s{0,63}+(?!%(key)s)"
    rb"(?:%(equals)s(?:\"[^\"]*+\"|'[^']*+'|%(first)s%(value)s{0,511}+(?!%(value)s)|(?=>))|(?!%(equals)s))"
    rb"){0,31}+%(between)s%(name)s)" % _PARTS
)
_TAG_BEGINS = re.compile(b"<")
_COMMENT = rb"<!--(?:-?>|.*?--!?>|.*\Z)"
_OTHER = rb"<(?:[!?]|/(?![a-z]))[^>]*+>?"  # Document types, and what becomes a comment up to the next >.
_RUBY = rb"<ruby>[^<]*+(?:</?r[bpt]c?>[^<]*+)*+</ruby>"  # Its parts end with it, and elsewhere contain each other.
# In a comment in a script, <script> makes the next </script> part of the script.
_SCRIPT_TEXT = (
    rb"(?:[^<]++|<!--(?:-?>|(?:[^<-]++|-(?!->)|<script%(end)s(?:[^<-]++|-(?!->)|<(?!/script%(end)s))*+(?:</script)?+"
    rb"|<(?!/?script%(end)s))*+(?:-->)?+)|<(?!/script%(end)s|!--))*+" % _PARTS
)
_RAW_TEXTS = {b"script": _SCRIPT_TEXT} | {
    name: rb"(?:.*?(?=</%s%s)|.*)" % (name, _PARTS[b"end"])
    for name in b"style textarea title xmp iframe noembed noframes noscript".split()
}
_RAW = rb"<(?=[stxin])(?:%s)" % b"|".join(
    name + _PARTS[b"end"] + _TAG_REST + content for name, content in _RAW_TEXTS.items()
)
_TAGS = re.compile(b"|".join((_COMMENT, _RAW, _RUBY, _TAG, _OTHER)), re.DOTALL)
_SLASHED_TAG = rb"<(/?[a-z]%s*+)%s*+(%s)>?" % (_PARTS[b"name"], _ATTRIBUTE, _PARTS[b"between"])
_TOKENS = re.compile(b"|".join((_COMMENT, _RUBY, _SLASHED_TAG, _OTHER)), re.DOTALL)
_STARTS = re.compile(rb"<(/?[a-z]%s*)" % _PARTS[b"name"])  # Also inside of others.
_RAW_CONTENTS = {name: re.compile(content, re.DOTALL) for name, content in _RAW_TEXTS.items()}
_CDATA = re.compile(rb"<!\[cdata\[.*?(?:\]\]>|\Z)", re.DOTALL)
_FOREIGN = frozenset((b"svg", b"math"))
_CONTAINS_HTML = {
    b"svg": frozenset(b"desc title foreignobject".split()),
    b"math": frozenset(b"mi mo mn ms mtext".split()),
}
_STRANGE = frozenset((b"annotation-xml", b"mglyph", b"malignmark"))  # What they contain depends on more than names.
_LEAVES_FOREIGN = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu"
    b" meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var /br /p".split()
)
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_NOSCRIPT = frozenset((b"noscript", b"/noscript"))
_FONT_LEAVES = re.compile(rb"color|face|size")  # With one of these attributes, a font element ends a drawing.
# Elements that end when the next of their kind begins.
_ENDS_ITSELF = frozenset(b"p li dt dd option tr td th tbody thead tfoot colgroup a nobr html head body".split())
_NOT_NESTING = (
    _VOID
    | _ENDS_ITSELF
    | {b"/" + name for name in (*_VOID, *_ENDS_ITSELF, *_RAW_TEXTS)}
    | frozenset(_RAW_TEXTS)
    | {b""}
)
_NOT_NESTING_STARTS = (b"</", b"<a ", b"<li>", b"<td>", b"<p>", b"<td ", b"<li ", b"<tr>", b"<dd>")
# Start tags with nothing but text before their end tag, other than the above. Values with < do not count: so that
# every < ends the search for one tag.
_LEAVES = re.compile(
    rb"<(?!%(not_nesting)s)([A-Za-z][^\t\n\f\r /><]*+)(?:%(between)s[^\t\n\f\r /><][^\t\n\f\r />=<]*+"
    rb"(?:%(equals)s(?:\"[^\"<]*+\"|'[^'<]*+'|[^\t\n\f\r >\"'<][^\t\n\f\r ><]*+)|(?!%(equals)s)))*+%(between)s>"
    rb"[^<]*+</\1>" % (_PARTS | {b"not_nesting": b"|".join(start[1:] for start in _NOT_NESTING_STARTS)})
)
# Except list items in descriptions in list items.
_SAME_ITEMS = {b"li": (b"li",), b"dt": (b"dt", b"dd"), b"dd": (b"dt", b"dd")}
_NOT_NESTING_BUT_ITEMS = _NOT_NESTING - {slash + name for name in _SAME_ITEMS for slash in (b"", b"/")}
# Elements that end tags do not reach beyond (HTML standard 13.2.4.2, scopes).
_SCOPE_LIMITS = frozenset(b"table caption object applet marquee template select svg math".split())
_TABLE_SCOPE_LIMITS = frozenset((b"table", b"template"))
_CLOSES_OPEN_CHILDREN = frozenset(
    b"address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer"
    b" form header hgroup main menu nav ol pre section summary ul table".split()
)
MAX_END_TAG_REACH = 32
_SLASH = 0x2F


def truncate_markup(body: bytes) -> bytes:
    """Return the page up to where it becomes dangerous; nearly always all of it."""
    if len(body) <= HARMLESS_BYTES:
        return body
    body = body[:MAX_MARKUP_BYTES]
    tags = body.count(b"<")
    if tags > MAX_TAGS:
        body = body[: next(islice(_TAG_BEGINS.finditer(body), MAX_TAGS, None)).start()]
    maybe_long = _MAYBE_LONG_TAG.search(body) is not None
    if not maybe_long and tags <= MAX_NESTING:
        return body
    lowered = body.lower()
    is_mixed = b"<svg" in lowered or b"<math" in lowered
    if not maybe_long and not _may_nest(body, tags, is_mixed=is_mixed):
        return body
    has_noscript = b"<noscript" in lowered
    if maybe_long or is_mixed or has_noscript or b"<select" in lowered or b"<template" in lowered:
        body = body[: _Nesting(lowered, maybe_long=maybe_long).dangerous_at()]
        if has_noscript:  # Its content is text or markup, as each parser chooses.
            lowered = lowered[: len(body)]
            body = body[: _Nesting(lowered, maybe_long=maybe_long, is_scripted=False).dangerous_at()]
        return body
    return body[: _too_deep_at(lowered)]


def truncate_fragment(markup: str) -> str:
    """Return a piece of markup up to where it becomes dangerous: what a page or a feed carries as text."""
    if len(markup) <= HARMLESS_BYTES // 4:
        return markup
    return truncate_markup(markup.encode("utf-8", "replace")).decode("utf-8", "replace")


def describe_truncation(size: int, *, unread: int, links: int, most_links: int) -> str:
    """Describe what of a page of this size was not parsed; empty if nothing."""
    parts = []
    if links >= most_links:
        parts.append(f"only the first {most_links} links were read")
    if unread:
        parts.append(f"only the first {size - unread} of {size} bytes were read, the rest is too deep or too dense")
    return ", ".join(parts)


def _may_nest(body: bytes, count: int, *, is_mixed: bool) -> bool:
    """Return whether there are more start tags than are harmless, without those that cannot nest.
    `is_mixed`: there are drawings or formulas, in which any element can."""
    tags = count
    for harmless in _NOT_NESTING_STARTS[:1] if is_mixed else _NOT_NESTING_STARTS:
        if count <= MAX_NESTING:
            break
        count -= body.count(harmless)
    count += _nesting_items(body)
    return _is_too_many(count, tags) and _is_too_many(count - len(_LEAVES.findall(body)), tags)


def _is_too_many(nesting: int, tags: int) -> bool:
    return nesting > HARMLESS_TAGS or (nesting > MAX_NESTING and nesting * tags > HARMLESS_STEPS)


def _nesting_items(body: bytes) -> int:
    """Return how many list items and descriptions may be inside each other."""
    descriptions = body.count(b"<dt") + body.count(b"<dd")
    return 2 * min(body.count(b"<li"), descriptions) if descriptions else 0


def _not_nesting(lowered: bytes) -> frozenset[bytes]:
    """Return the tags that open or close no further level in this page."""
    return _NOT_NESTING_BUT_ITEMS if _nesting_items(lowered) > MAX_NESTING else _NOT_NESTING


def _continues(stack: list[bytes], name: bytes) -> bool:
    """Return whether an item ends the one before it."""
    return bool(stack) and stack[-1] in _SAME_ITEMS.get(name, ())


def _too_deep_at(lowered: bytes) -> int:
    """Return where the nesting exceeds the limit, for pages without foreign elements."""
    stack: list[bytes] = []
    not_nesting = _not_nesting(lowered)
    for index, name in enumerate(_TAGS.findall(lowered)):
        if name in not_nesting:
            continue
        if name[0] == _SLASH:
            del stack[len(stack) - _closes(stack, name[1:]) :]
        elif not _continues(stack, name):
            stack.append(name)
            if len(stack) > MAX_NESTING:
                return next(islice(_TAGS.finditer(lowered), index, None)).start()
    return len(lowered)


class _Nesting:
    """The open elements of a page with parts in other languages (SVG, MathML), or whose context decides what is markup.
    Invariant: elements that a parser has open are open here, but for those that end themselves in HTML."""

    def __init__(self, lowered: bytes, *, maybe_long: bool, is_scripted: bool = True) -> None:
        self._lowered = lowered
        self._maybe_long = maybe_long
        self._overlap = MAX_TAG_OVERLAP * len(lowered)
        self._not_nesting = _not_nesting(lowered) - (frozenset() if is_scripted else _NOSCRIPT)
        self._is_scripted = is_scripted
        self._stack: list[bytes] = []
        self._roots: list[tuple[int, bytes, int]] = []  # Of drawings and formulas: place, language, `inside` around.
        self._inside = 0  # Open elements of the innermost drawing or formula that contain HTML; some may have ended.
        self._open: Counter[bytes] = Counter()
        self._is_unsure = False
        """Parsers in different states would read what follows differently: every tag counts, wherever it is."""

    def dangerous_at(self) -> int:
        """Return where a tag is too long or the nesting too deep."""
        at = 0
        while match := (_STARTS if self._is_unsure else _TOKENS).search(self._lowered, at):
            at = match.end()
            name = match[1]
            if not name:
                at = self._section_end(match)
            elif name[0] == _SLASH:
                self._end(name[1:])
            elif self._is_long(match.start()):
                return match.start()
            elif name in _RAW_CONTENTS and (end := self._raw_end(name, at)) is not None:
                at = end
            else:
                self._start(name, match)
                if len(self._stack) > MAX_NESTING:
                    return match.start()
        return len(self._lowered)

    def _is_long(self, at: int) -> bool:
        if not self._maybe_long or (tag := _LONG_TAG.match(self._lowered, at)) is None:
            return False
        self._overlap -= tag.end() - at
        return tag[1] is not None or self._overlap < 0

    def _section_end(self, match: re.Match[bytes]) -> int:
        """Return the end of what is no tag."""
        start = match.start()
        if self._roots and self._lowered.startswith(b"<ruby>", start) and not self._inside:
            self._leave()
        if self._roots and (section := _CDATA.match(self._lowered, start)) is not None:
            if not self._inside or section[0].rfind(b"<") == 0:
                return section.end()
            self._is_unsure = True  # It may end at the first >.
            return start + 1
        return match.end()

    def _raw_end(self, name: bytes, at: int) -> int | None:
        """Return the end of a text that is no markup; None: it is markup."""
        if self._is_pure() or self._is_unsure or (name == b"noscript" and not self._is_scripted):
            return None
        found = _RAW_CONTENTS[name].match(self._lowered, at)
        assert found is not None, "it may be empty"
        is_ignored = self._open[b"select"] and name not in (b"script", b"textarea")
        if b"<" in found[0] and (self._roots or is_ignored):
            self._is_unsure = True
            return None
        return found.end()

    def _start(self, name: bytes, match: re.Match[bytes]) -> None:
        is_pure = self._is_pure()
        if is_pure and (name in _LEAVES_FOREIGN or (name == b"font" and _FONT_LEAVES.search(match[0]))):
            self._is_unsure |= name == b"font"
            self._leave()
            is_pure = False
        is_root = name in _FOREIGN and not is_pure
        self._is_unsure |= (
            name in _STRANGE
            or (is_root and (self._open[b"select"] > 0 or (bool(self._roots) and self._roots[-1][1] != name)))
            or (name == b"col" and self._open[b"template"] > 0)
        )
        if self._is_harmless(name, match, is_pure=is_pure or is_root):
            return
        if is_root:
            self._roots.append((len(self._stack), name, self._inside))
            self._inside = 0
        elif self._roots:
            self._inside += name in _CONTAINS_HTML[self._roots[-1][1]]
        self._stack.append(name)
        self._open[name] += 1

    def _is_pure(self) -> bool:
        return bool(self._roots) and not self._inside and not self._is_unsure

    def _is_harmless(self, name: bytes, match: re.Match[bytes], *, is_pure: bool) -> bool:
        """Return whether a start tag opens nothing."""
        if is_pure and not self._is_unsure:
            return match[2].endswith(b"/") and match[0].endswith(b">")
        if self._roots or self._is_unsure:
            return name in _VOID and name in _LEAVES_FOREIGN
        return name in self._not_nesting or _continues(self._stack, name)

    def _leave(self) -> None:
        """Close the innermost drawing or formula."""
        root, _, self._inside = self._roots.pop()
        self._drop(root)

    def _end(self, name: bytes) -> None:
        if self._is_pure():
            self._end_in_foreign(name)
        elif self._roots or self._is_unsure:
            if self._stack and self._stack[-1] == name:
                self._close_to(len(self._stack) - 1)
        elif name == b"select" and self._stack[-2:] == [b"select", b"optgroup"]:
            self._drop(len(self._stack) - 2)
        elif name not in self._not_nesting:
            self._drop(len(self._stack) - _closes(self._stack, name))

    def _end_in_foreign(self, name: bytes) -> None:
        if b"/" + name in _LEAVES_FOREIGN:
            self._leave()
            return
        root = self._roots[-1][0]
        for at in range(len(self._stack) - 1, max(root, len(self._stack) - MAX_END_TAG_REACH) - 1, -1):
            if self._stack[at] == name:
                self._close_to(at)
                return
        # It may end an element around the drawing.
        self._is_unsure |= self._open[name] > 0 or name in _ENDS_ITSELF

    def _close_to(self, at: int) -> None:
        """Close an element of a drawing or formula, and what is in it."""
        if self._roots and at == self._roots[-1][0]:
            self._leave()
        else:
            if self._roots:
                names = _CONTAINS_HTML[self._roots[-1][1]]
                self._inside -= sum(map(names.__contains__, self._stack[at:]))
            self._drop(at)

    def _drop(self, at: int) -> None:
        self._open.subtract(self._stack[at:])
        del self._stack[at:]


def _closes(stack: list[bytes], name: bytes) -> int:
    """Return how many elements an end tag surely closes; one that browsers might ignore closes none."""
    if stack and stack[-1] == name:
        return 1
    if name not in _CLOSES_OPEN_CHILDREN:
        return 0
    limits = _TABLE_SCOPE_LIMITS if name == b"table" else _SCOPE_LIMITS
    for back, element in enumerate(islice(reversed(stack), MAX_END_TAG_REACH), start=1):
        if element == name:
            return back
        if element in limits:
            return 0
    return 0
