"""Carry out `deploy/Containerfile` in chroots where there is no container builder, then use the result like a user.

    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm BASE
    python3 deploy/try_image.py BASE WORK [browser]        needs root; the last line is JSON

Each FROM is a copy of BASE or of an earlier stage, each RUN a command in it. The program then runs as the image's user,
with the root file system read-only, /data and /tmp writable. A small site on this machine is crawled and browsed.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BASE_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8"}
START_S = 60
PAGES = {
    "/": "<title>Harbour</title><p>Ships arrive at noon. <a href='/tides'>Tides</a> <a href='/app'>App</a>",
    "/tides": "<title>Tides</title><h1>Tides</h1><p>High water at eight, low water at two.",
    "/app": "<title>App</title><div id='app'></div><script>app.append('Keepers watch the lighthouse.')</script>",
}


@dataclass
class Stage:
    """One stage of the file: its root folder and what later steps and the start need."""

    root: Path
    env: dict[str, str] = field(default_factory=lambda: dict(BASE_ENV))
    workdir: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions with their arguments; continued lines are joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines)
    return [(word.upper(), rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines()) if word]


def build(target: str, base: Path, work: Path) -> Stage:
    """Carry out the stages up to the target."""
    stages: dict[str, Stage] = {}
    stage = Stage(base)
    for word, rest in instructions((ROOT / "deploy/Containerfile").read_text()):
        match word:
            case "FROM":
                if target in stages:
                    break
                source, _, name = rest.split()
                before = stages.get(source)
                print(f"stage {name} from {source}", flush=True)
                stage = stages[name] = _copy_stage(before or Stage(base), work / name)
            case "COPY":
                _copy(stage, stages, rest)
            case "RUN":
                print(f"  {rest[:100]}", flush=True)
                _chroot(stage, ["sh", "-euc", rest])
            case "ENV":
                stage.env |= dict(pair.split("=", 1) for pair in shlex.split(rest))
            case "WORKDIR":
                stage.workdir = rest
                (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                stage.user = rest
            case "ENTRYPOINT":
                stage.entrypoint = json.loads(rest)
            case "CMD":
                stage.command = json.loads(rest)
            case "HEALTHCHECK":
                stage.health = json.loads(rest.partition("CMD ")[2])
            case "VOLUME" | "EXPOSE" | "STOPSIGNAL":
                pass
            case _:
                raise SystemExit(f"{word} is not known here")
    return stages[target]


def _copy_stage(before: Stage, root: Path) -> Stage:
    subprocess.run(["cp", "-a", str(before.root), str(root)], check=True)
    return Stage(root, dict(before.env), before.workdir, before.user, before.entrypoint, before.command, before.health)


def _copy(stage: Stage, stages: dict[str, Stage], rest: str) -> None:
    words = rest.split()
    flags = dict(word[2:].split("=") for word in words if word.startswith("--"))
    *sources, target = [word for word in words if not word.startswith("--")]
    origin = stages[flags["from"]].root if "from" in flags else ROOT
    place = stage.root / os.path.join(stage.workdir, target).lstrip("/")
    for source in sources:
        path = origin / source.lstrip("/")
        to = place / path.name if target.endswith("/") else place
        shutil.copytree(path, to, symlinks=True) if path.is_dir() else shutil.copy(path, to)
        if "chmod" in flags:
            to.chmod(int(flags["chmod"], 8))


def _chroot(stage: Stage, command: list[str]) -> None:
    shutil.copy("/etc/resolv.conf", stage.root / "etc/resolv.conf")
    # As docker build does: the builder's proxy and package index settings are arguments, not part of the image.
    passed = {name: value for name, value in os.environ.items() if name.lower().endswith(("_proxy", "_index_url"))}
    for path in ("etc/pip.conf", "etc/ssl/certs/ca-certificates.crt"):
        if Path("/", path).exists():
            shutil.copy(Path("/", path), stage.root / path)
    passed["PIP_CERT"] = "/etc/ssl/certs/ca-certificates.crt"
    subprocess.run(
        ["chroot", str(stage.root), "env", "-i", *(f"{k}={v}" for k, v in (passed | stage.env).items()),
         "sh", "-c", 'cd "$0" && exec "$@"', stage.workdir, *command],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def start(stage: Stage, *, more: dict[str, str]) -> subprocess.Popen[str]:
    """Start the image's program: its own mounts, a read-only root, its user, its environment."""
    root = str(stage.root)
    script = f"""set -e
mount --bind {root} {root}
mount --bind {root}/data {root}/data
mount -t tmpfs tmpfs {root}/tmp
mount --bind /dev {root}/dev
mount -t tmpfs -o size=64m,mode=1777 shm {root}/dev/shm
mount -t proc proc {root}/proc
mount -o remount,bind,ro {root}
exec "$@"
"""
    uid, gid = stage.user.split(":")
    environment = [f"{name}={value}" for name, value in (stage.env | more).items()]
    inside = ["sh", "-c", 'cd "$0" && exec "$@"', stage.workdir, *stage.entrypoint, *stage.command]
    chroot = ["chroot", f"--userspec={uid}:{gid}", "--groups=", root, "env", "-i", *environment, *inside]
    return subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script, "mounts", *chroot],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


class Site(http.server.BaseHTTPRequestHandler):
    """The site that is crawled."""

    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write((page or "none").encode())

    def log_message(self, *words: object) -> None:
        pass


def ask(path: str, token: str, body: dict[str, object] | None = None) -> bytes:
    """Ask the web interface."""
    request = urllib.request.Request(
        f"http://localhost:8787{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        found: bytes = answer.read()
    return found


def wait_for(what: str, check: object) -> None:
    """Wait until a check returns something."""
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        try:
            if check():  # type: ignore[operator]
                return
        except (OSError, ValueError, KeyError):
            pass
        time.sleep(0.3)
    raise SystemExit(f"{what}: not within {START_S} s")


def use(stage: Stage) -> dict[str, object]:
    """Start the image, crawl and browse, ask for its health, and stop it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_address[1]}/"
    shutil.chown(stage.root / "data", 10001, 10001)
    began = time.monotonic()
    process = start(stage, more={"EVERCRAWL_CONTACT": "image@example.org"})
    token_file = stage.root / "data/.token"
    try:
        wait_for("healthy", lambda: urllib.request.urlopen("http://localhost:8787/healthz", timeout=3).status == 200)
        started_s = round(time.monotonic() - began, 1)
        token = token_file.read_text().strip()
        image = Stage(**(vars(stage) | {"entrypoint": [], "command": stage.health}))
        health = start(image, more={})
        said = health.communicate(timeout=30)[0]
        crawl = ["evercrawl", "-C", "/data/harbour.evercrawl", "--no-progress", "crawl", site, "--allow-private"]
        image = Stage(**(vars(stage) | {"entrypoint": [], "command": [*crawl, "--pace", "own"]}))
        crawled = start(image, more={"EVERCRAWL_CONTACT": "image@example.org"})
        words = crawled.communicate(timeout=120)[0]
        # As the image's user in a root that cannot be written.
        tried = start(Stage(**(vars(stage) | {"entrypoint": [], "command": ["touch", "/opt/x"]})), more={})
        tried.communicate(timeout=30)
        listed = b"harbour" in ask("/api/v1/collections", token)
        found = b"tides" in ask("/c/harbour/api/v1/search?q=high+water", token)
        rendered = b"/app" in ask("/c/harbour/api/v1/search?q=lighthouse", token)
    finally:
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=180)[0]
    return {
        "healthy_after_s": started_s,
        "health_check": health.returncode or said or 0,
        "crawl": crawled.returncode or 0,
        "crawl_said": "" if not crawled.returncode else words[-400:],
        "root_is_read_only": tried.returncode != 0,
        "listed": listed,
        "found_by_search": found,
        "rendered": rendered,
        "link_was_printed": "/first?key=" in output,
        "exit_after_sigterm": process.returncode,
        "token_mode": oct(token_file.stat().st_mode & 0o777),
    }


def main() -> None:
    """Build the image's stages and use the result."""
    base, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    work.mkdir(parents=True)
    stage = build(sys.argv[3] if len(sys.argv) > 3 else "plain", base, work)
    size = subprocess.run(["du", "-sm", str(stage.root)], capture_output=True, text=True, check=True).stdout
    print(json.dumps({"megabytes": int(size.split()[0]), **use(stage)}))


if __name__ == "__main__":
    main()
