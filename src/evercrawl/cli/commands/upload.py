"""`evercrawl store upload`: archive files to object storage, without a crawl."""

from __future__ import annotations

import click

from evercrawl.cli.counter import live_line
from evercrawl.cli.output import counted, emit_json, size
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError


@click.command("upload")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def command(session: Session, as_json: bool) -> None:
    """Bring the archive files that are not there yet to the storage of `archive.url`.

    A crawl does this beside its work. This is for what an earlier run could not bring away, and for an
    archive that was crawled before `archive.url` was set; a crawl may run meanwhile.

    \b
    evercrawl config set archive.url "s3://bucket/prefix?endpoint=https://s3.example.org"
    evercrawl store upload --json
    """
    from evercrawl.adapters.objectstore.bucket import bucket_at
    from evercrawl.adapters.objectstore.journal import say_place
    from evercrawl.adapters.objectstore.upload import upload_all

    collection = session.require_collection()
    settings = session.configured(collection).settings.archive
    if settings.url is None:
        raise ConfigError("archive.url is not set; set it with: evercrawl config set archive.url s3://...")
    folder = collection / "archive"
    say_place(folder, settings.url)
    with live_line(session) as show:
        done = upload_all(
            folder,
            bucket_at(settings.url),
            keep_local=settings.keep_local,
            on_file=lambda so_far: show(f"{so_far.files} files · {size(so_far.bytes)}"),
        )
    if as_json:
        emit_json("store-upload", {"files": done.files, "bytes": done.bytes, "busy": done.busy})
    else:
        left = f"; {counted(done.busy, 'file')} still being written" if done.busy else ""
        click.echo(f"{counted(done.files, 'file')} uploaded, {size(done.bytes)}{left}")
