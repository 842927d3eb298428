"""What publishers say about the use of their pages, wherever they say it."""

from __future__ import annotations

import pytest

from evercrawl.core.document.html import parse_document
from evercrawl.core.robots.robots_txt import parse_robots
from evercrawl.core.usage_terms import combine_terms, header_terms, parse_preferences, rules_terms, tdmrep_terms
from evercrawl.model.document import UsageTerms, terms_from, usage_text
from evercrawl.model.settings import ParseSettings

URL = "https://a.example/news/1"
HTML = (("Content-Type", "text/html"),)
CC = "https://creativecommons.org/licenses/by/4.0/"


def of_page(html: str) -> dict[str, object]:
    return parse_document(URL, HTML, html.encode(), agent="evercrawl/1", limits=ParseSettings()).terms.summary()


def of_robots(text: str, path: str, agent: str = "evercrawl") -> dict[str, object]:
    lines = parse_robots(text.encode(), agent=agent).usage_of(path)
    summary = rules_terms([(line.value, line.source) for line in lines]).summary()
    summary.pop("sources", None)
    return summary


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("train-ai=n", {"ai-train": "n"}),
        ("train-ai=y, search=n", {"ai-train": "y", "search": "n"}),
        ("ai-use=n;exception=x, unknown=n, search", {"ai-input": "n"}),
        ("search=yes,ai-train=no,ai-input=yes,use=reference", {"search": "y", "ai-train": "n", "ai-input": "y"}),
        ("TRAIN-AI = N", {"ai-train": "n"}),
        ("train-ai=maybe, =, ,;", {}),
        ("train-ai=y, train-ai=n", {"ai-train": "n"}),
    ],
)
def test_preferences_are_read_in_both_vocabularies(value: str, said: dict[str, str]):
    summary = UsageTerms(parse_preferences(value, "header Content-Usage")).summary()
    summary.pop("sources", None)
    assert summary == said


ROBOTS = """User-agent: *
Allow: /
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y
Content-Usage: /*.pdf$ train-ai=n, search=n
Content-Signal: ai-input=no

User-agent: ExampleBot
Content-usage: train-ai=y # comment
"""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/test", {"ai-train": "n", "ai-input": "n"}),
        ("/ai-ok/test", {"ai-train": "y", "ai-input": "n"}),
        ("/x.pdf", {"ai-train": "n", "search": "n", "ai-input": "n"}),
        ("/x.pdf?a", {"ai-train": "n", "ai-input": "n"}),
    ],
)
def test_the_longest_path_of_robots_txt_decides(path: str, said: dict[str, str]):
    assert of_robots(ROBOTS, path) == said
    assert of_robots(ROBOTS, path, agent="examplebot") == {"ai-train": "y"}


def test_equal_paths_combine_to_the_stricter():
    assert of_robots("User-agent: *\nContent-Usage: train-ai=y\nContent-Usage: train-ai=n", "/") == {"ai-train": "n"}


def test_lines_about_usage_change_no_rule():
    plain = parse_robots(b"User-agent: a\nUser-agent: evercrawl\nDisallow: /x", agent="evercrawl")
    mixed = parse_robots(
        b"User-agent: a\nContent-Signal: search=no\nUser-agent: evercrawl\nDisallow: /x", agent="evercrawl"
    )
    for path in ("/x", "/y"):
        assert plain.verdict(path).allowed == mixed.verdict(path).allowed
    assert mixed.usage == ()


def test_header_fields_are_read():
    headers = (
        ("Content-Usage", "train-ai=n"),
        ("X-Robots-Tag", "otherbot: noai, noindex"),
        ("X-Robots-Tag", "noimageai"),
        ("TDM-Reservation", "1"),
        ("TDM-Policy", "/policy.json"),
        ("Link", f'<{CC}>; rel="license", </next>; rel=next'),
    )
    terms = header_terms(URL, headers, agent="evercrawl")
    assert terms.summary() == {
        "ai-train": "n",
        "ai-train-images": "n",
        "tdm": "n",
        "licences": [CC],
        "tdm_policies": ["https://a.example/policy.json"],
        "sources": ["header Content-Usage: train-ai=n", "header X-Robots-Tag: noimageai", "header tdm-reservation: 1"],
    }
    assert header_terms(URL, (("X-Robots-Tag", "evercrawl: noai"),), agent="evercrawl").refusal("ai-train")
    assert not header_terms(URL, (("tdm-reservation", "yes"), ("tdm-policy", "/x")), agent="evercrawl")


def test_a_page_says_it_in_its_elements():
    assert of_page('<meta name=robots content="noindex, NoAI">')["ai-train"] == "n"
    assert of_page('<meta name=tdm-reservation content=1><meta name=tdm-policy content="/p">')["tdm_policies"] == [
        "https://a.example/p"
    ]
    assert of_page('<meta name=tdm-reservation content=0><meta name=tdm-policy content="/p">') == {
        "tdm": "y",
        "sources": ["meta tdm: 0"],
    }
    assert of_page(f'<p>Text <a rel="nofollow license" href="{CC}">CC</a>')["licences"] == [CC]
    assert of_page('<link rel=license href="/terms">')["licences"] == ["https://a.example/terms"]
    assert of_page(f'<script type="application/ld+json">{{"@graph": [{{"license": {{"@id": "{CC}"}}}}]}}</script>') == {
        "licences": [CC]
    }
    assert of_page('<meta name="DC.rights" content="All  rights reserved">')["licences"] == ["All rights reserved"]
    assert of_page("<p>Our driving licence costs 40 euros. noai") == {}
    assert of_page('<script type="application/ld+json">{"license": [</script>') == {}
    assert of_page('<meta name="Evercrawl" content="noai">')["ai-train"] == "n"


@pytest.mark.parametrize(
    "element",
    [
        f'<a title="x > y" href="{CC}" rel="nofollow license">CC</a>',
        f"<a rel = 'License noopener' href={CC}>CC</a>",
        f"<A REL=LICENSE HREF={CC}>CC</A>",
        f"<area rel=license href={CC}>",
        f'<link\nrel\n=\n"alternate\nlicense" href="{CC}">',
        f'<span itemprop="license" content="{CC}">free</span>',
    ],
)
def test_a_licence_is_found_in_every_way_of_writing_it_and_not_in_text(element: str):
    talk = "<p>A license is a license. 'rel' is what \"licences\" use: x = license; <b title='a license'>b</b>"
    assert of_page(talk) == {}
    assert of_page(talk + element)["licences"] == [CC]
    assert of_page(talk * 40 + element)["licences"] == [CC]


def test_deeply_nested_licences_are_ignored():
    nested = "[" * 600 + "]" * 600
    assert of_page(f'<script type="application/ld+json">{{"license": {nested}}}</script>') == {}


def test_tdmrep_json_decides_by_its_first_matching_rule():
    body = b"""[{"location": "/news/*.html$", "tdm-reservation": 0},
        {"location": "/news/", "tdm-reservation": 1, "tdm-policy": "/tdm.json"}, {"location": 3}, "x"]"""
    site = "https://a.example"
    assert tdmrep_terms(site + "/news/a.html", body).preference("tdm") is True
    assert tdmrep_terms(site + "/news/a.htmlx", body).policies == ("https://a.example/tdm.json",)
    assert not tdmrep_terms(site + "/", body)
    assert not tdmrep_terms(site + "/", "{")


def test_refusals_count_for_the_uses_that_they_include():
    terms = header_terms(URL, (("tdm-reservation", "1"),), agent="x")
    assert terms.refusal("ai-train") == "header tdm-reservation: 1"
    assert terms.refusal("search") is None
    assert UsageTerms().refusal("ai-train") is None
    assert terms_from(terms.as_dict()) == terms
    assert combine_terms(terms, terms) == terms
    assert usage_text(terms.summary()) == "tdm: no (header tdm-reservation: 1)"
    assert usage_text({}) == ""
