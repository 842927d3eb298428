"""What is this page about? Its main text, without navigation, headers, footers and the like.

The container whose paragraphs are worth most in sum is the main one; if most of that lies in a part that
the page itself calls its text, that part is. What announces other pages, the title again, credits, and loose
lines before the first and behind the last sentence are left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, islice
from operator import itemgetter
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.core.document.boilerplate import (
    DROP_SECTION,
    LAYOUT_ASIDE,
    MAX_LINE_CHARS,
    classify_attributes,
    classify_line,
    is_copyright_notice,
    unlinked_chars,
)
from evercrawl.core.document.paragraphs import (
    HEADING,
    ITEM,
    LINKED_HEADING,
    LINKS,
    MAX_LINKS_COST,
    SENTENCE_ENDS,
    STUB,
    TEXT,
    Paragraph,
    ParagraphRange,
    Paragraphs,
    split_paragraphs,
)

MIN_TEXT_CHARS: Final = 250
"""With less than this found, look again."""
MAX_EXCLUDED_RATIO: Final = 3
"""So many times the text found may a part be that was left out for its name."""
MAX_PASSES = 2
"""At parts whose names may have led us astray; layouts lie in layouts."""
MAX_DESCENDANTS = 20_000
CLEARLY_BETTER_RATIO = 1.2
BODY_SHARE = 0.8
"""So much of the worth must lie in a part that the page calls its text."""
MAX_TEASER_CHARS = 600
MIN_TEASERS = 3
MAX_TEASER_SHARE = 0.8
"""A page with a greater share of teasers is an index; they are its content."""
MAX_LEADS = 2
MIN_LEAD_CHARS = 60
MIN_TITLE_CHARS: Final = 20
"""A heading below the first level repeats the title if it is at least so long."""
MAX_ANNOUNCEMENT_CHARS: Final = 100
MAX_LOOSE_LINE_CHARS: Final = 120
MAX_LAST_LINE_CHARS: Final = 200
MAX_LOOSE_ENDS = 3
"""More short lines at the end than these are a list, not loose ends."""


_worth_of = itemgetter(2)


class MainTextCandidate(NamedTuple):
    """What was taken for the main text, and how much the container that it comes from is worth."""

    blocks: list[str]
    worth: int
    size: int


def extract_main_text(body: LexborNode, *, most_chars: int, title: str | None = None) -> str:
    """The main text, one paragraph a line, preformatted text with its lines; the title is not repeated."""
    return "\n".join(main_text_blocks(body, title=title))[:most_chars]


def main_text_blocks(body: LexborNode, *, title: str | None = None) -> list[str]:
    """The paragraphs of the main text; all of the page where no container stands out."""
    found = split_paragraphs(body)
    choice = _chosen(found, title)
    doubted: list[LexborNode] = []
    for _ in range(MAX_PASSES):
        parts = _mistaken(found, choice.size)
        if not parts:
            break
        doubted += parts
        again = split_paragraphs(body, mistaken=_identities(doubted))
        other = _chosen(again, title)
        if choice.size >= MIN_TEXT_CHARS and other.worth <= CLEARLY_BETTER_RATIO * choice.worth:
            break
        found, choice = again, other
    if choice.size < MIN_TEXT_CHARS and doubted:
        found = split_paragraphs(body, mistaken=_identities(_named_alike(doubted)))
        choice = _chosen(found, title)
    if not found.all:
        found = split_paragraphs(body, mistaken=None)
    return choice.blocks if choice.size >= MIN_TEXT_CHARS else _everything(found, choice)


def _identities(nodes: list[LexborNode]) -> frozenset[int]:
    return frozenset(node.mem_id for node in nodes)


def _mistaken(found: Paragraphs, size: int) -> list[LexborNode]:
    """Parts left out for their names that hold so much that the names must have another meaning here."""
    parts = []
    for node, place, chars in found.asides:
        enough = max(MIN_TEXT_CHARS, size if place == LAYOUT_ASIDE else MAX_EXCLUDED_RATIO * size)
        if chars > enough and unlinked_chars(node) > enough:
            parts.append(node)
    return parts


def _named_alike(parts: list[LexborNode]) -> list[LexborNode]:
    """The parts with all inside them that is named as they are: a thread of comments is so on every level."""
    alike = []
    for node in parts:
        place = classify_attributes(node.attributes)
        inside = islice(node.traverse(), MAX_DESCENDANTS)
        alike += [part for part in inside if classify_attributes(part.attributes) == place]
    return alike


def _everything(found: Paragraphs, choice: MainTextCandidate) -> list[str]:
    """All paragraphs of a page with little text, unless the little is most of it."""
    texts = [text for text, kind, _ in found.all if kind != LINKS] or [text for text, _, _ in found.all]
    size = sum(map(len, texts))
    return texts if size < MIN_TEXT_CHARS or size > MAX_EXCLUDED_RATIO * choice.size else choice.blocks


def _chosen(found: Paragraphs, title: str | None) -> MainTextCandidate:
    """The text of the container that holds the greatest worth."""
    _demote_teasers(found)
    sums = list(accumulate(map(_worth_of, found.all), initial=0))
    most, first, last = sums[-1], 0, len(found.all)
    for start, end in found.containers:
        worth = sums[end] - sums[start]
        if worth > most or (worth == most and end - start < last - first):
            most, first, last = worth, start, end
    lead: list[str] = []
    for start, end in found.bodies:
        if first <= start and end <= last and sums[end] - sums[start] >= BODY_SHARE * most:
            lead = _lead(found.all, first, start)
            first, last = start, end
            break
    blocks = lead + _pruned(found, first, last, (title or "").lower())
    size = sum(map(len, blocks))
    if size < MIN_TEXT_CHARS:
        blocks = [text for text, kind, _ in found.all[first:last] if kind != LINKS]
        size = sum(map(len, blocks))
    return MainTextCandidate(blocks, most, size)


def _lead(paragraphs: list[Paragraph], first: int, start: int) -> list[str]:
    """The sentences between the title and the body."""
    lead: list[str] = []
    for text, kind, _ in reversed(paragraphs[first:start]):
        if kind == TEXT and len(text) > MIN_LEAD_CHARS and text[-1] in SENTENCE_ENDS:
            lead.append(text)
        elif kind in (HEADING + 1, LINKED_HEADING + 1):
            return lead[::-1] if len(lead) <= MAX_LEADS else []
    return []


def _demote_teasers(found: Paragraphs) -> None:
    """Make links of the short texts below headings that lead elsewhere: they are about other pages."""
    paragraphs = found.all
    headings = found.linked_headings
    if len(headings) < MIN_TEASERS:
        return
    ends = _container_ends(found.containers, headings)
    teasers = [(at, _next_heading(paragraphs, at + 1, ends.get(at, at + 1))) for at in headings]
    teasers = [(at, end) for at, end in teasers if _size(paragraphs[at + 1 : end]) <= MAX_TEASER_CHARS]
    teased = sum(_size(paragraphs[at + 1 : end]) for at, end in teasers)
    if len(teasers) < MIN_TEASERS or teased > MAX_TEASER_SHARE * sum(max(worth, 0) for *_, worth in paragraphs):
        return
    for at, end in teasers:
        paragraphs[at:end] = [(text, LINKS, -MAX_LINKS_COST) for text, _, _ in paragraphs[at:end]]


def _size(paragraphs: Iterable[Paragraph]) -> int:
    return sum(len(text) for text, _, _ in paragraphs)


def _next_heading(paragraphs: list[Paragraph], at: int, end: int, level: int = LINKED_HEADING) -> int:
    """The first heading not below the level, or the end."""
    while at < end and not HEADING < paragraphs[at][1] <= level and paragraphs[at][1] <= LINKED_HEADING:
        at += 1
    return at


def _container_ends(containers: list[ParagraphRange], places: Iterable[int]) -> dict[int, int]:
    """For each paragraph the end of the smallest container that goes on behind it."""
    waiting = sorted(places)
    ends: dict[int, int] = {}
    for start, end in containers:
        low, high = bisect_left(waiting, start), bisect_left(waiting, end - 1)
        if low < high:
            ends.update(dict.fromkeys(waiting[low:high], end))
            del waiting[low:high]
    return ends


def _pruned(found: Paragraphs, first: int, last: int, title: str) -> list[str]:
    """The paragraphs of a container without those that are not of its text."""
    paragraphs = found.all
    kept: list[Paragraph] = []
    ends: dict[int, int] | None = None
    at = first
    while at < last:
        paragraph = text, kind, _ = paragraphs[at]
        at += 1
        if kind == LINKS:
            continue
        if not ITEM <= kind < HEADING:
            if len(text) < MAX_LINE_CHARS and (meaning := classify_line(text)):
                if meaning == DROP_SECTION:
                    if ends is None:
                        ends = _container_ends(found.containers, _headings(paragraphs))
                    at = _section_end(paragraphs, at - 1, last, ends)
                continue
            if kind > HEADING and title and _repeats(title, text, kind):
                continue
            if at < last and paragraphs[at][1] == LINKS and _only_announces(paragraphs, at - 1, last):
                continue
        kept.append(paragraph)
    return [text for text, _, _ in _trimmed(kept)]


def _headings(paragraphs: list[Paragraph]) -> list[int]:
    return [at for at, (_, kind, _) in enumerate(paragraphs) if kind > HEADING]


def _repeats(title: str, text: str, kind: int) -> bool:
    is_top = kind in (HEADING + 1, LINKED_HEADING + 1)
    return (is_top or len(text) >= MIN_TITLE_CHARS) and text.lower() in title


def _section_end(paragraphs: list[Paragraph], at: int, last: int, ends: dict[int, int]) -> int:
    """Where that ends which a line like "Related articles" announces: behind a heading with its section, else
    with the first sentence.
    """
    kind = paragraphs[at][1]
    if kind > HEADING:
        return _next_heading(paragraphs, at + 1, min(ends.get(at, last), last), kind)
    at += 1
    while at < last and paragraphs[at][1] in (LINKS, STUB, ITEM):
        at += 1
    return at


def _only_announces(paragraphs: list[Paragraph], at: int, last: int) -> bool:
    """The line stands before links that are left out, and has nothing else to stand before."""
    text, kind, _ = paragraphs[at]
    if kind == TEXT and not (len(text) < MAX_ANNOUNCEMENT_CHARS and text[-1] in ":?…"):
        return False
    behind = at + 1
    while behind < last and paragraphs[behind][1] == LINKS:
        behind += 1
    if kind < HEADING:
        return behind - at > 2 or behind == last
    return behind == last or HEADING < paragraphs[behind][1] <= kind


def _trimmed(kept: list[Paragraph]) -> list[Paragraph]:
    """Without dates, names and buttons before the first sentence and behind the last."""
    end = len(kept)
    while end and _is_loose_end(*kept[end - 1]):
        end -= 1
    if len(kept) - end > MAX_LOOSE_ENDS:
        end = len(kept)
    start = 0
    while start < end and _is_loose_start(*kept[start]):
        start += 1
    return [paragraph for paragraph in kept[:start] if paragraph[1] > HEADING] + kept[start:end]


def _is_loose_end(text: str, kind: int, worth: int) -> bool:
    if kind != TEXT or len(text) >= MAX_LAST_LINE_CHARS:
        return kind == STUB or kind > HEADING
    has_link = worth < len(text)
    return (has_link and text[-1] not in ".。:") or is_copyright_notice(text)


def _is_loose_start(text: str, kind: int, _worth: int) -> bool:
    if kind == TEXT:
        return len(text) < MAX_LOOSE_LINE_CHARS and text[-1] not in SENTENCE_ENDS
    return kind == STUB or kind > HEADING
