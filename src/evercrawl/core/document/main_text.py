"""Extraction of the main text of a page, without navigation, headers, footers and the like.
The container with the highest score is the main one, or the part of it that the page marks as its text if that has most
of the score. Teasers, the repeated title, credits, and loose lines at both ends are left out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from operator import itemgetter
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.core.document.boilerplate import (
    ARROWS,
    CLOSING_SIGNS,
    COMMENTS,
    CONTENTS,
    DROP_SECTION,
    LAYOUT_ASIDE,
    LINKED_ASIDE,
    MAX_LINE_CHARS,
    SMALL_ASIDE,
    classify_line,
    count_fields,
    is_copyright_notice,
    is_credit,
    is_date_line,
    is_label,
    is_note_of_change,
    is_pager_part,
    is_step,
    unlinked_chars,
)
from evercrawl.core.document.interface_lines import without_interface_lines
from evercrawl.core.document.paragraphs import (
    HEADING,
    ITEM,
    LABEL,
    LINKED_HEADING,
    LINKED_ITEM,
    LINKS,
    MAX_LINKS_COST,
    PRE,
    SENTENCE_ENDS,
    SHORT_CHARS,
    STUB,
    TEXT,
    TOOL,
    Paragraph,
    ParagraphRange,
    Paragraphs,
    split_paragraphs,
)

MIN_TEXT_CHARS: Final = 250  # With less text than this, search again.
MAX_EXCLUDED_RATIO: Final = 3  # An excluded part with more than this many times the text found was excluded by mistake.
MAX_PASSES = 2  # Passes over parts excluded by mistake; layouts can be nested.
MAX_LIST_RATIO: Final = 2.5  # A page with this many times more characters in lists than in its text is a list.
MAX_ARTICLE_LIST_RATIO: Final = 6.0  # The same for a text of several paragraphs.
MIN_ARTICLE_CHARS: Final = 600
MIN_ARTICLE_PARAGRAPHS: Final = 3
MIN_PART_SHARE: Final = 0.5  # A container with less of the middle of the page is only a part of the text.
MIN_MIDDLE_SHARE: Final = 0.5  # Share of the page that its middle has.
CLEARLY_BETTER_RATIO = 1.2
BODY_SHARE = 0.8  # Share of the score that a part marked as text must have.
MIN_ENTRY_SHARE: Final = 0.7
MAX_FIELD_ROWS: Final = 60  # Fields stand at the top.
MAX_SMALL_RATIO: Final = 1.5  # Pictures and bylines with more than this many times the text are entries.
MIN_FORM_LABELS: Final = 3
MIN_TICKET_FIELDS: Final = 9  # An entry of a list or a row counts twice.
MAX_CHARS_BEFORE_TITLE: Final = 150
MAX_TEASER_CHARS = 600
MIN_TEASERS = 3
MAX_TEASER_SHARE = 0.8  # A page with a greater share of teasers is an index; they are its content.
MAX_LEADS = 2
MIN_LEAD_CHARS = 60
MIN_TITLE_CHARS: Final = 20  # A heading below the first level repeats the title if it is at least this long.
MAX_ANNOUNCEMENT_CHARS: Final = 100
MAX_LOOSE_LINE_CHARS: Final = 120
MAX_LAST_LINE_CHARS: Final = 200
MAX_STRAY_LINKS: Final = 5
MIN_STRAY_CHARS: Final = 20  # Headlines are longer than entries of most lists.
MIN_PROSE_RATIO: Final = 10
MAX_LOOSE_ENDS = 3  # More short lines at the end are a list.
_FINAL_SIGNS: Final = (".", "!", "?", "。", ":", "…", "")
_ENTRY_KINDS: Final = (STUB, ITEM, LINKED_ITEM, LINKS)
_LINK_KINDS: Final = (LINKS, LINKED_ITEM, TOOL)
_score_of = itemgetter(2)


class MainTextCandidate(NamedTuple):
    """The blocks taken for the main text, and the score of their container."""

    blocks: list[str]
    score: int
    size: int


def extract_main_text(body: LexborNode, *, most_chars: int, title: str | None = None) -> str:
    """Return the main text, one paragraph per line, without the title."""
    return without_interface_lines("\n".join(main_text_blocks(body, title=title))[:most_chars])


def main_text_blocks(body: LexborNode, *, title: str | None = None) -> list[str]:
    """Return the paragraphs of the main text; all of the page if no container stands out."""
    found = split_paragraphs(body)
    candidate = _choose(found, title)
    doubted: list[LexborNode] = []
    keeps: frozenset[int] = frozenset()
    for _ in range(MAX_PASSES):
        parts = _excluded_by_mistake(found, candidate.size)
        is_thread = found.excluded_chars[COMMENTS] > 0 and _is_thread(found, candidate.size)
        if not parts and not is_thread:
            break
        doubted += [node for node, place in parts if place != COMMENTS]
        if is_thread or any(place == COMMENTS for _, place in parts):
            keeps |= {COMMENTS}
        again = split_paragraphs(body, mistaken=_node_ids(doubted), keeps=keeps)
        other = _choose(again, title)
        if not is_thread and candidate.size >= MIN_TEXT_CHARS and other.score <= CLEARLY_BETTER_RATIO * candidate.score:
            break
        found, candidate = again, other
    if entries := _excluded_entries(found.excluded_chars, candidate.size):
        found = split_paragraphs(body, mistaken=_node_ids(doubted), keeps=keeps | entries)
        candidate = _choose(found, title)
    if not found.all:
        found = split_paragraphs(body, mistaken=None)
        candidate = _choose(found, title)
    return candidate.blocks


def _excluded_entries(chars: dict[int, int], size: int) -> frozenset[int]:
    """Return what names say about parts that are the content of a page with little text: cards, tables of contents."""
    if chars[CONTENTS] > (size if size < MIN_TEXT_CHARS else MAX_EXCLUDED_RATIO * size):
        return frozenset((CONTENTS,))
    small = chars[SMALL_ASIDE] + chars[LINKED_ASIDE]
    is_small_page = size < MIN_TEXT_CHARS and small > MAX_SMALL_RATIO * size
    return frozenset((SMALL_ASIDE, LINKED_ASIDE)) if is_small_page else frozenset()


def _is_thread(found: Paragraphs, size: int) -> bool:
    """Return whether comments are content: little else is there, or the page is a ticket with fields."""
    if size < MIN_TEXT_CHARS and found.excluded_chars[COMMENTS] > size:
        return True
    start, end = _middle(found)
    rows = [
        (text, kind)
        for text, kind, _ in found.all[start : min(end, start + MAX_FIELD_ROWS)]
        if kind == ITEM or text[-1] == ":"
    ]
    fields = [count_fields(text) * (2 if kind == ITEM else 1) for text, kind in rows if len(text) < SHORT_CHARS]
    return sum(fields) >= MIN_TICKET_FIELDS


def _node_ids(nodes: list[LexborNode]) -> frozenset[int]:
    return frozenset(node.mem_id for node in nodes)


def _excluded_by_mistake(found: Paragraphs, size: int) -> list[tuple[LexborNode, int]]:
    """Return excluded parts that hold too much text to be boilerplate, and what their names say."""
    parts = []
    for node, place, chars in found.asides:
        enough = max(MIN_TEXT_CHARS, size if place == LAYOUT_ASIDE else MAX_EXCLUDED_RATIO * size)
        if chars > enough and unlinked_chars(node) > enough:
            parts.append((node, place))
    return parts


def _choose(found: Paragraphs, title: str | None) -> MainTextCandidate:
    """Return the text of the container with the highest score, or of the middle of a page that is a list."""
    _demote_teasers(found)
    sums = list(accumulate(map(_score_of, found.all), initial=0))
    most, first, last = sums[-1], 0, len(found.all)
    for start, end in found.containers:
        score = sums[end] - sums[start]
        is_better = score > most or (score == most and end - start < last - first)
        if is_better and (start, end) not in found.lists:
            most, first, last = score, start, end
    if (first, last) in found.sections:
        first, last = _whole_of_section(found, first, last)
        most = sums[last] - sums[first]
    lead: list[str] = []
    for start, end, _ in found.bodies:
        if first <= start and end <= last and sums[end] - sums[start] >= BODY_SHARE * most:
            lead = _lead_blocks(found.all, first, start)
            first, last = start, end
            break
    first, last = _index_range(found, first, last)
    start, end = _middle(found)
    if start <= first and last <= end and _is_small_part(found.all, (first, last), (start, end), sums):
        first, last = start, end
    lowered = (title or "").lower()
    parts = [(first, last), *_other_posts(found, first, last)]
    blocks = lead + [block for part in sorted(parts) for block in _prune(found, *part, lowered)]
    size = sum(map(len, blocks))
    most_list_chars = _list_ratio(found.all[first:last]) * size
    if size < MIN_TEXT_CHARS or _list_chars(found.all) > most_list_chars:
        is_list = size < MIN_TEXT_CHARS or _list_chars(found.all[start:end]) > most_list_chars
        others = _list_blocks(found, start, end) if is_list else []
        if sum(map(len, others)) > size:
            blocks = others
    return MainTextCandidate(blocks, most, sum(map(len, blocks)))


def _other_posts(found: Paragraphs, first: int, last: int) -> list[ParagraphRange]:
    """Return the containers marked as content by the same name, with a line between: answers to a longer question."""
    around = ((start, end, names) for start, end, names in found.bodies if names and start <= first and last <= end)
    start, end, names = next(around, (first, last, None))
    return [(low, high) for low, high, other in found.bodies if other == names and (high < start or low > end)]


def _whole_of_section(found: Paragraphs, first: int, last: int) -> ParagraphRange:
    """Return the text that a section belongs to: the container around it with other headings."""
    headings = list(accumulate((kind > HEADING for _, kind, _ in found.all), initial=0))
    around = found.containers[found.containers.index((first, last)) + 1 :]
    for start, end in around:
        is_around = start <= first and last <= end
        if is_around and headings[end] - headings[start] > headings[last] - headings[first]:
            first, last = start, end
            if (first, last) not in found.sections:
                break
    return first, last


def _index_range(found: Paragraphs, first: int, last: int) -> ParagraphRange:
    """Return the range around an entry of an index: one of several parts that begin with a heading that is a link."""
    kind = found.all[first][1] if first < last else TEXT
    if kind <= LINKED_HEADING:
        return first, last
    entries = [(start, end) for start, end in found.containers if found.all[start][1] == kind]
    others = {start for start, end in entries if end <= first or last <= start}
    if len(others) < MIN_TEASERS - 1:
        return first, last
    low, high = min(start for start, _ in entries), max(end for _, end in entries)
    around = ((start, end) for start, end in found.containers if start <= low and high <= end)
    return next(around, (low, high))


def _middle(found: Paragraphs) -> ParagraphRange:
    """Return the part of the page that is about its subject: the main element, or a container with most of the page."""
    whole = (0, len(found.all))
    if found.has_main:
        return found.mains[0]
    sizes = list(accumulate((len(text) for text, _, _ in found.all), initial=0))
    enough = MIN_MIDDLE_SHARE * sizes[-1]
    for start, end in found.mains:
        if sizes[end] - sizes[start] >= enough:
            return start, end
    top = next((at for at, (_, kind, _) in enumerate(found.all) if kind in (HEADING + 1, LINKED_HEADING + 1)), None)
    if top is None:
        return whole
    holding = ((start, end) for start, end in found.containers if start <= top < end)
    return next(((start, end) for start, end in holding if sizes[end] - sizes[start] >= enough), whole)


def _is_small_part(paragraphs: list[Paragraph], part: ParagraphRange, whole: ParagraphRange, sums: list[int]) -> bool:
    """Return whether a container has only a small part of the words of another that are no links."""
    if part == whole:
        return False
    chars = _chars(paragraphs[whole[0] : whole[1]])
    if sums[part[1]] - sums[part[0]] >= MIN_PART_SHARE * chars:
        return False
    linked = _chars(other for other in paragraphs[whole[0] : whole[1]] if other[1] in _LINK_KINDS or other[1] == LABEL)
    plain = sum(
        len(text) for text, kind, _ in paragraphs[part[0] : part[1]] if kind not in _LINK_KINDS and kind != LABEL
    )
    return plain < MIN_PART_SHARE * (chars - linked)


def _list_ratio(paragraphs: list[Paragraph]) -> float:
    """Return how many times more characters than this text the lists of a page must have to be its content."""
    sentences = [score for _, kind, score in paragraphs if kind == TEXT]
    is_article = len(sentences) >= MIN_ARTICLE_PARAGRAPHS and sum(sentences) >= MIN_ARTICLE_CHARS
    return MAX_ARTICLE_LIST_RATIO if is_article else MAX_LIST_RATIO


def _list_chars(paragraphs: list[Paragraph]) -> int:
    return sum(len(text) for text, kind, _ in paragraphs if kind in (LINKS, ITEM, LINKED_ITEM))


def _list_blocks(found: Paragraphs, first: int, last: int) -> list[str]:
    """Return the paragraphs of a page that is a list, with its links, or a form, with its labels."""
    inside = found.all[_top(found.all, first, last) : last]
    kept = [paragraph for paragraph in inside if paragraph[1] not in (TOOL, LABEL)]
    others = [text for text, kind, _ in kept if kind < HEADING]
    if sum(map(len, others)) < MIN_TEXT_CHARS and sum(kind == LABEL for _, kind, _ in inside) > len(others):
        kept = [paragraph for paragraph in inside if paragraph[1] != TOOL]
    while kept and kept[-1][1] < HEADING and is_copyright_notice(kept[-1][0]):
        kept.pop()
    return [text for text, _, _ in _drop_pagers(kept) or inside]


def _top(paragraphs: list[Paragraph], first: int, last: int) -> int:
    """Return where the text begins: at the title, if only short lines precede it."""
    chars = 0
    for at in range(first, last):
        text, kind, _ = paragraphs[at]
        if kind in (HEADING + 1, LINKED_HEADING + 1):
            return at
        chars += len(text)
        if kind > HEADING:
            return at if all(before in _LINK_KINDS for _, before, _ in paragraphs[first:at]) else first
        if kind == TEXT or chars > MAX_CHARS_BEFORE_TITLE:
            break
    return first


def _lead_blocks(paragraphs: list[Paragraph], first: int, start: int) -> list[str]:
    """Return the sentences between the title and the body."""
    lead: list[str] = []
    for text, kind, _ in reversed(paragraphs[first:start]):
        if kind == TEXT and len(text) > MIN_LEAD_CHARS and text[-1] in SENTENCE_ENDS:
            lead.append(text)
        elif kind in (HEADING + 1, LINKED_HEADING + 1):
            return lead[::-1] if len(lead) <= MAX_LEADS else []
    return []


def _demote_teasers(found: Paragraphs) -> None:
    """Turn short texts below linked headings into links: they are about other pages."""
    paragraphs = found.all
    headings = found.linked_headings
    if len(headings) < MIN_TEASERS:
        return
    ends = _container_ends(found.containers, headings)
    entries = [(at, _entry_end(paragraphs, at, ends.get(at, len(paragraphs)))) for at in headings]
    teasers = [(at, end) for at, end in entries if _chars(paragraphs[at + 1 : end]) <= MAX_TEASER_CHARS]
    if len(teasers) < MIN_TEASERS:
        return
    levels = {paragraphs[at][1] for at, _ in teasers}
    following = [*headings[1:], len(paragraphs)]
    wholes = [(at, min(ends.get(at, len(paragraphs)), then)) for at, then in zip(headings, following, strict=True)]
    entry_chars = sum(_chars(paragraphs[at + 1 : end]) for at, end in wholes if paragraphs[at][1] in levels)
    if entry_chars > MAX_TEASER_SHARE * sum(max(score, 0) for *_, score in paragraphs):
        return
    for at, end in teasers:
        paragraphs[at:end] = [(text, LINKS, -MAX_LINKS_COST) for text, _, _ in paragraphs[at:end]]


def _chars(paragraphs: Iterable[Paragraph]) -> int:
    return sum(len(text) for text, _, _ in paragraphs)


def _next_heading(paragraphs: list[Paragraph], at: int, end: int, level: int = LINKED_HEADING) -> int:
    """Return the first heading not below the level, or the end."""
    while at < end and not HEADING < paragraphs[at][1] <= level and paragraphs[at][1] <= LINKED_HEADING:
        at += 1
    return at


def _entry_end(paragraphs: list[Paragraph], at: int, end: int) -> int:
    """Return the next heading that is a link or not below the heading of the entry, or the end."""
    level = paragraphs[at][1] - LINKED_HEADING
    at += 1
    while at < end and not HEADING < paragraphs[at][1] <= HEADING + level and paragraphs[at][1] <= LINKED_HEADING:
        at += 1
    return at


def _container_ends(containers: list[ParagraphRange], places: Iterable[int]) -> dict[int, int]:
    """Return for each paragraph the end of the smallest container that continues after it."""
    waiting = sorted(places)
    ends: dict[int, int] = {}
    for start, end in containers:
        low, high = bisect_left(waiting, start), bisect_left(waiting, end - 1)
        if low < high:
            ends.update(dict.fromkeys(waiting[low:high], end))
            del waiting[low:high]
    return ends


def _prune(found: Paragraphs, first: int, last: int, title: str) -> list[str]:
    """Return the paragraphs of a container without boilerplate."""
    paragraphs = found.all
    kept: list[Paragraph] = []
    ends: dict[int, int] | None = None
    titles = _entry_titles(found, first, last)
    keeps_labels = _is_form([kind for _, kind, _ in paragraphs[first:last]])
    at = _top(paragraphs, first, last)
    while at < last:
        paragraph = text, kind, _ = paragraphs[at]
        at += 1
        if ITEM <= kind < TOOL:
            if kind == PRE or not is_credit(text):
                kept.append(paragraph)
            continue
        if LINKED_ITEM < kind < HEADING:
            if kind == LABEL and keeps_labels:
                kept.append(paragraph)
            continue
        is_below_heading = bool(kept) and kept[-1][1] > HEADING + 1
        if kind == LINKS:
            if at - 1 in titles or (is_below_heading and kept[-1] is paragraphs[at - 2]):
                kept.append(paragraph)
            continue
        if len(text) < MAX_LINE_CHARS and (meaning := classify_line(text)):
            if meaning == DROP_SECTION or (kind > HEADING and _is_followed_by_links(paragraphs, at, last)):
                if ends is None:
                    headings = [place for place, (_, kind, _) in enumerate(paragraphs) if kind > HEADING]
                    ends = _container_ends(found.containers, headings)
                at = _section_end(paragraphs, at - 1, last, ends)
                continue
            if not is_below_heading or kind != TEXT:
                continue
        if kind > HEADING and _repeats(title, text, kind):
            continue
        may_announce = at < last and paragraphs[at][1] in (LINKS, TOOL) and (kind > HEADING or not is_below_heading)
        if may_announce and _only_announces(paragraphs, at - 1, last):
            continue
        kept.append(paragraph)
    return [text for text, _, _ in _drop_stray_links(_trim(_drop_pagers(kept)))]


def _is_form(kinds: list[int]) -> bool:
    """Return whether a part of a page has more labels of fields than sentences, and no list."""
    labels = kinds.count(LABEL)
    if labels < MIN_FORM_LABELS:
        return False
    return labels > kinds.count(TEXT) and ITEM not in kinds and LINKED_ITEM not in kinds


def _entry_titles(found: Paragraphs, first: int, last: int) -> set[int]:
    """Return the links that begin a container with sentences, if these containers have most of the text."""
    paragraphs = found.all
    if sum(kind == LINKS for _, kind, _ in paragraphs[first:last]) < MIN_TEASERS:
        return set()
    sums = list(accumulate((score if kind == TEXT else 0 for _, kind, score in paragraphs), initial=0))
    sizes = {
        start: sums[end] - sums[start]
        for start, end in reversed(found.containers)  # The smallest container comes last.
        if first <= start and end <= last and paragraphs[start][1] == LINKS and sums[end] > sums[start]
    }
    are_most = sum(sizes.values()) >= MIN_ENTRY_SHARE * (sums[last] - sums[first])
    return {*sizes} if are_most and len({paragraphs[at][0] for at in sizes}) >= MIN_TEASERS else set()


def _drop_pagers(kept: list[Paragraph]) -> list[Paragraph]:
    """Drop lists of nothing but page numbers, with the links to the next and previous page."""
    arrows = [
        at
        for at, (text, kind, _) in enumerate(kept)
        if (text[-1] in ARROWS or text[0] in ARROWS) and kind in _ENTRY_KINDS and is_step(text)
    ]
    if not arrows:
        return kept
    dropped: set[int] = set()
    for at in arrows:
        if at in dropped:
            continue
        for step in (-1, 1):
            place = at
            while 0 <= place < len(kept) and kept[place][1] in _ENTRY_KINDS and is_pager_part(kept[place][0]):
                dropped.add(place)
                place += step
    return [paragraph for at, paragraph in enumerate(kept) if at not in dropped]


def _drop_stray_links(kept: list[Paragraph]) -> list[Paragraph]:
    """Drop a few links to other articles between the sentences of a long text that does not announce them."""
    places = [at for at, (_, kind, _) in enumerate(kept) if kind == LINKED_ITEM]
    linked = sum(len(kept[at][0]) for at in places)
    if not places or linked * MIN_PROSE_RATIO > sum(score for _, kind, score in kept if kind == TEXT):
        return kept
    dropped: set[int] = set()
    start = 0
    for index, at in enumerate(places):
        if index + 1 == len(places) or places[index + 1] != at + 1:
            run = places[start : index + 1]
            start = index + 1
            if 1 < len(run) <= MAX_STRAY_LINKS and _are_stray(kept, run):
                dropped.update(run)
    return [paragraph for at, paragraph in enumerate(kept) if at not in dropped] if dropped else kept


def _are_stray(kept: list[Paragraph], run: list[int]) -> bool:
    """Return whether links are as long as headlines and follow a sentence that does not announce them."""
    text, kind, _ = kept[run[0] - 1] if run[0] else ("", STUB, 0)
    return kind == TEXT and text[-1] != ":" and sum(len(kept[at][0]) for at in run) >= MIN_STRAY_CHARS * len(run)


def _is_followed_by_links(paragraphs: list[Paragraph], at: int, last: int) -> bool:
    return at < last and paragraphs[at][1] in (LINKS, LINKED_ITEM)


def _repeats(title: str, text: str, kind: int) -> bool:
    is_top = kind in (HEADING + 1, LINKED_HEADING + 1)
    return bool(title) and (is_top or len(text) >= MIN_TITLE_CHARS) and text.lower() in title


def _section_end(paragraphs: list[Paragraph], at: int, last: int, ends: dict[int, int]) -> int:
    """Return the end of a section that a line like "Related articles" announces."""
    kind = paragraphs[at][1]
    if kind > HEADING:
        return _next_heading(paragraphs, at + 1, min(ends.get(at, last), last), kind)
    at += 1
    while at < last and paragraphs[at][1] in (LINKS, STUB, ITEM, LINKED_ITEM, TOOL):
        at += 1
    return at


def _only_announces(paragraphs: list[Paragraph], at: int, last: int) -> bool:
    """Return whether the line stands before excluded links only."""
    text, kind, _ = paragraphs[at]
    is_contents = paragraphs[at + 1][1] == TOOL
    if is_contents and kind < HEADING:
        return False
    if kind != STUB and not is_contents and not (len(text) < MAX_ANNOUNCEMENT_CHARS and text[-1] in ":?!…"):
        return False
    after = at + 1
    while after < last and paragraphs[after][1] in (LINKS, TOOL):
        after += 1
    if kind < HEADING:
        return after - at > 2 or after == last
    return after == last or HEADING < paragraphs[after][1] <= kind


def _trim(kept: list[Paragraph]) -> list[Paragraph]:
    """Drop dates, names and buttons before the first sentence and after the last."""
    end = _end_of_text(kept)
    start = 0
    while start < end and _may_precede_text(*kept[start]):
        start += 1
    if not any(is_date_line(text) for text, kind, _ in kept[:start] if kind < HEADING):
        return kept[:end]
    return [paragraph for paragraph in kept[:start] if paragraph[1] > HEADING] + kept[start:end]


def _end_of_text(kept: list[Paragraph]) -> int:
    """Return where the text ends: before headings of nothing, notices, and a few loose lines after a sentence."""
    end = len(kept)
    while end and (kept[end - 1][1] > HEADING or _is_notice(kept[end - 1], kept[end - 2] if end > 1 else None)):
        end -= 1
    last = end
    while last and _is_loose(kept[last - 1], kept[last - 2] if last > 1 else None):
        last -= 1
    is_after_sentence = last > 0 and kept[last - 1][1] == TEXT and _is_finished(kept[last - 1][0])
    return last if is_after_sentence and end - last <= MAX_LOOSE_ENDS else end


def _is_notice(paragraph: Paragraph, before: Paragraph | None) -> bool:
    """Return whether a last line claims rights or says when the page changed; one of several dates is an entry."""
    text, kind, _ = paragraph
    if kind not in (TEXT, STUB) or len(text) >= MAX_LAST_LINE_CHARS or (before and before[1] > HEADING):
        return False
    return is_copyright_notice(text) or (is_note_of_change(text) and not (before and is_note_of_change(before[0])))


def _is_loose(paragraph: Paragraph, before: Paragraph | None) -> bool:
    """Return whether a last line is a name or a label, or holds a link and is no sentence."""
    text, kind, score = paragraph
    if kind not in (TEXT, STUB) or len(text) >= MAX_LAST_LINE_CHARS or (before and before[1] > HEADING):
        return False
    if kind == STUB:
        return is_label(text) or not any(map(str.isalnum, text))
    return score < len(text) and not _is_finished(text)


def _is_finished(text: str) -> bool:
    return text.rstrip(CLOSING_SIGNS)[-1:] in _FINAL_SIGNS


def _may_precede_text(text: str, kind: int, _score: int) -> bool:
    """Return whether a line is the title, a name, a date or the like."""
    if kind > HEADING:
        return kind in (HEADING + 1, LINKED_HEADING + 1)
    return kind in (TEXT, STUB) and len(text) < MAX_LOOSE_LINE_CHARS and not _is_finished(text) and is_label(text)
