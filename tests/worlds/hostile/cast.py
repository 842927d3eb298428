"""Turn rows of the catalogue of hostile servers into running sites."""

from __future__ import annotations

import asyncio
import html as markup
import itertools
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from tests.e2e.certificates import Authority, only_tls_1_0
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.servers import respond as respond_as
from tests.worlds.hostile.sites import Respond, Site, SiteRequest, Web, bytes_for, html, robots_txt

Spec = dict[str, Any]
ONLY_AT_HOME = ("redirect-with-fragment", "redirect-robots-blocked")
"""Rows where only the home page responds as described, not every path."""
LOOKED_AT = {"redirect-loop-self": "/same", "redirect-with-fragment": "/x"}
"""The path that a row is about, if it is not the seed's."""
HUGE = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5000000000\r\n\r\n"
LEVELS = "abcdefghijklmno"
LAUGHS = (
    "<!DOCTYPE r [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY {name} '{f'&{before};' * 10}'>" for before, name in itertools.pairwise(LEVELS))
    + "]><rss><channel><title>&o;</title></channel></rss>"
)  # fmt: skip


class Case(NamedTuple):
    """A row of the catalogue as a running site."""

    site: Site
    seeds: tuple[str, ...]
    look: str
    """The URL that the row is about."""


class Cast:
    """Turns rows into running sites. `outside` and `evil` must get no request."""

    def __init__(self, web: Web, authority: Authority) -> None:
        self.web = web
        self.authority = authority
        self.cases: dict[str, Case] = {}
        self.outside = web.add("out-of-scope", bytes_for(lambda asked: html("you should not see this")))
        self.evil = web.add("evil", bytes_for(lambda asked: html("nor this")))

    def seeds(self) -> list[str]:
        return [seed for case in self.cases.values() for seed in case.seeds]

    def put(self, row: dict[str, Any]) -> None:
        """Start the row's site."""
        name, spec = row["name"], row["server"]
        self.cases[name] = self._maker(row)(name, spec)

    def _maker(self, row: dict[str, Any]) -> Callable[[str, Spec], Case]:
        makers = {"link": self._with_link, "pages": self._with_pages, "content": self._with_content}
        by_group = {"tls": self._with_tls, "robots": self._with_robots}
        if row["name"] == "redirect-https-to-http":
            return self._from_tls_to_plain
        found = by_group.get(row["group"])
        return found or next((make for key, make in makers.items() if key in row["server"]), self._plain)

    def _case(self, site: Site, *paths: str, look: str = "/") -> Case:
        seeds = tuple(site.url(path) for path in paths or ("/",))
        return Case(site, seeds, site.url(look) if look.startswith("/") else look)

    def _plain(self, name: str, spec: Spec) -> Case:
        home = spec.get("url", "/")
        robots = robots_txt(f"User-agent: *\n{spec.get('robots', '')}\n")
        respond = at_home(spec) if name in ONLY_AT_HOME else as_described(name, self._aimed(spec))
        site = self.web.add(name, respond, robots=robots)
        if "Retry-After" in spec.get("headers", {}):
            return self._case(site, "/", "/second")
        return self._case(site, home, look=LOOKED_AT.get(name, home))

    def _aimed(self, spec: Spec) -> Spec:
        """Return the URL of another host that the row names; create it if needed."""
        headers = dict(spec.get("headers", {}))
        body = str(spec.get("body", ""))
        if "Location" in headers:
            place = self.outside.origin.removeprefix("http://")
            headers["Location"] = headers["Location"].replace("out-of-scope.test", place)
        for host in ("evil.test", "127.0.0.1:1"):
            body = body.replace(f"http://{host}/", self.evil.url())
        if body == "billion laughs in RSS":
            body, headers = LAUGHS, {"Content-Type": "application/rss+xml"}
        return spec | ({"headers": headers} if headers else {}) | ({"body": body} if body else {})

    def _with_link(self, name: str, spec: Spec) -> Case:
        """Serve a page with the row's link; its target on this site is a small page or a huge file."""
        link = ""

        async def respond(asked: SiteRequest, writer: asyncio.StreamWriter) -> bool:
            if asked.path == "/":
                return await send(html(f'<a href="{markup.escape(link)}">link</a>'), writer)
            if "headers" in spec:
                return await respond_as({"steps": [{"send": HUGE}, {"stream": "x"}]}, writer)
            return await send(html(f"{name} {asked.path} {asked.field('host')}"), writer)

        site = self.web.add(name, respond)
        link = self._link_of(name, spec["link"].partition(" (")[0], site)
        look = link.replace("\r\n", "")
        if name.startswith("idn-ho"):
            twin = link.replace("\u0430", "a")
            return Case(site, tuple(dict.fromkeys((site.url(), link + "start", twin + "start"))), look)
        return self._case(site, look=look)

    def _link_of(self, name: str, link: str, site: Site) -> str:
        if name == "url-1000-redirect-params":
            return site.url("/?u=" * 1000)
        if name.startswith("idn-ho"):
            for host in (link.split("/")[2], "apple.test"):
                self.web.names[host.encode("idna").decode()] = [["127.0.0.1"]]
            return f"{link.rstrip('/')}:{site.port}/"
        if name == "port-blocked" or ":0" in link:
            return link.replace("site.test", site.host)
        return link.replace("http://site.test", site.origin)

    def _with_robots(self, name: str, spec: Spec) -> Case:
        if "sitemap_lines" in spec.get("body_gen", {}):
            lines = (f"Sitemap: /map{number}.xml\n" for number in range(spec["body_gen"]["sitemap_lines"]))
            spec = {"body": "".join(lines)}
        described = as_described(name, spec)

        async def respond(asked: SiteRequest, writer: asyncio.StreamWriter) -> bool:
            if asked.path == "/robots.txt":
                return await described(asked, writer)
            return await send(html(f"{name} {asked.path}"), writer)

        return self._case(self.web.add(name, respond, robots=None), "/", "/second")

    def _with_pages(self, name: str, spec: Spec) -> Case:
        pages = spec["pages"]

        def answer(asked: SiteRequest) -> bytes:
            if isinstance(pages, dict):
                return answer_of({"status": 302, "headers": {"Location": pages[asked.path].split()[1]}})
            onward = f"/{int(asked.path[1:]) + 1}"
            if spec.get("by") == "refresh":
                return html(f'<meta http-equiv=refresh content="0;url={onward}">{asked.path}')
            return answer_of({"status": 302, "headers": {"Location": onward}})

        first, look = ("/a", "/b") if isinstance(pages, dict) else ("/0", "/10")
        return self._case(self.web.add(name, bytes_for(answer)), first, look=look)

    def _with_content(self, name: str, spec: Spec) -> Case:
        content = spec["content"].encode().decode("unicode_escape")
        if content.startswith("HTTP/"):
            spec = {"raw": content + "\r\nContent-Length: 0\r\n\r\n"}
        elif content.startswith("Content-Type: "):
            spec = {"headers": {"Content-Type": content.partition(": ")[2]}, "body": name}
        elif content == "<title> of 5 MB":
            spec = {"body": "<title>" + "x\x1b" * 2_500_000 + "</title>" + name}
        else:
            spec = {"body": f"{content}<p>{name} <a href='/file.zip?{content}'>{content}</a>"}
        return self._case(self.web.add(name, as_described(name, spec)))

    def _with_tls(self, name: str, spec: Spec) -> Case:
        kind = spec["tls"]
        if kind.startswith("plain"):
            return self._case(self.web.add_plain_on_tls_port(name))
        context = self.authority.server(
            "other.test" if kind == "wrong-host" else f"{name}.test",
            begins=timedelta(days=1 if kind == "not-yet-valid" else -1),
            ends=timedelta(days=2),
            with_sha1=kind == "sha1-signed",
            signed=kind != "self-signed",
        )
        if kind == "tls1.0-only":
            only_tls_1_0(context)
        answer = {"steps": [{"send": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}]}
        return self._case(self.web.add(name, as_described(name, answer), tls=context))

    def _from_tls_to_plain(self, name: str, spec: Spec) -> Case:
        plain = self.web.add(name + "-plain", bytes_for(lambda asked: html("plain")))
        spec = spec | {"headers": {"Location": plain.url()}}
        site = self.web.add(name, as_described(name, spec), tls=self.authority.server(f"{name}.test"))
        return Case(site, (site.url(), plain.url("/start")), site.url())


def as_described(name: str, spec: Spec) -> Respond:
    """Respond to every request as described; slow responses are prepared before the crawl."""
    if "steps" in spec or "raw" in spec:
        return lambda asked, writer: respond_as(spec, writer)
    if not {"body", "body_b64", "body_gen", "size"} & set(spec) and spec.get("status") != 304:
        spec = spec | {"body": f"<html><p>page of {name}</html>"}
    if spec.get("headers", {}).get("ETag") == "random on each answer":
        noise = random.Random(name)
        return bytes_for(lambda asked: answer_of(spec | {"headers": {"ETag": f'"{noise.random()}"'}}))
    if "<" in str(spec.get("headers")):
        return bytes_for(lambda asked: answer_of(spec))
    ready = answer_of(spec)
    return bytes_for(lambda asked: ready)


def at_home(spec: Spec) -> Respond:
    """Respond as described on the home page, with a small page elsewhere."""
    return bytes_for(lambda asked: answer_of(spec) if asked.path == "/" else html(f"page {asked.path}"))


async def send(answer: bytes, writer: asyncio.StreamWriter) -> bool:
    writer.write(answer)
    await writer.drain()
    return True
