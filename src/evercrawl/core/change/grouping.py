"""Groups of changes: the same edit on many pages is one group, and the most significant group comes first.
Lists follow pages: when a page is added, edited or removed, archives, feeds, indexes and numbered lists change too.
Such pages are listed after the page that caused the change, or in one last group of their site."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log2
from typing import NamedTuple
from urllib.parse import unquote

from xxhash import xxh3_64_intdigest

from evercrawl.core.change.detectors import bytes_change
from evercrawl.core.change.text_diff import ELLIPSIS
from evercrawl.core.url import path_of, site_of
from evercrawl.model.change import Change, ChangeClass, Edit, Sign

MIN_SHARED_VISITS = 0.6  # Edits form one group if this share of their visits is the same.
MAX_COMPARED_EDITS = 200  # An edit is compared with this many groups, the largest first.
MAX_ENTRY_WORDS = 14  # A longer text of a list, numbers aside, is a summary, not the name of an entry.
MAX_ENTRY_LABEL_WORDS, MAX_ENTRY_LABELS = 3, 3  # Of a label beside an entry; labels per entry.
MAX_MINOR_WORDS = 16  # A longer block with another number is prose.
MAX_LOG_WORDS = 8
MIN_SENTENCE_WORDS = 8
MAX_STAMP_WORDS = 3  # "27 Oct", "5 s", "3 days ago".
MAX_MENTION_WORDS = 20  # A longer text that names a page is prose.
MAX_QUOTED_PAGES = 8  # New pages with the same words that are compared.
MIN_QUOTED_WORDS = 4  # Fewer words may be equal by chance.
MIN_SHIFT_SIZE = 0.1  # Share of a list page that differs when its entries move.
MIN_MOVED_ENTRIES = 3  # So many entries of one page follow from others where it is a list.
MAX_AUTHORED_SHARE = 0.2  # Of the pages with an edit, those on which an author made it; on the others it is repeated.
MAX_LISTED_EDITS = 24  # Edits of lists that are shown as an example.
MAX_CAUSE_CHARS = 20_000
_WORD = re.compile(r"[^\W_]+")
_STEP = re.compile("/(?=.)")
_VIEW_NAMES = frozenset(("raw", "source", "print", "history", "diff"))
_TIME = re.compile(r"\b\d{1,2}[:.]\d\d(?::\d\d)?[zZ]?\b(?![.,:]?\d)")
_PRICE = re.compile(r"\d[.,]\d\d\b|\b[A-Z]{3}\s?\d|\d\s?[A-Z]{3}\b")
_TITLE_PARTS = re.compile(r"\s[-–—|·»/]\s|[|:\[\]»•]")
_BYTES_KEYS = frozenset(edit.key for edit in bytes_change().edits)  # Of a change whose text is unknown.


class CausePage(NamedTuple):
    """A page that was added, edited or removed, as lists may name it."""

    url: str
    title: str = ""
    text: str = ""  # Empty: not read.
    is_edited: bool = False  # It was there before, and still is.
    is_gone: bool = False


class EditGroup(NamedTuple):
    """Pages that changed in the same way."""

    kind: ChangeClass
    size: float  # The largest change among them.
    pages: tuple[str, ...]  # Those with the edit, then those that only list them.
    edits: tuple[Edit, ...]  # Those of one page as an example, then what only other pages have.
    is_template: bool
    omitted: int = 0  # Edits of the page that are not stored.
    listings: tuple[str, ...] = ()  # Pages, the last of `pages`, of which only lists have changed.
    keys: tuple[int, ...] = ()  # The keys of all their edits, also of those that are not shown.

    @property
    def is_listing(self) -> bool:
        """Whether only lists have changed, and the page behind it is new, removed or unknown."""
        return bool(self.listings) and len(self.listings) == len(self.pages)


class _Visit(NamedTuple):
    """A change of a page."""

    place: int
    url: str
    change: Change


def group_changes(
    changes: Iterable[tuple[str, Change]], *, causes: Sequence[CausePage] = (), with_noise: bool = False
) -> list[EditGroup]:
    """Return the groups of the given changes (page URL, change), the most significant first.
    `causes`: pages that were added, edited or removed at the same time. A template edit on a single page, or that only
    follows from them, is shown only `with_noise`."""
    changes = list(changes)
    views = _find_views({url for url, _ in changes}, [cause.url for cause in causes])
    causes = [cause for cause in causes if cause.is_edited or cause.url not in views]
    changes.sort(key=lambda change: change[0] in views)
    visits = [_Visit(place, url, change) for place, (url, change) in enumerate(changes)]
    lists = {site: _Lists(found, causes_of) for site, found, causes_of in _by_site(visits, causes)}
    listing = {place: cause for of_site in lists.values() for place, cause in of_site.causes().items()}
    own = [visit for visit in visits if visit.place not in listing]
    listed = {visit.url for visit in visits if visit.place in listing}
    edited = {visit.url for visit in own if visit.change.changed}
    groups = _attach(_fold_minor(_edit_groups(own)), visits, listing)
    groups = [_sort_entries(group, lists[site_of(group.pages[0])]) if group.is_listing else group for group in groups]
    for group in _edit_groups(visits, template=True):
        is_of_lists = not listed.isdisjoint(group.pages) and edited.isdisjoint(group.pages)
        is_of_lists = is_of_lists and len(listed.intersection(group.pages)) * 2 >= len(group.pages)
        follows = is_of_lists or lists[site_of(group.pages[0])].explain_all(group)
        groups += [group] if with_noise or (len(group.pages) > 1 and not follows) else []
    mixed = dict(page for of_site in lists.values() for page in of_site.pages_with_moved_entries())
    return sorted(groups, key=lambda group: _significance(group, mixed, views), reverse=True)


def _find_views(changed: set[str], others: Sequence[str]) -> set[str]:
    """Return the pages that show a changed one, whose whole path begins or ends theirs: its history, source or text."""
    paths = {(site_of(url), path_of(url)) for url in changed}
    return {url for url in {*changed, *others} if any((site_of(url), shown) in paths for shown in _shown_paths(url))}


def _shown_paths(url: str) -> list[str]:
    path = path_of(url)
    page, _, name = path.rstrip("/").rpartition("/")
    ends = [path[slash.start() :] for slash in _STEP.finditer(path)][1:]
    return [*ends, page, f"{page}/"] if page and name in _VIEW_NAMES else ends


# The same edit


def _edit_groups(visits: Sequence[_Visit], *, template: bool = False) -> list[EditGroup]:
    """Return the groups of edits of the content, or of the template."""
    edits: dict[int, Edit] = {}
    visits_of: dict[int, dict[int, None]] = defaultdict(dict)
    by_place = {visit.place: visit for visit in visits}
    for visit in visits:
        for edit in visit.change.edits:
            is_template = edit.is_template or edits.get(edit.key, edit).is_template
            edits[edit.key] = edit._replace(is_template=is_template)
            visits_of[edit.key][visit.place] = None
    authored = _authored_copies(visits, visits_of)
    chosen = {key: places for key, places in visits_of.items() if edits[key].is_template is template}
    for key, own in authored.items():
        chosen[key] = {place: None for place in visits_of[key] if (place in own) is not template}
        edits[key] = edits[key]._replace(is_template=template)
    return [_group(keys, edits, chosen, by_place) for keys in _group_by_visits(chosen) if chosen[keys[0]]]


def _authored_copies(visits: Sequence[_Visit], visits_of: Mapping[int, dict[int, None]]) -> dict[int, set[int]]:
    """Return the edits that the template repeats, as a table of contents does, and the visits that have both."""
    found: dict[int, set[int]] = defaultdict(set)
    for visit in visits:
        own = {edit.key for edit in visit.change.edits if not edit.is_template}
        for key in own.intersection(edit.key for edit in visit.change.edits if edit.is_template):
            found[key].add(visit.place)
    return {key: own for key, own in found.items() if len(own) <= max(1, MAX_AUTHORED_SHARE * len(visits_of[key]))}


def _group_by_visits(visits_of: Mapping[int, dict[int, None]]) -> list[list[int]]:
    """Return the edits in lists of those seen at the same visits, the most frequent first."""
    same: dict[frozenset[int], list[int]] = {}
    for key, visits in visits_of.items():
        same.setdefault(frozenset(visits), []).append(key)
    lists: list[tuple[frozenset[int], list[int]]] = []
    for visit_set, keys in sorted(same.items(), key=lambda entry: len(entry[0]), reverse=True):
        nearly = (known for known in lists[:MAX_COMPARED_EDITS] if _is_similar(known[0], visit_set))
        target = next(nearly, None) if len(visit_set) > 1 else None
        if target is None:
            lists.append((visit_set, keys))
        else:
            target[1].extend(keys)
    return [keys for _, keys in lists]


def _is_similar(known: frozenset[int], visit_set: frozenset[int]) -> bool:
    common = len(known & visit_set)
    return common >= MIN_SHARED_VISITS * (len(known) + len(visit_set) - common)


def _group(
    keys: list[int], edits: Mapping[int, Edit], visits_of: Mapping[int, dict[int, None]], by_place: Mapping[int, _Visit]
) -> EditGroup:
    wanted = set(keys)
    visits = [by_place[place] for place in dict.fromkeys(place for key in keys for place in visits_of[key])]
    is_template = all(edits[key].is_template for key in keys)
    found = [visit.change for visit in visits]
    kind = ChangeClass.NOISE if is_template else max((change.kind for change in found), key=_rank)
    size = 0.0 if is_template else max(change.size for change in found)
    pages = tuple(dict.fromkeys(visit.url for visit in visits))
    example = max(found, key=lambda change: sum(edit.key in wanted for edit in change.edits))
    own = {edit.key for edit in example.edits if not edit.is_template}
    shown = tuple(edit for edit in example.edits if edit.key in wanted and not (edit.is_template and edit.key in own))
    others = tuple(edits[key] for key in keys if key not in {edit.key for edit in shown})
    omitted = 0 if is_template else example.omitted
    return EditGroup(kind, size, pages, shown + others, is_template, omitted, keys=tuple(keys))


def _fold_minor(groups: list[EditGroup]) -> list[EditGroup]:
    """Add groups of dates and numbers to the group that has their pages: they follow from its edit."""
    home = {page: group for group in reversed(groups) if not _is_minor_group(group) for page in group.pages}
    extra: dict[int, list[EditGroup]] = defaultdict(list)
    kept = []
    for group in groups:
        homes = {id(home[page]): home[page] for page in group.pages if page in home}
        if len(homes) == 1 and _is_minor_group(group):
            extra[next(iter(homes))].append(group)
        else:
            kept.append(group)
    return [_with_folded(group, extra[id(group)]) for group in kept]


def _with_folded(group: EditGroup, others: Sequence[EditGroup]) -> EditGroup:
    if not others:
        return group
    pages = dict.fromkeys([*group.pages, *(page for other in others for page in other.pages)])
    edits = (*group.edits, *(edit for other in others for edit in other.edits))
    keys = (*group.keys, *(key for other in others for key in other.keys))
    return group._replace(pages=tuple(pages), edits=edits, keys=keys)


# Rank


def _significance(
    group: EditGroup, mixed: Mapping[str, bool], views: set[str]
) -> tuple[int, bool, bool, int, float, int]:
    """Return what groups are sorted by: prose, other content, both on pages that mostly follow from others, as lists
    with summaries do, or are views of others, metadata, lists, the template, noise; of each, those last whose pages
    also follow from others, and sentences before short lines. `mixed`: such pages, and whether they mostly follow."""
    tier = 6 if any(map(_is_prose, group.edits)) else 5
    are_lists = all(mixed.get(page) for page in group.pages) and not any(map(_is_edited_sentence, group.edits))
    if are_lists or views.issuperset(group.pages):
        tier -= 2
    tier = tier if group.kind is ChangeClass.CONTENT else 2
    tier = 0 if group.is_template else 1 if group.is_listing else tier
    size = group.size if _BYTES_KEYS.isdisjoint(group.keys) else 0.0
    size /= 1 + log2(max(1, len(group.pages) - len(group.listings)))
    texts = (" ".join(run.text for run in edit.words) for edit in group.edits if _is_prose(edit))
    has_sentence = any(len(text.split()) >= MIN_SENTENCE_WORDS for text in texts)
    return tier, not mixed.keys() >= set(group.pages), has_sentence, _rank(group.kind), size, len(group.pages)


def _is_edited_sentence(edit: Edit) -> bool:
    """Return whether a few words of a text changed: nobody but an author does that, also on a page with lists."""
    return _is_reworded(edit, MIN_SENTENCE_WORDS) and _is_prose(edit)


def _is_reworded(edit: Edit, least: int = 2) -> bool:
    """Return whether a block kept at least as many words as came or went."""
    counts = {sign: sum(len(run.text.split()) for run in edit.words if run.sign == sign) for sign in " -+"}
    return edit.sign == "~" and counts[" "] >= max(least, counts["-"], counts["+"])


def _rank(kind: ChangeClass) -> int:
    return list(ChangeClass).index(kind)


def _is_prose(edit: Edit) -> bool:
    """Return whether words of a text changed, and not only an entry of a list, a date or a number."""
    return not (edit.is_template or edit.is_entry or edit.key in _BYTES_KEYS or _is_minor(edit) or _is_log_line(edit))


def _is_log_line(edit: Edit) -> bool:
    """Return whether the edit is a short line with a number or a time of day, as in lists of revisions and visits."""
    text = " ".join(run.text for run in edit.words)
    if edit.sign == "~":
        return False
    is_short = len(text.split()) <= MAX_LOG_WORDS and _has_digit(text)
    return is_short or (len(text.split()) <= MAX_MINOR_WORDS and _TIME.search(text) is not None)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _is_minor_group(group: EditGroup) -> bool:
    return all(_is_minor(edit) or _is_number_only(edit) for edit in group.edits)


def _is_minor(edit: Edit) -> bool:
    """Return whether the edit exchanges dates or numbers in a short block."""
    if edit.is_template:
        return False
    words = sum(len(run.text.split()) for run in edit.words if run.sign != "+")
    changed = {sign: [run.text for run in edit.words if run.sign == sign] for sign in "-+"}
    return words <= MAX_MINOR_WORDS and all(
        texts and any(char.isdigit() for text in texts for char in text) for texts in changed.values()
    )


# Lists


def _by_site(
    visits: Sequence[_Visit], causes: Sequence[CausePage]
) -> Iterator[tuple[str, list[_Visit], list[CausePage]]]:
    found: dict[str, list[_Visit]] = defaultdict(list)
    for visit in visits:
        found[site_of(visit.url)].append(visit)
    causes_of: dict[str, list[CausePage]] = defaultdict(list)
    for cause in causes:
        causes_of[site_of(cause.url)].append(cause)
    for site, its_visits in found.items():
        yield site, its_visits, causes_of[site]


class _Lists:
    """Tells which edits of a site follow from other pages: an entry that came with a new page, went with a removed one,
    or moved to another list."""

    def __init__(self, visits: Sequence[_Visit], causes: Sequence[CausePage]) -> None:
        self._visits = visits
        self._places: dict[tuple[Sign, str], set[str]] = defaultdict(set)
        for visit in visits:
            for edit in visit.change.edits:
                for sign, text in _sides(edit):
                    self._places[sign, text].add(visit.url)
        self._named: dict[str, CausePage] = {}
        self._entries: dict[str, CausePage] = {}  # Lines of new pages, which may be lists themselves.
        self._quoted: dict[int, list[CausePage]] = defaultdict(list)
        for cause in sorted(causes, key=lambda cause: cause.is_edited, reverse=True):
            if not cause.is_edited:
                self._entries |= dict.fromkeys(_short_lines(cause.text), cause)
                for shingle in dict.fromkeys(_shingles(_fold(cause.text[:MAX_CAUSE_CHARS]).split())):
                    if len(self._quoted[shingle]) < MAX_QUOTED_PAGES:
                        self._quoted[shingle].append(cause)
        for cause in sorted(causes, key=lambda cause: cause.is_edited, reverse=True):
            self._named |= dict.fromkeys(_names(cause), cause)

    def causes(self) -> dict[int, CausePage]:
        """Return the visits to pages of which only lists changed, and what changed them."""
        found = {visit.place: cause for visit in self._visits if (cause := self._cause_of(visit)) is not None}
        return found | self._followers([visit for visit in self._visits if visit.place not in found])

    def _cause_of(self, visit: _Visit) -> CausePage | None:
        """Return what changed the lists of a page, without a URL if it is unknown; None: more than lists changed."""
        own = [edit for edit in visit.change.edits if not edit.is_template]
        if not own or visit.change.kind is not ChangeClass.CONTENT:
            return None
        shown = visit.change.edits if self._is_quote(own, visit.url) else own
        entries = [edit for edit in shown if _is_entry(edit)]
        found = self._explained_entries(entries, visit.url)
        if not found:
            return CausePage("") if self._has_shifted(own, visit.url) else None
        if not self._follow(own, found, visit):
            return None
        # An entry that nobody else lists was added by an editor.
        if len(own) == len(entries) and not self._is_shared(visit):
            return None
        return next((cause for cause in found.values() if cause.is_edited), next(iter(found.values())))

    def pages_with_moved_entries(self) -> Iterator[tuple[str, bool]]:
        """Yield the pages with entries that came or went with other pages, or several that mention changed ones, and
        whether these are most of what changed, or many."""
        for visit in self._visits:
            own = [edit for edit in visit.change.edits if not edit.is_template]
            entries = [text for edit in own if _is_entry(edit) for _, text in _sides(edit)]
            mentioned = {cause.url: cause for text in entries for cause in self._mentioned(text, visit.url)}
            if self._explained_entries(own, visit.url) or len(mentioned) > 1:
                explained = sum(self._explain(edit, visit.url) is not None for edit in own)
                others = sum(not cause.is_edited for cause in mentioned.values())  # New and removed pages.
                is_most = explained * 2 > len(own) or others * 2 >= len(own)
                yield visit.url, is_most or max(explained, len(mentioned)) >= MIN_MOVED_ENTRIES

    def _followers(self, visits: Sequence[_Visit]) -> dict[int, CausePage]:
        """Return which visits show entries of lists, and besides them only a part of what one other page shows."""
        left = {visit.place: self._unexplained(visit) for visit in visits}
        pages: dict[int, list[_Visit]] = defaultdict(list)
        for visit in visits:
            for key in left[visit.place]:
                pages[key].append(visit)
        found = {}
        for visit in visits:
            rest = left[visit.place]
            if not rest or len(rest) == sum(not edit.is_template for edit in visit.change.edits):
                continue
            others = pages[min(rest, key=lambda key: len(pages[key]))][:MAX_COMPARED_EDITS]
            leader = next((other for other in others if left[other.place] > rest and other.url != visit.url), None)
            if leader is not None:
                found[visit.place] = CausePage(leader.url, is_edited=True)
        return found

    def _unexplained(self, visit: _Visit) -> set[int]:
        """Return the keys of the edits that do not follow from other pages."""
        own = [edit for edit in visit.change.edits if not edit.is_template]
        found = self._explained_entries(own, visit.url)
        signs: set[str] = {edit.sign for edit in own if edit.key in found}
        room = {edit.key for edit in own if _makes_room(edit, signs)}
        return {edit.key for edit in own} - found.keys() - room

    def _explained_entries(self, edits: Sequence[Edit], url: str) -> dict[int, CausePage]:
        """Return the entries that follow from other pages. A short text without a link that went here and came there
        may be a label. One that kept most words was edited, also if a new page has it, as the view of a revision."""
        found = {edit: cause for edit in filter(_is_entry, edits) if (cause := self._explain(edit, url))}
        is_named = {edit: cause.is_gone or (cause.url and not _is_reworded(edit)) for edit, cause in found.items()}
        return {edit.key: cause for edit, cause in found.items() if edit.is_entry or is_named[edit]}

    def _has_shifted(self, own: Sequence[Edit], url: str) -> bool:
        """Return whether all texts of a page came from other pages and went to others, as in numbered lists.
        A paragraph that an editor moved goes to one page, and nothing comes back from a third. Among several entries
        one text is enough."""
        partners: dict[str, set[str]] = {"+": set(), "-": set()}
        for edit in own:
            if edit.is_entry or _is_number_only(edit):
                continue
            for sign, text in _sides(edit):
                elsewhere = self._places["+" if sign == "-" else "-", text] - {url}
                if not elsewhere and self._quotes(text, url) is None:
                    return False
                partners[sign] |= elsewhere
        others = partners["+"] | partners["-"]
        if sum(edit.is_entry for edit in own) > 1:
            return bool(others)
        return bool(partners["+"]) and bool(partners["-"]) and len(others) > 1

    def _is_quote(self, own: Sequence[Edit], url: str) -> bool:
        """Return whether a page shows only counters and texts of new and removed pages besides entries."""
        causes = (self._explain(edit, url) for edit in own if not _is_number_only(edit))
        return all(cause is not None and cause.url and not cause.is_edited for cause in causes)

    def _follow(self, own: Sequence[Edit], found: Mapping[int, CausePage], visit: _Visit) -> bool:
        """Return whether all edits of a page follow from other pages, some entries of its lists given.
        An entry that went when another came, or came when another went, has made room or filled it. Where entries come
        and go and make up much of the page, each may have a summary."""
        signs = [edit.sign for edit in own if edit.key in found]
        labels = [edit for edit in own if edit.key not in found and _may_be_label(edit) and edit.sign in signs]
        labelled = {edit.key for edit in labels} if len(labels) <= MAX_ENTRY_LABELS * len(signs) else set()
        named = {cause.url for cause in found.values()}
        left = [
            edit.sign
            for edit in own
            if not (
                edit.key in found
                or edit.key in labelled
                or _is_number_only(edit)
                or _makes_room(edit, set(signs))
                or self._is_explained(edit, visit.url, named)
            )
        ]
        if not left:
            return True
        is_shift = {"+", "-"}.issubset(signs) and visit.change.size >= MIN_SHIFT_SIZE
        return is_shift and all(sign != "~" and left.count(sign) <= signs.count(sign) + 1 for sign in left)

    def _is_explained(self, edit: Edit, url: str, named: set[str]) -> bool:
        """Return whether an edit follows from other pages. A list that quotes a new page names it too; a page that
        does not was edited, and the new one shows its revision."""
        if self._explain(edit, url) is None:
            return False
        quoted = [cause for _, text in _sides(edit) for cause in self._quoted_pages(text, url)]
        return _is_entry(edit) or not quoted or any(cause.url in named for cause in quoted)

    def explain_all(self, group: EditGroup) -> bool:
        """Return whether edits of a template follow from other pages, such as those of a list of the newest pages."""
        found = {edit.key for edit in group.edits if self._follows(edit, group.pages)}
        return bool(found) and all(
            edit.key in found or _is_number_only(edit) or _is_entry(edit) for edit in group.edits
        )

    def _follows(self, edit: Edit, pages: Sequence[str]) -> bool:
        """Return whether an edit names a page, or quotes one that does not itself have the edit."""
        cause = self._explain(edit, "")
        if cause is None or not cause.url:
            return False
        return cause.url not in pages or any(self._named.get(text) is cause for _, text in _sides(edit))

    def names_cause(self, edit: Edit) -> bool:
        """Return whether an edit names a page that was added or removed."""
        causes = (self._named.get(text) for _, text in _sides(edit))
        return any(cause is not None and not cause.is_edited for cause in causes)

    def is_unexplained(self, edit: Edit) -> bool:
        """Return whether a text of a list page is neither an entry nor known from other pages."""
        return not _is_entry(edit) and not _is_number_only(edit) and self._explain(edit, "") is None

    def _is_shared(self, visit: _Visit) -> bool:
        """Return whether an entry of the page also came, went or moved elsewhere."""
        texts = {text for edit in visit.change.edits for _, text in _sides(edit)}
        return any(self._places["-", text] | self._places["+", text] != {visit.url} for text in texts)

    def _explain(self, edit: Edit, url: str) -> CausePage | None:
        """Return the page from which an edit follows; None: there is none. Of a replaced entry one side is enough."""
        causes = [self._explain_side(sign, text, url, edit) for sign, text in _sides(edit)]
        found = [cause for cause in causes if cause is not None]
        if not found or (len(found) < len(causes) and not (edit.is_entry or edit.is_template)):
            return None
        return next((cause for cause in found if cause.url), found[0])

    def _explain_side(self, sign: Sign, text: str, url: str, edit: Edit) -> CausePage | None:
        named = self._named.get(text) or (self._entries.get(text) if edit.is_entry else None)
        if named is not None and named.url == url:
            named = None
        if named is not None and not named.is_edited:
            return named
        if (quoted := self._quotes(text, url)) is not None:
            return quoted
        if self._places["+" if sign == "-" else "-", text] - {url}:
            return CausePage("")
        # A block that still names the removed page has only lost the link to it.
        gone = (cause for cause in self._mentioned(text, url) if cause.is_gone)
        return named or (next(gone, None) if sign == "-" or edit.sign == "~" else None)

    def _mentioned(self, text: str, url: str) -> Iterator[CausePage]:
        """Yield the other changed pages that a short block names, if by more than a word."""
        words = text.split()
        if len(words) <= MAX_MENTION_WORDS:
            runs = (" ".join(words[at:end]) for at in range(len(words)) for end in range(at + 2, len(words) + 1))
            found = (self._named.get(run) for run in runs)
            yield from (cause for cause in found if cause is not None and cause.url != url)

    def _quotes(self, text: str, url: str) -> CausePage | None:
        """Return a new or removed page from which a text is taken."""
        return next(iter(self._quoted_pages(text, url)), None)

    def _quoted_pages(self, text: str, url: str) -> list[CausePage]:
        """Return the new and removed pages from which a text is taken, judged by its first and last words."""
        shingles = list(_shingles(text.split()))
        if not shingles:
            return []
        first, last = self._quoted.get(shingles[0], []), self._quoted.get(shingles[-1], [])
        is_on_page = any(cause.url == url for cause in (*first, *last))
        return [] if is_on_page or not last else first


def _sides(edit: Edit) -> Iterator[tuple[Sign, str]]:
    """Yield what an edit removed and added, up to the first words that are left out."""
    signs: tuple[Sign, ...] = ("-", "+")
    for sign in signs:
        if any(run.sign == sign for run in edit.words):
            text = "".join(run.text for run in edit.words if run.sign in (sign, " "))
            if folded := _fold(text.strip(ELLIPSIS).partition(ELLIPSIS)[0]):
                yield sign, folded


def _fold(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _shingles(words: Sequence[str]) -> Iterator[int]:
    for at in range(len(words) - MIN_QUOTED_WORDS + 1):
        yield xxh3_64_intdigest(" ".join(words[at : at + MIN_QUOTED_WORDS]).encode("utf-8", "surrogatepass"))


def _names(cause: CausePage) -> Iterator[str]:
    """Yield how lists may name a page: by its title, a part of it, or the end of its URL."""
    end = unquote(path_of(cause.url)).rstrip("/").rpartition("/")[2]
    ends = end, end.rpartition(":")[2], end.rpartition(".")[0]
    yield from filter(None, map(_fold, (cause.title, *_TITLE_PARTS.split(cause.title)[:2], *ends)))


def _short_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that may be entries: a new page of a list has those of the page before."""
    for line in text[:MAX_CAUSE_CHARS].splitlines():
        folded = _fold(line)
        if folded and len(folded.split()) <= MAX_ENTRY_WORDS:
            yield folded


def _is_entry(edit: Edit) -> bool:
    """Return whether an edit is an entry of a list, by its links or because it is no longer than one."""
    words = ([word for word in text.split() if not word.isdecimal()] for _, text in _sides(edit))
    return edit.is_entry or all(len(found) <= MAX_ENTRY_WORDS for found in words)


def _may_be_label(edit: Edit) -> bool:
    """Return whether an entry may be a part of another one, such as "read more"."""
    return edit.is_entry and all(len(text.split()) <= MAX_ENTRY_LABEL_WORDS for _, text in _sides(edit))


def _makes_room(edit: Edit, signs: set[str]) -> bool:
    """Return whether an entry went when others came, or came when others went."""
    return edit.is_entry and not signs.isdisjoint({"+": "-~", "-": "+~"}.get(edit.sign, "+-~"))


def _is_number_only(edit: Edit) -> bool:
    """Return whether an edit changes nothing but counts, ages and the numbers of pages; prices are no counts."""
    changed = "".join(run.text for run in edit.words if run.sign != " ")
    is_stamp = all(len(text.split()) <= MAX_STAMP_WORDS and _has_digit(text) for _, text in _sides(edit))
    if any(char.isalpha() for char in changed) and not is_stamp:
        return False
    if _PRICE.search("".join(run.text for run in edit.words)):
        return False
    return not any(unicodedata.category(char) == "Sc" for run in edit.words for char in run.text)


def _attach(groups: list[EditGroup], visits: Sequence[_Visit], listing: Mapping[int, CausePage]) -> list[EditGroup]:
    """Add pages of which only lists changed to the group of the page behind it, or to one group of their site."""
    home: dict[str, int] = {}
    for number, group in enumerate(groups):
        for page in group.pages:
            home.setdefault(page, number)
    followers: dict[int, list[_Visit]] = defaultdict(list)
    of_site: dict[str, list[_Visit]] = defaultdict(list)
    for visit in visits:
        cause = listing.get(visit.place)
        if cause is not None and cause.url in home:
            followers[home[cause.url]].append(visit)
        elif cause is not None:
            of_site[site_of(visit.url)].append(visit)
    attached = [_with_lists(group, followers[number]) for number, group in enumerate(groups)]
    return attached + [_list_group(found) for found in of_site.values()]


def _with_lists(group: EditGroup, found: Sequence[_Visit]) -> EditGroup:
    listings = tuple(dict.fromkeys(visit.url for visit in found if visit.url not in group.pages))
    own = (edit.key for visit in found for edit in visit.change.edits if not edit.is_template)
    keys = dict.fromkeys([*group.keys, *own])
    return group._replace(pages=group.pages + listings, listings=listings, keys=tuple(keys))


def _list_group(found: Sequence[_Visit]) -> EditGroup:
    """Return the group of pages of one site of which only lists changed."""
    pages = tuple(dict.fromkeys(visit.url for visit in found))
    edits = {edit.key: edit for visit in found for edit in visit.change.edits if not edit.is_template}
    often: dict[int, int] = defaultdict(int)
    for visit in found:
        for edit in visit.change.edits:
            often[edit.key] += 1
    ranked = sorted(edits.values(), key=lambda edit: often[edit.key], reverse=True)
    size = max(visit.change.size for visit in found)
    return EditGroup(ChangeClass.CONTENT, size, pages, tuple(ranked), False, listings=pages, keys=tuple(edits))


def _sort_entries(group: EditGroup, lists: _Lists) -> EditGroup:
    """Show entries of new and removed pages first, then texts that may be more than summaries, and some that moved."""

    def rank(edit: Edit) -> tuple[bool, bool, bool]:
        return lists.names_cause(edit), lists.is_unexplained(edit), _is_entry(edit)

    ranked = sorted(group.edits, key=rank, reverse=True)
    shown = tuple(ranked[:MAX_LISTED_EDITS])
    return group._replace(edits=shown, omitted=len(ranked) - len(shown))
