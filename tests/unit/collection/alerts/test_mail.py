"""Mail: its headers and parts, what is missing to send it, and what the server answers."""

from __future__ import annotations

import asyncio
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from evercrawl.adapters.http.dialer import GuardedDialer
from evercrawl.collection.alerts.mail import build_mail, mail_parts, mail_problem, send_mail
from evercrawl.collection.alerts.sender import ChannelSender, OutgoingMessage
from evercrawl.core.alerts.delivery import AlertMessage, DeliveryAttempt
from evercrawl.core.alerts.html_message import MessageLinks
from evercrawl.core.alerts.message_format import MessageContent
from evercrawl.core.change.text_diff import make_edit
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, EventKind, PendingEvent
from evercrawl.model.settings import AlertSettings, IdentitySettings, Settings, WebSettings
from evercrawl.model.time import from_us

EDITS = (make_edit(1, "Erwachsene 12 €", "Erwachsene 15 €", is_template=False),)
TITLE = "Preise für\r\nBcc: x@y"
EVENT = Event(
    0, 1, 1, "https://example.org/preise", EventKind.CONTENT, 0.5, 1_790_000_000_000_000, 2, TITLE, EDITS
)  # fmt: skip
MESSAGE = AlertMessage("msg_1f0c6a2b9d3e_1_42", "preise", EVENT.at_us, tries=1)
PUBLIC = "https://crawl.a-rather-long-organisation-name.example.org"
ALERT = Alert("preise", AlertFilter(), Destination(Channel.MAIL, "you@example.org"))
MAIL = Settings(
    alerts=AlertSettings(
        mail_host="127.0.0.1", mail_tls="off", mail_from="me@example.org", delivery_timeout=timedelta(seconds=5)
    )
)


def mail_of(*events: Event, public_url: str | None = PUBLIC, sender: str = "Crawler <me@example.org>") -> EmailMessage:
    """Return the mail as a mail program parses it."""
    changes = [PendingEvent(number, event.at_us, event) for number, event in enumerate(events or (EVENT,), 42)]
    content = MessageContent(ALERT, changes, MessageLinks("my coast.evercrawl", "preise", public_url, b"key", 1))
    parts = mail_parts(content, message_id=MESSAGE.id, at_us=MESSAGE.created_us)
    first = build_mail(content, parts, MESSAGE, sender).as_bytes()
    assert first == build_mail(content, parts, MESSAGE, sender).as_bytes(), "every attempt sends the same"
    assert first.isascii()
    assert max(map(len, first.split(b"\r\n"))) <= 998
    parsed = message_from_bytes(first, policy=default)
    assert isinstance(parsed, EmailMessage)
    assert not parsed.defects
    return parsed


def test_a_mail_has_the_headers_of_an_automatic_list_message() -> None:
    mail = mail_of()
    assert mail["Subject"] == "Preise für Bcc: x@y: Erwachsene 12 € → 15 €"
    assert mail["From"].addresses[0].addr_spec == "me@example.org"
    assert mail["From"].addresses[0].display_name == "Crawler"
    assert mail["Bcc"] is None
    assert mail["Date"].datetime == from_us(EVENT.at_us)
    assert mail["Message-ID"] == f"<{MESSAGE.id}@example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Id"] == '"evercrawl alert preise" <preise.my-coast.evercrawl.example.org>'
    assert mail["List-Unsubscribe"].startswith(f"<{PUBLIC}/unsubscribe/1/")
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert b"=?" not in mail["List-Unsubscribe"].encode()


def test_names_of_senders_may_be_in_any_script() -> None:
    sender = mail_of(sender="Crawler für Preise <me@example.org>")["From"].addresses[0]
    assert (sender.display_name, sender.addr_spec) == ("Crawler für Preise", "me@example.org")
    assert mail_of(sender="me@example.org")["From"].addresses[0].display_name == "evercrawl"


def test_links_that_cannot_work_are_left_out() -> None:
    assert "List-Unsubscribe" not in mail_of(public_url=None)
    insecure = mail_of(public_url="http://crawl.example.org")
    assert "List-Unsubscribe-Post" not in insecure, "RFC 8058 requires https"
    assert insecure["List-Unsubscribe"].startswith("<http://")


def test_text_and_html_are_alternatives() -> None:
    mail = mail_of()
    assert mail.get_content_type() == "multipart/alternative"
    text, html = mail.iter_parts()
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    assert text.get_content().splitlines()[0] == str(mail["Subject"])
    assert "− Erwachsene *12* €" in text.get_content()
    assert ">12</del>" in html.get_content()
    assert ">15</ins>" in html.get_content()


def test_changes_of_a_page_form_a_thread() -> None:
    later = mail_of(EVENT._replace(at_us=EVENT.at_us + 1, edits=()))
    assert later["References"] == mail_of()["References"] is not None
    assert mail_of(EVENT._replace(url="https://example.org/other"))["References"] != later["References"]
    assert mail_of(EVENT, EVENT._replace(url="https://example.org/other"))["References"] is None


@pytest.mark.parametrize("text", ["\u202e\x1b[31m\r\nBcc: x@example.org\x00\ud800", "字" * 900, "x" * 5000])
def test_any_text_can_be_sent(text: str) -> None:
    edits = (make_edit(1, text, f"{text} more", is_template=False),)
    mail = mail_of(EVENT._replace(title=text, edits=edits, url=f"https://example.org/{text}"))
    assert mail["Bcc"] is None
    assert "\n" not in mail["Subject"]


def test_what_is_missing_is_named_with_the_command() -> None:
    def problem(env: dict[str, str] | None = None, **changes: object) -> str:
        found = mail_problem(replace(MAIL, alerts=replace(MAIL.alerts, **changes)), env or {})  # type: ignore[arg-type]
        return "" if found is None else str(found)

    assert problem() == ""
    assert "no mail server is set up; run: evercrawl config set alerts.mail_host" in problem(mail_host=None)
    assert "alerts.mail_from" in problem(mail_from=None)
    assert "EVERCRAWL_MAIL_PASSWORD" in problem(mail_user="me")
    assert problem({"EVERCRAWL_MAIL_PASSWORD": "x"}, mail_user="me") == ""
    assert "cannot be read" in problem(mail_user="me", mail_password_file="/nowhere/at/all")
    contact = replace(
        MAIL, identity=IdentitySettings(contact="me@example.org"), alerts=replace(MAIL.alerts, mail_from=None)
    )
    assert mail_problem(contact, {}) is None


class _Server(socketserver.ThreadingTCPServer):
    """Answers each command from a table; None closes the connection."""

    allow_reuse_address = True

    def __init__(self, answers: dict[str, str | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Dialogue)
        self.answers = answers
        self.mails: list[bytes] = []


class _Dialogue(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        self.wfile.write(b"220 mail.test\r\n")
        while line := self.rfile.readline():
            verb = line.split()[0].decode().upper() if line.split() else ""
            answer = server.answers.get(verb, "250 fine")
            if answer is None:
                return
            if verb == "DATA" and answer == "250 fine":
                self.wfile.write(b"354 go on\r\n")
                server.mails.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                answer = server.answers.get("CONTENT", "250 2.0.0 queued as 4711")
            self.wfile.write(f"{answer}\r\n".encode())
            if verb == "QUIT":
                return


@contextmanager
def server(**answers: str | None) -> Iterator[tuple[Settings, list[bytes]]]:
    with _Server(answers) as found:
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        try:
            yield replace(MAIL, alerts=replace(MAIL.alerts, mail_port=found.server_address[1])), found.mails
        finally:
            found.shutdown()
            thread.join()


def sent(settings: Settings) -> DeliveryAttempt:
    outgoing = OutgoingMessage(ALERT, MESSAGE, (PendingEvent(42, EVENT.at_us, EVENT),), (), "uid", 1, b"key")

    async def send() -> DeliveryAttempt:
        sender = ChannelSender(
            replace(settings, web=WebSettings(PUBLIC)), collection="c", env={"EVERCRAWL_MAIL_PASSWORD": "p"}
        )
        return await sender.send(outgoing, now=from_us(EVENT.at_us))

    return asyncio.run(send())


def test_the_answer_of_the_server_is_reported() -> None:
    with server() as (settings, mails):
        attempt = sent(settings)
    assert attempt == DeliveryAttempt(True, "accepted by 127.0.0.1: 250 2.0.0 queued as 4711")
    assert message_from_bytes(mails[0], policy=default)["Subject"] == "Preise für Bcc: x@y: Erwachsene 12 € → 15 €"


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (
            {"MAIL": "550 5.7.1 not you"},
            "refused the sender me@example.org (550 5.7.1 not you); check alerts.mail_from",
        ),
        ({"RCPT": "550 no such user"}, "refused the recipient you@example.org (550 no such user)"),
        ({"DATA": "451 try later"}, "refused the message (451 try later)"),
        ({"CONTENT": "554 spam"}, "refused the message (554 spam)"),
        ({"QUIT": None, "RCPT": "452 full"}, "(452 full)"),
        ({"EHLO": None, "HELO": None}, "closed the connection; is alerts.mail_tls right"),
    ],
)
def test_refusals_are_explained(answers: dict[str, str | None], words: str) -> None:
    with server(**answers) as (settings, _):
        attempt = sent(settings)
    assert not attempt.is_delivered
    assert words in attempt.detail


def test_failures_to_connect_are_explained() -> None:
    with server(EHLO="250-mail.test\r\n250 AUTH PLAIN", AUTH="535 5.7.8 wrong") as (settings, _):
        login = replace(settings, alerts=replace(settings.alerts, mail_user="me"))
        assert "refused the login as me (535 5.7.8 wrong); check alerts.mail_user" in sent(login).detail
        starttls = replace(settings, alerts=replace(settings.alerts, mail_tls="starttls"))
        assert "STARTTLS" in sent(starttls).detail
        assert "alerts.mail_tls" in sent(starttls).detail
        encrypted = replace(settings, alerts=replace(settings.alerts, mail_tls="tls"))
        assert "no TLS connection" in sent(encrypted).detail
    away = replace(MAIL, alerts=replace(MAIL.alerts, mail_port=1))
    assert "cannot connect to 127.0.0.1 port 1: Connection refused; check alerts.mail_host" in sent(away).detail
    nowhere = replace(MAIL, alerts=replace(MAIL.alerts, mail_host="mail.invalid"))
    assert "there is no host mail.invalid" in sent(nowhere).detail
    missing = replace(MAIL, alerts=replace(MAIL.alerts, mail_host=None))
    assert "no mail server is set up; run: evercrawl config set alerts.mail_host" in sent(missing).detail


def test_slow_servers_and_wrong_certificates_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_with(error: OSError) -> str:
        def refuse(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr("smtplib.SMTP.__init__", refuse)
        with pytest.raises(ConfigError) as found:
            send_mail(EmailMessage(), MAIL.alerts, None, GuardedDialer(MAIL.http, is_named=True))
        return str(found.value)

    assert "did not answer in time" in fails_with(TimeoutError())
    wrong = ssl.SSLCertVerificationError()
    wrong.verify_message = "self-signed certificate"
    assert "is not trusted: self-signed certificate" in fails_with(wrong)
