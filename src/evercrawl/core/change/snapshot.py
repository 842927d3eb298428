"""Snapshots of a version for comparison: blocks of text with their paths and regions, links, images and metadata.
A block is a run of text between block elements. Its path is a hash of the elements around it that mean something, which
a redesign rarely changes; its name path adds class names and wrappers, which tell apart what looks the same."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from functools import cache
from struct import Struct, error
from types import ModuleType
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode
from xxhash import xxh32_intdigest
from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError, frame_content_size

from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.elements import Attributes, Elements, parse_tree, tag_id, tag_ids, text_node_id
from evercrawl.core.document.native_pass import native_module

MAX_CACHED_NAMES = 20_000
MAX_NAMES_CHARS = 500
MAX_WORD_CHARS = 24  # Longer words are generated.
MAX_NAME_DIGITS = 3


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
    is_alone = " " not in names.strip()
    for name in _CAMEL.sub("-", names).lower().split():
        words = [word for word in _NAME_BORDER.split(name) if not _is_generated(word)]
        if not words:
            continue
        kept.append(_DIGITS.sub("#", "-".join(words)))
        if words[0] in _MODIFIER_WORDS:
            continue
        plain = {_DIGITS.sub("", word) for word in words}
        # Beside other names, `online` and the like say how the element is, not what.
        is_site = is_site or (is_alone and name in _SITE_NAMES) or not _SITE_WORDS.isdisjoint(plain)
        is_site_outside = is_site_outside or not _SITE_WORDS_OUTSIDE_MAIN.isdisjoint(plain)
    mark = xxh32_intdigest(" ".join(sorted(set(kept))).encode("utf-8", "surrogatepass")) if kept else 0
    return NameClass(mark, is_site, is_site or is_site_outside)


def _is_generated(word: str) -> bool:
    """Return whether part of a name was generated: a long number, digits among letters, or more letters than a word."""
    if len(word) > MAX_WORD_CHARS or not word:
        return True
    bare = word.strip("0123456789")
    return len(word) - len(bare) > MAX_NAME_DIGITS or any(char.isdigit() for char in bare)


BODY, ARTICLE, MAIN, SITE_BY_NAME, SITE = range(5)
"""Regions: anywhere, in an article, in the main element, part of the site by name or by element."""
REGION_BITS = 0b111
LINKED = 0b1000  # Most of the block is link text, or it is the short text below a link in a list.
HEADLINE = 0b1_0000  # The block is a first-level heading.
PARAGRAPH = 0b10_0000  # A paragraph, or an entry of an ordered list.
ROW = 0b100_0000  # The block is a row of a table, or a cell of one.
ENTRY = 0b1000_0000  # The block is in a list.

INLINE_BORDER = "\u2063"  # Stands in marked texts where an inline element begins or ends.
CELL_BORDER = "\u2064"

MAX_BLOCKS = 20_000
MAX_CHARS = 2_000_000
MAX_SNAPSHOT_LINKS = 4_000
MAX_SIGN_CHARS = 3  # Of a permalink, such as "¶" or " #".
MAX_REFERENCE_CHARS = 500
MAX_MARKED_SPACES = 24  # A text with more spaces is prose, whose inline elements say nothing about its parts.
MIN_LINKED_SHARE = 0.5
CARD_CHARS = 200
MAX_ADVERT_CHARS = 600  # A part of the page with more text is not one advertisement.
MAX_ADVERT_LABEL_CHARS = 120
MAX_ADVERT_SHARE = 0.5  # A page of which more is called advertisement is about that.
MAX_PART_CHARS = 100  # A longer cell, or line before a break, is a block of its own.
SENTENCE_SPACES = 7
SENTENCE_ENDS = ".!?。！？…؟।॥።"

_INLINE, _TEXT, _PHRASE, _LINK, _IMAGE, _BREAK, _CELL, _BLOCK, _LEAF, _PART = range(10)
_HEADER, _ARTICLE, _MAIN, _SITE, _DROP, _CARD, _BUTTON = range(10, 17)
_NAMES = {
    _PHRASE: "b i em strong code tt kbd var samp sub sup abbr cite dfn time small u s q mark data",
    _LINK: "a",
    _IMAGE: "img",
    _BREAK: "br",
    _CELL: "td th",
    _BLOCK: "li dd figcaption address tr blockquote",
    # These hold no other block.
    _LEAF: "p h1 h2 h3 h4 h5 h6 pre listing xmp dt caption summary legend",
    _PART: "div section ul ol dl table tbody thead tfoot figure details center form fieldset hgroup hr",
    _HEADER: "header",
    _ARTICLE: "article",
    _MAIN: "main",
    _SITE: "nav aside footer dialog menu",
    _BUTTON: "button",
    _DROP: "script style noscript template iframe object svg math select textarea input canvas"
    " audio video map title head frameset noframes datalist meter progress embed rp",
}
_TEXT_ID = text_node_id()
_A, _IMG, _TR = tag_id("a"), tag_id("img"), tag_id("tr")
_NO_TAG = -1
_LISTS = tag_ids("ul ol dl menu")
_SECTIONS = tag_ids("section h1 h2 h3 h4 h5 h6")
_OL, _LI = tag_id("ol"), tag_id("li")
_HOLLOW = tag_ids("div section tbody thead tfoot figure details center form fieldset hgroup hr header article main")
"""Elements that say nothing about the text in them; templates wrap and unwrap them."""
_LEAF_FLAGS = {tag_id("h1"): HEADLINE, tag_id("p"): PARAGRAPH}
_KIND_OF = {tag: kind for kind, names in _NAMES.items() for tag in tag_ids(names)} | {_TEXT_ID: _TEXT}
_KINDS = tuple(_KIND_OF.get(tag, _INLINE) for tag in range(max(_KIND_OF) + 1))
# Stable numbers of elements: those of the parser differ between its versions, but paths are stored.
_MARKS = {tag_id(name): number for number, name in enumerate(" ".join(_NAMES.values()).split(), start=1)}
_STEPS = 0x100  # Inside an ordered list; its entries are read in order, like paragraphs.
_FLAG_BITS = 0xFF
_PATH_MIX = 0x9E3779B1
_MASK = 0xFFFFFFFF
_OWN_START, _SITE_START = 1, 2
_ADVERT_MARK = 0xAD
_BORDERS = f"{INLINE_BORDER}{CELL_BORDER} "
_SEGMENT_BORDER = rf"[·•|∙⋅│｜‧・{_BORDERS.strip()}]"
# Paid entries must say so, and stand between the others in the same markup.
_ADVERT_WORDS = (
    r"sponsored(?: (?:post|content|result|listing|link|by))?|promoted(?: (?:by|post))?|paid (?:post|partnership)"
    r"|ads?|advert|advertisement|advertorial|anzeige|werbung|gesponsert|bezahlter inhalt|publicité|sponsorisé|annonce"
    r"|contenu sponsorisé|publicidad|patrocinad[oa]|anuncio|contenido patrocinado|pubblicità|sponsorizzat[oa]|annuncio"
    r"|publicidade|anúncio|advertentie|gesponsord|reclame|annons|sponsrad|annonse|sponset|sponsoreret|mainos"
    r"|sponsoroitu|reklama|sponsorowane|promowane|sponzorováno|inzerce|hirdetés|szponzorált|publicitate|sponsorizat"
    r"|reklam|sponsorlu|реклама|διαφήμιση|χορηγούμενη|إعلان|ممول|מודעה|ממומן|تبلیغ|विज्ञापन|quảng cáo|tài trợ|iklan"
    r"|bersponsor|โฆษณา|広告|スポンサー|广告|廣告|赞助|贊助|광고|스폰서"
)
_ADVERT_LABEL = re.compile(
    rf"(?:^|{_SEGMENT_BORDER})\s*+(?:{_ADVERT_WORDS})\s*+:?(?:$|{_SEGMENT_BORDER})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SnapshotMetadata:
    """What a page says about itself."""

    title: str = ""
    description: str = ""
    canonical: str = ""
    robots: str = ""


class Reference(NamedTuple):
    """A link or image outside the site's parts: what it shows, and its URL as written."""

    path: int
    name: int
    flag: int
    is_image: bool
    label: str  # Text of the link, or alternative text of the image.
    url: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The blocks of a version in order: paths, flags and texts in parallel."""

    paths: tuple[int, ...]
    flags: bytes
    texts: tuple[str, ...]
    metadata: SnapshotMetadata = SnapshotMetadata()
    names: tuple[int, ...] = ()  # Name paths of the blocks.
    marked: tuple[str, ...] = ()  # The texts with borders between inline elements and cells.
    references: tuple[Reference, ...] = ()


def unmarked(text: str) -> str:
    """Return a marked text as readers see it."""
    if CELL_BORDER in text:
        text = " ".join(text.replace(CELL_BORDER, " ").split())
    return text.replace(INLINE_BORDER, "") if INLINE_BORDER in text else text


def take_snapshot(tree: LexborHTMLParser, elements: Elements) -> Snapshot:
    """Return the snapshot of a parsed page."""
    body = tree.body
    if body is None:
        return Snapshot((), b"", (), _metadata(elements))
    paths, names, flags, marked, references = _walk_blocks(body) if _NATIVE is None else _NATIVE.walk_blocks(body)
    return Snapshot(
        tuple(paths),
        flags,
        tuple(map(unmarked, marked)),
        _metadata(elements),
        tuple(names),
        tuple(marked),
        tuple(references),
    )


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
        title=_collapse(elements.title),
        description=named.get("description", ""),
        canonical="".join((canonical or "").split()),
        robots=named.get("robots", "").lower(),
    )


def _collapse(text: str | None) -> str:
    return " ".join((text or "").split())


def _image_url(attributes: Attributes) -> str | None:
    """Return the URL of an image; a script may put it in the place of a small inline image when it is scrolled to."""
    url = attributes.get("src")
    if url and not url.startswith("data:"):
        return url
    return next((value for name, value in attributes.items() if name.startswith("data-") and name.endswith("src")), url)


class _Open(NamedTuple):
    """An element that is open, and what was known outside of it."""

    node: LexborNode
    kind: int
    path: int = 0
    name: int = 0
    flag: int = 0
    card_at: int = 0
    first_text: int = 0


class _BlockWalk:
    """Collects the blocks of one page; path, name, flag and card describe the element that is open."""

    __slots__ = (
        "_inner", "_last", "_last_names", "advert_at", "adverts", "card_at", "card_starts", "chars", "first_reference",
        "flag", "flags", "link_at", "linked", "name", "names", "path", "paths", "pieces", "references", "stack",
        "texts",
    )  # fmt: skip

    def __init__(self) -> None:
        self.paths: list[int] = []
        self.names: list[int] = []
        self.flags: list[int] = []
        self.texts: list[str] = []
        self.references: list[Reference] = []
        self.chars = 0
        self.pieces: list[str] = []
        self.linked = 0  # Characters of the pieces that belong to links.
        self.first_reference = 0  # Of those in the pieces.
        self.path, self.name, self.flag, self.card_at = _OWN_START, _OWN_START, BODY, MAX_BLOCKS
        self.advert_at = MAX_BLOCKS  # Number of the text that says that the part around it is an advertisement.
        self.adverts: list[range] = []  # Texts of advertisements.
        self.link_at = -1  # Number of the last text of a link.
        self.stack: list[_Open] = []
        self.card_starts: list[tuple[int, int]] = []  # Numbers of reference and first text of the open cards.
        self._last = (_NO_TAG, _NO_TAG, _NO_TAG, _NO_TAG)
        self._last_names = UNNAMED
        self._inner = (_NO_TAG, _NO_TAG, _NO_TAG)

    def flush(self) -> None:
        """Make one block of the pieces."""
        text = " ".join("".join(self.pieces).split()).strip(_BORDERS)
        linked, self.linked = self.linked, 0
        first, self.first_reference = self.first_reference, len(self.references)
        self.pieces.clear()
        if not text:
            return
        is_linked = linked > MIN_LINKED_SHARE * len(text)
        if is_linked:
            self.references[first:] = [link._replace(flag=link.flag | LINKED) for link in self.references[first:]]
        parts = [text]
        if text.count(" ") > MAX_MARKED_SPACES and INLINE_BORDER in text:
            # A long run of links is a list; in prose, inline elements say nothing about its parts.
            parts = text.split(INLINE_BORDER) if is_linked else [text.replace(INLINE_BORDER, "")]
        for part in parts:
            if kept := part.strip(_BORDERS):
                self._add(kept, self.path, self.name, self.flag, is_linked=is_linked)

    def open_card(self, node: LexborNode) -> None:
        """Open a link that holds blocks; all their texts are link texts."""
        if self.pieces:
            self.flush()
        self.card_starts.append((len(self.references), len(self.texts)))
        self.add_reference(node, node.text_lexbor(), is_image=False)
        self.first_reference = len(self.references)
        self.stack.append(_Open(node, _CARD, self.path, self.name, self.flag, self.card_at, len(self.texts)))

    def close_card(self) -> None:
        """Close a link that holds blocks; it stands where the first of them does."""
        number, at = self.card_starts.pop()
        if number < len(self.references) and at < len(self.texts):
            path, name, flag = self.paths[at], self.names[at], self.flags[at]
            self.references[number] = self.references[number]._replace(path=path, name=name, flag=flag)

    def begin_part(self, text: str) -> None:
        """Make a block of the cells and lines before a long text."""
        if len(text) > MAX_PART_CHARS and CELL_BORDER in self.pieces:
            self.flush()

    def end_part(self, *, is_cell: bool) -> None:
        """End a cell or line: a long one is a block, as in pages laid out with tables."""
        # Neither how the source is indented nor other cells, such as an age, may move the border of a block.
        start = len(self.pieces)
        while start > 0 and not (is_cell and self.pieces[start - 1] == CELL_BORDER):
            start -= 1
        if sum(len(_collapse(piece)) for piece in self.pieces[start:]) > MAX_PART_CHARS:
            self.flush()
        elif self.pieces:
            self.pieces.append(CELL_BORDER)

    def _add(self, text: str, path: int, name: int, flag: int, *, is_linked: bool) -> None:
        if is_linked or self.card_starts or self._is_card_text(text):
            flag |= LINKED
        if is_linked or self.card_starts:
            self.link_at = len(self.texts)
        if len(text) <= MAX_ADVERT_LABEL_CHARS and (label := _ADVERT_LABEL.search(text)):
            # A link with this text alone leads to a page about advertising.
            self.advert_at = self.advert_at if is_linked and label[0] == text else len(self.texts)
        self.flags.append(flag & _FLAG_BITS)
        self.texts.append(text)
        self.paths.append(path)
        self.names.append(name)
        self.chars += len(text)

    def _is_card_text(self, text: str) -> bool:
        """Return whether a text is short and stands below a link in the same entry or row, as on cards."""
        card_at, flags = self.card_at, self.flags
        if card_at >= len(flags) or not flags[card_at] & LINKED or len(text) >= CARD_CHARS:
            return False
        return text.count(" ") < SENTENCE_SPACES or text[-1] not in SENTENCE_ENDS

    def leave(self, opened: _Open) -> None:
        """Close an element that holds blocks."""
        if self.pieces:
            self.flush()
        if self.advert_at < MAX_BLOCKS:
            self.close_advert(opened.first_text)
        self.path, self.name, self.flag, self.card_at = opened.path, opened.name, opened.flag, opened.card_at
        if opened.kind == _CARD:
            self.close_card()

    def close_advert(self, first: int) -> None:
        """Note the texts from `first` on if they are an entry that says it is an advertisement."""
        if self.advert_at < first or self.link_at < first:
            return
        self.advert_at = MAX_BLOCKS
        if sum(map(len, self.texts[first:])) <= MAX_ADVERT_CHARS:
            self.adverts.append(range(first, len(self.texts)))

    def set_adverts_apart(self) -> None:
        """Make advertisements a part of the site, unless the page has little else, as one of classified ads."""
        adverts = [at for advert in self.adverts for at in advert]
        if sum(len(self.texts[at]) for at in adverts) > MAX_ADVERT_SHARE * self.chars:
            return
        for at in adverts:
            self.flags[at] = self.flags[at] & ~REGION_BITS | SITE_BY_NAME
            self.paths[at], self.names[at] = (
                (path * _PATH_MIX + _ADVERT_MARK) & _MASK for path in (self.paths[at], self.names[at])
            )

    def add_reference(self, node: LexborNode, label: str, *, is_image: bool) -> None:
        """Note the URL of a link or image, unless it is in an element for parts of the site."""
        if self.flag & REGION_BITS == SITE or len(self.references) >= MAX_SNAPSHOT_LINKS:
            return
        attributes = node.attributes
        url = _image_url(attributes) if is_image else attributes.get("href")
        if url and len(url) <= MAX_REFERENCE_CHARS and not url.startswith("data:"):
            shown = _collapse(attributes.get("alt")) if is_image else _collapse(label)
            flag = self.flag & _FLAG_BITS
            self.references.append(
                Reference(self.path, self.name, flag, is_image, shown[:CARD_CHARS], " ".join(url.split()))
            )

    def add_link(self, node: LexborNode, text: str) -> None:
        """Add the text of a link to the pieces, unless it is a permalink; if it has none, its image."""
        if text and not text.isspace():
            if len(text) <= MAX_SIGN_CHARS and not any(map(str.isalnum, text)) and _leads_into_page(node):
                return
            self.pieces.append(f"{INLINE_BORDER}{_link_text(node, text)}{INLINE_BORDER}")
            self.linked += len(text)
            self.add_reference(node, text, is_image=False)
        elif (image := node.css_first("img")) is not None:
            self.add_reference(image, "", is_image=True)

    def add_button(self, node: LexborNode) -> None:
        """Add the label of a button as a block of the site that does not interrupt the text around it."""
        label = _collapse(node.text_lexbor())
        if label and len(self.texts) < MAX_BLOCKS:
            mark = _MARKS[node.tag_id]
            path, name = ((start * _PATH_MIX + mark) & _MASK for start in (_SITE_START, self.name))
            self._add(label, path, name, SITE, is_linked=True)

    def enter(self, node: LexborNode, child: LexborNode, kind: int, tag: int) -> bool:
        """Add an element that holds a single text as a block, or open it and return True."""
        attributes = node.attributes
        if not attributes:
            names = UNNAMED
        elif len(attributes) == 1 and "class" in attributes:
            names = NAME_CLASSES[attributes["class"] or ""]
        else:
            names = _name_class(attributes, tag)
        # Siblings are often alike, and then have the same paths.
        now = (self.path, self.name, self.flag, tag)
        if now != self._last or names is not self._last_names:
            self._last, self._last_names = now, names
            self._inner = _inside(kind, tag, names, self.path, self.name, self.flag)
        path, name, flag = self._inner
        only = child.tag_id if child.next is None else _NO_TAG
        text: str | None = None
        if only == _TEXT_ID:
            text = child.text_content
        elif only == _A and not _holds_blocks(child):
            text = child.text_lexbor()
            if text and not text.isspace():
                outside = (self.path, self.name, self.flag)
                self.path, self.name, self.flag = path, name, flag | LINKED
                self.add_reference(child, text, is_image=False)
                self.path, self.name, self.flag = outside
                self.first_reference = len(self.references)
                text = _link_text(child, text).strip(_BORDERS)
            else:
                text = None
        if text is None:
            self.stack.append(_Open(node, kind, self.path, self.name, self.flag, self.card_at, len(self.texts)))
            self.path, self.name, self.flag = path, name, flag
            if kind == _BLOCK:
                self.card_at = len(self.texts)
            return True
        text = " ".join(text.split())
        if text:
            self._add(text, path, name, flag, is_linked=only == _A)
        return False


def _holds_blocks(link: LexborNode) -> bool:
    """Return whether a link is around whole blocks, as the cards of overviews are."""
    child = link.first_child
    while child is not None:
        if _BLOCK <= (_KINDS[child.tag_id] if child.tag_id < len(_KINDS) else _INLINE) < _DROP:
            return True
        child = child.next
    return False


def _leads_into_page(link: LexborNode) -> bool:
    return (link.attributes.get("href") or "").startswith("#")


def _link_text(node: LexborNode, text: str) -> str:
    """Return the text of a link with borders around the elements in it, such as an age before a title."""
    child = node.first_child
    if child is None or child.next is None:
        return text
    parts = []
    while child is not None:
        is_text = child.tag_id == _TEXT_ID
        parts.append(child.text_content or "" if is_text else f"{INLINE_BORDER}{child.text_lexbor()}{INLINE_BORDER}")
        child = child.next
    return "".join(parts)


def _inside(kind: int, tag: int, names: NameClass, path: int, name: int, flag: int) -> tuple[int, int, int]:
    """Return path, name path and flag inside an element."""
    region = flag & REGION_BITS
    inner = _region(kind, region, names) if kind > _PART or names.is_site_outside else region
    is_step = tag == _LI and flag & _STEPS
    kept = ROW | ENTRY | PARAGRAPH if flag & ENTRY and tag in _HOLLOW else ROW | ENTRY
    flag = (flag & kept) | inner
    if kind == _LEAF:
        flag |= _LEAF_FLAGS.get(tag, 0)
    elif is_step:
        flag |= PARAGRAPH
    elif tag in _LISTS:
        flag |= ENTRY | (_STEPS if tag == _OL else 0)
    elif tag == _TR:
        flag = (flag | ROW) & ~ENTRY
    mark = _MARKS[tag]
    name = (name * _PATH_MIX + mark + names.mark) & _MASK
    if inner != region and inner >= SITE_BY_NAME:
        path = _SITE_START
    if tag not in _HOLLOW:
        path = (path * _PATH_MIX + mark) & _MASK
    return path, name, flag


_Blocks = tuple[list[int], list[int], bytes, list[str], list[Reference]]
"""Paths, name paths, flags, marked texts and references."""


def _walk_blocks(body: LexborNode) -> _Blocks:
    """Split the page into blocks in one pass."""
    walk = _BlockWalk()
    pieces, stack, texts = walk.pieces, walk.stack, walk.texts
    kinds, known_kinds, text_id = _KINDS, len(_KINDS), _TEXT_ID
    node: LexborNode | None = body.first_child
    while True:
        if node is None:
            if not stack:
                break
            opened = stack.pop()
            node, kind = opened.node, opened.kind
            if kind >= _BLOCK:
                walk.leave(opened)
            elif kind == _CELL:
                walk.end_part(is_cell=True)
            else:
                pieces.append(INLINE_BORDER)
            node = node.next
            continue
        tag = node.tag_id
        kind = kinds[tag] if tag < known_kinds else _INLINE
        if kind == _TEXT:
            text = node.text_content
            if text and (pieces or not text.isspace()):
                walk.begin_part(text)
                pieces.append(text)
        elif kind == _LINK:
            if _holds_blocks(node):
                walk.open_card(node)
                node = node.first_child
                continue
            walk.add_link(node, node.text_lexbor())
        elif kind == _PHRASE:
            pieces.append(f"{INLINE_BORDER}{node.text_lexbor()}{INLINE_BORDER}")
        elif kind == _IMAGE:
            walk.add_reference(node, "", is_image=True)
        elif kind == _BREAK:
            walk.end_part(is_cell=False)
        elif kind == _BUTTON:
            walk.add_button(node)
        elif kind <= _CELL:
            child = node.first_child
            if child is not None:
                if kind == _INLINE and child.next is None and child.tag_id == text_id:
                    walk.begin_part(child.text_content or "")
                    pieces.append(f"{INLINE_BORDER}{child.text_content or ''}{INLINE_BORDER}")
                else:
                    if kind == _INLINE:
                        pieces.append(INLINE_BORDER)
                    stack.append(_Open(node, kind))
                    node = child
                    continue
        elif kind != _DROP:
            if pieces:
                walk.flush()
            if walk.chars > MAX_CHARS or len(texts) >= MAX_BLOCKS:
                break
            child = node.first_child
            if child is not None and walk.enter(node, child, kind, tag):
                node = child
                continue
        node = node.next
    if pieces:
        walk.flush()
    if walk.adverts:
        walk.set_adverts_apart()
    return walk.paths, walk.names, bytes(walk.flags), walk.texts, walk.references


def _name_class(attributes: Attributes, tag: int) -> NameClass:
    classes = names = attributes.get("class") or ""
    if identity := attributes.get("id"):
        names = f"{names} {identity}"
    found = NAME_CLASSES[names]
    if found.is_site_outside and identity and (tag in _SECTIONS or "section" in classes.split()):
        # The id of a section is its heading: one called "copyright" is no part of the site.
        found = NAME_CLASSES[classes]._replace(mark=found.mark)
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


def _advert_label(text: str) -> str | None:
    label = _ADVERT_LABEL.search(text)
    return label[0] if label else None


def _load_native() -> ModuleType | None:
    """Return the native module with the rules of this one."""
    module = native_module()
    if module is not None:
        module.setup_snapshots({
            "kinds": bytes(_KINDS),
            "marks": _MARKS,
            "hollow": set(_HOLLOW),
            "lists": set(_LISTS),
            "sections": set(_SECTIONS),
            "leaf_flags": _LEAF_FLAGS,
            "ol": _OL,
            "li": _LI,
            "tr": _TR,
            "roles": set(_ROLES),
            "advert_starts": {word[:2] for word in re.split(r"[^\w ]+", _ADVERT_WORDS)},
            "segment_borders": _SEGMENT_BORDER[1:-1],
            "sentence_ends": SENTENCE_ENDS,
            "name_class": NAME_CLASSES.__getitem__,
            "advert_label": _advert_label,
            "reference": Reference,
            "max_blocks": MAX_BLOCKS,
            "max_chars": MAX_CHARS,
            "max_links": MAX_SNAPSHOT_LINKS,
            "max_sign_chars": MAX_SIGN_CHARS,
            "max_reference_chars": MAX_REFERENCE_CHARS,
            "max_marked_spaces": MAX_MARKED_SPACES,
            "min_linked_share": MIN_LINKED_SHARE,
            "card_chars": CARD_CHARS,
            "max_advert_chars": MAX_ADVERT_CHARS,
            "max_advert_label_chars": MAX_ADVERT_LABEL_CHARS,
            "max_advert_share": MAX_ADVERT_SHARE,
            "max_part_chars": MAX_PART_CHARS,
            "sentence_spaces": SENTENCE_SPACES,
            "max_cached_names": MAX_CACHED_NAMES,
        })  # fmt: skip
    return module


_NATIVE = _load_native()

COMPRESSION_LEVEL = 1  # Level 3 saves 3 % of the bytes and takes 40 % longer.
MAX_SNAPSHOT_BYTES = 4 * MAX_CHARS + 16 * MAX_BLOCKS + 1_000_000  # A larger snapshot is damaged.

METADATA_TEXTS = 4

_VERSION = 2
_HEAD = Struct("<BIIII")
_SEPARATOR = "\x1e"  # Occurs in no block, since blocks have normalized space and this counts as space.
_compressor, _decompressor = cache(ZstdCompressor), cache(ZstdDecompressor)


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """Return the snapshot as compressed bytes; each path is stored once."""
    references = snapshot.references
    paths = (*snapshot.paths, *snapshot.names, *(path for link in references for path in link[:2]))
    distinct = list(dict.fromkeys(paths))
    number_of = dict(zip(distinct, range(len(distinct)), strict=True))
    metadata = snapshot.metadata
    texts = [metadata.title, metadata.description, metadata.canonical, metadata.robots, *snapshot.marked]
    for link in references:
        texts += (f"{'!' if link.is_image else '@'}{link.label}", link.url)
    encoded = _SEPARATOR.join(texts).encode("utf-8", "surrogatepass")
    raw = b"".join((
        _HEAD.pack(_VERSION, len(snapshot.texts), len(references), len(distinct), len(encoded)),
        encoded,
        snapshot.flags,
        bytes(link.flag for link in references),
        array("I", distinct).tobytes(),
        array("H", [number_of[path] for path in paths]).tobytes(),
    ))  # fmt: skip
    return _compressor(level=COMPRESSION_LEVEL, write_checksum=False).compress(raw)


def unpack_snapshot(stored: bytes) -> Snapshot | None:
    """Read a packed snapshot; None if it is damaged."""
    try:
        if frame_content_size(stored) > MAX_SNAPSHOT_BYTES:
            return None
        return _read_snapshot(_decompressor().decompress(stored, max_output_size=MAX_SNAPSHOT_BYTES))
    except (ZstdError, error, ValueError, IndexError):
        return None


def _read_snapshot(raw: bytes) -> Snapshot:
    version, blocks, links, paths, size = _HEAD.unpack_from(raw)
    at = _HEAD.size
    texts = raw[at : at + size].decode("utf-8", "surrogatepass").split(_SEPARATOR)
    at += size
    flags = raw[at : at + blocks + links]
    at += blocks + links
    distinct, numbers = array("I"), array("H")
    distinct.frombytes(raw[at : at + 4 * paths])
    numbers.frombytes(raw[at + 4 * paths :])
    is_whole = len(texts) == METADATA_TEXTS + blocks + 2 * links and len(flags) == blocks + links
    if version != _VERSION or not is_whole or len(numbers) != 2 * (blocks + links):
        raise ValueError("not a snapshot of this version")
    if any(flag & REGION_BITS > SITE for flag in set(flags)):
        raise ValueError("a block in a region that does not exist")
    path_of = [distinct[number] for number in numbers]
    marked, shown = tuple(texts[METADATA_TEXTS : METADATA_TEXTS + blocks]), texts[METADATA_TEXTS + blocks :]
    link_paths = path_of[2 * blocks :]
    references = zip(link_paths[::2], link_paths[1::2], flags[blocks:], shown[::2], shown[1::2], strict=True)
    return Snapshot(
        tuple(path_of[:blocks]),
        flags[:blocks],
        tuple(map(unmarked, marked)),
        SnapshotMetadata(*texts[:METADATA_TEXTS]),
        tuple(path_of[blocks : 2 * blocks]),
        marked,
        tuple(
            Reference(path, name, flag, label[:1] == "!", label[1:], url) for path, name, flag, label, url in references
        ),
    )
