"""A letter as a mail (RFC 5322), and its way to the server (RFC 5321)."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import format_datetime

from evercrawl.collection.alerts.send import Letter
from evercrawl.core.alerts.message_format import plain_text, subject_line
from evercrawl.model.settings import NotifySettings
from evercrawl.model.time import from_us


def mail_of(letter: Letter, sender: str, *, collection: str) -> EmailMessage:
    """The letter as a mail, the same at every attempt but for its way."""
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, letter.alert.target.address
    mail["Subject"] = subject_line(letter.alert, letter.notices)
    mail["Date"] = format_datetime(from_us(letter.message.made_us))
    # The same at every attempt: mail systems drop what they have seen.
    mail["Message-ID"] = f"<{letter.message.id}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    text = plain_text(letter.alert, letter.notices, collection=collection)
    mail.set_content(text.encode("utf-8", "replace").decode("utf-8"))
    return mail


def hand_over(mail: EmailMessage, settings: NotifySettings, password: str | None) -> None:
    """Give a mail to the server; raises what smtplib raises."""
    timeout = settings.timeout.total_seconds()
    assert settings.mail_host is not None
    context = ssl.create_default_context()
    if settings.mail_tls == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            settings.mail_host, settings.mail_port, timeout=timeout, context=context
        )
    else:
        server = smtplib.SMTP(settings.mail_host, settings.mail_port, timeout=timeout)
    with server:
        if settings.mail_tls == "starttls":
            server.starttls(context=context)
        if settings.mail_user is not None:
            server.login(settings.mail_user, password or "")
        server.send_message(mail)
