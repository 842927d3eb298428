"""What does an outpost do with an answer: send it, say that nothing is new, or keep it back?

The paper's comparator and analyzer at the remote side (B6, B7), with a digest in place of the ASCII count.
What home does not hold is sent at once without comparison (B11). A page that was new at every one of its last
visits is not sent again before a while has passed (B12): home would hold it for moments only.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

DIGEST_BYTES = 16
FAST_CHANGES = 5
"""Visits in a row that each found something new: the page changes faster than it is visited."""


class ResultKind(StrEnum):
    """What becomes of an answer."""

    AT_ONCE = "at_once"
    """Home holds nothing to compare with: sent whole, without waiting for others."""
    CHANGED = "changed"
    SAME = "same"
    WITHHELD = "withheld"
    NOT_MINE = "not_mine"
    """The outpost does not ask for this; the crawler may."""


class ChangeHistory(NamedTuple):
    """What an outpost remembers of a page's visits."""

    digest: bytes | None = None
    """Of the last answer."""
    run: int = 0
    """Visits in a row that found something new."""
    sent_us: int = 0
    """When the page was sent last."""


def wire_digest(body: bytes) -> bytes:
    """16 bytes that stand for a body as it came over the wire."""
    return blake2b(body, digest_size=DIGEST_BYTES).digest()


def classify_answer(
    digest: bytes, *, home_has: bytes | None, habit: ChangeHistory, now_us: int, resend_us: int | None
) -> ResultKind:
    """What to do with an answer whose body has this digest; `resend_us` None: everything new is sent."""
    if home_has is None:
        return ResultKind.AT_ONCE
    if digest == home_has:
        return ResultKind.SAME
    is_fast = next_history(habit, digest, now_us=now_us, sent=False).run >= FAST_CHANGES
    if resend_us is not None and is_fast and now_us - habit.sent_us < resend_us:
        return ResultKind.WITHHELD
    return ResultKind.CHANGED


def next_history(habit: ChangeHistory, digest: bytes, *, now_us: int, sent: bool) -> ChangeHistory:
    """What is remembered after a visit; the first visit is not a change."""
    is_new = habit.digest is not None and digest != habit.digest
    return ChangeHistory(digest, habit.run + 1 if is_new else 0, now_us if sent else habit.sent_us)
