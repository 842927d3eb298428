"""Which form of a page is the login form, and what is sent."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

from evercrawl.core.sign_in.login_form import LoginForm, find_login_form
from evercrawl.model.fetch import Exchange, Fetched

EXCHANGE = Exchange(b"", b"", b"", None, datetime(2026, 1, 1, tzinfo=UTC), timedelta(0))
HTML = (("Content-Type", "text/html; charset=utf-8"),)


def form_in(markup: str, url: str = "https://example.org/account/login") -> LoginForm | None:
    return find_login_form(Fetched(url, 200, HTML, markup.encode(), EXCHANGE))


LOGIN = """
<form action=/search><input name=q></form>
<form method=POST action="?next=%2F">
  <input type=hidden name=token value=abc&amp;d><label for=u>Your name</label><input id=u name=login>
  <input type=password name=pw><input type=checkbox name=remember value=1 checked><input type=checkbox name=no>
  <select name=lang><option value=de>D<option value=en selected>E</select>
  <input type=submit name=go value=Enter><input type=submit name=register value=New><input name=off disabled>
</form>"""


def test_the_form_is_filled_in_as_a_browser_would() -> None:
    form = form_in(LOGIN)
    assert form is not None
    assert form.is_post
    assert form.action == "https://example.org/account/login?next=%2F"
    assert [(field.name, field.label, field.is_secret) for field in form.typed] == [
        ("login", "Your name", False),
        ("pw", "pw", True),
    ]
    sent = parse_qs(form.filled((("user", "me"), ("password", "a&b=ü"))).decode(), keep_blank_values=True)
    assert sent == {
        "token": ["abc&d"],
        "login": ["me"],
        "pw": ["a&b=ü"],
        "remember": ["1"],
        "lang": ["en"],
        "go": ["Enter"],
    }


def test_fields_can_be_named_and_unknown_ones_are_reported() -> None:
    form = form_in(LOGIN)
    assert form is not None
    sent = parse_qs(form.filled((("login", "me"), ("pw", "x"), ("lang", "de"))).decode())
    assert (sent["login"], sent["pw"], sent["lang"]) == (["me"], ["x"], ["de"])
    assert form.missing((("user", "me"), ("domain", "x"))) == ("domain",)


def test_forms_for_other_purposes_do_not_count() -> None:
    assert form_in("<form><input name=q></form>") is None
    assert form_in("<form method=post><input type=password name=a><input type=password name=b></form>") is None
    assert form_in("<form action='javascript:x()'><input type=password name=a></form>") is None


def test_the_base_and_the_default_action_count() -> None:
    form = form_in("<base href=https://sso.example.org/x/><form action=go><input type=password name=a></form>")
    assert form is not None
    assert form.action == "https://sso.example.org/x/go"
    form = form_in("<form><input type=password name=a></form>", "https://example.org/login?x=1")
    assert form is not None
    assert (form.action, form.is_post) == ("https://example.org/login?x=1", False)


def test_forms_that_begin_again_and_again_are_not_all_read() -> None:
    before = time.process_time()
    form_in("<form><b><input type=password name=p><label for=u>x</label><input id=u name=u></i>" * 5_000)
    assert time.process_time() - before < 5
