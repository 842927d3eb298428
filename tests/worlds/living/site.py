"""A site with edited content, edited templates and widgets that change all the time.

Each seed gives a site with its own language, structure, widgets and rate of change. Every response comes with the
truth, its content and edition of the template, to judge a detector.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from evercrawl.testing.site_plan import random_stream, uniform
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.living.content import SECONDS_A_DAY, PageContent, content_mark
from tests.worlds.living.language import Language, make_language, sentence
from tests.worlds.living.markup import Frame, TemplateState, Widget, answer_stream, frame, render, widgets

STATIC_SHARE = 0.2
RAREST, MOST_OFTEN = -2.0, -0.3
"""Powers of ten of edits per day: from once in a hundred days to every second day."""
MENU_ENTRIES = 6
FIRST_EDIT_DAY, LAST_EDIT_DAY = 8, 55
"""A template is edited three times within these days."""


class LivingResponse(NamedTuple):
    """A response and the truth about it."""

    html: bytes
    content: int
    """Equal for equal content."""
    edition: int
    """How often the template was edited before."""


class TemplateEdit(NamedTuple):
    """A change of what all pages share."""

    at_s: float
    kind: str


class LivingSite:
    """A site and everything that will ever happen to it. Requests do not change it.

    Without `has_noise` it has no widgets and no tokens: only content and template change.
    """

    def __init__(self, seed: int, *, pages: int = 30, has_noise: bool = True) -> None:
        chance = random_stream(seed, "living")
        self.key = f"living/{seed}"
        self._own: Language = make_language(chance, seed)
        self._frame: Frame = frame(chance)
        self._widgets: list[Widget] = widgets(chance, self._own, self.key) if has_noise else []
        self._has_noise = has_noise
        self._pages = [PageContent(self.key, self._own, page=page, per_day=self._pace(page)) for page in range(pages)]
        self.template_edits = self._planned_edits(chance)

    def _pace(self, page: int) -> float:
        if uniform(self.key, page, "static") < STATIC_SHARE:
            return 0.0
        return float(10 ** (RAREST + (MOST_OFTEN - RAREST) * uniform(self.key, page, "pace")))

    @staticmethod
    def _planned_edits(chance: Random) -> tuple[TemplateEdit, ...]:
        kinds = chance.sample(("menu add", "menu rename", "menu remove", "legal", "notice", "slogan"), 3)
        days = sorted(chance.sample(range(FIRST_EDIT_DAY, LAST_EDIT_DAY, 3), len(kinds)))
        return tuple(TemplateEdit(day * SECONDS_A_DAY + 1, kind) for day, kind in zip(days, kinds, strict=True))

    @property
    def urls(self) -> list[str]:
        """The URLs of all pages."""
        return [f"https://living.test/p/{page}" for page in range(len(self._pages))]

    def answer(self, url: str, at_s: float) -> LivingResponse:
        """Return the response for a page at this moment, in seconds since the start."""
        page = int(url.rpartition("/")[2])
        content = self._pages[page].at(at_s)
        look = self._look(page, at_s)
        html = render(content, look, self._frame, self._widgets)
        return LivingResponse(html, content_mark(content), self._edition(at_s))

    def _edition(self, at_s: float) -> int:
        return sum(edit.at_s <= at_s for edit in self.template_edits)

    def _look(self, page: int, at_s: float) -> TemplateState:
        chance = random_stream(self.key, "template")
        own = self._own
        menu, slogan = list(own.menu[:MENU_ENTRIES]), sentence(chance, own).rstrip(".。")
        legal, notice = sentence(chance, own), ""
        for edit in self.template_edits[: self._edition(at_s)]:
            if edit.kind == "menu add":
                menu.insert(2, own.menu[-1])
            elif edit.kind == "menu rename":
                menu[1] = own.menu[-2]
            elif edit.kind == "menu remove":
                menu.pop()
            elif edit.kind == "legal":
                legal = sentence(chance, own)
            elif edit.kind == "notice":
                notice = sentence(chance, own)
            else:
                slogan = sentence(chance, own).rstrip(".。")
        moment: datetime = EPOCH + timedelta(seconds=at_s)
        drawn = answer_stream(self.key, page, at_s if self._has_noise else 0.0)
        return TemplateState(self.key, own, tuple(menu), slogan, legal, notice, moment, page, drawn)
