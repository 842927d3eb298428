"""Sites with random addresses: items that only lists lead to, useless views beside them, and endless sets between them.

Every choice is drawn from a seed, so tests can use sites that no rule was written for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from evercrawl.testing.sim_site import words
from evercrawl.testing.site_plan import choose, hash_number, random_stream
from tests.worlds.traps.sites import HOST, NOT_FOUND, SEED, TrapResponse, TrapSite, page, prose

FIRST_DAY = date(2003, 5, 9)
NAMES = words(SEED)[20:420]
SECTIONS = words(SEED)[500:506]

ITEM_FORMS = (
    "/{y}/{m:02}/{d:02}/{slug}",
    "/{y}/{m}/{slug}-{i}.html",
    "/story/{i}",
    "/index.php?id={i}",
    "/show.php?a=item;id={i}",
    "/item/{i}/{slug}",
    "/index.php/view/{i}",
    "/node/{hex}",
    "/read?doc={hex}",
    "/{slug}-{i}.htm",
    "/?p={i}",
    "/{section}/{y}-{m:02}-{d:02}-{slug}-{i}",
    "/view?section={section}&item={i}",
    "/archive/{y}{m:02}{d:02}/{i}.html",
    "/main.cgi?mode=read;no={i};box={section}",
    "/{section}/{slug}/{i}/",
)
LIST_FORMS = (
    "/page/{k}",
    "/list?page={k}",
    "/list?start={start}",
    "/index.php?view=list;from={start}",
    "/{y}/{m:02}/{d:02}/",
    "/archive?date={y}-{m:02}-{d:02}",
    "/archive/{y}/day{doy}",
    "/browse/all/{k}/",
    "/index.php?title=All&pagefrom={slug}{k}",
    "/days/{d}-{m}-{y}.html",
    "/index.php/list/{k}",
    "/main.cgi?mode=list;p={k}",
    "/?y={y}&m={m}&d={d}",
    "/?offset={start}&limit=10",
)
VIEW_FORMS = (
    "{item}{join}print=1",
    "{item}{join}action=history",
    "{item}{join}lang=xx",
    "/login?next={i}",
    "/reply.php?to={i}",
    "/index.php?action=report;id={i}",
    "/share/{i}/mail",
    "{item}{join}sort=up",
    "{item}{join}sort=down&view=flat",
    "/index.php?action=edit&id={i}",
)
ENDLESS_FORMS = (
    "/calendar/{y}/{m:02}",
    "/index.php?action=calendar;y={y};m={m}",
    "/events?day={y}-{m:02}-{d:02}",
    "/counter/{k}",
    "/list?page={k}&order=up",
    "/next.cgi?at={k}",
)
TEMPLATE = (
    "The council of {0} has decided about the {1} of {2}. The meeting was public, and the minutes are kept in the "
    "archive. Members of {3} asked for more time. The mayor answered that {1} and {2} had waited long enough."
)


class SiteForm(NamedTuple):
    """How a site writes its addresses and texts."""

    item: str
    list: str
    text: str = "words"  # "words" by chance, a "template" with other names, or "sentences" of a small stock.
    views: tuple[str, ...] = ()
    endless: str = ""
    per_list: int = 10
    related: int = 0  # Links from an item to others.
    leads_back: bool = False  # The home page names the last list, and lists lead to the one before.


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one site."""

    form: SiteForm
    items: int

    @property
    def lists(self) -> int:
        """Number of lists."""
        return -(-self.items // self.form.per_list)

    def item(self, number: int) -> str:
        """Return the address of an item."""
        return _fill(self.form.item, number, FIRST_DAY + timedelta(days=number // self.form.per_list))

    def list(self, number: int) -> str:
        """Return the address of a list."""
        return _fill(self.form.list, number, FIRST_DAY + timedelta(days=number))

    def view(self, form: str, number: int) -> str:
        """Return the address of a useless view of an item."""
        item = self.item(number)
        return _fill(form, number, FIRST_DAY).replace("(item)", item).replace("(join)", "&" if "?" in item else "?")


def _fill(form: str, number: int, day: date) -> str:
    slug = f"{choose(NAMES, 'slug', number)}-{choose(NAMES, 'slug 2', number)}"
    return form.replace("{item}", "(item)").replace("{join}", "(join)").format(
        y=day.year, m=day.month, d=day.day, doy=day.timetuple().tm_yday, i=number, k=number, start=number * 10,
        slug=slug, hex=f"{hash_number('hex', number):016x}", section=choose(SECTIONS, "section", number),
    )  # fmt: skip


def random_form(seed: int, *, views: int = 0, endless: bool = False) -> SiteForm:
    """Draw the form of a site."""
    chance = random_stream(SEED, "form", seed)
    return SiteForm(
        chance.choice(ITEM_FORMS),
        chance.choice(LIST_FORMS),
        chance.choice(("words", "template", "sentences")),
        tuple(chance.sample(VIEW_FORMS, views)),
        chance.choice(ENDLESS_FORMS) if endless else "",
        chance.choice((3, 10, 10, 25)),
        chance.choice((0, 0, 4, 8)),
        chance.random() < 0.5,
    )


def item_text(number: int, kind: str) -> str:
    """Return the text of an item."""
    if kind == "words":
        return prose("item", number)
    if kind == "sentences":
        return " ".join(prose("sentence", hash_number(number, place) % 300, count=11) for place in range(8))
    names = random_stream(SEED, "template", number).choices(NAMES, k=4)
    return TEMPLATE.format(*(name.capitalize() for name in names))


def site_of_form(form: SiteForm, items: int) -> TrapSite:
    """Build a site whose items only lists lead to."""
    at = Addresses(form, items)
    known: dict[str, Callable[[], TrapResponse]] = {}
    real: dict[str, str] = {}

    def list_page(number: int) -> TrapResponse:
        shown = range(number * form.per_list, min(items, (number + 1) * form.per_list))
        beside = number - 1 if form.leads_back else number + 1
        more = [at.list(beside)] if 0 <= beside < at.lists else []
        titles = "</p><p>".join(prose("title", one, count=5) for one in shown)
        return page("Overview", titles, [*map(at.item, shown), *more, "/"])

    def item_page(number: int) -> TrapResponse:
        views = [at.view(view, number) for view in form.views]
        near = [at.item(hash_number("near", number, one) % items) for one in range(form.related)]
        return page(prose("title", number, count=5), item_text(number, form.text), [*views, *near, "/"])

    def view_page(view: str, number: int) -> TrapResponse:
        same = "item" in view or "history" in view
        body = item_text(number, form.text) if same else f"Please log in to use form {number}."
        return page("View", body, ["/", at.item(number)])

    first = at.lists - 1 if form.leads_back else 0
    doors = [at.list(first)]
    for number in range(items):
        for view in form.views:
            known[at.view(view, number)] = lambda view=view, number=number: view_page(view, number)
    for number in range(at.lists):
        known[at.list(number)] = lambda number=number: list_page(number)
    for number in range(items):
        known[at.item(number)] = lambda number=number: item_page(number)
        real[at.item(number)] = str(number)
    if form.endless:
        doors.append(_fill(form.endless, 1, FIRST_DAY))

    def answer(url: str) -> TrapResponse:
        path = url.removeprefix(HOST)
        if path == "/":
            return page("Home", prose("home"), doors)
        if path in known:
            return known[path]()
        return _endless_page(form.endless, path) if form.endless else NOT_FOUND

    return TrapSite(f"{HOST}/", answer, lambda url: real.get(url.removeprefix(HOST)), len(set(real)))


def _endless_page(form: str, path: str) -> TrapResponse:
    fixed = form.partition("{")[0]
    if not path.startswith(fixed):
        return NOT_FOUND
    for number in _numbers_near(path, form):
        if _fill(form, number, _month_day(number)) == path:
            near = [_fill(form, one, _month_day(one)) for one in (number - 1, number + 1) if one > 0]
            return page("Nothing planned", f"There is no entry here. {prose('nothing', count=12)}", near)
    return NOT_FOUND


def _month_day(number: int) -> date:
    month = FIRST_DAY.month - 1 + number
    return date((FIRST_DAY.year + month // 12) % 9000 + 1, month % 12 + 1, 1)


def _numbers_near(path: str, form: str) -> list[int]:
    if "{k}" in form:
        digits = "".join(character if character.isdigit() else " " for character in path).split()
        return [int(digits[0][:9])] if digits else []
    found = [int(one) for one in "".join(c if c.isdigit() else " " for c in path).split()]
    if len(found) < 2 or not 1 <= found[1] <= 12 or not 1 < found[0] < 9000:
        return []
    return [(found[0] - FIRST_DAY.year) * 12 + found[1] - FIRST_DAY.month]


SESSIONS = {
    "jsessionid": "{path};jsessionid={id}",
    "query": "{path}?PHPSESSID={id}",
    "unknown name": "{path}?zz={id}",
    "after a semicolon": "{path}?view=x;sid={id}",
    "folder": "/s/{id}{path}",
    "ASP.NET": "/(S({id})){path}",
}
_SESSION_ID = re.compile(r"[0-9a-f]{32}")


def site_of_sessions(form: str, items: int, *, needed: bool) -> TrapSite:
    """Build a site that writes a new session into every link; `needed`: without one, it knows only its home page."""

    def number_of(url: str) -> int | None:
        path = url.removeprefix(HOST)
        if path == "/":
            return 0
        session = _SESSION_ID.search(path)
        if session is None:
            plain = path
        else:
            before, after = form.split("{path}")
            begin, end = before.replace("{id}", session[0]), after.replace("{id}", session[0])
            plain = path[len(begin) : len(path) - len(end)]
        digits = plain.removeprefix("/doc/")
        is_known = digits.isdigit() and int(digits) < items and (session is not None or not needed)
        return int(digits) if is_known else None

    def answer(url: str) -> TrapResponse:
        number = number_of(url)
        if number is None:
            return NOT_FOUND
        near = [one for one in (3 * number + 1, 3 * number + 2, 3 * number + 3, number - 1) if 0 <= one < items]
        session = f"{hash_number('session', url):016x}" * 2
        return page("Document", prose("doc", number), [form.format(path=f"/doc/{one}", id=session) for one in near])

    return TrapSite(f"{HOST}/", answer, lambda url: None if number_of(url) is None else str(number_of(url)), items)
