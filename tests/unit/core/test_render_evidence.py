"""What the markup of a page says about its scripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.render_choice import ScriptUse, evidence_in
from evercrawl.model.fetch import Exchange, Fetched

NAV = "<nav><a href='/'>Home</a> <a href='/feed'>Feed</a></nav>"
EXCHANGE = Exchange(b"", b"", b"", None, datetime(2026, 11, 18, tzinfo=UTC), timedelta(0))


def _use(body: str) -> ScriptUse:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return evidence_in(Fetched("http://site.example/", 200, headers, body.encode(), EXCHANGE)).use


@pytest.mark.parametrize(
    "script",
    [
        "<script src='/app.js'></script>",
        "<script type='module'>import '/app.js'</script>",
        "<script type='module'>import {start} from './app.js'; start()</script>",
        "<script>customElements.define('my-feed', class extends HTMLElement {})</script>",
        "<script>load = () => import(element.dataset.code)</script>",
        "<script>const one = document.createElement('script'); one.src = '/app.js'; document.head.append(one)</script>",
    ],
)
def test_a_page_without_text_of_its_own_has_a_gap_if_scripts_may_fill_it(script: str) -> None:
    assert _use(f"<title>t</title>{NAV}<main><my-feed></my-feed></main>{script}") is ScriptUse.GAP


@pytest.mark.parametrize("place", ["script", "pre"])
def test_only_code_fills_places_not_text_about_such_code(place: str) -> None:
    text = "<p>A long text about scripts.</p>" * 300
    code = "document.getElementById('results').innerHTML = found"
    page = (
        f"<title>t</title>{NAV}<main><div id=results></div>{text}<{place}>{code}</{place}></main><script>x()</script>"
    )
    assert _use(page) is (ScriptUse.GAP if place == "script" else ScriptUse.SCRIPTED)


@pytest.mark.parametrize(
    "script", ["<script>dataLayer.push('page')</script>", "<script>important = define(1)</script>", "<p>Nothing</p>"]
)
def test_scripts_that_load_nothing_make_no_gap(script: str) -> None:
    assert _use(f"<title>t</title>{NAV}<main><h1>Feed</h1></main>{script}") in (ScriptUse.SCRIPTED, ScriptUse.NONE)
