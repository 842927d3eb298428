"""The pages `alerts`, `alert` and `websub`, and their actions."""

from __future__ import annotations

import asyncio
import os
from datetime import time
from pathlib import Path
from typing import Any

from starlette.responses import Response

from evercrawl.collection.alerts.event_reader import CollectionLogs
from evercrawl.collection.alerts.mail import PASSWORD_VARIABLE
from evercrawl.collection.alerts.registry import (
    HOSTED_SERVICES,
    MAIL_PASSWORD_FILE,
    TEMPLATE_PARTS,
    AlertRegistry,
    AlertStatus,
    MessageState,
    alert_problem,
    apprise_problem,
    default_batch_size,
    event_headline,
    preview_alert,
    redact_address,
)
from evercrawl.collection.alerts.sender import has_apprise
from evercrawl.collection.alerts.subscriptions import subscription_fields
from evercrawl.collection.urls import VisitRequest, canonical, list_requests, require_public_url
from evercrawl.config import collection_file, write_setting
from evercrawl.config.edit import replace_file
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import (
    CHANGES,
    Alert,
    AlertFilter,
    Channel,
    Destination,
    EventKind,
    Frequency,
    MessageTemplates,
)
from evercrawl.model.time import from_us
from evercrawl.web.app_state import AppState
from evercrawl.web.format import plural
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter, parse_cursor, resource_path

FEEDS = "feeds"  # Folder of the collection for feeds that were added here.
ABOUT = {
    "changes": CHANGES,
    "content": frozenset({EventKind.CONTENT}),
    "new": frozenset({EventKind.NEW}),
    "gone": frozenset({EventKind.GONE}),
    "anything": frozenset(EventKind),
}
CHANNELS = ("webhook", "mail", "atom", "apprise")
"""Apprise only with services at fixed hosts, since its other URLs could reach any machine."""
FREQUENCIES = tuple(one.value for one in Frequency)
STATES = tuple(state.value for state in MessageState)
ALERT_PARAMETERS = (
    Parameter("pages", "URLs of pages, separated by spaces.", default=""),
    Parameter("patterns", "URL patterns, separated by spaces; * matches anything.", default=""),
    Parameter("query", "Words that the page must contain.", default=""),
    Parameter("about", "Kind of change.", "choice", default="changes", choices=tuple(ABOUT)),
    Parameter("min_size", "Minimum change in percent.", "integer", default=0, maximum=100),
    Parameter("sentiment_shift", "Only if the sentiment turned positive or negative.", "bool", default=False),
    Parameter("field", "Condition on a field, such as price below 50.", default=""),
    Parameter("channel", "How to send messages.", "choice", default="atom", choices=CHANNELS),
    Parameter("address", "URL of a webhook or Apprise service, or mail address; empty for a feed.", default=""),
    Parameter("frequency", "When to send messages.", "choice", default="at-once", choices=FREQUENCIES),
    Parameter("daily_at", "Time of the daily digest, in UTC.", default="07:00"),
    Parameter("quiet_hours", "Hours without messages, in UTC, such as 22:00-06:00.", default=""),
    *(
        Parameter(f"{part}_template", f"Jinja template for the {part} ({use}).", default="")
        for part, use in TEMPLATE_PARTS.items()
    ),
)  # fmt: skip
NAME_PARAMETER = Parameter("name", "Name of the alert.", required=True)
LOG_PARAMETERS = (NAME_PARAMETER, Parameter("state", "Only messages in this state.", "choice", choices=STATES))


def registry_of(state: AppState) -> AlertRegistry:
    """Return the alerts of the collection."""
    return AlertRegistry(state.path, state.settings)


def alerts(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the alerts; with a name, preview a new alert."""
    shown: dict[str, Any] = {"draft": None, "preview": None, "problem": None}
    if inputs["name"]:
        shown = _preview(state, inputs)
    return {
        "alerts": [_fields(status) for status in registry_of(state).all()],
        "has_apprise": has_apprise(),
        "services": sorted(HOSTED_SERVICES),
        "mail_problem": mail_problem(state),
        **shown,
    }


def mail_problem(state: AppState) -> str | None:
    """Return why mail cannot be sent; None: it can."""
    return _problem_text(registry_of(state), Channel.MAIL)


def _problem_text(registry: AlertRegistry, channel: Channel) -> str | None:
    problem = registry.setup_problem(channel)
    return None if problem is None else problem.detail


def _preview(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return what a new alert would have sent, or its problem; the form keeps its values."""
    fields = {one.name: inputs[one.name] for one in ALERT_PARAMETERS} | {"name": inputs["name"]}
    try:
        alert = _alert(state, inputs)
        found = preview_alert(alert.filter, CollectionLogs(state.path), shard_count=state.settings.store.shards)
    except (BadRequest, ConfigError) as error:
        return {"draft": fields, "preview": None, "problem": str(error)}
    examples = [
        {
            "url": event.url,
            "class": event.kind.value,
            "summary": event_headline(event),
            "size": event.size,
            "at": from_us(event.at_us),
        }
        for event in found.examples
    ]
    preview = {"matches": found.matched, "checked": found.checked, "since": found.since, "examples": examples}
    return {"draft": fields, "preview": preview, "problem": None}


def alert(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show one alert and its messages."""
    registry, chosen_state = registry_of(state), inputs["state"]
    status = _known(registry, inputs["name"])
    before = parse_cursor(inputs["after"])
    chosen = None if chosen_state is None else MessageState(chosen_state)
    logged = registry.log(inputs["name"], state=chosen, limit=inputs["limit"], before=before)
    return {
        "alert": _fields(status),
        "state": chosen_state,
        "messages": [one.fields() for one in logged],
        "next": f"0.{logged[-1].place}" if len(logged) == inputs["limit"] else None,
    }


def add_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Add an alert; the secret of a webhook is shown only once."""
    if not inputs["replace"] and any(one.alert.name == inputs["name"] for one in registry_of(state).all()):
        raise BadRequest(f"there is already an alert {inputs['name']}; choose another name", 409)
    new = _alert(state, inputs)
    if new.destination.channel is Channel.ATOM:
        (state.path / FEEDS).mkdir(exist_ok=True)
    added = registry_of(state).add(new, overwrite=inputs["replace"])
    location, audit_values = f"/alert?name={added.name}", dict(inputs.values)
    resource = resource_path("/alerts/{name}", name=added.name)
    if added.destination.channel is Channel.APPRISE:
        audit_values["address"] = redact_address(added.destination.address)
    secret, problem = added.destination.secret, _problem_text(registry_of(state), added.destination.channel)
    if secret is None:
        message = f"Alert {added.name} added. You'll be notified about changes found from now on."
        if added.destination.channel is Channel.WEBHOOK:
            message = f"Alert {added.name} replaced. Its webhook keeps its signing secret."
        if problem is not None:
            message = f"Alert {added.name} added, but it cannot send yet: {problem}"
        data = {"name": added.name, "problem": problem}
        return ActionResult(message, location, data, resource, audit_values=audit_values)
    message = f"Alert {added.name} added. Signing secret of the webhook, shown only once: {secret}"
    return ActionResult(message, location, {"name": added.name, "secret": secret}, resource, has_secret=True)


def remove_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Remove an alert and its pending changes."""
    registry = registry_of(state)
    _known(registry, inputs["name"])
    dropped = registry.remove(inputs["name"])
    pending = f" {plural(dropped, 'pending change')} dropped." if dropped else ""
    return ActionResult(f"Alert {inputs['name']} removed.{pending}", "/alerts")


def test_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Send a test message now."""
    registry, name = registry_of(state), inputs["name"]
    _known(registry, name)
    if state.test_limit.wait_s(name):
        raise BadRequest("too many test messages; wait a minute", 429)
    attempt = asyncio.run(registry.test(name))
    result = "Test message sent" if attempt.is_delivered else "Test message failed"
    data = {"delivered": attempt.is_delivered, "detail": attempt.detail}
    return ActionResult(f"{result}: {attempt.detail}", f"/alert?name={name}", data)


def update_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Stop the messages of an alert and drop pending ones, or send them again."""
    registry, name, paused = registry_of(state), inputs["name"], inputs["paused"]
    _known(registry, name)
    (registry.pause if paused else registry.resume)(name)
    message = f"Alert {name} paused."
    if not paused:
        message = f"Alert {name} resumed. You'll be notified about changes found from now on."
    return ActionResult(message, f"/alert?name={name}", {"name": name, "paused": paused})


def retry_alert(state: AppState, inputs: Inputs) -> ActionResult:
    """Retry failed messages."""
    registry, name = registry_of(state), inputs["name"]
    _known(registry, name)
    count = registry.retry(name)
    return ActionResult(f"Retrying {plural(count, 'message')}.", f"/alert?name={name}", {"messages": count})


def alert_feed(state: AppState, inputs: Inputs) -> Response:
    """Return the feed of an alert."""
    target = _known(registry_of(state), inputs["name"]).alert.destination
    if target.channel is not Channel.ATOM:
        raise BadRequest("this alert has no feed", 404)
    try:
        feed = Path(target.address).read_bytes()
    except OSError:
        raise BadRequest("the feed has no entries yet", 404) from None
    return Response(feed, media_type="application/atom+xml")


def _known(registry: AlertRegistry, name: str) -> AlertStatus:
    try:
        return registry.get(name)
    except ConfigError as error:
        raise BadRequest(str(error), 404) from error


def _alert(state: AppState, inputs: Inputs) -> Alert:
    """Return the new alert, checked: it reads and writes no other files and reaches no private machines."""
    destination, frequency = _destination(state, inputs), Frequency(inputs["frequency"])
    alert = Alert(
        name=inputs["name"],
        filter=_filter(inputs),
        destination=destination,
        frequency=frequency,
        daily_at=_time_of_day(inputs["daily_at"]),
        quiet_hours=tuple(inputs["quiet_hours"].replace(",", " ").split()),
        max_changes=default_batch_size(destination.channel, frequency),
        templates=MessageTemplates(**{part: inputs[f"{part}_template"] or None for part in TEMPLATE_PARTS}),
    )
    problem = alert_problem(alert)
    if problem is not None:
        raise BadRequest(problem)
    # The folder of feeds is created when an alert is added.
    return alert if destination.channel is Channel.ATOM else registry_of(state).validate(alert)


def _filter(inputs: Inputs) -> AlertFilter:
    pages = tuple(inputs["pages"].split())
    for page in pages:
        if canonical(page) is None:
            raise BadRequest(f"{page!r} is not a URL; write it like https://example.org/")
    return AlertFilter(
        pages=pages,
        patterns=tuple(inputs["patterns"].split()),
        query=inputs["query"].strip() or None,
        kinds=ABOUT[inputs["about"]],
        min_size=inputs["min_size"] / 100,
        sentiment_shift=inputs["sentiment_shift"],
        field=inputs["field"].strip() or None,
    )


def _destination(state: AppState, inputs: Inputs) -> Destination:
    channel, address = Channel(inputs["channel"]), inputs["address"].strip()
    match channel:
        case Channel.ATOM if address:
            raise BadRequest("a feed needs no address; choose mail or a webhook to send to one")
        case Channel.ATOM:
            return Destination(channel, str((state.path / FEEDS / f"{inputs['name']}.xml").absolute()))
        case _ if not address:
            raise BadRequest("enter an address: a URL for a webhook or Apprise, or a mail address")
        case Channel.APPRISE if (problem := apprise_problem(address)) is not None:
            raise BadRequest(problem)
        case Channel.WEBHOOK:
            return Destination(channel, require_public_url(state.settings, address))
        case _:
            return Destination(channel, address)


def _time_of_day(text: str) -> time:
    try:
        return time.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        raise BadRequest(f"{text[:20]!r} is not a time of day like 07:00") from None


def _fields(status: AlertStatus) -> dict[str, Any]:
    fields = status.fields() | {"problem": None if status.problem is None else status.problem.detail}
    if status.alert.destination.channel is Channel.ATOM:
        fields["address"] = Path(fields["address"]).name  # without the path on this machine
    return fields


ANNOUNCEMENTS_SHOWN = 50
URLS_SHOWN = 5


def websub(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List WebSub subscriptions and announced pages."""
    pending, shown = list_requests(state.path, limit=ANNOUNCEMENTS_SHOWN)
    return {
        "is_reachable": state.is_reachable,
        "subscriptions": [subscription_fields(one) for one in state.websub.subscriptions()],
        "pending": pending,
        "announcements": [_announced(one) for one in shown],
    }


def has_subscriptions(state: AppState) -> bool:
    """Return whether the collection has WebSub subscriptions."""
    return bool(state.cached("has subscriptions", lambda: bool(state.websub.subscriptions()), min_age_s=10))


def subscribe(state: AppState, inputs: Inputs) -> ActionResult:
    """Subscribe to a page or feed at its hub."""
    if not state.is_reachable:
        raise BadRequest("hubs cannot reach this interface; start it with --public-url", 409)
    url = require_public_url(state.settings, inputs["url"])
    added = asyncio.run(state.websub.subscribe(url))
    message = f"Subscription requested at {added.hub}" + (f": {added.detail}" if added.detail else ".")
    resource = resource_path("/subscriptions/{topic}", topic=added.topic)
    return ActionResult(message, "/websub", {"subscription": subscription_fields(added)}, resource)


def unsubscribe(state: AppState, inputs: Inputs) -> ActionResult:
    """Cancel a subscription."""
    if not asyncio.run(state.websub.unsubscribe(inputs["topic"])):
        raise BadRequest("there is no such subscription", 404)
    return ActionResult("Cancelling the subscription.", "/websub")


def _announced(one: VisitRequest) -> dict[str, Any]:
    return {"at": one.at, "by": one.by, "count": len(one.urls), "urls": one.urls[:URLS_SHOWN]}


TLS = ("starttls", "tls", "off")
ADDRESS = Parameter("address", "Mail address that gets the test.", required=True, longest=200)
MAIL_PARAMETERS = (
    Parameter("host", "Mail server, such as smtp.example.org; empty: send no mail.", default="", longest=253),
    Parameter("port", "Its port.", "integer", default=587, minimum=1, maximum=65_535),
    Parameter("tls", "Encryption.", "choice", default="starttls", choices=TLS),
    Parameter("user", "User name; empty: no login.", default="", longest=300),
    Parameter("password", "Password; empty: keep the present one.", default="", longest=1000),
    Parameter("sender", "Sender address; empty: your contact address.", default="", longest=300),
)


def mail(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show how mail is sent."""
    alerts = state.settings.alerts
    return {
        "host": alerts.mail_host,
        "port": alerts.mail_port,
        "tls": alerts.mail_tls,
        "user_name": alerts.mail_user,
        "has_password": alerts.mail_password_file is not None or PASSWORD_VARIABLE in os.environ,
        "sender": alerts.mail_from,
        "contact": state.settings.identity.contact,
        "problem": _problem(state),
    }


def _problem(state: AppState) -> str | None:
    """Return what is missing to send mail, in words of this page."""
    found = registry_of(state).setup_problem(Channel.MAIL)
    return None if found is None else found.detail


def set_mail(state: AppState, inputs: Inputs) -> ActionResult:
    """Save how mail is sent; the password goes to a file that only the owner can read."""
    file, password, known = collection_file(state.path), inputs["password"], state.settings.alerts
    host, user = inputs["host"].strip(), inputs["user"].strip()
    is_new_server = known.mail_host is not None and host != known.mail_host
    if is_new_server and PASSWORD_VARIABLE in os.environ:
        raise BadRequest("the password is set outside of this interface, so the server cannot be changed here", 409)
    values: dict[str, object] = {
        "alerts.mail_host": host or "none",
        "alerts.mail_port": inputs["port"],
        "alerts.mail_tls": inputs["tls"],
        "alerts.mail_user": user or "none",
        "alerts.mail_from": inputs["sender"].strip() or "none",
    }
    if password:
        path = (state.path / MAIL_PASSWORD_FILE).resolve()
        replace_file(path, password + "\n")
        values["alerts.mail_password_file"] = str(path)
    elif is_new_server:
        values["alerts.mail_password_file"] = "none"  # The password of one server is not sent to another.
    try:
        for key, value in values.items():
            write_setting(file, key, value)
    except ConfigError as error:
        raise BadRequest(str(error)) from error
    state.on_reopen()
    problem = _problem(state)
    message = "Saved. Send a test mail to be sure." if problem is None else f"Saved, but mail cannot be sent: {problem}"
    return ActionResult(message, "/mail", {"problem": problem})


def test_mail(state: AppState, inputs: Inputs) -> ActionResult:
    """Send a test mail now."""
    if "@" not in inputs["address"]:
        raise BadRequest("enter the mail address that gets the test")
    if state.test_limit.wait_s("mail"):
        raise BadRequest("too many test messages; wait a minute", 429)
    attempt = asyncio.run(registry_of(state).test_mail(inputs["address"].strip()))
    words = "Test mail sent" if attempt.is_delivered else "Test mail failed"
    data = {"delivered": attempt.is_delivered, "detail": attempt.detail}
    return ActionResult(f"{words}: {attempt.detail}", "/mail", data)
