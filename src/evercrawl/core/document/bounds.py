"""Limits on markup that is expensive to parse.
Tree building takes time quadratic in the nesting and in the attributes of one tag, and about 200 bytes of memory per
tag. Real pages have little of either, so a page is cut where it exceeds the limits. Small pages are harmless."""

from __future__ import annotations

import re
from itertools import islice

HARMLESS_BYTES = 24_576  # The worst page of this size, or with this many tags, takes a tenth of a second.
HARMLESS_TAGS = 6_000
HARMLESS_STEPS = 100_000_000  # Open elements times tags: an end tag may look through everything that is open.
MAX_MARKUP_BYTES = 8 * 1024 * 1024
MAX_TAGS = 500_000  # The longest specifications on the web have fewer.
MAX_NESTING = 2_000
MAX_ATTRIBUTES = 2_000  # Of one tag. Any character but white space, / and > may be part of a name, also < and quotes.
MAX_TAG_OVERLAP = 16  # Characters of tags inside tags, times the size: more of them would take quadratic time.

# Tokenization of tags (HTML standard 13.2.5), where \v is no white space.
_TAG_PARTS = {
    b"name": rb"[^\t\n\f\r />]",
    b"key": rb"[^\t\n\f\r />=]",
    b"value": rb"[^\t\n\f\r >]",
    b"first": rb"[^\t\n\f\r >\"']",
    b"equals": rb"[\t\n\f\r ]*+=[\t\n\f\r ]*+",
    b"between": rb"[\t\n\f\r /]*+",
    b"most": MAX_ATTRIBUTES,
}
_LONG_TAG = re.compile(
    rb"<[a-z]%(name)s*+(?:%(between)s%(name)s%(key)s*+"
    rb"(?:%(equals)s(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|%(first)s%(value)s*+|(?=>)|\Z)|(?!%(equals)s))"
    rb"){0,%(most)d}+(%(between)s%(name)s)?" % _TAG_PARTS
)
# A cheap test that every long tag passes: others have few attributes, with short names.
_MAYBE_LONG_TAG = re.compile(
    rb"<[A-Za-z](?:%(name)s{64}|%(name)s{0,63}+(?:%(between)s%(name)s%(key)s{0,63}+(?!%(key)s)"
    rb"(?:%(equals)s(?:\"[^\"]*+\"|'[^']*+'|%(first)s%(value)s{0,511}+(?!%(value)s)|(?=>))|(?!%(equals)s))"
    rb"){0,31}+%(between)s%(name)s)" % _TAG_PARTS
)
_TAG_BEGINS = re.compile(b"<")
_COMMENT = rb"<!--(?:-?>|.*?--!?>|.*\Z)"
_RAW_TAGS = b"script style textarea title xmp iframe noembed noframes noscript".split()
_RAW = rb"<(?=[stxin])(?:%s)" % b"|".join(rb"%s(?=[\s/>]).*?(?:</%s(?=[\s/>])|\Z)" % (name, name) for name in _RAW_TAGS)
_RUBY = rb"<ruby>[^<]*+(?:</?r[bpt]c?>[^<]*+)*+</ruby>"  # Its parts end with it, and elsewhere contain each other.
_NAME = rb"<(/?[a-z][^\s/>]*)"
_TAGS = re.compile(b"|".join((_COMMENT, _RAW, _RUBY, _NAME)), re.DOTALL)
_TAGS_IN_FOREIGN = re.compile(_NAME)  # What looks like a comment there may be in a style of HTML, where it is none.
_FOREIGN = frozenset((b"svg", b"math"))
_CONTAINS_HTML = frozenset(b"desc title foreignobject mi mo mn ms mtext annotation-xml".split())
_LEAVES_FOREIGN = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu"
    b" meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var /br /p".split()
)
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
# Elements that end when the next of their kind begins.
_ENDS_ITSELF = frozenset(b"p li dt dd option tr td th tbody thead tfoot colgroup a nobr html head body".split())
_NOT_NESTING = _VOID | _ENDS_ITSELF | {b"/" + name for name in _VOID | _ENDS_ITSELF} | {b""}
_NOT_NESTING_STARTS = (b"</", b"<a ", b"<li>", b"<td>", b"<p>", b"<td ", b"<li ", b"<tr>", b"<dd>")
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
    if not maybe_long and not _may_nest(body, tags):
        return body
    lowered = body.lower()
    if maybe_long or b"<svg" in lowered or b"<math" in lowered:
        return body[: _dangerous_at(lowered, maybe_long=maybe_long)]
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


def _may_nest(body: bytes, count: int) -> bool:
    """Return whether there are more start tags than are harmless, without those that cannot nest."""
    tags = count
    for harmless in _NOT_NESTING_STARTS:
        if count <= MAX_NESTING:
            break
        count -= body.count(harmless)
    count += _nesting_items(body)
    return count > HARMLESS_TAGS or (count > MAX_NESTING and count * tags > HARMLESS_STEPS)


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
            _close(stack, name[1:])
        elif not _continues(stack, name):
            stack.append(name)
            if len(stack) > MAX_NESTING:
                return next(islice(_TAGS.finditer(lowered), index, None)).start()
    return len(lowered)


def _dangerous_at(lowered: bytes, *, maybe_long: bool) -> int:
    """Return where a tag is too long or the nesting too deep; slower, since SVG and MathML have no raw text."""
    stack: list[bytes] = []
    overlap = MAX_TAG_OVERLAP * len(lowered)
    foreign = inside = at = 0  # Open elements of other languages, and of those the ones that contain HTML.
    has_left = False  # Whether a tag has ended them: what follows is HTML.
    not_nesting = _not_nesting(lowered)
    while match := (_TAGS_IN_FOREIGN if foreign else _TAGS).search(lowered, at):
        at = match.end()
        name = match[1]
        if not name:
            continue
        if maybe_long and (tag := _LONG_TAG.match(lowered, match.start())) is not None:
            overlap -= tag.end() - tag.start()
            if tag[1] is not None or overlap < 0:
                return match.start()
        has_left = foreign > 0 and (has_left or name in _LEAVES_FOREIGN)
        if name in not_nesting or _continues(stack, name):
            continue
        if name[0] == _SLASH:
            closed = _close(stack, name[1:])
            foreign -= sum(map(_FOREIGN.__contains__, closed))
            inside -= sum(map(_CONTAINS_HTML.__contains__, closed))
        elif not foreign or has_left or inside or lowered[lowered.find(b">", at) - 1] != _SLASH:  # Not <path/>.
            stack.append(name)
            foreign += name in _FOREIGN
            inside += name in _CONTAINS_HTML
            if len(stack) > MAX_NESTING:
                return match.start()
    return len(lowered)


def _close(stack: list[bytes], name: bytes) -> list[bytes]:
    """Remove what an end tag surely closes, and return it; one that browsers might ignore closes nothing."""
    back = 0
    if stack and stack[-1] == name:
        back = 1
    elif name in _CLOSES_OPEN_CHILDREN:
        limits = _TABLE_SCOPE_LIMITS if name == b"table" else _SCOPE_LIMITS
        for element in islice(reversed(stack), MAX_END_TAG_REACH):
            back += 1
            if element == name:
                break
            if element in limits:
                return []
        else:
            return []
    closed = stack[len(stack) - back :]
    del stack[len(stack) - back :]
    return closed
