"""What is said about a URL before its site is known: by the operator, by the URL itself, by sets of rules.

The operator comes first: what is allowed is not asked any further, what is excluded is refused. Then what the
URL alone can show, then the sets for known software that were chosen by name.
"""

from __future__ import annotations

from evercrawl.core.traps.ignore_sets import IgnoreSet, chosen_sets
from evercrawl.core.traps.operator_rule import OperatorRule, Word, word_on
from evercrawl.core.traps.verdict import url_verdict
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings

Refused = tuple[Reason, str]

BETWEEN_SITE_AND_PATTERN = " "
"""No URL and no pattern has one inside."""


def rule_of(word: Word, text: str) -> OperatorRule:
    """A rule as it is written in the settings: `PATTERN`, or `SITE PATTERN`."""
    site, gap, pattern = text.strip().partition(BETWEEN_SITE_AND_PATTERN)
    return OperatorRule(word, pattern.strip(), site) if gap else OperatorRule(word, site)


def written(pattern: str, site: str | None) -> str:
    """How a rule is written in the settings."""
    return pattern if site is None else f"{site}{BETWEEN_SITE_AND_PATTERN}{pattern}"


def rules_of(settings: TrapSettings) -> tuple[OperatorRule, ...]:
    """All rules, the strongest last: what is allowed is allowed whatever is excluded."""
    excluded = (rule_of(Word.EXCLUDE, text) for text in settings.exclude)
    allowed = (rule_of(Word.ALLOW, text) for text in settings.allow)
    return (*excluded, *allowed)


class TrapGuard:
    """The first look at a URL; the operator's rules may change while it stands."""

    def __init__(self, settings: TrapSettings) -> None:
        self.settings = settings
        self._rules: tuple[OperatorRule, ...] = ()
        self._ignored: IgnoreSet | None = None
        self.hear(settings)

    def hear(self, settings: TrapSettings) -> None:
        """From now on these settings count."""
        self.settings = settings
        self._rules = rules_of(settings)
        self._ignored = chosen_sets(settings.ignore) if settings.ignore else None

    def word(self, url: str) -> OperatorRule | None:
        """What the operator says about the URL; None: nothing."""
        return word_on(self._rules, url) if self._rules else None

    def refusal(self, url: str, *, year: int, is_asked_for: bool = False) -> Refused | None:
        """None where the canonical URL may be asked for, else the reason with its evidence.

        What was asked for by name (`is_asked_for`: seeds, and where they have moved to) only the operator
        refuses.
        """
        rule = self.word(url)
        if rule is not None:
            return excluded_by(rule)
        if is_asked_for or not self.settings.enabled:
            return None
        verdict = url_verdict(url, year=year)
        if verdict.trap:
            return Reason.TRAP, f"{verdict.kind}: {verdict.reason}"
        why = self._ignored.why_ignored(url) if self._ignored is not None else None
        return None if why is None else (Reason.EXCLUDED, why)


def excluded_by(rule: OperatorRule) -> Refused | None:
    """The refusal that a rule of the operator means; None: it allows."""
    if rule.word is Word.ALLOW:
        return None
    return Reason.EXCLUDED, f"trap exclude {rule.pattern}"
