"""The command `mcp`: let language-model agents search and read the collection."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext
from evercrawl.cli.options import with_cli
from evercrawl.cli.terminal import emit_json
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.web.mcp_server import HttpAddress

TOKEN_BYTES = 24


@click.command("mcp")
@click.option("--http", "address", metavar="HOST:PORT", help="Listen for HTTP at /mcp instead of standard input.")
@click.option(
    "--token",
    metavar="TEXT",
    envvar="EVERCRAWL_TOKEN",
    help="Token that HTTP clients send. Better: EVERCRAWL_TOKEN. Default: a new one, printed at the start.",
)
@click.option(
    "--allow",
    "permissions",
    multiple=True,
    type=click.Choice(["fetch", "watch"]),
    help="Let agents fetch one page at a time, or add pages to watch. Default: they only read. Repeatable.",
)
@click.option("--public-host", "public_hosts", multiple=True, metavar="NAME", help="Host name that a proxy passes on.")
@click.option(
    "--json", "as_json", is_flag=True, help="With --http: print the address and the token as one JSON object."
)
@with_cli
def mcp_command(
    cli: CliContext,
    /,
    address: str | None,
    token: str | None,
    permissions: tuple[str, ...],
    public_hosts: tuple[str, ...],
    as_json: bool,
) -> None:
    """Let language-model agents search and read the collection (Model Context Protocol).

    \b
    evercrawl -C example.org.evercrawl mcp                  for a client that starts this command
    evercrawl mcp --http 127.0.0.1:8790 --allow fetch       for clients that connect

    Agents can search, read pages as Markdown as of any date, compare versions and list changes. They change and
    fetch nothing unless you allow it; robots.txt, scope and delays apply then too.
    """
    from evercrawl.collection.agent_tools import AgentTools, parse_permissions
    from evercrawl.web.mcp_server import serve_http, serve_stdio

    with cli.open_collection() as collection:
        tools = AgentTools(collection, parse_permissions(permissions))
        limits = collection.settings.agents
        if address is None:
            asyncio.run(serve_stdio(tools, limits))
            return
        place = _parse_address(address)
        used = token or secrets.token_urlsafe(TOKEN_BYTES)

        def report(port: int) -> None:
            name = f"[{place.host}]" if ":" in place.host else place.host
            url = f"http://{name}:{port}/mcp"
            if as_json:
                emit_json("mcp", {"url": url, "token": used})
                return
            click.echo(f"MCP at {url}", err=True)
            if token is None:
                click.echo(f"Clients send: Authorization: Bearer {used}", err=True)

        asyncio.run(serve_http(tools, limits, place, token=used, public_hosts=public_hosts, on_start=report))


def _parse_address(text: str) -> HttpAddress:
    from evercrawl.web.mcp_server import HttpAddress

    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"{text!r} is not an address to listen on; write it like 127.0.0.1:8790")
    return HttpAddress(host.strip("[]"), int(port))
