"""Propose a new selector for a field whose selector stopped matching, from what the page was before.

The part is found again by its value, by the text around it, by its names and by its form. Evidence adds up; a repair is
sure only if it leads clearly over every other part of the page that reads differently.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from evercrawl.core.fields.data_markup import PATH_ATTRIBUTE, list_paths, path_selectors
from evercrawl.core.fields.outline import (
    Element,
    PageOutline,
    class_selector,
    figures_of,
    group_selectors,
    has_named_container,
    label_of,
    name_words,
    own_selectors,
    page_tables,
    robust_selectors,
    value_attribute,
)
from evercrawl.core.fields.selectors import PagePart, first_path, parse_selector, split_selector
from evercrawl.core.fields.values import around_value, read_text
from evercrawl.model.document import FieldValue
from evercrawl.model.fields import FieldReading, FieldRepair, FieldRule, FieldType

SURE = 5.5  # Evidence that a repair needs to be sure.
SURE_IN_SAME_DESIGN = 8.0  # The same if the rest of the page looks as before: the part may just be gone.
LEAD = 1.5  # How far it must lead over parts with another value.
CLEAR, CLEAR_LEAD = 4.0, 3.0  # The same if nothing else on the page comes near,
ALONE, ALONE_LEAD = 2.5, 4.0  # or if there is evidence against all that it might be instead.
NO_RIVAL = -2.0  # What counts as evidence for a rival where there is none.
RENAMED = 1.0  # What speaks against a part that says itself that it is something else.
MOVED_LEAD = 3.0  # How far it must lead over the part that the selector still matches.
DOUBT_LEAD = 0.5  # From this lead on, it is proposed.
PROPOSED = 2.5  # Evidence below this is not even worth a proposal.
SAME_DESIGN = 0.8  # Share of the earlier names that the page still has.
SURE_LIST, PROPOSED_LIST = 0.55, 0.3  # Share of the entries that two lists have in common.
SAME_LIST = 0.85  # The same if one of them is read in place of another that has some of them.
MAX_VALUE_TEXT = 120  # Characters of a part with a number or a date.
MAX_LABEL = 80  # Characters of a text that can be a label.
MAX_UNIT_WORDS = 3  # Of a label that says what is counted.
MAX_PIECES = 4  # Texts beside a label of which one may be the value.
MAX_SAME = 4  # Parts with the same value whose selectors are tried.
MAX_DAYS = 60  # By which the date of a page usually moves at most.
MAX_GROUPS = 40  # Groups of elements, and selectors of each, that are tried for a list.
MAX_COMPARED = 100_000  # Pairs of entries that are compared by words.
_BY_NAME, _BY_PLACE, _AMBIGUOUS = range(3)  # Selectors of one part; the last ones find other parts if it is missing.
LANDMARK_WEIGHTS = (1.5, 1.5)  # Of the same text before and after a part.
_SMALL_TAGS = ("span", "small", "dfn", "abbr", "label", "sub", "sup", "b", "strong")  # Of labels after a value.
_BY_LABEL = ("label", "table", "data")  # Selectors that cannot come to match something else.
_FIGURE = re.compile(r"\d(?:[\d.,'\u00a0\u202f ]*\d)?")
_TIME = re.compile(r"[T ]?(?<!\d)\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?(?!\d)")
_LABELLED = re.compile(r"[^:：]{1,40}[:：]\s*[^\s:：]")
_OWN_LABEL = re.compile(r"\W*([^\W\d_][^:：\d]{1,38})[:：]\s*\S")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"\w+")
_PIECE = re.compile(r"/\d+$")
_LIST_PLACE = re.compile(r"\[\d+\]$")


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
    landmarks: tuple[str, str] = ("", "")  # The nearest texts before and after it that both versions have just once.
    is_only: bool = False  # Whether no other part of the page has a value of this kind.
    is_named: bool = False  # Whether no other part of the page has its label.
    is_labelled: bool = False  # Whether its own text says its label.
    is_stated: bool = False  # Whether structured data states it where it stated the earlier value.

    @property
    def context(self) -> frozenset[str]:
        """Return the labels and headings that say what the value is."""
        return frozenset({self.label, self.row, self.column, self.heading} - {""})


_Candidate = tuple[LocatedPart, Element | None, str]
"""A part that may have the value, its element, and the attribute that states it; without an element: a selector."""

_Ranked = tuple[float, LocatedPart, Element | None, str]
"""A candidate after its score."""


def find_repair(
    before: PagePart, after: PagePart, rule: FieldRule, was: FieldReading, now: FieldReading
) -> FieldRepair | None:
    """Return a new selector for a field whose value differs, if its part seems to be elsewhere now; None: it is where
    it was, or gone. `was` is its value in `before`, `now` in `after`."""
    if was.value is None:
        return _repair_text(before, after, rule, was, now) if was.text and now.text is None else None
    leaf = _repair_leaf(before, after, rule, was) if now.value is None else None
    if leaf is not None:
        part = None if leaf.is_sure or rule.type is FieldType.LIST else _repair_value(before, after, rule, was, now)
        return part if part is not None and part.is_sure else leaf
    is_unstated = split_selector(was.select or "")[0] == "data" and now.text is None
    if is_unstated and _is_same_design(before.outline, after.outline):
        return None  # A page that looks as before states it no more; what it shows may be of another thing.
    is_list = isinstance(was.value, tuple)
    if now.value is not None and now.select == was.select and not is_list and _is_by_label(was, now, after):
        return None
    if isinstance(was.value, tuple):
        return _repair_list(before, after, rule, was.value, now.value if isinstance(now.value, tuple) else ())
    return _repair_value(before, after, rule, was, now)


def _is_by_label(was: FieldReading, now: FieldReading, after: PagePart) -> bool:
    """Return whether a value was read by its label, and reads like the earlier one."""
    select = now.select or ""
    if split_selector(select)[0] not in _BY_LABEL or _PIECE.search(select) or _is_ambiguous(select, after):
        return False
    return (
        isinstance(now.value, str | tuple) or _form(was.text) == _form(now.text) or bool(figures_of(was.text)) is False
    )


# One value


def _repair_text(
    before: PagePart, after: PagePart, rule: FieldRule, was: FieldReading, now: FieldReading
) -> FieldRepair | None:
    """Find a part again that had a text without a value, such as "sold out"."""
    if rule.type is FieldType.LIST:
        return None
    as_text = replace(rule, type=FieldType.TEXT)
    return _repair_value(before, after, as_text, was._replace(value=was.text), now)


def _repair_value(
    before: PagePart, after: PagePart, rule: FieldRule, reading: FieldReading, now: FieldReading
) -> FieldRepair | None:
    search = _Search(before, after, rule, reading, is_lost=now.value is None)
    if now.value == reading.value:
        return _repair_unit(search, now)
    ranked = search.ranked()
    if not ranked or (ranked[0][0] < PROPOSED and now.value is None):
        return None
    score, best, element, attribute = _tightest(ranked)
    others = (one for one in ranked[1:] if one[1].reading.value != best.reading.value and not search.is_other(one[1]))
    rivals = [one[0] for one in others if not _is_same_part(one, best, element)]
    is_renamed = search.is_renamed(best)  # Which decides between parts; alone it is as good as others.
    enough = score + RENAMED * is_renamed
    lead = score - rivals[0] if rivals else enough - NO_RIVAL
    is_same_design = _is_same_design(before.outline, after.outline)
    is_sure = _is_sure(enough, lead, is_same_design=is_same_design)
    is_priced = not _is_currency(reading.unit) or _is_currency(best.reading.unit)
    is_sure = is_sure and (enough >= SURE or (is_priced and (not is_renamed or best.reading.unit is not None)))
    if now.value is not None:
        is_other_selector = now.select != reading.select
        lead = score - search.score_of(now)
        doubt = 0.0 if is_other_selector else (MOVED_LEAD if is_same_design else DOUBT_LEAD)
        if lead < doubt or best.reading.value == now.value or score < PROPOSED:
            return _without_value(search, now)
        is_odd = not is_same_design and _nearness(reading, now) < 0 < _nearness(reading, best.reading)
        is_sure = is_sure and lead >= (LEAD if is_other_selector or is_odd else MOVED_LEAD)
        if not is_sure and (gone := _without_value(search, now)) is not None:
            return gone
    same = [one[2:] for one in ranked if one[1].reading.value == best.reading.value][1:MAX_SAME]
    proposed = None
    found = dict.fromkeys(css for part in [(element, attribute), *same] for css in search.selectors(*part))
    read = {select: _read(select, after, rule) for select in found}
    for select in sorted(found, key=lambda one: read[one].unit != reading.unit):
        if read[select].value != best.reading.value or _is_ambiguous(select, after):
            continue
        repair = FieldRepair(
            rule.name, rule.select, select, best.reading.text or "", is_sure, is_moved=now.value is not None
        )
        if _value_of(select, before, rule) in (None, reading.value):
            return repair
        proposed = proposed or repair._replace(is_sure=False)
    return proposed


def _repair_unit(search: _Search, now: FieldReading) -> FieldRepair | None:
    """Return a selector that also finds the currency of the same number, if the part around it has it."""
    rule, was = search.rule, search.was.reading
    parts = [one for one in search.ranked() if (one[1].reading.value, one[1].reading.unit) == (was.value, was.unit)]
    for select in (css for one in parts[:MAX_SAME] for css in search.selectors(one[2], one[3])):
        found = _read(select, search.after, rule)
        if (found.value, found.unit) == (was.value, was.unit) and not _is_ambiguous(select, search.after):
            return FieldRepair(rule.name, rule.select, select, found.text or "", is_sure=True, is_moved=True)
    return None


def _tightest(ranked: list[_Ranked]) -> _Ranked:
    """Return the best part, or the best one inside it with the same value, if it has more figures than the value."""
    score, best, element, _ = ranked[0]
    if element is None or len(figures_of(best.reading.text)) <= 1:
        return ranked[0]
    for one in ranked[1:]:
        part = one[1].reading
        is_same = (part.value, part.unit) == (best.reading.value, best.reading.unit)
        if _is_around(element, one[2]) and is_same and len(figures_of(part.text)) == 1:
            return score, *one[1:]
    return ranked[0]


def _is_same_part(one: _Ranked, best: LocatedPart, element: Element | None) -> bool:
    """Return whether a part is around the best one, or says the same with its label."""
    label, text = one[1].reading.text or "", best.reading.text or ""
    is_labelled = isinstance(best.reading.value, str) and text != label and label.endswith(text)
    return _is_around(one[2], element) or (is_labelled and _has_words(_label(label), best.label))


def _is_around(outer: Element | None, inner: Element | None) -> bool:
    return outer is not None and inner is not None and outer.start <= inner.start and inner.end <= outer.end


def _is_ambiguous(select: str, page: PagePart) -> bool:
    """Return whether a label stands beside several values: if that of the field is missing, it finds another."""
    return split_selector(select)[0] == "label" and len(parse_selector(select)(page)) > 1


class _Search:
    """The search for a part of an earlier version in the newest one."""

    def __init__(
        self, before: PagePart, after: PagePart, rule: FieldRule, reading: FieldReading, *, is_lost: bool
    ) -> None:
        self.before, self.after, self.rule = before, after, rule
        old, new = before.outline, after.outline
        self.place = place = _place(before, reading)
        was = LocatedPart(reading) if place is None else _with_context(old, place, reading, rule.type)
        self.earlier: list[_Candidate] = list(_candidates(old, rule))
        shared = old.landmarks.keys() & new.landmarks.keys()
        self._landmarks = _Landmarks(new, shared)
        self.old_landmarks = _Landmarks(old, shared)
        around = self.old_landmarks.around(place)
        self.was = was._replace(
            is_only=_is_only(self.earlier, rule, reading), is_named=_is_named(was.label, self.earlier), landmarks=around
        )
        own = _OWN_LABEL.match(reading.text or "")
        self._name = _label(rule.name.replace("_", " "))
        self.labels = ([own[1].strip()] if own is not None else []) + (_raw_labels(old, place) if place else [])
        above = old.texts[old.landmarks[around[0]]] if around[0] else ""
        self._is_single = is_lost and all(_count(page, reading, rule.type) == 1 for page in (old, new))
        self._known = _known_elsewhere(old, rule.type, self.earlier, place, was)
        self._beside = [label for label in dict.fromkeys((*self.labels, above)) if _is_label(old, label)]

    def ranked(self) -> list[_Ranked]:
        """Return the parts that may be the one, the best first; of equal ones the outermost."""
        new, rule, reading = self.after.outline, self.rule, self.was.reading
        parts: list[_Candidate] = list(_candidates(new, rule))
        parts += [(self._in_context(part, parts), None, select) for part, select in self._beside_labels()]
        is_only, is_named = _is_only(parts, rule, reading), _is_named(self.was.label, parts)
        stated = _stated(self.before, self.after, rule, reading)
        found: list[_Ranked] = []
        inner: dict[object, tuple[Element, str]] = {}  # Of each value, the last element and the label that it has.
        for part, element, name in reversed(parts):  # Elements follow those around them.
            label = part.label
            if element is not None:
                last, label = inner.get(part.reading.value, (element, label))
                label = label if _is_around(element, last) else part.label
                inner[part.reading.value] = element, label
            own = part._replace(
                is_only=is_only and part.reading.unit == reading.unit,
                is_named=is_named,
                is_stated=part.reading.value in stated,
                landmarks=self._landmarks.around(element) if element is not None else part.landmarks,
            )
            is_known = label != part.label and (part.reading.value, label) in self._known
            is_single = self._is_single and part.reading.value == reading.value
            is_called = bool(self._name) and self._name in (own.label, own.row, own.column)
            score = _score(self.was, own, self._known) - 4.0 * is_known + 1.5 * is_single + 1.5 * is_called
            score -= RENAMED * self.is_renamed(own)
            found.append((score, own, element, name))
        found.reverse()
        return sorted(found, key=lambda one: one[0], reverse=True)

    def _beside_labels(self) -> Iterator[tuple[LocatedPart, str]]:
        """Yield what stands beside labels, with a selector: the value may have no element of its own."""
        page = self.after
        for label in self._beside:
            for select in (f"label:{label}", *(f"label:{label}/{number}" for number in range(1, MAX_PIECES + 1))):
                texts = [text for text in parse_selector(select)(page) if text]
                reading = read_text(texts, self.rule.type, lang=page.lang) if len(texts) == 1 else FieldReading(None)
                if reading.value is not None:
                    yield LocatedPart(reading, _label(label), landmarks=(label_of(label), "")), select

    def _in_context(self, part: LocatedPart, parts: list[_Candidate]) -> LocatedPart:
        """Return a text beside a label with what is known about the element that it stands in."""
        hosts = ((one, element) for one, element, _ in parts if one.label == part.label and element is not None)
        text = part.reading.text or ""
        host = next((one for one in hosts if text in (one[0].reading.text or "")), None)
        return (
            part if host is None else host[0]._replace(reading=part.reading, landmarks=self._landmarks.around(host[1]))
        )

    def selectors(self, element: Element | None, name: str) -> list[str]:
        """Return selectors for a candidate, the most robust first."""
        if element is None:
            return [name]
        own = _OWN_LABEL.match(self.after.outline.text(element, MAX_VALUE_TEXT) or "") if not name else None
        page, is_text = self.after.outline, self.rule.type is FieldType.TEXT
        labels = [f"label:{own[1].strip()}"] if own is not None and not is_text else []
        first = page.texts[element.start] if element.end - element.start > 1 and not is_text else ""
        known = {self.was.label, *map(_label, self.labels)} - {""}
        is_known = _is_label(page, first) and _found(_label(first), known, 1.0, 0.0) > 0
        labels += [f"label:{first}"] if is_known else []
        return labels + list(_selectors(self.after.outline, element, name, self._beside))

    def part_of(self, now: FieldReading) -> LocatedPart | None:
        """Return the part that a selector finds now."""
        place = _place(self.after, now)
        found = _evidence(self.after.outline, place, self.rule) if place is not None else None
        return found._replace(landmarks=self._landmarks.around(place)) if found is not None else None

    def is_gone(self, now: FieldReading) -> bool:
        """Return whether the element of the earlier value has no like on the page, and what the selector finds is like
        another one of the earlier version and begins with a label of its own."""
        place, was = _place(self.after, now), self.place
        if place is None or was is None or around_value(self.was.reading.text or "", self.rule.type)[0].strip():
            return False
        old, new = ({(one.tag, one.classes) for one in page.outline.elements} for page in (self.before, self.after))
        is_other = (was.tag, was.classes) not in new and (place.tag, place.classes) in old
        return is_other and bool(_label(around_value(now.text or "", self.rule.type)[0]))

    def is_renamed(self, part: LocatedPart) -> bool:
        """Return whether the own text of a part names it, and the earlier part had neither that name nor any."""
        was = self.was
        is_new = part.is_labelled and not was.is_labelled and part.label != was.label and not part.is_only
        return is_new and not (_is_unit(was, part.context) or _is_unit(part, was.context))

    def is_other(self, part: LocatedPart) -> bool:
        """Return whether the earlier version had the same value with the same label elsewhere."""
        return bool(part.label) and (part.reading.value, part.label) in self._known

    def is_elsewhere(self, now: FieldReading) -> bool:
        """Return whether the earlier version had the same number elsewhere, not just by chance."""
        is_long = isinstance(now.value, int | float) and sum(map(str.isdecimal, now.text or "")) > 1
        return is_long and now.value != self.was.reading.value and (now.value, "") in self._known

    def score_of(self, now: FieldReading) -> float:
        """Return how much the part that the selector finds now is like the earlier one."""
        found = self.part_of(now)
        return _score(self.was, found, frozenset()) if found is not None else 0.0


class _Landmarks:
    """Texts that two versions of a page have just once, by which their parts are aligned."""

    def __init__(self, page: PageOutline, shared: AbstractSet[str]) -> None:
        found = sorted((at, text) for text, at in page.landmarks.items() if text in shared)
        self._places = [at for at, _ in found]
        self._texts = [text for _, text in found]

    def around(self, element: Element | None) -> tuple[str, str]:
        """Return the nearest ones before and after an element; empty: none."""
        if element is None:
            return "", ""
        first, last = bisect_left(self._places, element.start), bisect_left(self._places, element.end)
        return self._texts[first - 1] if first else "", self._texts[last] if last < len(self._texts) else ""


def _without_value(search: _Search, now: FieldReading) -> FieldRepair | None:
    """Return a selector of the earlier part, which finds nothing now, if the old one finds another part: one that was
    there before, whose label another part had, or, in a new design, with another label and a value of another size."""
    before, after, rule, was = search.before, search.after, search.rule, search.was
    found = search.part_of(now)
    if found is None or search.place is None or not found.label:
        return None
    others = [(part, element) for part, element, _ in search.earlier if part.reading.value != was.reading.value]
    same = [element for one, element in others if one.reading.value == now.value and one.label == found.label]
    is_known = any(
        search.old_landmarks.around(element)[0] == found.landmarks[0] != was.landmarks[0] for element in same
    ) or (bool(same) and was.is_named and found.reading.unit != was.reading.unit)
    is_new = not _is_same_design(before.outline, after.outline)
    is_known |= is_new and search.is_elsewhere(now)
    is_taken = any(one.label == found.label for one, _ in others)
    is_odd = was.is_named and (is_taken or (is_new and _nearness(was.reading, now) < 0))
    is_gone = not is_new and search.is_gone(now)
    if not (is_known or is_gone or (is_odd and not _found(found.label, {was.label}, 1.0, 0.0))):
        return None
    own = [f"css:{search.place.css_tag}{''.join(map(class_selector, search.place.classes))}"] if is_gone else []
    own += [*_selectors(before.outline, search.place, "", search.labels)]
    for select in [f"label:{one}" for one in search.labels] + own:
        if _value_of(select, before, rule) == was.reading.value and _value_of(select, after, rule) is None:
            return FieldRepair(rule.name, rule.select, select, "", is_sure=True, is_moved=True)
    return None


def _is_sure(score: float, lead: float, *, is_same_design: bool) -> bool:
    if is_same_design:
        return score >= SURE_IN_SAME_DESIGN and lead >= LEAD
    enough = ((SURE, LEAD), (CLEAR, CLEAR_LEAD), (ALONE, ALONE_LEAD))
    return any(score >= least and lead >= least_lead for least, least_lead in enough)


def part_selectors(page: PageOutline, element: Element) -> list[str]:
    """Return selectors for an element, the most robust first."""
    return list(_selectors(page, element, "", _raw_labels(page, element)))


def _selectors(page: PageOutline, element: Element, attribute: str, labels: Sequence[str]) -> Iterator[str]:
    """Yield selectors for a part, the most robust first: by its labels, and by names of what has the same text."""
    if page.language in ("json", "xpath"):
        yield from _path_selectors(page, element)
        return
    row, column = page.cell_labels(element)
    if row and not attribute and "/" not in row + column:
        yield f"table:{row}"
        if column:
            yield f"table:{row}/{column}"
    own = [] if attribute else _raw_labels(page, element)
    known = {_label(label) for label in labels}
    yield from (f"label:{label}" for label in own if _found(_label(label), known, 1.0, 0.0))
    same = [one for one in page.near_ancestors(element) if (one.start, one.end) == (element.start, element.end)]
    named = next((one for one in reversed(same) if own_selectors(one)), element) if not attribute else element
    targets = [page.elements[place] for place in dict.fromkeys((named.place, element.place))]
    ranked: dict[int, list[str]] = {_BY_NAME: [], _BY_PLACE: [], _AMBIGUOUS: []}
    targets = targets if page.language == "css" else []
    for css in [css for target in targets for css in robust_selectors(page, target)]:
        is_by_place = ":nth-of-type" in css or css.startswith("html > ")
        rank = _BY_PLACE if is_by_place else (_BY_NAME if len(page.select(css)) == 1 else _AMBIGUOUS)
        ranked[rank].append(f"css:{css}" + (f"::attr({attribute})" if attribute else ""))
    yield from ranked[_BY_NAME]
    yield from (f"label:{label}" for label in own)
    yield from (f"label:{label}/{number}" for label in labels for number in range(1, MAX_PIECES + 1))
    yield from (*ranked[_BY_PLACE], *ranked[_AMBIGUOUS])


def _path_selectors(page: PageOutline, element: Element) -> Iterator[str]:
    """Yield selectors for a value of JSON or XML."""
    path = element.attributes.get(PATH_ATTRIBUTE, "")
    entry = next((one for one in page.near_ancestors(element) if _LIST_PLACE.search(_own_step(one))), None)
    inside = [page.elements[at] for at in page.children.get(entry.place, [])] if entry is not None else []
    texts = [(one, page.text(one, MAX_LABEL) or "") for one in inside if one.place != element.place]
    names = [(_data_name(one), text) for one, text in texts if one.tag == "span" and one.attributes.get(PATH_ATTRIBUTE)]
    yield from path_selectors(path, names, page.language)


def _own_step(element: Element) -> str:
    """Return the last step of the path of an element, with its place in a list."""
    return element.attributes.get(PATH_ATTRIBUTE, "")[-8:]


def _data_name(element: Element) -> str:
    is_attribute = "/@" in element.attributes[PATH_ATTRIBUTE][-len(element.attributes["class"]) - 2 :]
    return f"@{element.attributes['class']}" if is_attribute else element.attributes["class"]


def _is_named(label: str, parts: list[_Candidate]) -> bool:
    """Return whether just one value of a page has a label, also as a part of a longer one."""
    return bool(label) and len({part.reading.value for part, _, _ in parts if _has_words(part.label, label)}) == 1


def _has_words(label: str, words: str) -> bool:
    return set(words.split()) <= set(label.split())


def _raw_labels(page: PageOutline, element: Element) -> list[str]:
    """Return the texts beside an element that may be labels."""
    return [text for text in (page.cell_labels(element)[0], _beside(page, element)) if _is_label(page, text)]


def _is_label(page: PageOutline, text: str) -> bool:
    is_short = 0 < len(text) <= MAX_LABEL // 2 and not figures_of(text)
    return is_short and label_of(text) not in ("", *page.titles)


def _stated(before: PagePart, after: PagePart, rule: FieldRule, was: FieldReading) -> frozenset[object]:
    """Return the values that structured data states now where it stated the earlier value."""
    if rule.type is FieldType.TEXT:
        return frozenset()
    paths = {path for path, text in before.data if read_text([text], rule.type).value == was.value}
    return frozenset(read_text([text], rule.type).value for path, text in after.data if path in paths)


def _value_of(select: str, page: PagePart, rule: FieldRule) -> object:
    return _read(select, page, rule).value


def _read(select: str, page: PagePart, rule: FieldRule) -> FieldReading:
    texts = [text for text in parse_selector(select)(page) if text]
    return read_text(texts, rule.type, lang=page.lang) if texts else FieldReading(None)


def _candidates(page: PageOutline, rule: FieldRule) -> Iterator[tuple[LocatedPart, Element, str]]:
    """Yield the parts of a page that can have the value, with the element, and the attribute if it states the value."""
    for element in page.elements:
        if found := _evidence(page, element, rule):
            yield found, element, ""
        stated = value_attribute(element)
        if stated is not None and rule.type is not FieldType.TEXT:
            reading = read_text([stated[1]], rule.type, lang=page.lang)
            if reading.value is not None:
                yield _with_context(page, element, reading, rule.type), element, stated[0]


def _evidence(page: PageOutline, element: Element, rule: FieldRule) -> LocatedPart | None:
    text = page.text(element, 2000 if rule.type is FieldType.TEXT else MAX_VALUE_TEXT)
    if not text or element.tag in ("html", "body", "title"):
        return None
    reading = read_text([text], rule.type, lang=page.lang)
    return None if reading.value is None else _with_context(page, element, reading, rule.type)


def _with_context(page: PageOutline, element: Element, reading: FieldReading, kind: FieldType) -> LocatedPart:
    """Return the evidence of a part. Its label is what its own text says before the value, or else the text before."""
    row, column = page.cell_labels(element)
    around: frozenset[str] = frozenset()
    for one in page.near_ancestors(element)[:3]:
        around |= name_words(one)
    start, end = around_value(reading.text or "", kind)
    beside = _beside(page, element)
    return LocatedPart(
        reading,
        _label(start) or (_label(row or column) if row or column else _label(_bare(beside or page.before(element)))),
        _label(end) or _label(page.after(element)),
        label_of(page.heading(element)),
        label_of(row),
        label_of(column),
        element.tag,
        name_words(element),
        around,
        is_labelled=bool(_label(start)),
    )


def _beside(page: PageOutline, element: Element) -> str:
    """Return the text that labels an element: before it in its container, or after it if that is all there is."""
    around = page.container(element)
    if around.start < element.start:
        return page.before(element)
    text = page.after(element) if element.end < around.end <= element.end + 2 else ""
    return text if text and page.owner(element.end).tag in (*_SMALL_TAGS, around.tag) else ""


def _bare(text: str) -> str:
    """Return a text that may be a label; nothing if it has a label and a value of its own."""
    return "" if _LABELLED.match(text) is not None else text


def _label(text: str) -> str:
    """Return a text that may be a label, without its punctuation and figures; empty if it is too long for one."""
    return " ".join(_LETTERS.findall(text.lower())) if len(text) <= MAX_LABEL else ""


def _is_only(parts: list[_Candidate], rule: FieldRule, reading: FieldReading) -> bool:
    """Return whether a page has just one value of the type and unit of a field; texts are never alone."""
    values = {part.reading.value for part, _, _ in parts if part.reading.unit == reading.unit}
    return len(values) == 1 and rule.type is not FieldType.TEXT


def _place(page: PagePart, reading: FieldReading) -> Element | None:
    """Return the element that a value was read from."""
    language, rest = split_selector(reading.select or "")
    if language == "css" and rest and (found := page.outline.select(rest.partition("::")[0])):
        return page.outline.elements[found[0]]
    if path := first_path(reading.select or "", page):
        at = [one for one in page.outline.elements if one.attributes.get(PATH_ATTRIBUTE) == path]
        return at[0] if at else None
    return _element_with(page.outline, reading.text or "", label_of(rest))


def _element_with(page: PageOutline, text: str, words: str) -> Element | None:
    """Return the innermost element with just this text, or the shortest that contains it; first one whose label is
    among the words of the selector."""
    best, least = None, (10 * MAX_VALUE_TEXT, True)
    for element in page.elements:
        found = page.text(element, len(text) + MAX_VALUE_TEXT) if text else None
        if found and text in found and len(found) <= least[0]:
            beside = map(label_of, (*page.cell_labels(element), _beside(page, element)))
            rank = len(found), not any(label and label in words for label in beside)
            best, least = (element, rank) if rank <= least else (best, least)
    return best


def _count(page: PageOutline, reading: FieldReading, kind: FieldType) -> int:
    """Return how many texts of a page have the same value and unit."""
    short = (text for text in page.texts if len(text) <= MAX_VALUE_TEXT)
    found = (read_text([text], kind, lang=page.lang) for text in short)
    return sum((one.value, one.unit) == (reading.value, reading.unit) for one in found)


def _known_elsewhere(
    page: PageOutline, kind: FieldType, earlier: list[_Candidate], place: Element | None, was: LocatedPart
) -> frozenset[tuple[object, str]]:
    """Return what the earlier version had elsewhere, with and without its label: such a part is not the lost one."""
    start, end = (place.start, place.end) if place is not None else (0, 0)
    elsewhere = [
        found
        for found, element, _ in earlier
        if element is not None and not (element.start < end and start < element.end)
    ]
    labelled = {(found.reading.value, found.label) for found in elsewhere if found.label != was.label}
    texts = [text for at, text in enumerate(page.texts) if not start <= at < end and len(text) <= MAX_VALUE_TEXT]
    values = {read_text([text], kind, lang=page.lang).value for text in texts} if kind is not FieldType.TEXT else set()
    return frozenset(labelled | {(value, "") for value in values | {found.reading.value for found in elsewhere}})


def _score(was: LocatedPart, now: LocatedPart, known: frozenset[tuple[object, str]]) -> float:
    """Return the sum of the evidence that `now` is the part that `was` describes."""
    score = 0.0
    if was.reading.value == now.reading.value:
        score += 4.0
        score += 0.5 if was.reading.text == now.reading.text else 0.0
    else:
        score += _nearness(was.reading, now.reading)
    (text, earlier) = (_TIME.sub("", one.reading.text or "") for one in (now, was))
    extra = len(figures_of(text)) - max(1, len(figures_of(earlier)))
    score -= max(0, min(extra, 3))  # A part around it, which may come to begin with another number.
    is_named_unit = _is_unit(was, now.context) or _is_unit(now, was.context)
    if was.reading.unit != now.reading.unit:
        is_price = _is_currency(was.reading.unit) and not _is_currency(now.reading.unit)
        score += 2.0 if is_named_unit else (-3.5 if is_price and not now.is_stated else -2.0)
    elif _form(earlier) == _form(text):
        is_words = was.reading.value == was.reading.text and not figures_of(was.reading.text)
        score += 0.5 if is_words else 1.5
    elif now.reading.unit is not None:
        score += 0.75
    is_plain = isinstance(was.reading.value, int | float) and was.reading.unit is None  # Any figures may be that.
    is_only = was.is_only and now.is_only and (not is_plain or _form(earlier) == _form(text))
    score += (3.5 if is_only else 0.0) + (3.0 if now.is_stated else 0.0)
    score += 1.5 if was.is_named and now.is_named and _has_words(now.label, was.label) else 0.0
    score += _found(was.label, now.context, 2.0, -0.5) + _found(was.following, {now.following}, 1.0, 0.0)
    score += _found(was.heading, now.context, 1.0, -0.5)
    score += _found(was.row, now.context, 1.5, -1.0) + _found(was.column, now.context, 1.0, -0.5)
    score += 3.0 * _overlap(was.words, now.words | now.around) + 1.0 * _overlap(was.around, now.around | now.words)
    score += 1.5 if _is_name(was.label, now.words) or _is_name(now.label, was.words) else 0.0
    score += 0.5 if was.tag == now.tag else 0.0
    score += sum(
        weight
        for one, other, weight in zip(was.landmarks, now.landmarks, LANDMARK_WEIGHTS, strict=True)
        if one and one == other
    )
    if (now.reading.value, now.label) in known:
        return score - 4.0
    is_other = was.reading.value != now.reading.value and len(now.reading.text or "") > 2
    return score - (2.0 if is_other and (now.reading.value, "") in known else 0.0)


def _is_currency(unit: str | None) -> bool:
    return unit is not None and len(unit) == 3 and unit.isupper()


def _is_unit(one: LocatedPart, labels: AbstractSet[str]) -> bool:
    """Return whether the unit of a number is a label in another design: 4,514 stars, and Stars: 4,648."""
    unit = _label(one.reading.unit or "")
    return len(unit) > 2 and any(_stems(unit) <= _stems(label) for label in labels if label.count(" ") < MAX_UNIT_WORDS)


def _is_name(label: str, names: frozenset[str]) -> bool:
    """Return whether a label of one version is the name of an element in the other."""
    return 3 <= len(label) <= MAX_LABEL // 2 and set(label.split()) <= names


def _nearness(was: FieldReading, now: FieldReading) -> float:
    """Return what two different values say: prices change by parts of themselves, dates by days and forwards."""
    if isinstance(was.value, int | float) and isinstance(now.value, int | float):
        low, high = sorted((abs(was.value), abs(now.value)))
        return 1.5 if low * 1.1 >= high else (1.0 if low * 1.5 >= high else (-2.0 if low * 3 < high else 0.0))
    if was.text == was.value and was.text and now.text:
        return 1.5 * _likeness(*(frozenset(_LETTERS.findall(one.lower())) for one in (was.text, now.text)))
    if isinstance(was.value, str) and isinstance(now.value, str):
        days = _days_between(was.value, now.value)
        return 1.5 if 0 <= days <= MAX_DAYS // 8 else (1.0 if 0 <= days <= MAX_DAYS else 0.0)
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
    words = _stems(label)
    likeness = max((_likeness(words, _stems(one)) for one in context), default=0.0)
    return same * likeness if likeness >= 0.5 else differs


def _stems(label: str) -> frozenset[str]:
    """Return the words of a label without the ends that number and case give them: star and stars are one."""
    return frozenset(word[: max(4, len(word) - 2)] for word in label.split())


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
    if kept >= SURE_LIST and (kept >= SAME_LIST or _is_same_design(before.outline, new)):
        return None
    longest = 3 * max(map(len, values)) + 50
    entries = _entry_words(values)
    is_small = len(entries) * len(new.elements) <= MAX_COMPARED
    groups: dict[tuple[str, str, str], list[int]] = {}
    for element in new.elements:
        text = new.text(element, longest)
        if not text or element.tag in ("html", "body"):
            continue
        words = frozenset(_plain(text).split())
        if _plain(text) in wanted or (is_small and any(_overlap(one, words) >= SURE_LIST for one in entries)):
            parent = new.elements[element.parent] if element.parent >= 0 else element
            groups.setdefault((element.tag, element.attributes.get("class", ""), parent.tag), []).append(element.place)
    best: tuple[float, int, str, list[str]] = (0.0, 0, "", [])
    earlier = {_plain(text) for one in before.outline.elements if (text := before.outline.text(one, longest))} - wanted
    for select in _list_selectors(new, list(groups.values()), _list_labels(before.outline, values), wanted):
        texts = parse_selector(select)(after)
        strange = sum(_plain(text) in earlier for text in texts) / max(1, len(texts))  # Was there beside the list.
        share, exact = _shared(values, texts) * (1 - strange), sum(text in values for text in texts)
        if (share, exact) > best[:2] and not 0.0 < _shared(values, parse_selector(select)(before)) < share:
            best = share, exact, select, texts
    share, _, select, texts = best
    if share < PROPOSED_LIST or (share < SAME_LIST if kept >= SURE_LIST else share < 2 * kept):
        return None
    return FieldRepair(rule.name, rule.select, select, "\n".join(texts), share >= SURE_LIST, is_moved=bool(now))


def _list_labels(page: PageOutline, values: Sequence[str]) -> list[str]:
    """Return the heading above a list and the text before it."""
    first = _element_with(page, values[0], "")
    return [] if first is None else [page.heading(first), page.before(first)]


def _list_selectors(
    page: PageOutline, groups: list[list[int]], above: list[str], wanted: AbstractSet[str]
) -> Iterator[str]:
    """Yield selectors for groups of elements, the largest group first, for what follows a label, and for the rows of
    tables."""
    found = sorted(groups, key=len, reverse=True)[:MAX_GROUPS]
    headings = dict.fromkeys([*(page.heading(page.elements[members[0]]) for members in found), *above])
    labels = [text for text in headings if 0 < len(text) <= MAX_LABEL // 2 and label_of(text) not in page.titles]
    below = [f"label:{label}/*" for label in labels if label_of(label)]
    for members in found if page.language in ("json", "xpath") else ():
        paths = [page.elements[at].attributes.get(PATH_ATTRIBUTE, "") for at in members[:MAX_GROUPS]]
        yield from list_paths(paths, page.language)
    for members in found if page.language in ("css", "text") else ():
        css = [] if page.language == "text" else [f"css:{one}" for one in group_selectors(page, members)[:MAX_GROUPS]]
        yield from (*css, *below) if css and has_named_container(page, members) else (*below, *css)
    if not found:
        yield from below
    for table in page_tables(page):
        labels = [row[0] for row in table.rows if len(row) > 1 and label_of(row[0])]
        known = (one for one in labels if any(text.startswith(_plain(one)) for text in wanted))
        label = next(known, labels[0] if labels else "")
        if label and "/" not in label:
            yield f"table:{label}/*"


def _shared(wanted: Sequence[str], texts: Sequence[str]) -> float:
    """Return how much two lists have in common, 0 to 1; entries that share words count in part."""
    old, new = (_entry_words(some) for some in (wanted, texts))
    if not old or not new or len(old) * len(new) > MAX_COMPARED:
        known = set(new)
        return 2 * sum(one in known for one in old) / max(1, len(old) + len(new))
    return 2 * sum(max(_entry_likeness(one, other) for other in new) for one in old) / (len(old) + len(new))


def _entry_words(entries: Iterable[str]) -> list[frozenset[str]]:
    """Return the words of each entry of a list, without those that all of them have: these belong to the design."""
    found = [frozenset(text.split()) for text in map(_plain, entries)]
    shared = frozenset[str].intersection(*found) if len(found) > 1 else frozenset()
    return [words - shared or words for words in found]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _entry_likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two entries of lists have in common; their words say more than their figures, which change."""
    words, others = (frozenset(word for word in some if not word[0].isdecimal()) for some in (one, other))
    have_figures = len(words) < len(one) and len(others) < len(other)
    return max(_likeness(one, other), 0.9 * _likeness(words, others) if have_figures else 0.0)


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


# Structured data in HTML


class DataLeaf(NamedTuple):
    path: str
    key: str
    parent: str
    text: str


def _leaves(page: PagePart) -> list[DataLeaf]:
    """Return the values of structured data in a page, with their paths."""
    named = (("", *path.split("."), path, text) for path, text in page.data) if page.is_html else ()
    return [DataLeaf(path, key, parent, text) for *_, parent, key, path, text in named]


def _repair_leaf(before: PagePart, after: PagePart, rule: FieldRule, reading: FieldReading) -> FieldRepair | None:
    """Find a value of structured data by its key and its value."""
    if split_selector(reading.select or rule.select)[0] != "data":
        return None
    old, new = _leaves(before), _leaves(after)
    is_list = rule.type is FieldType.LIST

    def value_of(text: str) -> FieldValue | tuple[str, ...]:
        return text if is_list else read_text([text], rule.type).value

    wanted = set(reading.value) if isinstance(reading.value, tuple) else {reading.value}
    same = [leaf for leaf in old if value_of(leaf.text) in wanted]
    was = next((leaf for leaf in same if leaf.key in rule.select), same[0] if same else None)
    if was is None:
        return None
    is_only = all(len({leaf.path for leaf in some if leaf.key == was.key}) == 1 for some in (old, new))
    best: dict[str, tuple[float, FieldValue | tuple[str, ...]]] = {}
    for leaf in new:
        value = value_of(leaf.text)
        score = 4.0 * (value in wanted) + 3.0 * (leaf.key == was.key) + 1.5 * (leaf.parent == was.parent)
        score += 2.0 * (is_only and leaf.key == was.key) + _nearness(reading, FieldReading(value, leaf.text))
        if leaf.path not in best or score > best[leaf.path][0]:
            best[leaf.path] = score, value
    ranked = sorted(best.items(), key=lambda one: -one[1][0])
    if not ranked or ranked[0][1][0] < PROPOSED:
        return None
    path, (score, value) = ranked[0]
    select = f"data:{path}"
    if _value_of(select, after, rule) is None:
        return None
    text = "\n".join(parse_selector(select)(after))
    rival = next((one[0] for _, one in ranked[1:] if is_list or one[1] != value), 0.0)
    is_sure = _is_sure(score, score - rival, is_same_design=False)
    return FieldRepair(rule.name, rule.select, select, text, is_sure)
