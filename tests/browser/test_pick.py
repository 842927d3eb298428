"""Point at a part of an archived page in the interface; the page itself runs nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.e2e.moved_clock import HTML, collection_of, served_site
from tests.web.chromium import chromium, serving

PAGE = (
    "<!doctype html><title>Kettle</title><main><h1>Kettle</h1><p class=price><b>49,90 €</b></p>"
    "<p data-evercrawl-place=0 onclick='top.pwned = 1'>Steel</p><script>window.pwned = 1;"
    "parent.postMessage({place: 1}, '*')</script></main>"
)


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_click_in_the_replayed_page_makes_a_field(tmp_path: Path, is_folder: bool) -> None:
    with served_site() as site:
        site.files["/"] = HTML, PAGE
        collection = collection_of(site, tmp_path / "c.evercrawl", policy="optimal")
        asyncio.run(collection.crawl())
        place = tmp_path if is_folder else collection.path
        with serving(place, is_folder=is_folder) as served, chromium() as browser:
            page = browser.new_page()
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text))
            address = f"{served.address}/c/c" if is_folder else served.address
            page.goto(served.first_link)
            page.goto(f"{address}/show?url={quote(site.base + '/', safe='')}")
            page.get_by_role("link", name="Watch a part").click()
            frame = page.frame_locator("#picked")
            frame.locator("p.price b").click()
            page.wait_for_url("**place=*")
            frame.locator("p.price b").wait_for()
            inner = next(one for one in page.frames if one.url.startswith(served.replay))
            assert inner.evaluate("[window.pwned, self.origin]") == [None, "null"]
            assert page.evaluate("window.pwned") is None
            assert page.get_by_role("radio").first.get_attribute("value") == "css:p.price"
            page.get_by_label("Name", exact=True).fill("price")
            page.get_by_label("Type", exact=True).select_option("number")
            page.get_by_role("button", name="Save").click()
            page.wait_for_url("**/fields?*")
            assert page.get_by_role("link", name="49.9 EUR").is_visible()
            assert said == []
        (rule,) = collection.fields()
        assert (rule.name, rule.select, rule.type) == ("price", "css:p.price", "number")
