"""Detection of what is not content: by class and id, by attributes and size, and by known phrases.
Classes and ids are words in some language (`post-meta`, `relatedArticles`, `c-share__list`), split and looked up. The
result for each combination is cached, since a site uses few of them very often."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from evercrawl.core.document.word_lists import read_lists

NEUTRAL, MAIN_PART, CONTENT, ASIDE, LAYOUT_ASIDE, SMALL_ASIDE = range(6)
LINKED_ASIDE, SURE_ASIDE, COMMENTS, CONTENTS, ASIDE_TAG = range(6, 11)
"""What names say: nothing; the middle of the page; content; not content, most likely (ASIDE), unless a layout, if
small, if links, for sure; comments and tables of contents, which are content where a page has nothing else; an aside
element."""

NAMES = {kind: frozenset(names) for kind, names in read_lists("evercrawl.core.document", "names.txt").items()}
_BODY_PAIRS = {f"{text} {part}" for text in NAMES["texts"] for part in NAMES["parts of texts"]} | NAMES["bodies"]
# `hidden`, but not `field-label-hidden`.
_HIDING_WORDS = frozenset(("hidden", "hide", "noprint", "print"))
_BY_STRENGTH = (SURE_ASIDE, ASIDE, COMMENTS, CONTENTS, LAYOUT_ASIDE, SMALL_ASIDE, LINKED_ASIDE, CONTENT, MAIN_PART)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD_BORDER = re.compile(r"[-_:.]+")

MAX_CACHED_NAMES = 20_000
MAX_CLASS_CHARS = 500
MAX_ID_CHARS = 24  # Longer ids are generated.
_cache: dict[str, int] = {}


def classify_names(classes: str | None, element_id: str | None) -> int:
    """Return what class and id of an element say together."""
    result = _classify_cached(classes) if classes else NEUTRAL
    if element_id and len(element_id) <= MAX_ID_CHARS and element_id.replace("-", "").replace("_", "").isalpha():
        other = _classify_cached(element_id)
        if other != result:
            return _combine((result, other))
    return result


def _classify_cached(names: str) -> int:
    result = _cache.get(names)
    if result is None:
        if len(_cache) >= MAX_CACHED_NAMES:
            _cache.clear()
        result = _combine([_classify_name(name) for name in names[:MAX_CLASS_CHARS].split()])
        _cache[names] = result
    return result


def _combine(classes_found: Sequence[int]) -> int:
    if CONTENT in classes_found and not {ASIDE, COMMENTS, CONTENTS} & {*classes_found} and max(classes_found) > CONTENT:
        # The names contradict each other.
        return NEUTRAL
    return next((result for result in _BY_STRENGTH if result in classes_found), NEUTRAL)


def _classify_name(name: str) -> int:
    if "[" in name or "(" in name:  # How it looks, such as `[--sidebar-width:220px]`.
        return NEUTRAL
    words = [word for word in _WORD_BORDER.split(_CAMEL.sub("-", name).lower()) if word]
    # A page `with-sidebar` is not a sidebar, and a post tagged `tag-comments` holds no comments.
    is_random = name.isalnum() and len(words) > 2 and sum(map(len, words)) < 4 * len(words)  # Such as `hJpAdR`.
    if not words or words[0] in NAMES["modifiers"] or "for" in words or "nav-content" in name or is_random:
        return NEUTRAL
    if NAMES["comments"].isdisjoint(words):
        return _classify_words(words)
    return ASIDE if _classify_words([word for word in words if word not in NAMES["comments"]]) > CONTENT else COMMENTS


def _classify_words(words: list[str]) -> int:
    if words and words[-1] in _HIDING_WORDS and len(words) < 3:
        return SMALL_ASIDE
    pairs = {f"{first} {second}" for first, second in pairwise(words)}
    if len(words) == 1 and words[0] in NAMES["sure asides"]:
        return SURE_ASIDE
    if words[-1:] == ["toc"] or "tableofcontents" in words or "of contents" in pairs:
        return CONTENTS
    is_layout = not NAMES["layouts"].isdisjoint(words)
    if not NAMES["asides"].isdisjoint(words) or (is_layout and len(words) == 1):
        return ASIDE
    if is_layout:
        return LAYOUT_ASIDE
    if not NAMES["small asides"].isdisjoint(words) or not NAMES["small asides"].isdisjoint(pairs):
        return SMALL_ASIDE
    if not NAMES["linked asides"].isdisjoint(words):
        return LINKED_ASIDE
    if not NAMES["bodies"].isdisjoint(words) or not _BODY_PAIRS.isdisjoint(pairs):
        return CONTENT
    return MAIN_PART if "".join(words) in NAMES["middles"] else NEUTRAL


_VERBS = "edit|delete|remove|reply|quote|login|logout|signin|signup|register|subscribe|unsubscribe|vote|flag"
_VIEWS = "history|revisions|diff|info|print|share|watch|report"
_VERB_NAMES = frozenset(("", *_VERBS.split("|"), "history", "diff", "info", "print", "share", "watch", "report"))
_ACTION = re.compile(
    rf"javascript:|[?&](?:action|do|cmd|op|task|mode)=(?:{_VERBS}|{_VIEWS})\b"
    rf"|/(?:{_VERBS})/?(?:[?#]|\Z)",
    re.IGNORECASE,
)

ACTION_WORDS = ("javascript:", *_VERBS.split("|"), *_VIEWS.split("|"))  # A URL without any of them is no command.
MAX_COMMAND_WORDS = 4


_STEP = re.compile(r"(?:prev(?:ious)?|next)\b(?: by \w+:|:)|(?:prev(?:ious)?|next)(?: \w+)?\Z", re.IGNORECASE)


def is_step_label(text: str) -> bool:
    """Return whether a line with a link begins like "Next:" or is no more than "Previous page"."""
    return text[:4].lower() in ("prev", "next") and _STEP.match(text) is not None


def is_action(href: str, label: str) -> bool:
    """Return whether a link is a command of the software, such as edit or log in, not a page to read.
    Wikis let links to pages that do not exist yet lead to their editor; such a link names the page."""
    if _ACTION.search(href) is None or "redlink=" in href or label.count(" ") >= MAX_COMMAND_WORDS:
        return False
    name = _letters_and_digits(label)
    return name in _VERB_NAMES or name not in _letters_and_digits(unquote(href))


def _letters_and_digits(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


MAX_SMALL_ASIDE_CHARS = 400  # Characters of a byline, a caption or a row of share buttons.
MIN_LARGE_CHARS = 250  # Fewer characters cannot be the content by mistake.
MAX_ASIDE_PROSE_CHARS = 1000  # Characters of paragraphs outside links in a sidebar.
USUAL_LINK_CHARS = 15  # Characters of a link in a list of links.
MAX_DOUBTED_CHARS = 2_000_000
"""Characters of checked parts that were kept; beyond this nothing more is excluded, since checking takes time."""

_ROLES = "navigation banner contentinfo complementary search menu menubar toolbar dialog alert tablist"
_ASIDE_ROLES = frozenset(_ROLES.split())


class BoilerplateFilter:
    """Decides which parts of one page to exclude.
    Elements in `mistaken` are kept whatever their names say; None keeps all."""

    __slots__ = ("_doubted", "_keeps", "_mistaken", "chars", "large")

    def __init__(self, mistaken: frozenset[int] | None, keeps: frozenset[int]) -> None:
        self._keeps = keeps
        """What names may say that is kept all the same."""
        self.chars = {COMMENTS: 0, CONTENTS: 0, SMALL_ASIDE: 0, LINKED_ASIDE: 0}
        """Characters of what was excluded."""
        self._mistaken = mistaken or frozenset()
        self._doubted = 0 if mistaken is not None else MAX_DOUBTED_CHARS + 1
        self.large: list[tuple[LexborNode, int, int]] = []
        """The larger excluded elements with what their names say and their characters."""

    def excludes(self, node: LexborNode, place: int) -> bool:
        """Return whether to exclude an element whose attributes say `place`."""
        if place <= CONTENT or node.mem_id in self._mistaken or self._doubted > MAX_DOUBTED_CHARS:
            return False
        if place == SURE_ASIDE:
            return True
        if place == ASIDE_TAG and _is_believed(node, place, 0):
            return True
        if place == CONTENTS and _leads_into_page(node):
            return True
        text = node.text_lexbor()
        size = len(text)
        if place in self._keeps or place == ASIDE_TAG or not _is_believed(node, place, size):
            self._doubted += size
            return False
        if place in self.chars:
            self.chars[place] += len(" ".join(text.split())) if size < MAX_SMALL_ASIDE_CHARS else size
        if size > MIN_LARGE_CHARS:
            self.large.append((node, place, size))
        return True


def _leads_into_page(contents: LexborNode) -> bool:
    """Return whether the first link of a table of contents leads to a part of the same page."""
    link = contents.css_first("a[href]")
    return link is not None and is_anchor(link.attributes.get("href") or "")


def is_anchor(href: str) -> bool:
    """Return whether a link leads to a part of its page, and not to a page of an application as `#/list` does."""
    return href[:1] == "#" and href[1:2] not in ("/", "!")


def classify_attributes(attributes: Mapping[str, str | None]) -> int:
    """Return what the attributes of an element say about it."""
    classes = attributes.get("class")
    if len(attributes) == 1 and classes:
        return classify_names(classes, None)
    role = attributes.get("role")
    if role in _ASIDE_ROLES or "hidden" in attributes or "data-nosnippet" in attributes:
        return ASIDE
    style = attributes.get("style")
    if style and "none" in style and "display:none" in style.replace(" ", ""):
        return ASIDE
    if role == "doc-toc":
        return CONTENTS
    if role == "main" or attributes.get("itemprop") == "articleBody":
        return CONTENT
    slot = attributes.get("data-slot")  # The name of a component where classes only say how it looks.
    if slot and "-" not in slot:  # `sidebar-inset` is what stands beside a sidebar.
        classes = f"{slot} {classes or ''}"
    return classify_names(classes, attributes.get("id"))


_NOTE_NAMES = frozenset(
    ("footnote", "footnotes", "citation", "admonition", "topic", "note", "tip", "warning", "important")
)


def is_note(attributes: Mapping[str, str | None]) -> bool:
    """Return whether an aside element is a footnote or a remark of the author."""
    role = attributes.get("role") or ""
    names = (attributes.get("class") or "").lower().replace("-", " ").split()
    return role == "note" or role.startswith("doc-") or not _NOTE_NAMES.isdisjoint(names)


def unlinked_chars(node: LexborNode) -> int:
    """Return the characters outside links; 0 if there is hardly anything but links."""
    links = node.css("a")
    chars = _chars(node.text_lexbor())
    if len(links) * USUAL_LINK_CHARS >= chars:
        return 0
    return chars - _chars("".join([link.text_lexbor() for link in links]))


def _chars(text: str) -> int:
    return len("".join(text.split()))


def _is_believed(node: LexborNode, place: int, size: int) -> bool:
    if place == ASIDE_TAG:
        return node.css_first("article h1") is None
    if place == SMALL_ASIDE:
        return size <= MAX_SMALL_ASIDE_CHARS
    if place == LINKED_ASIDE:
        return size <= MAX_SMALL_ASIDE_CHARS and node.css_first("a") is not None
    if place == LAYOUT_ASIDE and size > MAX_ASIDE_PROSE_CHARS:
        return sum(map(unlinked_chars, node.css("p"))) <= MAX_ASIDE_PROSE_CHARS
    return True


KEEP, DROP_LINE, DROP_SECTION = range(3)  # Keep a line, drop it, or drop it with the section it announces.

MAX_PHRASE_CHARS = 60
MAX_LINE_CHARS = 120  # Longer paragraphs are always kept.
KEY_CHARS = 4

CREDIT_WORDS = "image|photo|picture|pic|foto|bild|credit|source|quelle|imagen|crédit|fuente"
AGENCIES = "getty|ap|afp|reuters|dpa|istock|shutterstock"
_CREDIT_AT_END = re.compile(
    rf"\((?:{CREDIT_WORDS})s?\b[^()]*\)$"
    rf"|(?:/|photo by |via |image: |©)\s*(?:{AGENCIES})(?: images)?\)?$",
    re.IGNORECASE,
)
_SERVER_SIGNATURE = re.compile(r".* Server at \S+ Port \d+")
_CREDIT_ENDS = (")", "Images", "Reuters", "AP")
_TRAILING = " :.…!?*#|>»"
_COUNT_LINE = re.compile(
    r"\d+ (?:comments?|thoughts? on|responses?|replies|reply|shares?|kommentare?|commentaires?|comentarios?"
    r"|comentários?|commenti?|reacties?|комментари|views?|likes?|min(?:ute)?s? read)\b",
    re.IGNORECASE,
)


PHRASES = read_lists(
    "evercrawl.core.document", "phrases.txt"
)  # Whole lines, with any punctuation at their ends, and starts of lines.
_RIGHTS = tuple(PHRASES["rights"])
_WHOLE_LINES = dict.fromkeys(PHRASES["lines"], DROP_LINE) | dict.fromkeys(PHRASES["sections"], DROP_SECTION)
_LINE_START_ACTIONS = dict.fromkeys(PHRASES["line starts"], DROP_LINE) | dict.fromkeys(
    PHRASES["section starts"], DROP_SECTION
)
_BY_KEY: dict[str, list[str]] = {}
for _phrase in _LINE_START_ACTIONS:
    _BY_KEY.setdefault(_phrase[:KEY_CHARS], []).append(_phrase)
for _phrase in _WHOLE_LINES:
    _BY_KEY.setdefault(_phrase[:KEY_CHARS], [])
# Phrases shorter than the key.
_SHORT_STARTS = tuple(phrase for phrase in _LINE_START_ACTIONS if len(phrase) < KEY_CHARS)
_UNKEYED_FIRST = frozenset("0123456789").union(phrase[0] for phrase in _SHORT_STARTS)


def classify_line(text: str) -> int:
    """Return what to do with a short line."""
    starts = _BY_KEY.get(text[:KEY_CHARS].lower())
    if starts is not None:
        lowered = text[:MAX_PHRASE_CHARS].lower()
        for phrase in starts:
            if lowered.startswith(phrase) and not lowered[len(phrase) : len(phrase) + 1].isalpha():
                return _LINE_START_ACTIONS[phrase]
        if len(text) < MAX_PHRASE_CHARS and (action := _WHOLE_LINES.get(lowered.rstrip(_TRAILING))):
            return action
    if text[0] in _UNKEYED_FIRST:
        return _classify_unkeyed(text)
    return DROP_LINE if text.endswith(_CREDIT_ENDS) and _CREDIT_AT_END.search(text) else KEEP


def _classify_unkeyed(text: str) -> int:
    if text.startswith(_SHORT_STARTS):
        return DROP_LINE
    counted = _COUNT_LINE.match(text) if len(text) < MAX_PHRASE_CHARS else None
    if counted is None:
        return KEEP
    return DROP_SECTION if "thought" in counted[0] else DROP_LINE


def is_copyright_notice(text: str) -> bool:
    """Return whether the line claims rights."""
    lowered = text.lower()
    return any(claim in lowered for claim in _RIGHTS) or _SERVER_SIGNATURE.fullmatch(text) is not None


CLOSING_SIGNS = "\"'”’»)"
_FINAL_SIGNS = (".", "!", "?", "。", ":", "")
MAX_LABEL_WORDS = 8
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b\d{1,2}:\d\d\b")


_CODE_SIGNS = frozenset("=;{}<>$")


def is_label(text: str) -> bool:
    """Return whether a short line is a name, an address or a date: most of its words are capitalised or numbers."""
    words = text.split()
    if text[0] in "—–" or not _CODE_SIGNS.isdisjoint(text) or len(words) > MAX_LABEL_WORDS:
        return False  # A dash precedes the signature below a quotation or a foreword.
    named = sum(word[0].isupper() or word[0].isdigit() or "@" in word or ".com/" in word for word in words)
    return named * 2 >= sum(len(word) > SMALL_WORD_CHARS or word[0].isupper() for word in words) and named > 0


def is_note_of_change(text: str) -> bool:
    """Return whether a last line says when the page was written: a date in something that is no sentence."""
    return text.rstrip(CLOSING_SIGNS)[-1:] not in _FINAL_SIGNS and _DATE.search(text) is not None


def is_date_line(text: str) -> bool:
    """Return whether a line says when something was written, and perhaps by whom."""
    return is_note_of_change(text) and is_label(text)


SMALL_WORD_CHARS = 3


_CREDIT_STARTS = ("photo:", "photo by ", "photos:", "image:", "foto:", "fotos:", "bild:", "credit:", "©")
_CREDIT_LETTERS = frozenset(start[0] for start in _CREDIT_STARTS).union(start[0].upper() for start in _CREDIT_STARTS)


def is_credit(text: str) -> bool:
    """Return whether a line names the source of a picture."""
    return text[0] in _CREDIT_LETTERS and text[:10].lower().startswith(_CREDIT_STARTS)


MAX_STEP_CHARS = 30
ARROWS = frozenset("«»‹›←→⟵⟶<>⇐⇒")
_PAGER_PART = re.compile(r"[\W_]*\d{0,4}[\W_]*")


def is_step(text: str) -> bool:
    """Return whether a short line leads to the next or previous page: it begins or ends with an arrow."""
    return len(text) < MAX_STEP_CHARS and (text[0] in ARROWS or text[-1] in ARROWS)


def is_pager_part(text: str) -> bool:
    """Return whether a line is a part of a list of pages: a number, or a step."""
    return _PAGER_PART.fullmatch(text) is not None or is_step(text)


_FIELD = re.compile(r"\w[^:.!?]{1,30}:(?: |\Z)")


def count_fields(text: str) -> int:
    """Return how many names with values are in a line, such as the properties of a ticket."""
    return len(_FIELD.findall(text))
