"""Splits a page into scored paragraphs and the ranges of its containers, in one pass over the tree.
A paragraph scores its characters outside links, or below zero if it is a stub or made of links; headings score 0.
Boilerplate is left out."""

from __future__ import annotations

from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.core.document.boilerplate import (
    ASIDE,
    ASIDE_TAG,
    CONTENT,
    CONTENTS,
    MAIN_PART,
    NEUTRAL,
    PHRASES,
    BoilerplateFilter,
    classify_attributes,
    classify_names,
    is_action,
    is_anchor,
    is_note,
    is_step_label,
)
from evercrawl.core.document.elements import CODE_TAGS, Attributes, tag_id, tag_ids, text_node_id

MAX_LINKED_SHARE: Final = 0.7  # Share of link characters above which a paragraph counts as navigation.
SHORT_CHARS: Final = 60  # A shorter text that is no sentence says little.
SENTENCE_ENDS: Final = ".!?:;。！？…؟।”»」"
STUB_COST: Final = 12
ITEM_COST: Final = 2
MIN_LINKS_COST: Final = 2
MAX_LINKS_COST: Final = 30  # Links cost as many characters as they have, and a little more, up to this.
MAX_HEADING_TOOL_CHARS: Final = 60
MAX_TOOL_CHARS: Final = 16  # Of a link inside an item or a row that is a command.
MIN_NAVIGATION_SHARE: Final = 0.3
MAX_NAVIGATION_CHARS: Final = 300
_STEP_KEYS: Final = ("n", "p", "u")  # Of manuals: next, previous, up.
_STEP_TYPES: Final = frozenset(("next", "prev", "previous", "up", "start", "contents", "index", "first", "last"))
MIN_WORD_CHARS: Final = 4
_SEPARATORS: Final = " |·•-–—/»«›‹…,;:.*+<>[](){}&"
MAX_NODES_BEFORE_HEADING: Final = 6
LONG_LINK_CHARS: Final = 200  # Longer anchors are checked: old pages leave `<a name>` open.
MAX_LABEL_PIECES: Final = 8
MAX_LABEL_CHARS: Final = 100  # Characters of the words before a field of a form that name it, with all space.
MIN_CUT_CHARS: Final = 30  # Of a cut form of the text beside it.
SHORT_CELL_CHARS: Final = 200  # Cells up to this length form one paragraph with their row.

TEXT: Final = 0
LINKS: Final = 1
STUB: Final = 2
ITEM: Final = 3
PRE: Final = 4  # Kinds of paragraphs; an item is a stub in a list or table.
LINKED_ITEM: Final = 5  # An entry of a list or table that is a link.
LABEL: Final = 7  # The name of a field of a form.
TOOL: Final = 6  # Links to parts of the page and to commands of the software.
HEADING: Final = 10
LINKED_HEADING: Final = 20  # The level of the heading is added to these; a linked heading leads to another page.

Paragraph = tuple[str, int, int]  # Text, kind and score; a plain tuple, since a page has hundreds.
ParagraphRange = tuple[int, int]  # The first paragraph and the one after the last.

_PERMALINK_SIGNS: Final = " ¶§🔗\u200b\ufeff\uf0c1"
_ARCHIVE_NOTES: Final = ("Reply instructions:\n", "This is a public inbox, see")  # Below each mail of public-inbox.
_CUT_SIGNS: Final = " \t\n.…"  # At the end of a cut text.
_PLACE_ENDS: Final = ("\n", "\t")  # Pieces between two lines, and two cells.
_SIGN_STARTS: Final = frozenset("[¶§#^↩↑⏎🔗\u200b\uf0c1")
READ_MORE: Final = frozenset(PHRASES["read more"])  # Links to the rest of an excerpt.
_MORE_SIGNS: Final = " \t\n\xa0.…»›>→⟶[]()"
_LABEL_ENDS: Final = (":", "：")
_BRACKETS: Final = ("[", "(")
_BRACKET_ENDS: Final = ("]", ")")

# Kinds of nodes; the walk compares them, so their order matters.
_INLINE: Final = 0
_TEXT: Final = 1
_LINK: Final = 2
_WHOLE: Final = 3
_BLOCK: Final = 4
_ITEM: Final = 5
_CELL: Final = 6
_LIST: Final = 7
_PART: Final = 8
_TOP_HEADER: Final = 9
_NAMED: Final = 10
_MAIN: Final = 11
_BODY: Final = 12
_HEADING: Final = 13
_PRE: Final = 14
_LABEL: Final = 15
_TIME: Final = 16
_BREAK: Final = 17
_FIELD: Final = 18
_DROP: Final = 19
_NAMES = {
    _WHOLE: "code tt kbd var samp sub sup abbr cite dfn",
    _LINK: "a",
    _BREAK: "br hr",
    _LABEL: "label legend",
    _TIME: "time",
    _CELL: "td th",
    _BLOCK: "p summary address figcaption",
    _ITEM: "li dt dd caption tr option",
    _HEADING: "h1 h2 h3 h4 h5 h6",
    _PRE: "pre listing xmp",
    _LIST: "ul ol dl table tbody thead tfoot blockquote figure details fieldset hgroup",
    _PART: "div section center form body",
    _TOP_HEADER: "header aside",
    _MAIN: "main article",
    _FIELD: "select textarea input",
    _DROP: "script style noscript template iframe object svg math button nav"
    " footer canvas audio video map dialog menu title head frameset noframes datalist meter embed rp"
    "",
}
_TEXT_ID: Final = text_node_id()
_A: Final = tag_id("a")
_KIND_OF = {tag: kind for kind, names in _NAMES.items() for tag in tag_ids(names)} | {_TEXT_ID: _TEXT}
_KINDS: Final = tuple(_KIND_OF.get(tag, _INLINE) for tag in range(max(_KIND_OF) + 1))
_MAIN_TAG: Final = tag_id("main")
_ASIDE_ELEMENT: Final = tag_id("aside")
_TOOL_TAGS: Final = tag_ids("a span div small sup label")
_CAPTION: Final = tag_id("figcaption")
_BR: Final = tag_id("br")
_LINES: Final = frozenset((_BR, _TEXT_ID))
_SUP: Final = tag_id("sup")
_TERM: Final = tag_id("dt")
_SECTION: Final = tag_id("section")
_SECTION_NAMES: Final = ("sect", "subsect", "chapter", "level")
_ITEM_KINDS: Final = frozenset((_ITEM, _CELL))
_MARK_OF: Final = {tag_id(f"h{level}"): HEADING + level for level in range(1, 7)}


class Paragraphs(NamedTuple):
    """The paragraphs of a page and the range of each container, inner ones first."""

    all: list[Paragraph]
    containers: list[ParagraphRange]
    bodies: list[tuple[int, int, str]]  # The containers that the page marks as its content, with their classes.
    lists: set[ParagraphRange]  # The containers that are lists, tables, cells and quotations.
    sections: set[ParagraphRange]  # The containers that are sections of a longer text.
    linked_headings: list[int]  # Indexes of the headings that lead to other pages.
    mains: list[ParagraphRange]  # The containers that are said to be the middle of the page.
    has_main: bool  # One of them is a main element; it is the only one then.
    excluded_chars: dict[int, int]  # Of the parts that names say are comments, contents, bylines and pictures.
    asides: list[tuple[LexborNode, int, int]]
    """The larger parts excluded for their names, with what the names say and their characters."""


class _ParagraphWalk:
    """Collects the paragraphs of one page and the ranges of its containers."""

    __slots__ = (
        "_boilerplate", "_inside_main", "block_link", "bodies", "containers", "found", "has_main", "link", "linked",
        "linked_headings", "lists", "mains", "pieces", "sections", "stack",
    )  # fmt: skip

    def __init__(self, boilerplate: BoilerplateFilter) -> None:
        self.found: list[Paragraph] = []
        self.containers: list[ParagraphRange] = []
        self.bodies: list[tuple[int, int, str]] = []
        self.linked_headings: list[int] = []
        self.lists: set[ParagraphRange] = set()
        self.sections: set[ParagraphRange] = set()
        self.mains: list[ParagraphRange] = []
        self.has_main = False
        self.pieces: list[str] = []
        self.linked = 0
        """Characters of the pieces that belong to links."""
        self.link: LexborNode | None = None
        """The last link."""
        self.block_link: LexborNode | None = None
        """The open link around whole blocks, such as the card of a story."""
        self.stack: list[tuple[LexborNode, int, int]] = []
        self._boilerplate = boilerplate
        self._inside_main = 0

    def flush(self, stub: int = STUB) -> None:
        """Make one paragraph of the pieces; a short one is of the kind `stub`, or an item inside of one."""
        if stub == STUB and self.stack and self.stack[-1][1] in _ITEM_KINDS:
            stub = ITEM
        if len(self.pieces) > 1 and self.linked < MIN_CUT_CHARS:
            _drop_cut_forms(self.pieces)
        text = "".join(self.pieces)
        if self.block_link is None:
            _add_text(self.found, text, self.linked, stub, self.link)
        else:
            _add_text(self.found, text, len(text), stub, self.block_link)
        self.pieces.clear()
        self.linked = 0
        self.link = None

    def enter(self, node: LexborNode, child: LexborNode, kind: int) -> bool:
        """Add an element that holds a single text or link, or open it and return True."""
        attributes = node.attributes if kind == _BLOCK else None
        if attributes and self._is_excluded(node, attributes):
            return False
        if child.next is None:
            tag = child.tag_id
            stub = ITEM if kind == _ITEM or (self.stack and self.stack[-1][1] in _ITEM_KINDS) else STUB
            if tag == _TEXT_ID:
                text = child.text_content or ""
                _add_text(self.found, text, len(text) if self.block_link is not None else 0, stub, self.block_link)
                return False
            if tag == _A and len(label := child.text_lexbor()) <= LONG_LINK_CHARS and not _holds_blocks(child):
                _add_text(self.found, label, len(label), stub, child)
                return False
        self.stack.append((node, kind, 0))
        return True

    def _is_excluded(self, node: LexborNode, attributes: Attributes) -> bool:
        if node.tag_id == _CAPTION and "class" in attributes:
            # Authors write plain captions; templates give those of press photos a name.
            return True
        return self._boilerplate.excludes(node, classify_attributes(attributes))

    def open_container(self, node: LexborNode, kind: int) -> bool:
        """Open a container or table cell and return True, unless it is boilerplate."""
        if kind == _CELL:
            if self.pieces:
                self.pieces.append("\t")
            self.stack.append((node, _CELL, len(self.found)))
            return True
        if self.pieces:
            self.flush()
        attributes = node.attributes
        if kind == _TOP_HEADER and node.tag_id == _ASIDE_ELEMENT:
            place = NEUTRAL if is_note(attributes) else ASIDE_TAG
        elif kind == _TOP_HEADER and not self._inside_main:
            place = ASIDE
        else:
            place = classify_attributes(attributes) if attributes else NEUTRAL
        if (
            place > CONTENT
            and not ("id" in attributes and place != CONTENTS and _is_named_after_heading(node, attributes))
            and self._boilerplate.excludes(node, place)
        ):
            return False
        if kind == _MAIN:
            self._inside_main += 1
        elif place == CONTENT:
            kind = _BODY
        elif place == MAIN_PART and kind == _PART:
            kind = _NAMED
        self.stack.append((node, kind, len(self.found)))
        return True

    def close(self, node: LexborNode, kind: int, start: int) -> None:
        """End the paragraph, and the container if the element is one."""
        found, pieces = self.found, self.pieces
        if kind == _LINK:
            if pieces:
                self.flush()
            self.block_link = None
            return
        if pieces and (kind != _CELL or len(pieces[-1]) > SHORT_CELL_CHARS or len(found) > start):
            self.flush(ITEM if kind in _ITEM_KINDS else STUB)
        if kind >= _CELL:
            if len(found) > start:
                place = (start, len(found))
                self.containers.append(place)
                if kind <= _LIST:
                    self.lists.add(place)
                elif kind >= _NAMED:
                    if kind >= _MAIN:
                        self.bodies.append((*place, node.attributes.get("class") or "" if kind == _BODY else ""))
                    self._add_main(node, place)
                elif kind == _PART and found[start][1] > HEADING + 1 and is_section(node):
                    self.sections.add(place)
            self._inside_main -= kind == _MAIN

    def _add_main(self, node: LexborNode, place: ParagraphRange) -> None:
        if node.tag_id == _MAIN_TAG or node.attributes.get("role") == "main":
            if not self.has_main or place[1] - place[0] > self.mains[0][1] - self.mains[0][0]:
                self.mains = [place]
            self.has_main = True
        elif not self.has_main:
            self.mains.append(place)

    def add_link(self, node: LexborNode) -> bool:
        """Add the text of a link, or open an anchor that was left open or holds blocks and return True."""
        if self.block_link is None and _holds_blocks(node) and not is_anchor(node.attributes.get("href") or "#"):
            if self.pieces:
                self.flush()
            self.block_link = node
            self.stack.append((node, _LINK, 0))
            return True
        text = node.text_lexbor()
        if len(text) > LONG_LINK_CHARS:
            if "href" not in node.attributes:
                self.stack.append((node, _INLINE, 0))
                return True
            text = _visible_text(node)
        elif len(text) <= MAX_TOOL_CHARS:
            if not text[:1].isalnum() and (sign := text.strip())[:1] in _SIGN_STARTS and _is_sign(node, sign):
                return False
            if self.pieces and self._is_tool(node, text):
                return False
        if self.link is not None and (before := node.prev) is not None and before.tag_id == _A:
            self.pieces.append(" ")  # Links side by side are words of their own.
        self.pieces.append(text)
        self.linked += len(text)
        self.link = node
        return False

    def _is_tool(self, link: LexborNode, label: str) -> bool:
        """Return whether a link within a paragraph is a command in an item or row, or ends an excerpt of a page."""
        if label.strip(_MORE_SIGNS).lower() in READ_MORE:
            after = link.next
            return after is None or (after.next is None and _is_space(after))
        return bool(self.stack) and self.stack[-1][1] in _ITEM_KINDS and _is_command(link)

    def add_whole(self, node: LexborNode, kind: int, tag: int) -> None:
        """Add a time to the paragraph; add a heading, a label or preformatted text."""
        if kind == _TIME:
            # A line that is a time says little, like a line that is a link.
            text = node.text_lexbor()
            self.pieces.append(text)
            self.linked += len(text)
            return
        if self.pieces and kind == _LABEL:
            self.end_label(node)
        if self.pieces:
            self.flush()
        if kind == _PRE:
            _add_preformatted(self.found, preformatted_text(node))
        elif kind == _LABEL:
            if text := " ".join(_visible_text(node).split()):
                self.found.append((text, LABEL, 0))
        elif self.block_link is not None:
            self.pieces.append(_heading_text(node))
            self.flush()
        elif _add_heading(self.found, node, _MARK_OF[tag]):
            self.linked_headings.append(len(self.found) - 1)

    def end_label(self, field: LexborNode) -> None:
        """Take a few words with a colon before a field of a form, or before its label, as a name of fields."""
        if len(self.pieces) > MAX_LABEL_PIECES or sum(map(len, self.pieces)) > MAX_LABEL_CHARS:
            return
        text = " ".join("".join(self.pieces).split())
        if text.endswith(_LABEL_ENDS) and field.attributes.get("type") != "hidden":
            self.found.append((text, LABEL, 0))
            self.pieces.clear()
            self.linked = 0
            self.link = None

    def result(self) -> Paragraphs:
        """Return what was collected."""
        return Paragraphs(
            self.found,
            self.containers,
            self.bodies,
            self.lists,
            self.sections,
            self.linked_headings,
            self.mains,
            self.has_main,
            self._boilerplate.chars,
            self._boilerplate.large,
        )


def split_paragraphs(
    body: LexborNode, *, mistaken: frozenset[int] | None = frozenset(), keeps: frozenset[int] = frozenset()
) -> Paragraphs:
    """Split the page into paragraphs without boilerplate.
    Elements in `mistaken`, and those whose names say one of `keeps`, count as content; None: all do. Branches are
    ordered by frequency. Not recursive, since pages choose their depth."""
    walk = _ParagraphWalk(BoilerplateFilter(mistaken, keeps))
    pieces, stack = walk.pieces, walk.stack
    kinds, known_kinds, text_id = _KINDS, len(_KINDS), _TEXT_ID
    node: LexborNode | None = body.first_child
    while True:
        if node is None:
            if not stack:
                break
            node, kind, start = stack.pop()
            if kind != _INLINE:
                walk.close(node, kind, start)
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
                if child.next is not None or child.tag_id != text_id:
                    stack.append((node, _INLINE, 0))
                    node = child
                    continue
                pieces.append(child.text_content or "")
        elif kind == _LINK:
            if walk.add_link(node):
                node = node.first_child
                continue
        elif kind == _WHOLE:
            if tag != _SUP or not _is_footnote_mark(node):
                pieces.append(node.text_lexbor())
        elif kind <= _ITEM:
            if pieces:
                walk.flush()
            child = node.first_child
            if child is not None and walk.enter(node, child, kind):
                node = child
                continue
        elif kind <= _MAIN:
            if walk.open_container(node, kind):
                node = node.first_child
                continue
        elif kind == _BREAK:
            pieces.append("\n")
        elif kind == _FIELD:
            if pieces:
                walk.end_label(node)
        elif kind != _DROP:
            walk.add_whole(node, kind, tag)
        node = node.next
    if pieces:
        walk.flush()
    return walk.result()


def _drop_cut_forms(pieces: list[str]) -> None:
    """Empty each piece that the next one begins with: the short form of a text that a button shows."""
    last = -1
    for at, piece in enumerate(pieces):
        if piece in _PLACE_ENDS:
            last = -1
        elif not piece.isspace():
            if last >= 0 and len(piece) > len(pieces[last]) >= MIN_CUT_CHARS:
                short = pieces[last].strip(_CUT_SIGNS)
                if len(short) >= MIN_CUT_CHARS and piece.strip(_CUT_SIGNS).startswith(short):
                    pieces[last] = ""
            last = at


def _add_text(found: list[Paragraph], text: str, linked: int, stub: int, link: LexborNode | None = None) -> None:
    """Add a text as one paragraph; `linked` of its characters belong to links, the last of which is `link`."""
    has_space = "\n" in text or "  " in text or "\xa0" in text or "\t" in text
    text = " ".join(text.split()) if has_space else text.strip()
    size = len(text)
    if size < MIN_WORD_CHARS and not text.strip(_SEPARATORS):
        return
    if linked > MIN_NAVIGATION_SHARE * size and (kind := _link_kind(text, linked, stub, link)) != TEXT:
        cost = MIN_LINKS_COST + size
        found.append((text, kind, -cost if cost < MAX_LINKS_COST else -MAX_LINKS_COST))
    elif size < SHORT_CHARS and text[-1] not in SENTENCE_ENDS:
        found.append((text, stub, -STUB_COST if stub == STUB else -ITEM_COST))
    else:
        found.append((text, TEXT, size - linked))


def _link_kind(text: str, linked: int, stub: int, link: LexborNode | None) -> int:
    """Return the kind of a text with links: navigation, an entry, or TEXT if its words count more than the links."""
    is_linked = linked > MAX_LINKED_SHARE * len(text)
    if link is None:
        return TOOL if is_linked else TEXT
    if not is_linked and len(text) > MAX_NAVIGATION_CHARS:
        return TEXT
    attributes = link.attributes
    if "rel" in attributes or "accesskey" in attributes:
        rel = (attributes.get("rel") or "").lower().split()
        if attributes.get("accesskey") in _STEP_KEYS or not _STEP_TYPES.isdisjoint(rel):
            return TOOL
    if is_step_label(text):
        return TOOL
    if not is_linked:
        return TEXT
    href = attributes.get("href") or ""
    is_bar = text[0] == "[" and text[-1] == "]" and "][" in text.replace(" ", "")  # Such as [Next][Previous].
    if is_bar or is_anchor(href) or is_action(href, text) or (stub == STUB and text.isdigit()):
        return TOOL
    return LINKED_ITEM if stub == ITEM else LINKS


def _add_heading(found: list[Paragraph], node: LexborNode, mark: int) -> bool:
    """Add a heading without its permalink and edit links; return whether it leads to another page."""
    text = " ".join(_heading_text(node).split()).rstrip(_PERMALINK_SIGNS)
    if not text:
        return False
    is_linked = _is_linked_heading(node, len(text))
    found.append((text, mark + LINKED_HEADING - HEADING if is_linked else mark, 0))
    return is_linked


def _heading_text(heading: LexborNode) -> str:
    first, last = heading.first_child, heading.last_child
    while first is not None and _is_space(first):
        first = first.next
    while last is not None and _is_space(last):
        last = last.prev
    if first is None or last is None:
        return ""
    if not _is_heading_tool(last) and (first.next is None or not _is_heading_tool(first)):
        return _visible_text(heading)
    return "".join(map(_visible_text, heading_content(heading)))


def _is_space(node: LexborNode) -> bool:
    return node.tag_id == _TEXT_ID and (node.text_content or "").isspace()


def heading_content(heading: LexborNode) -> list[LexborNode]:
    """Return the nodes of a heading without what software adds at its ends: permalinks, edit links, buttons."""
    nodes: list[LexborNode] = []
    child = heading.first_child
    while child is not None:
        nodes.append(child)
        child = child.next
    first, last = 0, len(nodes)
    while first < last and _is_heading_tool(nodes[last - 1]):
        last -= 1
    while first < last and _is_heading_tool(nodes[first]):
        first += 1
    return nodes[first:last] or nodes


def _holds_blocks(link: LexborNode) -> bool:
    """Return whether a link is around whole blocks, as the cards of overviews are."""
    child = link.first_child
    while child is not None:
        if child.tag_id != _TEXT_ID and _BLOCK <= _kind_of(child.tag_id) <= _HEADING:
            return True
        child = child.next
    return False


def _link_in(part: LexborNode) -> LexborNode | None:
    """Return the first link among an element and its children."""
    child = part if part.tag_id == _A else part.first_child
    while child is not None and child.tag_id != _A:
        child = child.next
    return child


def _kind_of(tag: int) -> int:
    return _KINDS[tag] if tag < len(_KINDS) else _INLINE


def _is_heading_tool(part: LexborNode) -> bool:
    """Return whether a part of a heading is a permalink, an edit link or space."""
    tag = part.tag_id
    if tag == _TEXT_ID:
        return _is_space(part)
    if tag not in _TOOL_TAGS:
        return _kind_of(tag) >= _FIELD
    text = part.text_lexbor()
    if not text[:1].isalnum() and not any(map(str.isalnum, text)):
        return len(text) != 1 or part.tag_id == _A or not text.isascii()
    if len(text) > MAX_HEADING_TOOL_CHARS:
        return False
    link = _link_in(part)
    if link is None:
        return False
    if text.strip().startswith(_BRACKETS) and text.rstrip().endswith(_BRACKET_ENDS):
        return True
    href = link.attributes.get("href") or ""
    label = link.text_lexbor()
    return len(label) * 2 > len(text) and (is_anchor(href) or is_action(href, label))


def preformatted_text(node: LexborNode) -> str:
    """Return preformatted text with its lines."""
    if node.css_first("br") is None:
        return node.text_lexbor().strip("\n").rstrip()
    pieces = node.traverse(include_text=True)
    text = "".join(
        "\n" if piece.tag_id == _BR else piece.text_content or "" for piece in pieces if piece.tag_id in _LINES
    )
    return text.strip("\n").rstrip()


def _add_preformatted(found: list[Paragraph], text: str) -> None:
    """Add preformatted text as one paragraph."""
    is_numbers = "\n" in text and "".join(text.split()).isdigit()  # Of the lines of a listing.
    if text and not is_numbers and not text.startswith(_ARCHIVE_NOTES):
        found.append((text, PRE, len(text)))


def is_left_out(node: LexborNode) -> bool:
    """Return whether the text of a link or raised number is no part of the paragraph around it."""
    if node.tag_id == _SUP:
        return _is_footnote_mark(node)
    if node.tag_id != _A or len(text := node.text_lexbor().strip()) > MAX_TOOL_CHARS:
        return False
    if text[:1] in _SIGN_STARTS and _is_sign(node, text):
        return True
    parent = node.parent
    return parent is not None and _kind_of(parent.tag_id) in _ITEM_KINDS and _is_command(node)


def _is_sign(link: LexborNode, text: str) -> bool:
    """Return whether a link is a permalink, the number of a footnote or the way back from it."""
    if not any(map(str.isalnum, text)):
        return True
    if text[-1] != "]" or text[1:-1].isdigit():
        return False
    return is_anchor(link.attributes.get("href") or "") or _is_term(link.parent)


def _is_footnote_mark(raised: LexborNode) -> bool:
    """Return whether raised text is a link to a footnote."""
    link = raised.first_child
    return link is not None and link.tag_id == _A and is_anchor(link.attributes.get("href") or "")


def _is_term(node: LexborNode | None) -> bool:
    return node is not None and node.tag_id == _TERM


def _is_command(link: LexborNode) -> bool:
    return is_action(link.attributes.get("href") or "", link.text_lexbor())


def is_section(node: LexborNode) -> bool:
    """Return whether an element that begins with a heading is a section of a longer text."""
    if node.tag_id == _SECTION:
        return True
    names = node.attributes.get("class")
    return names is not None and names.startswith(_SECTION_NAMES)


def _is_named_after_heading(section: LexborNode, attributes: Attributes) -> bool:
    """Return whether the only name of a section is the text of its heading, as generators of documentation do it."""
    element_id = attributes.get("id")
    if not element_id or classify_names(attributes.get("class"), None) > CONTENT:
        return False
    child = section.first_child
    for _ in range(MAX_NODES_BEFORE_HEADING):
        if child is None or child.tag_id in _MARK_OF:
            break
        child = child.next
    return child is not None and child.tag_id in _MARK_OF and _letters(element_id) == _letters(_heading_text(child))


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))


def _is_linked_heading(heading: LexborNode, size: int) -> bool:
    """Return whether a link to another page covers most of the heading."""
    child = heading.first_child
    while child is not None and child.tag_id == _TEXT_ID and (child.text_content or "").isspace():
        child = child.next
    while child is not None and child.tag_id not in (_A, _TEXT_ID):
        child = child.first_child
    if child is None or child.tag_id != _A:
        return False
    href = child.attributes.get("href") or "#"
    return not is_anchor(href) and 2 * len(child.text_lexbor()) > size


def _visible_text(node: LexborNode) -> str:
    """Return the text of an element without scripts and the like; comments have none."""
    text = node.text_lexbor() if node.is_element_node or node.is_text_node else ""
    if "<" not in text and "{" not in text:
        return text
    return "".join(
        piece.text_content or ""
        for piece in node.traverse(include_text=True)
        if piece.tag_id == _TEXT_ID and (parent := piece.parent) is not None and parent.tag_id not in CODE_TAGS
    )
