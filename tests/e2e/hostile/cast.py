"""From a row of the catalogue to a running site: what it answers, the seeds, and the URL that is asked
about.
"""

from __future__ import annotations

import asyncio
import html as markup
import random
from datetime import timedelta
from typing import Any, NamedTuple

from tests.e2e.certificates import Authority, only_tls_1_0
from tests.e2e.hostile.servers import answer_of
from tests.e2e.hostile.servers import respond as respond_as
from tests.e2e.hostile.sites import Asked, Respond, Site, Web, bytes_for, html, robots_txt

FIXED = ("redirect-with-fragment", "redirect-robots-blocked")
"""Here only the home page answers as described; elsewhere every path does."""
LAUGHS = (
    "<!DOCTYPE r [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY {'abcdefghijklmnop'[n]} '{('&' + 'abcdefghijklmnop'[n - 1] + ';') * 10}'>" for n in range(1, 15))
    + "]><rss><channel><title>&o;</title></channel></rss>"
)


class Case(NamedTuple):
    """A row on stage."""

    site: Site
    seeds: tuple[str, ...]
    look: str
    """The URL whose fate the row is about."""


class Cast:
    """Puts rows on stage; bystanders are sites that nobody may ask for anything."""

    def __init__(self, web: Web, authority: Authority) -> None:
        self.web = web
        self.authority = authority
        self.cases: dict[str, Case] = {}
        self.outside = self._bystander("out-of-scope")
        self.evil = self._bystander("evil")

    def _bystander(self, name: str) -> Site:
        return self.web.add(name, bytes_for(lambda asked: html("you should not see this")))

    def seeds(self) -> list[str]:
        return [seed for case in self.cases.values() for seed in case.seeds]

    def put(self, row: dict[str, Any]) -> None:
        """The row's site runs from now on."""
        name, spec = row["name"], row["server"]
        if row["group"] == "tls" or name == "redirect-https-to-http":
            case = self._with_tls(name, spec)
        elif "link" in spec:
            case = self._with_link(name, spec)
        elif row["group"] == "robots":
            case = self._with_robots(name, spec)
        elif "pages" in spec:
            case = self._with_pages(name, spec["pages"])
        elif "content" in spec:
            case = self._with_content(name, spec["content"])
        else:
            case = self._plain(name, spec)
        self.cases[name] = case

    def _case(self, site: Site, *paths: str, look: str = "/") -> Case:
        seeds = tuple(site.url(path) for path in paths or ("/",))
        return Case(site, seeds, site.url(look) if look.startswith("/") else look)

    def _plain(self, name: str, spec: dict[str, Any]) -> Case:
        home = spec.get("url", "/")
        robots = robots_txt(f"User-agent: *\n{spec['robots']}\n") if "robots" in spec else None
        respond = self._at_home_only(spec) if name in FIXED else as_described(name, self._aimed(spec))
        site = self.web.add(name, respond, **({"robots": robots} if robots else {}))
        if "Retry-After" in spec.get("headers", {}):
            return self._case(site, "/", "/second")
        look = {"redirect-loop-self": "/same", "redirect-with-fragment": "/x"}.get(name, home)
        return self._case(site, home, look=look)

    def _aimed(self, spec: dict[str, Any]) -> dict[str, Any]:
        """The row's other hosts are our bystanders."""
        location = spec.get("headers", {}).get("Location", "").replace("out-of-scope.test", self.outside.origin[7:])
        spec = spec | ({"headers": {"Location": location}} if location else {})
        if "base href" in spec.get("body", ""):
            spec["body"] = spec["body"].replace("evil.test", self.evil.origin[7:])
        if "laughs" in spec.get("body", ""):
            spec |= {"body": LAUGHS, "headers": {"Content-Type": "application/rss+xml"}}
        return spec | ({"body": spec["body"].replace("127.0.0.1:1", self.evil.origin[7:])} if "ENTITY %" in spec.get("body", "") else {})

    def _at_home_only(self, spec: dict[str, Any]) -> Respond:
        return bytes_for(lambda asked: answer_of(spec) if asked.path == "/" else html(f"page {asked.path}"))

    def _with_link(self, name: str, spec: dict[str, Any]) -> Case:
        """A page with the row's link; whatever it leads to on this site is a small page, or as described."""
        link = ""

        def answer(asked: Asked) -> bytes:
            if asked.path == "/":
                return html(f'<a href="{markup.escape(link)}">link</a>')
            return html(f"{name} {asked.path} {asked.field('host')}")

        site = self.web.add(name, huge_behind(answer) if "headers" in spec else bytes_for(answer))
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

    def _with_robots(self, name: str, spec: dict[str, Any]) -> Case:
        if "sitemap_lines" in spec.get("body_gen", {}):
            lines = (f"Sitemap: /map{number}.xml\n" for number in range(spec["body_gen"]["sitemap_lines"]))
            spec = {"body": "".join(lines)}
        described = as_described(name, spec)

        async def respond(asked: Asked, writer: asyncio.StreamWriter) -> bool:
            if asked.path == "/robots.txt":
                return await described(asked, writer)
            return await bytes_for(lambda _: html(name))(asked, writer)

        return self._case(self.web.add(name, respond, robots=None), "/", "/second")

    def _with_pages(self, name: str, pages: dict[str, str] | str) -> Case:
        def answer(asked: Asked) -> bytes:
            number = asked.path.strip("/")
            target = pages[asked.path].split()[1] if isinstance(pages, dict) else f"/{int(number) + 1}"
            return answer_of({"status": 302, "headers": {"Location": target}, "body": ""})

        first, look = ("/a", "/b") if isinstance(pages, dict) else ("/0", "/10")
        return self._case(self.web.add(name, bytes_for(answer)), first, look=look)

    def _with_content(self, name: str, content: str) -> Case:
        content = content.encode().decode("unicode_escape")
        if content.startswith("HTTP/"):
            spec: dict[str, Any] = {"raw": content + "\r\nContent-Length: 0\r\n\r\n"}
        elif content.startswith("Content-Type: "):
            spec = {"headers": {"Content-Type": content.partition(": ")[2]}, "body": name}
        elif content == "<title> of 5 MB":
            spec = {"body": "<title>" + "x\x1b" * 2_500_000 + "</title>" + name}
        else:
            spec = {"body": f"{content}<p>{name} <a href='/file.zip?{content}'>x</a>"}
        return self._case(self.web.add(name, as_described(name, spec)))

    def _with_tls(self, name: str, spec: dict[str, Any]) -> Case:
        kind, host = spec.get("tls"), f"{name}.test"
        if kind and kind.startswith("plain"):
            site = self.web.add(name, as_described(name, {"status": 400}))
            site.scheme = "https"
            return self._case(site)
        context = self.authority.server(
            "other.test" if kind == "wrong-host" else host,
            begins=timedelta(days=1 if kind == "not-yet-valid" else -1),
            ends=timedelta(days=2),
            with_sha1=kind == "sha1-signed",
        )
        if kind == "tls1.0-only":
            only_tls_1_0(context)
        if kind is None:
            plain = self.web.add(name + "-plain", bytes_for(lambda asked: html("plain")))
            spec = {"status": 302, "headers": {"Location": plain.url()}}
            site = self.web.add(name, as_described(name, spec), tls=context)
            return Case(site, (site.url(), plain.url("/start")), site.url())
        raw = {"steps": [{"send": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}]}
        return self._case(self.web.add(name, as_described(name, raw), tls=context))


def as_described(name: str, spec: dict[str, Any]) -> Respond:
    """Every request is answered as described; what takes long to make is made before the crawl begins."""
    if "steps" in spec or "raw" in spec:
        return lambda asked, writer: respond_as(spec, writer)
    if not {"body", "body_b64", "body_gen", "size"} & set(spec) and spec.get("status") != 304:
        spec = spec | {"body": f"<html><p>page of {name}</html>"}
    if "random on each answer" in str(spec):
        noise = random.Random(name)
        return bytes_for(lambda asked: answer_of(spec | {"headers": {"ETag": f'"{noise.random()}"'}}))
    if "<" in str(spec.get("headers")):
        return bytes_for(lambda asked: answer_of(spec))
    ready = answer_of(spec)
    return bytes_for(lambda asked: ready)


def huge_behind(answer: Any) -> Respond:
    """The file behind the link claims five gigabytes, and sends them for as long as it is let."""

    async def respond(asked: Asked, writer: asyncio.StreamWriter) -> bool:
        if asked.path == "/":
            return await bytes_for(answer)(asked, writer)
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5000000000\r\n\r\n"
        return await respond_as({"steps": [{"send": head}, {"stream": "x"}]}, writer)

    return respond
