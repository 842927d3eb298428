"""Has a page changed, and does the change mean anything?

`compare` judges two versions of which nothing else is known. In a crawl, `snapshot_of` keeps of each version
what is needed, `meet` learns from a page that is seen for the first time, and `judge_visit` judges each
later visit and learns from it.
"""

from __future__ import annotations

from evercrawl.core.change.group import Group, groups_of
from evercrawl.core.change.judge import compare
from evercrawl.core.change.memory import PageMemory, SiteMemory
from evercrawl.core.change.snapshot import Snapshot, snapshot_of, snapshot_of_html
from evercrawl.core.change.stored import pack, unpack
from evercrawl.core.change.visit import judge_visit, meet

__all__ = [
    "Group",
    "PageMemory",
    "SiteMemory",
    "Snapshot",
    "compare",
    "groups_of",
    "judge_visit",
    "meet",
    "pack",
    "snapshot_of",
    "snapshot_of_html",
    "unpack",
]
