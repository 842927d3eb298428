from __future__ import annotations

import pytest

from evercrawl.core.traps.user_rules import RuleAction, TrapFilter, UserRule, format_rule, parse_rule, rules_of
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings

SITE = "https://a.test"
SESSION = f"{SITE}/shop;jsessionid=9f3ac01bd7e24a55"
PLAIN = f"{SITE}/shop?color=red"


def refused(url: str, settings: TrapSettings, *, is_requested: bool = False) -> Reason | None:
    found = TrapFilter(settings).refusal(url, year=2026, is_requested=is_requested)
    return None if found is None else found[0]


@pytest.mark.parametrize("site", [None, SITE])
def test_rules_are_written_and_read(site: str | None) -> None:
    rule = parse_rule(RuleAction.EXCLUDE, format_rule("/shop?color=", site))
    assert rule == UserRule(RuleAction.EXCLUDE, "/shop?color=", site)


def test_what_is_allowed_is_the_stronger_word() -> None:
    rules = rules_of(TrapSettings(exclude=("/a",), allow=("/a",)))
    assert [rule.action for rule in rules] == [RuleAction.EXCLUDE, RuleAction.ALLOW]


def test_a_url_that_shows_a_trap_is_refused_with_the_reason() -> None:
    found = TrapFilter(TrapSettings()).refusal(SESSION, year=2026)
    assert found is not None
    assert found[0] is Reason.TRAP
    assert found[1].startswith("session: ")
    assert refused(PLAIN, TrapSettings()) is None


def test_a_seed_is_refused_by_nobody_but_the_operator() -> None:
    assert refused(SESSION, TrapSettings(), is_requested=True) is None
    assert refused(PLAIN, TrapSettings(exclude=("/shop?color=",)), is_requested=True) is Reason.EXCLUDED


def test_the_operator_comes_first() -> None:
    assert refused(SESSION, TrapSettings(allow=(f"{SITE}/shop*",))) is None
    assert refused(PLAIN, TrapSettings(exclude=(f"{SITE} /shop?color=",))) is Reason.EXCLUDED
    assert refused(PLAIN, TrapSettings(exclude=("https://b.test /shop?color=",))) is None


def test_sets_count_only_when_they_are_named() -> None:
    edit = f"{SITE}/wiki/Page?action=history"
    assert refused(edit, TrapSettings()) is None
    assert refused(edit, TrapSettings(rule_sets=("wikis",))) is Reason.EXCLUDED


def test_switched_off_only_the_rules_count_and_new_ones_are_heard() -> None:
    guard = TrapFilter(TrapSettings(enabled=False))
    assert guard.refusal(SESSION, year=2026) is None
    guard.update(TrapSettings(enabled=False, exclude=("/shop?*",)))
    assert guard.refusal(PLAIN, year=2026) == (Reason.EXCLUDED, "trap exclude /shop?*")
