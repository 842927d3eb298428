"""Propose a new selector for a field whose selector stopped matching, from what the page was before.

The part is found again by its value, by the text around it, by its names and by its form. Evidence adds up; a repair is
sure only if it leads clearly over every other part of the page that reads differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from evercrawl.core.fields.outline import (
    Element,
    PageOutline,
    group_selectors,
    label_of,
    name_words,
    page_tables,
    robust_selectors,
    value_attribute,
)
from evercrawl.core.fields.selectors import PagePart, parse_selector, split_selector
from evercrawl.core.fields.values import around_value, read_text
from evercrawl.model.fields import FieldReading, FieldRepair, FieldRule, FieldType

SURE = 5.5  # Evidence that a repair needs to be sure.
SURE_IN_SAME_DESIGN = 8.0  # The same if the rest of the page looks as before: the part may just be gone.
LEAD = 1.5  # How far it must lead over parts with another value.
CLEAR, CLEAR_LEAD = 4.0, 3.0  # The same if nothing else on the page comes near.
MOVED_LEAD = 3.0  # How far it must lead over the part that the selector still matches.
DOUBT_LEAD = 0.5  # From this lead on, it is proposed.
PROPOSED = 3.0  # Evidence below this is not even worth a proposal.
SAME_DESIGN = 0.8  # Share of the earlier names that the page still has.
SURE_LIST, PROPOSED_LIST = 0.55, 0.3  # Share of the entries that two lists have in common.
MAX_VALUE_TEXT = 120  # Characters of a part with a number or a date.
MAX_LABEL = 80  # Characters of a text that can be a label.
MAX_DAYS = 60  # By which the date of a page usually moves at most.
MAX_JSON_LEAVES = 20_000
MAX_GROUPS = 40  # Groups of elements, and selectors of each, that are tried for a list.
MAX_COMPARED = 40_000  # Pairs of entries that are compared by words.
_FIGURE = re.compile(r"\d(?:[\d.,'\u00a0\u202f ]*\d)?")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"\w+")


class LocatedPart(NamedTuple):
    """What is known about a part of a page, to find it again in another version."""

    reading: FieldReading
    label: str = ""
    following: str = ""
    heading: str = ""
    row: str = ""
    column: str = ""
    tag: str = ""
    words: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()
    is_only: bool = False  # Whether no other part of the page has a value of this kind.

    @property
    def context(self) -> frozenset[str]:
        """Return the labels and headings that say what the value is."""
        return frozenset({self.label, self.row, self.column, self.heading} - {""})


def find_repair(
    before: PagePart, after: PagePart, rule: FieldRule, was: FieldReading, now: FieldReading
) -> FieldRepair | None:
    """Return a new selector for a field whose value differs, if its part seems to be elsewhere now; None: it is where
    it was, or gone. `was` is its value in `before`, `now` in `after`."""
    if was.value is None:
        return _repair_text(before, after, rule, was, now) if was.text and now.text is None else None
    if not after.is_html or not before.is_html:
        return _repair_json(before, after, rule, was) if now.value is None else None
    if isinstance(was.value, tuple):
        return _repair_list(before, after, rule, was.value, now.value if isinstance(now.value, tuple) else ())
    return _repair_value(before, after, rule, was, now)


# One value


def _repair_text(
    before: PagePart, after: PagePart, rule: FieldRule, was: FieldReading, now: FieldReading
) -> FieldRepair | None:
    """Find a part again that had a text without a value, such as "sold out"."""
    if not after.is_html or not before.is_html or rule.type is FieldType.LIST:
        return None
    as_text = replace(rule, type=FieldType.TEXT)
    return _repair_value(before, after, as_text, was._replace(value=was.text), now)


def _repair_value(
    before: PagePart, after: PagePart, rule: FieldRule, reading: FieldReading, now: FieldReading
) -> FieldRepair | None:
    old, new = before.outline, after.outline
    place = _place(old, reading)
    was = LocatedPart(reading) if place is None else _with_context(old, place, reading, rule.type)
    was = was._replace(is_only=len(_values_like(old, rule, reading)) == 1)
    is_only = len(_values_like(new, rule, reading)) == 1
    known = _known_elsewhere(old, rule, place, was)
    found = [
        (_score(was, part._replace(is_only=is_only and part.reading.unit == reading.unit), known), part, element, name)
        for part, element, name in _candidates(new, rule)
    ]
    ranked = sorted(found, key=lambda one: one[0], reverse=True)  # Stable: of equal ones the outermost is first.
    if not ranked or ranked[0][0] < PROPOSED:
        return None
    score, best, element, attribute = ranked[0]
    rival = next((one[0] for one in ranked[1:] if one[1].reading.value != best.reading.value), 0.0)
    is_same_design = _is_same_design(old, new)
    is_sure = _is_sure(score, score - rival, is_same_design=is_same_design)
    if now.value is not None:
        is_other_selector = now.select != reading.select
        lead = score - _score_of(new, was, now, rule)
        doubt = 0.0 if is_other_selector else (MOVED_LEAD if is_same_design else DOUBT_LEAD)
        if lead < doubt or best.reading.value == now.value:
            return None
        is_sure = is_sure and lead >= (LEAD if is_other_selector else MOVED_LEAD)
    proposed = None
    for select in _selectors(new, element, attribute):
        if _value_of(select, after, rule) != best.reading.value:
            continue
        repair = FieldRepair(
            rule.name, rule.select, select, best.reading.text or "", is_sure, is_moved=now.value is not None
        )
        if _value_of(select, before, rule) in (None, reading.value):
            return repair
        proposed = proposed or repair._replace(is_sure=False)
    return proposed


def _is_sure(score: float, lead: float, *, is_same_design: bool) -> bool:
    if is_same_design:
        return score >= SURE_IN_SAME_DESIGN and lead >= LEAD
    return (score >= SURE and lead >= LEAD) or (score >= CLEAR and lead >= CLEAR_LEAD)


def part_selectors(page: PageOutline, element: Element) -> list[str]:
    """Return selectors for an element, the most robust first."""
    return list(_selectors(page, element, ""))


def _selectors(page: PageOutline, element: Element, attribute: str) -> Iterator[str]:
    """Yield selectors for a part, the most robust first: in tables by its labels."""
    row, column = page.cell_labels(element)
    if row and not attribute and "/" not in row + column:
        yield f"table:{row}"
        if column:
            yield f"table:{row}/{column}"
    for css in robust_selectors(page, element):
        yield f"css:{css}" + (f"::attr({attribute})" if attribute else "")


def _score_of(page: PageOutline, was: LocatedPart, now: FieldReading, rule: FieldRule) -> float:
    """Return how much the part that the selector matches now is like the earlier one."""
    place = _place(page, now)
    selected = _evidence(page, place, rule) if place is not None else None
    return _score(was, selected, frozenset()) if selected is not None else 0.0


def _value_of(select: str, page: PagePart, rule: FieldRule) -> object:
    texts = [text for text in parse_selector(select)(page) if text]
    return read_text(texts, rule.type, lang=page.lang).value if texts else None


def _candidates(page: PageOutline, rule: FieldRule) -> Iterator[tuple[LocatedPart, Element, str]]:
    """Yield the parts of a page that can have the value, with the element, and the attribute if it states the value."""
    for element in page.elements:
        if found := _evidence(page, element, rule):
            yield found, element, ""
        stated = value_attribute(element)
        if stated is not None and rule.type is not FieldType.TEXT:
            reading = read_text([stated[1]], rule.type)
            if reading.value is not None:
                yield _with_context(page, element, reading, rule.type), element, stated[0]


def _evidence(page: PageOutline, element: Element, rule: FieldRule) -> LocatedPart | None:
    text = page.text(element, 2000 if rule.type is FieldType.TEXT else MAX_VALUE_TEXT)
    if not text or element.tag in ("html", "body", "title"):
        return None
    reading = read_text([text], rule.type)
    return None if reading.value is None else _with_context(page, element, reading, rule.type)


def _with_context(page: PageOutline, element: Element, reading: FieldReading, kind: FieldType) -> LocatedPart:
    """Return the evidence of a part. Its label is what its own text says before the value, or else the text before."""
    row, column = page.cell_labels(element)
    around: frozenset[str] = frozenset()
    for one in page.near_ancestors(element)[:3]:
        around |= name_words(one)
    start, end = around_value(reading.text or "", kind)
    return LocatedPart(
        reading,
        _label(start) or (_label(row or column) if row or column else _label(page.before(element))),
        _label(end) or _label(page.after(element)),
        label_of(page.heading(element)),
        label_of(row),
        label_of(column),
        element.tag,
        name_words(element),
        around,
    )


def _label(text: str) -> str:
    """Return a text that may be a label, without its punctuation and figures; empty if it is too long for one."""
    return " ".join(_LETTERS.findall(text.lower())) if len(text) <= MAX_LABEL else ""


def _values_like(page: PageOutline, rule: FieldRule, reading: FieldReading) -> set[object]:
    """Return the different values of the page that have the type and the unit of the field; of texts none are alike."""
    if rule.type is FieldType.TEXT:
        return set()
    return {found.reading.value for found, _, _ in _candidates(page, rule) if found.reading.unit == reading.unit}


def _place(page: PageOutline, reading: FieldReading) -> Element | None:
    """Return the element that a value was read from."""
    language, rest = split_selector(reading.select or "")
    found = page.select(rest.partition("::")[0]) if language == "css" and rest else []
    return page.elements[found[0]] if found else _element_with(page, reading.text or "")


def _element_with(page: PageOutline, text: str) -> Element | None:
    """Return the innermost element with just this text, or the shortest that contains it."""
    best, best_chars = None, 10 * MAX_VALUE_TEXT
    for element in page.elements:
        found = page.text(element, len(text) + MAX_VALUE_TEXT) if text else None
        if found and text in found and len(found) <= best_chars:
            best, best_chars = element, len(found)
    return best


def _known_elsewhere(
    page: PageOutline, rule: FieldRule, place: Element | None, was: LocatedPart
) -> frozenset[tuple[object, str]]:
    """Return what the earlier version had elsewhere: such a part is not the lost one."""
    start, end = (place.start, place.end) if place is not None else (0, 0)
    return frozenset(
        (found.reading.value, found.label)
        for found, element, _ in _candidates(page, rule)
        if found.label and found.label != was.label and not (element.start < end and start < element.end)
    )


def _score(was: LocatedPart, now: LocatedPart, known: frozenset[tuple[object, str]]) -> float:
    """Return the sum of the evidence that `now` is the part that `was` describes."""
    score = 0.0
    if was.reading.value == now.reading.value:
        score += 4.0
        score += 0.5 if was.reading.text == now.reading.text else 0.0
    else:
        score += _nearness(was.reading, now.reading)
    if was.reading.unit != now.reading.unit:
        score -= 2.0
    elif _form(was.reading.text) == _form(now.reading.text):
        score += 0.5 if isinstance(was.reading.value, str) and was.reading.value == was.reading.text else 1.5
    score += 2.5 if was.is_only and now.is_only else 0.0
    score += _found(was.label, now.context, 2.0, -0.5) + _found(was.following, {now.following}, 1.0, 0.0)
    score += _found(was.heading, now.context, 1.0, -0.5)
    score += _found(was.row, now.context, 1.5, -1.0) + _found(was.column, now.context, 1.0, -0.5)
    score += 3.0 * _overlap(was.words, now.words | now.around) + 1.0 * _overlap(was.around, now.around | now.words)
    score += 0.5 if was.tag == now.tag else 0.0
    return score - (4.0 if (now.reading.value, now.label) in known else 0.0)


def _nearness(was: FieldReading, now: FieldReading) -> float:
    """Return what two different values say: prices change by parts of themselves, dates by days and forwards."""
    if isinstance(was.value, int | float) and isinstance(now.value, int | float):
        low, high = sorted((abs(was.value), abs(now.value)))
        return 1.0 if low * 1.5 >= high else (-1.0 if low * 3 < high else 0.0)
    if was.text != was.value and isinstance(was.value, str) and isinstance(now.value, str):
        return 1.0 if 0 <= _days_between(was.value, now.value) <= MAX_DAYS else 0.0
    return 0.0


def _days_between(first: str, second: str) -> int:
    try:
        return (date.fromisoformat(second) - date.fromisoformat(first)).days
    except ValueError:
        return -1


def _found(label: str, context: frozenset[str] | set[str], same: float, differs: float) -> float:
    """Return the weight of a label that is there again, in part if only some of its words are."""
    if not label:
        return 0.0
    words = frozenset(label.split())
    likeness = max((_likeness(words, frozenset(one.split())) for one in context), default=0.0)
    return same * likeness if likeness >= 0.5 else differs


def _overlap(before: frozenset[str], after: frozenset[str]) -> float:
    return len(before & after) / len(before) if before else 0.0


def _form(text: str | None) -> str:
    """Return a text with its figures and their groups made alike: 1.234,56 € and 99,00 € have one form."""
    marks = _FIGURE.sub("9", (text or "")[:MAX_VALUE_TEXT])
    return " ".join(_LETTERS.sub("a", marks).split())


def _is_same_design(old: PageOutline, new: PageOutline) -> bool:
    before, after = ({(one.tag, one.classes) for one in page.elements} for page in (old, new))
    return len(before & after) >= SAME_DESIGN * len(before)


# Lists


def _repair_list(
    before: PagePart, after: PagePart, rule: FieldRule, values: Sequence[str], now: Sequence[str]
) -> FieldRepair | None:
    """Find the elements with most of the entries, and a selector for elements like them."""
    new = after.outline
    wanted = {_plain(value) for value in values}
    kept = _shared(values, now)
    if kept >= SURE_LIST:
        return None
    longest = 3 * max(map(len, values)) + 50
    groups: dict[tuple[str, str, str], list[int]] = {}
    for element in new.elements:
        text = new.text(element, longest)
        if text and _plain(text) in wanted and element.tag not in ("html", "body"):
            parent = new.elements[element.parent] if element.parent >= 0 else element
            groups.setdefault((element.tag, element.attributes.get("class", ""), parent.tag), []).append(element.place)
    best: tuple[float, str, list[str]] = (0.0, "", [])
    for select in _list_selectors(new, list(groups.values())):
        texts = parse_selector(select)(after)
        share = _shared(values, texts)
        if share > best[0] and not 0.0 < _shared(values, parse_selector(select)(before)) < 1.0:
            best = share, select, texts
    share, select, texts = best
    if share < PROPOSED_LIST or share < 2 * kept:
        return None
    return FieldRepair(rule.name, rule.select, select, "\n".join(texts), share >= SURE_LIST, is_moved=bool(now))


def _list_selectors(page: PageOutline, groups: list[list[int]]) -> Iterator[str]:
    """Yield selectors for groups of elements, the largest group first, and for the rows of tables."""
    for members in sorted(groups, key=len, reverse=True)[:MAX_GROUPS]:
        yield from (f"css:{css}" for css in group_selectors(page, members)[:MAX_GROUPS])
    for table in page_tables(page):
        label = next((row[0] for row in table.rows if len(row) > 1 and label_of(row[0])), "")
        if label and "/" not in label:
            yield f"table:{label}/*"


def _shared(wanted: Sequence[str], texts: Sequence[str]) -> float:
    """Return how much two lists have in common, 0 to 1; entries that share words count in part."""
    old, new = ([frozenset(text.split()) for text in map(_plain, some)] for some in (wanted, texts))
    if not old or not new or len(old) * len(new) > MAX_COMPARED:
        known = set(new)
        return 2 * sum(one in known for one in old) / max(1, len(old) + len(new))
    return 2 * sum(max(_likeness(one, other) for other in new) for one in old) / (len(old) + len(new))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


# JSON


class JsonLeaf(NamedTuple):
    path: str  # With places in lists.
    key: str
    parent: str
    text: str


def _repair_json(before: PagePart, after: PagePart, rule: FieldRule, reading: FieldReading) -> FieldRepair | None:
    """Find the value in JSON by its key and its value."""
    if split_selector(rule.select)[0] != "json":
        return None
    old, new = list(json_leaves(before.markup)), list(json_leaves(after.markup))
    wanted = set(reading.value) if isinstance(reading.value, tuple) else {reading.text}
    was = next((leaf for leaf in old if leaf.text in wanted and leaf.key in rule.select), None) or next(
        (leaf for leaf in old if leaf.text in wanted), None
    )
    if was is None:
        return None
    is_list = rule.type is FieldType.LIST
    best: dict[str, float] = {}
    for leaf in new:
        score = 4.0 * (leaf.text in wanted) + 3.0 * (leaf.key == was.key) + 1.5 * (leaf.parent == was.parent)
        path = re.sub(r"\[\d+\]", "[*]", leaf.path) if is_list else leaf.path
        best[path] = max(best.get(path, 0.0), score)
    ranked = sorted(best.items(), key=lambda one: -one[1])
    if not ranked or ranked[0][1] < PROPOSED:
        return None
    select = f"json:{ranked[0][0]}"
    if _value_of(select, after, rule) is None:
        return None
    text = "\n".join(parse_selector(select)(after))
    lead = ranked[0][1] - (ranked[1][1] if len(ranked) > 1 else 0.0)
    return FieldRepair(rule.name, rule.select, select, text, ranked[0][1] >= SURE and lead >= LEAD)


def json_leaves(markup: str) -> Iterator[JsonLeaf]:
    """Yield the values of a JSON document in order."""
    try:
        waiting: list[tuple[str, str, str, Any]] = [("$", "", "", json.loads(markup))]
    except (ValueError, RecursionError):
        return
    count = 0
    while waiting and count < MAX_JSON_LEAVES:
        path, key, parent, value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting += [(f"{path}[{json.dumps(name)}]", name, key, one) for name, one in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(f"{path}[{at}]", key, parent, one) for at, one in reversed(list(enumerate(value)))]
        elif value is not None:
            yield JsonLeaf(path, key, parent, value if isinstance(value, str) else json.dumps(value))
