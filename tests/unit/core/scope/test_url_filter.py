from __future__ import annotations

import pytest

from evercrawl.core.scope.url_filter import (
    MAX_NESTING,
    AllFilter,
    AnyFilter,
    DomainFilter,
    NotFilter,
    PatternFilter,
    PrefixFilter,
    SchemeFilter,
    UrlFilter,
    parse_filter,
)
from evercrawl.errors import ConfigError

PAGE = "https://www.example.org/old/page.html"


@pytest.mark.parametrize(
    ("one", "accepts"),
    [
        (DomainFilter("example.org"), True),
        (DomainFilter("Example.ORG"), True),
        (DomainFilter(".example.org"), True),
        (DomainFilter("www.example.org"), True),
        (DomainFilter("ample.org"), False),
        (DomainFilter("sub.www.example.org"), False),
        (PrefixFilter("https://www.example.org/old/"), True),
        (PrefixFilter("http://"), False),
        (SchemeFilter("HTTPS"), True),
        (SchemeFilter("http"), False),
        (PatternFilter(r"\.html$"), True),
        (PatternFilter(r"^/old"), False),
        (AllFilter((SchemeFilter("https"), PrefixFilter("https://www"))), True),
        (AllFilter((SchemeFilter("http"), PrefixFilter("https://www"))), False),
        (AnyFilter((SchemeFilter("http"), PrefixFilter("https://www"))), True),
        (NotFilter(SchemeFilter("https")), False),
        (SchemeFilter("https") & ~DomainFilter("example.net") | PatternFilter("x"), True),
    ],
)
def test_what_filters_accept(one: UrlFilter, accepts: bool):
    assert one.accepts(PAGE) is accepts


def test_a_domain_is_compared_in_its_ascii_form():
    assert DomainFilter("bücher.example").accepts("https://xn--bcher-kva.example/")


@pytest.mark.parametrize("name", ["", "a b", "example.org/path", "http://x.org"])
def test_what_is_no_domain_is_named(name: str):
    with pytest.raises(ConfigError, match="is not a domain name"):
        DomainFilter(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("domain(example.org)", DomainFilter("example.org")),
        ("  protocol( https ) ", SchemeFilter("https")),
        ("prefix('https://x.org/a(b')", PrefixFilter("https://x.org/a(b")),
        (r"pattern('\.html$')", PatternFilter(r"\.html$")),
        (r"pattern(\.(html|htm)$)", PatternFilter(r"\.(html|htm)$")),
        (r'pattern("it\"s")', PatternFilter('it"s')),
        ("NOT protocol(http)", NotFilter(SchemeFilter("http"))),
        (
            "domain(a.org) and not protocol(http) or pattern(x)",
            AnyFilter((AllFilter((DomainFilter("a.org"), NotFilter(SchemeFilter("http")))), PatternFilter("x"))),
        ),
        (
            "domain(a.org) and (protocol(http) or pattern(x))",
            AllFilter((DomainFilter("a.org"), AnyFilter((SchemeFilter("http"), PatternFilter("x"))))),
        ),
        ("not not protocol(http)", NotFilter(NotFilter(SchemeFilter("http")))),
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
        ("not " * (MAX_NESTING + 1) + "pattern(x)", "inside each other"),
    ],
)
def test_errors_say_where_and_what(text: str, message: str):
    with pytest.raises(ConfigError, match=message):
        parse_filter(text)
