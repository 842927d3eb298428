"""Rules to compare with, by name: the papers', Nutch's and StormCrawler's."""

from __future__ import annotations

from collections.abc import Callable

from evercrawl.core.revisit.rules.fixed import Fixed
from evercrawl.core.revisit.rules.nutch import Nutch
from evercrawl.core.revisit.rules.paper_adaptive import PaperAdaptive
from evercrawl.core.revisit.rules.paper_pdfc import PaperPdfc
from evercrawl.core.revisit.rules.paper_selective import PaperSelective
from evercrawl.core.revisit.rules.rule import Rule, RuleMemory
from evercrawl.core.revisit.rules.stormcrawler import StormCrawler
from evercrawl.core.revisit.rules.uniform import Uniform

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
