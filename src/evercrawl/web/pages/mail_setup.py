"""The page `mail`: how notifications are sent by mail, and a test."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from evercrawl.collection.alerts.mail import PASSWORD_VARIABLE
from evercrawl.collection.alerts.registry import MAIL_PASSWORD_FILE
from evercrawl.config import collection_file, write_setting
from evercrawl.config.edit import replace_file
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import Channel
from evercrawl.web.app_state import AppState
from evercrawl.web.pages.alerts import registry_of
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter

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
    """Return how mail is sent, without the password."""
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
