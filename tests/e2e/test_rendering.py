# ruff: noqa: E501  (scripts of pages)
"""The renderer with the real browser: what pages show, what they ask for, and what happens when the browser ends."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evercrawl.adapters.browser import launch
from evercrawl.adapters.browser.launch import BrowserUnavailable, find_browser, start_browser
from evercrawl.adapters.browser.renderer import ChromiumRenderer
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Failed, Fault, FetchResult, Rendered, RenderEnd, RenderFailed, RenderFault, Request
from evercrawl.model.settings import RenderSettings
from tests.e2e.fetching import run
from tests.e2e.rendering import SITE, Files, moved, page, render, rendered, renderer

SHELL = "<!DOCTYPE html><html><head><title>t</title><script type=module src=/app.js></script></head><body><div id=root></div></body>"


def test_scripts_late_timers_and_fetched_data() -> None:
    app = """
        const root = document.getElementById('root');
        root.innerHTML = '<h1>from the script</h1>';
        setTimeout(() => root.append('late text'), 3000);
        fetch('/moved.json', {headers: {'X-Part': 'list'}}).then(r => r.json()).then(d => root.append(d.text));
        fetch('https://api.test/x', {headers: {'X-Key': '1'}}).then(r => r.text()).then(t => root.append(t));
        const post = (url, body) => fetch(url, {method: 'POST', body, headers: {'Content-Type': 'application/json'}});
        post('https://other.test/write', '{"a": 1}').catch(() => root.append('post refused'));
        post('/graphql', '{"query": "mutation { buy }"}').catch(() => root.append('mutation refused'));
        post('/graphql', '{"query": "{ list }"}').then(r => r.text()).then(t => root.append(t));
        history.pushState({}, '', '/shown');
    """

    async def visit() -> None:
        async def api(request: Request) -> FetchResult:
            return page("from another site", url=request.url)

        files = Files(
            {
                "/app.js": app,
                "/moved.json": moved(f"{SITE}/data.json"),
                "/data.json": '{"text": "fetched"}',
                "/graphql": "from a query",
            },
            api,
        )
        async with renderer() as one:
            result = await one.render(page(SHELL), files)
        assert isinstance(result, Rendered), result
        for text in (
            b"<h1>from the script</h1>",
            b"late text",
            b"fetched",
            b"from another site",
            b"from a query",
            b"post refused",
            b"mutation refused",
        ):
            assert text in result.dom
        assert (result.ended, result.url, result.links) == (RenderEnd.QUIET, f"{SITE}/shown", (f"{SITE}/shown",))
        assert sorted(request.url for request in files.asked) == [
            "https://api.test/x", f"{SITE}/app.js", f"{SITE}/data.json", f"{SITE}/graphql", f"{SITE}/moved.json",
        ]  # fmt: skip
        (listed,) = (request for request in files.asked if request.url == f"{SITE}/moved.json")
        fields = {name.lower(): value for name, value in listed.headers}
        assert fields == {"accept": "*/*", "x-part": "list"}
        assert [request.post for request in files.asked if request.post] == [b'{"query": "{ list }"}']
        refused = [one.refused for one in result.requests if one.refused]
        assert sorted(refused) == [
            "POST is not sent to other sites: it may change something",
            "POST is not sent: a GraphQL operation that may change something",
        ]

    run(visit())


def test_content_of_shadow_roots_is_kept_and_noscript_is_not() -> None:
    app = """
        customElements.define('x-card', class extends HTMLElement {
            connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<a href=/in>in the shadow</a><x-deep></x-deep>' }
        });
        customElements.define('x-deep', class extends HTMLElement {
            connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = 'deeper' }
        });
        document.getElementById('root').innerHTML = '<x-card>light</x-card>';
    """
    result = run(rendered(SHELL + "<noscript>Turn on JavaScript</noscript>", {"/app.js": app}))
    expected = (
        b'<x-card><div data-shadow-root=""><a href="/in">in the shadow</a>'
        b'<x-deep><div data-shadow-root="">deeper</div></x-deep></div>light</x-card>'
    )
    assert expected in result.dom
    assert b"Turn on" not in result.dom


ITEMS = 100
LISTS = {
    "observer": """
        const end = document.createElement('p'); root.after(end);
        new IntersectionObserver(seen => { if (seen[0].isIntersecting) load(20) }).observe(end);
    """,
    "few at a time": """
        const end = document.createElement('p'); root.after(end); load(5);
        new IntersectionObserver(seen => { if (seen[0].isIntersecting) load(5) }).observe(end);
    """,
    "scroll event": "load(30); addEventListener('scroll', () => {"
    " if (innerHeight + scrollY > document.body.offsetHeight - 50) setTimeout(() => load(20), 700) });",
    "scroller": "root.style = 'height: 300px; overflow: auto'; load(30); root.addEventListener('scroll', () => {"
    " if (root.scrollTop + root.clientHeight > root.scrollHeight - 50) load(20) });",
    "virtual": """
        const show = () => {
            const first = Math.max(0, Math.floor(scrollY / 40) - 2), rows = [];
            for (let i = first; i < Math.min(total, first + innerHeight / 40 + 4); i++) rows.push(row(i));
            root.replaceChildren(...rows);
        };
        root.style = `position: relative; height: ${total * 40}px`; show(); addEventListener('scroll', show);
    """,
    "virtual scroller": """
        const inner = document.createElement('div'); root.append(inner);
        const show = () => {
            const first = Math.max(0, Math.floor(root.scrollTop / 40) - 2);
            for (let i = 0; i < 14; i++) {
                const it = row(Math.min(total - 1, first + i)), old = inner.children[i];
                if (old) { old.textContent = it.textContent; old.style.top = it.style.top } else inner.append(it);
            }
        };
        inner.style = `position: relative; height: ${total * 40}px`; root.style = 'height: 400px; overflow-y: scroll';
        show(); root.addEventListener('scroll', show);
    """,
}
LIST_APP = f"""
    const root = document.getElementById('root'), total = {ITEMS};
    const row = i => Object.assign(document.createElement('div'), {{
        textContent: `item ${{i}}.`, style: `position: absolute; height: 40px; top: ${{i * 40}}px` }});
    let next = 0, busy = false;
    const load = async count => {{
        if (busy || next >= total) return;
        busy = true; await fetch('/items.json');
        for (let i = 0; i < count && next < total; i++) {{
            const item = document.createElement('p'); item.textContent = `item ${{next++}}.`; root.append(item);
        }}
        busy = false;
    }};
"""
MORE = """
    const list = document.createElement('ul'), button = document.createElement('button');
    button.textContent = 'Mehr'; document.body.append(list, button);
    let next = 0;
    const add = () => setTimeout(() => {
        for (let i = 0; i < 5; i++) list.append(Object.assign(document.createElement('li'), {textContent: 'item ' + next++}));
        if (next >= 30) button.remove();
    }, 300);
    button.onclick = add; add();
"""


def test_long_lists_are_scrolled_to_their_end() -> None:
    async def visit() -> None:
        async with renderer() as one:
            for name, script in LISTS.items():
                result = await one.render(page(SHELL), Files({"/app.js": LIST_APP + script, "/items.json": "[]"}))
                assert isinstance(result, Rendered), (name, result)
                found = re.findall(rb">item (\d+)\.<", result.dom)
                assert list(map(int, dict.fromkeys(found))) == list(range(ITEMS)), (name, result.behaviours)
                assert result.behaviours[0].startswith("scroll "), name
        async with renderer(max_scrolls=1) as one:
            few = await one.render(page(SHELL), Files({"/app.js": LIST_APP + LISTS["observer"], "/items.json": "[]"}))
            assert isinstance(few, Rendered)
            assert b"item 99." not in few.dom

    run(visit())


def test_a_button_that_adds_to_its_list_is_pressed() -> None:
    result = run(rendered(SHELL, {"/app.js": MORE}))
    assert result.behaviours == ("load_more 5",)
    assert b"item 29" in result.dom


def test_nothing_is_pressed_on_a_site_with_credentials() -> None:
    async def visit() -> Rendered:
        one = ChromiumRenderer(RenderSettings(), signed_in=(SITE,))
        try:
            result = await one.render(page(SHELL), Files({"/app.js": MORE}))
        finally:
            await one.close()
        assert isinstance(result, Rendered), result
        return result

    result = run(visit())
    assert b"item 4" in result.dom
    assert b"item 5" not in result.dom
    assert result.behaviours == ()


def test_a_button_that_takes_away_is_not_believed() -> None:
    app = MORE.replace("button.onclick = add", "button.onclick = () => { document.body.innerHTML = 'deleted' }")
    result = run(rendered(SHELL, {"/app.js": app}))
    assert b"item 4" in result.dom
    assert b"deleted" not in result.dom


VIEWS = {
    "hash routes": "onhashchange = () => root.innerHTML = location.hash === '#/a' ? 'A <a href=#/b>b</a>' : 'B';"
    " root.innerHTML = '<a href=#/a>a</a>'",
    "buttons": "const home = () => root.innerHTML = '<div style=cursor:pointer onclick=go(1)>one</div>"
    "<a onclick=go(2)>two</a><button onclick=root.append(\\'revealed\\')>more</button>';"
    " window.go = n => { history.pushState({}, '', '/' + n); root.textContent = n }; onpopstate = home; home()",
    "drawn late": "const show = () => fetch('/a.json').then(r => r.text()).then(t => requestAnimationFrame("
    "() => { root.querySelector('p').textContent = t })); onhashchange = () => requestAnimationFrame(show);"
    " root.innerHTML = '<a href=#/a>a</a><p>home</p>'",
    "shadow tabs": "const shadow = root.attachShadow({mode: 'open'}); const inner = document.createElement('div');"
    " shadow.innerHTML = '<button>first</button><button>second</button>'; shadow.append(inner);"
    " const deep = inner.attachShadow({mode: 'open'}); deep.innerHTML = '<p>tab 1</p>';"
    " shadow.querySelectorAll('button').forEach((one, at) => one.onclick = () => deep.innerHTML = `<p>tab ${at + 1}</p>`)",
    "hash views with more": "const more = '<ul><li>1</li><li>2</li><li>3</li></ul><button id=b>older</button>';"
    " const show = () => { root.innerHTML = {'': '<a href=#/list>list</a>', '#/list': more + '<i onclick=go()>go</i>',"
    " '#/team': 'the team'}[location.hash]; root.querySelector('#b')?.addEventListener('click', () => {"
    " root.querySelector('ul').insertAdjacentHTML('beforeend', '<li>entry 4</li>'); b.remove() }) };"
    " window.go = () => location.hash = '#/team'; onhashchange = show; show()",
    "questions": "root.innerHTML = '<main><p>Before.</p><div><button>Is it open on Sundays?</button><p hidden>Yes.</p></div>"
    "<div><button>And on holidays, too?</button><p></p></div><p>After.</p></main>'; const [one, two] = "
    "root.querySelectorAll('button'); one.onclick = () => one.nextSibling.hidden = !one.nextSibling.hidden;"
    " two.onmousedown = () => two.nextSibling.append('No, never.')",
    "routes without a slash": "const show = () => root.innerHTML = location.hash === '#team' ? '<p>the team</p>'"
    " : '<a href=#team>team</a> <a href=#gone>gone</a> <a href=#here>here</a> <p id=here>a place</p>';"
    " onhashchange = show; show()",
    "drawer": "const home = () => root.innerHTML = '<button aria-label=menu><svg></svg></button>'; onclick = event => {"
    " if (event.target.closest('button')) document.body.insertAdjacentHTML('beforeend', '<div role=dialog id=drawer>'"
    " + [1, 2, 3].map(n => `<div role=button onclick=go(${n})>page ${n}</div>`).join('') + '</div>') };"
    " window.go = n => { window.drawer.remove(); history.pushState({}, '', '/' + n); root.textContent = n };"
    " onpopstate = home; home()",
    "next": "let n = 1; const show = () => root.innerHTML = `<p>part ${n} of the story</p><p>scene ${n}</p>"
    "<i>x</i><button ${n > 3 ? 'disabled' : ''}>Next</button>`; onclick = event => {"
    " if (event.target.matches('button')) { n++; show() } }; show()",
    "dialogs": "root.innerHTML = '<article><h1>Boats</h1><p>All boats.</p><button>Sizes</button><button>Join</button></article>';"
    " const [sizes, join] = root.querySelectorAll('button'); const open = html => document.body.insertAdjacentHTML("
    "'beforeend', `<div class=modal role=dialog>${html}</div>`); sizes.onclick = () => open('<p>From 4 to 12 m.</p>');"
    " join.onclick = () => open('<p>Your name</p><input>')",
    "cards": "root.innerHTML = [1, 2, 3, 4].map(n => `<div><b>card ${n}</b><button>Read more</button></div>`).join('');"
    " root.querySelectorAll('button').forEach((one, n) => one.onclick = () => {"
    " one.textContent = 'Read less'; one.before('the whole of ' + (n + 1)) })",
    "listeners": "root.innerHTML = '<ul><li>one</li><li>two</li></ul><p>text</p>'; root.querySelectorAll('li').forEach("
    "(one, n) => one.addEventListener('click', () => root.querySelector('p').textContent = 'tab number ' + n));"
    " root.querySelector('ul').addEventListener('click', () => {})",
    "pointer": "root.innerHTML = '<div>Point here</div>'; root.firstChild.onmouseenter = () =>"
    " root.append('Shown as long as the pointer is there, and in the page.')",
    "tips": "root.innerHTML = '<button>i</button>'; root.firstChild.onmouseover = () => root.append('a tip')",
    "delegated": "root.innerHTML = '<div>plain</div>'; root.firstChild[Symbol('events')] = {click() {"
    " this.append('shown by a press') }}; onclick = event => { for (const key of Object.getOwnPropertySymbols("
    "event.target)) event.target[key].click?.call(event.target) }",
    "menus in menus": "const show = text => root.innerHTML = text; const menu = n => `<button onclick=event.stopPropagation();"
    "go(${n})>menu ${n}</button>`; window.go = n => n > 2 ? (history.pushState({}, '', '/' + n), show('page ' + n)) : n === 1"
    " ? show(menu(1) + menu(2)) : show(menu(1) + menu(2) + menu(3) + menu(4)); onpopstate = () => show(menu(1));"
    " onclick = () => show(menu(1)); show(menu(1))",
    "pages": "let at = 1; root.innerHTML = '<p></p><nav><button></button><button></button><button></button></nav>';"
    " const all = [...root.querySelectorAll('button')];"
    " const show = n => { at = n; root.querySelector('p').textContent = `This is page ${n}`;"
    " all.forEach((one, i) => one.textContent = i === 1 ? Math.min(at + 1, 8) : i && 9 || 1) };"
    " all.forEach(one => one.onclick = () => show(+one.textContent)); show(1)",
    "closed": "root.attachShadow({mode: 'closed'}).innerHTML = '<p>in a closed root</p>'",
    "reload": "root.innerHTML = '<p>all of it</p><button>again</button>';"
    " root.querySelector('button').onclick = () => location.reload()",
    "consent": "root.innerHTML = '<div role=dialog><button>OK</button></div><p></p>';"
    " root.querySelector('button').onclick = () => root.querySelector('p').append('behind')",
}


def test_views_behind_buttons_and_hash_links_are_kept() -> None:
    async def visit(name: str, **signed_in: Any) -> Rendered:
        app = "const root = window.root = document.getElementById('root');" + VIEWS[name]
        one = ChromiumRenderer(RenderSettings(), **signed_in)
        try:
            result = await one.render(page(SHELL), Files({"/app.js": app, "/a.json": "later"}))
        finally:
            await one.close()
        assert isinstance(result, Rendered), (name, result)
        return result

    dom = run(visit("hash routes")).dom
    assert b'<section data-view="#/a">A <a href="#/b">b</a></section><section data-view="#/b">B</section>' in dom
    buttons = run(visit("buttons"))
    assert {f"{SITE}/1", f"{SITE}/2"} < set(buttons.links)
    assert b"revealed" in buttons.dom
    assert b"behind" in run(visit("consent")).dom
    assert b">later</section>" in run(visit("drawn late")).dom
    more = run(visit("hash views with more")).dom
    assert b"entry 4" in more
    assert b'<section data-view="#/team">the team</section>' in more
    questions = run(visit("questions")).dom
    assert b'<h6 data-view="label">Is it open on Sundays?</h6><p>Yes.</p></div>' in questions
    assert b'<h6 data-view="label">And on holidays, too?</h6>No, never.</section></div><p>After.' in questions
    assert b"in a closed root" in run(visit("closed")).dom
    slashless = run(visit("routes without a slash")).dom
    assert b'<section data-view="#team"><p>the team</p></section>' in slashless
    assert b'data-view="#here"' not in slashless
    assert {f"{SITE}/1", f"{SITE}/2", f"{SITE}/3"} < set(run(visit("drawer")).links)
    parts = run(visit("next")).dom
    assert all(f"part {number} of the story".encode() in parts for number in (1, 2, 3, 4))
    dialogs = run(visit("dialogs")).dom
    assert b'Sizes</button><section data-view="press 1"><div class=""><p>From 4 to 12 m.</p></div></section>' in dialogs
    assert b"Your name" not in dialogs
    cards = run(visit("cards")).dom
    assert all(f"the whole of {number}".encode() in cards for number in (1, 2, 3, 4))
    listeners = run(visit("listeners")).dom
    assert b"tab number 0" in listeners
    assert b"tab number 1" in listeners
    assert b"shown by a press" in run(visit("delegated")).dom
    assert {f"{SITE}/3", f"{SITE}/4"} < set(run(visit("menus in menus")).links)
    pages = run(visit("pages")).dom
    assert all(f"This is page {number}".encode() in pages for number in range(1, 10))
    assert b"Shown as long as the pointer is there" in run(visit("pointer")).dom
    assert b"a tip" not in run(visit("tips")).dom
    tabs = run(visit("shadow tabs")).dom
    assert b"<p>tab 1</p>" in tabs
    assert b"<p>tab 2</p>" in tabs
    assert b"all of it" in run(visit("reload")).dom
    signed_in = run(visit("buttons", signed_in=(SITE,)))
    assert signed_in.links == ()
    assert b"</button>revealed" not in signed_in.dom


def test_buttons_that_lead_to_other_places_on_other_pages_are_pressed_again() -> None:
    app = """const number = Number(location.pathname.slice(5));
    document.getElementById('root').innerHTML = '<button>Next</button><b onclick=go(0)>Home</b>';
    window.go = to => history.pushState({}, '', '/list' + to);
    document.querySelector('button').onclick = () => go(number + 1);"""

    async def visit() -> list[tuple[str, ...]]:
        async with renderer() as one:
            pages = [page(SHELL, url=f"{SITE}/list{number}") for number in (1, 2, 3)]
            results = [await one.render(one_page, Files({"/app.js": app})) for one_page in pages]
        return [result.links for result in results if isinstance(result, Rendered)]

    first, second, third = run(visit())
    assert {f"{SITE}/list0", f"{SITE}/list2"} <= set(first)
    assert f"{SITE}/list3" in second
    assert f"{SITE}/list4" in third
    assert f"{SITE}/list0" not in third  # Two pages showed where it leads.


def test_a_page_that_loads_itself_again_gets_the_cookies_of_its_scripts() -> None:
    async def respond(request: Request) -> FetchResult:
        return replace(page("<p>behind the check</p>"), url=request.url)

    html = "<p>One moment</p><script>setTimeout(() => { document.cookie = 'seen=1'; location.reload() }, 900)</script>"

    async def visit() -> tuple[Rendered, Files]:
        files = Files({"/page": respond})
        async with renderer() as one:
            result = await one.render(page(html), files)
        assert isinstance(result, Rendered), result
        return result, files

    result, files = run(visit())
    assert b"behind the check" in result.dom
    (request,) = files.asked
    assert request.headers == (("Cookie", "seen=1"),)


def test_a_button_that_never_ends_loses_nothing() -> None:
    result = run(rendered("<p>content</p><button onclick='for (;;);'>more</button><script></script>"))
    assert b"content" in result.dom
    assert result.ended is RenderEnd.TIMEOUT


def test_requests_are_bounded() -> None:
    app = "for (let i = 0; i < 30; i++) fetch('/' + i + '.json').then(r => r.text()).then(t => document.body.append(t.length))"
    answers = {f"/{number}.json": "x" * 1000 for number in range(30)}
    few = run(rendered(SHELL, {"/app.js": app, **answers}, max_requests=10))
    assert sum(one.status == 200 for one in few.requests) == 10
    assert "render.max_requests" in few.requests[-1].refused
    small = run(rendered(SHELL, {"/app.js": app, **answers}, max_bytes=5000))
    assert any("render.max_bytes" in one.refused for one in small.requests)


def test_images_cost_nothing_unless_a_screenshot_is_wanted() -> None:
    async def visit() -> None:
        files = Files({"/app.js": "document.title = 'x'"})
        html = (
            SHELL
            + "<body style='margin:0;background:#f00'><img src=/a.gif onerror=this.remove()><p style='height:3000px'>tall"
        )
        async with renderer(screenshot_height=2000) as one:
            plain = await one.render(page(html), files)
            assert isinstance(plain, Rendered), plain
            assert plain.screenshot is None
            assert files.paths() == ["/app.js"]
            assert b"<img" in plain.dom
            pictured = await one.render(page(html), files, wants_screenshot=True)
            assert isinstance(pictured, Rendered), pictured
            assert "/a.gif" in files.paths()
            assert pictured.screenshot is not None
            assert _webp_size(pictured.screenshot) == (1280, 2000)

    run(visit())


def _webp_size(image: bytes) -> tuple[int, int]:
    """Width and height of an extended WebP file (RFC 9649 section 2.7)."""
    assert (image[:4], image[8:16]) == (b"RIFF", b"WEBPVP8X")
    return int.from_bytes(image[24:27], "little") + 1, int.from_bytes(image[27:30], "little") + 1


def test_our_own_waiting_does_not_count_as_the_time_of_the_page() -> None:
    async def slow(request: Request) -> FetchResult:
        await asyncio.sleep(3)
        return replace(
            page("document.getElementById('root').append('came late')"), headers=(("Content-Type", "text/javascript"),)
        )

    result = run(rendered(SHELL, {"/app.js": slow}, max_time=timedelta(seconds=2.5)))
    assert b"came late" in result.dom


def test_an_error_of_our_own_client_ends_the_page() -> None:
    async def broken(request: Request) -> FetchResult:
        raise StoreUnavailable("the disk is full")

    with pytest.raises(StoreUnavailable, match="the disk is full"):
        run(render(SHELL, {"/app.js": broken}))


def test_a_killed_browser_is_replaced_and_the_page_rendered() -> None:
    async def visit() -> None:
        deaths: list[int] = []
        async with renderer() as one:

            async def kill(request: Request) -> FetchResult:
                if not deaths:
                    deaths.extend(_browsers())
                    for pid in deaths:
                        os.kill(pid, signal.SIGKILL)
                return Failed(request.url, Fault.NOT_FOUND, "404", timedelta(0), status=404)

            result = await one.render(page(SHELL + "<p>kept"), Files({"/app.js": kill}))
            assert deaths
            assert isinstance(result, Rendered), result
            assert b"<p>kept" in result.dom

    run(visit())


def _browsers() -> list[int]:
    """The browsers that this process started."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()
    return [int(pid) for pid in children if "remote-debugging-pipe" in Path(f"/proc/{pid}/cmdline").read_text("utf-8")]


def test_a_browser_is_replaced_after_its_pages_and_ends_with_the_renderer() -> None:
    async def visit() -> None:
        async with renderer(pages_per_browser=2) as one:
            seen = []
            for _ in range(4):
                assert isinstance(await one.render(page(SHELL), Files()), Rendered)
                seen.append(tuple(_browsers()))
            assert [len(pids) for pids in seen] == [1, 0, 1, 0]
        assert _browsers() == []
        result = await one.render(page(SHELL), Files())
        assert isinstance(result, RenderFailed)

    run(visit())


def test_a_missing_browser_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launch, "_REAL_BINARIES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run(render(SHELL))
    assert isinstance(result, RenderFailed)
    assert result.fault is RenderFault.NO_BROWSER
    assert "apt-get install chromium" in result.detail
    with pytest.raises(BrowserUnavailable, match=r"render\.browser: /nowhere/chrome cannot be run"):
        find_browser("/nowhere/chrome")


def test_the_browser_has_no_network_and_no_rights() -> None:
    async def visit() -> None:
        browser = await start_browser()
        try:
            status = Path(f"/proc/{browser.process.pid}/status").read_text("utf-8")
            assert "Seccomp:\t2" in status
            assert os.geteuid() or "Uid:\t0" not in status
            assert os.readlink(f"/proc/{browser.process.pid}/ns/net") != os.readlink("/proc/self/ns/net")
        finally:
            await browser.end()
        assert not browser.profile.exists()

    run(visit())
