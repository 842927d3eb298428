"""Small sites on their own loopback addresses, in a separate process, whose pages can be edited.

    python -m tests.e2e.outpost_web LOGFILE EDITS PAGES ADDRESS...

Prints one line of JSON with the origins, then serves until it is stopped. EDITS is a JSON file: page number -> number
of edits. The log has a line per request: monotonic seconds, origin, path, user agent.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TextIO

PARAGRAPHS = 40
BIG_BYTES = 1_000_000


def page_html(origin: str, number: int, pages: int, edits: int) -> bytes:
    """About 7 KB; each edit rewrites one paragraph."""
    links = [2 * number + 1, 2 * number + 2]
    anchors = "".join(f'<li><a href="/p/{n}.html">page {n}</a></li>' for n in links if n < pages)
    words = [
        " ".join(f"word{(number * 31 + place * 7 + step * 17) % 997}" for step in range(24))
        for place in range(PARAGRAPHS)
    ]
    if edits:
        words[edits % PARAGRAPHS] = f"Edited for the {edits}th time, with news of {number * 7919 + edits}."
    text = "".join(f"<p>{paragraph}</p>\n" for paragraph in words)
    return (
        f"<!doctype html><html lang=en><title>Page {number}</title>"
        f"<body><main><h1>Page {number} of {origin}</h1>\n{text}</main><ul>{anchors}</ul>"
    ).encode()


class Site:
    """One address."""

    def __init__(self, log: TextIO, edits: Path, pages: int) -> None:
        self.log = log
        self.edits = edits
        self.pages = pages
        self.origin = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                agent = next(line[12:].decode() for line in head.split(b"\r\n") if line.startswith(b"User-Agent: "))
                self.log.write(f"{time.monotonic():.6f} {self.origin} {path} {agent}\n")
                self.log.flush()
                writer.write(self.answer(path))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self, path: str) -> bytes:
        if path == "/robots.txt":
            return _answer(200, b"User-agent: *\nDisallow: /private/\n", "text/plain")
        if path.startswith("/big/"):
            data = b"\n".join(b"%d" % (n * 7919 % 1_000_003) for n in range(300_000))
            return _answer(200, data[:BIG_BYTES], "application/octet-stream")
        number = path.removeprefix("/p/").removesuffix(".html") if path != "/" else "0"
        if number.isdigit() and int(number) < self.pages:
            edits = json.loads(self.edits.read_text()).get(number, 0)
            return _answer(200, page_html(self.origin, int(number), self.pages, edits))
        return _answer(404, b"no such page")


def _answer(status: int, body: bytes, content_type: str = "text/html; charset=utf-8") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def main(log: TextIO, edits: Path, pages: int, addresses: list[str]) -> None:
    origins, servers = [], []
    for address in addresses:
        site = Site(log, edits, pages)
        server = await asyncio.start_server(site.serve, address, 0)
        site.origin = f"http://{address}:{server.sockets[0].getsockname()[1]}"
        servers.append(server)
        origins.append(site.origin)
    print(json.dumps(origins), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    with open(sys.argv[1], "a", encoding="ascii") as logfile:
        asyncio.run(main(logfile, Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
