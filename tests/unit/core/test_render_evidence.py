"""What the markup of a page says about its scripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.render_choice import (
    Evidence,
    Gain,
    ScriptUse,
    SiteRendering,
    after_render,
    choose_rendering,
    evidence_in,
    gain_of,
    is_worth,
    site_rendering_bytes,
    site_rendering_of,
    sketch_of,
)
from evercrawl.model.fetch import Exchange, Fetched

NAV = "<nav><a href='/'>Home</a> <a href='/feed'>Feed</a></nav>"
EXCHANGE = Exchange(b"", b"", b"", None, datetime(2026, 11, 18, tzinfo=UTC), timedelta(0))


def _use(body: str, *, url: str = "http://site.example/") -> ScriptUse:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return evidence_in(Fetched(url, 200, headers, body.encode(), EXCHANGE)).use


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


LINKS = "<ul>" + "".join(f"<li><a href='/{n}'>Chapter {n} of the handbook</a></li>" for n in range(8)) + "</ul>"
APP = "<script src='/app.js'></script>"


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "<div class='clearer'></div>",
        "<div role='search'><p id='box'></p></div>",
        "<nav><div id='menu'></div></nav>",
        "<p data-kind='note' aria-label='note' xml:lang='en'>Made by hand.</p>",
        "<table><tr><td>A cell</table>",
    ],
)
def test_a_contents_page_without_a_place_to_fill_has_no_gap(rest: str) -> None:
    assert _use(f"{NAV}<h1>Contents</h1>{LINKS}{rest}{APP}") is ScriptUse.SCRIPTED


@pytest.mark.parametrize(
    "place",
    [
        "<div id='list'></div>",
        "<section class='news'> </section>",
        "<news-list></news-list>",
        "<main></main>",
        "<div data-feed='/feed.json'></div>",
        "<p class='loading'>One moment</p>",
        "<p>Please wait…</p>",
        "<ul></ul>",
        "<table><tr><th>Name<th>Price</table>",
        "<div><p>{{ article.title }}</p></div>",
        "<ul><li v-for='one in all'>An article</ul>",
        "<p :title='name'>Articles of today</p>",
        "<div hx-get='/news'>Articles of today</div>",
        "<div data-hx-get='/news'>Articles of today</div>",
    ],
)
def test_links_beside_a_place_to_fill_do_not_hide_it(place: str) -> None:
    assert _use(f"<h1>News</h1>{LINKS}{place}{APP}") is ScriptUse.GAP


def test_a_page_with_links_in_its_menu_only_has_a_gap() -> None:
    assert _use(f"<nav>{LINKS}</nav><h1>News</h1>{APP}") is ScriptUse.GAP


def test_the_results_of_a_search_form_are_a_gap_only_after_a_question() -> None:
    form = "<form action='' method='get'><input type='text' name='q'></form>"
    help_text = "<p>All of the words are searched. <a href='/help'>More about searching in this manual</a></p>"
    page = f"{NAV}<h1>Search</h1>{form}{help_text}<div id='search-results'></div>{APP}"
    fills = "<script>Search.show(document.getElementById('search-results'))</script>"
    for body in (page, page + fills):
        assert _use(body) is ScriptUse.SCRIPTED
        assert _use(body, url="http://site.example/search?q=word") is ScriptUse.GAP
    filtered = f"{NAV}<h1>Shop</h1><input type='search'><div id='search-results'></div>{APP}{fills}"
    assert _use(filtered) is ScriptUse.GAP


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "Keepers watch the lighthouse."), ("请稍候", "灯塔看守人在黎明时分休息。船只中午到达港口。")],
)
def test_few_words_are_a_gain_where_a_page_was_empty_or_words_have_no_spaces(before: str, after: str) -> None:
    sketches = [sketch_of((), f"<body><p>{text}</p></body>".encode()) for text in (before, after)]
    gain = gain_of(*sketches)
    assert is_worth(gain, SiteRendering(), Evidence(ScriptUse.SHELL), sketches[1].words.total())


def test_a_page_that_gained_is_rendered_again_whatever_others_like_it_showed() -> None:
    evidence = Evidence(ScriptUse.GAP, "a gap", 7)
    gained, nothing = Gain(300, 40, 150, 2500), Gain(0, 0, 150, 150)
    schedule = "https://days.example/harbour/schedule/"
    site = after_render(SiteRendering(), schedule, evidence, gain=gained, is_gain=True, today=1)
    for name in ("imprint", "login"):
        site = after_render(
            site, f"https://days.example/harbour/{name}/", evidence, gain=nothing, is_gain=False, today=1
        )
    for _ in range(3):  # What was added before is known, so that a comparison finds nothing new.
        site = site_rendering_of(site_rendering_bytes(site))
        assert choose_rendering(site, schedule, evidence, mode="auto", today=2).is_proven
        site = after_render(site, schedule, evidence, gain=gained, is_gain=False, today=2)
    for _ in range(3):
        site = after_render(site, schedule, evidence, gain=nothing, is_gain=False, today=3)
    assert not choose_rendering(site, schedule, evidence, mode="auto", today=4).should_render


TEXT = "<p>The keepers of the lighthouse write the weather down each morning, and the boats that pass.</p>" * 60


@pytest.mark.parametrize("words", ["Loading…", "Loading comments ...", "Wird geladen …"])
def test_a_part_that_loads_is_a_gap_in_a_page_with_text(words: str) -> None:
    few = TEXT[: len(TEXT) // 20]
    assert _use(f"{few}<div>{words}</div>{APP}") is ScriptUse.GAP
    assert _use(f"{few}<footer><div>{words}</div></footer>{APP}") is ScriptUse.SCRIPTED
    assert _use(f"{few}<p>Loading a boat takes an hour.</p><p>And so on ...</p>{APP}") is ScriptUse.SCRIPTED


def test_a_page_of_a_framework_is_an_application_also_with_much_text() -> None:
    assert _use(f"{TEXT}<div class='skeleton'></div>{APP}") is ScriptUse.GAP
    assert _use(f"{TEXT}<script type='module' src='/app.js'></script>") is ScriptUse.APP
    assert _use(f"{TEXT}<script src='/_next/static/chunks/main.js' async></script>") is ScriptUse.APP
    assert _use(f"{TEXT}{APP}") is ScriptUse.SCRIPTED


def test_pages_of_an_application_are_compared_until_one_gains_nothing_or_two_do() -> None:
    site, evidence = SiteRendering(), Evidence(ScriptUse.APP, "an application", 7)
    before, said_again, more = (
        sketch_of((), f"<body><p>One boat a day.</p><p>{text}</p></body>".encode())
        for text in ("", "One boat a day. One boat a day.", "The harbour master counts them at noon.")
    )
    assert not is_worth(gain_of(before, said_again, use=ScriptUse.APP), site, evidence, 12)
    gain = gain_of(before, more, use=ScriptUse.APP)
    assert is_worth(gain, site, evidence, 12)
    for is_proven in (False, False, True):
        choice = choose_rendering(site, "http://site.example/a/one", evidence, mode="auto", today=1)
        assert choice.should_render
        assert choice.is_proven is is_proven
        site = after_render(site, "http://site.example/a/one", evidence, gain=gain, is_gain=True, today=1)
    site = after_render(site, "http://site.example/b/one", evidence, gain=gain, is_gain=False, today=1)
    assert not choose_rendering(site, "http://site.example/b/two", evidence, mode="auto", today=1).should_render
