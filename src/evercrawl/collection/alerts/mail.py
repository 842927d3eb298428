"""Alerts by mail: what is missing to send it, the message (plain text and HTML), and the dialogue with the server."""

from __future__ import annotations

import os
import re
import smtplib
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from email.message import EmailMessage
from email.utils import format_datetime, formataddr, parseaddr
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evercrawl.adapters.http.dialer import GuardedDialer
from evercrawl.core.alerts.delivery import AlertMessage
from evercrawl.core.alerts.message_format import MessageContent
from evercrawl.errors import ConfigError
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
