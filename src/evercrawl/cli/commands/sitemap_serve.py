"""`evercrawl sitemap serve`: a site and its sitemaps on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from evercrawl.cli.output import emit_json
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError


@click.command("serve")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--clean-urls", is_flag=True, help="about.html is served as /about.")
@click.option("--json", "as_json", is_flag=True, help="Print address and folder as one JSON object.")
@common_options
@pass_session
def command(session: Session, /, folder: Path, host: str, port: int, clean_urls: bool, as_json: bool) -> None:
    """Serve a folder, its sitemaps and, for `/sitemap.xml?XTND`, its extended sitemap.

    \b
    evercrawl sitemap build public/ --base-url http://127.0.0.1:8000/
    evercrawl sitemap serve public/

    For trying out and for small sites behind a proxy; nginx and Apache do the same with a line of
    configuration, and Python applications with evercrawl.sitemaps.wsgi or evercrawl.sitemaps.asgi. Files with a
    name that begins with a dot are not given. Ctrl-C ends it.
    """
    from evercrawl.sitemaps.answer import STANDARD
    from evercrawl.sitemaps.static import server_for

    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")
    if not (folder / STANDARD).is_file():
        raise ConfigError(f"{folder} has no {STANDARD}; make it with: evercrawl sitemap build {folder}")
    with server_for(folder, host=host, port=port, clean_urls=clean_urls) as server:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{server.server_port}/"
        if as_json:
            emit_json("sitemap-serve", {"url": address, "folder": str(folder)})
        session.note(f"{address} serves {folder}; Ctrl-C ends it")
        server.serve_forever(poll_interval=0.2)
