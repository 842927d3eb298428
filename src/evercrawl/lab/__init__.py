"""Try revisit policies on recorded history, with the code that production uses."""

from __future__ import annotations

from evercrawl.core.revisit.rules import RULES
from evercrawl.errors import ConfigError
from evercrawl.lab.optimal import Optimal
from evercrawl.lab.replay import Driven
from evercrawl.lab.ruled import Ruled

POLICIES = ("optimal", *RULES)


def policy(name: str = "optimal", *, budget_per_day: float | None = None) -> Driven:
    """The policy of that name, driven from outside in simulated days; None: the caller keeps the budget."""
    if name == "optimal":
        return Optimal(budget_per_day)
    if name not in RULES:
        raise ConfigError(f"there is no revisit policy {name!r}; there are {', '.join(POLICIES)}")
    return Ruled(RULES[name](), budget_per_day)


__all__ = ["POLICIES", "Driven", "policy"]
