"""Snapshots of a version for comparison: blocks of text with their paths and regions, and metadata.
A block is a run of text between block elements; its path is a hash of the elements around it and their names, so that a
place in a template has the same path on every page."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from functools import cache
from struct import Struct, error
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode
from xxhash import xxh32_intdigest
from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError

from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.elements import Attributes, Elements, parse_tree, tag_id, tag_ids, text_node_id

MAX_CACHED_NAMES = 20_000
MAX_NAMES_CHARS = 500
MAX_WORD_CHARS = 24  # Longer words are generated.


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SITE_WORDS = _word_set(
    "ad ads adv advert adverts advertisement advertising adsense adslot sponsor sponsored sponsors promo"
    " promotion werbung anzeige anzeigen publicite publicidad pubblicita reklama reklame reclame annonce"
    " nav navbar navigation navi subnav menu menue submenu breadcrumb breadcrumbs sidebar seitenleiste"
    " footer fusszeile masthead toolbar pagination pager skip login signup cookie cookies consent gdpr"
    " cookiebanner related recommended recommendation recommendations teaser teasers share sharing social"
    " newsletter subscribe subscription popup modal overlay outbrain taboola copyright"
)
_SITE_WORDS_OUTSIDE_MAIN = _word_set(
    "banner weather wetter meteo tiempo clock uhr horloge ticker popular trending bestseller counter"
    " zaehler compteur contador visitors besucher timestamp debug"
)
_SITE_NAMES = _word_set(
    "views pageviews page-views post-views view-count viewcount views-count viewcounter hits hit-counter"
    " online users-online usersonline whos-online who-is-online most-read mostread read-more-box"
    " last-updated lastupdated last-modified generated server-time servertime page-info request-id"
    " also-read read-also see-also-box site-footer site-header"
)
# A page `with-sidebar` is not a sidebar.
_MODIFIER_WORDS = frozenset(("has", "with", "no", "is", "not", "without", "after", "before"))
_ROLES = _word_set(
    "navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist"
    " timer marquee status"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME_BORDER = re.compile(r"[-_:]+")
_DIGITS = re.compile(r"\d+")


class NameClass(NamedTuple):
    """What the names of an element say: a stable number for its path, and whether it is part of the site."""

    mark: int
    is_site: bool  # Part of the site wherever it stands.
    is_site_outside: bool  # Part of the site unless inside the main element.


UNNAMED = NameClass(0, is_site=False, is_site_outside=False)


class _NameClasses(dict[str, NameClass]):
    """Classifies unknown names on lookup, since a site uses few combinations very often."""

    def __missing__(self, names: str) -> NameClass:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        found = self[names] = _classify(names[:MAX_NAMES_CHARS])
        return found


NAME_CLASSES = _NameClasses()  # Class of the space-separated classes and id of an element.


def is_site_role(role: str | None) -> bool:
    """Return whether the ARIA role marks a part of the site."""
    return role is not None and role.strip().lower() in _ROLES


def _classify(names: str) -> NameClass:
    kept = []
    is_site = is_site_outside = False
    for name in _CAMEL.sub("-", names).lower().split():
        words = _NAME_BORDER.split(name)
        if not _is_random(name):
            kept.append(_DIGITS.sub("#", name))
        if words[0] in _MODIFIER_WORDS:
            continue
        plain = {_DIGITS.sub("", word) for word in words}
        is_site = is_site or name in _SITE_NAMES or not _SITE_WORDS.isdisjoint(plain)
        is_site_outside = is_site_outside or not _SITE_WORDS_OUTSIDE_MAIN.isdisjoint(plain)
    mark = xxh32_intdigest(" ".join(sorted(set(kept))).encode("utf-8", "surrogatepass")) if kept else 0
    return NameClass(mark, is_site, is_site or is_site_outside)


def _is_random(name: str) -> bool:
    """Return whether a name was generated: digits within letters, or more letters than a word has."""
    inner = name.strip("0123456789-_")
    return len(name) > MAX_WORD_CHARS or any(char.isdigit() for char in inner.replace("-", ""))


BODY, ARTICLE, MAIN, SITE_BY_NAME, SITE = range(5)
"""Regions: anywhere, in an article, in the main element, part of the site by name or by element."""
REGION_BITS = 0b111
LINKED = 0b1000  # Most of the block is link text, or it is the short text below a link in a list.
HEADLINE = 0b1_0000  # The block is a first-level heading.
PARAGRAPH = 0b10_0000

MAX_BLOCKS = 20_000
MAX_CHARS = 2_000_000
MIN_LINKED_SHARE = 0.5
CARD_CHARS = 200

_INLINE, _TEXT, _PHRASE, _LINK, _BREAK, _CELL, _BLOCK, _LEAF, _PART = range(9)
_HEADER, _ARTICLE, _MAIN, _SITE, _DROP = range(9, 14)
_NAMES = {
    _PHRASE: "b i em strong code tt kbd var samp sub sup abbr cite dfn time small u s q mark data",
    _LINK: "a",
    _BREAK: "br",
    _CELL: "td th",
    _BLOCK: "li dd figcaption address tr blockquote",
    # These hold no other block, so their text is taken whole.
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
# Stable numbers of elements: those of the parser differ between its versions, but paths are stored.
_MARKS = {tag_id(name): number for number, name in enumerate(" ".join(_NAMES.values()).split(), start=1)}
_PATH_MIX = 0x9E3779B1
_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class SnapshotMetadata:
    """What a page says about itself."""

    title: str = ""
    description: str = ""
    canonical: str = ""
    robots: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The blocks of a version in order: paths, flags and texts in parallel."""

    paths: tuple[int, ...]
    flags: bytes
    texts: tuple[str, ...]
    metadata: SnapshotMetadata = SnapshotMetadata()


def take_snapshot(tree: LexborHTMLParser, elements: Elements) -> Snapshot:
    """Return the snapshot of a parsed page."""
    body = tree.body
    if body is None:
        return Snapshot((), b"", (), _metadata(elements))
    walk = _walk_blocks(body, _ids_around(elements.code))
    return Snapshot(tuple(walk.paths), bytes(walk.flags), tuple(walk.texts), _metadata(elements))


def snapshot_html(html: bytes | str) -> Snapshot:
    """Return the snapshot of unparsed HTML; bytes are read as UTF-8."""
    markup = html.encode("utf-8", "replace") if isinstance(html, str) else html
    tree = parse_tree(truncate_markup(markup))
    return take_snapshot(tree, Elements(tree))


def _metadata(elements: Elements) -> SnapshotMetadata:
    named: dict[str, str] = {}
    for meta in elements.metas:
        name = (meta.get("name") or "").strip().lower()
        if name in ("description", "robots"):
            named.setdefault(name, _collapse(meta.get("content")))
    canonical = next(
        (attributes["href"] for attributes, rel, is_in_head in elements.relations if is_in_head and "canonical" in rel),
        None,
    )
    return SnapshotMetadata(
        title=_collapse(elements.title.text_lexbor() if elements.title is not None else None),
        description=named.get("description", ""),
        canonical="".join((canonical or "").split()),
        robots=named.get("robots", "").lower(),
    )


def _collapse(text: str | None) -> str:
    return " ".join((text or "").split())


class _BlockWalk:
    """Collects the blocks of one page; path, region and card describe the element that is open."""

    __slots__ = (
        "_code", "_inner_path", "_inner_region", "_last_name_class", "_last_path", "_last_region", "_last_tag",
        "card_at", "chars", "flags", "path", "paths", "pieces", "region", "stack", "texts",
    )  # fmt: skip

    def __init__(self, code: set[int]) -> None:
        self.paths: list[int] = []
        self.flags: list[int] = []
        self.texts: list[str] = []
        self.chars = 0
        self.pieces: list[str] = []
        self.path, self.region, self.card_at = 1, BODY, MAX_BLOCKS
        self.stack: list[tuple[LexborNode, int, int, int, int]] = []
        self._code = code
        self._last_path = self._last_tag = self._last_region = self._inner_path = self._inner_region = _NO_TAG
        self._last_name_class = UNNAMED

    def flush(self, linked: int) -> None:
        """Make one block of the pieces; `linked` of its characters belong to links."""
        text = " ".join("".join(self.pieces).split())
        self.pieces.clear()
        size = len(text)
        if size:
            self.texts.append(text)
            self.paths.append(self.path)
            self.flags.append(self.region | LINKED if linked > MIN_LINKED_SHARE * size else self.region)
            self.chars += size

    def enter(self, node: LexborNode, child: LexborNode, kind: int, tag: int) -> bool:
        """Add an element that holds a single text as a block, or open it and return True."""
        attributes = node.attributes
        if not attributes:
            names = UNNAMED
        elif len(attributes) == 1 and "class" in attributes:
            names = NAME_CLASSES[attributes["class"] or ""]
        else:
            names = _name_class(attributes)
        path, region = self.path, self.region
        # Siblings are often alike, and then have the same path.
        if (
            path != self._last_path
            or tag != self._last_tag
            or names is not self._last_name_class
            or region != self._last_region
        ):
            self._last_path, self._last_tag, self._last_name_class, self._last_region = path, tag, names, region
            self._inner_path = (path * _PATH_MIX + _MARKS[tag] + names.mark) & _MASK
            self._inner_region = _region(kind, region, names) if kind > _PART or names.is_site_outside else region
        only = child.tag_id if child.next is None else _NO_TAG
        if only == _TEXT_ID:
            text = child.text_content
        elif only == _A:
            text = child.text_lexbor()
        elif kind == _LEAF:
            text = node.text_lexbor()
            if self._code and ("=" in text or "(" in text) and node.mem_id in self._code:
                text = None
        else:
            text = None
        if text is None:
            self.stack.append((node, kind, path, region, self.card_at))
            self.path, self.region = self._inner_path, self._inner_region
            if kind == _BLOCK:
                self.card_at = len(self.texts)
            return True
        text = " ".join(text.split())
        if text:
            flags, card_at, flag = self.flags, self.card_at, self._inner_region
            if kind == _LEAF:
                flag |= _LEAF_FLAGS.get(tag, 0)
            if only == _A or (card_at < len(flags) and flags[card_at] & LINKED and len(text) < CARD_CHARS):
                flag |= LINKED
            flags.append(flag)
            self.texts.append(text)
            self.paths.append(self._inner_path)
            self.chars += len(text)
        return False


def _walk_blocks(body: LexborNode, code: set[int]) -> _BlockWalk:
    """Split the page into blocks in one pass; elements around code are not taken whole."""
    walk = _BlockWalk(code)
    pieces, stack, texts = walk.pieces, walk.stack, walk.texts
    kinds, known_kinds, text_id = _KINDS, len(_KINDS), _TEXT_ID
    linked = 0
    node: LexborNode | None = body.first_child
    while True:
        if node is None:
            if not stack:
                break
            node, kind, path, region, card_at = stack.pop()
            if kind >= _BLOCK:
                if pieces:
                    walk.flush(linked)
                    linked = 0
                walk.path, walk.region, walk.card_at = path, region, card_at
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
                walk.flush(linked)
                linked = 0
            if walk.chars > MAX_CHARS or len(texts) >= MAX_BLOCKS:
                break
            child = node.first_child
            if child is not None and walk.enter(node, child, kind, tag):
                node = child
                continue
        node = node.next
    if pieces:
        walk.flush(linked)
    return walk


def _ids_around(code: list[LexborNode]) -> set[int]:
    """Return the ids of all body elements that contain code."""
    found: set[int] = set()
    for node in code:
        parent = node.parent
        while parent is not None and parent.tag_id not in _OUTSIDE and (identity := parent.mem_id) not in found:
            found.add(identity)
            parent = parent.parent
    return found


def _name_class(attributes: Attributes) -> NameClass:
    names = attributes.get("class") or ""
    if identity := attributes.get("id"):
        names = f"{names} {identity}"
    found = NAME_CLASSES[names]
    if not found.is_site and (
        is_site_role(attributes.get("role")) or "hidden" in attributes or attributes.get("aria-hidden") == "true"
    ):
        return NameClass(found.mark, is_site=True, is_site_outside=True)
    return found


def _region(kind: int, region: int, names: NameClass) -> int:
    """Return the region inside an element; what is inside a part of the site stays there."""
    if region >= SITE_BY_NAME:
        return region
    if kind == _MAIN:
        return MAIN
    if kind == _SITE or (kind == _HEADER and region == BODY):
        return SITE
    if names.is_site or (names.is_site_outside and region == BODY):
        return SITE_BY_NAME
    if kind == _ARTICLE and region == BODY:
        return ARTICLE
    return region


COMPRESSION_LEVEL = 1  # Level 3 saves 3 % of the bytes and takes 40 % longer.
MAX_SNAPSHOT_BYTES = 4 * MAX_CHARS + 16 * MAX_BLOCKS + 1_000_000  # A larger snapshot is damaged.

METADATA_TEXTS = 4

_VERSION = 1
_HEAD = Struct("<BIII")
_SEPARATOR = "\x1e"  # Occurs in no block, since blocks have normalized space and this counts as space.
_compressor, _decompressor = cache(ZstdCompressor), cache(ZstdDecompressor)


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """Return the snapshot as compressed bytes; each path is stored once."""
    distinct = list(dict.fromkeys(snapshot.paths))
    number_of = dict(zip(distinct, range(len(distinct)), strict=True))
    metadata = snapshot.metadata
    texts = (metadata.title, metadata.description, metadata.canonical, metadata.robots, *snapshot.texts)
    encoded = _SEPARATOR.join(texts).encode("utf-8", "surrogatepass")
    raw = b"".join((
        _HEAD.pack(_VERSION, len(snapshot.texts), len(distinct), len(encoded)),
        encoded,
        snapshot.flags,
        array("I", distinct).tobytes(),
        array("H", list(map(number_of.__getitem__, snapshot.paths))).tobytes(),
    ))  # fmt: skip
    return _compressor(level=COMPRESSION_LEVEL, write_checksum=False).compress(raw)


def unpack_snapshot(stored: bytes) -> Snapshot | None:
    """Read a packed snapshot; None if it is damaged."""
    try:
        raw = _decompressor().decompress(stored, max_output_size=MAX_SNAPSHOT_BYTES)
        return _read_snapshot(raw)
    except (ZstdError, error, ValueError, IndexError):
        return None


def _read_snapshot(raw: bytes) -> Snapshot:
    version, blocks, paths, size = _HEAD.unpack_from(raw)
    at = _HEAD.size
    texts = raw[at : at + size].decode("utf-8", "surrogatepass").split(_SEPARATOR)
    at += size
    flags = raw[at : at + blocks]
    at += blocks
    distinct, numbers = array("I"), array("H")
    distinct.frombytes(raw[at : at + 4 * paths])
    numbers.frombytes(raw[at + 4 * paths :])
    if version != _VERSION or not len(texts) - METADATA_TEXTS == len(flags) == len(numbers) == blocks:
        raise ValueError("not a snapshot of this version")
    return Snapshot(
        tuple(distinct[number] for number in numbers),
        flags,
        tuple(texts[METADATA_TEXTS:]),
        SnapshotMetadata(*texts[:METADATA_TEXTS]),
    )
