"""Simulate a site: who edits which page between two visits, and what each visit gets to see."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

from tests.worlds.blind.pages import Block, Desk, Edit, Maker, Page, Post, code_line, edit_page, make_entry
from tests.worlds.blind.prose import FreshProse, Prose
from tests.worlds.blind.tongues import Tongue
from tests.worlds.blind.view import View, reader_view, untidy, with_template_edits

TEMPLATE_EDITS = (
    "menu entry added",
    "menu entry renamed",
    "footer text changed",
    "notice put up",
    "button renamed",
    "box added",
    "reading time added",
    "markup rebuilt",
)
VISITS = 12


@dataclass(frozen=True)
class Layout:
    """What the pages of one shape consist of."""

    blocks: str = ""
    fields: tuple[str, ...] = ()
    posts: tuple[int, int] = (0, 0)
    entries: tuple[int, int] = (0, 0)
    header: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """One kind of software: its template, its language and what editors can change."""

    name: str
    render: Callable[[View], str]
    prose: Prose
    tongue: Tongue
    path: str
    page: Layout
    listing: Layout | None = None
    listings: int = 0
    makers: dict[str, Maker] = field(default_factory=dict)
    entry_makers: dict[str, Maker] = field(default_factory=dict)
    rate: float = 0.2
    pages: int = 16
    untidy: bool = False
    more_edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Visit:
    """What one visit of one page saw, and the truth about it."""

    html: str
    quiet: str
    content_changed: bool | None
    change: str | None
    template_edit: str | None


def slug(title: str, number: int) -> str:
    """Return a part of an address made of a title."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return f"{words[:40].strip('-')}-{number}" if words else str(1000 + number * 37)


class LivingSite:
    """One site of a kind, drawn from a seed. Everything follows from both."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.seed = seed
        self.host = f"{kind.name}{seed}.test"
        self.rng = Random(f"blind|{self.host}")
        self.prose = FreshProse(**vars(kind.prose))
        self.users = tuple(self.rng.sample(kind.tongue.names, len(kind.tongue.names)))
        self.pages = [self._page(number) for number in range(kind.pages + self.rng.randint(0, 3))]
        self.times = self._times()
        self.template_plan = self._plan_template()
        self.deploys = self._plan_deploys()

    def _desk(self, now: float) -> Desk:
        return Desk(
            self.prose, self.kind.makers, self.kind.entry_makers, self.users, self.rng, now, self.kind.more_edits
        )

    def _page(self, number: int) -> Page:
        kind, rng, prose = self.kind, self.rng, self.prose
        listed = kind.listing is not None and number < kind.listings
        layout = kind.listing if listed and kind.listing else kind.page
        title = prose.title(rng)
        born = -rng.choice((rng.uniform(1, 30), rng.uniform(30, 400), rng.uniform(400, 9000)))
        path = kind.path.format(slug=slug(title, number), n=1000 + number * 37, i=number)
        page = Page(number, f"/list/{number}" if listed else path, "list" if listed else "page", title, born)
        page.modified = born
        page.fields = {name: kind.makers[name](rng) for name in layout.fields}
        desk = self._desk(born)
        page.blocks = [self._block(name, layout) for name in layout.blocks.split() if rng.random() < 0.9 or name == "p"]
        heads = [block for block in page.blocks if block.kind == "h2"]
        for block, text in zip(heads, rng.sample(prose.headings, len(prose.headings)), strict=False):
            block.text = text
        for at in range(rng.randint(*layout.posts)):
            when = min(-0.2, born + at * rng.uniform(0.3, 9))
            page.posts.append(Post(100 * number + at * 3, rng.choice(self.users), when, prose.sentences(rng, 1, 5)))
        for at in range(rng.randint(*layout.entries)):
            page.entries.append(make_entry(desk, 5000 - at * 7, -rng.uniform(0.2, 12) - at * rng.uniform(1, 9)))
        return page

    def _block(self, name: str, layout: Layout) -> Block:
        prose, rng = self.prose, self.rng
        if name in ("p", "quote"):
            items = prose.sentences(rng, 2, 8)
            if rng.random() < 0.6:
                items[-1] = prose.with_link(items[-1], rng)
            return Block(name, items=items)
        if name == "h2":
            return Block("h2", text=prose.headings[0])
        if name in ("ul", "ol"):
            return Block(name, items=[prose.phrase(rng) for _ in range(rng.randint(3, 6))])
        if name == "table":
            make = self.kind.makers.get("row") or (lambda r: "|".join(prose.phrase(r) for _ in layout.header))
            rows = {row[0]: row for row in (make(rng).split("|") for _ in range(rng.randint(5, 10)))}
            return Block("table", rows=[list(layout.header), *rows.values()])
        if name == "pre":
            return Block("pre", items=[code_line(rng) for _ in range(rng.randint(3, 8))])
        if name == "dl":
            return Block("dl", rows=[[prose.phrase(rng), prose.sentence(rng)] for _ in range(rng.randint(2, 4))])
        if name == "img":
            return Block("img", text=prose.phrase(rng), href=f"photo-{rng.randint(1000, 9999)}")
        return Block("file", text=prose.phrase(rng), href=f"document-{rng.randint(1000, 9999)}.pdf")

    def _times(self) -> list[float]:
        times = [0.0]
        for _ in range(VISITS + self.rng.randint(0, 1) - 1):
            times.append(
                times[-1] + self.rng.choice((0.3, 2.0, 7.0, 24.0, 25.5, 49.0, 74.0)) * self.rng.uniform(0.8, 1.2)
            )
        return times

    def _plan_template(self) -> dict[int, str]:
        """Choose the site-wide edits of the template that this template shows on its pages."""
        shown = [e for e in TEMPLATE_EDITS if all(self._shows(page, e) for page in (self.pages[0], self.pages[-1]))]
        first, second = self.rng.sample(shown, 2)
        early, late = self.rng.randint(3, 5), self.rng.randint(7, 10)
        if first == "notice put up" and self.rng.random() < 0.5:
            second = "notice taken down"
        return {early: first, late: second} if self.rng.random() < 0.8 else {early: first}

    def _shows(self, page: Page, edit: str) -> bool:
        plain = self.view(page, 0, 0.0, frozenset(), 0)
        other = self.view(page, 0, 0.0, frozenset({edit}), 0)
        return self.render(plain) != self.render(other)

    def _readable(self, edit: str | None) -> str | None:
        """Return an edit of the template that readers can see; None if only markup was rebuilt around the same text."""
        if edit is None or edit == "notice taken down":
            return edit
        plain, other = (
            reader_view(self.render(self.view(self.pages[-1], 0, 0.0, flags, 0)))
            for flags in (frozenset[str](), frozenset({edit}))
        )
        return edit if plain != other else None

    def _plan_deploys(self) -> list[int]:
        deploys = [0]
        for visit in range(1, len(self.times)):
            new = visit in self.template_plan or self.rng.random() < 0.3
            deploys.append(deploys[-1] + new)
        return deploys

    def flags(self, visit: int) -> frozenset[str]:
        """Return the edits of the template that are in force at a visit."""
        flags: set[str] = set()
        for at in sorted(self.template_plan):
            if at > visit:
                break
            if self.template_plan[at] == "notice taken down":
                flags.discard("notice put up")
            else:
                flags.add(self.template_plan[at])
        return frozenset(flags)

    def view(self, page: Page, visit: int, now: float, flags: frozenset[str], deploy: int, quiet: bool = False) -> View:
        """Return what a request sees; the noise depends on site, page and visit only."""
        rng = Random(f"{self.host}|{page.number}|{visit}|noise")
        kind = self.kind
        return View(
            self.host, self.seed, kind.prose, kind.tongue, page, tuple(self.pages), now, deploy, flags, rng, quiet
        )

    def render(self, view: View) -> str:
        """Write the page that a view asks for."""
        return with_template_edits(view, self.kind.render(view))

    def quiet(self, page: Page) -> str:
        """Write a page as if nothing but its editors ever changed anything, without the date of their last change."""
        undated = replace(page, modified=0.0, revision=1)
        return self.render(self.view(undated, 0, 0.0, frozenset(), 0, quiet=True))

    def _loud(self, page: Page, visit: int) -> str:
        now = self.times[visit] + page.number * 0.02
        view = self.view(page, visit, now, self.flags(visit), self.deploys[visit])
        text = self.render(view)
        return untidy(view, text) if self.kind.untidy else text

    def visits(self) -> Iterator[list[Visit]]:
        """Return the visits of each page, in the order of the pages."""
        seen: list[list[Visit]] = [[] for _ in self.pages]
        rates = [self.kind.rate * self.rng.choice((0.2, 0.9, 1.1)) for _ in self.pages]
        flips = {p.number: self.rng.randint(1, len(self.times) - 4) for p in self.pages if self.rng.random() < 0.3}
        saved: dict[int, tuple[Page, str, int]] = {}
        for visit in range(len(self.times)):
            changes = [self._edit(page, visit, rates, flips, saved) for page in list(self.pages)]
            for at, page in enumerate(self.pages):
                changed = None if visit == 0 else changes[at] is not None
                template = self._readable(self.template_plan.get(visit))
                seen[at].append(Visit(self._loud(page, visit), self.quiet(page), changed, changes[at], template))
        yield from seen

    def _edit(
        self, page: Page, visit: int, rates: list[float], flips: dict[int, int], saved: dict[int, tuple[Page, str, int]]
    ) -> str | None:
        """Let the editors work on one page before a visit; return what they did."""
        number = page.number
        if number in saved:
            original, name, until = saved[number]
            if visit < until:
                return None
            del saved[number]
            original.modified = self.times[visit] - self.rng.random()
            original.revision = page.revision + self.rng.randint(1, 30)
            self.pages[number] = original
            return f"flip back: {name}"
        if flips.get(number) == visit:
            original = copy.deepcopy(page)
            name = self._visible_edit(page, visit)
            saved[number] = (original, name, visit + self.rng.randint(1, 3))
            return f"flip: {name}"
        if visit and self.rng.random() < rates[number]:
            before = reader_view(self.quiet(page))
            names = [self._visible_edit(page, visit)]
            while self.rng.random() < 0.1 or reader_view(self.quiet(page)) == before:
                names.append(self._visible_edit(page, visit))
            return "; ".join(names)
        return None

    def _visible_edit(self, page: Page, visit: int) -> str:
        """Edit until a reader can see a difference; take back what nobody would see."""
        before = copy.deepcopy(vars(page))
        seen = reader_view(self.quiet(page))
        while True:
            name = edit_page(page, self._desk(self.times[visit]))
            if reader_view(self.quiet(page)) != seen:
                return name
            vars(page).update(copy.deepcopy(before))
