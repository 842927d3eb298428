"""Write the records of a part: `python -m tests.worlds.blind visible > visible.jsonl`; more arguments are seeds."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from datetime import timedelta

from tests.worlds.blind.living_site import Kind, LivingSite
from tests.worlds.blind.view import BEGIN

SEEDS = (1, 2)


def kinds_of(part: str) -> tuple[Kind, ...]:
    """Return the kinds of sites of a part: visible or held."""
    kinds: tuple[Kind, ...] = importlib.import_module(f"tests.worlds.blind.{part}").KINDS
    return kinds


def records(part: str, seeds: tuple[int, ...] = SEEDS) -> Iterator[dict[str, object]]:
    """Return one record per page, in the shape of living_sequences.jsonl."""
    for kind in kinds_of(part):
        for seed in seeds:
            yield from site_records(LivingSite(kind, seed))


def site_records(site: LivingSite) -> Iterator[dict[str, object]]:
    """Return the records of one site."""
    paths = [page.path for page in site.pages]
    for number, visits in enumerate(site.visits()):
        yield {
            "id": f"{site.host}/{number}",
            "site": site.host,
            "kind": site.kind.name,
            "url": f"http://{site.host}{paths[number]}",
            "visits": [
                {
                    "at": (BEGIN + timedelta(hours=hours)).isoformat(),
                    "html": visit.html,
                    "content_changed": visit.content_changed,
                    "change": visit.change,
                    "template_edit": visit.template_edit,
                }
                for hours, visit in zip(site.times, visits, strict=True)
            ],
        }


def main() -> None:
    """Write the records of the part and the seeds named on the command line to standard output."""
    part, *seeds = sys.argv[1:]
    for record in records(part, tuple(map(int, seeds)) or SEEDS):
        sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
