"""Are the engine's verdicts of near duplicates right on real pages?

    CORPUS_ROOT=… python bench/near_pages.py [PAGES_OF_EACH_HOST [PERCENT]] [--show]

Takes a run of neighbouring pages of each host of the benchmark web (families of pages are neighbours),
beginning at so many percent of the way through it, lets
`engine/duplicates.py` judge them one after the other, and holds its verdicts against the exact Jaccard similarity
of the pairs of words of whole main texts, computed for all pairs. Then plants copies of these pages
with edits and counts how many are found. Prints two JSON objects, and with `--show` the verdicts.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from urllib.parse import unquote

import numpy as np
from link_graph import CORPUS, INDEX, roots
from scipy.sparse import csr_matrix

from evercrawl.core.digest import content_digest
from evercrawl.core.document.html import parse_document
from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.duplicates.repeats import MirrorRegistry
from evercrawl.core.revisit.visit_schedule import BudgetLevel
from evercrawl.core.scope.scope import Scope
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import key_of, site_of
from evercrawl.core.visit.outcome import judge_fetched
from evercrawl.engine.decision import Content, Decision, PageKnowledge, Policy, Related, SiteKnowledge, VisitFacts
from evercrawl.engine.duplicates import MIN_CHARS, Duplicates, find_duplicate
from evercrawl.model.document import Document
from evercrawl.model.fetch import Exchange, Fetched
from evercrawl.model.page import DuplicateCandidate, Page
from evercrawl.model.settings import ParseSettings, Settings
from evercrawl.model.site import Site
from evercrawl.testing.sim_world import MemoryNear

HEADERS = (("content-type", "text/html"),)
BAR, SURE, CLEARLY_NOT = 0.9, 0.95, 0.8
"""The setting; what must be found; what must not be called a duplicate."""
LEAST_PAGES = 2
STEP = 3
"""Of the pages, one in so many gets copies with edits."""
_WORD = re.compile(r"\w+")


@dataclass
class Judged:
    """Implements the part of `ShardStore` that verdicts ask, and keeps what was judged."""

    twins: dict[int, DuplicateCandidate] = field(default_factory=dict)

    async def twin(self, page: bytes | int) -> DuplicateCandidate | None:
        return self.twins.get(page) if isinstance(page, int) else None


def pages_of(each: int, percent: int) -> list[tuple[str, Path]]:
    """A run of neighbours of each host."""
    by_site: dict[str, list[str]] = defaultdict(list)
    for url in (CORPUS / "nginx" / "urls.txt").read_text().split():
        if not url.endswith(INDEX):
            by_site[site_of(url)].append(url)
    folders, chosen = roots(), []
    for site, urls in sorted(by_site.items()):
        first = max(0, len(urls) - each) * percent // 100
        chosen += [(url, folders[site] / unquote(url[len(site) + 1 :])) for url in urls[first : first + each]]
    return chosen


def documents(each: int, percent: int = 50) -> list[tuple[str, Document]]:
    """Pages with different bodies, parsed: those of the same body are recognised by it."""
    seen: set[bytes] = set()
    found = []
    for url, path in pages_of(each, percent):
        body = path.read_bytes() if path.is_file() else b""
        if not body or content_digest(body) in seen:
            continue
        seen.add(content_digest(body))
        found.append((url, parse_document(url, HEADERS, body, agent="bench", limits=ParseSettings())))
    return found


async def verdicts(found: list[tuple[str, Document]]) -> dict[int, int]:
    """Page -> the page that the engine says it repeats."""
    store = Judged()
    settings = Settings()
    policy = Policy(settings, Scope(settings.scope), TrapFilter(settings.traps), "bench", lambda _: None)
    duplicates = Duplicates(
        store,  # type: ignore[arg-type]
        MemoryNear(),
        settings=settings.duplicates,
        mirrors=MirrorRegistry(is_on=False),
        page_at=store.twin,
    )
    repeats: dict[int, int] = {}
    now, known, site = datetime.now(UTC), PageKnowledge(), SiteKnowledge(Site(1, "https://site.test", "site.test"))
    for number, (url, document) in enumerate(found, 1):
        page = Page(number, key_of(url), url, 1, 0, 0, 0, 0)
        result = Fetched(url, 200, HEADERS, b"", Exchange(b"", b"", b"", None, now, timedelta(0)))
        outcome = judge_fetched(page, result, change=None, copy_of=None)
        content = Content(b"", b"", replace(document, canonical=None))
        lookup = await duplicates.look_up(page, content, outcome)
        related = Related(site, BudgetLevel(1.0, 1.0, 1.0, 1.0), duplicates=lookup)
        facts = VisitFacts(page, result, known, related, now, policy)
        decision = find_duplicate(facts, Decision(outcome, result, content))
        duplicates.apply(page, decision)
        duplicates.forget_committed()
        store.twins[number] = DuplicateCandidate(
            number, url, 1, text_signature(document.text), None, decision.duplicate_of, document.title
        )
        if decision.duplicate_of is not None:
            repeats[number] = decision.duplicate_of
    return repeats


def _pairs_of_words(document: Document) -> set[object]:
    return set(pairwise(_WORD.findall(document.text.casefold())))


def _links(document: Document) -> set[object]:
    return {link.url for link in document.links}


def jaccard(found: list[tuple[str, Document]], parts_of: Callable[[Document], set[object]]) -> csr_matrix:
    """The share of parts that each two pages have in common, exactly; pages are numbered from 0."""
    numbers: dict[object, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, (_, document) in enumerate(found):
        parts = [numbers.setdefault(part, len(numbers)) for part in parts_of(document)]
        rows += [row] * len(parts)
        columns += parts
    shape = (len(found), len(numbers) or 1)
    has = csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape=shape)
    sizes = np.asarray(has.sum(axis=1)).ravel()
    common = (has @ has.T).tocoo()
    both = sizes[common.row] + sizes[common.col] - common.data
    shares = np.divide(common.data, both, out=np.zeros(len(both)), where=both > 0)
    return csr_matrix((shares, (common.row, common.col)), shape=common.shape)


def compare(found: list[tuple[str, Document]], repeats: dict[int, int], *, shows: bool) -> dict[str, object]:
    """Precision over the verdicts; recall over pages that have a true twin before them.

    Texts alone are not the truth: two members of a class have nearly the same words in their manual, lists of
    links hardly any. So recall is given twice, of all and of those whose titles and links are alike too.
    """
    alike, leads = jaccard(found, _pairs_of_words), jaccard(found, _links)
    chars = np.array([len(document.text) for _, document in found])
    wrong = {page: of for page, of in repeats.items() if alike[page - 1, of - 1] < CLEARLY_NOT}
    by_text: dict[int, int] = {}
    by_all: dict[int, int] = {}
    for page in range(LEAST_PAGES, len(found) + 1):
        before = alike[page - 1, : page - 1].toarray().ravel() * (chars[: page - 1] >= MIN_CHARS)
        if chars[page - 1] < MIN_CHARS or before.max() < SURE:
            continue
        other = by_text[page] = int(before.argmax()) + 1
        same_title = found[page - 1][1].title == found[other - 1][1].title
        if same_title and leads[page - 1, other - 1] >= SURE:
            by_all[page] = other
    if shows:
        _show("verdict", repeats, found, alike)
        _show("wrong", wrong, found, alike)
        _show("missed", {page: of for page, of in by_text.items() if page not in repeats}, found, alike)
    return {
        "pages": len(found),
        "verdicts": len(repeats),
        "precision": _share(repeats.keys() - wrong.keys(), repeats),
        "at_least_0.9": _share([page for page, of in repeats.items() if alike[page - 1, of - 1] >= BAR], repeats),
        "twins_by_text": len(by_text),
        "recall_by_text": _share(by_text.keys() & repeats.keys(), by_text),
        "twins_by_text_title_and_links": len(by_all),
        "recall": _share(by_all.keys() & repeats.keys(), by_all),
    }


def _share(some: Collection[int], all_of_them: Collection[int]) -> float:
    return round(len(some) / len(all_of_them), 3) if all_of_them else 1.0


def _show(word: str, pairs: dict[int, int], found: list[tuple[str, Document]], alike: csr_matrix) -> None:
    for page, of in pairs.items():
        (url, one), (other_url, other) = found[page - 1], found[of - 1]
        print(word, f"{alike[page - 1, of - 1]:.3f}", len(one.text), url, one.title, other_url, other.title)


def _dated(words: list[str], drawn: Random) -> list[str]:
    return [*words, "Printed", "on", "14", "July", "2026", "by", f"visitor{drawn.randrange(10**6)}"]


def _edited(percent: int) -> Callable[[list[str], Random], list[str]]:
    def edit(words: list[str], drawn: Random) -> list[str]:
        return [f"w{drawn.randrange(10**6)}" if drawn.random() < percent / 100 else word for word in words]

    return edit


EDITS = {"line added": _dated, "1 % of words": _edited(1), "2 % of words": _edited(2), "5 % of words": _edited(5)}


def planted(found: list[tuple[str, Document]]) -> dict[str, object]:
    """How many copies with an edit are found, by the edit, of real pages that are long enough."""
    shares: dict[str, object] = {}
    eligible = [(url, document) for url, document in found if len(document.text) >= MIN_CHARS][::STEP]
    for name, edit in EDITS.items():
        drawn = Random(name)
        copies = [
            (f"{url}?copy", replace(document, text=" ".join(edit(document.text.split(), drawn))))
            for url, document in eligible
        ]
        repeats = asyncio.run(verdicts(eligible + copies))
        right = [page for page, of in repeats.items() if of == page - len(eligible)]
        shares[name] = round(len(right) / len(eligible), 3)
    return {"planted": len(eligible), "found": shares}


def main() -> None:
    """Two lines of figures."""
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    found = documents(*(numbers or [100]))
    repeats = asyncio.run(verdicts(found))
    print(json.dumps(compare(found, repeats, shows="--show" in sys.argv)))
    print(json.dumps(planted(found)))


if __name__ == "__main__":
    main()
