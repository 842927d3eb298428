"""Index keys as the tools of the Internet Archive build them; expected values come from `surt` 0.3.1."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.url import MAX_URL_CHARS, canonical, registrable_domain, surt

SESSION = "0123456789abcdefghijklemopqrstuv"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        (f"http://WWW2.Example.org:80/A/B?b=2&a=1&PHPSESSID={SESSION}", "org,example)/a/b?&a=1&b=2"),
        ("https://www.example.org:443/", "org,example)/"),
        ("http://example.org:8080/x", "org,example:8080)/x"),
        ("https://example.org:80/", "org,example:80)/"),
        ("http://127.0.0.1/a", "1,0,0,127)/a"),
        ("http://[2001:db8::1]:81/a", "2001:db8::1:81)/a"),
        ("http://example.org", "org,example)/"),
        ("http://example.org/?", "org,example)/"),
        ("http://example.org/a//b///c", "org,example)/a/b/c"),
        ("http://example.org/a/./b/../c", "org,example)/a/c"),
        ("http://example.org/a%252Fb", "org,example)/a/b"),
        ("http://example.org/%7Efoo/%C3%A9", "org,example)/~foo/%c3%a9"),
        ("http://example.org/a%20b", "org,example)/a%20b"),
        ("http://example.org/?q=%26x&b=1", "org,example)/?b=1&q=&x"),
        ("http://example.org/?b=1&a=2&b=0&A=3", "org,example)/?a=2&a=3&b=0&b=1"),
        ("http://example.org/?a-b=1&a=1&a", "org,example)/?a&a=1&a-b=1"),
        ("http://user:pw@example.org/x", "org,example)/x"),
        ("http://www.example.co.uk/", "uk,co,example)/"),
        ("http://www1.www2.example.org/", "org,example,www2)/"),
        ("http://www/", "www)/"),
        ("http://wwwx.example.org/", "org,example,wwwx)/"),
        ("http://example.org./x", "org,example)/x"),
        ("http://example.org/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx", "org,example)/mileg.aspx"),
        ("http://example.org/a/?b=1", "org,example)/a?b=1"),
        ("http://example.org/a/b/", "org,example)/a/b"),
        ("http://example.org//", "org,example)/"),
        (f"http://example.org/x?jsessionid={SESSION}", "org,example)/x"),
        (f"http://example.org/?one=two&phpsessid={SESSION}", "org,example)/?&one=two"),
        (f"http://example.org/?sid={SESSION}&x=y", "org,example)/?x=y"),
        (f"http://example.org/?sid={SESSION}&xsid={SESSION}", f"org,example)/?sid={SESSION}&x"),
        ("http://example.org/?CFID=1169580&CFTOKEN=48630702&dt=1", "org,example)/?dt=1"),
        ("http://example.org/%", "org,example)/%25"),
        ("http://example.org/%23", "org,example)/%23"),
        ("http://example.org/?x=%5B%5D", "org,example)/?x=[]"),
    ],
)
def test_surt_matches_other_tools(url: str, key: str) -> None:
    name = canonical(url)
    assert name is not None
    assert surt(name) == key


@given(st.text(alphabet="aA.%/?&=25F é\x00#;", max_size=40))
def test_surt_is_one_ascii_word(tail: str) -> None:
    name = canonical("http://example.org/" + tail)
    if name is not None:
        key = surt(name)
        assert key.startswith("org,example)/")
        assert key.isascii()
        assert key.isprintable()
        assert " " not in key


def test_every_escape_is_normal():
    unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    for code in range(0x21, 0x100):
        normal = chr(code) if chr(code) in unreserved else f"%{code:02X}"
        for written in (f"%{code:02x}", f"%{code:02X}", f"%{code:02x}".replace("f", "F")):
            assert canonical(f"http://a.example/?{written}") == f"http://a.example/?{normal}"


@pytest.mark.parametrize(
    ("written", "normal"),
    [("%%34%31", "%%341"), ("%4%31", "%4%31"), ("%%41", "%%41"), ("%%%34%31", "%%%341"), ("%g%41", "%gA")],
)
def test_decoding_never_forms_another_escape(written: str, normal: str) -> None:
    name = canonical(f"http://a.example/?{written}")
    assert name == f"http://a.example/?{normal}"
    assert canonical(name) == name


def test_the_canonical_form_of_stray_percent_signs_is_its_own() -> None:
    for parts in product(("%", "3", "1", "e", "g", "/", ".", "%34", "%2e", "%e4"), repeat=4):
        name = canonical("http://a.example/" + "".join(parts))
        assert name is not None
        assert canonical(name) == name


def test_a_url_longer_than_any_server_accepts_has_no_canonical_form() -> None:
    start = "http://a.example/"
    longest = start + "a" * (MAX_URL_CHARS - len(start))
    assert canonical(longest) == longest
    assert canonical(longest + "#" + "b" * MAX_URL_CHARS) == longest
    assert canonical(longest + "a") is None


def test_registrable_domains_are_those_of_the_public_suffix_list():
    from publicsuffixlist import PublicSuffixList

    whole = PublicSuffixList()
    ends = ["com", "co.uk", "github.io", "kobe.jp", "city.kobe.jp", "x.kobe.jp", "xn--p1ai", "xn--55qx5d.cn", "nowhere"]
    for host in [f"{labels}{end}" for end in ends for labels in ("", "a.", "b.a.", "c.b.a.", "xn--zz9.", "A.")]:
        assert registrable_domain(host) == (whole.privatesuffix(host) or host)
