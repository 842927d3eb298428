"""What a visit reads last: content that another visit stored while this one was being read."""

from __future__ import annotations

import asyncio
from typing import cast

from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.engine.decision import Content, Past, Policy
from evercrawl.engine.gather import ContentReader
from evercrawl.engine.ports import Archive, ShardStore
from evercrawl.engine.site_state import SiteStates
from evercrawl.model.page import OriginalRecord

DIGEST = b"digest"
STORED = OriginalRecord(7, "https://site.test/stored", 0, b"record", b"sha1", "s01.warc.gz", 0, 10)
EARLIER = STORED._replace(page_id=3, url="https://site.test/earlier")


async def stored(digest: bytes) -> OriginalRecord | None:
    return STORED if digest == DIGEST else None


def found(content: Content) -> OriginalRecord | None:
    nothing = cast(ShardStore, None)
    states = cast("SiteStates[SiteChangeHistory]", None)
    reader = ContentReader(nothing, cast(Archive, None), states, original_of=stored, policy=cast(Policy, None))
    return asyncio.run(reader.find_original(content)).original


def test_content_that_was_stored_meanwhile_is_found() -> None:
    content = Content(DIGEST, b"sha1", None, None, Past())
    assert found(content) == STORED
    assert found(content._replace(digest=b"other")) is None


def test_content_that_was_stored_before_stays_the_original() -> None:
    assert found(Content(DIGEST, b"sha1", None, EARLIER, Past())) == EARLIER
