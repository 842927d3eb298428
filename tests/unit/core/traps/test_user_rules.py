from __future__ import annotations

import pytest

from evercrawl.core.traps.url_check import url_verdict
from evercrawl.core.traps.user_rules import (
    RULE_SETS,
    RuleAction,
    TrapFilter,
    UserRule,
    compile_rule_sets,
    format_rule,
    matches,
    matching_rule,
    parse_rule,
    rules_of,
)
from evercrawl.errors import ConfigError
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings

SITE = "https://a.test"
SESSION = f"{SITE}/shop;jsessionid=9f3ac01bd7e24a55"
PLAIN = f"{SITE}/shop?color=red"


def refused(url: str, settings: TrapSettings, *, is_requested: bool = False) -> Reason | None:
    found = TrapFilter(settings).refusal(url, year=2026, is_requested=is_requested)
    return None if found is None else found[0]


@pytest.mark.parametrize("site", [None, SITE])
def test_rules_round_trip(site: str | None) -> None:
    rule = parse_rule(RuleAction.EXCLUDE, format_rule("/shop?color=", site))
    assert rule == UserRule(RuleAction.EXCLUDE, "/shop?color=", site)


def test_allow_beats_exclude() -> None:
    rules = rules_of(TrapSettings(exclude=("/a",), allow=("/a",)))
    assert [rule.action for rule in rules] == [RuleAction.EXCLUDE, RuleAction.ALLOW]


def test_trap_url_is_refused_with_its_reason() -> None:
    found = TrapFilter(TrapSettings()).refusal(f"{SITE}/a/b/a/b/a/b/", year=2026)
    assert found is not None
    assert found[0] is Reason.TRAP
    assert found[1].startswith("repetition: ")
    assert refused(PLAIN, TrapSettings()) is None


def test_urls_that_may_be_the_only_way_to_a_page_are_not_refused_but_come_last() -> None:
    rules = TrapFilter(TrapSettings())
    for url in (SESSION, f"{SITE}/diary/1660/01/01/"):
        assert url_verdict(url).trap
        assert rules.refusal(url, year=2026) is None
        assert rules.is_doubtful(url, year=2026)
    assert not rules.is_doubtful(PLAIN, year=2026)
    assert not TrapFilter(TrapSettings(allow=(f"{SITE}/*",))).is_doubtful(SESSION, year=2026)


def test_only_the_user_refuses_a_seed() -> None:
    assert refused(SESSION, TrapSettings(), is_requested=True) is None
    assert refused(PLAIN, TrapSettings(exclude=("/shop?color=",)), is_requested=True) is Reason.EXCLUDED


def test_user_rule_comes_first() -> None:
    assert refused(SESSION, TrapSettings(allow=(f"{SITE}/shop*",))) is None
    assert refused(PLAIN, TrapSettings(exclude=(f"{SITE} /shop?color=",))) is Reason.EXCLUDED
    assert refused(PLAIN, TrapSettings(exclude=("https://b.test /shop?color=",))) is None


def test_rule_sets_apply_only_if_named() -> None:
    edit = f"{SITE}/wiki/Page?action=history"
    assert refused(edit, TrapSettings()) is None
    assert refused(edit, TrapSettings(rule_sets=("wikis",))) is Reason.EXCLUDED


def test_without_detection_only_user_rules_apply_and_can_change() -> None:
    trap_filter = TrapFilter(TrapSettings(enabled=False))
    assert trap_filter.refusal(SESSION, year=2026) is None
    trap_filter.update(TrapSettings(enabled=False, exclude=("/shop?*",)))
    assert trap_filter.refusal(PLAIN, year=2026) == (Reason.EXCLUDED, "trap exclude /shop?*")


HOST = "http://a.test"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("forums", "/ucp.php?mode=login"),
        ("forums", "/viewtopic.php?f=1&p=77"),
        ("forums", "/t/some-topic/12/34"),
        ("wikis", "/index.php?title=A&action=history"),
        ("wikis", "/wiki/Special:RecentChanges"),
        ("wikis", "/doku.php?id=a&do=diff"),
        ("shops", "/?add-to-cart=17"),
        ("shops", "/shoes?orderby=price"),
        ("calendars", "/events/2024-05-01/"),
        ("calendars", "/calendar/view.php?view=day&time=1700000000"),
        ("blogs", "/post/?replytocom=12"),
        ("code", "/me/it/blame/main/a.py"),
        ("listings", "/pub/?C=M;O=D"),
    ],
)
def test_each_rule_set_matches_its_software(name: str, path: str) -> None:
    why = compile_rule_sets((name,)).matching_reason(HOST + path)
    assert why is not None
    assert why.startswith(name)


@pytest.mark.parametrize("path", ["/", "/viewtopic.php?f=1&t=2", "/wiki/Apple", "/t/some-topic/12", "/about"])
def test_pages_of_that_software_are_kept(path: str) -> None:
    assert compile_rule_sets(tuple(RULE_SETS)).matching_reason(HOST + path) is None


def test_unknown_rule_set_is_rejected() -> None:
    assert compile_rule_sets(()).matching_reason(HOST + "/?add-to-cart=17") is None
    with pytest.raises(ConfigError, match="choose from forums"):
        compile_rule_sets(("gardens",))


def test_every_rule_has_a_reason() -> None:
    assert all(rule.why for rules in RULE_SETS.values() for rule in rules)


@pytest.mark.parametrize(
    ("pattern", "path", "does"),
    [
        ("/shop?color=", "/shop?color=red&size=m", True),
        ("/shop?color=", "/shop?size=m", False),
        ("/cal/{n}/{n}", "/cal/2024/05", True),
        ("/old/**", "/old/a/b", True),
        ("/shop?*", "/shop?a=1&b=2", True),
        ("/old/*", "/old/a", True),
        ("/old/*", "/new/a", False),
        ("http://a.test/o*", "/old/a", True),
        ("/exact", "/exact", True),
    ],
)
def test_patterns_match_as_shown_or_as_globs(pattern: str, path: str, does: bool) -> None:
    assert matches(pattern, HOST + path) is does


def test_newest_rule_decides() -> None:
    exclude = UserRule(RuleAction.EXCLUDE, "/cal/**")
    allow = UserRule(RuleAction.ALLOW, "/cal/*", site=HOST)
    url = f"{HOST}/cal/2024"
    assert matching_rule([exclude, allow], url) == allow
    assert matching_rule([exclude], url) == exclude
    assert matching_rule([exclude, allow], "http://b.test/cal/2024") == exclude
    assert matching_rule([], url) is None
