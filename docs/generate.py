"""Writes the reference pages from the program itself: settings, commands, reasons, API, metrics.

Run it with `make docs`; a test fails when a page differs from what this gives.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

import click

from evercrawl.cli.main import ALIASES, root
from evercrawl.cli.terminal import EXIT_TEXT, ExitCode
from evercrawl.config.load import SHORT_NAMES, env_variable
from evercrawl.config.schema import (
    CHECKS,
    SettingSpec,
    describe_type,
    format_value,
    known_settings,
    sections,
    site_settings,
)
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.settings import SiteSettings
from evercrawl.web.openapi import openapi_document, scopes
from evercrawl.web.protocols.streams import METRICS

REFERENCE = Path(__file__).resolve().parent / "reference"
RESEARCH = Path(__file__).resolve().parents[1] / "research"
NOTE = "<!-- Written by docs/generate.py; change the program and run `make docs`. -->"
HELP_WIDTH = 100

OUTCOME_TEXT: dict[Outcome, str] = {
    Outcome.QUEUED: "known and waiting for its first visit",
    Outcome.FETCHED: "stored as a new version, or the page redirects",
    Outcome.TRUNCATED: "stored, cut off at a limit",
    Outcome.UNCHANGED: "visited; there was nothing new to store",
    Outcome.DUPLICATE: "has the content of another page; `why` names that page",
    Outcome.DEFERRED: "will be retried later",
    Outcome.REJECTED: "not requested",
    Outcome.ERROR: "requested, without a usable answer",
}


def pages() -> dict[str, str]:
    """Return every generated page by file name."""
    return {
        "settings.md": _settings(),
        "cli.md": _cli(),
        "reasons.md": _reasons(),
        "exit-codes.md": _exit_codes(),
        "api.md": _api(),
        "metrics.md": _metrics(),
        "compare.md": _compare(),
    }


def _compare() -> str:
    """Return evercrawl beside its peers, from the facts and measurements in research/."""
    facts = tomllib.loads((RESEARCH / "peers.toml").read_text(encoding="utf-8"))
    rows, peers = facts["rows"], facts["peer"]
    heads = ("", "Licence", "Written in", *rows.values())
    features = [(f"**{one['name']}**", one["licence"], one["language"], *(one[row] for row in rows)) for one in peers]
    parts = [
        NOTE.replace("change the program", "change the files named peers in research/"),
        "# evercrawl beside other programs",
        "## Features",
        "As we know these programs in November 2026; only what is under the next headings was measured. A plugin or a service "
        "beside them may do more. Corrections are welcome.",
        _table(heads, features),
        "## Speed and memory",
        *_race(json.loads((RESEARCH / "peers-race.json").read_text(encoding="utf-8"))),
        *_politeness(
            RESEARCH / "peers-measured.json", {one.get("measured", one["name"]): one["name"] for one in peers}
        ),
        "Programs that are not in a table were not measured here.",
        "## What they do better",
        "\n".join(f"- **{one['name']}**: {one['better']}" for one in peers if "better" in one),
        "evercrawl is young: strangers have not used it for years, as they have most of these.",
    ]
    return "\n\n".join(parts) + "\n"


def _race(race: dict[str, Any]) -> list[str]:
    rows = [
        (run["name"], *(f"{median(run[name]):g}" for name in ("pages_per_s", "cpu_s_per_1000")), run["peak_mb"])
        for run in race["runs"]
    ]
    return [
        f"`{race['command']}`, {race['date']}, {race['machine']}: {race['pages']:,} pages of {race['hosts']} hosts on the same "
        "machine, without delays, each program on one core; medians. evercrawl also extracts text, compares, and writes WARC "
        "and state; wget and Scrapy store the bodies. Later versions do more for a page and were slower: "
        "[all measurements](../../research/benchmarks.md).",
        _table(("", "Pages per second", "CPU seconds per 1,000 pages", "Peak MB"), rows),
    ]


def _politeness(file: Path, names: dict[str, str]) -> list[str]:
    if not file.exists():
        return []
    measured = json.loads(file.read_text(encoding="utf-8"))
    rows = [
        (
            names[run["name"]],
            "yes" if run["asks_robots"] and run["keeps_to_robots"] else "no",
            str(run["connections"]),
            f"{run['requests_per_s']:g}",
            f"{run['cpu_s_per_1000']:g}" if run["complete"] else "did not end",
            str(run["peak_mb"]),
        )
        for run in measured["runs"]
    ]
    return [
        "## Politeness",
        f"`python bench/compare.py`, {measured['date']}, {measured['machine']}: 20 pages with each program's defaults (Scrapy: "
        f"those of a new project), as the server sees it. CPU and memory: {measured['pages']} pages without delays; in so "
        "small a crawl the start of each program counts most.",
        _table(
            (
                "",
                "Keeps to robots.txt",
                "Connections at once",
                "Requests per second",
                "CPU seconds per 1,000 pages",
                "Peak MB",
            ),
            rows,
        ),
    ]


def _meaning(known: SettingSpec) -> str:
    return f"{known.help} \u2020" if known.needs_trust else known.help


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _settings() -> str:
    parts = [
        NOTE,
        "# Settings",
        "Flags override environment variables, which override the collection's `collection.toml`, which overrides your own "
        "`~/.config/evercrawl/config.toml`, which overrides the defaults. `evercrawl config show --origin` prints each "
        "value and where it comes from.",
        "The environment variable of a setting is `EVERCRAWL_SECTION__NAME`, such as "
        f"`{env_variable('pace.delay')}`; "
        + ", ".join(f"`{short}` is short for `{key}`" for short, key in SHORT_NAMES.items())
        + ". Write durations as `500ms`, `1.5s`, `2m`, `1h`, `7d` or a number of seconds, and sizes as `16MiB`, `64MB` or a "
        'number of bytes. `"none"` means no limit or no value; zero never does.',
        "Settings that name code, files or machines, or that could burden others, are marked \u2020: they are ignored in the `collection.toml` of a "
        "collection that is [not trusted](../operations/runbook.md#collections-of-others).",
    ]
    for section, text in sections().items():
        rows = [
            (f"`{known.name}`", f"`{format_value(known, known.default)}`", describe_type(known), _meaning(known))
            for known in known_settings().values()
            if known.section == section
        ]
        parts += [f"## [{section}]", text, _table(("name", "default", "type", "meaning"), rows)]
    own = [(f"`{known.name}`", describe_type(known), known.help) for known in site_settings().values()]
    about = (SiteSettings.__doc__ or "") + " See [select what to keep](../guides/select-pages.md)."
    parts += ['## [site."PATTERN"]', about, _table(("name", "type", "meaning"), own)]
    return "\n\n".join(parts) + "\n"


def _cli() -> str:
    parts = [
        NOTE,
        "# Commands",
        "Data goes to standard output, everything else to standard error. Every command except `completion` takes `--json`; all take the options "
        "of `evercrawl` itself, before or after its name. JSON objects have a `schema` such as `evercrawl.status/1`; "
        "its number increases when a field is removed or changes its meaning. See also: [exit codes](exit-codes.md).",
        "Aliases: " + ", ".join(f"`{alias}` for `{name}`" for alias, name in ALIASES.items()) + ".",
    ]
    context = click.Context(root, info_name="evercrawl", terminal_width=HELP_WIDTH, **root.context_settings)
    for name, command, around in _commands(root, context):
        parts += [f"## {name}", f"```text\n{command.get_help(around).rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _commands(command: click.Command, context: click.Context) -> list[tuple[str, click.Command, click.Context]]:
    """Return the command and its subcommands, in the order of the help."""
    found = [(context.command_path, command, context)]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            inner = click.Context(child, parent=context, info_name=name, terminal_width=HELP_WIDTH)
            found += _commands(child, inner)
    return found


def _reasons() -> str:
    rows = [(f"`{reason}`", REASON_TEXT[reason]) for reason in Reason]
    outcomes = [(f"`{outcome}`", OUTCOME_TEXT[outcome]) for outcome in Outcome]
    parts = [
        NOTE,
        "# Outcomes and reasons",
        "Every known URL has an outcome and a reason. `why`, `skipped` and `status` print these names, and scripts may "
        "rely on them.",
        "## Outcomes",
        _table(("outcome", "meaning"), outcomes),
        "## Reasons",
        _table(("reason", "meaning"), rows),
    ]
    return "\n\n".join(parts) + "\n"


def _exit_codes() -> str:
    rows = [(str(int(code)), EXIT_TEXT[code]) for code in ExitCode]
    return "\n\n".join([NOTE, "# Exit codes", _table(("code", "meaning"), rows)]) + "\n"


def _api() -> str:
    described = openapi_document()
    rows = []
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            named = {
                parameter["name"]: (parameter["description"], parameter["required"])
                for parameter in one.get("parameters", [])
            }
            body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            for name, value in body.get("properties", {}).items():
                named[name] = (value.get("description", ""), name in body.get("required", []))
            parameters = "<br>".join(
                f"`{name}`{' (required)' if must else ''}: {text}" for name, (text, must) in named.items()
            )
            rows.append((f"`{method.upper()} {path}`", one["x-scope"], one["summary"], parameters))
    parts = [
        NOTE,
        "# API of `evercrawl serve`",
        "Send a token (`Authorization: Bearer …`); create one under `/access` in the web interface. Answers are JSON objects with a "
        "`schema` such as `evercrawl.sites/1`; errors are `application/problem+json` (RFC 9457) with `status`, `title` and "
        "`detail`. Times are ISO 8601 in UTC. To continue a list, pass its `next` as `after`. Percent-encode URLs in paths: "
        "`/api/v1/pages/https%3A%2F%2Fexample.org%2F`. A POST with an `Idempotency-Key` is done once, however often it is "
        "sent. The OpenAPI 3.1 description is at `/api/v1/openapi.json`. To get started, read "
        "[the guide](../guides/web-interface.md).",
        "## Scopes",
        _table(("scope", "allows"), [(f"`{name}`", text) for name, text in scopes().items()]),
        "## Paths",
        _table(("path", "scope", "description", "parameters"), rows),
    ]
    return "\n\n".join(parts) + "\n"


def _metrics() -> str:
    rows = [(f"`{name}`", kind, text) for name, (kind, text) in METRICS.items()]
    intro = "`evercrawl serve` provides `/metrics` in the text format of Prometheus. Scrapers need a token with the scope `read`."
    return "\n\n".join([NOTE, "# Metrics", intro, _table(("metric", "type", "meaning"), rows)]) + "\n"


def main() -> None:
    """Write every page."""
    assert set(CHECKS) <= set(known_settings())
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
