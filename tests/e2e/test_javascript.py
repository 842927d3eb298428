"""Crawls of pages that scripts make: rendered where it pays, as stored versions, and refused without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evercrawl.adapters.warc.reader import WarcRecord, iterate_records
from evercrawl.web.serve import ServeOptions
from tests.web.conftest import closed, opened
from tests.worlds.hostile.command import Command
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.sites import Site, SiteRequest, bytes_for, html, web

FLAGS = ("--pace", "own", "--allow-private", "--json")
TEXTS = {
    "/app/": "Welcome to the garden shop, which has seeds and tools for every season of the year.",
    "/app/about": "The shop has been a family business in the old harbour town since 1921.",
    "/app/team": "Anna, Bert and Carla look after the greenhouse and answer every letter.",
}
HOURS = "We are open from nine to five on weekdays, and on Saturday mornings."
RATES = "Today a sack of compost costs four euros, and delivery is free."
SHELL = "<!doctype html><title>App</title><div id='root'></div><script type='module' src='/app.js'></script>"
SCRIPT = """
const texts = %s;
setTimeout(async () => {
  const hours = await (await fetch("/hours.json")).json();
  const asked = {method: "POST", headers: {"Content-Type": "application/json"}, body: '{"day": "today"}'};
  const rates = await (await fetch("/rates.json", asked)).json();
  const links = Object.keys(texts).map((path) => `<a href="${path}">${path}</a>`).join(" ");
  document.getElementById("root").innerHTML =
    `<nav>${links}</nav><main><p>${texts[location.pathname]}</p><p>${hours}</p><p>${rates}</p></main>`;
}, 1500);
""" % json.dumps(TEXTS)  # noqa: UP031 (the script is full of braces)
MOST_SAMPLES = 4  # Plain pages that are rendered once for comparison: of two patterns, at most two each.
PLAIN = "This page was written by hand, and its scripts only count visitors. It has all of its text from the start."


def _respond(asked: SiteRequest) -> bytes:
    if asked.path in TEXTS:
        return html(SHELL)
    if asked.path == "/app.js":
        return answer_of({"body": SCRIPT, "headers": {"Content-Type": "text/javascript"}})
    if asked.path == "/hours.json":
        return answer_of({"body": json.dumps(HOURS), "headers": {"Content-Type": "application/json"}})
    if asked.path == "/rates.json" and asked.head.startswith(b"POST"):
        return answer_of({"body": json.dumps(RATES), "headers": {"Content-Type": "application/json"}})
    if asked.path == "/" or asked.path.startswith("/plain/"):
        links = "".join(f"<a href='/plain/{number}'>page {number}</a> " for number in range(8))
        return html(
            f"<script src='/app.js'></script><main><p>{PLAIN} {asked.path}</p></main>{links}<a href='/app/'>a</a>"
        )
    return answer_of({"status": 404})


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Command, Site]]:
    with web() as sites:
        made = sites.add("site", bytes_for(_respond))
        yield Command(tmp_path, {"dns.servers": sites.name_server}), made


def _texts(command: Command) -> dict[str, str]:
    rows = map(json.loads, command.call("export", "jsonl").out.splitlines())
    return {row["url"]: row["text"] for row in rows}


def test_an_application_is_rendered_and_plain_pages_are_not(site: tuple[Command, Site]) -> None:
    command, made = site
    assert command.crawl(made.url(), *FLAGS).code == 0
    found = _texts(command)
    for path, text in TEXTS.items():
        assert text in found[made.url(path)]
        assert HOURS in found[made.url(path)]
        assert RATES in found[made.url(path)]
        assert "an empty application shell" in command.why(made.url(path)).detail
    assert all(PLAIN in found[made.url(f"/plain/{number}")] for number in range(8))
    assert made.paths().count("/hours.json") <= len(TEXTS) + MOST_SAMPLES
    assert made.paths().count("/app.js") == 1
    same = command.call("diff", made.url("/app/"), "--screenshot")
    assert "look the same" in same.out
    with (command.folder / "page.webp").open("wb") as file:
        arguments = [sys.executable, "-m", "evercrawl", "-C", str(command.collection), "show", made.url("/app/")]
        subprocess.run([*arguments, "screenshot"], stdout=file, env=command.env, check=True)
    assert (command.folder / "page.webp").read_bytes()[8:12] == b"WEBP"
    exported = command.folder / "pages.warc.gz"
    assert command.call("export", "warc", "--output", str(exported)).code == 0
    records = [record for record in iterate_records(exported) if isinstance(record, WarcRecord)]
    kinds = {(record.kind, record.headers.get("warc-target-uri")) for record in records}
    for kind, path in (("conversion", "/app/"), ("response", "/app/"), ("request", "/app/"), ("response", "/app.js")):
        assert (kind, made.url(path)) in kinds
    assert {("response", made.url("/hours.json")), ("resource", f"urn:view:{made.url('/app/')}")} <= kinds
    (request,) = (
        one for one in records if one.kind == "request" and one.headers["warc-target-uri"].endswith("/rates.json")
    )
    assert request.block.endswith(b'\r\n\r\n{"day": "today"}')
    lines = command.call("export", "cdxj").out.splitlines()
    (index,) = (json.loads(line.split(" ", 2)[2]) for line in lines if "/rates.json" in line)
    assert (index["url"], index["method"], index["requestBody"]) == (made.url("/rates.json"), "POST", "day=today")
    refused = command.call("show", made.url("/plain/7"), "screenshot")
    assert refused.code == 2
    assert "has no screenshot" in refused.err


def test_a_changed_script_is_noticed_and_its_change_is_marked_in_the_screenshots(tmp_path: Path) -> None:
    prices = ["10"]

    def respond(asked: SiteRequest) -> bytes:
        if asked.path == "/":
            return html("<!doctype html><title>Shop</title><div id='root'></div><script src='/shop.js'></script>")
        text = f"<p>{PLAIN}</p><p>Seeds</p><p>{prices[-1]} euros</p>"
        script = f"document.getElementById('root').innerHTML = {json.dumps(text)}"
        return answer_of({"body": script, "headers": {"Content-Type": "text/javascript"}})

    with web() as sites:
        made = sites.add("site", bytes_for(respond))
        command = Command(tmp_path, {"dns.servers": sites.name_server})
        assert command.crawl(made.url(), *FLAGS).code == 0
        prices.append("25")
        assert command.crawl(*FLAGS, "--refresh").code == 0
    found = json.loads(command.call("diff", made.url(), "--screenshot", "--json").out)
    assert found["removed"] == found["added"]
    (region,) = found["added"]
    assert 5 < region["width"] < 40
    assert 5 < region["height"] < 40
    interface = opened(command.collection, ServeOptions(port=0))
    page = interface.operator.get("/diff", params={"url": made.url(), "view": "screenshot"}).text
    assert page.count("<rect") == 2
    assert f'viewBox="0 0 {found["after_size"][0]} {found["after_size"][1]}"' in page
    assert "1 region only in version 1, 1 only in version 2" in page
    picture = interface.operator.get("/screenshot", params={"url": f"{made.url()}@v1"})
    assert picture.headers["Content-Type"] == "image/webp"
    closed(interface)


def test_without_rendering_the_shell_is_kept(site: tuple[Command, Site]) -> None:
    command, made = site
    command.crawl(made.url("/app/"), "--render", "never", *FLAGS)
    assert TEXTS["/app/"] not in _texts(command).get(made.url("/app/"), "")
    assert "/app.js" not in made.paths()


def test_a_missing_browser_is_named_and_the_crawl_goes_on(site: tuple[Command, Site]) -> None:
    command, made = site
    command.env["EVERCRAWL_RENDER__BROWSER"] = str(command.folder / "no-browser")
    command.crawl(made.url(), *FLAGS)
    assert PLAIN in _texts(command)[made.url("/plain/7")]
    found = command.why(made.url("/app/"))
    assert found.reason.value == "needs_browser"
