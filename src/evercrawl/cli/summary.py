"""What a run did: the box at its end, and where to go from there."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.cli.output import counted, size, span
from evercrawl.cli.safe_text import safe_line
from evercrawl.model.report import Summary

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

SUMMARY_FIELDS = (
    "requests", "fetched", "new", "changed", "unchanged", "not_modified", "not_needed", "skipped", "errors",
    "bytes", "seconds", "not_needed_by", "url_seen",
)  # fmt: skip
"""What scripts rely on, in this order."""
_MOST_REASONS = 4
_LONGEST_NOTE = 160
_ENDINGS = {
    "limit": "stopped at a limit of the run or the budget",
    "interrupted": "interrupted; the state is saved",
    "closed": "the sites that are left are closed for now",
}

_CAUSES = {
    "sitemap": "not announced by the sitemap",
    "cache": "called fresh by the server",
    "model": "too early to be worth it",
    "failed": "tried again later",
    "gone": "vanished",
}
"""Why known pages are left alone, in words."""


def summary_fields(summary: Summary) -> dict[str, Any]:
    """The summary as `crawl --json` prints it."""
    fields = {name: getattr(summary, name) for name in SUMMARY_FIELDS} | {"seconds": round(summary.seconds, 3)}
    if summary.harvest_ratio is not None:
        fields["harvest_ratio"] = summary.harvest_ratio
    return fields


def summary_box(summary: Summary, collection: Path) -> RenderableType:
    """The summary for people; its last lines say where the data is, how to resume and how to look."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    facts = Text("\n").join([_counts(summary), *(Text(line) for line in _facts(summary))])
    steps = Text("\n").join(
        Text.assemble((f" {name:<9}", "dim"), text) for name, text in _next_steps(summary, collection)
    )
    panel = Panel(facts, title="summary", title_align="left", border_style="dim", expand=False)
    return Group(panel, steps)


def _counts(summary: Summary) -> Text:
    from rich.text import Text

    line = Text()
    counts = {
        "fetched": (summary.fetched, "bold"),
        "new": (summary.new, "green"),
        "changed": (summary.changed, "yellow"),
        "unchanged": (summary.unchanged + summary.not_modified, ""),
        "gone": (summary.gone, "magenta"),
        "errors": (summary.errors, "red"),
    }
    for name, (count, style) in counts.items():
        line.append(f"{name} ").append(f"{count:,}", style=style if count else "dim").append("   ")
    line.rstrip()
    return line


def _facts(summary: Summary) -> list[str]:
    facts = []
    if summary.skipped:
        facts.append(f"skipped {summary.skipped:,}{_by_reason(summary)}")
    if summary.not_needed:
        facts.append(f"not asked for: {summary.not_needed:,}{_by_cause(summary)}")
    if summary.harvest_ratio is not None:
        facts.append(f"on topic: {summary.harvest_ratio:.0%} of the pages (harvest ratio)")
    facts.append(_load(summary))
    if summary.nothing_reachable:
        facts.append("no site could be reached")
    if summary.stopped in _ENDINGS:
        facts.append(f"{_ENDINGS[summary.stopped]}; {counted(summary.remaining, 'page')} left in the queue")
    if summary.stopped == "closed" and summary.closed_note:
        facts.append(f"closed: {safe_line(summary.closed_note, longest=_LONGEST_NOTE)}")
    if summary.first_error:
        facts.append(f"first error: {safe_line(summary.first_error, longest=_LONGEST_NOTE)}")
    return facts


def _by_reason(summary: Summary) -> str:
    """The commonest reasons; the counts are of all refusals, as `skipped --by reason` has them."""
    ranked = sorted(summary.skipped_by.items(), key=lambda item: -item[1])
    named = [f"{str(reason).replace('_', ' ')} {count:,}" for reason, count in ranked[:_MOST_REASONS]]
    if len(ranked) > _MOST_REASONS:
        named.append(f"others {sum(count for _, count in ranked[_MOST_REASONS:]):,}")
    return f" ({', '.join(named)})" if named else ""


def _by_cause(summary: Summary) -> str:
    """Why known pages were left alone."""
    named = [f"{_CAUSES.get(cause, cause)} {count:,}" for cause, count in summary.not_needed_by.items()]
    return f" ({', '.join(named)})" if named else ""


def _load(summary: Summary) -> str:
    load = f"site load: {counted(summary.requests, 'request')}, {size(summary.bytes)} in {span(summary.seconds)}"
    if summary.median_answer_ms is not None:
        load += f", median {summary.median_answer_ms:,} ms"
    if summary.longest_parallel_per_site:
        load += f", never more than {summary.longest_parallel_per_site:,} at a time per site"
    return load


def _next_steps(summary: Summary, collection: Path) -> list[tuple[str, str]]:
    command = command_for(collection)
    again = "resume" if summary.remaining else "update"
    steps = [("data", str(display_path(collection))), (again, f"{command} crawl"), ("look", f"{command} status")]
    if summary.skipped:
        steps.append(("why not", f"{command} skipped"))
    return steps


def display_path(path: Path) -> Path | str:
    """A path as the user would type it from here."""
    try:
        inside = path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path
    return f".{os.sep}{inside}"


def command_for(collection: Path) -> str:
    """The shortest `evercrawl` call that finds this collection from here."""
    from evercrawl.config import find_collection
    from evercrawl.errors import ConfigError

    try:
        found = find_collection(Path.cwd())
    except ConfigError:
        found = None
    if found is not None and found.resolve() == collection.resolve():
        return "evercrawl"
    return f"evercrawl -C {shlex.quote(str(display_path(collection)))}"
