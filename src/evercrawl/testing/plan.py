"""Which pages does a synthetic site have, and how do they link to each other?

Every ordinary page can be reached from the home page over ordinary pages: the nth links to 3n+1, 3n+2 and
3n+3. All that is odd (moved, gone, copied, private, ...) hangs on this tree as leaves.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from evercrawl.testing.draw import number, pick, share, weighted
from evercrawl.testing.robots import OPENED, OTHERS_ONLY, PRIVATE

BRANCHES = 3
LONGEST_CHAIN = 3
FOLDERS = ("news", "docs", "people", "shop", "blog/2025", "blog/2026")


class PageKind(StrEnum):
    """What a path of a site is; the value begins its path."""

    PAGE = "page"
    TEXT = "text"
    BIG = "big"
    COPY = "copy"
    MOVED = "go"
    LOOP = "loop"
    MISSING = "missing"
    GONE = "gone"
    PRIVATE = "private"
    OPENED = "opened"
    DRAFT = "drafts"
    UNFOLLOWED = "unfollowed"
    STUCK = "stuck"
    ERROR = "error"


_WEIGHTS = {
    PageKind.PAGE: 70.0,
    PageKind.TEXT: 3.0,
    PageKind.BIG: 1.0,
    PageKind.COPY: 5.0,
    PageKind.MOVED: 5.0,
    PageKind.LOOP: 1.0,
    PageKind.MISSING: 3.0,
    PageKind.GONE: 2.0,
    PageKind.PRIVATE: 5.0,
    PageKind.OPENED: 1.0,
    PageKind.DRAFT: 2.0,
    PageKind.UNFOLLOWED: 2.0,
}
_FOLDER_OF = {PageKind.PRIVATE: PRIVATE, PageKind.OPENED: OPENED, PageKind.DRAFT: OTHERS_ONLY}


class PlannedPage(NamedTuple):
    """A page of the plan. `step` counts the redirects that are left on a chain; 0 for all other pages."""

    number: int
    kind: PageKind
    path: str
    step: int = 0


class SitePlan:
    """All paths of a site, as a function of the seed and the site's number."""

    def __init__(self, seed: int, site: int, *, pages: int, broken: float) -> None:
        self._key = f"{seed}/{site}"
        count = max(1, round(pages * (0.5 + share(self._key, "pages"))))
        self.pages = [self._planned(place, broken) for place in range(count)]
        self.ordinary = [page for page in self.pages if page.kind is PageKind.PAGE]
        self.odd = [page for page in self.pages if page.kind is not PageKind.PAGE]
        self._rank = {page.number: rank for rank, page in enumerate(self.ordinary)}
        self.by_path = {page.path: page for page in self.pages}
        for page in self.odd:
            self.by_path |= {further.path: further for further in self._further(page)}

    def _planned(self, place: int, broken: float) -> PlannedPage:
        if place == 0:
            return PlannedPage(0, PageKind.PAGE, "/")
        if share(self._key, place, "broken") < broken:
            kind = pick((PageKind.STUCK, PageKind.ERROR), self._key, place, "how")
        else:
            kind = weighted(_WEIGHTS, self._key, place, "kind")
        return self._page(place, kind)

    def _page(self, place: int, kind: PageKind) -> PlannedPage:
        if kind is PageKind.PAGE:
            return PlannedPage(place, kind, f"/{pick(FOLDERS, self._key, place, 'folder')}/item-{place}.html")
        if kind is PageKind.MOVED:
            step = 1 + number(self._key, place, "chain") % LONGEST_CHAIN
            return PlannedPage(place, kind, f"/go/{place}/{step}", step)
        if kind is PageKind.LOOP:
            return PlannedPage(place, kind, f"/loop/{place}/1", 1)
        return PlannedPage(place, kind, f"{_FOLDER_OF.get(kind, f'/{kind}/')}{place}")

    def _further(self, page: PlannedPage) -> list[PlannedPage]:
        """The other stations of a redirect chain or loop."""
        if page.kind is PageKind.MOVED:
            return [page._replace(path=f"/go/{page.number}/{step}", step=step) for step in range(1, page.step)]
        if page.kind is PageKind.LOOP:
            return [page._replace(path=f"/loop/{page.number}/2", step=2)]
        return []

    def target(self, page: PlannedPage) -> str:
        """Where a moved page sends us."""
        if page.kind is PageKind.LOOP:
            return f"/loop/{page.number}/{3 - page.step}"
        if page.step > 1:
            return f"/go/{page.number}/{page.step - 1}"
        return self.partner(page).path

    def partner(self, page: PlannedPage) -> PlannedPage:
        """The ordinary page that a copy copies and to which a chain of redirects leads."""
        return pick(self.ordinary, self._key, page.number, "partner")

    def linked(self, page: PlannedPage) -> list[PlannedPage]:
        """The own pages that a page links to: its branches, the odd ones that hang on it, some by chance."""
        rank = self._rank.get(page.number)
        if rank is None:
            return [self.ordinary[0]]
        first = BRANCHES * rank + 1
        branches = self.ordinary[first : first + BRANCHES]
        leaves = self.odd[rank :: len(self.ordinary)]
        bits, count = number(self._key, page.number, "links"), len(self.ordinary)
        by_chance = [self.ordinary[bits % count], self.ordinary[(bits >> 32) % count]]
        return branches + leaves + by_chance
