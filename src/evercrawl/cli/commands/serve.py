"""The command `serve`: the web interface and the API."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, with_cli
from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.web.serve import ServeOptions, WebService


@click.command("serve")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--bind", default="127.0.0.1", metavar="ADDR", help="Address to listen on. Default: 127.0.0.1.")
@click.option(
    "--port", default=8787, type=click.IntRange(0, 65535), metavar="N", help="Port; 0: a free one. Default: 8787."
)
@click.option(
    "--replay-port", type=click.IntRange(0, 65535), metavar="N", help="Port for archived pages. Default: the next one."
)
@click.option("--public-url", metavar="URL", help="URL where others reach it, behind a proxy.")
@click.option("--replay-url", metavar="URL", help="The same for archived pages.")
@click.option(
    "--token",
    metavar="TEXT",
    envvar="EVERCRAWL_TOKEN",
    help="Token with full access while this process runs. Better: EVERCRAWL_TOKEN.",
)
@click.option("--password", is_flag=True, help="Ask for a new password first.")
@click.option("--read-only", is_flag=True, help="Allow no changes.")
@click.option("--public-archive", is_flag=True, help="Open Memento, CDX and archived pages to everyone.")
@click.option("--crawl", is_flag=True, help="Also keep the collection up to date, like watch.")
@click.option("--open/--no-open", "opens", default=True, help="Open a browser. Default: on a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the addresses as one JSON object.")
@with_cli
def serve_command(
    cli: CliContext,
    /,
    folder: Path | None,
    bind: str,
    port: int,
    replay_port: int | None,
    public_url: str | None,
    replay_url: str | None,
    token: str | None,
    password: bool,
    read_only: bool,
    public_archive: bool,
    crawl: bool,
    opens: bool,
    as_json: bool,
) -> int:
    """Open the web interface and the API, with Memento, CDX, IndexNow and metrics.

    \b
    evercrawl serve                               on this machine; without a collection, add sites in the browser
    evercrawl serve ~/collections                 all collections of a folder; add more in the browser
    evercrawl serve --crawl                       and keep the collection up to date
    evercrawl serve --token "$TOKEN" --no-open    for programs: Authorization: Bearer $TOKEN

    Another process may crawl the collection at the same time. Only this machine can connect, unless you use
    --bind and set a password or token. Press Ctrl-C to stop.
    """
    from evercrawl.web.serve import ServeOptions, WebService

    options = ServeOptions(
        bind=bind,
        port=port,
        replay_port=replay_port,
        public_url=public_url,
        replay_url=replay_url,
        token=token,
        read_only=read_only,
        public_archive=public_archive,
        crawl=crawl,
    )
    if token is not None and len(token) < _MIN_TOKEN_CHARS:
        raise ConfigError(
            f"--token needs at least {_MIN_TOKEN_CHARS} characters; create one with: openssl rand -hex 24"
        )
    several = _folder_to_serve(cli, folder)
    if several is not None:
        return _serve_folder(cli, several, options, password=password, opens=opens, as_json=as_json)
    path, is_new = (folder, False) if folder is not None else _collection_to_serve(cli, read_only=read_only)
    loaded = cli.load_settings(path)
    if password:
        if loaded.distrust is not None:
            raise ConfigError(f"no password can be set: {loaded.distrust.message()}; or use --token")
        _set_password(path)
    service = WebService(path, options)
    try:
        return asyncio.run(_serve_until_stopped(cli, service, opens=opens, as_json=as_json))
    finally:
        if is_new and not password and not cli.load_settings(path).settings.scope.seeds:
            shutil.rmtree(path, ignore_errors=True)  # Nothing was added.


def _folder_to_serve(cli: CliContext, folder: Path | None) -> Path | None:
    """Return the folder whose collections to serve: the given one unless it is a collection itself, or the one here if
    it has several. None: serve one collection."""
    from evercrawl.collection.folder import collections_in
    from evercrawl.config import enclosing_collection, is_collection

    if folder is not None:
        if cli.named_collection() is not None:
            raise ConfigError("give either FOLDER or -C")
        return None if is_collection(folder) else folder
    if cli.named_collection() is not None or enclosing_collection(Path.cwd()) is not None:
        return None
    return Path.cwd() if len(collections_in(Path.cwd())) > 1 else None


def _serve_folder(
    cli: CliContext, folder: Path, options: ServeOptions, *, password: bool, opens: bool, as_json: bool
) -> int:
    from evercrawl.web.folder_service import FolderService, trust_folder

    cli.load_settings(None)
    if not trust_folder(folder):
        if password:
            raise ConfigError(f"no password can be set in {folder}; if you trust it: evercrawl trust {folder}")
        cli.note(f"passwords and tokens stored in {folder} are not used; if you trust it: evercrawl trust {folder}")
    if password:
        _set_password(folder)
    return asyncio.run(_serve_until_stopped(cli, FolderService(folder, options), opens=opens, as_json=as_json))


FIRST_COLLECTION = "sites.evercrawl"


def _collection_to_serve(cli: CliContext, *, read_only: bool) -> tuple[Path, bool]:
    """Return the collection, and whether its folder was made: without one, sites can be added in the browser.
    A named folder must exist, so that a slip creates nothing."""
    from evercrawl.config import create_collection, find_collection

    named = cli.named_collection()
    is_empty = named is not None and named.is_dir() and not any(named.iterdir())
    if read_only or (not is_empty if named is not None else find_collection(Path.cwd()) is not None):
        return cli.require_collection(), False
    path = named or Path(FIRST_COLLECTION)
    create_collection(path)
    return path, named is None


def serve_while_watching(
    cli: CliContext, path: Path, port: int, *, flags: dict[str, object], refresh: bool, as_json: bool
) -> int:
    """Keep a collection up to date with these flags, and serve it."""
    from evercrawl.web.serve import ServeOptions, WebService

    options = ServeOptions(port=port, crawl=True, refresh=refresh)
    return asyncio.run(_serve_until_stopped(cli, WebService(path, options, flags=flags), opens=True, as_json=as_json))


_MIN_TOKEN_CHARS = 16


def _set_password(path: Path) -> None:
    from evercrawl.web.auth import MIN_PASSWORD_CHARS, AuthStore

    text = click.prompt("New password", hide_input=True, confirmation_prompt=True)
    if len(text) < MIN_PASSWORD_CHARS:
        raise ConfigError(f"a password needs at least {MIN_PASSWORD_CHARS} characters")
    auth = AuthStore(path)
    auth.set_password(text)
    auth.close()


async def _serve_until_stopped(cli: CliContext, service: WebService, *, opens: bool, as_json: bool) -> int:
    from evercrawl.cli.context import close_log, open_log

    loop = asyncio.get_running_loop()
    code = ExitCode.OK
    doors: list[Path] = []

    def handle_signal(number: int) -> None:
        nonlocal code
        code = ExitCode.OK if number == signal.SIGINT else ExitCode.TERMINATED
        service.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle_signal, number)

    def ready() -> None:
        if as_json:
            replay = service.replay_origin(service.address.partition("://")[2])
            fields = {"address": service.address, "first_link": service.first_link, "replay": replay}
            emit_json("serve", fields)
        cli.note(f"serving {service.state.path.resolve().name} at {service.address}; press Ctrl-C to stop")
        cli.note(f"open this link within 15 minutes; it works once:\n  {service.first_link}")
        if opens and cli.err.is_terminal and not cli.env.get("CI"):
            doors.append(write_door(service.state.path, service.first_link))
            loop.run_in_executor(None, webbrowser.open, doors[0].as_uri())

    open_log(service.state.path, verbose=cli.verbose)
    try:
        await service.run(on_ready=ready, say=cli.note)
    finally:
        for door in doors:
            door.unlink(missing_ok=True)
        close_log()
    return int(code)


def write_door(collection: Path, link: str) -> Path:
    """Write a page that only we can read and that leads to the link; return its path.
    The browser gets its name: everybody on this machine can read the command line of a process."""
    folder = collection if os.access(collection, os.W_OK) else None
    handle, name = tempfile.mkstemp(prefix="open-", suffix=".html", dir=folder)  # mkstemp: mode 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        shown = escape(link, quote=True)
        file.write(f'<!doctype html><title>evercrawl</title><meta http-equiv="refresh" content="0; url={shown}">')
        file.write(f'<a href="{shown}">Open evercrawl</a>\n')
    return Path(name).absolute()


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

        web = collection.settings.web
        asyncio.run(serve_http(tools, limits, place, token=used, public_hosts=public_hosts, on_start=report, web=web))


def _parse_address(text: str) -> HttpAddress:
    from evercrawl.web.mcp_server import HttpAddress

    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"{text!r} is not an address to listen on; write it like 127.0.0.1:8790")
    return HttpAddress(host.strip("[]"), int(port))
