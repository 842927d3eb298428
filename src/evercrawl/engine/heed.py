"""What a rule or a fence kept out is queued again when the rule is taken back or the fence opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from evercrawl.core.traps.user_rules import RuleAction, UserRule, matching_rule, rules_of
from evercrawl.model.page import Candidate, Requeue
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard
    from evercrawl.model.site import Site

RULES_KEY = (0, "trap_rules")
"""Where a shard keeps the rules that it has heard; no site has this number."""
PORTION = 1000
"""Pages that are looked at in one step."""


async def apply_rules(shard: Shard) -> None:
    """Compare the rules with those heard before; where they differ, queue what they let in now."""
    before = _rules(await shard.store.memory(*RULES_KEY))
    after = rules_of(shard.traps.guard.settings)
    if before == after:
        return
    await _requeue(shard, before, after)
    settings = shard.traps.guard.settings
    shard.ledger.batch.memories[RULES_KEY] = orjson.dumps([settings.exclude, settings.allow])
    await shard.commit()


def _rules(stored: bytes | None) -> tuple[UserRule, ...]:
    if stored is None:
        return ()
    exclude, allow = orjson.loads(stored)
    return rules_of(TrapSettings(exclude=tuple(exclude), allow=tuple(allow)))


async def _requeue(shard: Shard, before: Sequence[UserRule], after: Sequence[UserRule]) -> None:
    after_id = 0
    while pages := await shard.store.unseen(after_id, PORTION):
        after_id = pages[-1].id
        for page in pages:
            word = _word(after, page.url)
            if word is not RuleAction.EXCLUDE and word is not _word(before, page.url):
                seq = shard.intake.next_seq()
                shard.ledger.batch.requeued.append(Requeue(page.id, page.site_id, page.band, seq))
        await shard.commit()


def _word(rules: Sequence[UserRule], url: str) -> RuleAction | None:
    rule = matching_rule(rules, url)
    return None if rule is None else rule.action


async def requeue_reopened(shard: Shard, site: Site) -> None:
    """Queue what a fence of the site kept out, now that it was found wrong."""
    await shard.commit()
    notes = await shard.traps.yields.of(site.id)
    now = shard.around.clock.now()
    after_id = 0
    while pages := await shard.store.unseen(after_id, PORTION):
        after_id = pages[-1].id
        # In an order of its own: what was kept out first is what the fence was made for.
        for page in sorted(pages, key=lambda page: page.key):
            is_kept_out = page.site_id == site.id and page.tries == 0
            if is_kept_out and shard.traps.on_turn(page, notes, now=now) is None:
                seq = shard.intake.next_seq()
                shard.ledger.batch.requeued.append(Requeue(page.id, page.site_id, page.band, seq))
    await _offer_again(shard, site)
    shard.wake.set()


async def _offer_again(shard: Shard, site: Site) -> None:
    after_key = b""
    while refusals := await shard.store.refusals(after_key, PORTION):
        after_key = refusals[-1].key
        found = [
            Candidate(refusal.url, refusal.key, refusal.depth, 0, refusal.parent, None)
            for refusal in refusals
            if refusal.reason is Reason.TRAP and refusal.url.startswith(site.name + "/")
        ]
        if found:
            await shard.offer(found)
