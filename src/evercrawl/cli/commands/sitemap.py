"""The commands `sitemap build` and `sitemap serve`, for owners of sites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.commands.sitemap_audit import sitemap_check, sitemap_ping
from evercrawl.cli.context import CliContext, CommandGroup, common_options, with_cli
from evercrawl.cli.terminal import emit_json, format_duration, live_line, plural
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.sitemap import BuildReport, OnPage, SitemapTarget


@click.group("sitemap", cls=CommandGroup)
@common_options
def sitemap_command() -> None:
    """Build, serve, check and announce the sitemap of your own site.

    \b
    evercrawl sitemap build public/ --base-url https://example.org/
    evercrawl sitemap check https://example.org/ --json
    """


sitemap_command.add_command(sitemap_check)
sitemap_command.add_command(sitemap_ping)

MAX_SHOWN = 10
SHOW_EVERY = 50
WEB_SCHEMES = ("http://", "https://")


@sitemap_command.command("build")
@click.argument("source", required=False, metavar="[DIR|URL]")
@click.option(
    "--base-url", metavar="URL", help="URL of DIR. Default: from the last build, robots.txt, sitemap.xml or CNAME."
)
@click.option(
    "--to",
    "target",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Output folder. Default: DIR, or `sitemap` in the collection.",
)
@click.option(
    "--state",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="State file for the next build. Default: in your state folder.",
)
@click.option("--gzip", "packed", is_flag=True, help="Also write a .gz of every .xml file.")
@click.option("--llms-txt", is_flag=True, help="Also write llms.txt, a list of the main pages in Markdown.")
@click.option("--clean-urls", is_flag=True, help="Use /about for about.html.")
@click.option(
    "--ignore", multiple=True, metavar="PATTERN", help="Skip files or folders, such as 'drafts/*'. Repeatable."
)
@click.option(
    "--ending",
    "endings",
    multiple=True,
    metavar="EXT",
    help="File endings of pages. Default: html, htm, xhtml. Repeatable.",
)
@click.option("--full", is_flag=True, help="Read every file again, changed or not.")
@click.option("--allow-private", is_flag=True, help="With URL: allow private and loopback addresses.")
@click.option(
    "--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="With URL: connect to this address, like curl."
)
@click.option("--max-pages", metavar="N", help="With URL: crawl at most N pages. Default: 10000.")
@click.option("--pace", type=click.Choice(["gentle", "paper", "own"]), help="With URL: how gently to crawl.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@with_cli
def sitemap_build(cli: CliContext, /, source: str | None, as_json: bool, **options: Any) -> None:
    """Write sitemap.xml and sitemap-extended.xml with the date of each page's last real change.

    \b
    evercrawl sitemap build public/ --base-url https://example.org/
    evercrawl sitemap build https://example.org/ --to /var/www/html
    evercrawl sitemap build -C example.org.evercrawl --llms-txt

    A date changes with the title, description, main text or links of a page, but not with the file's time, the
    menu, footer or scripts. The first build uses the files' times; later builds read only modified files.
    Above 50,000 pages, sitemap.xml becomes an index of compressed parts. Pages with noindex, with another
    canonical URL, or forbidden by robots.txt are left out. A URL is first crawled into a collection.
    """
    with live_line(cli) as show:

        def on_page(pages: int) -> None:
            if pages % SHOW_EVERY == 0:
                show(f"{pages:,} pages")

        report, target = _build(cli, source, options, on_page)
    if as_json:
        emit_json("sitemap-build", _build_fields(report, target))
    else:
        _report_build(cli, report, target)


def _build(
    cli: CliContext, source: str | None, options: dict[str, Any], on_page: OnPage
) -> tuple[BuildReport, SitemapTarget]:
    if source is not None and not source.lower().startswith(WEB_SCHEMES):
        return _from_folder(cli, Path(source), options, on_page)
    return _from_collection(cli, source, options, on_page)


def _from_folder(
    cli: CliContext, folder: Path, options: dict[str, Any], on_page: OnPage
) -> tuple[BuildReport, SitemapTarget]:
    from evercrawl.collection.sitemap import PAGE_EXTENSIONS, FolderRules, build_from_folder

    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; write a site like https://example.org/")
    base_url = _base_url(cli, folder, options)
    rules = FolderRules(
        base_url,
        clean_urls=options["clean_urls"],
        extensions=tuple(one.lstrip(".").lower() for one in options["endings"]) or PAGE_EXTENSIONS,
        ignore=options["ignore"],
        agent=cli.load_settings(None).settings.identity.product,
    )
    target = _build_target(cli, folder, base_url, options)
    return build_from_folder(folder, rules, target, read_all=options["full"], on_page=on_page), target


def _base_url(cli: CliContext, folder: Path, options: dict[str, Any]) -> str:
    from evercrawl.collection.sitemap import detect_base_url, parse_base_url, read_state

    if options["base_url"] is not None:
        return parse_base_url(options["base_url"])
    return detect_base_url(folder, read_state(_state_file(cli, folder, options)))


def _from_collection(
    cli: CliContext, url: str | None, options: dict[str, Any], on_page: OnPage
) -> tuple[BuildReport, SitemapTarget]:
    from evercrawl.collection.sitemap import build_from_collection, collection_base_url, parse_base_url

    path = _crawl_site(cli, url, options) if url is not None else cli.require_collection()
    settings = cli.load_settings(path).settings
    base_url = parse_base_url(options["base_url"]) if options["base_url"] else collection_base_url(settings)
    default = path / "sitemap"
    if options["target"] is None:
        default.mkdir(exist_ok=True)
    target = _build_target(cli, default, base_url, options)
    return build_from_collection(path, settings, target, on_page=on_page), target


def _crawl_site(cli: CliContext, url: str, options: dict[str, Any]) -> Path:
    """Crawl the site like `evercrawl crawl URL`, and return its collection."""
    from evercrawl.cli.commands.crawl import execute_run, given_flags, plan_run

    names = ("allow_private", "resolve", "pace", "max_pages")
    plan = plan_run(cli, [url], flags=given_flags({name: options[name] for name in names}))
    code = execute_run(cli, plan, as_json=False)
    if code:
        cli.note(f"! the crawl ended with exit code {code}; the sitemap lists the pages found so far")
    return plan.path


def _build_target(cli: CliContext, default: Path, base_url: str, options: dict[str, Any]) -> SitemapTarget:
    from evercrawl.collection.sitemap import SitemapTarget

    folder: Path = options["target"] or default
    state = _state_file(cli, default, options)
    return SitemapTarget(folder, base_url, state, compressed=options["packed"], llms_txt=options["llms_txt"])


def _state_file(cli: CliContext, default: Path, options: dict[str, Any]) -> Path:
    from evercrawl.collection.sitemap import state_path

    state: Path = options["state"] or state_path(cli.env, options["target"] or default)
    return state


def _build_fields(report: BuildReport, target: SitemapTarget) -> dict[str, Any]:
    return {
        "folder": str(target.folder),
        "base_url": target.base_url,
        "first": report.is_first,
        "pages": report.pages,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unlisted": report.unlisted,
        "excluded": report.excluded,
        "files": report.files,
        "written": report.written,
        "seconds": round(report.seconds, 3),
    }


def _report_build(cli: CliContext, report: BuildReport, target: SitemapTarget) -> None:
    news = f"{len(report.added):,} added, {len(report.changed):,} changed, {len(report.removed):,} removed"
    cli.note(f"{plural(report.pages, 'page')}: {news}, in {format_duration(report.seconds)}")
    if not report.is_first:
        for sign, urls in (("+", report.added), ("~", report.changed), ("-", report.removed)):
            for url in urls[:MAX_SHOWN]:
                click.echo(f"{sign} {safe_line(url)}")
            if len(urls) > MAX_SHOWN:
                click.echo(f"{sign} and {len(urls) - MAX_SHOWN:,} more")
    for reason, pages in report.excluded.items():
        cli.note(f"  left out: {plural(pages, 'page')} ({reason})")
    written = ", ".join(report.written) or "already up to date"
    cli.note(f"  {target.folder}: {written}")
    if report.is_first:
        cli.note(f"  add this line to robots.txt: Sitemap: {target.base_url}sitemap.xml")


@sitemap_command.command("serve")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
@click.option("--clean-urls", is_flag=True, help="Use /about for about.html.")
@click.option("--json", "as_json", is_flag=True, help="Print URL and folder as JSON.")
@with_cli
def sitemap_serve(cli: CliContext, /, folder: Path, host: str, port: int, clean_urls: bool, as_json: bool) -> None:
    """Serve a folder with its sitemap, and the extended sitemap at `/sitemap.xml?XTND`.

    \b
    evercrawl sitemap build public/ --base-url http://127.0.0.1:8000/
    evercrawl sitemap serve public/

    For tests, and for small sites behind a proxy. nginx and Apache do the same with one line of configuration,
    Python applications with evercrawl.sitemaps.middleware. Hidden files are not served.
    """
    from evercrawl.collection.sitemap import STANDARD, create_server

    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")
    if not (folder / STANDARD).is_file():
        raise ConfigError(f"{folder} has no {STANDARD}; create it with: evercrawl sitemap build {folder}")
    with create_server(folder, host=host, port=port, clean_urls=clean_urls) as server:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{server.server_port}/"
        if as_json:
            emit_json("sitemap-serve", {"url": address, "folder": str(folder)})
        cli.note(f"serving {folder} at {address}; press Ctrl-C to stop")
        server.serve_forever(poll_interval=0.2)
