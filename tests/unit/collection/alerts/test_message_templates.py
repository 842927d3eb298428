"""Templates of users: what they can use, and what is wrong with them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evercrawl.collection.alerts.mail import EXAMPLES, body_of, mail_parts, template_problem
from evercrawl.core.alerts.html_message import MessageLinks
from evercrawl.core.alerts.message_format import MessageContent
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, MessageTemplates, PendingEvent

MAIL = Alert("jobs", AlertFilter(), Destination(Channel.MAIL, "you@example.org"))
HOOK = Alert("jobs", AlertFilter(), Destination(Channel.WEBHOOK, "https://me.example/hook"))


def content(alert: Alert, changes: tuple[PendingEvent, ...] = EXAMPLES) -> MessageContent:
    return MessageContent(alert, changes, MessageLinks("c", alert.name, "https://crawl.example.org", b"key", 1))


def with_templates(alert: Alert, **templates: str) -> Alert:
    return replace(alert, templates=MessageTemplates(**templates))


def test_templates_replace_parts_of_a_mail() -> None:
    alert = with_templates(
        MAIL,
        subject="{{ alert|upper }}: {{ summary }}\n({{ count }})",
        text="{% for one in changes %}{{ one.title }} {{ one.url }}\n{{ one.text }}\n{% endfor %}",
        html="<h1>{{ summary }}</h1>{% for one in changes %}<b>{{ one.title }}</b>{{ one.html }}{% endfor %}",
    )
    assert template_problem(alert, content) is None
    event = EXAMPLES[0].event._replace(title="<Jobs>")
    parts = mail_parts(content(alert, (EXAMPLES[0]._replace(event=event),)), message_id="m", at_us=0)
    assert parts.subject.startswith("JOBS: <Jobs>: 'Nurse' became 'Doctor'")
    assert parts.text == (
        "<Jobs> https://example.org/jobs\n− Wanted: *Nurse*, full time\n+ Wanted: *Doctor*, full time\n"
    )
    assert parts.html.startswith(
        "<h1>&lt;Jobs&gt;: &#39;Nurse&#39; became &#39;Doctor&#39;</h1><b>&lt;Jobs&gt;</b><div"
    )
    assert ">Nurse</del>" in parts.html


def test_a_template_gives_the_body_that_a_service_expects() -> None:
    alert = with_templates(HOOK, body='{"text": {{ (summary ~ " " ~ changes[0].diff_url)|tojson }}}')
    assert template_problem(alert, content) is None
    sent = json.loads(body_of(content(alert), message_id="m", at_us=0))
    assert sent["text"].startswith("Jobs: 'Nurse' became 'Doctor' https://crawl.example.org/diff?url=")


@pytest.mark.parametrize(
    ("alert", "words"),
    [
        (with_templates(MAIL, subject="{{ sumary }}"), "'sumary' is undefined. Known fields: alert,"),
        (with_templates(MAIL, text="{% for %}"), "the text template, line 1:"),
        (with_templates(MAIL, html="{{ changes[0].nothing }}"), "has no attribute 'nothing'"),
        (with_templates(MAIL, body="{}"), "the body template is for webhook; this alert is sent by mail"),
        (with_templates(HOOK, html="x"), "the html template is for mail; this alert is sent by webhook"),
        (with_templates(HOOK, body='{"text": "{{ text }}"}'), "no valid JSON"),
        (with_templates(MAIL, text="x" * 20_001), "more than 20,000 characters"),
        (with_templates(MAIL, text="{{ 'x' * 10**9 }}"), "not available"),
        (with_templates(MAIL, text="{{ '%999999999s' % 'x' }}"), "not available"),
        (with_templates(MAIL, text="{{ '{:999999999}'.format(1) }}"), "not safely callable"),
        (with_templates(MAIL, text="{{ ''.__class__.__mro__ }}"), "unsafe"),
        (with_templates(MAIL, text="{% include '/etc/passwd' %}"), "no loader"),
        (with_templates(MAIL, text="{{ range(9) }}"), "not safely callable"),
        (with_templates(MAIL, text="{{ 1 // 0 }}"), "the text template"),
        (with_templates(MAIL, text="{{ 'x'|center(999999999) }}"), "No filter named 'center'"),
    ],
)  # fmt: skip
def test_problems_are_found_when_an_alert_is_added(alert: Alert, words: str) -> None:
    assert words in (template_problem(alert, content) or "")


def test_a_template_that_fails_later_does_not_lose_the_message() -> None:
    alert = with_templates(MAIL, subject="{{ changes[5].title }}")
    assert mail_parts(content(alert), message_id="m", at_us=0).subject == "Jobs: 'Nurse' became 'Doctor'"
    with pytest.raises(ConfigError, match="body template"):
        body_of(content(with_templates(HOOK, body="{{ changes[5].title }}")), message_id="m", at_us=0)


def test_everything_is_standard_without_templates() -> None:
    assert template_problem(MAIL, content) is None
    assert json.loads(body_of(content(HOOK), message_id="m", at_us=0))["id"] == "m"
