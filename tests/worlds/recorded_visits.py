"""Drive change detection over recorded visits of living sites, as a crawl does, and compare it with the labels.

Each round visits every page once, in another order. Changes wait for other pages of the site as they do in a crawl, and
at the end of a round all are judged. `python -m tests.worlds.recorded_visits FILE.jsonl` prints the score of each file
and of each kind of site in it; with `--wrong` also every wrong verdict.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.grouping import group_changes
from evercrawl.core.change.held_changes import add_held, has_to_wait, settle_held
from evercrawl.core.change.learning import classify_visit, learn_page
from evercrawl.core.change.snapshot import Snapshot, snapshot_html
from evercrawl.model.change import Change

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
EARLY_VISITS = 2
"""The first visit, and the one that is compared with it."""
FLIP, FLIP_BACK = "flip: ", "flip back: "
"""How the label of an edit begins that is taken back some visits later, and that of taking it back."""
GROUP_SHARE = 0.8
"""A template edit is one group if that has this share of the pages."""


class Score:
    """Counts of verdicts on recorded visits."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def rate(self, part: str, whole: str) -> float:
        """Return the share of one count in another."""
        return self.counts[part] / max(1, self.counts[whole])

    @property
    def early_false(self) -> float:
        """Share of false alarms at the second visit."""
        return self.rate("early false", "early quiet")

    @property
    def false(self) -> float:
        """Share of false alarms from the third visit on."""
        return self.rate("false", "quiet")

    @property
    def missed(self) -> float:
        """Share of content changes that were missed."""
        return self.rate("missed", "edits")

    @property
    def grouped(self) -> float:
        """Share of template edits that are one group."""
        return self.rate("grouped", "template edits")

    @property
    def kept(self) -> float:
        """Share of the edits later taken back (A → B → A) of which both changes were reported."""
        return self.rate("returns kept", "returns")

    def __str__(self) -> str:
        false = f"false alarms: second visit {self.early_false:.2%}, from the third on {self.false:.2%}"
        counts = self.counts
        return (
            f"{false}; missed {self.missed:.2%}; A → B → A kept {counts['returns kept']} of {counts['returns']}"
            f" ({self.kept:.1%}); template edits in one group {counts['grouped']} of {counts['template edits']}"
        )


def score_by_kind(records: Iterable[dict[str, Any]]) -> dict[str, Score]:
    """Return how detection fares on each kind of site."""
    kinds = defaultdict(list)
    for record in records:
        kinds[record["kind"]].append(record)
    return {kind: score_records(pages) for kind, pages in kinds.items()}


def score_records(records: Iterable[dict[str, Any]]) -> Score:
    """Return how detection fares on the pages of one or more sites."""
    score, sites = Score(), defaultdict(list)
    for record in records:
        sites[record["site"]].append(record)
    for pages in sites.values():
        _Watch(pages, score).run()
    return score


class _Watch:
    """Watches one site."""

    def __init__(self, pages: list[dict[str, Any]], score: Score) -> None:
        self._pages = pages
        self._score = score
        self._site = SiteChangeHistory()
        self._histories: dict[int, PageChangeHistory] = {}
        self._last: dict[int, Snapshot] = {}
        self._verdicts: dict[int, Change] = {}
        self._flips: dict[int, bool] = {}  # Whether the edit of a page that is not yet taken back was reported.

    def run(self) -> None:
        """Visit all pages in rounds."""
        order, draw = list(range(len(self._pages))), random.Random(1)
        for number in range(max(len(page["visits"]) for page in self._pages)):
            draw.shuffle(order)
            self._verdicts = {}
            visited = [page for page in order if number < len(self._pages[page]["visits"])]
            at = self._pages[visited[0]]["visits"][number].get("at")
            now = datetime.fromisoformat(at).replace(tzinfo=UTC) if at else START + timedelta(days=number)
            for page in visited:
                self._visit(page, number, now)
            self._settle(now, everything=True)
            if number:
                self._count(visited, number)

    def _visit(self, page: int, number: int, now: datetime) -> None:
        url, after = self._pages[page]["url"], snapshot_html(self._pages[page]["visits"][number]["html"])
        before, self._last[page] = self._last.get(page), after
        if before is None:
            self._site = learn_page(after, self._site, page_url=url)
            self._histories[page] = PageChangeHistory()
            return
        found = classify_visit(
            before, after, self._histories[page], self._site, now=now, page_url=url, visit=number + 1
        )
        self._verdicts[page], self._histories[page], self._site = found.change, found.page, found.site
        if has_to_wait(found.change, found.held, self._site):
            held = found.held._replace(url=url, page_id=page, at_us=int(now.timestamp() * 1e6))
            self._site = add_held(self._site, held)
        self._settle(now)

    def _settle(self, now: datetime, *, everything: bool = False) -> None:
        self._site, settled = settle_held(self._site, now=now, everything=everything)
        self._verdicts |= {verdict.page_id: verdict.change for verdict in settled}

    def _count(self, visited: list[int], number: int) -> None:
        counts, prefix = self._score.counts, "early " if number < EARLY_VISITS else ""
        template_edit = None
        for page in visited:
            truth, is_changed = self._pages[page]["visits"][number], self._verdicts[page].changed
            template_edit = template_edit or truth["template_edit"]
            if truth["content_changed"]:
                counts["edits"] += 1
                counts["missed"] += not is_changed
                self._count_return(page, str(truth["change"]), is_changed=is_changed)
            else:
                counts[f"{prefix}quiet"] += 1
                counts[f"{prefix}false"] += is_changed
            if is_changed is not bool(truth["content_changed"]):
                self._score.wrong.append(f"{self._pages[page]['url']} visit {number}: {truth['change']}")
        if template_edit:
            changes = [(self._pages[page]["url"], self._verdicts[page]) for page in visited]
            largest = max((len(group.pages) for group in group_changes(changes) if group.is_template), default=0)
            counts["template edits"] += 1
            counts["grouped"] += largest >= GROUP_SHARE * len(visited)

    def _count_return(self, page: int, label: str, *, is_changed: bool) -> None:
        if label.startswith(FLIP):
            self._flips[page] = is_changed
        elif label.startswith(FLIP_BACK) and page in self._flips:
            self._score.counts["returns"] += 1
            self._score.counts["returns kept"] += self._flips.pop(page) and is_changed


def main() -> None:
    """Print the score of each file of records named on the command line, and of each kind in it."""
    names = [name for name in sys.argv[1:] if name != "--wrong"]
    for name in names:
        kinds, total = score_by_kind(map(json.loads, Path(name).read_text().splitlines())), Score()
        for score in kinds.values():
            total.counts += score.counts
            total.wrong += score.wrong
        sys.stdout.write(f"{name}: {total}\n")
        for kind, score in kinds.items() if len(kinds) > 1 else ():
            sys.stdout.write(f"  {kind}: {score}\n")
        for wrong in total.wrong if "--wrong" in sys.argv else ():
            sys.stdout.write(f"    {wrong}\n")


if __name__ == "__main__":
    main()
