"""Search in the interface: facets with counts, as of a date, and a feed of any search."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from typing import Any

import pytest

from evercrawl.core.document.media_type import media_kind
from evercrawl.core.search.query_parser import parse_query
from evercrawl.core.search.ranking import FacetRow, count_changed, count_kinds, count_sites, url_host
from evercrawl.errors import ConfigError
from tests.web.conftest import Interface

ATOM = "{http://www.w3.org/2005/Atom}"


def _found(web: Interface, **asked: str) -> dict[str, Any]:
    return web.operator.get("/search.json", params={"limit": "100", **asked}).json()["found"]


def _counts(found: dict[str, Any], name: str) -> dict[str, int]:
    return {one["value"]: one["count"] for one in found["facets"][name]}


def test_facet_counts_match_their_results(web: Interface):
    found = _found(web, q="office")
    sites = _counts(found, "sites")
    assert len(sites) == 3
    assert sum(sites.values()) == found["total"] == found["facets"]["counted"]
    for host, count in sites.items():
        narrowed = _found(web, q="office", site=host)
        assert narrowed["total"] == count
        assert all(hit["url"].startswith(f"https://{host}/") for hit in narrowed["hits"])
    for lang, count in _counts(found, "langs").items():
        assert _found(web, q="office", lang=lang)["total"] == count
    for span, count in _counts(found, "changed").items():
        narrowed = _found(web, q="office", changed=f">{span}")["total"]
        # Pages leave the span while the test runs: the history visits every page from exactly one day ago.
        later = _counts(_found(web, q="office"), "changed").get(span, 0)
        assert later <= narrowed <= count
    assert _counts(found, "kinds") == {"html": found["total"]}
    assert _found(web, q="office", type="html")["total"] == found["total"]
    assert _found(web, q="office", type="pdf")["total"] == 0
    assert sum(_counts(found, "tones").values()) == found["facets"]["judged"]


def test_facets_work_without_scripts(web: Interface):
    text = web.operator.get("/search?q=office").text
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/search\?[^"]*site=[^"]*)"', text)]
    assert links
    chosen = web.operator.get(links[0]).text
    assert 'aria-current="true"' in chosen
    assert web.operator.get("/search?q=office&site=a%20b").status_code == 400
    assert web.operator.get("/search?q=office&type=exe").status_code == 400


def test_facets_of_an_earlier_time(web: Interface):
    now, then = _found(web, q="office"), _found(web, q="office", as_of="3d")
    assert then["total"]
    assert max(hit["fetched_at"] for hit in then["hits"]) < max(hit["fetched_at"] for hit in now["hits"])


def test_a_search_is_a_feed(web: Interface):
    answer = web.operator.get("/search.atom", params={"q": "office", "site": "harbour.example"})
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ET.fromstring(answer.content)
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) >= 2
    moments = [entry.findtext(f"{ATOM}updated") or "" for entry in entries]
    assert moments == sorted(moments, reverse=True)
    assert feed.findtext(f"{ATOM}updated") == moments[0]
    link = feed.find(f"{ATOM}link[@rel='self']")
    assert link is not None
    assert "site=harbour.example" in link.attrib["href"]
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids)
    hostile = web.operator.get("/search.atom", params={"q": "attack harbour"}).text
    assert "pwned" in ET.fromstring(hostile).findtext(f"{ATOM}entry/{ATOM}title", "")
    assert "\u202e" not in hostile
    assert web.operator.get("/search.atom").status_code == 400
    assert web.anybody.get("/search.atom?q=x").status_code == 401


@pytest.mark.parametrize(
    ("media", "kind"),
    [
        ("text/html; charset=utf-8", "html"),
        (None, "html"),
        ("application/xhtml+xml", "html"),
        ("Application/PDF", "pdf"),
        ("application/atom+xml", "feed"),
        ("text/plain", "text"),
        ("image/svg+xml", "image"),
        ("video/mp4", "other"),
        ("<script>", "other"),
    ],
)
def test_types_have_short_names(media: str | None, kind: str):
    assert media_kind(media) == kind


def test_counting():
    now = datetime(2026, 11, 15, tzinfo=UTC)
    rows = [
        FacetRow("https://a.example:8080/x?y", "en", 0, None),
        FacetRow("https://a.example:8080", None, int(now.timestamp() * 1e6), "image/png"),
        FacetRow("https://b.example?x", "en", 0, "text/html"),
    ]
    assert [(one.value, one.count) for one in count_sites(rows)] == [("a.example:8080", 2), ("b.example", 1)]
    assert [(one.value, one.count) for one in count_kinds(rows)] == [("html", 2), ("image", 1)]
    assert [one.count for one in count_changed(rows, now=now)] == [1, 1, 1, 1]
    assert url_host("https://B.example/") == "b.example"


def test_a_query_names_types():
    now = datetime(2026, 11, 15, tzinfo=UTC)
    assert parse_query("tide type:PDF type:html", now=now).kinds == ("pdf", "html")
    assert parse_query("type:pdf", now=now).groups == ()
    with pytest.raises(ConfigError, match="type:exe"):
        parse_query("tide type:exe", now=now)
