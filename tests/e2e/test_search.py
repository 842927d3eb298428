"""Search and the link graph on a site in many languages that changes and loses pages."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import evercrawl
from tests.e2e.test_cli import Place
from tests.worlds.demo_web import HOSTS, DemoWeb, Reply, serving

HOST = HOSTS[0]
LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 12
TALE = " ".join(f"The keeper of the lighthouse wrote line {number} into his book." for number in range(30))
PAGES = {
    "/": ("en", "Lighthouse index", "An index of lighthouses and the people who kept them.", ""),
    "/en": ("en", "Sailing ships", "Sailors were running their ships along the coast. " + TALE, ""),
    "/gale": ("en", "Gale warning", "A heavy gale is expected. All ferries stay in the harbour today.", ""),
    "/fr": ("fr", "École de voile", "Les élèves de l'école naviguaient près des îles bretonnes.", ""),
    "/de": ("de", "Häuser am Hafen", f"Die Häuser am Hafen wurden gebaut. {LONG_WORD} ist lang.", ""),
    "/ja": ("ja", "灯台の歴史", "日本の灯台は長い歴史を持っています。海を照らす光です。", ""),
    "/zh": ("zh", "港口", "这座港口的灯塔建于一百年前，船只在夜里靠它的光航行。", ""),
    "/ko": ("ko", "등대", "바닷가에 있는 학교에서 아이들이 등대를 그렸습니다.", ""),
    "/ar": ("ar", "المنارة", "تُضيء المَنارة البحر كل ليلة للسفن القادمة إلى الميناء.", ""),
    "/he": ("he", "המגדלור", "המגדלור עומד על החוף ומאיר את הים בלילה.", ""),
    "/ru": ("ru", "Маяки", "Старые маяки стояли на берегу моря, и корабли видели их свет.", ""),
    "/th": ("th", "ประภาคาร", "ประภาคารตั้งอยู่ริมทะเลและส่องแสงทุกคืน", ""),
    "/emoji": ("en", "Weather 🌊", "Today the sea was rough 🌊🌊 and the crew 👩‍👩‍👧 stayed at home 😀.", ""),
    "/noindex": ("en", "Hidden cove", "The smugglers hid their barrels here.", "<meta name=robots content=noindex>"),
}
COPIES = ("/copy-a", "/copy-b")


def html(lang: str, title: str, text: str, head: str = "", links: str = "") -> str:
    return (
        f"<!doctype html><html lang={lang}><head><meta charset=utf-8><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1><p>{text}</p></main><nav>{links}</nav></body></html>"
    )


class Coast(Place):
    """A site in many languages that the test rewrites."""

    def put(self, path: str, body: str, status: int = 200, location: str | None = None) -> None:
        self.web.replies[HOST, path] = Reply(status, body, location=location)

    def lines(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call(*arguments, "--json", code=code).splitlines()]

    def found(self, query: str, *more: str) -> list[str]:
        """Paths of the hits."""
        return [hit["url"].removeprefix(self.site) for hit in self.lines("search", query, *more)]


def _fill(coast: Coast) -> None:
    names = [*PAGES, *COPIES, "/missing", "/old", "/far"]
    links = "".join(f'<a href="{path}">a visit to {path.strip("/") or "home"}</a> ' for path in names)
    for path, (lang, title, text, head) in PAGES.items():
        coast.put(path, html(lang, title, text, head, links if path == "/" else '<a href="/">The Pharos list</a>'))
    for number, path in enumerate(COPIES):
        coast.put(path, html("en", f"Copy {number}", "Barnacle tale: " + TALE))
    coast.put("/old", "", 301, "/older")
    coast.put("/older", "", 302, "/en")
    coast.put("/far", "", 301, "/en")


@pytest.fixture(scope="module")
def coast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coast]:
    web = DemoWeb()
    with serving(web) as port:
        place = Coast(tmp_path_factory.mktemp("coast"), web, port)
        _fill(place)
        place.crawl(f"{place.site}/", "--depth", "3")
        yield place


def test_a_search_builds_a_complete_index(coast: Coast) -> None:
    assert coast.found("harbour")
    (state,) = coast.lines("index")
    assert state["documents"] == state["versions"] > len(PAGES)
    assert state["lag"] == 0


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("sail ship run", "/en"),
        ('"running their ships"', "/en"),
        ("ecole", "/fr"),
        ("école élève", "/fr"),
        ("Haus Hafen", "/de"),
        (LONG_WORD, "/de"),
        ("灯台 歴史", "/ja"),
        ("照らす光", "/ja"),
        ("灯塔", "/zh"),
        ("학교", "/ko"),
        ("المنارة", "/ar"),
        ("المنارة lang:ar", "/ar"),
        ("המגדלור", "/he"),
        ("маяк", "/ru"),
        ("ประภาคาร", "/th"),
        ("🌊", "/emoji"),
        ("👩‍👩‍👧 crew", "/emoji"),
        ("smugglers", "/noindex"),
        ("pharos list", "/"),
        ("title:gale", "/gale"),
        ("url:gale warning", "/gale"),
    ],
)
def test_every_language_is_found(coast: Coast, query: str, path: str) -> None:
    assert coast.found(query)[:1] == [path]


def test_non_matching_queries_find_nothing(coast: Coast) -> None:
    assert coast.found('"their running ships"') == []
    assert coast.found('"run their ships"') == []
    assert "/gale" not in coast.found("harbour -gale")
    assert coast.found("lighthouse lang:fr") == []
    assert coast.found("lighthouse site:library.test") == []
    assert coast.found(f"gale site:{HOST}") == ["/gale"]
    assert coast.found("gale changed:<2001-01-01") == []
    assert coast.found("gale changed:>1h") == ["/gale"]


def test_hits_have_the_fields_that_scripts_rely_on(coast: Coast) -> None:
    hit = coast.lines("search", "gale")[0]
    assert list(hit)[:8] == ["schema", "rank", "url", "title", "snippet", "score", "version", "fetched_at"]
    assert (hit["rank"], hit["title"], hit["version"], hit["gone"]) == (1, "Gale warning", 1, False)
    assert {hit["snippet"][start:end].lower() for start, end in hit["marks"]} == {"gale"}
    assert len(coast.lines("search", "the", "--limit", "2")) == 2


def test_near_duplicates_are_listed_once(coast: Coast) -> None:
    hits = coast.lines("search", "barnacle")
    assert [hit["url"].removeprefix(coast.site) in COPIES for hit in hits] == [True]
    assert hits[0]["near_duplicates"] == 1


def test_noindex_pages_can_be_excluded(coast: Coast) -> None:
    coast.env["EVERCRAWL_SEARCH__INCLUDE_NOINDEX"] = "false"
    try:
        assert coast.found("smugglers") == []
    finally:
        del coast.env["EVERCRAWL_SEARCH__INCLUDE_NOINDEX"]


def test_the_terminal_shows_safe_marked_snippets(coast: Coast) -> None:
    shown = coast.call("--color", "always", "search", "gale")
    assert "Gale warning" in shown
    assert "\x1b[1;33mgale" in shown
    assert "\x1b" not in coast.call("--color", "never", "search", "gale")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "the query is empty"),
        ("-gale", "only excludes"),
        ("changed:>soon x", "changed:>soon cannot be read"),
        ("sentiment:angry x", "pos, neg or neutral"),
        ("site: x", "needs a value"),
        ("as-of:never x", "as-of:never cannot be read"),
        ("\udcff\udcfe", "no word that can be searched"),
        ('"', "the query is empty"),
        ("x" * 10_000, "the limit is 2000"),
    ],
)
def test_an_invalid_query_is_a_clear_error(coast: Coast, query: str, said: str) -> None:
    process = coast.start("search", "--", query)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said in err
    assert "Traceback" not in err


def test_several_collections_are_searched_and_broken_ones_reported(coast: Coast, tmp_path: Path) -> None:
    own = coast.folder / "site.evercrawl"
    with _silent_server() as slow:
        process = coast.start(
            "search", "gale", "--in", str(own), "--in", str(tmp_path / "none"), "--in", slow, "--timeout", "2", "--json"
        )
        began = time.monotonic()
        out, err = process.communicate(timeout=60)
        took = time.monotonic() - began
    (hit,) = [json.loads(line) for line in out.splitlines()]
    assert hit["title"] == "Gale warning"
    assert hit["source"] == str(own)
    assert "is not a collection" in err
    assert "no answer within 2 s" in err or "cannot be reached" in err
    assert took < 20


class _silent_server:
    """A port that takes connections and never answers."""

    def __enter__(self) -> str:
        code = (
            "import socket, time; s = socket.create_server(('127.0.0.1', 0));"
            "print(s.getsockname()[1], flush=True); time.sleep(60)"
        )
        self.process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        return f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


# The link graph


def test_links_of_a_page_go_both_ways(coast: Coast) -> None:
    (found,) = coast.lines("links", f"{coast.site}/gale")
    assert {end["url"] for end in found["in"]} == {f"{coast.site}/"}
    assert found["in"][0]["text"] == "a visit to gale"
    assert [end["url"] for end in found["out"]] == [f"{coast.site}/"]
    assert 0 < found["pagerank"] < 1
    assert found["credit"] >= 0
    assert found["clicks"] == 1
    home = coast.lines("links", f"{coast.site}/")[0]
    assert home["pagerank"] > found["pagerank"]
    assert {end["text"] for end in home["in"]} == {"The Pharos list"}
    coast.call("links", f"{coast.site}/nowhere", code=2)


def test_bad_links_are_found_on_their_pages(coast: Coast) -> None:
    found = {line["target"].removeprefix(coast.site): line for line in coast.lines("links", "--broken", code=1)}
    assert {path: line["problem"] for path, line in found.items()} == {
        "/missing": "dead",
        "/old": "chain",
        "/far": "redirect",
    }
    assert found["/missing"]["status"] == 404
    assert found["/missing"]["url"] == f"{coast.site}/"
    assert found["/old"]["chain"] == [f"{coast.site}/older", f"{coast.site}/en"]
    assert found["/missing"]["text"] == "a visit to missing"
    assert len(coast.lines("links", "--dead", code=1)) == 1


def test_the_graph_is_summarised_exported_and_drawn(coast: Coast, tmp_path: Path) -> None:
    (stats,) = coast.lines("graph")
    assert stats["pages"] >= len(PAGES)
    assert stats["by_depth"][0] == 1
    assert coast.lines("graph", "top", "--limit", "1")[0]["url"] == f"{coast.site}/"
    coast.call("graph", "export", "graphml", "--to", str(tmp_path / "g.graphml"))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    graph = ElementTree.parse(tmp_path / "g.graphml").getroot().find(f"{space}graph")
    assert graph is not None
    assert len(graph.findall(f"{space}node")) == stats["pages"]
    assert len(graph.findall(f"{space}edge")) == stats["links"]
    coast.call("graph", "export", "graphml", "--to", str(tmp_path / "g.graphml"), code=2)
    coast.call("graph", "export", "parquet", "--to", str(tmp_path / "g.parquet"))
    assert (tmp_path / "g.pages.parquet").exists()
    picture = ElementTree.fromstring(coast.call("graph", "draw"))
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "gale" in texts, texts


# Time


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[Coast]:
    web = DemoWeb()
    with serving(web) as port:
        place = Coast(tmp_path, web, port)
        _fill(place)
        place.crawl(f"{place.site}/", "--include", f"{HOST}:{port}/(gale|en)?$")
        yield place


def test_a_removed_word_is_found_at_the_earlier_date_only(changing: Coast) -> None:
    time.sleep(1.1)
    before = datetime.now(UTC)
    time.sleep(1.1)
    calm = html("en", "Calm weather", "The sea is calm. All ferries leave the harbour today.")
    changing.put("/gale", calm)
    changing.put("/en", "", 404)
    changing.crawl("--refresh")
    then = f"{before:%Y-%m-%dT%H:%M:%SZ}"
    assert changing.found("expected gale") == []
    assert changing.found("calm ferries") == ["/gale"]
    assert changing.found("expected gale", "--as-of", then) == ["/gale"]
    assert changing.found(f"expected gale as-of:{then}") == ["/gale"]
    assert changing.found("calm ferries", "--as-of", then) == []
    assert changing.found("gale", "--as-of", "2001-01-01") == []
    old = changing.lines("search", "expected gale", "--as-of", then)[0]
    assert (old["version"], old["title"]) == (1, "Gale warning")
    gone = changing.lines("search", "sailors")[0]
    assert gone["gone"] is True
    assert changing.lines("search", "sailors", "--as-of", then)[0]["gone"] is False
    assert "[gone]" in changing.call("search", "sailors")
    _check_rebuild(changing, then)


def _check_rebuild(changing: Coast, then: str) -> None:
    """An index made anew finds the same; scores may differ, for versions that were replaced count no more."""
    asked = ("calm ferries", "sailors", f"gale as-of:{then}", "the")
    before = [_without_scores(changing.lines("search", query)) for query in asked]
    (state,) = changing.lines("index", "rebuild")
    assert state["documents"] == state["versions"] == 4
    assert [_without_scores(changing.lines("search", query)) for query in asked] == before


def _without_scores(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(({**hit, "score": 0, "rank": 0} for hit in hits), key=lambda hit: str(hit["url"]))


def test_a_restored_page_is_not_gone(changing: Coast) -> None:
    body = changing.web.replies[HOST, "/en"]
    changing.put("/en", "", 404)
    changing.crawl("--refresh")
    assert changing.lines("search", "sailors")[0]["gone"] is True
    changing.web.replies[HOST, "/en"] = body
    changing.crawl(f"{changing.site}/en", "--refresh")
    with evercrawl.open(changing.folder / "site.evercrawl") as collection:
        found = collection.search("sailors")
        assert collection.why(f"{changing.site}/en").outcome is not None
    page = changing.why("/en")
    assert found.hits[0].is_gone is (page["reason"] in ("not_found", "gone"))


def test_pruned_versions_leave_the_index(changing: Coast) -> None:
    for number in range(3):
        changing.put("/gale", html("en", "Gale", f"Edition{number} of the weather report for all ferries. {TALE}"))
        changing.crawl("--refresh")
    assert changing.found("edition2") == ["/gale"]
    assert changing.lines("index")[0]["documents"] == 6
    changing.call("store", "prune", "--keep", "yearly:1", "--yes")
    kept = changing.lines("history", f"{changing.site}/gale")
    changing.found("edition2")
    (state,) = changing.lines("index")
    assert state["documents"] == state["versions"]
    assert changing.found("edition2") == ["/gale"]
    assert len(kept) < 4
