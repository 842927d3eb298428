"""`evercrawl serve`: look at a collection in a browser, and let programs ask it."""

from __future__ import annotations

import asyncio
import signal
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import common_options
from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.web.serve import Service, Serving


@click.command("serve")
@click.option("--bind", default="127.0.0.1", metavar="ADDR", help="Address to listen at. Default: 127.0.0.1.")
@click.option(
    "--port", default=8787, type=click.IntRange(0, 65535), metavar="N", help="Port; 0: any free one. Default: 8787."
)
@click.option(
    "--replay-port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port of the origin that shows archived pages. Default: the next one.",
)
@click.option("--public-url", metavar="URL", help="Address at which others reach it, behind a proxy.")
@click.option("--replay-url", metavar="URL", help="The same of the origin that shows archived pages.")
@click.option(
    "--token",
    metavar="TEXT",
    envvar="EVERCRAWL_TOKEN",
    help="A token that may do everything while this process runs; better in EVERCRAWL_TOKEN.",
)
@click.option("--password", is_flag=True, help="Ask for a password on the terminal and set it first.")
@click.option("--read-only", is_flag=True, help="Show, and change nothing.")
@click.option("--public-archive", is_flag=True, help="Let anybody ask for Memento, CDX and archived pages.")
@click.option("--crawl", is_flag=True, help="Keep the collection fresh in this process, as watch does.")
@click.option("--open/--no-open", "opens", default=True, help="Open a browser. Default: on a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the addresses as one JSON object on stdout.")
@common_options
@pass_cli
def serve_command(
    cli: CliContext,
    /,
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
    """Serve the web interface, the REST API, Memento, CDX, IndexNow and metrics of a collection.

    \b
    evercrawl serve                                  on this machine, with a link that opens it once
    evercrawl serve --crawl                          and keep the collection fresh beside it
    evercrawl serve --token "$TOKEN" --no-open       for programs: Authorization: Bearer $TOKEN

    The collection may be crawled by another process meanwhile. Only this machine can connect unless --bind
    says otherwise, and that is refused as long as nobody could log in. Ctrl-C ends it.
    """
    from evercrawl.web.serve import Service, Serving

    how = Serving(
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
    path = cli.require_collection()
    cli.configured(path)
    if token is not None and len(token) < _MIN_TOKEN_CHARS:
        raise ConfigError(f"--token needs at least {_MIN_TOKEN_CHARS} characters; make one with: openssl rand -hex 24")
    if password:
        _set_password(path)
    service = Service(path, how)
    return asyncio.run(_serve_until_stopped(cli, service, how, opens=opens, as_json=as_json))


def serve_while_watching(cli: CliContext, path: Path, port: int, *, flags: dict[str, object], as_json: bool) -> int:
    """Keep a collection fresh with these flags, and serve it meanwhile."""
    from evercrawl.web.serve import Service, Serving

    how = Serving(port=port, crawl=True)
    return asyncio.run(_serve_until_stopped(cli, Service(path, how, flags=flags), how, opens=True, as_json=as_json))


_MIN_TOKEN_CHARS = 16


def _set_password(path: Path) -> None:
    from evercrawl.web.keyring import LEAST_PASSWORD, Keyring

    text = click.prompt("New password", hide_input=True, confirmation_prompt=True)
    if len(text) < LEAST_PASSWORD:
        raise ConfigError(f"a password needs at least {LEAST_PASSWORD} characters")
    keyring = Keyring(path)
    keyring.set_password(text)
    keyring.close()


async def _serve_until_stopped(cli: CliContext, service: Service, how: Serving, *, opens: bool, as_json: bool) -> int:
    from evercrawl.cli.context import close_log, open_log

    loop = asyncio.get_running_loop()
    code = ExitCode.OK

    def ended(number: int) -> None:
        nonlocal code
        code = ExitCode.OK if number == signal.SIGINT else ExitCode.TERMINATED
        service.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended, number)

    def ready() -> None:
        if as_json:
            replay = service.replay_origin(service.address.partition("://")[2])
            fields = {"address": service.address, "first_link": service.first_link, "replay": replay}
            emit_json("serve", fields)
        cli.note(f"evercrawl serves {service.desk.path.name} at {service.address}")
        cli.note(f"open this link once, within 15 minutes:\n  {service.first_link}")
        cli.note("[Ctrl-C ends it]")
        if opens and cli.err.is_terminal and not cli.env.get("CI"):
            loop.run_in_executor(None, webbrowser.open, service.first_link)

    open_log(service.desk.path, verbose=cli.verbose)
    try:
        await service.run(on_ready=ready, say=cli.note)
    finally:
        close_log()
    return int(code)
