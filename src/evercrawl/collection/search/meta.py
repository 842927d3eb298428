"""One query over several collections: asked at the same time, merged by rank, not by score.

Scores of different collections cannot be compared; ranks can (reciprocal rank fusion). A source that fails
or is slow is reported and not waited for.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic, perf_counter

from evercrawl.core.search.ranking import fused
from evercrawl.errors import EvercrawlError
from evercrawl.model.search import Hit, SearchResults, SourceTrouble

Ask = Callable[[], Sequence[Hit]]
"""Asks one source; may raise an EvercrawlError."""
_Answer = tuple[int, Sequence[Hit] | str]


def ask_all(sources: Sequence[tuple[str, Ask]], *, limit: int, timeout_s: float) -> SearchResults:
    """The merged answer of all sources (name, how to ask) that answer in time."""
    began = perf_counter()
    answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
    for place, (name, ask) in enumerate(sources):
        # Daemons: one that hangs does not keep the program from ending.
        threading.Thread(target=_ask, args=(answers, place, ask), name=f"ask {name}", daemon=True).start()
    given, troubles = _collect(answers, [name for name, _ in sources], timeout_s)
    hits = merged([(sources[place][0], given[place]) for place in sorted(given)])
    took_ms = (perf_counter() - began) * 1000
    return SearchResults(tuple(hits[:limit]), len(hits), took_ms, troubles=tuple(troubles))


def _ask(answers: queue.SimpleQueue[_Answer], place: int, ask: Ask) -> None:
    try:
        answers.put((place, ask()))
    except EvercrawlError as error:
        answers.put((place, str(error)))
    except Exception as defect:
        answers.put((place, f"{type(defect).__name__}: {defect}"))


def _collect(
    answers: queue.SimpleQueue[_Answer], names: Sequence[str], timeout_s: float
) -> tuple[dict[int, Sequence[Hit]], list[SourceTrouble]]:
    given: dict[int, Sequence[Hit]] = {}
    problems: dict[int, str] = {}
    ends = monotonic() + timeout_s
    while len(given) + len(problems) < len(names):
        try:
            place, answer = answers.get(timeout=max(0.0, ends - monotonic()))
        except queue.Empty:
            break
        if isinstance(answer, str):
            problems[place] = answer
        else:
            given[place] = answer
    late = f"no answer within {timeout_s:g} s"
    silent = [(place, name) for place, name in enumerate(names) if place not in given]
    return given, [SourceTrouble(name, problems.get(place, late)) for place, name in silent]


def merged(answers: Sequence[tuple[str, Sequence[Hit]]]) -> list[Hit]:
    """The hits of several sources as one list; a page that several have is listed once, with all of them."""
    best: dict[str, Hit] = {}
    named: dict[str, list[str]] = {}
    for name, hits in answers:
        for hit in hits:
            kept = best.get(hit.url)
            if kept is None or hit.fetched_at > kept.fetched_at:
                best[hit.url] = hit
            named.setdefault(hit.url, []).append(name)
    ranking = fused([[hit.url for hit in hits] for _, hits in answers])
    return [
        replace(best[url], rank=rank, score=round(score, 6), source=", ".join(dict.fromkeys(named[url])))
        for rank, (url, score) in enumerate(ranking, start=1)
    ]
