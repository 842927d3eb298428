"""`make demo`: a small living web on this machine, crawled, changed and crawled again, without internet."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import click

from evercrawl.cli.main import run
from tests.worlds.demo_web import HOSTS, DemoWeb, serving

WIRE_LIMIT = "256KiB"
"""Small enough to truncate the demo's one large page."""

NOT_SHOWN = (
    "(The demo adds flags that are not shown: its hosts have no public names, and as they are our own,\n"
    "they are asked without a gap. Other people's sites are asked at most once a second.)"
)


def main() -> int:
    """Run the demo; return the exit code of the first command that fails."""
    began = time.monotonic()
    web = DemoWeb()
    with tempfile.TemporaryDirectory(prefix="evercrawl-demo-") as folder, serving(web) as port, _at(Path(folder)):
        code = _story(web, port)
    click.secho(f"\nThe demo took {time.monotonic() - began:.1f} s; its folder is removed again.", bold=True)
    click.echo(f"Next: {_command()} crawl https://your.site")
    return code


def _command() -> str:
    """`evercrawl` of this environment, as it can be typed from here."""
    beside = Path(sys.executable).with_name("evercrawl")
    if which("evercrawl") == str(beside) or not beside.exists():
        return "evercrawl"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)


def _story(web: DemoWeb, port: int) -> int:
    harbour = f"http://{HOSTS[0]}:{port}"
    flags = ["--pace", "own", "--allow-private", "--no-progress"]
    for host in HOSTS:
        flags += ["--resolve", f"{host}:{port}:127.0.0.1"]
    seeds = [f"http://{host}:{port}/" for host in HOSTS]

    pages = f"{web.page_count()} pages, one of them closed by robots.txt"
    _say(f"1. {len(HOSTS)} small sites now run on this machine: {pages}. Crawl them:")
    click.echo(f"{NOT_SHOWN}\n")
    codes = [_call(["-C", "demo.evercrawl", "crawl", *seeds, *flags], shown="crawl " + " ".join(seeds))]

    _say("2. Every URL that was not fetched has a reason:")
    codes += [_call(["skipped", "--by", "reason"])]
    for path in ("/private/ledger", "/lost", "/ships/old-name", "/logbook"):
        codes += [_call(["why", harbour + path])]
    codes += [_call(["why", f"http://{HOSTS[2]}:{port}/copy/tides"])]

    _say("3. The web lives: " + web.change() + ". Crawl again:")
    codes += [_call(["crawl", "--refresh", *flags], shown="crawl --refresh")]
    codes += [_call(["why", harbour + "/news/1"]), _call(["why", harbour + "/news/2"])]

    _say("4. The whole collection, and where the archive lies:")
    codes += [_call(["status"])]
    for file in sorted(Path("demo.evercrawl").rglob("*.warc.gz")):
        click.echo(f"{file.stat().st_size:>9,} bytes  {file}")
    return next((code for code in codes if code), 0)


def _call(arguments: list[str], *, shown: str | None = None) -> int:
    """Run a command as the shell would; hide flags that only the demo needs."""
    click.secho(f"$ evercrawl {shown or ' '.join(arguments)}", fg="cyan")
    sys.stdout.flush()
    code = run(arguments)
    sys.stderr.flush()
    click.echo()
    return code


def _say(text: str) -> None:
    click.secho(f"\n{text}\n", bold=True)


@contextmanager
def _at(folder: Path) -> Iterator[None]:
    """Work in `folder` without the user's settings, so that the demo is the same everywhere."""
    before, there = dict(os.environ), Path.cwd()
    for name in [name for name in os.environ if name.startswith("EVERCRAWL_")]:
        del os.environ[name]
    os.environ |= {
        "EVERCRAWL_CONTACT": "demo@example.org",
        "EVERCRAWL_HTTP__MAX_WIRE_BYTES": WIRE_LIMIT,
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(there)
        os.environ.clear()
        os.environ.update(before)


if __name__ == "__main__":
    sys.exit(main())
