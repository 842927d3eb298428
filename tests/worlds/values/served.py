"""The ten pages behind a real server, watched by a real collection with alerts, day by day."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from evercrawl.cluster import crawl_builder
from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.collection.alerts.event_reader import CollectionLogs, EventReader
from evercrawl.collection.collection import Collection
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination
from evercrawl.outpost.agent_builder import ShiftedClock
from tests.e2e.moved_clock import HTML, ServedSite, collection_of, served_site
from tests.worlds.values.facts import DayFacts
from tests.worlds.values.templates import TEMPLATES, ValueTemplate
from tests.worlds.values.watch import MEDIA_TYPES, Figures, PageDay, is_right, page_days

Event = tuple[str, str, int]  # Template, condition and day.


def conditions_of(template: ValueTemplate) -> tuple[str, ...]:
    """Return the conditions that are watched on a page."""
    limit = template.subject.price
    word = re.escape(dict(template.subject.rows)[template.row][1])
    return (
        "price", f"price below {limit * 0.9:.2f}", f"price above {limit * 1.1:.2f}", "price changes by 10%",
        f"price changes by {limit * 0.05:.2f}", "price appears", "price disappears", f"cell matches ^{word}$", "items",
        "date",
    )  # fmt: skip


def true_events(template: ValueTemplate, days: list[PageDay]) -> set[Event]:
    """Return on which days each condition comes true, from the facts alone."""
    found: set[Event] = set()
    for condition in conditions_of(template):
        last = days[0].facts.price
        for day in range(1, len(days)):
            before, after = days[day - 1].facts, days[day].facts
            if _comes_true(condition, before, after, last, template):
                found.add((template.name, condition, day))
            last = after.price if after.price is not None else last
    return found


def _comes_true(condition: str, before: DayFacts, after: DayFacts, last: float | None, template: ValueTemplate) -> bool:
    name, _, rest = condition.partition(" ")
    if name == "items":
        return before.items != after.items
    if name == "date":
        return before.day != after.day
    if name == "cell":
        wanted = dict(template.subject.rows)[template.row][1]
        return dict(after.rows)[template.row] == wanted != dict(before.rows)[template.row]
    return _price_comes_true(rest, before.price, after.price, last)


def _price_comes_true(rest: str, before: float | None, after: float | None, last: float | None) -> bool:
    if rest in ("", "appears", "disappears"):
        is_gone, is_new = before is not None and after is None, before is None and after is not None
        return {"": before != after, "appears": is_new, "disappears": is_gone}[rest]
    if after is None or last is None or before == after:
        return False
    number = float(rest.rpartition(" ")[2].rstrip("%"))
    if rest.startswith("below"):
        return after < number <= last
    if rest.startswith("above"):
        return last <= number < after
    least = last * number / 100 if rest.endswith("%") else number
    return abs(after - last) >= least * (1 - 1e-9)


@dataclass
class ServedFigures:
    """What a collection read, and what its alerts reported."""

    fields: Figures = field(default_factory=Figures)
    alerts: Counter[str] = field(default_factory=Counter)  # right, missed and false.
    wrong_alerts: list[Event] = field(default_factory=list)
    requests: int = 0


def watch_served(
    folder: Path, *, seed: int, days: int, templates: tuple[ValueTemplate, ...] = TEMPLATES, only: str | None = None,
) -> ServedFigures:  # fmt: skip
    """Crawl the pages on each day; compare the values of all versions and the alerts with the truth."""
    figures = ServedFigures()
    plans = {one.name: page_days(one, seed=seed, days=days) for one in templates}
    with served_site() as site:
        links = "".join(f"<li><a href=/{one.name}>{one.name}</a>" for one in templates)
        site.files["/"] = HTML, f"<!doctype html><title>Pages</title><ul>{links}</ul>"
        media = {one.name: MEDIA_TYPES[one.media] for one in templates}
        _serve(site, plans, media, 0)
        collection = collection_of(site, folder, policy="optimal")
        for template in templates:
            for rule in template.rules(f"{site.base}/{template.name}"):
                own = rule.name if len(templates) == 1 else _own_name(template, rule.name)
                collection.add_field(type(rule)(own, rule.pages, rule.select, rule.type, rule.only))
        asyncio.run(_crawl(collection, 0))
        _add_alerts(collection, site, templates)
        reported: set[Event] = set()
        last = twice = 0
        for day in range(1, days):
            _serve(site, plans, media, day)
            asyncio.run(_crawl(collection, day))
            events, last = _new_events(collection, last, templates)
            twice += len(events) - len(set(events))
            reported |= {(*name, day) for name in events}
        figures.requests = len([path for path in site.log if path != "/robots.txt"])
        truth: set[Event] = set().union(*(true_events(one, plans[one.name]) for one in templates))
        if only is not None:
            truth, reported = ({event for event in some if event[1] == only} for some in (truth, reported))
        figures.alerts.update(
            right=len(truth & reported), missed=len(truth - reported), false=len(reported - truth) + twice
        )
        figures.wrong_alerts = sorted(truth ^ reported)
        _compare_versions(collection, site, templates, plans, figures.fields)
    return figures


def _own_name(template: ValueTemplate, name: str) -> str:
    return f"{template.name.replace('-', '_')}_{name}"


def _serve(site: ServedSite, plans: dict[str, list[PageDay]], media: dict[str, str], day: int) -> None:
    for name, plan in plans.items():
        site.files[f"/{name}"] = media[name], plan[day].markup


async def _crawl(collection: Collection, day: int) -> None:
    crawl_builder.SystemClock = lambda: ShiftedClock(timedelta(days=day))  # type: ignore[assignment, misc]
    await collection.crawl(refresh=True)


def _add_alerts(collection: Collection, site: ServedSite, templates: tuple[ValueTemplate, ...]) -> None:
    for template in templates:
        for number, condition in enumerate(conditions_of(template)):
            name, space, rest = condition.partition(" ")
            own = name if len(templates) == 1 else _own_name(template, name)
            chosen = AlertFilter(pages=(f"{site.base}/{template.name}",), field=f"{own}{space}{rest}")
            target = Destination(Channel.ATOM, str(collection.path.parent / f"{template.name}-{number}.atom"))
            collection.alerts.add(Alert(f"{template.name}-{number}", chosen, target))


def _new_events(
    collection: Collection, after: int, templates: tuple[ValueTemplate, ...]
) -> tuple[list[tuple[str, str]], int]:
    """Return the conditions with events after a number, one entry per event, and the last number."""
    outbox = AlertOutbox(collection.path)
    try:
        EventReader(outbox, CollectionLogs(collection.path)).read(now_us=0)
        known = {one.id: one.alert.name for one in outbox.alerts()}
        rows = outbox._rows("select alert_id from event where number > ?", after)
        last = outbox._rows("select coalesce(max(number), 0) from event")[0][0]
    finally:
        outbox.close()
    names = [known[row[0]] for row in rows if row[0] in known]
    conditions = {one.name: conditions_of(one) for one in templates}
    split = (name.rpartition("-") for name in names)
    return [(template, conditions[template][int(number)]) for template, _, number in split], last


def _compare_versions(
    collection: Collection,
    site: ServedSite,
    templates: tuple[ValueTemplate, ...],
    plans: dict[str, list[PageDay]],
    figures: Figures,
) -> None:
    first = {}
    for row in collection.field_values(all_versions=True):
        name = row.url.rpartition("/")[2]
        template = next(one for one in templates if one.name == name)
        start = first.setdefault(name, row.seen_at)
        day = plans[name][round((row.seen_at - start).total_seconds() / 86_400)]
        for own, reading in row.readings.items():
            short = own.rpartition("_")[2]
            figures.add(f"{name} {short} design {day.design}", is_right(template, short, day.facts, reading))
