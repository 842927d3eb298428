"""What is told about traps: patterns that are throttled or fenced, and what a rule of the operator does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrapPattern:
    """A set of URLs of one site that is left out, or asked for last, with the evidence."""

    site: str
    pattern: str
    kind: str
    """One word for what is wrong: endless, copies, maze, barren; the form of the URL; or operator."""
    evidence: str
    requests: int
    """What it has cost so far."""
    state: str
    """throttled, fenced, refused (by the form of the URL), excluded or allowed (by the operator)."""


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """What a rule about a pattern touches, as the collection stands now."""

    pattern: str
    sites: tuple[str, ...]
    """The sites that it is about; none: all."""
    known: int
    """Pages that match."""
    waiting: int
    """Those of them that were not asked for yet."""
    refused: int
    """Refused URLs that match."""
    looked_at: int
    """Pages that were looked at: all, or of a large collection an even sample."""
    of: int
    """Pages that there are."""
    examples: tuple[str, ...] = ()
    done: bool = False
    """The rule is written."""
