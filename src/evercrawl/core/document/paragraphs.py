"""Into which paragraphs does a page fall, and which of them stand together?

One walk over the tree. A paragraph is worth its characters outside links, or something below zero where it
is a stub or made of links; headings are worth nothing. What the tags, roles and names of the page call
navigation, comments, captions and the like is left out.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.core.document.boilerplate import ASIDE, CONTENT, NEUTRAL, BoilerplateFilter, classify_attributes
from evercrawl.core.document.elements import CODE_TAGS, tag_id, tag_ids, text_node_id

MAX_LINKED_SHARE: Final = 0.7
"""Share of link characters from which on a paragraph counts as navigation."""
SHORT_CHARS: Final = 60
"""Below this a piece that is no sentence says little of itself."""
SENTENCE_ENDS: Final = ".!?:;。！？…؟।”»」"
STUB_COST: Final = 12
ITEM_COST: Final = 2
MIN_LINKS_COST: Final = 2
MAX_LINKS_COST: Final = 30
"""Links cost as many characters as they have, and a little more."""
LONG_LINK_CHARS: Final = 200
"""So much text inside one anchor is looked at again: old pages leave `<a name>` open."""
SHORT_CELL_CHARS: Final = 40
"""Cells up to this length become one paragraph with their row."""

TEXT: Final = 0
LINKS: Final = 1
STUB: Final = 2
ITEM: Final = 3
PRE: Final = 4
"""Kinds of paragraphs; an item is a stub too, but of a list or a table."""
HEADING: Final = 10
LINKED_HEADING: Final = 20
"""To these the level of the heading is added; a linked heading leads to another page."""

Paragraph = tuple[str, int, int]
"""Text, kind and worth. A plain tuple, since the walk makes hundreds of them for a page."""
ParagraphRange = tuple[int, int]
"""The first paragraph and the one behind the last."""

# Kinds of nodes; the order counts, the walk asks for ranges.
_INLINE: Final = 0
_TEXT: Final = 1
_LINK: Final = 2
_WHOLE: Final = 3
_BLOCK: Final = 4
_ITEM: Final = 5
_CELL: Final = 6
_PART: Final = 7
_TOP_HEADER: Final = 8
_MAIN: Final = 9
_BODY: Final = 10
_HEADING: Final = 11
_PRE: Final = 12
_BREAK: Final = 13
_DROP: Final = 14
_NAMES = {
    _WHOLE: "code tt kbd var samp sub sup abbr cite dfn",
    _LINK: "a",
    _BREAK: "br hr",
    _CELL: "td th",
    _BLOCK: "p summary address legend time",
    _ITEM: "li dt dd caption tr option",
    _HEADING: "h1 h2 h3 h4 h5 h6",
    _PRE: "pre listing xmp",
    _PART: "div section ul ol dl table tbody blockquote figure details center form fieldset body hgroup",
    _TOP_HEADER: "header",
    _MAIN: "main article",
    _DROP: "script style noscript template iframe object svg math button select textarea input nav aside"
    " footer canvas audio video map dialog menu title head frameset noframes datalist meter embed rp"
    " figcaption label",
}
_TEXT_ID: Final = text_node_id()
_A: Final = tag_id("a")


_KIND_OF = {tag: kind for kind, names in _NAMES.items() for tag in tag_ids(names)} | {_TEXT_ID: _TEXT}
_KINDS: Final = tuple(_KIND_OF.get(tag, _INLINE) for tag in range(max(_KIND_OF) + 1))
_OF_ITEMS: Final = frozenset((_ITEM, _CELL))
_MARK_OF: Final = {tag_id(f"h{level}"): HEADING + level for level in range(1, 7)}


class Paragraphs(NamedTuple):
    """The paragraphs of a page in order, and for each container the span of those inside it, inner containers
    first.
    """

    all: list[Paragraph]
    containers: list[ParagraphRange]
    bodies: list[ParagraphRange]
    """The containers of which the page says that they are its content."""
    linked_headings: list[int]
    """Where the headings stand that lead to other pages."""
    asides: list[tuple[LexborNode, int, int]]
    """The larger parts that were left out for their names, what the names said, and their size."""


def split_paragraphs(body: LexborNode, *, mistaken: frozenset[int] | None = frozenset()) -> Paragraphs:
    """Cut the page into paragraphs; parts named as not the content are left out, but for those mistaken;
    None says so of all.

    Long, because a call for each node would double the cost of the most expensive loop of the crawler; every
    branch is one kind of node, the frequent ones first. Not recursive, because pages choose their depth.
    """
    found: list[Paragraph] = []
    containers: list[ParagraphRange] = []
    bodies: list[ParagraphRange] = []
    linked_headings: list[int] = []
    asides = BoilerplateFilter(mistaken)
    pieces: list[str] = []
    linked = inside_main = 0
    kinds, known_kinds, text_id, link_id = _KINDS, len(_KINDS), _TEXT_ID, _A
    stack: list[tuple[LexborNode, int, int]] = []
    node: LexborNode | None = body.first_child
    while True:
        if node is None:
            if not stack:
                break
            node, kind, start = stack.pop()
            if kind != _INLINE:
                if pieces and (kind != _CELL or linked or len(pieces[-1]) > SHORT_CELL_CHARS or len(found) > start):
                    _flush(found, pieces, linked, ITEM if kind in _OF_ITEMS else STUB)
                    linked = 0
                if kind >= _CELL:
                    if len(found) > start:
                        containers.append((start, len(found)))
                        if kind >= _MAIN:
                            bodies.append((start, len(found)))
                    inside_main -= kind == _MAIN
            node = node.next
            continue
        tag = node.tag_id
        kind = kinds[tag] if tag < known_kinds else _INLINE
        if kind == _TEXT:
            text = node.text_content
            if text and (pieces or not text.isspace()):
                pieces.append(text)
        elif kind == _INLINE:
            child = node.first_child
            if child is not None:
                if child.next is None and child.tag_id == text_id:
                    pieces.append(child.text_content or "")
                else:
                    stack.append((node, _INLINE, 0))
                    node = child
                    continue
        elif kind == _LINK:
            text = node.text_lexbor()
            if text:
                if len(text) > LONG_LINK_CHARS:
                    if "href" not in node.attributes:
                        stack.append((node, _INLINE, 0))
                        node = node.first_child
                        continue
                    text = _shown(node)
                pieces.append(text)
                linked += len(text)
        elif kind == _WHOLE:
            pieces.append(node.text_lexbor())
        elif kind <= _ITEM:
            if pieces:
                _flush(found, pieces, linked, STUB)
                linked = 0
            child = node.first_child
            if child is not None and (
                kind == _ITEM
                or not (attributes := node.attributes)
                or not asides.holds(node, classify_attributes(attributes))
            ):
                only = child.tag_id if child.next is None else -1
                if only == text_id:
                    pieces.append(child.text_content or "")
                    _flush(found, pieces, 0, ITEM if kind == _ITEM else STUB)
                elif only == link_id and len(label := child.text_lexbor()) <= LONG_LINK_CHARS:
                    pieces.append(label)
                    _flush(found, pieces, len(label), STUB)
                else:
                    stack.append((node, kind, 0))
                    node = child
                    continue
        elif kind == _CELL:
            if pieces:
                pieces.append(" ")
            stack.append((node, _CELL, len(found)))
            node = node.first_child
            continue
        elif kind <= _MAIN:
            if pieces:
                _flush(found, pieces, linked, STUB)
                linked = 0
            if kind == _TOP_HEADER and not inside_main:
                place = ASIDE
            else:
                place = classify_attributes(attributes) if (attributes := node.attributes) else NEUTRAL
            if place <= CONTENT or not asides.holds(node, place):
                if place == CONTENT and kind != _MAIN:
                    kind = _BODY
                inside_main += kind == _MAIN
                stack.append((node, kind, len(found)))
                node = node.first_child
                continue
        elif kind == _BREAK:
            pieces.append("\n")
        elif kind != _DROP:
            if pieces:
                _flush(found, pieces, linked, STUB)
                linked = 0
            if kind == _HEADING:
                if _add_heading(found, node, _MARK_OF[tag]):
                    linked_headings.append(len(found) - 1)
            else:
                _add_preformatted(found, node.text_lexbor())
        node = node.next
    if pieces:
        _flush(found, pieces, linked, STUB)
    return Paragraphs(found, containers, bodies, linked_headings, asides.large)


def _flush(found: list[Paragraph], pieces: list[str], linked: int, stub: int) -> None:
    """Make one paragraph of the pieces."""
    text = "".join(pieces)
    pieces.clear()
    if "\n" in text or "  " in text or "\xa0" in text or "\t" in text:
        text = " ".join(text.split())
    else:
        text = text.strip()
    size = len(text)
    if not size:
        return
    if linked > MAX_LINKED_SHARE * size:
        cost = MIN_LINKS_COST + size
        found.append((text, LINKS, -cost if cost < MAX_LINKS_COST else -MAX_LINKS_COST))
    elif size < SHORT_CHARS and text[-1] not in SENTENCE_ENDS:
        found.append((text, stub, -STUB_COST if stub == STUB else -ITEM_COST))
    else:
        found.append((text, TEXT, size - linked))


def _add_heading(found: list[Paragraph], node: LexborNode, mark: int) -> bool:
    """Take a heading as one paragraph, without the sign that links to itself; does it lead elsewhere?"""
    text = " ".join(_shown(node).split()).rstrip(" ¶")
    if not text:
        return False
    is_linked = _leads_elsewhere(node, len(text))
    found.append((text, mark + LINKED_HEADING - HEADING if is_linked else mark, 0))
    return is_linked


def _add_preformatted(found: list[Paragraph], text: str) -> None:
    """Take preformatted text with its lines as one paragraph."""
    text = text.strip("\n").rstrip()
    if text:
        found.append((text, PRE, len(text)))


def _leads_elsewhere(heading: LexborNode, size: int) -> bool:
    """The heading is the title of another page: a link over most of it, not to a place on this page."""
    child = heading.first_child
    while child is not None and child.tag_id == _TEXT_ID and (child.text_content or "").isspace():
        child = child.next
    while child is not None and child.tag_id not in (_A, _TEXT_ID):
        child = child.first_child
    if child is None or child.tag_id != _A:
        return False
    href = child.attributes.get("href") or "#"
    return not href.startswith("#") and 2 * len(child.text_lexbor()) > size


def _shown(node: LexborNode) -> str:
    """The text of an element without scripts and the like inside."""
    text = node.text_lexbor()
    if "<" not in text and "{" not in text:
        return text
    return "".join(
        piece.text_content or ""
        for piece in node.traverse(include_text=True)
        if piece.tag_id == _TEXT_ID and (parent := piece.parent) is not None and parent.tag_id not in CODE_TAGS
    )
