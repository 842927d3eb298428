"""WARC files of a shard: written by `writer`, read back by `reader`, made whole after a crash by `repair`."""

from __future__ import annotations

from evercrawl.adapters.warc.parse import Record
from evercrawl.adapters.warc.reader import ArchivedResponse, Damage, iterate, read_record
from evercrawl.adapters.warc.writer import WarcArchive

__all__ = ["ArchivedResponse", "Damage", "Record", "WarcArchive", "iterate", "read_record"]
