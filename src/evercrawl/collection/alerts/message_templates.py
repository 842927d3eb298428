"""The user's own message templates (Jinja) in a sandbox: they read the fields of a message and call nothing."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evercrawl.collection.alerts.mail import MailParts
from evercrawl.core.alerts.html_message import html_difference
from evercrawl.core.alerts.message_format import (
    MessageContent,
    html_text,
    message_fields,
    plain_difference,
    plain_text,
    seen_words,
    subject_line,
    webhook_body,
)
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import Alert, Channel, Event, EventKind, PendingEvent
from evercrawl.model.change import Edit, Words

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_TEMPLATE_CHARS = 20_000
MAX_RENDERED_CHARS = 1_000_000
TEMPLATE_PARTS = {"subject": "mail and apprise", "text": "mail and apprise", "html": "mail", "body": "webhook"}
_FILTERS = frozenset({
    "default", "e", "escape", "first", "join", "last", "length", "lower", "replace", "tojson", "trim", "truncate",
    "upper", "urlencode",
})  # fmt: skip
_EXAMPLE = Event(
    0, 1, 1, "https://example.org/jobs", EventKind.CONTENT, 0.02, 1_790_000_000_000_000, 2, "Jobs",
    (Edit(1, False, (Words(" ", "Wanted: "), Words("-", "Nurse"), Words("+", "Doctor"), Words(" ", ", full time"))),),
)  # fmt: skip
EXAMPLES = (PendingEvent(1, _EXAMPLE.at_us, _EXAMPLE),)  # The changes of a test message.
log = logging.getLogger(__name__)


@lru_cache(maxsize=2)
def _environment(*, is_html: bool) -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined  # slow to load, and rarely needed
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        """Reads fields; it calls nothing and repeats no text."""

        intercepted_binops = frozenset({"*", "**", "%"})

        def is_safe_callable(self, obj: Any) -> bool:
            return False

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            raise SecurityError(f"{operator} is not available")

    environment = Sandbox(autoescape=is_html, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters = {name: call for name, call in environment.filters.items() if name in _FILTERS}
    environment.globals = {}
    return environment


def render_template(part: str, template: str, fields: dict[str, Any]) -> str:
    """Return the rendered part of a message; raise ConfigError if the template is not valid."""
    from jinja2 import TemplateError, TemplateSyntaxError

    try:
        pieces: list[str] = []
        chars = 0
        for piece in _environment(is_html=part == "html").from_string(template).generate(fields):
            chars += len(piece)
            if chars > MAX_RENDERED_CHARS:
                raise ConfigError(f"the {part} template gives more than {MAX_RENDERED_CHARS:,} characters")
            pieces.append(piece)
        return "".join(pieces)
    except TemplateSyntaxError as error:
        raise ConfigError(f"the {part} template, line {error.lineno}: {error.message}") from error
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        known = ", ".join(sorted(fields))
        raise ConfigError(f"the {part} template: {error}. Known fields: {known}") from error


def template_problem(alert: Alert, content: Callable[[Alert, tuple[PendingEvent, ...]], MessageContent]) -> str | None:
    """Return what is wrong with the templates of an alert, tried on an example; `content` makes the message."""
    for part, template in alert.templates.given():
        if len(template) > MAX_TEMPLATE_CHARS:
            return f"the {part} template has more than {MAX_TEMPLATE_CHARS:,} characters"
        is_used = {
            Channel.WEBHOOK: part == "body", Channel.MAIL: part != "body", Channel.APPRISE: part in ("subject", "text"),
        }.get(alert.destination.channel, False)  # fmt: skip
        if not is_used:
            channel = alert.destination.channel.value
            return f"the {part} template is for {TEMPLATE_PARTS[part]}; this alert is sent by {channel}"
    try:
        for changes in (EXAMPLES, EXAMPLES * 2):
            example = content(alert, changes)
            for part, template in alert.templates.given():
                rendered = render_template(part, template, template_fields(example, message_id="msg_example", at_us=0))
                if part == "body":
                    _require_json(rendered)
    except ConfigError as error:
        return str(error)
    return None


def template_fields(content: MessageContent, *, message_id: str, at_us: int) -> dict[str, Any]:
    """Return the fields that templates can use: those of a webhook, and the standard text and HTML."""
    from markupsafe import Markup

    fields = message_fields(content, message_id=message_id, at_us=at_us)
    for change, shown in zip(content.changes, fields["changes"], strict=True):
        shown["text"] = "\n".join(plain_difference(change.event))
        shown["html"] = Markup(html_difference(change, content.links, seen_words(change.event)))
    return fields | {"count": len(content.changes), "text": plain_text(content), "html": Markup(html_text(content))}


def mail_parts(content: MessageContent, *, message_id: str, at_us: int) -> MailParts:
    """Return subject, text and HTML of a message; a template that fails is replaced by the standard part."""
    standard = MailParts(subject_line(content), plain_text(content), html_text(content))
    templates = content.alert.templates
    rendered = {
        part: _render_or_log(part, template, content, message_id=message_id, at_us=at_us)
        for part, template in templates.given()
        if part in MailParts._fields
    }
    return standard._replace(**{part: text for part, text in rendered.items() if text is not None})


def _render_or_log(part: str, template: str, content: MessageContent, *, message_id: str, at_us: int) -> str | None:
    try:
        return render_template(part, template, template_fields(content, message_id=message_id, at_us=at_us))
    except ConfigError as error:
        log.warning("alert %s: %s", content.alert.name, error)
        return None


def body_of(content: MessageContent, *, message_id: str, at_us: int) -> bytes:
    """Return the body of a webhook; raise ConfigError if its template gives no JSON."""
    template = content.alert.templates.body
    if template is None:
        return webhook_body(message_fields(content, message_id=message_id, at_us=at_us))
    fields = template_fields(content, message_id=message_id, at_us=at_us)
    return _require_json(render_template("body", template, fields)).encode("utf-8", "replace")


def _require_json(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"the body template gives no valid JSON: {error}; write texts as {{{{ x|tojson }}}}"
        ) from None
    return text
