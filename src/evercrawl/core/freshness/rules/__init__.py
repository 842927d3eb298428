"""Rules to compare with, by name: the papers', Nutch's and StormCrawler's."""

from __future__ import annotations

from collections.abc import Callable

from evercrawl.core.freshness.rules.fixed import Fixed
from evercrawl.core.freshness.rules.nutch import Nutch
from evercrawl.core.freshness.rules.paper_adaptive import PaperAdaptive
from evercrawl.core.freshness.rules.paper_pdfc import PaperPdfc
from evercrawl.core.freshness.rules.paper_selective import PaperSelective
from evercrawl.core.freshness.rules.rule import Rule, RuleMemory
from evercrawl.core.freshness.rules.stormcrawler import StormCrawler
from evercrawl.core.freshness.rules.uniform import Uniform

RULES: dict[str, Callable[[], Rule]] = {
    "uniform": Uniform,
    "fixed": Fixed,
    "paper-adaptive": PaperAdaptive,
    "paper-selective": PaperSelective,
    "paper-pdfc": PaperPdfc,
    "nutch": Nutch,
    "stormcrawler": StormCrawler,
}

__all__ = ["RULES", "Rule", "RuleMemory"]
