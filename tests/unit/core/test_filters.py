from __future__ import annotations

import pytest

from evercrawl.core.filter_expression import MOST_NESTING, parse_filter
from evercrawl.core.filters import And, Domain, Not, Or, Pattern, Prefix, Protocol, UrlFilter
from evercrawl.errors import ConfigError

PAGE = "https://www.example.org/old/page.html"


@pytest.mark.parametrize(
    ("one", "accepts"),
    [
        (Domain("example.org"), True),
        (Domain("Example.ORG"), True),
        (Domain(".example.org"), True),
        (Domain("www.example.org"), True),
        (Domain("ample.org"), False),
        (Domain("sub.www.example.org"), False),
        (Prefix("https://www.example.org/old/"), True),
        (Prefix("http://"), False),
        (Protocol("HTTPS"), True),
        (Protocol("http"), False),
        (Pattern(r"\.html$"), True),
        (Pattern(r"^/old"), False),
        (And((Protocol("https"), Prefix("https://www"))), True),
        (And((Protocol("http"), Prefix("https://www"))), False),
        (Or((Protocol("http"), Prefix("https://www"))), True),
        (Not(Protocol("https")), False),
        (Protocol("https") & ~Domain("example.net") | Pattern("x"), True),
    ],
)
def test_what_filters_accept(one: UrlFilter, accepts: bool):
    assert one.accepts(PAGE) is accepts


def test_a_domain_is_compared_in_its_ascii_form():
    assert Domain("bücher.example").accepts("https://xn--bcher-kva.example/")


@pytest.mark.parametrize("name", ["", "a b", "example.org/path", "http://x.org"])
def test_what_is_no_domain_is_named(name: str):
    with pytest.raises(ConfigError, match="is not a domain name"):
        Domain(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("domain(example.org)", Domain("example.org")),
        ("  protocol( https ) ", Protocol("https")),
        ("prefix('https://x.org/a(b')", Prefix("https://x.org/a(b")),
        (r"pattern('\.html$')", Pattern(r"\.html$")),
        (r"pattern(\.(html|htm)$)", Pattern(r"\.(html|htm)$")),
        (r'pattern("it\"s")', Pattern('it"s')),
        ("NOT protocol(http)", Not(Protocol("http"))),
        (
            "domain(a.org) and not protocol(http) or pattern(x)",
            Or((And((Domain("a.org"), Not(Protocol("http")))), Pattern("x"))),
        ),
        (
            "domain(a.org) and (protocol(http) or pattern(x))",
            And((Domain("a.org"), Or((Protocol("http"), Pattern("x"))))),
        ),
        ("not not protocol(http)", Not(Not(Protocol("http")))),
    ],
)
def test_expressions(text: str, expected: UrlFilter):
    assert parse_filter(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"at character 1 expected domain\(…\).* found the end"),
        ("hostname(a)", r"at character 1 expected domain\(…\).* found 'hostname'"),
        ("domain example.org", r"at character 8 expected \( after domain, found 'example'"),
        ("domain(a.org) domain(b.org)", r"at character 15 expected and, or, or the end, found 'domain'"),
        ("domain(a.org) and", r"at character 18 expected domain\(…\).* found the end"),
        ("domain(a.org", r"expected \) for the bracket at character 7, found the end"),
        ("(domain(a.org)", r"at character 15 expected and, or, or \), found the end"),
        ("domain(a.org))", r"at character 14 expected and, or, or the end, found '\)'"),
        ("prefix()", r"at character 8 expected something in the brackets of prefix, found nothing"),
        ("pattern('(')", r"'\(' is not a regular expression"),
        ("not " * (MOST_NESTING + 1) + "pattern(x)", "inside each other"),
    ],
)
def test_errors_say_where_and_what(text: str, message: str):
    with pytest.raises(ConfigError, match=message):
        parse_filter(text)
