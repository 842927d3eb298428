"""The numbers by which the parser knows the elements, asked of the parser itself, since they differ between
its versions.
"""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.document.encoding import meta_encoding


def tag_ids(names: str) -> frozenset[int]:
    """The numbers of the elements in a list of names separated by spaces."""
    return frozenset(tag_id(name) for name in names.split())


def tag_id(name: str) -> int:
    """The number of one element."""
    return int(_ASKED.create_node(name).tag_id)


def text_node_id() -> int:
    """The number that all text nodes have."""
    node = LexborHTMLParser("<p>x").css_first("p")
    child = node.first_child if node is not None else None
    if child is None:
        raise RuntimeError("the HTML parser does not keep text")
    return int(child.tag_id)


_ASKED = LexborHTMLParser("")


WITHOUT_EVENTS: Final = 1
"""Lexbor's option that saves the work of mutation events."""
MAX_NOSCRIPTS: Final = 100
MAX_METAS: Final = 1000

Attributes = dict[str, str | None]

A, AREA, BASE, HEAD, LINK, META, NOSCRIPT, SVG, TITLE = (
    tag_id(name) for name in ("a", "area", "base", "head", "link", "meta", "noscript", "svg", "title")
)
EMBED_TAGS: Final = tag_ids("img script source video audio track embed object input")
CODE_TAGS: Final = tag_ids("script style noscript template")
"""Their text is not for reading."""
HEADING_TAGS: Final = tag_ids("h1 h2 h3")
_WANTED: Final = EMBED_TAGS | CODE_TAGS | HEADING_TAGS | tag_ids("frame iframe") | {A, AREA, BASE, LINK, META, TITLE}
_IN_NOSCRIPT = "a,area,iframe,img"
# The beginnings of these names, and of `image`, which parsers take for `img`.
_MAY_BE_WANTED = re.compile("<(?:a|if|im)", re.IGNORECASE)

_PAGE_TYPES = ("", "text/html", "application/xhtml+xml")
# HTML standard 4.6.7: the types that make a hyperlink of a link element, and what older pages say for the
# same.
_LINKING_TYPES = (
    "alternate author canonical help license next prev privacy-policy search terms-of-service previous"
    " first last"
    " start begin end up top home contents toc index glossary copyright chapter section subsection appendix"
    " bookmark amphtml shortlink"
)
_LINKING = frozenset(_LINKING_TYPES.split())
_LOADING_TYPES = "stylesheet icon apple-touch-icon mask-icon manifest preload modulepreload image_src"
_LOADING = frozenset(_LOADING_TYPES.split())


def parse_tree(markup: bytes | str) -> LexborHTMLParser:
    """The parsed page."""
    return LexborHTMLParser(markup, options=WITHOUT_EVENTS, scripting=True)


class Elements:
    """The elements that matter here, by what becomes of them; each list is in document order."""

    __slots__ = ("_noscripts", "base", "charset", "code", "embeds", "headings", "links", "metas", "relations", "title")

    def __init__(self, tree: LexborHTMLParser, *, every_anchor: bool = False) -> None:
        self.links: list[tuple[int, LexborNode, Attributes]] = []
        """With the numbers of their tags and their attributes, so that nobody has to ask for them again.

        An anchor that refers to what an anchor before it refers to, but for the fragment, is left out unless
        every anchor is wanted: six of seven are such, and to hold them costs more than to see it here.
        """
        self.embeds: list[LexborNode] = []
        self.headings: list[LexborNode] = []
        self.relations: list[tuple[Attributes, frozenset[str], bool]] = []
        """Attributes of each link element with a reference, its types, and whether it stands in the head."""
        self.metas: list[Attributes] = []
        self.code: list[LexborNode] = []
        self.charset: str | None = None
        """The encoding that the head declares, also where the pre-scan does not reach (HTML standard
        13.2.3.5).
        """
        self.base: str | None = None
        self.title: LexborNode | None = None
        self._noscripts = 0
        if tree.root is not None:
            self._gather(tree.root, every_anchor=every_anchor)

    def _gather(self, root: LexborNode, *, every_anchor: bool) -> None:
        links, wanted, link_id = self.links, _WANTED, A
        met: set[str] = set()
        for node in root.traverse():
            tag = node.tag_id
            if tag not in wanted:
                continue
            if tag == link_id:
                attributes = node.attributes
                bare, mark, _ = (attributes.get("href") or "").partition("#")
                if (bare or mark) in met:
                    continue
                links.append((tag, node, attributes))
                # Space counts in front of a fragment and does not at the end. An anchor that asks not to be
                # followed is not the last word.
                if every_anchor or is_nofollow(attributes):
                    continue
                if bare[-1:] > " ":
                    met.add(bare)
                elif mark and not bare:
                    met.add(mark)
            elif tag in HEADING_TAGS:
                self.headings.append(node)
            else:
                self._take(tag, node)

    def _take(self, tag: int, node: LexborNode) -> None:
        if tag in CODE_TAGS:
            self.code.append(node)
        if tag in EMBED_TAGS:
            self.embeds.append(node)
        elif tag == META:
            self._take_meta(node)
        elif tag == LINK:
            self._take_link(node)
        elif tag == BASE:
            if self.base is None and "href" in (attributes := node.attributes):
                self.base = attributes["href"] or ""
        elif tag == TITLE:
            if self.title is None and not _is_inside(node, SVG):
                self.title = node
        elif tag == NOSCRIPT:
            self._take_noscript(node)
        elif tag not in CODE_TAGS:
            self.links.append((tag, node, node.attributes))

    def _take_link(self, node: LexborNode) -> None:
        attributes = node.attributes
        if not attributes.get("href"):
            return
        rel = relation_types(attributes)
        self.relations.append((attributes, rel, _is_inside(node, HEAD)))
        if not rel.isdisjoint(_LOADING):
            self.embeds.append(node)
        elif not rel.isdisjoint(_LINKING) and (attributes.get("type") or "").strip().lower() in _PAGE_TYPES:
            self.links.append((LINK, node, attributes))

    def _take_meta(self, node: LexborNode) -> None:
        if len(self.metas) >= MAX_METAS:
            return
        attributes = node.attributes
        self.metas.append(attributes)
        if self.charset is None and _is_inside(node, HEAD):
            self.charset = meta_encoding(
                attributes.get("charset"), attributes.get("http-equiv"), attributes.get("content")
            )
        if is_refresh(attributes):
            self.links.append((META, node, attributes))

    def _take_noscript(self, node: LexborNode) -> None:
        markup = node.text_lexbor()
        self._noscripts += 1
        if self._noscripts > MAX_NOSCRIPTS or not _MAY_BE_WANTED.search(markup):
            return
        for inner in LexborHTMLParser(markup, is_fragment=True, options=WITHOUT_EVENTS).css(_IN_NOSCRIPT):
            if (tag := inner.tag_id) in EMBED_TAGS:
                self.embeds.append(inner)
            else:
                self.links.append((tag, inner, inner.attributes))


def _is_inside(node: LexborNode, parent_tag: int) -> bool:
    parent = node.parent
    return parent is not None and parent.tag_id == parent_tag


def relation_types(attributes: Attributes) -> frozenset[str]:
    """The words of `rel`, in lower case."""
    return frozenset((attributes.get("rel") or "").lower().split())


def is_nofollow(attributes: Attributes) -> bool:
    """The element does not vouch for what it links to (HTML standard 4.6.7.17)."""
    rel = attributes.get("rel")
    return rel is not None and "nofollow" in rel.lower().split()


def is_refresh(meta: Attributes) -> bool:
    """The meta element stands for a Refresh header."""
    pragma = meta.get("http-equiv")
    return pragma is not None and pragma.lower() == "refresh"
