"""The elements of a page that hold URLs or metadata, collected in one pass over the tree.
The tree is built as if scripts ran, so that `<noscript>` cannot break up the head or move the base. Links inside
noscript are parsed separately, because no script runs here."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple, Protocol

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.document.bounds import truncate_fragment
from evercrawl.core.document.encoding import meta_encoding


def tag_ids(names: str) -> frozenset[int]:
    """Return the parser's numbers of the elements in a space-separated list of names."""
    return frozenset(tag_id(name) for name in names.split())


def tag_id(name: str) -> int:
    """Return the parser's number of an element, which differs between its versions."""
    return int(_PARSER.create_node(name).tag_id)


def text_node_id() -> int:
    """Return the number of text nodes."""
    node = LexborHTMLParser("<p>x").css_first("p")
    child = node.first_child if node is not None else None
    if child is None:
        raise RuntimeError("the HTML parser drops text nodes")
    return int(child.tag_id)


_PARSER = LexborHTMLParser("")
WITHOUT_EVENTS: Final = 1  # Lexbor option that skips mutation events.
MAX_NOSCRIPTS: Final = 100
MAX_METAS: Final = 1000

Attributes = dict[str, str | None]

A, AREA, BASE, HEAD, LINK, META, NOSCRIPT, SCRIPT, SVG, TITLE = (
    tag_id(name) for name in ("a", "area", "base", "head", "link", "meta", "noscript", "script", "svg", "title")
)
EMBED_TAGS: Final = tag_ids("img script source video audio track embed object input")
CODE_TAGS: Final = tag_ids("script style noscript template")  # Elements whose text is not content.
HEADING_TAGS: Final = tag_ids("h1 h2 h3")
METADATA_TAGS: Final = tag_ids("frame iframe") | {AREA, BASE, LINK, META, NOSCRIPT, TITLE}
METADATA_TEXT_TAGS: Final = frozenset((NOSCRIPT, TITLE))
_WANTED: Final = EMBED_TAGS | CODE_TAGS | HEADING_TAGS | METADATA_TAGS | {A}
_NOSCRIPT_SELECTOR = "a,area,iframe,img"
# The first letters of these names, and of `image`, which parsers read as `img`.
_MAY_HOLD_LINKS = re.compile("<(?:a|if|im)", re.IGNORECASE)

_PAGE_TYPES = ("", "text/html", "application/xhtml+xml")
# HTML standard 4.6.7: link types of hyperlinks, and their older names.
_LINKING_TYPES = (
    "alternate author canonical help license next prev privacy-policy search terms-of-service previous first last"
    " start begin end up top home contents toc index glossary copyright chapter section subsection appendix bookmark"
    " amphtml shortlink"
)
LINKING = frozenset(_LINKING_TYPES.split())
_LOADING_TYPES = "stylesheet icon apple-touch-icon mask-icon manifest preload modulepreload image_src"
_LOADING = frozenset(_LOADING_TYPES.split())


def parse_tree(markup: bytes | str) -> LexborHTMLParser:
    """Parse a page into a tree."""
    return LexborHTMLParser(markup, options=WITHOUT_EVENTS, scripting=True)


FoundLink = tuple[str, str, bool]  # Reference as written, text, and whether it is nofollow.
ScannedElement = tuple[int, Attributes, str, int, int]
"""Tag number, attributes, text, the parent's tag number, and the number of anchors before it."""
LinkElement = tuple[int, LexborNode | None, Attributes]
"""Tag number, node and attributes of an element with a link; the node is known for anchors and if nodes are wanted."""


class Anchors(Protocol):
    """The anchors that the native pass found."""

    def links(
        self, resolver: Any, others: list[tuple[int, str, str, bool]], most: int, anchor_chars: int
    ) -> tuple[Any, ...]:
        """Return the links of the page; `others` stand among them: number of anchors before, and a `FoundLink`."""


class Scanned(NamedTuple):
    """What the native pass found: anchors, texts of headings, and other elements."""

    anchors: Anchors
    headings: list[str]
    others: list[ScannedElement]


class Elements:
    """The elements of interest, grouped by use and in document order.
    `scanned`: what the native pass found; nodes, embeds and code are left out then."""

    __slots__ = (
        "_noscripts", "anchors", "base", "charset", "code", "embeds", "headings", "linked_data", "links", "metas",
        "places", "relations", "title",
    )  # fmt: skip

    def __init__(self, tree: LexborHTMLParser, *, every_anchor: bool = False, scanned: Scanned | None = None) -> None:
        self.links: list[LinkElement] = []
        """Unless every anchor is wanted, one with the target of an earlier anchor is left out, as six of seven are."""
        self.anchors: Anchors | None = None
        """Anchors that the native pass found, which are not among the links."""
        self.places: list[int] = []
        """For each link the number of these anchors before it."""
        self.embeds: list[LexborNode] = []
        self.headings: list[str] = []
        """Texts of the headings of the first three levels."""
        self.linked_data: list[str] = []
        """Texts of the scripts with JSON-LD."""
        self.relations: list[tuple[Attributes, frozenset[str], bool]] = []
        """Attributes of each link element with a reference, its types, and whether it is in the head."""
        self.metas: list[Attributes] = []
        self.code: list[LexborNode] = []
        self.charset: str | None = None
        """Encoding that the head declares, beyond the prescan too (HTML standard 13.2.3.5)."""
        self.base: str | None = None
        self.title: str | None = None
        self._noscripts = 0
        if scanned is not None:
            self._take(scanned)
        elif tree.root is not None:
            self._collect(tree.root, every_anchor=every_anchor)

    def _take(self, scanned: Scanned) -> None:
        self.anchors, self.headings, others = scanned
        for tag, attributes, text, parent, place in others:
            if tag == SCRIPT:
                self.linked_data.append(text)
            else:
                self._add_metadata(tag, None, attributes, parent, text)
                if len(self.places) < len(self.links):
                    self.places += [place] * (len(self.links) - len(self.places))

    def _collect(self, root: LexborNode, *, every_anchor: bool) -> None:
        links, wanted, link_id = self.links, _WANTED, A
        seen: set[str] = set()
        for node in root.traverse():
            tag = node.tag_id
            if tag not in wanted:
                continue
            if tag == link_id:
                attributes = node.attributes
                bare, mark, _ = (attributes.get("href") or "").partition("#")
                if (bare or mark) in seen:
                    continue
                links.append((tag, node, attributes))
                # Space counts before a fragment but not at the end. A later anchor may lack nofollow.
                if every_anchor or is_nofollow(attributes):
                    continue
                if bare[-1:] > " ":
                    seen.add(bare)
                elif mark and not bare:
                    seen.add(mark)
            elif tag in HEADING_TAGS:
                self.headings.append(node.text_lexbor())
            else:
                self._add(tag, node)

    def _add(self, tag: int, node: LexborNode) -> None:
        if tag in CODE_TAGS:
            self.code.append(node)
        if tag in EMBED_TAGS:
            self.embeds.append(node)
            if tag == SCRIPT and is_linked_data(node.attributes):
                self.linked_data.append(node.text_lexbor())
        elif tag in METADATA_TAGS:
            parent = node.parent
            text = node.text_lexbor() if tag in METADATA_TEXT_TAGS else ""
            self._add_metadata(tag, node, node.attributes, parent.tag_id if parent is not None else 0, text)

    def _add_metadata(self, tag: int, node: LexborNode | None, attributes: Attributes, parent: int, text: str) -> None:
        if tag == META:
            self._add_meta(node, attributes, is_in_head=parent == HEAD)
        elif tag == LINK:
            self._add_link(node, attributes, is_in_head=parent == HEAD)
        elif tag == BASE:
            if self.base is None and "href" in attributes:
                self.base = attributes["href"] or ""
        elif tag == TITLE:
            if self.title is None and parent != SVG:
                self.title = text
        elif tag == NOSCRIPT:
            self._add_noscript(text)
        else:
            self.links.append((tag, node, attributes))

    def _add_link(self, node: LexborNode | None, attributes: Attributes, *, is_in_head: bool) -> None:
        if not attributes.get("href"):
            return
        rel = relation_types(attributes)
        self.relations.append((attributes, rel, is_in_head))
        if not rel.isdisjoint(_LOADING):
            if node is not None:
                self.embeds.append(node)
        elif not rel.isdisjoint(LINKING) and (attributes.get("type") or "").strip().lower() in _PAGE_TYPES:
            self.links.append((LINK, node, attributes))

    def _add_meta(self, node: LexborNode | None, attributes: Attributes, *, is_in_head: bool) -> None:
        if len(self.metas) >= MAX_METAS:
            return
        self.metas.append(attributes)
        if self.charset is None and is_in_head:
            self.charset = meta_encoding(
                attributes.get("charset"), attributes.get("http-equiv"), attributes.get("content")
            )
        if is_refresh(attributes):
            self.links.append((META, node, attributes))

    def _add_noscript(self, markup: str) -> None:
        self._noscripts += 1
        if self._noscripts > MAX_NOSCRIPTS or not _MAY_HOLD_LINKS.search(markup):
            return
        for inner in _parse_fragment(markup).css(_NOSCRIPT_SELECTOR):
            if (tag := inner.tag_id) in EMBED_TAGS:
                self.embeds.append(inner)
            else:
                self.links.append((tag, inner, inner.attributes))


def _parse_fragment(markup: str) -> LexborHTMLParser:
    return LexborHTMLParser(truncate_fragment(markup), is_fragment=True, options=WITHOUT_EVENTS)


def relation_types(attributes: Attributes) -> frozenset[str]:
    """Return the words of `rel` in lower case."""
    return frozenset((attributes.get("rel") or "").lower().split())


def is_nofollow(attributes: Attributes) -> bool:
    """Return whether the link is nofollow (HTML standard 4.6.7.17)."""
    rel = attributes.get("rel")
    return rel is not None and "nofollow" in rel.lower().split()


def is_refresh(meta: Attributes) -> bool:
    """Return whether the meta element stands for a Refresh header."""
    pragma = meta.get("http-equiv")
    return pragma is not None and pragma.lower() == "refresh"


def is_linked_data(script: Attributes) -> bool:
    """Return whether a script element holds JSON-LD."""
    return (script.get("type") or "").strip().lower().startswith("application/ld+json")
