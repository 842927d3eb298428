"""Run revisit policies on recorded history, with the estimates and rules of a crawl and a simpler queue."""

from __future__ import annotations

from evercrawl.core.revisit.interval_rules import RULES
from evercrawl.errors import ConfigError
from evercrawl.lab.policies import OptimalPolicy, RulePolicy, TreePolicy
from evercrawl.lab.trace_replay import PolicyDriver

POLICIES = ("optimal", *RULES, "paper-tree")


def policy(name: str = "optimal", *, budget_per_day: float | None = None) -> PolicyDriver:
    """Return the named policy, driven in simulated days; without a budget, the caller limits the requests."""
    if name == "optimal":
        return OptimalPolicy(budget_per_day)
    if name == "paper-tree":
        return TreePolicy(budget_per_day)
    if name not in RULES:
        raise ConfigError(f"there is no revisit policy {name!r}; there are {', '.join(POLICIES)}")
    return RulePolicy(RULES[name](), budget_per_day)


__all__ = ["POLICIES", "PolicyDriver", "policy"]
