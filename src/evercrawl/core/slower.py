"""Which sites does the operator want to be asked more slowly than everybody else?

A rule is written `SITE SECONDSs`, such as `https://example.org 30s`: the least gap between two requests to
that site. It never makes a site faster: a longer gap, whatever asks for it, still wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

MOST_GAP = timedelta(days=1)
"""More than this is not slower but off: exclude the site instead."""
MEANING = "SITE SECONDSs, such as https://example.org 30s, with more than 0 and at most 86400 seconds"
_RULE = re.compile(r"([a-z][a-z0-9+.-]*://[^\s/]+) (\d{1,5}(?:\.\d{1,3})?)s?", re.ASCII)


def problem_with(text: str) -> str | None:
    """None for a rule, otherwise what would be one."""
    found = _RULE.fullmatch(text)
    return None if found and 0 < float(found[2]) <= MOST_GAP.total_seconds() else MEANING


def gaps_of(rules: Iterable[str]) -> dict[str, timedelta]:
    """The least gap of each site that a rule names; of two rules about one site the later counts."""
    found = (_RULE.fullmatch(rule) for rule in rules)
    return {one[1]: timedelta(seconds=float(one[2])) for one in found if one}


def rules_of(gaps: Mapping[str, timedelta]) -> tuple[str, ...]:
    """How gaps are written in the settings."""
    return tuple(f"{site} {round(gap.total_seconds(), 3):g}s" for site, gap in gaps.items())


def with_rule(rules: Sequence[str], site: str, gap: timedelta | None) -> tuple[str, ...]:
    """The rules with this one about the site and no other; None: with none."""
    gaps = gaps_of(rules)
    gaps.pop(site, None)
    return rules_of(gaps if gap is None else {**gaps, site: gap})
