"""Crawl in a network namespace where every address is this machine, so that only our address check protects it.

    unshare --user --map-root-user --net python -m tests.worlds.hostile.private_net FOLDER < PLAN

PLAN is JSON: `names` (host to sets of addresses), `seeds`, `robots` (host to [status, location] of its robots.txt),
`links` and `allow_private`. Prints JSON: the output of `why` for every link, and the address of every connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import evercrawl
from evercrawl.model.settings import DnsSettings, IdentitySettings, Settings
from tests.e2e.dns_server import name_server
from tests.worlds.hostile.servers import answer_of

PORTS = (80, 8000)
SETUP = ("ip link set lo up", "ip route add local default dev lo", "ip -6 route add local default dev lo")


class Everywhere:
    """One server at all addresses; /r/N redirects to the N-th link, every other page has all links."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.connections: list[tuple[str, str]] = []
        """Address and path of each request."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            address = writer.get_extra_info("sockname")[0]
            self.connections.append((address, ""))
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            host = head.split("Host: ")[1].split("\r\n")[0].partition(":")[0]
            path = head.split()[1]
            self.connections[-1] = (address, path)
            writer.write(self.answer(host, path))
            await writer.drain()
        writer.close()

    def answer(self, host: str, path: str) -> bytes:
        closing = {"Connection": "close"}
        if path == "/robots.txt":
            status, location = self.plan["robots"].get(host, (404, None))
            return answer_of({"status": status, "headers": closing | ({"Location": location} if location else {})})
        if path.startswith("/r/"):
            location = self.plan["links"][int(path[3:])]
            return answer_of({"status": 302, "headers": closing | {"Location": location}})
        numbers = range(len(self.plan["links"]))
        anchors = [
            f"<a href='{link}'>x</a><a href='/r/{n}'>x</a>" for n, link in zip(numbers, self.plan["links"], strict=True)
        ]
        return answer_of({"headers": closing, "body": f"{host}{path}" + "".join(anchors)})


@contextlib.asynccontextmanager
async def everywhere(plan: dict[str, Any]) -> AsyncIterator[Everywhere]:
    made = Everywhere(plan)
    async with contextlib.AsyncExitStack() as stack:
        for port in PORTS:
            for host in ("0.0.0.0", "::"):
                await stack.enter_async_context(await asyncio.start_server(made.serve, host, port))
        yield made


def settings_for(plan: dict[str, Any], name_server_at: str) -> Settings:
    base = Settings(
        identity=IdentitySettings(contact="test@example.org"),
        dns=DnsSettings(servers=(name_server_at,), min_ttl=timedelta(0)),
    )
    second = timedelta(seconds=1)
    return replace(
        base,
        http=replace(base.http, allow_private=plan["allow_private"], connect_timeout=second, first_byte_timeout=second),
        pace=replace(base.pace, mode="unlimited", delay=timedelta(seconds=0.02)),
        crawl=replace(base.crawl, idle_timeout=timedelta(seconds=2)),
    )


async def main(folder: Path, plan: dict[str, Any]) -> dict[str, Any]:
    async with everywhere(plan) as servers, name_server(plan["names"], ttl=0) as names:
        collection = evercrawl.open(folder / "c.evercrawl", create=True, settings=settings_for(plan, names.address))
        await collection.crawl(urls=plan["seeds"])
        found = {url: collection.why(url) for url in [*plan["links"], *plan["seeds"]]}
    return {
        "connections": servers.connections,
        "found": {url: [each.outcome, each.reason, each.detail] for url, each in found.items()},
    }


if __name__ == "__main__":
    for line in SETUP:
        subprocess.run(line.split(), check=True)
    print(json.dumps(asyncio.run(main(Path(sys.argv[1]), json.load(sys.stdin)))))
