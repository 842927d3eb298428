"""What is kept of a version for comparison: its text in blocks, where each stands, and the metadata.

One walk over the tree. A block is a run of text between the borders of block elements; its path is a
number made from the elements around it and their names, so that the same place of a template has the same
path on every page.
"""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.change.region import NAMINGS, UNNAMED, Naming, is_site_role
from evercrawl.core.document.bounds import bounded
from evercrawl.core.document.element import Attributes, Elements, tree_of
from evercrawl.core.document.tag import tag_id, tag_ids, text_node_id

BODY, ARTICLE, MAIN, SITE_BY_NAME, SITE = range(5)
"""Regions of a page: anywhere, in an article, in the main element, the site's part by its name or by its
element.
"""
REGION_BITS = 0b111
LINKED = 0b1000
"""Most of the block's characters belong to links, or it is the short text below a link in a list."""
HEADLINE = 0b1_0000
"""The block is a heading of the first level."""
PARAGRAPH = 0b10_0000

MOST_BLOCKS = 20_000
MOST_CHARS = 2_000_000
LINKED_FROM = 0.5
CARD_CHARS = 200

_INLINE, _TEXT, _PHRASE, _LINK, _BREAK, _CELL, _BLOCK, _LEAF, _PART = range(9)
_HEADER, _ARTICLE, _MAIN, _SITE, _DROP = range(9, 14)
_NAMES = {
    _PHRASE: "b i em strong code tt kbd var samp sub sup abbr cite dfn time small u s q mark data",
    _LINK: "a",
    _BREAK: "br",
    _CELL: "td th",
    _BLOCK: "li dd figcaption address tr blockquote",
    # What by the rules of the parser or by custom holds no other block: taken whole.
    _LEAF: "p h1 h2 h3 h4 h5 h6 pre listing xmp dt caption summary legend",
    _PART: "div section ul ol dl table tbody thead tfoot figure details center form fieldset hgroup hr",
    _HEADER: "header",
    _ARTICLE: "article",
    _MAIN: "main",
    _SITE: "nav aside footer dialog menu",
    _DROP: "script style noscript template iframe object svg math button select textarea input canvas"
    " audio video map title head frameset noframes datalist meter progress embed rp",
}
_TEXT_ID = text_node_id()
_A = tag_id("a")
_NO_TAG = -1
_OUTSIDE = tag_ids("head body html")
_LEAF_FLAGS = {tag_id("h1"): HEADLINE, tag_id("p"): PARAGRAPH}
_KIND_OF = {tag: kind for kind, names in _NAMES.items() for tag in tag_ids(names)} | {_TEXT_ID: _TEXT}
_KINDS = tuple(_KIND_OF.get(tag, _INLINE) for tag in range(max(_KIND_OF) + 1))
# The parser's own numbers for elements differ between its versions; paths are stored, so they must not.
_MARKS = {tag_id(name): number for number, name in enumerate(" ".join(_NAMES.values()).split(), start=1)}
_PATH_MIX = 0x9E3779B1
_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about itself."""

    title: str = ""
    description: str = ""
    canonical: str = ""
    robots: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The blocks of a version in order: their paths, flags and texts side by side."""

    paths: tuple[int, ...]
    flags: bytes
    texts: tuple[str, ...]
    metadata: Metadata = Metadata()


def snapshot_of(tree: LexborHTMLParser, elements: Elements) -> Snapshot:
    """The snapshot of a parsed page."""
    body = tree.body
    paths, flags, texts = _walked(body, _around(elements.code)) if body is not None else ([], [], [])
    return Snapshot(tuple(paths), bytes(flags), tuple(texts), _metadata(elements))


def snapshot_of_html(html: bytes | str) -> Snapshot:
    """The snapshot of a page that is not parsed yet; bytes are taken as UTF-8."""
    markup = html.encode("utf-8", "replace") if isinstance(html, str) else html
    tree = tree_of(bounded(markup))
    return snapshot_of(tree, Elements(tree))


def _metadata(elements: Elements) -> Metadata:
    named: dict[str, str] = {}
    for meta in elements.metas:
        name = (meta.get("name") or "").strip().lower()
        if name in ("description", "robots"):
            named.setdefault(name, _collapsed(meta.get("content")))
    canonical = next(
        (attributes["href"] for attributes, rel, is_in_head in elements.relations if is_in_head and "canonical" in rel),
        None,
    )
    return Metadata(
        title=_collapsed(elements.title.text_lexbor() if elements.title is not None else None),
        description=named.get("description", ""),
        canonical="".join((canonical or "").split()),
        robots=named.get("robots", "").lower(),
    )


def _collapsed(text: str | None) -> str:
    return " ".join((text or "").split())


def _walked(body: LexborNode, code: set[int]) -> tuple[list[int], list[int], list[str]]:
    """Cut the page into blocks; elements around code are not taken whole.

    Long, because a call for each node would double its cost; every branch is one kind of node.
    """
    paths: list[int] = []
    flags: list[int] = []
    texts: list[str] = []
    pieces: list[str] = []
    linked = 0
    path, region, card_at = 1, BODY, MOST_BLOCKS
    kinds, known_kinds, text_id, link_id = _KINDS, len(_KINDS), _TEXT_ID, _A
    marks, leaf_flags, namings = _MARKS, _LEAF_FLAGS, NAMINGS
    stack: list[tuple[LexborNode, int, int, int, int]] = []
    node: LexborNode | None = body.first_child
    chars = 0
    last_path = last_tag = last_region = inner_path = inner_region = _NO_TAG
    last_naming = UNNAMED
    while True:
        if node is None:
            if not stack:
                break
            node, kind, outer_path, outer_region, outer_card = stack.pop()
            if kind >= _BLOCK:
                if pieces:
                    chars += _flush(paths, flags, texts, pieces, linked, path, region)
                    linked = 0
                path, region, card_at = outer_path, outer_region, outer_card
            elif kind == _CELL:
                pieces.append(" ")
            node = node.next
            continue
        tag = node.tag_id
        kind = kinds[tag] if tag < known_kinds else _INLINE
        if kind == _TEXT:
            text = node.text_content
            if text and (pieces or not text.isspace()):
                pieces.append(text)
        elif kind == _LINK:
            text = node.text_lexbor()
            if text:
                pieces.append(text)
                linked += len(text)
        elif kind == _PHRASE:
            pieces.append(node.text_lexbor())
        elif kind == _BREAK:
            pieces.append("\n")
        elif kind <= _CELL:
            child = node.first_child
            if child is not None:
                if kind == _INLINE and child.next is None and child.tag_id == text_id:
                    pieces.append(child.text_content or "")
                else:
                    stack.append((node, kind, 0, 0, 0))
                    node = child
                    continue
        elif kind != _DROP:
            if pieces:
                chars += _flush(paths, flags, texts, pieces, linked, path, region)
                linked = 0
            if chars > MOST_CHARS or len(texts) >= MOST_BLOCKS:
                break
            child = node.first_child
            if child is not None:
                attributes = node.attributes
                if not attributes:
                    naming = UNNAMED
                elif len(attributes) == 1 and "class" in attributes:
                    naming = namings[attributes["class"] or ""]
                else:
                    naming = _naming(attributes)
                # Siblings are often alike, and then stand in the same place.
                if path != last_path or tag != last_tag or naming is not last_naming or region != last_region:
                    last_path, last_tag, last_naming, last_region = path, tag, naming, region
                    inner_path = (path * _PATH_MIX + marks[tag] + naming.mark) & _MASK
                    inner_region = _region(kind, region, naming) if kind > _PART or naming.is_site_outside else region
                only = child.tag_id if child.next is None else _NO_TAG
                if only == text_id:
                    text = child.text_content
                elif only == link_id:
                    text = child.text_lexbor()
                elif kind == _LEAF:
                    text = node.text_lexbor()
                    if code and ("=" in text or "(" in text) and node.mem_id in code:
                        text = None
                else:
                    text = None
                if text is not None:
                    text = " ".join(text.split())
                    if text:
                        texts.append(text)
                        paths.append(inner_path)
                        flag = inner_region if kind != _LEAF else inner_region | leaf_flags.get(tag, 0)
                        if only == link_id or (
                            card_at < len(flags) and flags[card_at] & LINKED and len(text) < CARD_CHARS
                        ):
                            flag |= LINKED
                        flags.append(flag)
                        chars += len(text)
                else:
                    stack.append((node, kind, path, region, card_at))
                    path, region = inner_path, inner_region
                    if kind == _BLOCK:
                        card_at = len(texts)
                    node = child
                    continue
        node = node.next
    if pieces:
        _flush(paths, flags, texts, pieces, linked, path, region)
    return paths, flags, texts


def _around(code: list[LexborNode]) -> set[int]:
    """The identities of all elements in the body that hold code, whose text is not for reading."""
    found: set[int] = set()
    for node in code:
        parent = node.parent
        while parent is not None and parent.tag_id not in _OUTSIDE and (identity := parent.mem_id) not in found:
            found.add(identity)
            parent = parent.parent
    return found


def _flush(
    paths: list[int], flags: list[int], texts: list[str], pieces: list[str], linked: int, path: int, flag: int
) -> int:
    """Make one block of the pieces; gives back its size."""
    text = " ".join("".join(pieces).split())
    pieces.clear()
    size = len(text)
    if size:
        texts.append(text)
        paths.append(path)
        flags.append(flag | LINKED if linked > LINKED_FROM * size else flag)
    return size


def _naming(attributes: Attributes) -> Naming:
    names = attributes.get("class") or ""
    if identity := attributes.get("id"):
        names = f"{names} {identity}"
    naming = NAMINGS[names]
    if not naming.is_site and (
        is_site_role(attributes.get("role")) or "hidden" in attributes or attributes.get("aria-hidden") == "true"
    ):
        return Naming(naming.mark, is_site=True, is_site_outside=True)
    return naming


def _region(kind: int, region: int, naming: Naming) -> int:
    """The region inside an element; what lies in the site's part stays there."""
    if region >= SITE_BY_NAME:
        return region
    if kind == _MAIN:
        return MAIN
    if kind == _SITE or (kind == _HEADER and region == BODY):
        return SITE
    if naming.is_site or (naming.is_site_outside and region == BODY):
        return SITE_BY_NAME
    if kind == _ARTICLE and region == BODY:
        return ARTICLE
    return region
