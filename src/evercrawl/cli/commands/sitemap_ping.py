"""`evercrawl sitemap ping`: announce pages by IndexNow."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.model.settings import Settings
    from evercrawl.sitemaps.indexnow import Announced


@click.command("ping")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--from",
    "report",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="URLs from the JSON of `sitemap build` (added, changed, removed), or one a line. -: stdin.",
)
@click.option("--key", envvar="INDEXNOW_KEY", help="Your key. Otherwise INDEXNOW_KEY of the environment.")
@click.option(
    "--key-file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="The file that holds your key."
)
@click.option("--key-location", metavar="URL", help="Where the key file is served. Default: /KEY.txt.")
@click.option(
    "--make-key",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Make a key, write its file into this folder of your site, and end.",
)
@click.option("--endpoint", metavar="URL", help="The service. Default: https://api.indexnow.org/indexnow.")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Use this address, as curl does.")
@click.option("--json", "as_json", is_flag=True, help="Print how each request ended as JSON.")
@common_options
@pass_session
def command(session: Session, /, urls: tuple[str, ...], make_key: Path | None, as_json: bool, **options: Any) -> int:
    """Tell search engines by IndexNow which of your pages are new, changed or gone.

    \b
    evercrawl sitemap ping --make-key public/
    evercrawl sitemap ping --key KEY https://example.org/news/
    evercrawl sitemap build public/ --base-url https://example.org/ --json > news.json
    evercrawl sitemap ping --key KEY --from news.json

    At most 10,000 URLs go into one request; after a refusal no other is made. Of a first build nothing is
    announced: that all pages are new is no news. Exit codes: 0 when everything was taken (200 or 202), 1
    when the service refused, 4 when it cannot be reached.
    """
    if make_key is not None:
        return _make_key(session, make_key, as_json=as_json)
    from evercrawl.sitemaps.indexnow import ENDPOINT

    wanted = [*urls, *(_urls_in(options["report"]) if options["report"] is not None else ())]
    key = _key(options)
    if not wanted and options["report"] is None:
        raise ConfigError("nothing to announce: name URLs, or --from FILE")
    flags: dict[str, object] = {"http.allow_private": True} if options["allow_private"] else {}
    flags |= {"http.resolve": options["resolve"]} if options["resolve"] else {}
    settings = session.configured(None, flags).settings
    endpoint = options["endpoint"] or ENDPOINT
    done = asyncio.run(_announce(wanted, key, options["key_location"], endpoint, settings))
    _tell(session, done, as_json=as_json)
    if any(one.status is None for one in done):
        return ExitCode.NOTHING_REACHABLE
    return ExitCode.OK if all(one.is_taken for one in done) else ExitCode.ERROR


def _make_key(session: Session, folder: Path, *, as_json: bool) -> int:
    from evercrawl.sitemaps.indexnow import make_key

    key, path = make_key(folder)
    if as_json:
        emit_json("sitemap-key", {"key": key, "file": str(path)})
    else:
        click.echo(key)
        session.note(f"{path} proves it; serve it as /{path.name}")
    return ExitCode.OK


def _key(options: dict[str, Any]) -> str:
    from evercrawl.sitemaps.indexnow import checked_key, key_in

    if options["key"]:
        return checked_key(options["key"])
    if options["key_file"]:
        return key_in(options["key_file"])
    raise ConfigError("IndexNow needs a key: --key or --key-file; make one with --make-key DIR")


def _urls_in(path: Path) -> list[str]:
    """The URLs of a build's report, or one a line."""
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if not text.lstrip().startswith("{"):
        return [line.strip() for line in text.splitlines() if line.strip()]
    try:
        report = json.loads(text)
        if report.get("first"):
            return []
        unlisted = set(report["unlisted"])
        news = [*report["added"], *report["changed"], *report["removed"]]
        return [str(url) for url in news if url not in unlisted]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is not the JSON of `sitemap build`: {error!r}") from error


async def _announce(
    urls: list[str], key: str, key_location: str | None, endpoint: str, settings: Settings
) -> list[Announced]:
    from evercrawl.adapters.http.post import JsonPoster
    from evercrawl.core.identity import user_agent
    from evercrawl.core.url import canonical
    from evercrawl.model.version import __version__
    from evercrawl.sitemaps.indexnow import announce

    address = canonical(endpoint)
    if address is None:
        raise ConfigError(f"--endpoint {endpoint!r} is not a URL")
    poster = JsonPoster(settings, user_agent(settings.identity, __version__))
    try:
        return await announce(poster, urls, key=key, key_location=key_location, endpoint=address)
    finally:
        await poster.close()


def _tell(session: Session, done: list[Announced], *, as_json: bool) -> None:
    if as_json:
        fields = [one._asdict() | {"taken": one.is_taken} for one in done]
        announced = sum(one.urls for one in done if one.is_taken)
        emit_json("sitemap-ping", {"announced": announced, "requests": fields})
        return
    for one in done:
        status = "" if one.status is None else f" {one.status}"
        click.echo(f"{safe_line(one.host)}: {counted(one.urls, 'URL')}:{status} {safe_line(one.meaning)}")
        if one.retry_after is not None:
            session.note(f"  the service asks to wait {one.retry_after.total_seconds():,.0f} s")
    if not done:
        session.note("nothing to announce")
