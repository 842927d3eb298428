"""Say in one sentence what happened: the subject and the first line of a message."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evercrawl.core.change.detectors import OTHER_BYTES
from evercrawl.core.url import site_of
from evercrawl.model.alerts import CHANGES, Event, EventKind
from evercrawl.model.change import Edit
from evercrawl.model.sanitize import ELLIPSIS, safe_line

MAX_HEADLINE_CHARS = 140
MAX_NAME_CHARS = 60
MAX_QUOTE_CHARS = 48
MAX_LABEL_CHARS = 30
SHORT_INSERT_CHARS = 16  # A shorter insertion or deletion is quoted with the words around it.
MAX_PAGES_DETAILED = 3
_QUANTITY_CHARS = 24
MIN_LABEL_CHARS = 4  # A shorter part of a host name says little.
_TITLE_MARKS = (" | ", " - ", " – ", " — ", " · ", " • ", " » ")
_SENTENCE_END = re.compile(r"[.!?…;。！？]\s|…")
_PAGE_SENTENCES = {EventKind.NEW: "New page: {}", EventKind.GONE: "Page gone: {}", EventKind.BACK: "Page is back: {}"}
_NEIGHBOURS_BEFORE = re.compile(r"[^\W\d_]{0,6}$")
_NEIGHBOURS_AFTER = re.compile(r"[^\W\d_]{0,6}")
_UNITS = frozenset("%‰°")


def single_line(text: str) -> str:
    """Return the text on one line without control, direction and surrogate characters."""
    return " ".join(safe_line(text).split())


def cut_at_word(text: str, longest: int) -> str:
    """Return the start of a text, cut after a word if one ends in its second half, with an ellipsis."""
    if len(text) <= longest:
        return text
    start = text[: longest - 1]
    border = start.rfind(" ")
    return start[: border if border > longest // 2 else None].rstrip(" ,;:-–") + ELLIPSIS


def page_name(event: Event) -> str:
    """Return the title of the page without the name of its site, or its URL without the scheme."""
    title = _without_site_name(single_line(event.title or ""), site_of(event.url))
    return cut_at_word(title or single_line(event.url.partition("://")[2] or event.url), MAX_NAME_CHARS)


def _without_site_name(title: str, site: str) -> str:
    """Return a title such as "Jobs | Harbour News" without its last part if that is the name of the host."""
    rest, separator, last = max((title.rpartition(mark) for mark in _TITLE_MARKS), key=lambda parts: len(parts[0]))
    host = site.partition("://")[2].partition(":")[0].casefold()
    name = "".join(filter(str.isalnum, last.casefold()))
    label = max(host.split("."), key=len).replace("-", "")
    is_site = len(label) >= MIN_LABEL_CHARS and name and (label in name or name in label)
    return rest if separator and rest.strip() and is_site else title


def significance(event: Event) -> int:
    """Return the place of an event in a message: edits of texts first, pages that only list others differently last."""
    if event.kind in CHANGES:
        return 3 if event.edits and all(edit.is_entry for edit in event.edits) else 0
    return 1 if event.kind is EventKind.NEW else 2


def event_headline(event: Event) -> str:
    """Return what happened to a page, such as: Prices: 12 € → 15 €."""
    name, sentence = page_name(event), _PAGE_SENTENCES.get(event.kind)
    return sentence.format(name) if sentence else f"{name}: {describe_change(event, MAX_HEADLINE_CHARS - len(name))}"


def headline(events: Sequence[Event]) -> str:
    """Return what happened, in one sentence for all events."""
    pages = {event.url: event for event in events}
    newest = list(pages.values())
    if len(events) == 1:
        return cut_at_word(event_headline(events[0]), MAX_HEADLINE_CHARS)
    if len(newest) > 1:
        return cut_at_word(_several_pages(newest), MAX_HEADLINE_CHARS)
    last = events[-1]
    if last.kind not in CHANGES:
        return cut_at_word(event_headline(last), MAX_HEADLINE_CHARS)
    start = f"{page_name(last)} changed {len(events):,} times; last: "
    return cut_at_word(start + describe_change(last, MAX_HEADLINE_CHARS - len(start)), MAX_HEADLINE_CHARS)


def _several_pages(events: Sequence[Event]) -> str:
    """Return a sentence for different pages: their number, their site, and what changed or their names."""
    events = sorted(events, key=significance)
    changed = [event for event in events if event.kind in CHANGES]
    new = [event for event in events if event.kind is EventKind.NEW]
    gone = [event for event in events if event.kind is EventKind.GONE]
    back = [event for event in events if event.kind is EventKind.BACK]
    back = [event for event in events if event.kind is EventKind.BACK]
    hosts = {site_of(event.url).partition("://")[2] for event in events}
    site = single_line(min(hosts)) if len(hosts) == 1 else f"{len(hosts):,} sites"
    where = f"{'of' if len(hosts) == 1 else 'on'} {site}"
    if len(changed) == len(events):
        start = f"{len(events):,} pages {where} changed"
        if same := _same_edit(events):
            return f"{start} in the same way: {same}"
    elif len(new) == len(events):
        start = f"{len(new):,} new pages on {site}"
    elif len(gone) == len(events):
        start = f"{len(gone):,} pages {where} are gone"
    else:
        counts = [(len(changed), "changed"), (len(new), "new"), (len(gone), "gone"), (len(back), "back")]
        first, *others = [(count, word) for count, word in counts if count]
        pages = f"{first[0]:,} page{'s' * (first[0] > 1)} {first[1]}"
        start = ", ".join([f"{site}: {pages}", *(f"{count:,} {word}" for count, word in others)])
    room = MAX_HEADLINE_CHARS - len(start) - 2
    return f"{start}: {_details(events, room)}"


def _same_edit(events: Sequence[Event]) -> str | None:
    """Return the edit that all the pages have in common."""
    keys = {tuple(edit.key for edit in event.edits) for event in events}
    return describe_change(events[0], MAX_HEADLINE_CHARS // 2) if len(keys) == 1 and keys != {()} else None


def _details(events: Sequence[Event], room: int) -> str:
    """Return what changed on each page if it fits, or as many names as fit."""
    if len(events) <= MAX_PAGES_DETAILED and all(event.kind in CHANGES for event in events):
        detailed = ", ".join(f"{page_name(event)} ({describe_change(event, MAX_QUOTE_CHARS)})" for event in events)
        if len(detailed) <= room:
            return detailed
    names = list(dict.fromkeys(page_name(event) for event in events))
    separator = "; " if any("," in name for name in names) else ", "
    shown = names[:1]
    for name in names[1:]:
        if len(separator.join([*shown, name])) > room - len(", and 999 more"):
            break
        shown.append(name)
    more = len(events) - len(shown)
    return separator.join(shown) + (f" and {more:,} more" if more else "")


class _Difference(NamedTuple):
    """One place of an edit where words were replaced, added or removed."""

    old: str
    new: str
    before: str  # The unchanged words around it.
    after: str


def describe_change(event: Event, longest: int) -> str:
    """Return what changed on the page, without its name."""
    places = _pair_blocks([(edit, found) for edit in event.edits for found in _differences(edit)])
    if not places:
        return "title or description changed" if event.kind is EventKind.METADATA else "the content changed"
    # The most telling first: text before entries of lists; replaced words, then new ones, then removed ones.
    _, first = min(places, key=lambda place: (place[0].is_entry, not place[1].new, not place[1].old))
    more = len(places) - 1 + event.omitted
    tail = f", and {more:,} more change{'s' * (more > 1)}" if more else ""
    if first.new == OTHER_BYTES and not first.old:
        return "the file changed"
    return _describe(first, longest - len(tail)) + tail


def _pair_blocks(places: list[tuple[Edit, _Difference]]) -> list[tuple[Edit, _Difference]]:
    """Return the places with a short removed block and a short added one right after it as one replacement."""
    found: list[tuple[Edit, _Difference]] = []
    for edit, place in places:
        if found:
            other, before = found[-1]
            is_pair = other.is_entry == edit.is_entry and not (before.new or place.old)
            is_whole = not any((before.before, before.after, place.before, place.after))
            if is_pair and is_whole and max(len(before.old), len(place.new)) <= MAX_QUOTE_CHARS:
                found[-1] = (edit, _Difference(before.old, place.new, "", ""))
                continue
        found.append((edit, place))
    return found


def _differences(edit: Edit) -> Iterator[_Difference]:
    """Yield the places of an edit that differ."""
    runs = edit.words
    place = 0
    while place < len(runs):
        start = place
        while place < len(runs) and runs[place].sign != " ":
            place += 1
        if place > start:
            old = "".join(run.text for run in runs[start:place] if run.sign == "-")
            new = "".join(run.text for run in runs[start:place] if run.sign == "+")
            before = runs[start - 1].text if start else ""
            after = runs[place].text if place < len(runs) else ""
            if single_line(old) != single_line(new):
                yield _difference(old, new, before, after)
        place += 1


def _difference(old: str, new: str, before: str, after: str) -> _Difference:
    """Return the texts as lines; in scripts without spaces, a replaced character gets its neighbours."""
    if old.strip() and new.strip():
        start = _NEIGHBOURS_BEFORE.search(before)[0] if not (old + new)[:1].isspace() else ""  # type: ignore[index]
        end = _NEIGHBOURS_AFTER.match(after)[0] if not (old[-1] + new[-1]).isspace() else ""  # type: ignore[index]
        old, new = start + old + end, start + new + end
        before, after = before[: len(before) - len(start)], after[len(end) :]
    return _Difference(single_line(old), single_line(new), single_line(before), single_line(after))


def _describe(found: _Difference, longest: int) -> str:
    quoted = max(16, min(MAX_QUOTE_CHARS, (longest - len("'' became ''")) // 2))
    if found.old and found.new:
        if _is_quantity(found.old) and _is_quantity(found.new):
            return _describe_quantity(found, longest)
        old, new = _without_common_end(found.old, found.new)
        return f"'{cut_at_word(old, quoted)}' became '{cut_at_word(new, quoted)}'"
    text, verb = (found.new, "added") if found.new else (found.old, "removed")
    longest_quote = max(16, min(2 * MAX_QUOTE_CHARS, longest - len("'' removed")))
    if len(text) > SHORT_INSERT_CHARS or not (found.before or found.after):
        return f"{verb} '{cut_at_word(text, longest_quote)}'"
    around = f"{_words_at_end(found.before, MAX_LABEL_CHARS)} {text} {_words_at_start(found.after, MAX_LABEL_CHARS)}"
    return f"{verb} '{text}' in '{cut_at_word(around.strip(), max(16, longest_quote - len(text)))}'"


def _describe_quantity(found: _Difference, longest: int) -> str:
    """Return numbers with their unit, and with what they measure if it fits."""
    old, new = _without_common_end(found.old, found.new)
    before, after = found.before.split(), found.after.split()
    sign = f"{before.pop()} " if before and _is_unit(before[-1]) else ""
    unit = f" {after[0].rstrip('.,;:!?')}" if after and _is_unit(after[0].rstrip(".,;:!?")) else ""
    pair = f"{sign}{old}{unit} → {sign}{new}{unit}"
    label = _words_at_end(" ".join(before), MAX_LABEL_CHARS)
    return f"{label} {pair}" if label and len(label) + len(pair) < longest else pair


def _is_quantity(text: str) -> bool:
    digits = sum(char.isdigit() for char in text)
    letters = sum(char.isalpha() for char in text)
    return digits > 0 and len(text) <= _QUANTITY_CHARS and letters <= digits + 1 and len(text.split()) <= 3


def _is_unit(word: str) -> bool:
    """Return whether the word is a sign of money, percent or degree, or the code of a currency."""
    if len(word) == 3 and word.isascii() and word.isalpha() and word.isupper():
        return True
    return bool(word) and all(char in _UNITS or unicodedata.category(char) == "Sc" for char in word)


def _without_common_end(old: str, new: str) -> tuple[str, str]:
    """Return both texts without the punctuation with which both end."""
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1] and old[-1] in ".,;:!?":
        old, new = old[:-1], new[:-1]
    return old, new


def _words_at_end(text: str, longest: int) -> str:
    """Return the last words of a text, from the start of their sentence on if it is near."""
    sentence = _SENTENCE_END.split(text)[-1].strip()
    words: list[str] = []
    for word in reversed(sentence.split()):
        if len(" ".join([word, *words])) > longest:
            break
        words.insert(0, word)
    return " ".join(words)


def _words_at_start(text: str, longest: int) -> str:
    """Return the first words of a text, to the end of their sentence if it is near."""
    sentence = _SENTENCE_END.split(text)[0].strip()
    return sentence if len(sentence) <= longest else sentence[: max(0, sentence.rfind(" ", 0, longest))]
