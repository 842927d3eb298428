from __future__ import annotations

import pytest

from evercrawl.core.traps.user_rules import RULE_SETS, RuleAction, UserRule, compile_rule_sets, matches, matching_rule
from evercrawl.errors import ConfigError

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
def test_each_set_knows_its_software(name: str, path: str) -> None:
    why = compile_rule_sets((name,)).matching_reason(HOST + path)
    assert why is not None
    assert why.startswith(name)


@pytest.mark.parametrize("path", ["/", "/viewtopic.php?f=1&t=2", "/wiki/Apple", "/t/some-topic/12", "/about"])
def test_pages_of_that_software_stay(path: str) -> None:
    assert compile_rule_sets(tuple(RULE_SETS)).matching_reason(HOST + path) is None


def test_no_set_is_used_unless_it_is_named() -> None:
    assert compile_rule_sets(()).matching_reason(HOST + "/?add-to-cart=17") is None
    with pytest.raises(ConfigError, match="choose from forums"):
        compile_rule_sets(("gardens",))


def test_every_rule_says_why() -> None:
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
def test_patterns_are_written_as_they_are_shown_or_as_globs(pattern: str, path: str, does: bool) -> None:
    assert matches(pattern, HOST + path) is does


def test_the_newest_rule_decides_and_taking_it_out_undoes_it() -> None:
    exclude = UserRule(RuleAction.EXCLUDE, "/cal/**")
    allow = UserRule(RuleAction.ALLOW, "/cal/*", site=HOST)
    url = f"{HOST}/cal/2024"
    assert matching_rule([exclude, allow], url) == allow
    assert matching_rule([exclude], url) == exclude
    assert matching_rule([exclude, allow], "http://b.test/cal/2024") == exclude
    assert matching_rule([], url) is None
