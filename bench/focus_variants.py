"""Play focused crawls on many disturbed copies of the small webs: one crawl says little, their mean more.

python bench/focus_variants.py SHARED/conformance/focused/webkb_*.jsonl.gz --variants 24

Of each web 10 to 20 % of the pages are taken out; learned is from 75 % of the pages of the other files; every
third crawl starts at another page than the department's.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random
from statistics import mean, stdev

from focus import LEAST_REACH, Web, ours, reached, read, result_of

from evercrawl.core.focus.focus import ExamplePage, learn_focus

LEARNED_SHARE = 0.75
LEAST_OUT, MOST_OUT = 0.1, 0.2
OTHER_START_EVERY = 3


def thinned(web: Web, random: Random) -> Web:
    """The web without some of its pages; the department's page stays."""
    out = random.uniform(LEAST_OUT, MOST_OUT)
    return {url: page for url, page in web.items() if page.is_start or random.random() >= out}


def start_of(web: Web, number: int, random: Random) -> str | None:
    """Where crawl `number` starts; None where nothing reaches enough of the web."""
    named = [url for url, page in web.items() if page.is_start]
    others = random.sample(sorted(web), min(len(web), 40))
    candidates = others if number % OTHER_START_EVERY == OTHER_START_EVERY - 1 else named
    return next((url for url in candidates if len(reached(web, url)) >= LEAST_REACH * len(web)), None)


def quarter(web: Web, examples: list[ExamplePage], number: int) -> float | None:
    """Share of the pages on topic found after a quarter of what variant `number` of the web reaches."""
    random = Random(number)
    part = thinned(web, random)
    start = start_of(part, number, random)
    if start is None:
        return None
    focus = learn_focus([page for page in examples if random.random() < LEARNED_SHARE], random=Random(0))
    return result_of(part, ours(part, start, focus)).quarter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("webs", type=Path, nargs="+")
    parser.add_argument("--variants", type=int, default=24)
    arguments = parser.parse_args()
    known = {path.name.split(".")[0]: read(path) for path in arguments.webs}
    for name, (web, _) in known.items():
        examples = [page for other, (_, pages) in known.items() if other != name for page in pages]
        played = [quarter(web, examples, number) for number in range(arguments.variants)]
        found = sorted(share for share in played if share is not None)
        if len(found) > 1:
            error = stdev(found) / len(found) ** 0.5
            print(f"{name:<22} {len(found)} crawls, mean {mean(found):.3f} +- {error:.3f}, least {found[0]:.2f}")


if __name__ == "__main__":
    main()
