"""A small web of several sites on loopback, in a separate process, with a request log.

    python -m tests.e2e.web_server LOGFILE SITES PAGES [DELAY_MS]

Prints one line of JSON with the origins, then serves until it is stopped. Each site is a port. Page n links to 2n+1,
2n+2 and a few others, so that a crawl finds all pages; every page links to /private/, which robots.txt disallows. The
log has a line per request: monotonic seconds, port, path.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import TextIO


def page_html(port: int, number: int, pages: int) -> bytes:
    links = [2 * number + 1, 2 * number + 2, (number * 7) % pages, (number * 13 + 5) % pages]
    anchors = "".join(f'<li><a href="/p/{target}.html">page {target}</a></li>' for target in links if target < pages)
    words = " ".join(f"word{(number * 31 + step * 17 + port) % 997}" for step in range(120))
    return (
        f"<!doctype html><html lang=en><title>Page {number} of {port}</title>"
        f"<body><main><h1>Page {number}</h1><p>{words}</p></main>"
        f'<ul>{anchors}<li><a href="/private/{number}.html">no</a></ul>'
    ).encode()


class Site:
    """One port of the web."""

    def __init__(self, log: TextIO, pages: int, delay_s: float) -> None:
        self.log = log
        self.pages = pages
        self.delay_s = delay_s
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                self.log.write(f"{time.monotonic():.6f} {self.port} {path}\n")
                self.log.flush()
                await asyncio.sleep(self.delay_s)
                writer.write(self.answer(path))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self, path: str) -> bytes:
        if path == "/robots.txt":
            return _answer(200, b"User-agent: *\nDisallow: /private/\n", "text/plain")
        if path == "/":
            return _answer(200, page_html(self.port, 0, self.pages))
        number = path.removeprefix("/p/").removesuffix(".html")
        if number.isdigit() and int(number) < self.pages:
            return _answer(200, page_html(self.port, int(number), self.pages))
        return _answer(404, b"no such page")


def _answer(status: int, body: bytes, content_type: str = "text/html; charset=utf-8") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def main(log: TextIO, sites: int, pages: int, delay_ms: float) -> None:
    origins = []
    servers = []
    for _ in range(sites):
        site = Site(log, pages, delay_ms / 1000)
        server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
        site.port = server.sockets[0].getsockname()[1]
        servers.append(server)
        origins.append(f"http://127.0.0.1:{site.port}")
    print(json.dumps(origins), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    with open(sys.argv[1], "a", encoding="ascii") as logfile:
        delay = float(sys.argv[4]) if len(sys.argv) > 4 else 0.0
        asyncio.run(main(logfile, int(sys.argv[2]), int(sys.argv[3]), delay))
