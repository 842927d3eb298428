"""All revisit policies on all recorded traces and budgets, as a Markdown page and a picture.

nice -n 10 python bench/freshness.py ../shared/traces --out research/benchmarks-freshness.md
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from math import exp, inf, isnan, log
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from evercrawl.lab.policy_score import UNLIMITED, score
from evercrawl.lab.trace_replay import Trace, read_trace

MIN_MISSING = 1e-9
MOST_PAGES = 600
MOST_DAYS = 1096.0
BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
JUDGED = (0.05, 0.1, 0.2)
SMALL = (0.005, 0.01, 0.035, 0.15)
"""More points for the curves of policies with signals."""
BETWEEN = (*SMALL, 0.07, 0.3, 2.0)
"""More points for the curve without: other rules are met at their own pace, the fastest above 1."""
OWN_PACE = ("paper-adaptive", "paper-selective", "paper-pdfc", "nutch", "stormcrawler")
COLOURS = {"uniform": "#888888", "none": "#0b6e99", "poor": "#c0562b", "true": "#4d7c0f", "oracle": "#111111"}
LABELS = {
    "uniform": "uniform",
    "none": "optimal, no signal",
    "poor": "optimal, poor signal",
    "true": "optimal, true lastmod",
    "oracle": "oracle (knows the mean rates)",
}


def gap_closed(*, freshness: float, uniform: float, oracle: float) -> float:
    """Return G1: the share of the way from uniform to the oracle; nan if there is none."""
    return (freshness - uniform) / (oracle - uniform) if oracle > uniform else float("nan")


def requests_for(goal: float, curve: Mapping[float, float]) -> float:
    """Return the requests at which a curve (requests to freshness) reaches `goal`; infinite if it never does.
    Missing freshness falls about as a power of the requests, so the interpolation is logarithmic."""
    before: float | None = None
    for requests in sorted(curve):
        if curve[requests] >= goal:
            return requests if before is None else _between(before, requests, goal, curve)
        before = requests
    return inf


def _between(low: float, high: float, goal: float, curve: Mapping[float, float]) -> float:
    part = (_missing(goal) - _missing(curve[low])) / (_missing(curve[high]) - _missing(curve[low]))
    return exp(log(low) + part * (log(high) - log(low)))


def _missing(freshness: float) -> float:
    return log(max(1.0 - freshness, MIN_MISSING))


FITTED = """How these sites influenced the policy: the part without a signal was chosen on all eight. The use of
signals was developed in two rounds. First on endoflife, peps, scoop-extras and tldr-en. Then, at 600 pages and
three years: how false announcements are counted and when to poll on owid-covid, peps, kubernetes-en and
endoflife; the first three showed that the value of a doubtful announcement must end, and once, twice and three
times the mean interval were compared on all eight. On the four sites that influenced nothing in this round
(free-books, scoop- extras, sentry-docs, tldr-en) the poor signal needed .47 / .43 / .44 of uniform's requests
before it and .47 / .40 / .39 after it (median, at 0.05 / 0.1 / 0.2). A poll costs as much for 200 pages as for
2,000: on larger sites signals save more than here. Requests for a given freshness are interpolated between
budgets, on log scales of the requests and of the distance to 1. The figures of this second round come from an
experiment that weighs every page at every step, not from the queue run below.
"""


class Run(NamedTuple):
    """One cell: policy, signal and budget on one site."""

    site: str
    policy: str
    signal: str
    budget: float
    freshness: float
    requests: float


def runs_of(trace: Trace) -> Iterator[Run]:
    """Every run on one site."""
    for budget in BUDGETS:
        for name in ("uniform", "fixed", "optimal", "oracle"):
            yield _run(trace, name, "none", budget)
    for signal in ("true", "poor"):
        for budget in sorted((*SMALL, *BUDGETS[:4])):
            yield _run(trace, "optimal", signal, budget)
    for budget in BETWEEN:
        yield _run(trace, "optimal", "none", budget)
    for name in OWN_PACE:
        yield _run(trace, name, "none", UNLIMITED)


def _run(trace: Trace, name: str, signal: str, budget: float) -> Run:
    result = score(trace, name, per_page_day=budget, signal=signal)
    return Run(trace.site, name, signal, budget, result.freshness, result.requests_per_page_day)


def measured(folder: Path, kept: Path | None, pages: int, days: float) -> list[Run]:
    """All runs; those of an earlier, interrupted call are taken from the file that keeps them."""
    runs = [Run(*json.loads(line)) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    done = {run.site for run in runs}
    for path in sorted(folder.glob("*.jsonl.gz")):
        trace = read_trace(path, max_pages=pages, max_days=days)
        if trace.site in done:
            continue
        start = time.process_time()
        fresh = list(runs_of(trace))
        runs += fresh
        if kept:
            with kept.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(run) + "\n" for run in fresh)
        print(f"{trace.site}: {len(fresh)} runs, {time.process_time() - start:.0f} s", file=sys.stderr)
    return runs


class Results:
    """Look-up of runs."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self.runs = {(run.site, run.policy, run.signal, run.budget): run for run in runs}
        self.sites = sorted({run.site for run in self.runs.values()})

    def freshness(self, site: str, name: str, budget: float, signal: str = "none") -> float:
        return self.runs[site, name, signal, budget].freshness

    def curve(self, site: str, signal: str) -> dict[float, float]:
        found = (r for r in self.runs.values() if (r.site, r.policy, r.signal) == (site, "optimal", signal))
        return {run.requests: run.freshness for run in found}

    def gaps(self, budget: float) -> list[float]:
        return [
            gap_closed(
                freshness=self.freshness(site, "optimal", budget),
                uniform=self.freshness(site, "uniform", budget),
                oracle=self.freshness(site, "oracle", budget),
            )
            for site in self.sites
        ]

    def saving(self, budget: float, signal: str) -> list[float]:
        return [
            requests_for(self.freshness(site, "uniform", budget), self.curve(site, signal)) / budget
            for site in self.sites
        ]

    def against(self, rule: str) -> list[float]:
        out = []
        for site in self.sites:
            run = self.runs[site, rule, "none", UNLIMITED]
            out.append(requests_for(run.freshness, self.curve(site, "none")) / run.requests)
        return out


def page(results: Results, picture: str, pages: int, days: float) -> str:
    """The whole Markdown page."""
    parts = [
        "# Benchmarks: revisiting\n",
        f"Written by `python bench/freshness.py TRACES --pages {pages} --days {days:.0f}`."
        f" Recorded change histories of {len(results.sites)} real sites, at most {pages} pages and"
        f" {days:.0f} days each, the first part as warm-up, decisions every 6 h,"
        " every poll of a signal source counted as a request."
        " Freshness is the time average of the share of live pages whose copy is current.\n",
        f"![Freshness against requests]({picture})\n",
        FITTED,
        "## The measures\n",
        *_measures(results),
        "## Mean over the sites\n",
        *_means(results),
        "## Rules at their own pace\n",
        *_own_pace(results),
        "## Every site\n",
        *_sites(results),
    ]
    return "\n".join(parts)


def _measures(results: Results) -> Iterator[str]:
    yield "Medians over the sites, at " + " / ".join(str(b) for b in JUDGED) + " requests per page and day.\n"
    yield "G1 leaves out sites where the oracle is not above uniform.\n"
    yield "| measure | reached |\n|---|---|"
    yield "| G1 share of the gap uniform to oracle closed, no signal | " + _row(
        median(gap for gap in results.gaps(b) if not isnan(gap)) for b in JUDGED
    )
    for mark, signal in (("G2 true lastmod", "true"), ("G3 poor signal", "poor")):
        yield f"| {mark}: requests for uniform's freshness, share of uniform's | " + _row(
            median(results.saving(b, signal)) for b in JUDGED
        )
    yield "| G4 requests for the freshness of rule A / of StormCrawler's rule, share of theirs | " + _row(
        median(results.against(rule)) for rule in ("paper-adaptive", "stormcrawler")
    )
    worst = min(
        (results.freshness(s, "optimal", b) - results.freshness(s, "uniform", b), s, b)
        for s in results.sites
        for b in BUDGETS
    )
    yield f"| smallest lead over uniform, no signal | {worst[0]:+.4f} ({worst[1]} at {worst[2]}) |"
    worst = min(
        (results.freshness(s, "optimal", b, "poor") - results.freshness(s, "optimal", b), s, b)
        for s in results.sites
        for b in JUDGED
    )
    yield f"| smallest lead of the poor signal over none | {worst[0]:+.4f} ({worst[1]} at {worst[2]}) |\n"


def _row(values: Iterable[float]) -> str:
    return " / ".join("never" if value == inf else f"{value:.2f}" for value in values) + " |"


def _cells(results: Results, site: str | None, name: str, signal: str) -> str:
    cells = []
    for budget in BUDGETS:
        keys = [(s, name, signal, budget) for s in ([site] if site else results.sites)]
        known = [results.runs[key].freshness for key in keys if key in results.runs]
        cells.append(f"{mean(known):.3f}" if known else "–")
    return " | ".join(cells)


LINES = (
    ("uniform", "uniform", "none"),
    ("fixed (7 days)", "fixed", "none"),
    ("optimal, no signal", "optimal", "none"),
    ("optimal, poor signal", "optimal", "poor"),
    ("optimal, true lastmod", "optimal", "true"),
    ("oracle (knows the mean rates)", "oracle", "none"),
)


def _means(results: Results) -> Iterator[str]:
    yield "| policy | " + " | ".join(str(b) for b in BUDGETS) + " |\n|---|" + "---|" * len(BUDGETS)
    for label, name, signal in LINES:
        yield f"| {label} | {_cells(results, None, name, signal)} |"
    yield ""


def _own_pace(results: Results) -> Iterator[str]:
    yield "Requests per page and day that the rule makes, its freshness, what `optimal` needs for the same.\n"
    yield "| rule | requests | freshness | optimal's share of its requests (median) |\n|---|---|---|---|"
    for rule in OWN_PACE:
        runs = [results.runs[site, rule, "none", UNLIMITED] for site in results.sites]
        requests, freshness = mean(r.requests for r in runs), mean(r.freshness for r in runs)
        yield f"| {rule} | {requests:.3f} | {freshness:.3f} | " + _row([median(results.against(rule))])
    yield ""


def _sites(results: Results) -> Iterator[str]:
    yield "| site | policy | " + " | ".join(str(b) for b in BUDGETS) + " |\n|---|---|" + "---|" * len(BUDGETS)
    for site in results.sites:
        for label, name, signal in LINES:
            yield f"| {site} | {label} | {_cells(results, site, name, signal)} |"
    yield "\n| site | " + " | ".join(f"{rule}: requests, freshness" for rule in OWN_PACE) + " |"
    yield "|---|" + "---|" * len(OWN_PACE)
    for site in results.sites:
        runs = [results.runs[site, rule, "none", UNLIMITED] for rule in OWN_PACE]
        yield f"| {site} | " + " | ".join(f"{r.requests:.3f}, {r.freshness:.3f}" for r in runs) + " |"
    yield ""


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 360, 60, 200, 20, 45


def drawing(results: Results) -> str:
    """Mean freshness over requests, one line a policy."""
    lines = {
        key: {
            b: mean(results.freshness(s, *_named(key), b, _signal(key)) for s in results.sites)
            for b in BUDGETS
            if (results.sites[0], *_named(key), _signal(key), b) in results.runs
        }
        for key in COLOURS
    }
    least = min(min(line.values()) for line in lines.values())
    body = "".join(_line(key, points, least, place) for place, (key, points) in enumerate(lines.items()))
    ticks = "".join(f'<text x="{_x(b):.0f}" y="{HEIGHT - 25}" text-anchor="middle">{b}</text>' for b in BUDGETS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        f' font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{_grid(least)}{ticks}'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">requests per page'
        f" and day (log scale)</text>{body}</svg>\n"
    )


def _named(key: str) -> tuple[str]:
    return (key if key in ("uniform", "oracle") else "optimal",)


def _signal(key: str) -> str:
    return key if key in ("true", "poor") else "none"


def _x(budget: float) -> float:
    first, last = log(BUDGETS[0]), log(BUDGETS[-1])
    return LEFT + (log(budget) - first) / (last - first) * (WIDTH - LEFT - RIGHT)


def _y(freshness: float, least: float) -> float:
    return TOP + (1.0 - freshness) / (1.0 - least) * (HEIGHT - TOP - BOTTOM)


def _grid(least: float) -> str:
    steps = [round(0.05 * n, 2) for n in range(int(least * 20) + 1, 21)]
    return "".join(
        f'<path d="M{LEFT} {_y(f, least):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        f'<text x="{LEFT - 8}" y="{_y(f, least) + 4:.1f}" text-anchor="end">{f:.2f}</text>'
        for f in steps
    )


def _line(key: str, points: dict[float, float], least: float, place: int) -> str:
    path = " ".join(f"{_x(b):.1f},{_y(f, least):.1f}" for b, f in points.items())
    top = HEIGHT - BOTTOM - 20 * (len(COLOURS) - place)
    return (
        f'<polyline points="{path}" fill="none" stroke="{COLOURS[key]}" stroke-width="2"/>'
        f'<text x="{WIDTH - RIGHT + 12}" y="{top}" fill="{COLOURS[key]}">{escape(LABELS[key])}</text>'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", type=Path)
    parser.add_argument("--out", type=Path, default=Path("research/benchmarks-freshness.md"))
    parser.add_argument("--pages", type=int, default=MOST_PAGES, help="at most so many pages of a site")
    parser.add_argument("--days", type=float, default=MOST_DAYS, help="at most so many days of a trace")
    parser.add_argument("--kept", type=Path, help="file that keeps finished sites, to go on after a stop")
    options = parser.parse_args()
    results = Results(measured(options.traces, options.kept, options.pages, options.days))
    picture = options.out.parent / "images" / "freshness.svg"
    picture.write_text(drawing(results), encoding="utf-8")
    options.out.write_text(page(results, f"images/{picture.name}", options.pages, options.days), encoding="utf-8")


if __name__ == "__main__":
    main()
