"""Apprise services that are allowed over the web."""

from __future__ import annotations

import pytest

from evercrawl.core.alerts.definition import (
    HOSTED_SERVICES,
    alert_fields,
    apprise_problem,
    apprise_service,
    redact_address,
)
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination


@pytest.mark.parametrize("address", ["tgram://1:x/2", "Slack://a/b/c", " discord://1/2"])
def test_hosted_services_are_allowed(address: str) -> None:
    assert apprise_problem(address) is None


@pytest.mark.parametrize(
    "address",
    ["json://127.0.0.1/", "xmls://inside", "syslog://", "windows://", "mailto://inside", "file:///etc/passwd",
     "fcm://a/?keyfile=/etc/passwd", "https://hooks.slack.com/x", "tgram", "tgram,json:inside", ""],
)  # fmt: skip
def test_other_services_are_refused(address: str) -> None:
    assert "are allowed here" in (apprise_problem(address) or "")


@pytest.mark.parametrize(
    "option",
    ["template=/etc/passwd", "Template=x", "to=1&template=x", "to=1;template=x", "%74emplate=x", " template=x",
     "to=1?template=x", "attach=/etc/passwd"],
)  # fmt: skip
def test_options_that_read_files_or_fetch_are_refused_everywhere(option: str) -> None:
    address = f"discord://1/2?{option.replace(' ', '%20')}"
    for is_own in (False, True):
        assert "reads files or fetches" in (apprise_problem(address, is_own=is_own) or "")


def test_over_the_web_only_plain_options_are_allowed() -> None:
    assert apprise_problem("tgram://1:x/2?silent=yes&format=markdown") is None
    for option in ("avatar_url=x", "store=no", "redirect=yes", "verify=no", ":key=x", "+key=x"):
        assert "not a plain option" in (apprise_problem(f"discord://1/2?{option}") or ""), option
    assert apprise_problem("json://example.org/?verify=no", is_own=True) is None


@pytest.mark.parametrize("joint", [" ", ",", "\n", "\t", ", "])
def test_a_second_address_cannot_hide_behind_the_first(joint: str) -> None:
    assert "single apprise address" in (apprise_problem(f"tgram://1:x/2{joint}json://127.0.0.1/") or "")


def test_only_the_service_is_shown() -> None:
    assert redact_address("tgram://SECRET/1") == "tgram://…"
    assert redact_address("SECRET") == "apprise://…"
    assert apprise_service("SECRET") is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_no_service_has_a_host_or_a_file_in_its_address() -> None:
    import apprise

    known = {
        scheme: entry["details"]
        for entry in apprise.Apprise().details()["schemas"]
        for scheme in (*(entry["protocols"] or ()), *(entry["secure_protocols"] or ()))
    }
    for scheme in HOSTED_SERVICES & set(known):
        names = {*known[scheme]["tokens"], *known[scheme]["args"]}
        assert not {name for name in names if name in ("host", "hostname", "port") or "file" in name}, scheme
        assert all("{host}" not in template for template in known[scheme]["templates"]), scheme
    assert {"tgram", "slack", "discord"} <= set(known)


def test_a_listed_alert_shows_no_password_of_apprise() -> None:
    alert = Alert("a", AlertFilter(), Destination(Channel.APPRISE, "json://user:s3cret@host.example/x", None))
    assert alert_fields(alert, with_secret=False)["address"] == "json://…"
