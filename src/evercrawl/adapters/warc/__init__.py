"""The WARC files of a shard: write, read, and repair after a crash."""

from __future__ import annotations

from evercrawl.adapters.warc.reader import ArchivedResponse, WarcDamage, WarcRecord, iterate_records, read_record
from evercrawl.adapters.warc.writer import WarcArchive

__all__ = ["ArchivedResponse", "WarcArchive", "WarcDamage", "WarcRecord", "iterate_records", "read_record"]
