"""Heeding the operator: pages that a rule kept out come back into the queue when the rule is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from evercrawl.core.trap.guard import rules_of
from evercrawl.core.trap.operator_rule import OperatorRule, Word, word_on
from evercrawl.model.page import Requeued
from evercrawl.model.settings import TrapSettings

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard

RULES_KEY = (0, "trap_rules")
"""Where a shard keeps the rules that it has heard; no site has this number."""
PORTION = 1000
"""Pages that are looked at in one step."""


async def heed(shard: Shard) -> None:
    """Compare the rules with those heard before; where they differ, queue what they let in now."""
    before = _rules(await shard.store.memory(*RULES_KEY))
    after = rules_of(shard.traps.guard.settings)
    if before == after:
        return
    await _requeue(shard, before, after)
    settings = shard.traps.guard.settings
    shard.ledger.batch.memories[RULES_KEY] = orjson.dumps([settings.exclude, settings.allow])
    await shard.commit()


def _rules(stored: bytes | None) -> tuple[OperatorRule, ...]:
    if stored is None:
        return ()
    exclude, allow = orjson.loads(stored)
    return rules_of(TrapSettings(exclude=tuple(exclude), allow=tuple(allow)))


async def _requeue(shard: Shard, before: Sequence[OperatorRule], after: Sequence[OperatorRule]) -> None:
    after_id = 0
    while pages := await shard.store.unseen(after_id, PORTION):
        after_id = pages[-1].id
        for page in pages:
            word = _word(after, page.url)
            if word is not Word.EXCLUDE and word is not _word(before, page.url):
                seq = shard.intake.next_seq()
                shard.ledger.batch.requeued.append(Requeued(page.id, page.site_id, page.band, seq))
        await shard.commit()


def _word(rules: Sequence[OperatorRule], url: str) -> Word | None:
    rule = word_on(rules, url)
    return None if rule is None else rule.word
