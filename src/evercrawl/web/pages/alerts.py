"""Being told: the alerts, what a new one would have told, a test, and what became of the messages."""

from __future__ import annotations

import asyncio
from datetime import time
from pathlib import Path
from typing import Any

from starlette.responses import Response

from evercrawl.cluster.visit_requests import VisitRequest, list_requests
from evercrawl.collection.alerts.event_reader import CollectionLogs
from evercrawl.collection.alerts.registry import AlertRegistry, AlertStatus, default_batch_size, preview_alert
from evercrawl.collection.alerts.sender import has_apprise
from evercrawl.collection.alerts.subscriptions import subscription_fields
from evercrawl.core.alerts.definition import (
    HOSTED_SERVICES,
    alert_fields,
    alert_problem,
    apprise_problem,
    redact_address,
)
from evercrawl.core.alerts.delivery import MessageState
from evercrawl.core.url import canonical
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import CHANGES, Alert, AlertFilter, Channel, Destination, EventKind, Frequency
from evercrawl.model.time import from_us
from evercrawl.web.app_state import AppState
from evercrawl.web.pages.crawl import guarded_url
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter, parse_cursor

FEEDS = "feeds"
"""The folder of the collection in which feeds lie that were inputs for here."""
ABOUT = {
    "changes": CHANGES,
    "content": frozenset({EventKind.CONTENT}),
    "new": frozenset({EventKind.NEW}),
    "gone": frozenset({EventKind.GONE}),
    "anything": frozenset(EventKind),
}
CHANNELS = ("webhook", "mail", "atom", "apprise")
"""Of apprise only services at fixed places: other addresses can mean anything, and pass no guard of ours."""
STATES = tuple(state.value for state in MessageState)
ALERT_PARAMETERS = (
    Parameter("pages", "URLs, any of them, separated by space.", default=""),
    Parameter("patterns", "Forms of URLs in which * stands for anything, separated by space.", default=""),
    Parameter("query", "Words that the page must say.", default=""),
    Parameter("about", "What must have happened.", "choice", default="changes", choices=tuple(ABOUT)),
    Parameter("min_size", "Least share of the page's words, in percent.", "integer", default=0, maximum=100),
    Parameter("sentiment_turn", "Only where the sentiment turned.", "bool", default=False),
    Parameter("channel", "The way that messages go.", "choice", default="webhook", choices=CHANNELS),
    Parameter("address", "Where they go: a URL, an address of mail or apprise, or nothing.", default=""),
    Parameter(
        "rhythm", "When they go.", "choice", default="at-once", choices=tuple(one.value for one in Frequency)
    ),
    Parameter("daily_at", "When a daily message goes, in UTC.", default="07:00"),
    Parameter("quiet", "Hours in UTC without messages, such as 22:00-06:00.", default=""),
)  # fmt: skip
NAME_PARAMETER = Parameter("name", "The alert's name.", required=True)
LOG_PARAMETERS = (NAME_PARAMETER, Parameter("state", "Only messages that stand so.", "choice", choices=STATES))


def registry_of(state: AppState) -> AlertRegistry:
    """The alerts of the collection."""
    return AlertRegistry(state.path, state.settings)


def alerts(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Every alert; with a name, also what an alert of these wishes would have told."""
    shown: dict[str, Any] = {"wish": None, "preview": None, "problem": None}
    if inputs["name"]:
        shown = _previewed(state, inputs)
    return {
        "alerts": [_fields(status) for status in registry_of(state).all()],
        "has_apprise": has_apprise(),
        "services": sorted(HOSTED_SERVICES),
        "mail_is_set": state.settings.alerts.mail_host is not None,
        **shown,
    }


def _previewed(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """What would be told; what is wrong with the wish stands beside it, so that the form keeps its values."""
    fields = {one.name: inputs[one.name] for one in ALERT_PARAMETERS} | {"name": inputs["name"]}
    try:
        alert = _alert(state, inputs)
        found = preview_alert(alert.subject, CollectionLogs(state.path))
    except (BadRequest, ConfigError) as error:
        return {"wish": fields, "preview": None, "problem": str(error)}
    examples = [
        {"url": event.url, "class": event.kind.value, "size": event.size, "at": from_us(event.at_us)}
        for event in found.examples
    ]
    told = {"told": found.told, "looked_at": found.looked_at, "since": found.since, "examples": examples}
    return {"wish": fields, "preview": told, "problem": None}


def alert(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """One alert and its messages, newest first."""
    book, chosen_state = registry_of(state), inputs["state"]
    status = _known(book, inputs["name"])
    before = parse_cursor(inputs["after"])
    chosen = None if chosen_state is None else MessageState(chosen_state)
    logged = book.log(inputs["name"], state=chosen, most=inputs["limit"], before=before)
    return {
        "alert": _fields(status),
        "state": chosen_state,
        "messages": [one.fields() for one in logged],
        "next": f"0.{logged[-1].place}" if len(logged) == inputs["limit"] else None,
    }


def add_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """A new alert; the secret that its webhook is signed with is shown this once."""
    wish = _alert(state, inputs)
    if wish.target.channel is Channel.ATOM:
        (state.path / FEEDS).mkdir(exist_ok=True)
    kept = registry_of(state).add(wish, replacing=inputs["replace"])
    show, told = f"/alert?name={kept.name}", dict(inputs.values)
    if kept.target.channel is Channel.APPRISE:
        told["address"] = redact_address(kept.target.address)
    if kept.target.secret is None:
        return ActionResult(f"alert {kept.name}: changes from now on", show, {"name": kept.name}, audit_values=audit_values)
    words = f"the secret that messages of {kept.name} are signed with, shown only now: {kept.target.secret}"
    return ActionResult(words, show, {"name": kept.name, "secret": kept.target.secret}, has_secret=True)


def remove_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Take an alert away, with what waits for it."""
    book = registry_of(state)
    _known(book, inputs["name"])
    dropped = book.remove(inputs["name"])
    waited = f"; {dropped:,} changes waited and will not be told" if dropped else ""
    return ActionResult(f"alert {inputs['name']} is removed{waited}", "/alerts", {"dropped": dropped})


def test_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Send a test message now."""
    book, name = registry_of(state), inputs["name"]
    _known(book, name)
    if state.test_limit.wait_s(name):
        raise BadRequest("too many tests of one alert; wait a minute", 429)
    attempt = asyncio.run(book.test(name))
    words = "the test was taken" if attempt.is_delivered else "the test was not delivered"
    told = {"delivered": attempt.is_delivered, "detail": attempt.detail}
    return ActionResult(f"{words}: {attempt.detail}", f"/alert?name={name}", told)


def retry_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Messages that were set aside are sent again."""
    book, name = registry_of(state), inputs["name"]
    _known(book, name)
    count = book.retry(name)
    return ActionResult(f"{count:,} messages will be sent again", f"/alert?name={name}", {"messages": count})


def alert_feed(state: AppState, inputs: Inputs) -> Response:
    """The feed that an alert writes."""
    target = _known(registry_of(state), inputs["name"]).alert.target
    if target.channel is not Channel.ATOM:
        raise BadRequest("this alert has no feed", 404)
    try:
        feed = Path(target.address).read_bytes()
    except OSError:
        raise BadRequest("the feed has no entry yet", 404) from None
    return Response(feed, media_type="application/atom+xml")


def _known(book: AlertRegistry, name: str) -> AlertStatus:
    try:
        return book.one(name)
    except ConfigError as error:
        raise BadRequest(str(error), 404) from error


def _alert(state: AppState, inputs: Inputs) -> Alert:
    """The alert that was wished, checked; nothing that could read or write files of others, or reach machines
    that only we can reach.
    """
    target, rhythm = _target(state, inputs), Frequency(inputs["rhythm"])
    wish = Alert(
        name=inputs["name"],
        subject=_subject(inputs),
        target=target,
        rhythm=rhythm,
        daily_at=_hour(inputs["daily_at"]),
        quiet=tuple(inputs["quiet"].replace(",", " ").split()),
        most=default_batch_size(target.channel, rhythm),
    )
    wrong = alert_problem(wish)
    if wrong is not None:
        raise BadRequest(wrong)
    # The folder of feeds is made when one is added.
    return wish if target.channel is Channel.ATOM else registry_of(state).checked(wish)


def _subject(inputs: Inputs) -> AlertFilter:
    pages = tuple(inputs["pages"].split())
    for page in pages:
        if canonical(page) is None:
            raise BadRequest(f"{page!r} is not a URL; write it like https://example.org/")
    return AlertFilter(
        pages=pages,
        patterns=tuple(inputs["patterns"].split()),
        query=inputs["query"].strip() or None,
        kinds=ABOUT[inputs["about"]],
        least_size=inputs["min_size"] / 100,
        is_turn=inputs["sentiment_turn"],
    )


def _target(state: AppState, inputs: Inputs) -> Destination:
    channel, address = Channel(inputs["channel"]), inputs["address"].strip()
    match channel:
        case Channel.ATOM:
            return Destination(channel, str((state.path / FEEDS / f"{inputs['name']}.xml").absolute()))
        case _ if not address:
            raise BadRequest("say where the messages go: a URL for a webhook, an address for mail or apprise")
        case Channel.APPRISE if (wrong := apprise_problem(address)) is not None:
            raise BadRequest(wrong)
        case Channel.WEBHOOK:
            return Destination(channel, guarded_url(state.settings, address))
        case _:
            return Destination(channel, address)


def _hour(text: str) -> time:
    try:
        return time.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        raise BadRequest(f"{text[:20]!r} is not a time of day like 07:00") from None


def _fields(status: AlertStatus) -> dict[str, Any]:
    fields = alert_fields(status.alert, with_secret=False) | status.counts._asdict()
    if status.alert.target.channel is Channel.ATOM:
        fields["address"] = Path(fields["address"]).name  # not where folders lie on this machine
    if status.alert.target.channel is Channel.APPRISE:
        fields["address"] = redact_address(fields["address"])
    return fields


ANNOUNCEMENTS_SHOWN = 50
URLS_SHOWN = 5


def websub(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Every subscription, and the newest announcements that no crawl has heeded yet."""
    waiting, shown = list_requests(state.path, most=ANNOUNCEMENTS_SHOWN)
    return {
        "is_reachable": state.is_reachable,
        "subscriptions": [subscription_fields(one) for one in state.websub.subscriptions()],
        "waiting": waiting,
        "announcements": [_announced(one) for one in shown],
    }


def subscribe(state: AppState, inputs: Inputs) -> ActionResult:
    """Ask the hub of a page or feed to tell us of its news."""
    if not state.is_reachable:
        raise BadRequest("hubs cannot reach this interface: start it with --public-url", 409)
    url = guarded_url(state.settings, inputs["url"])
    made = asyncio.run(state.websub.subscribe(url))
    words = f"the hub {made.hub} was inputs" + (f": {made.detail}" if made.detail else "")
    return ActionResult(words, "/hubs", {"subscription": subscription_fields(made)})


def unsubscribe(state: AppState, inputs: Inputs) -> ActionResult:
    """Ask the hub to tell us no more."""
    if not asyncio.run(state.websub.unsubscribe(inputs["topic"])):
        raise BadRequest("there is no such subscription", 404)
    return ActionResult("the hub was inputs to end the subscription", "/hubs")


def _announced(one: VisitRequest) -> dict[str, Any]:
    return {"at": one.at, "by": one.by, "count": len(one.urls), "urls": one.urls[:URLS_SHOWN]}
