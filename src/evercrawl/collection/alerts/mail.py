"""Send alert messages by mail, and the templates with which users write their own messages."""

from __future__ import annotations

import json
import logging
import os
import re
import smtplib
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.message import EmailMessage
from email.utils import format_datetime, formataddr, parseaddr
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evercrawl.adapters.http.dialer import GuardedDialer
from evercrawl.core.alerts.delivery import AlertMessage
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
from evercrawl.model.sanitize import safe_line
from evercrawl.model.settings import AlertSettings, Settings
from evercrawl.model.time import from_us

if TYPE_CHECKING:
    from email.policy import EmailPolicy

PASSWORD_VARIABLE = "EVERCRAWL_MAIL_PASSWORD"
SENDER_NAME = "evercrawl"
_UNFOLDED = frozenset({"list-unsubscribe", "list-id", "references", "message-id"})
_NOT_LABEL = re.compile(r"[^A-Za-z0-9_-]+")


class SetupProblem(NamedTuple):
    """Something that is missing to send messages, and what to do."""

    detail: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.detail}; {self.remedy}"


def mail_problem(settings: Settings, env: Mapping[str, str] = os.environ) -> SetupProblem | None:
    """Return what is missing to send mail; None if nothing is."""
    alerts = settings.alerts
    host = "evercrawl config set alerts.mail_host smtp.example.org"
    sender = "evercrawl config set alerts.mail_from crawler@example.org"
    if alerts.mail_host is None:
        both = host if mail_sender(settings) else f"{host}; {sender}"
        return SetupProblem("no mail server is set up", f"run: {both}")
    if mail_sender(settings) is None:
        return SetupProblem("mail has no sender address", f"run: {sender}")
    if alerts.mail_user is None:
        return None
    if alerts.mail_password_file is not None:
        if os.access(Path(alerts.mail_password_file).expanduser(), os.R_OK):
            return None
        return SetupProblem(f"{alerts.mail_password_file} cannot be read", "correct alerts.mail_password_file")
    if PASSWORD_VARIABLE in env:
        return None
    return SetupProblem(
        f"there is no password for the mail user {alerts.mail_user}",
        f"set {PASSWORD_VARIABLE}, or alerts.mail_password_file",
    )


def mail_sender(settings: Settings) -> str | None:
    """Return the address in the From header; None if there is none."""
    address = settings.alerts.mail_from or settings.identity.contact
    return address if address is not None and "@" in parseaddr(address)[1] else None


def mail_password(settings: AlertSettings, env: Mapping[str, str]) -> str | None:
    """Return the password from the file or the environment."""
    if settings.mail_password_file is None:
        return env.get(PASSWORD_VARIABLE)
    return Path(settings.mail_password_file).expanduser().read_text(encoding="utf-8").strip()


@lru_cache(maxsize=1)
def _policy() -> EmailPolicy:
    from email.policy import SMTP, EmailPolicy  # slow to load

    class MailPolicy(EmailPolicy):
        """Leaves identifiers and URLs on one line, where programs expect them, instead of encoding long ones."""

        def fold(self, name: str, value: Any) -> str:
            if name.lower() in _UNFOLDED:
                return f"{name}: {value}{self.linesep}"
            folded: str = super().fold(name, value)
            return folded

        def fold_binary(self, name: str, value: Any) -> bytes:
            return self.fold(name, value).encode("ascii", "surrogateescape")

    return MailPolicy(linesep=SMTP.linesep)


class MailParts(NamedTuple):
    """What people read of a mail."""

    subject: str
    text: str
    html: str


def build_mail(content: MessageContent, parts: MailParts, message: AlertMessage, sender: str) -> EmailMessage:
    """Return the mail, the same at every attempt."""
    name, address = parseaddr(sender)
    domain = address.rpartition("@")[2]
    mail = EmailMessage(policy=_policy())
    mail["From"] = formataddr((name or SENDER_NAME, address))
    mail["To"] = content.alert.destination.address
    mail["Subject"] = _encodable(" ".join(safe_line(parts.subject).split()))
    mail["Date"] = format_datetime(from_us(message.created_us))
    # The same at every attempt, so that mail systems drop duplicates.
    mail["Message-ID"] = f"<{message.id}@{domain}>"
    if (thread := _thread(content)) is not None:
        mail["References"] = f"<{thread}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    label = ".".join(filter(None, (_NOT_LABEL.sub("-", part) for part in content.links.collection.split("."))))
    mail["List-Id"] = f'"evercrawl alert {content.alert.name}" <{content.alert.name}.{label}.{domain}>'
    unsubscribe = content.links.unsubscribe()
    if unsubscribe is not None:
        mail["List-Unsubscribe"] = f"<{unsubscribe}>"
        if unsubscribe.startswith("https:"):  # RFC 8058 requires it.
            mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail.set_content(_encodable(parts.text))
    mail.add_alternative(_encodable(parts.html), subtype="html")
    mail.set_boundary(f"=_{message.id}")
    return mail


def _thread(content: MessageContent) -> str | None:
    """Return the name of the thread of a page, so that mail programs show its changes together."""
    urls = {change.event.url for change in content.changes}
    if len(urls) != 1:
        return None
    digest = sha256(f"{content.alert.name} {urls.pop()}".encode("utf-8", "replace")).hexdigest()
    return f"page.{digest[:24]}"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def send_mail(mail: EmailMessage, settings: AlertSettings, password: str | None, dialer: GuardedDialer) -> str:
    """Pass a mail to the server and return its answer; raise ConfigError with the reason if it refuses."""
    host = f"{settings.mail_host} port {settings.mail_port}"
    try:
        return f"accepted by {settings.mail_host}: {_send(mail, settings, password, dialer)}"
    except smtplib.SMTPAuthenticationError as error:
        raise ConfigError(
            f"the mail server refused the login as {settings.mail_user} ({_answer(error)}); check alerts.mail_user and "
            "the password"
        ) from error
    except smtplib.SMTPSenderRefused as error:
        raise ConfigError(
            f"the mail server refused the sender {error.sender} ({_answer(error)}); check alerts.mail_from"
        ) from error
    except smtplib.SMTPRecipientsRefused as error:
        (address, (code, reply)), *_ = error.recipients.items()
        raise ConfigError(f"the mail server refused the recipient {address} ({code} {_decoded(reply)})") from error
    except smtplib.SMTPNotSupportedError as error:
        raise ConfigError(f"{host}: {str(error).rstrip('.')}; check alerts.mail_tls and alerts.mail_user") from error
    except smtplib.SMTPServerDisconnected as error:
        raise ConfigError(f"{host} closed the connection; is alerts.mail_tls right for this port?") from error
    except smtplib.SMTPResponseException as error:
        raise ConfigError(f"the mail server refused the message ({_answer(error)})") from error
    except ssl.SSLCertVerificationError as error:
        raise ConfigError(f"the certificate of {host} is not trusted: {error.verify_message}") from error
    except ssl.SSLError as error:
        raise ConfigError(f"no TLS connection to {host} ({error.reason}); check alerts.mail_tls") from error
    except socket.gaierror as error:
        raise ConfigError(
            f"there is no host {settings.mail_host} ({error.strerror}); check alerts.mail_host"
        ) from error
    except TimeoutError as error:
        raise ConfigError(f"{host} did not answer in time; check alerts.mail_host and alerts.mail_port") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot connect to {host}: {reason}; check alerts.mail_host and alerts.mail_port") from error


class _GuardedSmtp(smtplib.SMTP):
    """Connects through the dialer."""

    dialer: GuardedDialer

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self.dialer.connect(host, port, timeout_s=timeout)


class _GuardedSmtpTls(smtplib.SMTP_SSL, _GuardedSmtp):
    """Connects through the dialer, then wraps the connection in TLS."""


def _connect(settings: AlertSettings, dialer: GuardedDialer, context: ssl.SSLContext) -> smtplib.SMTP:
    """Return a connection to the mail server."""
    assert settings.mail_host is not None
    is_tls, timeout = settings.mail_tls == "tls", settings.delivery_timeout.total_seconds()
    server = _GuardedSmtpTls(timeout=timeout, context=context) if is_tls else _GuardedSmtp(timeout=timeout)
    server.dialer = dialer
    server._host = settings.mail_host  # type: ignore[attr-defined]  # The name in the certificate.
    code, reply = server.connect(settings.mail_host, settings.mail_port)
    if code != 220:
        server.close()
        raise smtplib.SMTPConnectError(code, reply)
    return server


def _send(mail: EmailMessage, settings: AlertSettings, password: str | None, dialer: GuardedDialer) -> str:
    """Pass a mail to the server; return the answer to its content."""
    context = ssl.create_default_context()
    server = _connect(settings, dialer, context)
    try:
        if settings.mail_tls == "starttls":
            server.starttls(context=context)
        if settings.mail_user is not None:
            server.login(settings.mail_user, password or "")
        server.ehlo_or_helo_if_needed()
        sender, recipient = parseaddr(mail["From"])[1], parseaddr(mail["To"])[1]
        code, reply = server.mail(sender)
        if code != 250:
            raise smtplib.SMTPSenderRefused(code, reply, sender)
        code, reply = server.rcpt(recipient)
        if code not in (250, 251):
            raise smtplib.SMTPRecipientsRefused({recipient: (code, reply)})
        code, reply = server.data(mail.as_bytes())
        if code != 250:
            raise smtplib.SMTPDataError(code, reply)
        return f"{code} {_decoded(reply)}"
    finally:
        with suppress(smtplib.SMTPException, OSError):  # The message is accepted or refused already.
            server.quit()


def _answer(error: smtplib.SMTPResponseException) -> str:
    return f"{error.smtp_code} {_decoded(error.smtp_error)}"


def _decoded(reply: bytes | str) -> str:
    return safe_line(reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply)


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
