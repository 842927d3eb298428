# ruff: noqa: E501  (scripts of pages)
"""Hostile pages in the real browser: each is bounded, none reaches this machine, and the next page renders."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest

from evercrawl.model.fetch import Rendered, RenderEnd, RenderFailed, RenderFault
from tests.e2e.fetching import fetcher, run
from tests.e2e.rendering import Answer, Files, listening, moved, page, renderer

TEXT = "<!DOCTYPE html><title>t</title><p>text of the page"
WORKER = "new Worker(URL.createObjectURL(new Blob([`{}`])))"
REACHING = {
    "redirect": "fetch('/to-canary'); document.body.append(new Image()); document.images[0].src = '/to-canary'",
    "fetch": "fetch('http://127.0.0.1:PORT/fetch', {mode: 'no-cors'}); fetch('http://localhost:PORT/name')",
    "navigation": "location.href = 'http://127.0.0.1:PORT/navigation'",
    "form": "document.body.innerHTML += '<form method=post action=http://127.0.0.1:PORT/form>';document.forms[0].submit()",
    "frame": "document.body.innerHTML += '<iframe src=http://127.0.0.1:PORT/frame></iframe><object data=http://127.0.0.1:PORT/o>'",
    "websocket": "for (const host of ['127.0.0.1', 'localhost']) new WebSocket(`ws://${host}:PORT/`).onopen = e => e.target.send('x')",
    "webtransport": "new WebTransport('https://127.0.0.1:PORT/')",
    "webrtc": "const c = new RTCPeerConnection({iceServers: [{urls: ['stun:127.0.0.1:PORT', 'turn:127.0.0.1:PORT?transport=tcp'],"
    " username: 'u', credential: 'c'}]}); c.createDataChannel('d'); c.createOffer().then(o => c.setLocalDescription(o))",
    "speculation": "const s = document.createElement('script'); s.type = 'speculationrules'; s.textContent = JSON.stringify("
    "{prefetch: [{source: 'list', urls: ['http://127.0.0.1:PORT/prefetch'], eagerness: 'immediate'}],"
    " prerender: [{source: 'list', urls: ['/prerender'], eagerness: 'immediate'}]}); document.head.append(s)",
    "hints": "document.head.innerHTML += ['preconnect', 'dns-prefetch', 'prefetch', 'preload', 'modulepreload', 'icon', 'manifest'].map("
    "rel => `<link rel=${rel} as=script crossorigin href=http://127.0.0.1:PORT/${rel}>`).join('')",
    "beacon": "navigator.sendBeacon('http://127.0.0.1:PORT/beacon', 'x'); addEventListener('pagehide', () => {"
    " navigator.sendBeacon('http://127.0.0.1:PORT/unload', 'x'); fetch('http://127.0.0.1:PORT/late', {keepalive: true})})",
    "ping": "const a = document.createElement('a'); a.href = '#x'; a.ping = 'http://127.0.0.1:PORT/ping'; document.body.append(a); a.click()",
    "eventsource": "new EventSource('http://127.0.0.1:PORT/events')",
    "worker": WORKER.format(
        "fetch('http://127.0.0.1:PORT/worker', {mode: 'no-cors'}); try { importScripts('http://127.0.0.1:PORT/import') } catch {}"
        " new Worker('http://127.0.0.1:PORT/nested')"
    ),
    "nested worker": "new Worker('/outer.js')",
    "shared worker": "new SharedWorker('/inner.js')",
    "service worker": "navigator.serviceWorker.register('/service.js')",
    "download": "const a = document.createElement('a'); a.href = 'http://127.0.0.1:PORT/file'; a.download = 'file'; a.click();"
    "const b = document.createElement('a'); b.href = '/attachment'; b.click()",
    "windows": "for (let i = 0; i < 50; i++) window.open('http://127.0.0.1:PORT/window' + i)",
    "style": "document.head.innerHTML += '<style>@import url(http://127.0.0.1:PORT/css);"
    "@font-face { font-family: f; src: url(http://127.0.0.1:PORT/font) } body { font-family: f; cursor: url(http://127.0.0.1:PORT/c) }</style>'",
    "media": "document.body.innerHTML += '<video src=http://127.0.0.1:PORT/v autoplay></video><audio src=http://127.0.0.1:PORT/a>"
    "<track src=http://127.0.0.1:PORT/t>'",
    "payment": "new PaymentRequest([{supportedMethods: 'http://127.0.0.1:PORT/pay'}], {total: {label: 'x', amount: {currency: 'USD', value: '1'}}}).show()",
    "report": "document.head.innerHTML += '<meta http-equiv=Content-Security-Policy content=\"img-src none\">'; new Image().src = '/x'",
}
"""Ways to reach the canary."""
HEADERS = (
    ("Link", "<http://127.0.0.1:PORT/link>; rel=preload; as=script"),
    ("Refresh", "0; url=http://127.0.0.1:PORT/refresh"),
    ("Report-To", '{"group":"g","max_age":9,"endpoints":[{"url":"http://127.0.0.1:PORT/report"}]}'),
    ("Content-Security-Policy-Report-Only", "default-src 'none'; report-uri http://127.0.0.1:PORT/csp"),
    ("Speculation-Rules", '"http://127.0.0.1:PORT/rules"'),
    ("Alt-Svc", 'h3="127.0.0.1:PORT"'),
)
INNER = (
    "fetch('http://127.0.0.1:PORT/inner', {mode: 'no-cors'}); try { new WebSocket('ws://127.0.0.1:PORT/') } catch {}"
)


def _files(port: int) -> dict[str, Answer]:
    answers: Mapping[str, Answer] = {
        "/to-canary": moved(f"http://127.0.0.1:{port}/moved"),
        "/outer.js": "new Worker('/middle.js')",
        "/middle.js": "new Worker('/inner.js')",
        "/inner.js": INNER.replace("PORT", str(port)),
        "/service.js": f"oninstall = () => {{ {INNER} }}".replace("PORT", str(port)),
        "/attachment": page("x" * 1000, headers=(("Content-Disposition", "attachment; filename=f.bin"),)),
    }
    return dict(answers)


def test_nothing_reaches_this_machine() -> None:
    async def visit() -> None:
        async with listening() as canary, fetcher(allow_private=False) as guarded, renderer() as one:
            files = Files(_files(canary.port), guarded.fetch)
            for name, script in REACHING.items():
                html = f"{TEXT}<body><script>{script}</script>".replace("PORT", str(canary.port))
                headers = tuple((field, value.replace("PORT", str(canary.port))) for field, value in HEADERS)
                result = await one.render(page(html, headers=headers), files, wants_screenshot=True)
                assert isinstance(result, Rendered), (name, result)
                assert b"text of the page" in result.dom, name
                assert canary.heard == [], name
            asked = [request.url for request in files.asked]
            assert any(f"127.0.0.1:{canary.port}/fetch" in url for url in asked)
            assert all(path in files.paths() for path in ("/outer.js", "/middle.js", "/inner.js", "/service.js"))

    run(visit())


ENDLESS = {
    "script": "while (true) {}",
    "alerts": "while (true) alert('again')",
    "dialogs": "for (;;) { confirm('x'); prompt('y'); print() }",
    "microtasks": "const again = () => Promise.resolve().then(again); again()",
    "timers": "const again = () => { setTimeout(again); setTimeout(again) }; again()",
    "frames": "const draw = () => { document.body.append('.'); requestAnimationFrame(draw) }; draw()",
    "worker": WORKER.format("for (;;) {}"),
    "many workers": f"for (let i = 0; i < 40; i++) {WORKER.format('for (;;) {}')}",
    "history": "for (let i = 0; ; i++) { try { history.pushState(i, '', '/p' + i) } catch {} }",
    "reload": "location.reload()",
    "regexp": "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "unload": "addEventListener('beforeunload', event => event.preventDefault()); onpagehide = () => { for (;;) {} }",
    "windows": "const again = () => { open('/page'); setTimeout(again) }; again()",
    "nested pages": "document.body.append(Object.assign(document.createElement('iframe'), {src: '/nested'}))",
    "requests": "for (let i = 0; i < 5000; i++) fetch('/file.json?' + i)",
    "debugger": "for (;;) { debugger }",
}
"""Pages that never end by themselves."""
LARGE = {
    "canvas": "for (const i of Array(8).keys()) { const c = document.createElement('canvas'); c.width = c.height = 16384;"
    " const d = c.getContext('2d', {willReadFrequently: true}); d.fillRect(0, 0, 16384, 16384); document.body.append(c); (window.k ??= []).push(d) }",
    "arrays": "window.kept = []; for (;;) kept.push(new Uint8Array(1 << 24).fill(1))",
    "objects": "let list = []; for (;;) list = [list, {a: 1, b: [2, 3]}, 'x'.repeat(100)]",
    "document": "for (;;) document.body.append('x'.repeat(1 << 20))",
    "wasm": "const m = new WebAssembly.Memory({initial: 1, maximum: 65536}); for (;;) { m.grow(1000); new Uint8Array(m.buffer).fill(1) }",
}
"""Pages that take all the memory they can get."""


def test_endless_pages_end() -> None:
    async def visit() -> None:
        files = Files({"/nested": "<iframe src=/nested?1></iframe>" * 3, "/file.json": "{}"})
        async with renderer(max_time=timedelta(seconds=1), max_scroll_time=timedelta(seconds=1)) as one:
            for name, script in ENDLESS.items():
                result = await one.render(page(f"{TEXT}<body><script>{script}</script>"), files)
                assert not isinstance(result, RenderFailed) or result.fault is RenderFault.HUNG, (name, result)
                if isinstance(result, Rendered):
                    assert b"text of the page" in result.dom, name
                plain = await one.render(page(TEXT), files)
                assert isinstance(plain, Rendered), (name, plain)
                assert plain.ended is RenderEnd.QUIET, name

    run(visit())


@pytest.mark.parametrize("name", LARGE)
def test_memory_is_bounded(name: str) -> None:
    async def visit() -> None:
        async with renderer(max_time=timedelta(seconds=30), max_memory=400_000_000) as one:
            result = await one.render(page(f"{TEXT}<body><script>{LARGE[name]}</script>"), Files())
            if isinstance(result, RenderFailed):
                assert result.fault in (RenderFault.MEMORY, RenderFault.CRASHED, RenderFault.TOO_LARGE), result
            plain = await one.render(page(TEXT), Files())
            assert isinstance(plain, Rendered), plain

    run(visit())


def test_files_of_this_machine_cannot_be_read() -> None:
    script = (
        "for (const url of ['file:///etc/passwd', 'view-source:file:///etc/passwd', 'chrome://version', 'devtools://devtools'])"
        " { fetch(url).then(r => r.text()).then(t => document.body.append('RE' + 'AD ' + t)).catch(() => {});"
        " const frame = document.createElement('iframe'); frame.src = url; document.body.append(frame); open(url);"
        " const link = document.createElement('a'); link.href = url; link.click() } location = 'file:///etc/passwd'"
    )

    async def visit() -> None:
        async with renderer() as one:
            result = await one.render(page(f"{TEXT}<body><script>{script}</script>"), files := Files())
            assert isinstance(result, Rendered), result
            assert b"READ" not in result.dom
            assert b"root:" not in result.dom
            assert files.asked == []

    run(visit())
