"""What is decided about a URL before its site is known: the user's rules, the URL itself, and rule sets.
The user's newest matching rule decides first. A pattern is written as `trap list` shows it (`/shop?color=`,
`/cal/{n}/{n}`, `/old/**`) or as a glob over the whole URL (`https://example.org/shop/*`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.document.word_lists import read_lists
from evercrawl.core.traps.url_check import url_verdict
from evercrawl.core.traps.url_choices import is_kind
from evercrawl.core.traps.url_pattern import patterns_of
from evercrawl.core.url import matches_glob, path_of, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.reason import Reason, RefusalReason
from evercrawl.model.settings import TrapSettings

MAX_EXAMPLES = 5


class RuleAction(Enum):
    """What the user's rule does."""

    EXCLUDE = "exclude"
    ALLOW = "allow"


class UserRule(NamedTuple):
    """A user's rule about a pattern, on one site or on all."""

    action: RuleAction
    pattern: str
    site: str | None = None


def matches(pattern: str, url: str) -> bool:
    """True if the URL belongs to the pattern."""
    if "://" in pattern or ("*" in pattern and "**" not in pattern and not pattern.endswith("?*")):
        return matches_glob(pattern, url if "://" in pattern else url[len(site_of(url)) :])
    if any(name == pattern for name, _ in patterns_of(url)) or url[len(site_of(url)) :] == pattern:
        return True
    return "=" in pattern and is_kind(pattern, url)


def matching_rule(rules: Sequence[UserRule], url: str) -> UserRule | None:
    """Return the newest rule that matches the URL, if any."""
    site = site_of(url)
    for rule in reversed(rules):
        if (rule.site is None or rule.site == site) and matches(rule.pattern, url):
            return rule
    return None


class SetRule(NamedTuple):
    """A regular expression over path and query, and why its URLs are not wanted."""

    expression: str
    why: str


RULE_SETS = {
    kind: tuple(SetRule(*rule.split("  ", 1)) for rule in rules)
    for kind, rules in read_lists("evercrawl.core.traps", "rule_sets.txt", separators="\n").items()
}


@dataclass(frozen=True, slots=True)
class CompiledRuleSet:
    """The compiled rules of the chosen sets."""

    rules: tuple[tuple[re.Pattern[str], str], ...]

    def matching_reason(self, url: str) -> str | None:
        """Return the reason of the first rule that matches, if any."""
        path = path_of(url)
        return next((why for expression, why in self.rules if expression.search(path)), None)


@lru_cache(maxsize=32)
def compile_rule_sets(names: tuple[str, ...]) -> CompiledRuleSet:
    """Compile the named rule sets."""
    unknown = [name for name in names if name not in RULE_SETS]
    if unknown:
        raise ConfigError(f"there is no rule set {unknown[0]!r}; choose from {', '.join(RULE_SETS)}")
    rules = ((re.compile(rule.expression), f"{name}: {rule.why}") for name in names for rule in RULE_SETS[name])
    return CompiledRuleSet(tuple(rules))


SITE_SEPARATOR = " "  # Occurs in no URL and no pattern.


def parse_rule(action: RuleAction, text: str) -> UserRule:
    """Parse a rule of the settings: `PATTERN` or `SITE PATTERN`."""
    site, gap, pattern = text.strip().partition(SITE_SEPARATOR)
    return UserRule(action, pattern.strip(), site) if gap else UserRule(action, site)


def format_rule(pattern: str, site: str | None) -> str:
    """Format a rule for the settings."""
    return pattern if site is None else f"{site}{SITE_SEPARATOR}{pattern}"


def rules_of(settings: TrapSettings) -> tuple[UserRule, ...]:
    """Return all rules, the strongest last: allow beats exclude."""
    excluded = (parse_rule(RuleAction.EXCLUDE, text) for text in settings.exclude)
    allowed = (parse_rule(RuleAction.ALLOW, text) for text in settings.allow)
    return (*excluded, *allowed)


class TrapFilter:
    """The first check of a URL. The settings may change during a crawl."""

    def __init__(self, settings: TrapSettings) -> None:
        self.settings = settings
        self._rules: tuple[UserRule, ...] = ()
        self._rule_set: CompiledRuleSet | None = None
        self.update(settings)

    def update(self, settings: TrapSettings) -> None:
        """Use these settings from now on."""
        self.settings = settings
        self._rules = rules_of(settings)
        self._rule_set = compile_rule_sets(settings.rule_sets) if settings.rule_sets else None

    def user_rule(self, url: str) -> UserRule | None:
        """Return the user's rule for the URL, if any."""
        return matching_rule(self._rules, url) if self._rules else None

    def refusal(self, url: str, *, year: int, is_requested: bool = False) -> RefusalReason | None:
        """Return why the canonical URL is refused; None if it may be requested.
        Only the user can refuse URLs requested by name (`is_requested`: seeds and their redirect targets)."""
        rule = self.user_rule(url)
        if rule is not None:
            return rule_refusal(rule)
        if is_requested or not self.settings.enabled:
            return None
        verdict = url_verdict(url, year=year)
        if verdict.is_certain:
            return Reason.TRAP, f"{verdict.kind}: {verdict.reason}"
        why = self._rule_set.matching_reason(url) if self._rule_set is not None else None
        return None if why is None else (Reason.EXCLUDED, why)

    def is_doubtful(self, url: str, *, year: int) -> bool:
        """True if the URL looks like a trap that only its results can prove."""
        return self.settings.enabled and url_verdict(url, year=year).trap and self.user_rule(url) is None


def rule_refusal(rule: UserRule) -> RefusalReason | None:
    """Return the refusal that a user's rule means; None if it allows."""
    if rule.action is RuleAction.ALLOW:
        return None
    return Reason.EXCLUDED, f"trap exclude {rule.pattern}"
