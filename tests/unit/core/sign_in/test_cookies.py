"""Cookies by RFC 6265, and cookie files of browsers and tools."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.sign_in.cookies import (
    MAX_COOKIES,
    CookieJar,
    cookie_fields,
    cookie_of_fields,
    cookies_for_site,
    parse_cookie_file,
    parse_set_cookie,
)
from evercrawl.model.credentials import Cookie

NOW = datetime(2026, 3, 1, tzinfo=UTC)
URL = "https://wiki.example.org/a/b?c"


def sent(url: str, *values: str, at: str = URL) -> str:
    jar = CookieJar()
    jar.update(at, tuple(("Set-Cookie", value) for value in values), now=NOW)
    return jar.header_for(url, now=NOW)


@pytest.mark.parametrize(
    ("value", "url", "expected"),
    [
        ("sid=1", "https://wiki.example.org/a/x", "sid=1"),
        ("sid=1", "https://wiki.example.org/other", ""),  # The default path is the folder.
        ("sid=1; Path=/", "https://wiki.example.org/other", "sid=1"),
        ("sid=1; Path=/a", "https://wiki.example.org/ab", ""),
        ("sid=1; Path=/a", "https://wiki.example.org/a", "sid=1"),
        ("sid=1; Path=/", "https://example.org/", ""),
        ("sid=1; Path=/", "https://sub.wiki.example.org/", ""),
        ("sid=1; Path=/; Domain=.example.org", "https://www.example.org/", "sid=1"),
        ("sid=1; Path=/; Domain=example.org", "https://badexample.org/", ""),
        ("sid=1; Path=/; Domain=other.org", "https://wiki.example.org/", ""),
        ("sid=1; Path=/; Secure", "http://wiki.example.org/", ""),
        ("sid=1; Path=/; Secure", "https://wiki.example.org/", "sid=1"),
        ("sid=1; Path=/; Max-Age=0", "https://wiki.example.org/", ""),
        ("sid=1; Path=/; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://wiki.example.org/", "sid=1"),
        ("sid=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "https://wiki.example.org/", ""),
        ("sid=1; Path=/; Expires=nonsense", "https://wiki.example.org/", "sid=1"),
        ("sid=a=b; path=/", "https://wiki.example.org/", "sid=a=b"),
        ("justvalue; path=/", "https://wiki.example.org/", "justvalue"),
        ("=; path=/", "https://wiki.example.org/", ""),
        ("sid=" + "x" * 5000 + "; path=/", "https://wiki.example.org/", ""),
        ("sid=1\x00; path=/", "https://wiki.example.org/", ""),
    ],
)
def test_a_cookie_goes_where_it_belongs(value: str, url: str, expected: str) -> None:
    assert sent(url, value) == expected


def test_secure_cookies_are_not_taken_from_plain_http() -> None:
    assert parse_set_cookie("sid=1; Secure", "http://wiki.example.org/", now=NOW) is None


def test_a_domain_never_matches_an_address() -> None:
    assert sent("http://10.0.0.1/", "a=1; Path=/; Domain=0.0.1", at="http://10.0.0.1/") == ""


def test_longer_paths_come_first_and_a_later_value_replaces_an_earlier_one() -> None:
    assert sent("https://wiki.example.org/a/b", "x=1; Path=/", "y=2; Path=/a", "x=3; Path=/") == "y=2; x=3"


def test_removed_cookies_are_named_and_expired_ones_are_not_sent() -> None:
    jar = CookieJar()
    jar.update(URL, (("set-cookie", "sid=1; Path=/"), ("set-cookie", "day=1; Path=/; Max-Age=86400")), now=NOW)
    assert jar.update(URL, (("Set-Cookie", "sid=; Path=/; Max-Age=0"),), now=NOW) == {"sid"}
    assert jar.header_for(URL, now=NOW) == "day=1"
    assert jar.header_for(URL, now=NOW + timedelta(days=2)) == ""


def test_a_replaced_session_is_not_a_removed_one() -> None:
    jar = CookieJar()
    jar.update(URL, (("set-cookie", "sid=1; Path=/"),), now=NOW)
    fields = (("Set-Cookie", "sid=; Path=/; Max-Age=0"), ("Set-Cookie", "sid=2; Path=/"))
    assert jar.update(URL, fields, now=NOW) == frozenset()
    assert jar.header_for(URL, now=NOW) == "sid=2"


def test_a_jar_is_bounded() -> None:
    jar = CookieJar()
    for number in range(3 * MAX_COOKIES):
        jar.put(Cookie(f"c{number}", "v", "wiki.example.org"))
    assert len(list(jar)) == MAX_COOKIES
    assert "c299=v" in jar.header_for(URL, now=NOW)


NETSCAPE = """\
# Netscape HTTP Cookie File
#HttpOnly_wiki.example.org\tFALSE\t/\tTRUE\t0\tsid\tsecret
.example.org\tTRUE\t/\tFALSE\t4102444800\tlang\ten
other.org\tFALSE\t/\tFALSE\t0\tx\ty
# a comment
"""
EXTENSION = [
    {"domain": "wiki.example.org", "hostOnly": True, "name": "sid", "value": "secret", "path": "/", "secure": True},
    {"domain": ".example.org", "name": "lang", "value": "en", "path": "/", "expirationDate": 4102444800.5},
    {"domain": "other.org", "name": "x", "value": "y"},
]
PLAYWRIGHT = {"cookies": [{**row, "expires": -1} for row in EXTENSION], "origins": []}


@pytest.mark.parametrize("text", [NETSCAPE, json.dumps(EXTENSION), json.dumps(PLAYWRIGHT)])
def test_cookie_files_of_browsers_and_tools_are_read(text: str) -> None:
    cookies = parse_cookie_file(text)
    own = cookies_for_site(cookies, "https://wiki.example.org")
    assert CookieJar(own).header_for("https://wiki.example.org/", now=NOW) == "sid=secret; lang=en"
    assert CookieJar(cookies).header_for("https://www.example.org/", now=NOW) == "lang=en"
    assert [cookie.name for cookie in cookies_for_site(cookies, "http://wiki.example.org")] == ["lang"]


@pytest.mark.parametrize("text", ["", "hello", "[]", '{"cookies": 3}', "[3]", "{", "a\tb"])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_cookie_file(text)


def test_cookies_survive_a_file_and_hide_their_value() -> None:
    cookie = Cookie("sid", "secret", "example.org", "/x", is_host_only=False, is_secure=True, expires=NOW)
    assert cookie_of_fields(json.loads(json.dumps(cookie_fields(cookie)))) == cookie
    assert "secret" not in repr(cookie)


def test_a_deeply_nested_file_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_cookie_file("[" * 100_000)
