"""Changes whose verdict waits: what differs on one page may differ on all, which only other pages can tell.
A change is held until some more pages of its site were compared, or for a limited time, and then judged once more with
what is known by then."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from struct import Struct
from typing import Any, NamedTuple
from zlib import compress

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.classify import MIN_SITE_PAGES, ClassifiedChange, HunkClass, classify_difference
from evercrawl.core.change.hunk import MIN_VARIATION_SIMILARITY, Hunk, Move, RowPosition, SnapshotDiff
from evercrawl.core.change.noise import text_shape, text_similarity
from evercrawl.core.change.review import correct_change
from evercrawl.core.change.segments import SegmentChange, is_statement, sentences
from evercrawl.core.change.volatility import ChangeContext
from evercrawl.core.document.compression import inflate
from evercrawl.model.change import Change, Mute
from evercrawl.model.page import Reschedule, SettledChange
from evercrawl.model.time import to_us

HOLD_VISITS = 12  # Visits to the site after which a held change is judged.
HOLD_SECONDS = 120  # Time after which it is judged in any case; in 15 s a polite crawl sees too few other pages.
MAX_HELD = 24  # Held changes of a site; beyond it the oldest is judged.
MAX_HELD_CHARS = 24_000
COMPRESSION_LEVEL = 1
_HEAD = Struct("<IQ")


class HeldChange(NamedTuple):
    """The differences of a page that are not noise as far as is known."""

    page_mark: int
    visits: int  # Visits to the site so far.
    own_words: int
    found: SnapshotDiff
    url: str = ""
    page_id: int = 0
    at_us: int = 0  # When the page was visited.
    due_us: int = 0  # When to visit it again if the change is noise; 0: as for any other change.
    rate_estimate: str = ""  # How often it changes in that case, in hexadecimal.


def held_change(result: ClassifiedChange, *, page_mark: int, visits: int) -> HeldChange:
    """Return what is needed to judge a change again."""
    hunks = [hunk for hunk, hunk_class in result.classes if hunk_class is not HunkClass.NOISE]
    return HeldChange(page_mark, visits, result.own_words, result.found._replace(hunks=hunks))


def has_to_wait(change: Change, held: HeldChange, site: SiteChangeHistory) -> bool:
    """Return whether the verdict on a change waits for other pages.
    A large change, or a sentence of this page alone that was edited, is content without them."""
    chars = sum(len(hunk.removed) + len(hunk.added) for hunk in held.found.hunks)
    if not change.changed or site.pages < MIN_SITE_PAGES or chars > MAX_HELD_CHARS:
        return False
    # Several sentences at one place may be chosen at random for each visit.
    statements = Counter(hunk.name for hunk in held.found.hunks if is_statement(hunk.added or hunk.removed))
    edited = (hunk for hunk in held.found.hunks if _is_certain(hunk, site, held.page_mark))
    return not any(statements[hunk.name] <= 1 for hunk in edited)


def _is_certain(hunk: Hunk, site: SiteChangeHistory, page_mark: int) -> bool:
    """Return whether words of a sentence were edited that no other page has or had."""
    return hunk.is_own and any(
        change.is_statement
        and not change.is_number
        and not _has_moving_sentence(change)
        and text_similarity(change.removed, change.added) >= MIN_VARIATION_SIMILARITY
        and not site.is_on_other_pages(hunk.removed, page=page_mark)
        for change in hunk.segments
    )


def _has_moving_sentence(change: SegmentChange) -> bool:
    """Return whether a sentence differs only in numbers: then the text is not of an author alone."""
    old, new = sentences(change.removed), sentences(change.added)
    came = {text_shape(sentence) for sentence in set(new) - set(old)}
    return any(text_shape(sentence) in came for sentence in set(old) - set(new))


def add_held(site: SiteChangeHistory, held: HeldChange, if_noise: Reschedule | None = None) -> SiteChangeHistory:
    """Return the site's history with one more held change; `if_noise`: how to visit the page again in that case."""
    if if_noise is not None:
        estimate = (if_noise.rate_estimate or b"").hex()
        held = held._replace(due_us=if_noise.due_us or 0, rate_estimate=estimate)
    return replace(site, held=(*site.held, pack_held(held)))


def settle_held(
    site: SiteChangeHistory, *, now: datetime, rules: Sequence[Mute] = (), everything: bool = False
) -> tuple[SiteChangeHistory, list[SettledChange]]:
    """Judge the held changes whose time has come, or all; return the history without them, and the verdicts.
    `rules` of the user have the last word."""
    if not site.held:
        return site, []
    kept: list[bytes] = []
    settled = []
    for place, packed in enumerate(site.held):
        visits, at_us = _HEAD.unpack_from(packed)
        is_old = to_us(now) - at_us >= HOLD_SECONDS * 1_000_000
        is_surplus = len(site.held) - place > MAX_HELD
        if not (everything or is_old or is_surplus or site.visits - visits >= HOLD_VISITS):
            kept.append(packed)
        elif (held := unpack_held(packed)) is not None:
            verdict = correct_change(_verdict(held, site, now), held.url, rules)
            settled.append(SettledChange(held.page_id, held.at_us, verdict, _schedule(held, verdict)))
    return replace(site, held=tuple(kept)), settled


def _schedule(held: HeldChange, verdict: Change) -> Reschedule | None:
    """Return how to visit a page again whose change was noise."""
    if verdict.changed or not held.due_us:
        return None
    return Reschedule(held.page_id, held.due_us, bytes.fromhex(held.rate_estimate) or None)


def _verdict(held: HeldChange, site: SiteChangeHistory, now: datetime) -> Change:
    context = ChangeContext(PageChangeHistory(), site, held.page_mark, now, is_counted=True)
    return classify_difference(held.found, context, own_words=held.own_words).change


def pack_held(held: HeldChange) -> bytes:
    """Return the stored form of a held change: when it was found, then everything as compressed JSON."""
    stored = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    return _HEAD.pack(held.visits, held.at_us) + compress(stored.encode("utf-8", "surrogatepass"), COMPRESSION_LEVEL)


def unpack_held(packed: bytes) -> HeldChange | None:
    """Read a held change; None if it cannot be read."""
    try:
        stored = json.loads(inflate(packed[_HEAD.size :]).decode("utf-8", "surrogatepass"))
        mark, visits, own_words, (hunks, moved, has_prose), *visit = stored
        found = SnapshotDiff([_hunk(row) for row in hunks], [Move(*move) for move in moved], has_prose)
        return HeldChange(mark, visits, own_words, found, *visit)
    except (ValueError, TypeError, KeyError):
        return None


def _hunk(row: list[Any]) -> Hunk:
    hunk = Hunk(*row)
    return hunk._replace(
        position=RowPosition(hunk.position),
        name_position=RowPosition(hunk.name_position),
        segments=tuple(SegmentChange(*change) for change in hunk.segments),
        runs=(hunk.runs[0], hunk.runs[1]),
    )
