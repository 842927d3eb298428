"""Collections and packages of others, and collections that cannot be written, with real commands.

An audit hook in each command logs the files, modules, programs and connections that it uses."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar
from urllib.request import Request, urlopen

import pytest

from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.core.alerts.delivery import AlertMessage
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination
from evercrawl.web.auth import AccessScope, AuthStore
from tests.command_server import run_command

DEADLINE_S = 120
TOKEN = "a-token-of-the-user-0123"
AUDIT = """\
import os, sys
log = open(os.environ["AUDIT_LOG"], "a", buffering=1)
WATCHED = ("open", "import", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "socket.connect",
           "sqlite3.connect", "os.remove", "os.rename", "os.truncate", "os.chmod", "os.link", "os.symlink",
           "shutil.rmtree")
def hook(event, given):
    if event in WATCHED:
        log.write(event + " " + repr(given)[:2000] + "\\n")
sys.addaudithook(hook)
"""
SECRETS = ("passwords", "seeds.txt", "ca.pem", "access.log")


class Desk:
    """A collection from the user's own crawl, and the command with its log of what it uses."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.audit = folder / "audit.log"
        site = folder / "hooks"
        site.mkdir()
        (site / "sitecustomize.py").write_text(AUDIT)
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        self.env = keep | {
            "XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state"),
            "EVERCRAWL_CONTACT": "test@example.org", "PYTHONPATH": str(site), "AUDIT_LOG": str(self.audit), "CI": "1",
        }  # fmt: skip

    def run(
        self, *arguments: str, cwd: Path | None = None, dashes: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *dashes, "-m", "evercrawl", *arguments]
        return subprocess.run(
            command,
            cwd=cwd or self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    def call(self, *arguments: str, cwd: Path | None = None) -> str:
        done = self.run(*arguments, cwd=cwd)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout


class Site(http.server.BaseHTTPRequestHandler):
    """A page and a log of all requests."""

    requests: ClassVar[list[str]] = []

    def answer(self) -> None:
        self.requests.append(f"{self.command} {self.path}")
        body = b"<title>Penguins</title><p>A page about penguins, with enough words to be a page.</p>"
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    desk = Desk(tmp_path_factory.mktemp("others"), server.server_address[1])
    desk.call("-C", "own", "crawl", f"http://127.0.0.1:{desk.port}/", "--allow-private", "--pace", "own")
    desk.call("-C", "own", "search", "penguins")
    yield desk
    server.shutdown()
    server.server_close()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder with files of the user that a collection could name."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in SECRETS:
        (folder / name).write_text("secret\n")
    return folder


@pytest.fixture
def hostile(desk: Desk, tmp_path: Path, outside: Path) -> Path:
    """Return the collection as somebody else would send it, with everything that could do harm in its files."""
    folder = tmp_path / "sent.evercrawl"
    shutil.copytree(desk.folder / "own", folder)
    (folder / "trust-mark").unlink()
    for module in ("click", "rich", "tomllib", "evil", "numpy", "sitecustomize2", "uvloop"):
        (folder / f"{module}.py").write_text(f"open({str(outside / 'executed')!r}, 'a').write('{module} ')\nx = 1\n")
    target = f"http://127.0.0.1:{desk.port}/stolen"
    (folder / "collection.toml").write_text(
        f"""
[scope]
seeds = ["http://127.0.0.1:{desk.port}/"]
plugins = ["evil:x"]
exclude_hosts_file = "{outside / "seeds.txt"}"
access_log = "{outside / "access.log"}"
[http]
allow_private = true
ca_file = "{outside / "ca.pem"}"
[alerts]
mail_host = "127.0.0.1"
mail_port = {desk.port}
mail_tls = "off"
mail_user = "u"
mail_password_file = "{outside / "passwords"}"
mail_from = "me@example.org"
[analysis]
analysers = ["evil:x"]
[archive]
url = "file://{outside}"
"""
    )
    outbox = AlertOutbox(folder)
    targets = (
        Destination(Channel.WEBHOOK, target), Destination(Channel.ATOM, str(outside / "passwords")),
        Destination(Channel.MAIL, "thief@example.org"),
    )  # fmt: skip
    for number, destination in enumerate(targets):
        outbox.put(Alert(f"a{number}", AlertFilter(), destination), now_us=0, ends={})
    outbox.close()
    with sqlite3.connect(folder / "alerts.sqlite") as db:
        for number in range(1, 4):
            message = AlertMessage(f"m{number}", f"a{number - 1}", 0)
            db.execute(
                "insert into message (id, alert_id, created_us, state, tries, next_us, detail)"
                " values (?, ?, 0, ?, 0, 0, '')",
                (message.id, number, message.state.value),
            )
    auth = AuthStore(folder)
    (folder / "known-token").write_text(auth.add_token("thief", AccessScope.ADMIN))
    auth.close()
    return folder


SEARCH_TRIES = 10
LOOKING = (
    ["status"], ["search", "penguins"], ["changes", "--since", "30d"], ["log"], ["skipped"], ["export", "jsonl"],
    ["alert", "list"], ["config", "show"], ["verify"], ["links", "URL"], ["show", "URL"], ["why", "URL"], ["store"],
)  # fmt: skip


def used(desk: Desk) -> str:
    """Return what the commands used since the last call."""
    text = desk.audit.read_text() if desk.audit.exists() else ""
    desk.audit.write_text("")
    return text


def test_a_hostile_collection_does_nothing_outside(desk: Desk, hostile: Path, outside: Path) -> None:
    url = f"http://127.0.0.1:{desk.port}/"
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    Site.requests.clear()
    used(desk)
    for arguments in LOOKING:
        desk.call(*(url if word == "URL" else word for word in arguments), cwd=hostile)
    assert Site.requests == []
    done = desk.run("crawl", "--refresh", cwd=hostile)
    assert "is not trusted" in done.stderr
    assert "alerts.mail_password_file" in done.stderr
    assert "evercrawl trust" in done.stderr
    assert desk.run("alert", "test", "a0", cwd=hostile).returncode != 0
    assert desk.run("store", "upload", cwd=hostile).returncode != 0
    assert Site.requests == []  # The page is at a private address, and allow_private is off.
    log = used(desk)
    assert str(outside) not in log
    assert "evil" not in log
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before


def test_trust_turns_everything_on(desk: Desk, hostile: Path, outside: Path) -> None:
    """The test above proves something only if these files do harm once they are trusted."""
    settings = hostile / "collection.toml"
    settings.write_text(settings.read_text().replace("ca_file", "# ca_file"))  # It holds no certificate.
    Site.requests.clear()
    desk.call("trust", str(hostile))
    done = desk.run("alert", "test", "a0", cwd=hostile)
    assert "is not trusted" not in done.stderr
    assert "POST /stolen" in Site.requests
    assert "evil" in desk.run("crawl", cwd=hostile).stderr
    desk.call("trust", "--remove", str(hostile))
    Site.requests.clear()
    assert desk.run("alert", "test", "a0", cwd=hostile).returncode != 0
    assert Site.requests == []


@pytest.mark.parametrize("name", ["archive", "state", "evercrawl.log", "lock", "collection.toml", "index/format-1/x"])
def test_links_out_of_a_hostile_collection_are_not_followed(
    desk: Desk, hostile: Path, outside: Path, name: str
) -> None:
    path = hostile / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(outside if name in ("archive", "state") else outside / "passwords")
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    used(desk)
    done = desk.run("crawl", cwd=hostile)
    assert done.returncode == 2, done.stderr
    assert "is a link" in done.stderr
    assert str(outside) not in used(desk)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before


def start_server(desk: Desk, folder: Path) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    command = [
        sys.executable,
        "-P",
        "-m",
        "evercrawl",
        "-C",
        str(folder),
        "serve",
        "--json",
        "--no-open",
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        [*command, "--token", TOKEN],
        cwd=folder,
        env=desk.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        pytest.fail(process.communicate()[1])
    return process, json.loads(line)


def fetch_status(address: str, path: str, token: str) -> tuple[int, bytes]:
    try:
        with urlopen(Request(address + path, headers={"Authorization": f"Bearer {token}"}), timeout=30) as reply:
            return reply.status, reply.read()
    except OSError as error:
        return getattr(error, "code", 0), b""


def test_tokens_in_a_hostile_collection_open_no_door(desk: Desk, hostile: Path, outside: Path) -> None:
    used(desk)
    process, serving = start_server(desk, hostile)
    try:
        assert fetch_status(serving["address"], "/api/v1/search?q=penguins", TOKEN)[0] == 200
        theirs = (hostile / "known-token").read_text()
        assert fetch_status(serving["address"], "/api/v1/search?q=penguins", theirs)[0] == 401
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert str(outside) not in used(desk)


def test_a_hostile_package_writes_nothing_outside(desk: Desk, tmp_path: Path) -> None:
    bomb, names = tmp_path / "bomb.wacz", tmp_path / "names.wacz"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as package, package.open("archive/a.warc", "w") as member:
        for _ in range(200):
            member.write(bytes(1 << 20))
    with zipfile.ZipFile(names, "w") as package:
        for name in ("archive/../../../escaped.warc", "archive//tmp/escaped.warc", "../escaped.warc", "/escaped.warc"):
            package.writestr(name, b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999\r\n\r\nlie")
    shutil.copytree(desk.folder / "own", tmp_path / "into")
    used(desk)
    done = desk.run("-C", str(tmp_path / "into"), "import", "wacz", str(bomb))
    assert done.returncode == 2, done.stderr
    assert "more than 100 times its size" in done.stderr
    desk.run("-C", str(tmp_path / "into"), "import", "wacz", str(names))
    assert not [line for line in used(desk).splitlines() if "escaped" in line]
    assert not list(tmp_path.rglob("*escaped*"))
    assert sum(path.stat().st_size for path in (tmp_path / "into").rglob("*") if path.is_file()) < 10_000_000


@pytest.fixture(params=["whole", "without index", "log only"])
def snapshot(request: pytest.FixtureRequest, desk: Desk, tmp_path: Path) -> Iterator[Path]:
    """Yield a collection on a file system that cannot be written."""
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    is_mounted = os.getuid() == 0
    if is_mounted and subprocess.run(["mount", "-t", "tmpfs", "none", str(mounted)], check=False).returncode:
        pytest.skip("root may write everywhere, and file systems cannot be mounted here")
    try:
        folder = mounted / "own"
        shutil.copytree(desk.folder / "own", folder)
        if request.param == "without index":
            for name in ("index", "graph"):
                shutil.rmtree(folder / name, ignore_errors=True)
        if request.param == "log only":
            leave_log(folder)
        else:
            for path in [*folder.glob("state/*-shm"), *folder.glob("state/*-wal")]:
                path.unlink()
        if is_mounted:
            subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
        else:
            subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
        yield folder
    finally:
        if is_mounted:
            subprocess.run(["umount", str(mounted)], check=True)
        else:
            subprocess.run(["chmod", "-R", "u+w", str(mounted)], check=True)


def leave_log(folder: Path) -> None:
    """Put the last change of the state into its log, as in a snapshot of a running crawl."""
    for path in folder.glob("state/*.sqlite"):
        db = sqlite3.connect(path)
        db.execute("update shard set epoch = epoch")
        log = path.with_name(f"{path.name}-wal")
        content = log.read_bytes()
        db.close()
        log.write_bytes(content)
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)


def test_looking_does_not_need_to_write(desk: Desk, snapshot: Path, request: pytest.FixtureRequest) -> None:
    url = f"http://127.0.0.1:{desk.port}/"
    is_whole = request.node.callspec.params["snapshot"] == "whole"
    for arguments in LOOKING if is_whole else LOOKING[:3]:
        given = ("-C", str(snapshot), *(url if word == "URL" else word for word in arguments))
        done = run_command(*given, cwd=desk.folder, env=desk.env, timeout=DEADLINE_S)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        out = done.stdout
        if arguments == ["search", "penguins"]:
            assert url in out
    process, serving = start_server(desk, snapshot)
    try:
        for _ in range(SEARCH_TRIES):  # On a busy machine the index may still be in the making.
            status, body = fetch_status(serving["address"], "/api/v1/search?q=penguins", TOKEN)
            if url in body.decode():
                break
        assert (status, url in body.decode()) == (200, True)
        for path in ("/changes", "/sites", "/alerts", "/settings"):
            assert fetch_status(serving["address"], path, TOKEN)[0] == 200
    finally:
        process.terminate()
        process.communicate(timeout=30)
