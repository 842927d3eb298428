"""Differences in links and images between two snapshots: other targets, links put on words, images added or gone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from evercrawl.core.change.hunk import IMAGE_SLOT, REFERENCE_SLOT, Hunk, IsOwnBlock, RowPosition
from evercrawl.core.change.noise import is_time, significant_text, text_shape
from evercrawl.core.change.segments import SegmentChange
from evercrawl.core.change.snapshot import ENTRY, LINKED, ROW, Reference, Snapshot

MAX_LINKED_WORDS = 200  # A page with more links that came or went has other text too.
MAX_LABELS_CHARS = 100_000  # Length of the labels that are compared.
_SESSION = re.compile(
    r"([?&;](?:sid|s|phpsessid|jsessionid|sess\w*|token|csrf\w*|nonce|_|ts?|time|rand\w*|cb|v|utm_\w+)=)[^&#;]*"
    r"|;jsessionid=[^?#]*",
    re.IGNORECASE,
)
MAX_SHOWN_LABEL = 60
_WORDS = re.compile(r"[0-9A-Za-z]+")
MIN_HASH_CHARS, LONG_HASH_CHARS = 8, 32
MIN_HASH_TURNS = 3
CHARS_PER_TURN = 4
_HEX = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]+")
_LONG_SEGMENTS = re.compile(r"[0-9A-Za-z_-]{16,}")
_PLAIN_START = re.compile(r"[a-z]{3,}(?:[-_](?:[a-z]{2,}|[0-9]{2,})(?![0-9A-Za-z]))+")
_LOOSE_ENDS = re.compile(r"[-_.~](?=[-_.~/]|$)")  # What is left beside a generated part.
_HOST = re.compile(r"^(?:[a-z]+:)?//[^/]*")
_SIZE = re.compile(r"(?<![0-9A-Za-z])[1-9]\d{1,3}x[1-9]\d{1,3}(?![0-9A-Za-z])")  # Of an image, in pixels.
_SIZE_STEP = re.compile(r"(?<=/)[a-z]{1,4}[-_]?\d{2,4}/")  # The same as a folder: `w600`, `max750`.
_LONG_NUMBER = re.compile(r"\d{9,}")


def diff_references(
    before: Snapshot, after: Snapshot, was_own: IsOwnBlock, is_own: IsOwnBlock, differing: list[str]
) -> list[Hunk]:
    """Return own links with the same text and another target or none, and images that came, went or were replaced.
    Images that stand elsewhere on the page too are icons, which say a state."""
    one, other = _limit_references(before.references), _limit_references(after.references)
    old, new = _targets(one, was_own), _targets(other, is_own)
    shapes = Counter((path, text_shape(label)) for path, _, label in new)
    places = {(link.path, link.is_image, link.label): (link.name, link.flag) for link in (*one, *other)}
    old_images, new_images = _image_targets(old), _image_targets(new)
    hunks = []
    for key in dict.fromkeys((*old, *new)):
        path, is_image, label = key
        if shapes[(path, text_shape(label))] > 1 and not is_image:
            # Of "12 comments" and "15 comments" it is unknown which is which.
            continue
        gone, come = old[key] - new[key], new[key] - old[key]
        if is_image and gone.total() + come.total() == 1:
            (target,) = gone or come
            if target in old_images and target in new_images:
                continue
        elif not gone.total() == come.total() == 1:
            continue
        was, now = next(iter(gone), ""), next(iter(come), "")
        name, flag = places[key]
        if is_image and was in new_images and now in old_images:
            continue
        # Links of one text in entries, such as "more", belong to what the entries name.
        if is_image or new[key].total() == 1 or not flag & (ENTRY | ROW | LINKED):
            hunks.append(_reference_hunk(key, was, now, name, flag))
    texts = set(before.texts) & set(after.texts) - set(differing)
    return hunks + _linked_words(texts, old, new, places)


def _linked_words(
    texts: set[str], old: _Targets, new: _Targets, places: dict[tuple[int, bool, str], tuple[int, int]]
) -> list[Hunk]:
    """Return links that were put on words, or taken from words, of texts that stayed the same."""
    hunks = []
    was, now = (
        {label for (_, is_image, label), found in side.items() if found and not is_image} for side in (old, new)
    )
    wanted = was ^ now
    if not wanted or len(wanted) > MAX_LINKED_WORDS:
        return []
    text = "\n".join(texts)
    for key in dict.fromkeys((*old, *new)):
        _, is_image, label = key
        if is_image or label not in wanted or not any(map(str.isalpha, label)):
            continue
        if label in text:
            name, flag = places[key]
            hunks.append(_reference_hunk(key, next(iter(old[key]), ""), next(iter(new[key]), ""), name, flag))
    return hunks


def _limit_references(references: Sequence[Reference]) -> Sequence[Reference]:
    """Return the first references, whose labels have at most as many characters as are compared."""
    chars = accumulate(len(reference.label) for reference in references)
    return references[: sum(count <= MAX_LABELS_CHARS for count in chars)]


_Targets = dict[tuple[int, bool, str], Counter[str]]


def _image_targets(targets: _Targets) -> set[str]:
    return {target for (_, is_image, _), found in targets.items() if is_image for target in found}


def _targets(references: Iterable[Reference], is_own: IsOwnBlock) -> _Targets:
    found: _Targets = defaultdict(Counter)
    for reference in references:
        if not is_own(reference.flag):
            continue
        target = stable_target(reference.url, is_image=reference.is_image)
        is_named = reference.is_image or (significant_text(reference.label) and not is_time(reference.label))
        if target and is_named:
            found[(reference.path, reference.is_image, reference.label)][target] += 1
    return found


def stable_target(url: str, *, is_image: bool) -> str:
    """Return what stays the same of a URL between requests: no fragment, no session, no generated value."""
    bare = without_session(url.partition("#")[0])
    path, _, query = bare.partition("?")
    if is_image:
        # Servers with copies of an image take turns.
        path = _SIZE_STEP.sub("", _SIZE.sub("", _HOST.sub("", path)))
    path = _WORDS.sub(lambda found: "" if _is_hash(found[0]) else found[0], _LONG_SEGMENTS.sub(_without_hash, path))
    path = _LOOSE_ENDS.sub("", path)
    kept = [part for part in query.split("&") if part and not _is_generated_value(part.partition("=")[2])]
    if is_image:
        # The query of an image says how large it is, or names the file.
        kept = [part for part in kept if "." in part and ("/" in part or "%2f" in part.lower())]
    return f"{path}?{'&'.join(kept)}" if kept else path


def _is_generated_value(value: str) -> bool:
    if _LONG_NUMBER.search(value) is not None or any(_is_hash(word) for word in _WORDS.findall(value)):
        return True
    return any(_is_mixed(segment) for segment in _LONG_SEGMENTS.findall(value))


def _without_hash(found: re.Match[str]) -> str:
    """Return what people wrote of a long part of a path: the words and numbers at its start."""
    if not _is_mixed(found[0]):
        return found[0]
    start = _PLAIN_START.match(found[0])
    return start[0] if start is not None else ""


def _is_mixed(text: str) -> bool:
    return _count_turns(text) >= len(text) / CHARS_PER_TURN


def _is_hash(word: str) -> bool:
    """Return whether a word was generated: letters and digits, or small and capital letters, in no order."""
    if len(word) < MIN_HASH_CHARS:
        return False
    is_hex = _HEX.fullmatch(word) is not None
    return is_hex or _count_turns(word) >= MIN_HASH_TURNS or len(word) >= LONG_HASH_CHARS


def _count_turns(word: str) -> int:
    kinds = ["0" if char.isdigit() else "a" if char.islower() else "A" for char in word if char.isalnum()]
    return sum(one != other for one, other in pairwise(kinds))


def _reference_hunk(key: tuple[int, bool, str], was: str, now: str, name: int, flag: int) -> Hunk:
    path, is_image, label = key
    shown = f"{label[:MAX_SHOWN_LABEL]}: " if label else ""
    removed, added = (f"{shown}{target}" if target else "" for target in (was, now))
    slot = IMAGE_SLOT if is_image else REFERENCE_SLOT
    change = SegmentChange(slot, was, now, is_statement=False)
    return Hunk(path, removed, added, is_own=True, is_linked=False, position=RowPosition.WITHIN, name=name,
                name_position=RowPosition.WITHIN, is_row=bool(flag & ROW), is_entry=bool(flag & (ENTRY | ROW | LINKED)),
                segments=(change,), old_marked=label, new_marked=label)  # fmt: skip


def without_session(url: str) -> str:
    """Return a URL without the parameters that belong to a visitor or a moment."""
    return _SESSION.sub("", url)
