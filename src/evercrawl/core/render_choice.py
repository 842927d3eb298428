"""Whether a page has to be rendered by a browser: evidence in its markup, and what rendering added to pages like it.
A page with scripts and hardly any text of its own is rendered. A few pages of a URL pattern are compared with and
without scripts; where these add nothing, the pattern is not rendered again until its scripts change or a month has
passed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.document.html import parse_page
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.embedded_state import MAX_PATHS, EmbeddedSample, word_digest
from evercrawl.core.traps.url_pattern import shape_of
from evercrawl.model.fetch import Fetched, Headers

SHELL_CHARS = 200  # A page with scripts and less visible text than this, and without links, is an application shell.
GAP_CHARS = 200  # A page with scripts has a gap if it has less text of its own, besides links, headings and page parts,
FORM_GAP_CHARS = 60  # or less than this if it asks for input: scripts show what was searched for.
MAX_GAP_CHARS = 2000  # A page with more visible text has no gap.
MIN_ADDED_WORDS, MIN_ADDED_SHARE = 5, 0.01  # Words that scripts must add to count as a gain.
MAX_MISSES = {"shell": 2, "gap": 2, "app": 1, "scripted": 1}
"""Renders in a row that add nothing before pages of this kind and pattern are no longer rendered."""
MAX_SITE_MISSES = {"shell": 6, "gap": 4, "app": 3, "scripted": 0}
"""Fruitless renders of a site without any gain before its pages of this kind are no longer sampled."""
MIN_APP_GAINS = 2  # Gains of a pattern before its pages, which have content, are rendered without comparing.
MIN_PROOFS = 2  # Rendered pages whose content was in their data before the browser is spared.
MAX_OPEN_GAINS = 3  # Pages of a pattern that are compared with their data one after the other.
GAINS_PER_MISS = 5  # A pattern, and a site, may have one fruitless render more for this many gains.
RECHECK_DAYS = 30  # A pattern without gains is sampled again after this time,
CHANGED_RECHECK_DAYS = 1  # or after this time if its scripts have changed.
MAX_PATTERNS = 256  # Patterns kept per site; the oldest are dropped.
MAX_PATTERN_PAGES = 64  # Pages of a pattern that are known to have gained.
MAX_ADDITIONS = 400  # Words and links remembered that scripts add to many pages alike.
PLACEHOLDER_CHARS = (
    20  # An element with less text may be waiting for a script, and so may a page without a place to fill.
)
MAX_LISTED_IDS = 30
ESTIMATED_BYTES = 64 * 1024  # How much of a page is read to see whether it has much text.

_SCRIPT = re.compile(rb"<script", re.IGNORECASE)
# Code that does not end takes the rest of the page with it, as in a browser.
_CODE_BLOCK = re.compile(rb"<(script|style|noscript|template)\b(?:.*?</\1|.*\Z)", re.IGNORECASE | re.DOTALL)
_CODE_OR_TEXT = re.compile(_CODE_BLOCK.pattern + rb"|>\s*(?P<text>[^<>\s][^<>]{2,})(?=<)", _CODE_BLOCK.flags)
_FILLING = ((b"getElementById", b"querySelector"), (b"fetch(", b"XMLHttpRequest", b"innerHTML", b"append"))
"""Code that finds a place in the page, and code that fills one."""
_DATA_TYPE = re.compile(r"(?!.*(?:javascript|ecmascript|jscript))[\w.+-]+/[\w.+-]+|importmap|speculationrules", re.I)
_LOADS_CODE = re.compile(r"""\bimport\b\s*[(\w"'{*]|\bcustomElements\s*\.\s*define\b|\bcreateElement\(["']script""")
"""Code in a page that loads more code, or makes elements of its own: it can show as much as a file can."""
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\W{_UNSPACED}]+")  # Thai and Chinese have no spaces: two signs are a word.
_CODE = "script,style,noscript,template"
_HEADINGS = "h1,h2,h3,h4,h5,h6"
_PAGE_PARTS = "nav,header,footer,aside,form,button,select,label"
_PART_TAGS = frozenset(_PAGE_PARTS.split(","))
_NOT_OWN = _PART_TAGS.union(_CODE.split(","), _HEADINGS.split(","), "a")
_TEXT_PLACES = "p,li,dd,td,pre,blockquote"
_PART_ROLES = frozenset(("navigation", "search", "banner", "contentinfo", "complementary"))
_LISTS = frozenset(("main", "ul", "ol", "dl", "tbody"))  # Made to hold something, also without a name.
_PLACES = _LISTS | {"div", "section", "article", "table", "p"}
_FINDS = re.compile("id$|class$|data-")  # Attributes that code finds an element by.
_TEMPLATED = re.compile(r"(?!data-(?!hx)|aria-|accept-|xml|xlink|epub)[^-:@]*[-:@]")  # As in v-for, @click, hx-get.
_IS_SHOWN = "img,svg,picture,video,audio,canvas,iframe,object,embed,input,button,select,textarea,hr,math"
_WAITING = re.compile(r"load|spinner|skeleton|placeholder|shimmer|progress", re.IGNORECASE)
_LOADING = re.compile(r"(?:loading|please wait|wird geladen|chargement|cargando|carregando|загрузка)\b", re.IGNORECASE)
_LOADING_MARKS = (b"oading...<", "oading…<".encode(), b"skeleton", b'aria-busy="true"')
"""What is in pages of which a part says that it loads, in English; others are noticed if they have less text."""
_APP_SCRIPT = re.compile(
    rb"<script[^<>]{0,300}?(?:type=[\"']?module\b|/_next/|/_nuxt/|runtime[~-]main|webpack|htmx|alpine|livewire|turbo|hotwire|qwik)"
)
_APP_MARKS = (b"__sveltekit_", b"<astro-island")
"""What web frameworks leave in the pages of an application, also in those that the server rendered."""
_CLEARS = re.compile(r"clear|separator|divider|spacer", re.IGNORECASE)  # Empty elements that serve the layout.
_QUERY_FORM = "form[action] input[name][type=text],form[action] input[name][type=search]"
_INPUTS = "input:not([type]),input[type=text],input[type=search],textarea"


class ScriptUse(StrEnum):
    """What the markup of a page says about its scripts."""

    NONE = "none"  # It has none that could add anything.
    SCRIPTED = "scripted"  # It has scripts, and content without them.
    APP = "app"  # The same, but its scripts are an application that can show more.
    GAP = "gap"  # It has a place that scripts seem to fill.
    SHELL = "shell"  # It is empty without them.


class Evidence(NamedTuple):
    """What speaks for rendering a page, before it is rendered."""

    use: ScriptUse
    words: str = ""  # In words, for `why`.
    scripts: int = 0  # Digest of the scripts.


NO_SCRIPTS = Evidence(ScriptUse.NONE)


class PageSketch(NamedTuple):
    """The visible words and the links of a page."""

    words: Counter[str]
    links: frozenset[str]
    chars: int = 0


class Gain(NamedTuple):
    """What rendering added to a page."""

    words: int
    links: int
    chars_before: int
    chars: int
    additions: frozenset[int] = frozenset()  # Digests of the added words and links.

    def __str__(self) -> str:
        return f"{self.chars_before:,} characters of text before, {self.chars:,} after; {self.links:,} more links"


class PatternRenders(NamedTuple):
    """What renders of one URL pattern brought."""

    gains: int = 0
    misses: int = 0  # Renders in a row that added nothing.
    day: int = 0  # Day of the last render, since 1970.
    scripts: int = 0
    paths: tuple[str, ...] = ()  # Where the data of these pages has their content.
    labels: tuple[int, ...] = ()  # What is not in the data of the first page that was compared with it.
    proofs: int = 0  # Pages in a row whose content was in their data, but for the labels.
    pages: tuple[int, ...] = ()  # Digests of the pages that gained last.


@dataclass(frozen=True, slots=True)
class SiteRendering:
    """What rendering brought on one site. Bounded, whatever the site does."""

    patterns: dict[str, PatternRenders] = field(default_factory=dict)
    gains: int = 0
    misses: int = 0
    additions: frozenset[int] = frozenset()  # What scripts added to pages of this site before.


class RenderChoice(NamedTuple):
    """Whether a page is rendered, and why."""

    should_render: bool
    why: str = ""
    is_proven: bool = False  # Pages like it gained before: nothing has to be compared.
    paths: tuple[str, ...] = ()  # Not rendered, because the content is in the data of the page at these paths.


# Before rendering


def evidence_in(answer: Fetched) -> Evidence:
    """Return what speaks for rendering an answer."""
    body = answer.body
    if _SCRIPT.search(body) is None or sniff_media_type(answer.headers, body) not in HTML_TYPES:
        return NO_SCRIPTS
    is_app = _APP_SCRIPT.search(body) is not None or any(mark in body for mark in _APP_MARKS)
    has_marks = is_app or any(mark in body for mark in _LOADING_MARKS)
    if not has_marks and _has_much_text(body) and not _fills_places(body):
        return Evidence(ScriptUse.SCRIPTED, "scripts beside the content")
    page = parse_page(answer.headers, body)
    if any((meta.get("http-equiv") or "").lower() == "refresh" for meta in page.elements.metas):
        return NO_SCRIPTS
    evidence = _evidence(page.tree, is_query="?" in answer.url)
    if is_app and evidence.use is ScriptUse.SCRIPTED:
        return Evidence(ScriptUse.APP, "an application that can show more", evidence.scripts)
    return evidence


def _has_much_text(body: bytes) -> bool:
    """Return whether a page surely has too much text for a gap, without parsing it."""
    left = 2 * MAX_GAP_CHARS
    for run in _CODE_OR_TEXT.finditer(body, 0, ESTIMATED_BYTES):  # A cut can only lose text, never add any.
        left -= len(run["text"] or b"")
        if left < 0:
            return True
    return False


def _fills_places(body: bytes) -> bool:
    """Return whether code in a page may fill a place of the page; text about such code does not count."""
    if not _names_filling(body):
        return False
    return _names_filling(b"\n".join(block[0] for block in _CODE_BLOCK.finditer(body)))


def _names_filling(code: bytes) -> bool:
    return all(any(word in code for word in words) for words in _FILLING)


def _evidence(tree: LexborHTMLParser, *, is_query: bool) -> Evidence:
    sources, code = _scripts(tree)
    if tree.body is None or not (sources or code):
        return NO_SCRIPTS
    digest = word_digest("\n".join(sorted(sources)))
    filled = _filled_by(tree, code)
    waits_for_query = not is_query and tree.css_first(_QUERY_FORM) is not None
    if filled is not None and waits_for_query and "search" in filled.lower():
        filled = None
    if filled is None and _has_own_text(tree.body):
        if sources and _is_loading(tree.body):
            return Evidence(ScriptUse.GAP, "scripts, and a part of the page says that it loads", digest)
        return Evidence(ScriptUse.SCRIPTED, "scripts beside the content", digest)
    visible = visible_text(tree.body)
    if len(visible) < SHELL_CHARS and not _links(tree):
        words = f"an empty application shell: {len(visible)} characters of text, no links, and scripts"
        return Evidence(ScriptUse.SHELL, words, digest)
    if filled is not None:
        return Evidence(ScriptUse.GAP, f"a script in the page fills the element #{filled[:40]}", digest)
    if len(visible) < MAX_GAP_CHARS and sources:
        asks = tree.body.css_first(_INPUTS) is not None
        is_open = _has_place(tree.body, waits_for_query=waits_for_query)
        _remove(tree, f"{_PAGE_PARTS},{_HEADINGS}")
        listed = len(visible_text(tree.body))
        _remove(tree, "a")
        own = len(visible_text(tree.body))
        if own < (FORM_GAP_CHARS if asks else GAP_CHARS) and (is_open or listed < PLACEHOLDER_CHARS):
            words = f"scripts, and only {own} characters of text besides links, headings, header and footer"
            return Evidence(ScriptUse.GAP, words, digest)
    return Evidence(ScriptUse.SCRIPTED, "scripts beside the content", digest)


def _has_own_text(body: LexborNode) -> bool:
    """Return whether the text right inside paragraphs, cells and items is surely enough: it mostly is, and soon."""
    left = GAP_CHARS
    for node in body.css(_TEXT_PLACES):
        text = " ".join(node.text(deep=False).split())
        if len(text) >= PLACEHOLDER_CHARS and not _is_inside(node, _NOT_OWN):
            left -= len(text)
            if left <= 0:
                return True
    return False


def _scripts(tree: LexborHTMLParser) -> tuple[list[str], str]:
    """Return the addresses of the scripts of a page, and the code in the page itself."""
    sources, code = [], []
    for node in tree.css("script"):
        if _DATA_TYPE.fullmatch((node.attributes.get("type") or "").strip()):
            continue
        source = node.attributes.get("src")
        if source:
            sources.append(source)
        else:
            code.append(text := node.text() or "")
            if _LOADS_CODE.search(text):
                sources.append("loaded by code in the page")
    return sources, "\n".join(code)


def _filled_by(tree: LexborHTMLParser, code: str) -> str | None:
    """Return the id of an element with no text, or only a few words such as `Loading`, that code in the page names."""
    if not code:
        return None
    for node in tree.css("div[id],main[id],section[id],article[id],ul[id],ol[id],tbody[id],p[id]")[:MAX_LISTED_IDS]:
        name = node.attributes.get("id") or ""
        # The cheapest question first: most elements are not named in any code.
        if len(name) < 2 or name not in code or not re.search(rf"""["'`#]{re.escape(name)}["'`]""", code):
            continue
        if node.css_first("a,img,input,button") is None and len((node.text() or "").strip()) < PLACEHOLDER_CHARS:
            return name
    return None


def _has_place(body: LexborNode, *, waits_for_query: bool) -> bool:
    """Return whether an element waits for content: an empty one, one that says that it loads, or a template.
    The results of a search form are no content as long as nothing was asked for."""
    for node in body.css("*"):
        names = " ".join(f"{key} {value}" for key, value in node.attributes.items() if _FINDS.match(key))
        is_result = waits_for_query and "search" in names.lower()
        if _waits(node, node.tag or "", names) and not is_result and not _is_inside(node, _PART_TAGS):
            return True
    return False


def _waits(node: LexborNode, tag: str, names: str) -> bool:
    if any(_TEMPLATED.match(key) for key in node.attributes):
        return True
    if (tag not in _PLACES and "-" not in tag) or _CLEARS.search(names) or node.css_first(_IS_SHOWN) is not None:
        return False
    text = (node.text() or "").strip()
    if not text:
        return bool(names) or "-" in tag or tag in _LISTS
    is_short = len(text) < 2 * PLACEHOLDER_CHARS
    says_so = is_short and (_WAITING.search(names) is not None or text.endswith(("...", "…")))
    return says_so or "{{" in text or (tag == "table" and node.css_first("td") is None)


def _is_loading(body: LexborNode) -> bool:
    """Return whether a part of a page with text of its own says that it loads."""
    for node in body.css("p,div,section,li,td,span"):
        attributes, text = node.attributes, (node.text(deep=False) or "").strip()
        is_empty = attributes.get("aria-busy") == "true" or "skeleton" in (attributes.get("class") or "")
        says_so = len(text) < 2 * PLACEHOLDER_CHARS and _LOADING.match(text) and text.endswith(("...", "…"))
        if (says_so or (is_empty and not text)) and not _is_inside(node, _PART_TAGS):
            return True
    return False


def _is_inside(node: LexborNode | None, tags: frozenset[str]) -> bool:
    """Return whether a node is one of these elements or a part of the page beside its content, or inside one."""
    while node is not None:
        if node.tag in tags or node.attributes.get("role") in _PART_ROLES:
            return True
        node = node.parent
    return False


def _links(tree: LexborHTMLParser) -> frozenset[str]:
    found = {(node.attributes.get("href") or "").partition("#")[0].strip() for node in tree.css("a[href],area[href]")}
    return frozenset(href for href in found if href and not href.lower().startswith("javascript:"))


def _remove(tree: LexborHTMLParser, selector: str) -> None:
    for node in tree.css(selector):
        if node.parent is not None:
            node.decompose()


def visible_text(body: LexborNode) -> str:
    """Return the text of a page without code, with single spaces. It removes code from the tree."""
    for node in body.css(_CODE):
        node.decompose()
    return " ".join(body.text(separator=" ").split())


def choose_rendering(site: SiteRendering, url: str, evidence: Evidence, *, mode: str, today: int) -> RenderChoice:
    """Return whether to render a page. `mode`: auto, never or always."""
    if mode == "never":
        return RenderChoice(False)
    if mode == "always":
        return RenderChoice(True, "the settings say so", is_proven=True)
    use = evidence.use
    if use is ScriptUse.NONE:
        return RenderChoice(False)
    known = site.patterns.get(_key(use, url))
    most = MAX_MISSES[use] + (known.gains // GAINS_PER_MISS if known is not None else 0)
    if known is not None and known.misses >= most:
        if word_digest(url) in known.pages:
            return RenderChoice(True, evidence.words, is_proven=True)
        days = today - known.day
        has_new_scripts = known.scripts != evidence.scripts and days >= CHANGED_RECHECK_DAYS
        if not has_new_scripts and days < RECHECK_DAYS:
            return RenderChoice(False, f"scripts add nothing to pages like {shape_of(url)}, as {most} showed")
        return RenderChoice(True, evidence.words)
    if known is not None and known.gains:
        is_known = known.scripts == evidence.scripts and today - known.day < RECHECK_DAYS
        if is_known and known.proofs >= MIN_PROOFS:
            return RenderChoice(False, "its content is in the page as data", paths=tuple(known.paths))
        is_open = 0 < known.proofs < MIN_PROOFS and known.gains <= MAX_OPEN_GAINS
        is_first = use is ScriptUse.APP and known.gains < MIN_APP_GAINS
        return RenderChoice(True, evidence.words, is_proven=not (is_open or is_first))
    if use is ScriptUse.SCRIPTED and not site.gains:
        return RenderChoice(False)
    if site.misses >= MAX_SITE_MISSES[use] + site.gains / GAINS_PER_MISS:
        return RenderChoice(False, "scripts added nothing to other pages of this site")
    return RenderChoice(True, evidence.words)


def _key(use: ScriptUse, url: str) -> str:
    return f"{use} {shape_of(url)}"


# After rendering


def sketch_of(headers: Headers, body: bytes) -> PageSketch:
    """Return the visible words and the links of a page."""
    tree = parse_page(headers, body).tree
    if tree.body is None:
        return PageSketch(Counter(), frozenset())
    links, text = _links(tree), visible_text(tree.body)
    return PageSketch(Counter(_WORD.findall(text.lower())), links, len(text))


def gain_of(before: PageSketch, after: PageSketch, *, use: ScriptUse = ScriptUse.SHELL) -> Gain:
    """Return what rendering added. In a page that has content without scripts only words that it does not have count:
    scripts like to say it again, as in a table of contents."""
    added, links = after.words - before.words, after.links - before.links
    if use in (ScriptUse.APP, ScriptUse.SCRIPTED):
        added = Counter({word: count for word, count in added.items() if word not in before.words})
    digests = frozenset(word_digest(one) for one in (*added, *links))
    return Gain(added.total(), len(links), before.chars, after.chars, digests)


def is_worth(gain: Gain, site: SiteRendering, evidence: Evidence, words: int) -> bool:
    """Return whether scripts added something of its own to a page with this many words.
    What they add to every page alike, such as a banner or a menu, counts once."""
    is_enough = gain.words >= MIN_ADDED_WORDS or (gain.words > 0 and gain.chars_before == 0)
    is_more = gain.links > 0 or (is_enough and gain.words >= MIN_ADDED_SHARE * words)
    return is_more and (evidence.use is ScriptUse.SHELL or not gain.additions <= site.additions)


def after_render(
    site: SiteRendering,
    url: str,
    evidence: Evidence,
    *,
    gain: Gain | None,
    is_gain: bool,
    today: int,
    sample: EmbeddedSample | None = None,
) -> SiteRendering:
    """Return what is known about a site after a render; `gain` None: the page could not be rendered.
    `sample`: where the data of the page has its content."""
    if evidence.use is ScriptUse.NONE or gain is None:
        return site
    key = _key(evidence.use, url)
    known = site.patterns.get(key, PatternRenders())
    embedded = _after_sample(known, sample)
    page = word_digest(url)
    is_gain = is_gain or (page in known.pages and (gain.words >= MIN_ADDED_WORDS or gain.links > 0))
    misses = 0 if is_gain else known.misses + 1
    pages = tuple(one for one in known.pages if one != page) + (page,) * is_gain
    known = PatternRenders(
        known.gains + is_gain, misses, today, evidence.scripts, *embedded, pages[-MAX_PATTERN_PAGES:]
    )
    patterns = {name: stats for name, stats in site.patterns.items() if name != key}
    while len(patterns) >= MAX_PATTERNS:
        del patterns[next(iter(patterns))]
    patterns[key] = known
    additions = site.additions
    if evidence.use is not ScriptUse.SHELL and len(additions) < MAX_ADDITIONS:
        additions |= frozenset(sorted(gain.additions)[: MAX_ADDITIONS - len(additions)])
    return replace(
        site, patterns=patterns, gains=site.gains + is_gain, misses=site.misses + (not is_gain), additions=additions
    )


def _after_sample(known: PatternRenders, sample: EmbeddedSample | None) -> tuple[tuple[str, ...], tuple[int, ...], int]:
    """Return paths, labels and proofs after another page. What is not in the data must be the same on each page."""
    if sample is None:
        return (), (), 0
    if known.proofs and sample.labels <= frozenset(known.labels):
        return tuple(dict.fromkeys((*known.paths, *sample.paths)))[:MAX_PATHS], tuple(known.labels), known.proofs + 1
    return sample.paths, tuple(sorted(sample.labels)), 1


# Storage


def site_rendering_bytes(site: SiteRendering) -> bytes:
    """Return the state as bytes."""
    return orjson.dumps(
        [site.gains, site.misses, sorted(site.additions), {name: [*one] for name, one in site.patterns.items()}]
    )


def site_rendering_of(stored: bytes | None) -> SiteRendering:
    """Return a stored state; empty if there is none, or it cannot be read."""
    try:
        gains, misses, additions, patterns = orjson.loads(stored or b"")
        return SiteRendering(
            {name: PatternRenders(*stats) for name, stats in patterns.items()}, gains, misses, frozenset(additions)
        )
    except (ValueError, TypeError):
        return SiteRendering()
