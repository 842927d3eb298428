"""Corrections by the user: parts of pages whose changes count as content, although they look like noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evercrawl.core.change.review import is_muted
from evercrawl.core.change.snapshot_diff import combine_keys
from evercrawl.model.change import Change, ChangeClass
from evercrawl.model.history import Mute

MIN_SIZE = 0.01  # Size of a change that only a correction made content.


def correct_change(change: Change, url: str, rules: Sequence[Mute]) -> Change:
    """Return the change with the edits as content that the rules say are content."""
    if not rules or not (change.noise or change.edits):
        return change
    wanted = {
        edit.key
        for edit in (*change.edits, *change.noise)
        if edit.is_template and is_muted(rules, url, edit.removed, edit.added)
    }
    if not wanted:
        return change
    found = tuple(edit for edit in (*change.edits, *change.noise) if edit.key in wanted)
    content = tuple({edit.key: edit._replace(is_template=False) for edit in found}.values())
    others = tuple(edit for edit in change.edits if edit.key not in wanted)
    own = {edit.key for edit in (*content, *others) if not edit.is_template}
    return replace(
        change,
        kind=ChangeClass.CONTENT,
        size=max(change.size, MIN_SIZE),
        edits=(*content, *others),
        edit_key=combine_keys(own),
        noise=tuple(edit for edit in change.noise if edit.key not in wanted),
    )
