"""Write the collection that later versions must open: the demo's web, crawled twice, packed as one file.

python -m tests.data.make_collection          once per minor version; commit tests/data/collections/VERSION.tar.gz
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from evercrawl.model import __version__
from tests.worlds.demo_web import HOSTS, DemoWeb, serving

FOLDER = Path(__file__).resolve().parent / "collections"
LEFT_OUT = (".log", ".lock")


def main() -> None:
    """Crawl, change the web, crawl again, and pack the collection."""
    web = DemoWeb()
    web.replies = {place: reply for place, reply in web.replies.items() if len(reply.body) < 50_000}
    with tempfile.TemporaryDirectory() as name, serving(web) as port:
        _crawl(Path(name), port)
        web.change()
        _crawl(Path(name), port, "--refresh")
        _pack(Path(name) / "old.evercrawl", FOLDER / f"{'.'.join(__version__.split('.')[:2])}.tar.gz")


def _crawl(folder: Path, port: int, *flags: str) -> None:
    command = [sys.executable, "-m", "evercrawl", "-q", "-C", "old.evercrawl", "crawl", f"http://{HOSTS[0]}:{port}/"]
    env = os.environ | {
        "XDG_CONFIG_HOME": str(folder / "config"),
        "EVERCRAWL_CONTACT": "docs@example.org",
        "EVERCRAWL_PACE__MODE": "unlimited",
        "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
        "EVERCRAWL_HTTP__RESOLVE": f"{HOSTS[0]}:{port}:127.0.0.1",
    }
    subprocess.run([*command, *flags], cwd=folder, env=env, check=True)


def _pack(collection: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    with tarfile.open(target, "w:gz", compresslevel=9) as out:
        for path in sorted(collection.rglob("*")):
            if path.is_file() and not path.name.endswith(LEFT_OUT) and path.name != "lock":
                data = path.read_bytes()
                info = tarfile.TarInfo(f"old.evercrawl/{path.relative_to(collection)}")
                info.size = len(data)
                out.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    main()
