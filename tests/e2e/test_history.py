"""Every command that reads history, on a site that changes between crawls."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import evercrawl
from tests.e2e.test_cli import Place
from tests.unit.collection.test_removal import holds
from tests.worlds.demo_web import HOSTS, DemoWeb, Reply, serving

HOST = HOSTS[0]
STORY = " ".join(f"The lighthouse keeper wrote line {number} into the book." for number in range(40))
PAGES = 4


def page(number: int, *, price: int = 30, footer: str = "Open from nine to five.", more: str = "") -> str:
    links = "".join(f'<a href="/p{other}">page {other} of the harbour</a> ' for other in range(PAGES))
    return (
        f"<!doctype html><html lang=en><title>Page {number}</title><body><main><h1>Harbour {number}</h1>"
        f"<p>{STORY}</p><p>The ferry number {number} costs {price} euros for all, and children ride free.</p>"
        f"{more}<p>{footer} This is written below every page of the harbour.</p></main><nav>{links}</nav>"
    )


class Harbour(Place):
    """A site of four pages that the test rewrites."""

    def put(self, number: int, body: str) -> None:
        self.web.replies[HOST, f"/p{number}"] = Reply(200, body)

    def refresh(self) -> dict[str, Any]:
        return self.crawl("--refresh")

    def lines(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call(*arguments, "--json", code=code).splitlines()]

    def url(self, number: int) -> str:
        return f"{self.site}/p{number}"


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Harbour]:
    web = DemoWeb()
    with serving(web) as port:
        place = Harbour(tmp_path, web, port)
        for number in range(PAGES):
            place.put(number, page(number))
        place.crawl(place.url(0), "--include", r"/p\d")
        yield place


def test_a_reverted_page_has_three_versions(harbour: Harbour) -> None:
    for price in (25, 30, 30):
        harbour.put(1, page(1, price=price))
        harbour.refresh()
    versions = harbour.lines("history", harbour.url(1))
    assert [version["version"] for version in versions] == [1, 2, 3]
    assert versions[0]["digest"] == versions[2]["digest"] != versions[1]["digest"]
    assert [version["class"] for version in versions] == [None, "content", "content"]
    assert [version["status"] for version in versions] == [200, 200, 200]
    assert 0 < versions[1]["size"] < 0.1
    assert versions[0]["changed_after"] is None
    assert versions[1]["changed_after"] == versions[0]["seen_until"]
    assert versions[0]["seen_at"] <= versions[1]["changed_after"] <= versions[1]["seen_at"]
    assert versions[2]["seen_until"] >= versions[2]["seen_at"]
    assert "v3" in harbour.call("history", harbour.url(1))
    outcomes = [line["outcome"] for line in harbour.lines("history", harbour.url(1), "--visits")[3:]]
    assert outcomes == ["fetched", "fetched", "fetched", "unchanged"]
    assert "30 euros" in harbour.call("show", harbour.url(1))
    assert "25 euros" in harbour.call("show", harbour.url(1) + "@-1")
    assert "30 euros" in harbour.call("show", harbour.url(1) + "@v1", "--html")
    assert harbour.call("diff", harbour.url(1), "v1", "v3", "--exit-code", "--stat").count("+0") == 3
    _check_archive(harbour.folder, revisits=1)


def _check_archive(folder: Path, *, revisits: int) -> None:
    """Identical content is a revisit record, in files that an independent reader finds sound."""
    from warcio.archiveiterator import ArchiveIterator

    found = 0
    for path in (folder / "site.evercrawl").rglob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                record.content_stream().read()
                assert record.digest_checker.passed is not False
                found += record.rec_type == "revisit" and "identical" in record.rec_headers["WARC-Profile"]
    assert found >= revisits


def test_show_accepts_versions_and_dates(harbour: Harbour) -> None:
    first = datetime.now(UTC)
    time.sleep(1.1)
    harbour.put(2, page(2, price=99))
    harbour.refresh()
    url = harbour.url(2)
    assert "99 euros" in harbour.call("show", url)
    assert "30 euros" in harbour.call("show", f"{url}@{first:%Y-%m-%dT%H:%M:%SZ}")
    assert "99 euros" in harbour.call("show", f"{url}@{datetime.now(UTC):%Y-%m-%d}")
    assert json.loads(harbour.call("show", f"{url}@-1", "--json"))["version"] == 1
    assert harbour.call("show", f"{url}@v1", "--html") == page(2)
    assert harbour.call("show", f"{url}@v1", "--raw").startswith("HTTP/1.1 200")
    assert "content-type: text/html" in harbour.call("show", url, "--headers").lower()
    assert harbour.url(3) in harbour.call("show", url, "--links")
    harbour.call("show", f"{url}@v9", code=2)
    harbour.call("show", f"{url}@2001-01-01", code=2)
    harbour.call("show", f"{harbour.site}/nothing", code=2)


def test_diff_shows_words_links_and_metadata(harbour: Harbour) -> None:
    url = harbour.url(1)
    harbour.call("diff", url, "--exit-code")
    body = page(1, price=25, more="<p>A new pier is open now, see <a href='/pier'>the pier</a> for it.</p>")
    harbour.put(1, body.replace("<title>Page 1", "<title>The first page"))
    harbour.refresh()
    shown = harbour.call("diff", url)
    assert "costs [-30-]{+25+} euros" in shown
    assert "+ A new pier is open now" in shown
    assert "- title: Page 1" in shown
    assert f"+ link {harbour.site}/pier" in shown
    assert "\x1b" not in shown
    coloured = harbour.call("--color", "always", "diff", url)
    assert "\x1b[" in coloured
    assert "[-30-]" in re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    harbour.call("diff", url, "--exit-code", code=1)
    assert harbour.call("diff", url, "--name-only").strip() == url
    assert harbour.call("diff", url, "v2", "--name-only") == ""
    (found,) = harbour.lines("diff", url, "-1")
    assert (found["before"]["version"], found["after"]["version"], found["changed"]) == (1, 2, True)
    assert found["links_added"] == [f"{harbour.site}/pier"]
    assert found["metadata"] == [{"name": "title", "before": "Page 1", "after": "The first page"}]
    assert {"sign": "+", "text": "25"} in [words for edit in found["edits"] for words in edit["words"]]


def test_the_same_edit_on_every_page_is_one_change(harbour: Harbour) -> None:
    assert harbour.lines("changes", "--since", "1d") == []
    for number in range(PAGES):
        harbour.put(number, page(number, footer="Open from ten to six.", price=12 if number == 2 else 30))
    harbour.refresh()
    groups = harbour.lines("changes", "--since", "1d")
    assert [group["class"] for group in groups] == ["content", "template"]
    everywhere = next(group for group in groups if len(group["pages"]) == PAGES)
    own = next(group for group in groups if len(group["pages"]) == 1)
    assert sorted(everywhere["pages"]) == [harbour.url(number) for number in range(PAGES)]
    assert "{+ten" in everywhere["example"]
    assert own["pages"] == [harbour.url(2)]
    assert "{+12+}" in own["example"]
    assert harbour.lines("changes", "elsewhere.example", "--since", "1d") == []
    assert len(harbour.lines("changes", f"{HOST}:{harbour.port}", "--since", "1d")) == 2
    assert "same edit on 4 pages" in harbour.call("changes")
    harbour.call("changes", "--since", "whenever", code=2)


def test_gone_failed_and_unchanged_are_distinct(harbour: Harbour) -> None:
    url = harbour.url(3)
    harbour.refresh()
    harbour.web.replies[HOST, "/p3"] = Reply(410, "gone")
    harbour.refresh()
    versions, visits = [], []
    for line in harbour.lines("history", url, "--visits"):
        (versions if line["schema"] == "evercrawl.history/1" else visits).append(line)
    assert len(versions) == 1
    assert [visit["reason"] for visit in visits] == ["new", "not_modified", "gone"] or [
        visit["reason"] for visit in visits
    ] == ["new", "same_content", "gone"]


def test_the_statistics_of_a_page(harbour: Harbour) -> None:
    (facts,) = harbour.lines("status", "--page", harbour.url(1))
    assert facts["ascii_count"] == sum(page(1).encode())
    assert facts["parent"] == harbour.url(0)
    assert facts["file_path"].startswith("archive/")
    assert (harbour.folder / "site.evercrawl" / facts["file_path"]).exists()
    harbour.put(1, page(1, price=1))
    harbour.refresh()
    (facts,) = harbour.lines("status", "--page", harbour.url(1))
    assert (facts["changes"], facts["visits"], facts["frequency_of_change"]) == (1, 2, 0.0)
    assert "frequency of change" in harbour.call("status", "--page", harbour.url(1))


def test_the_library_reads_history(harbour: Harbour, monkeypatch: pytest.MonkeyPatch) -> None:
    began = datetime.now(UTC)
    harbour.put(1, page(1, price=25))
    harbour.refresh()
    with evercrawl.open(harbour.folder / "site.evercrawl") as collection:
        assert [version.version for version in collection.history(harbour.url(1)).versions] == [1, 2]
        assert "30 euros" in collection.show(harbour.url(1), "-1").text
        assert "30 euros" in collection.show(harbour.url(1) + "@v1").text
        assert collection.diff(harbour.url(1)).words_of("+") == 1
        (group,) = collection.change_groups(began)
        assert group.pages == (harbour.url(1),)


def test_hostile_text_is_escaped_on_the_terminal(harbour: Harbour) -> None:
    evil = "\x1b]0;owned\x07 \u202eevil \x1b[2J words that nobody expects here"
    harbour.put(1, page(1, more=f"<p>{evil}</p>").replace("<title>", f"<title>{evil}"))
    harbour.refresh()
    for command in (["diff", harbour.url(1)], ["changes"], ["history", harbour.url(1)]):
        shown = harbour.call(*command)
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def _fill(harbour: Harbour) -> None:
    """Page 1 gets six versions, of which the last two hold what earlier ones held."""
    for price in (31, 32, 33, 31, 30):
        harbour.put(1, page(1, price=price))
        harbour.refresh()


def test_pruning_is_previewed_and_deletes_nothing_else(harbour: Harbour) -> None:
    _fill(harbour)
    rule = ["store", "prune", "--keep", "latest:2"]
    (planned,) = harbour.lines(*rule)
    assert (planned["done"], planned["versions"], planned["shared_versions"]) == (False, 2, 2)
    assert "to delete" in harbour.call(*rule)
    assert len(harbour.lines("history", harbour.url(1))) == 6
    before = {number: harbour.call("show", harbour.url(number), "--html") for number in range(PAGES)}
    (done,) = harbour.lines(*rule, "--yes")
    assert (done["done"], done["versions"], done["damaged_files"]) == (True, 2, [])
    assert (done["archive_files"], done["pages"]) == (1, 1)
    assert [version["version"] for version in harbour.lines("history", harbour.url(1))] == [1, 2, 5, 6]
    assert {number: harbour.call("show", harbour.url(number), "--html") for number in range(PAGES)} == before
    assert "31 euros" in harbour.call("show", harbour.url(1) + "@v2")
    assert "[-31-]{+30+}" in harbour.call("diff", harbour.url(1))
    _check_archive(harbour.folder, revisits=2)
    assert _bodies_with(harbour.folder, "costs 32 euros") == 0
    assert _bodies_with(harbour.folder, "costs 31 euros") == 1
    harbour.put(1, page(1, price=77))
    assert harbour.refresh()["changed"] == 1
    assert [version["version"] for version in harbour.lines("history", harbour.url(1))] == [1, 2, 5, 6, 7]
    assert "{+77+}" in harbour.call("diff", harbour.url(1))
    (again,) = harbour.lines("store", "prune", "--keep", "all", "--yes")
    assert again["versions"] == 0
    harbour.call("store", "prune", "--keep", "sometimes", code=2)


def test_a_page_removed_on_request_is_nowhere_and_stays_away(harbour: Harbour) -> None:
    secret, folder = "Marmaladequokka", harbour.folder / "site.evercrawl"
    harbour.call("alert", "add", "all", "--atom", str(harbour.folder / "all.xml"), "--digest", "daily")
    harbour.put(1, page(1, more=f"<p>{secret} lives in the third house.</p>"))
    harbour.refresh()
    harbour.put(1, page(1, price=31, more=f"<p>{secret} lives in the fourth house.</p>"))
    harbour.refresh()
    harbour.call("search", secret)
    assert holds(folder, secret)
    before = {number: harbour.call("show", harbour.url(number), "--html") for number in (0, 2, 3)}
    (planned,) = harbour.lines("remove", "page", harbour.url(1), "--dry-run")
    assert (planned["state"], planned["versions"]) == ("preview", 3)
    harbour.call("remove", "page", harbour.url(1), code=2)  # Nobody can be asked, and there is no --yes.
    harbour.call("remove", "page", harbour.url(1), "--yes", "--request", "ticket 7")
    assert holds(folder, secret) == []
    summary = harbour.refresh()
    assert summary["fetched"] + summary["not_modified"] == PAGES - 1
    assert holds(folder, secret) == []
    assert {number: harbour.call("show", harbour.url(number), "--html") for number in (0, 2, 3)} == before
    (why,) = harbour.lines("why", harbour.url(1))
    assert (why["outcome"], why["reason"]) == ("rejected", "removed")
    assert "ticket 7" in harbour.call("remove", "list")
    harbour.call("verify")
    harbour.call("remove", "undo", harbour.url(1))
    harbour.crawl(harbour.url(1))
    assert len(harbour.lines("history", harbour.url(1))) == 1


def _bodies_with(folder: Path, words: str) -> int:
    from warcio.archiveiterator import ArchiveIterator

    found = 0
    for path in (folder / "site.evercrawl").rglob("*.warc.gz"):
        with path.open("rb") as file:
            found += sum(words.encode() in record.content_stream().read() for record in ArchiveIterator(file))
    return found


_DIE = """
import os, sys
import evercrawl
import evercrawl.collection.maintenance as prune

step = sys.argv[2]
original = getattr(prune, step)
def die_before(*arguments, **named):
    os._exit(9)
calls = []
def die_at_second(*arguments, **named):
    calls.append(1)
    if len(calls) % 2 == 0:
        os._exit(9)
    return original(*arguments, **named)
setattr(prune, step, die_at_second if step == "delete_dropped" else die_before)
with evercrawl.open(sys.argv[1]) as collection:
    collection.prune("latest:1", apply=True)
"""


@pytest.mark.parametrize("step", ["rewrite_file", "sync_folder", "apply_prune", "delete_dropped"])
def test_a_killed_prune_leaves_the_collection_consistent(harbour: Harbour, step: str) -> None:
    for price in (31, 32):
        harbour.put(1, page(1, price=price))
        harbour.refresh()
    folder = harbour.folder / "site.evercrawl"
    ended = subprocess.run([sys.executable, "-c", _DIE, str(folder), step], env=harbour.env, check=False)
    assert ended.returncode == 9
    left = [version["version"] for version in harbour.lines("history", harbour.url(1))]
    assert left == ([3] if step == "delete_dropped" else [1, 2, 3])
    assert "32 euros" in harbour.call("show", harbour.url(1))
    harbour.put(1, page(1, price=99))
    harbour.refresh()
    for number in (*left, 4):
        assert "euros" in harbour.call("show", f"{harbour.url(1)}@v{number}")
    harbour.lines("store", "prune", "--keep", "latest:1", "--yes")
    assert [version["version"] for version in harbour.lines("history", harbour.url(1))] == [4]
    assert "99 euros" in harbour.call("show", harbour.url(1))
    _check_archive(harbour.folder, revisits=0)
    assert _bodies_with(harbour.folder, "costs 31 euros") == 0
