"""Content in the data of pages: found, compared with what a browser shows, and read without one."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest
from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.document.elements import parse_tree
from evercrawl.core.document.html import parse_page
from evercrawl.core.embedded_state import (
    EmbeddedSample,
    Value,
    compare_embedded,
    embedded_html,
    embedded_values,
    prose_paths,
    with_embedded,
    word_digest,
)
from evercrawl.core.render_choice import (
    Evidence,
    Gain,
    ScriptUse,
    SiteRendering,
    after_render,
    choose_rendering,
    site_rendering_bytes,
    site_rendering_of,
    sketch_of,
    visible_text,
)

URL = "https://shop.test/item/1"
HTML = (("Content-Type", "text/html; charset=utf-8"),)
STATE = {"item": {"title": "Green tea", "body": ["<p>Grown in <b>spring</b>.</p>", "Sold in tins & bags."]}}
STATE |= {"more": [{"name": "Black tea", "path": "/item/2"}], "build": "never shown to people"}
NUXT = [{"item": 1}, {"title": 2, "body": 3}, "Green tea", [4, 5], "Grown in spring.", "Sold in tins & bags."]
PAGES = {
    "json": f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(STATE)}</script>',
    "linked data": f'<script type="application/ld+json">{json.dumps(STATE)}</script>',
    "assigned": f"<script>var a = 1; window.__INITIAL_STATE__ = {json.dumps(STATE)}; run()</script>",
    "parsed": f"<script>window['__STATE__'] = JSON.parse({json.dumps(json.dumps(STATE))});</script>",
    "references": f'<script id="__NUXT_DATA__" type="application/json">{json.dumps(NUXT)}</script>',
}
RENDERED = "<nav>Our shop</nav><h1>Green tea</h1><p>Grown in <b>spring</b>.</p><p>Sold in tins &amp; bags.</p>"
LINKED = "<a href=/item/2>Black tea</a>"


def _tree(data: str) -> LexborHTMLParser:
    return parse_page(HTML, f"<html><body><div id=root></div>{data}</body></html>".encode()).tree


def _words(body: bytes) -> Counter[str]:
    return sketch_of(HTML, body).words


@pytest.mark.parametrize("name", PAGES)
def test_the_content_of_the_data_is_that_of_the_rendered_page(name: str) -> None:
    links = () if name == "references" else ("/item/2",)
    shown = (RENDERED + (LINKED if links else "")).encode()
    body = parse_page(HTML, shown).tree.body
    assert body is not None
    values = embedded_values(_tree(PAGES[name]))
    sample = compare_embedded(values, url=URL, text=visible_text(body), added=_words(shown), links=links)
    assert sample is not None
    assert sample.labels == {word_digest("our"), word_digest("shop")}
    read = with_embedded(_tree(PAGES[name]), embedded_html(values, sample.paths))
    assert _words(read) == _words(shown) - Counter(("our", "shop"))
    assert sketch_of(HTML, read).links == set(links)


def test_a_page_whose_content_is_not_in_its_data_gives_no_sample() -> None:
    values = embedded_values(_tree(PAGES["json"]))
    assert compare_embedded(values, url=URL, text="Red wine", added=Counter(["red", "wine"]), links=()) is None


def test_without_a_browser_sentences_are_content() -> None:
    values = embedded_values(_tree(PAGES["json"]))
    assert "Sold in tins &amp; bags." in embedded_html(values, prose_paths(values))


@pytest.mark.parametrize("code", ["{", "[1, 2", '{"a": ' * 5000, "[[-1], {}]", '[["x", 5]]', "null", '"text"', "[[0]]"])
def test_broken_data_is_no_data(code: str) -> None:
    data = f'<script type="application/json">{code}</script><script>window.x = {code}</script>'
    assert {value.text for value in embedded_values(_tree(data))} <= {"x", "text"}


def test_the_browser_is_spared_after_two_pages_that_agree() -> None:
    evidence = Evidence(ScriptUse.SHELL, "a shell", 7)
    gain = Gain(50, 1, 0, 500)

    def renders(*samples: EmbeddedSample | None) -> SiteRendering:
        site = SiteRendering()
        for number, sample in enumerate(samples):
            url = f"https://shop.test/item/{number}"
            site = after_render(site, url, evidence, gain=gain, is_gain=True, today=1, sample=sample)
        return site_rendering_of(site_rendering_bytes(site))

    first = EmbeddedSample(("state.title",), frozenset({1, 2}))
    second = EmbeddedSample(("state.title", "state.body"), frozenset({2}))
    other = EmbeddedSample(("state.title",), frozenset({3}))
    chosen = choose_rendering(renders(first, second), URL, evidence, mode="auto", today=2)
    assert (chosen.should_render, chosen.paths) == (False, ("state.title", "state.body"))
    for site in (renders(first), renders(first, other), renders(first, second, None)):
        assert choose_rendering(site, URL, evidence, mode="auto", today=2).should_render
    new_scripts = evidence._replace(scripts=8)
    assert choose_rendering(renders(first, second), URL, new_scripts, mode="auto", today=2).should_render
    assert choose_rendering(renders(first, second), URL, evidence, mode="auto", today=40).should_render


def test_scripts_full_of_broken_assignments_take_linear_time() -> None:
    before = time.process_time()
    embedded_values(parse_tree("<script>" + 'window.a=["' * 60_000))
    assert time.process_time() - before < 5


def test_more_values_than_can_be_compared_leave_the_choice_to_the_browser() -> None:
    values = [Value(f"p{number}", f"w{number} x{number}") for number in range(15_000)]
    text = " ".join(value.text for value in reversed(values))
    before = time.process_time()
    assert compare_embedded(values, url="https://a.test/", text=text, added=Counter(text.split()), links=()) is None
    assert time.process_time() - before < 3
