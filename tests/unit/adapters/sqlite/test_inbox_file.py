"""A crawl reads the corrections of the user, also those made while it runs."""

from __future__ import annotations

from pathlib import Path

from evercrawl.adapters.sqlite.inbox_file import Corrections
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.model.change import PartVerdict

PLACE = "https://a.test"


def test_corrections_are_read_again_when_they_change(tmp_path: Path) -> None:
    corrections, inbox = Corrections(tmp_path), ChangeInbox(tmp_path)
    assert corrections() == ()
    rule = inbox.mute(PLACE, "Seats left: *", who="me", now_us=1, verdict=PartVerdict.CONTENT)
    assert corrections() == (rule,)
    inbox.mute(PLACE, "12 views", who="me", now_us=2)
    assert corrections() == (rule,), "mutes are for readers only"
    muted = inbox.mute(PLACE, "Seats left: *", who="me", now_us=3)
    assert muted.verdict is PartVerdict.NOISE
    assert corrections() == (), "the last word counts"
    assert inbox.unmute(muted.id) == muted
    assert [one.pattern for one in inbox.mutes()] == ["12 views"]
