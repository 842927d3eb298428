"""What is this page about? Its main text, without navigation, headers, footers and the like.

One walk over the tree cuts the page into paragraphs and remembers which of them each container holds. A
paragraph is worth its characters outside links, or something below zero where it is a stub or a list of
links. The container that holds the greatest sum is the main one; of its paragraphs those full of links are
left out.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.core.document.tag import tag_ids, text_node_id

LINKED_TOO_MUCH = 0.5
"""Share of link characters from which on a paragraph counts as navigation."""
SHORT_CHARS = 40
"""Below this a piece that is no sentence says little of itself."""
SENTENCE_ENDS = ".!?:;。！？"
STUB_COST = 12
LINKS_COST = 30
LITTLE_TEXT = 250
"""With less than this found, look again."""
MUCH_LEFT_OUT = 3
"""So many times the text found may a part be that was left out for its name."""

_INLINE, _TEXT, _WHOLE, _LINK, _BREAK, _BLOCK, _HEADING, _PRE, _CELL, _PART, _TOP_HEADER, _MAIN, _DROP = (
    range(13)
)
_NAMES = {
    _WHOLE: "code tt kbd var samp sub sup abbr cite dfn time",
    _LINK: "a",
    _BREAK: "br hr",
    _CELL: "td th",
    _BLOCK: "p li dt dd caption figcaption summary address tr legend option",
    _HEADING: "h1 h2 h3 h4 h5 h6",
    _PRE: "pre listing xmp",
    _PART: "div section ul ol dl table tbody blockquote figure details center form fieldset body hgroup",
    _TOP_HEADER: "header",
    _MAIN: "main article",
    _DROP: "script style noscript template iframe object svg math button select textarea input nav aside"
    " footer canvas audio video map dialog menu title head frameset noframes datalist meter embed rp",
}
_TAKEN_WHOLE = (_HEADING, _PRE)
_TEXT_ID = text_node_id()
_KIND_OF = {tag: kind for kind, names in _NAMES.items() for tag in tag_ids(names)} | {_TEXT_ID: _TEXT}
_KINDS = tuple(_KIND_OF.get(tag, _INLINE) for tag in range(max(_KIND_OF) + 1))

_BOILERPLATE_NAMES = (
    "nav navbar navigation navheader navfooter menu submenu breadcrumb breadcrumbs sidebar footer"
    " masthead toolbar"
    " comment comments commentlist disqus respond related recommend recommended recommendation"
    " recommendations share"
    " sharing sharedaddy social promo advert advertisement ad ads banner cookie cookies newsletter subscribe"
    " subscription popup modal widget widgets pagination pager tags taglist tagcloud skip login signup"
    " copyright toc"
    " tableofcontents sphinxsidebar byline rating trending popular outbrain taboola sponsored teaser"
    " hidden postmeta"
    " linklist"
)
_BOILERPLATE = frozenset(_BOILERPLATE_NAMES.split())
# A page `with-sidebar` is not a sidebar.
_LAYOUT_WORDS = frozenset(("has", "with", "no", "is", "not"))
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD_BORDER = re.compile(r"[-_:]+")
_ROLE_NAMES = "navigation banner contentinfo complementary search menu menubar toolbar dialog alert tablist"
_BOILERPLATE_ROLES = frozenset(_ROLE_NAMES.split())
MOST_REMEMBERED_NAMES = 20_000
LONGEST_NAMES = 500
_verdicts: dict[str, bool] = {}


class Walk(NamedTuple):
    """The paragraphs of a page in order, what each is worth, and for each container the range of those
    inside it.
    """

    texts: list[str]
    worths: list[int]
    containers: list[tuple[int, int]]
    left_out: int
    """Characters of the largest part that was left out for its name."""


def main_text(body: LexborNode, *, most_chars: int) -> str:
    """The paragraphs of the main container, one a line; the whole text where no container stands out."""
    walk = _walked(body, trusts_names=True)
    worth, text = _best(walk)
    if walk.left_out > (MUCH_LEFT_OUT * len(text) if len(text) >= LITTLE_TEXT else 0):
        # The names of classes may have led us astray.
        walk = _walked(body, trusts_names=False)
        second_worth, second = _best(walk)
        if second_worth > MUCH_LEFT_OUT * max(worth, 1):
            text = second
    if len(text) < LITTLE_TEXT:
        everything = _unlinked(walk, 0, len(walk.texts)) or "\n".join(walk.texts)
        if len(everything) < LITTLE_TEXT or len(everything) > MUCH_LEFT_OUT * len(text):
            text = everything
    return text[:most_chars]


def _best(walk: Walk) -> tuple[int, str]:
    """The greatest worth that a container holds, and its text without what only links elsewhere."""
    sums = list(accumulate(walk.worths, initial=0))
    best, first, last = sums[-1], 0, len(walk.texts)
    for start, end in walk.containers:
        worth = sums[end] - sums[start]
        if worth > best or (worth == best and end - start < last - first):
            best, first, last = worth, start, end
    return best, _unlinked(walk, first, last)


def _unlinked(walk: Walk, first: int, last: int) -> str:
    pairs = zip(walk.texts[first:last], walk.worths[first:last], strict=True)
    return "\n".join(text for text, worth in pairs if worth != -LINKS_COST)


def _walked(body: LexborNode, *, trusts_names: bool) -> Walk:
    """Cut the page into paragraphs.

    Long, because a call for each node would double its cost; every branch is one kind of node.
    """
    texts: list[str] = []
    worths: list[int] = []
    containers: list[tuple[int, int]] = []
    pieces: list[str] = []
    linked = left_out = inside_main = 0
    kinds, known_kinds, text_id = _KINDS, len(_KINDS), _TEXT_ID
    stack: list[tuple[LexborNode, int, int]] = []
    node: LexborNode | None = body.first_child
    while True:
        if node is None:
            if not stack:
                break
            node, kind, start = stack.pop()
            if kind != _INLINE:
                if pieces and (
                    kind != _CELL or linked or len(pieces[-1]) > SHORT_CHARS or len(texts) > start
                ):
                    _flush(texts, worths, pieces, linked)
                    linked = 0
                if kind >= _CELL:
                    inside_main -= kind == _MAIN
                    if len(texts) > start:
                        containers.append((start, len(texts)))
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
                pieces.append(text)
                linked += len(text)
        elif kind == _BLOCK:
            if pieces:
                _flush(texts, worths, pieces, linked)
                linked = 0
            child = node.first_child
            if child is not None:
                if child.next is None and child.tag_id == text_id:
                    _flush(texts, worths, [child.text_content or ""], 0)
                else:
                    stack.append((node, _BLOCK, 0))
                    node = child
                    continue
        elif kind == _WHOLE:
            pieces.append(node.text_lexbor())
        elif kind == _BREAK:
            pieces.append("\n")
        elif kind == _CELL:
            if pieces:
                pieces.append(" ")
            stack.append((node, _CELL, len(texts)))
            node = node.first_child
            continue
        elif kind == _DROP:
            pass
        else:
            if pieces:
                _flush(texts, worths, pieces, linked)
                linked = 0
            if kind in _TAKEN_WHOLE:
                _add_whole(texts, worths, node.text_lexbor(), kind)
            elif trusts_names and ((kind == _TOP_HEADER and not inside_main) or _is_boilerplate(node)):
                left_out = max(left_out, len(node.text_lexbor()))
            else:
                inside_main += kind == _MAIN
                stack.append((node, kind, len(texts)))
                node = node.first_child
                continue
        node = node.next
    if pieces:
        _flush(texts, worths, pieces, linked)
    return Walk(texts, worths, containers, left_out)


def _flush(texts: list[str], worths: list[int], pieces: list[str], linked: int) -> None:
    """Make one paragraph of the pieces."""
    text = " ".join("".join(pieces).split())
    pieces.clear()
    size = len(text)
    if not size:
        return
    texts.append(text)
    if linked > LINKED_TOO_MUCH * size:
        worths.append(-LINKS_COST)
    elif size < SHORT_CHARS and text[-1] not in SENTENCE_ENDS:
        worths.append(-STUB_COST)
    else:
        worths.append(size - linked)


def _add_whole(texts: list[str], worths: list[int], text: str, kind: int) -> None:
    """Take a heading, or preformatted text with its lines, as one paragraph."""
    text = text.strip("\n").rstrip() if kind == _PRE else " ".join(text.split())
    if text:
        texts.append(text)
        worths.append(len(text) if kind == _PRE else 0)


def _is_boilerplate(node: LexborNode) -> bool:
    """The names that the author gave to an element say that it is not content."""
    attributes = node.attributes
    if not attributes:
        return False
    if attributes.get("role") in _BOILERPLATE_ROLES or "hidden" in attributes:
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    if len(names) < 3:
        return False
    verdict = _verdicts.get(names)
    if verdict is None:
        if len(_verdicts) >= MOST_REMEMBERED_NAMES:
            _verdicts.clear()
        verdict = _verdicts[names] = _says_boilerplate(names)
    return verdict


def _says_boilerplate(names: str) -> bool:
    for name in _CAMEL.sub("-", names[:LONGEST_NAMES]).lower().split():
        words = _WORD_BORDER.split(name)
        if words[0] not in _LAYOUT_WORDS and not _BOILERPLATE.isdisjoint(words):
            return True
    return False
