"""Is this machine fit for crawling? Each check gives a finding with its remedy."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sqlite3
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from evercrawl.cli.terminal import moment, size
from evercrawl.model.settings import Settings

LEAST_PYTHON = (3, 11)
LEAST_SQLITE = (3, 35, 0)
"""The first with RETURNING."""
LEAST_FREE_BYTES = 1_000_000_000
EARLIEST_DATE = datetime(2026, 1, 1, tzinfo=UTC)
"""A clock before this is wrong: evercrawl is younger."""
EXTRAS = {"pdf": ("pypdf", "text of PDF files")}

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """The result of one check; `remedy` is empty where nothing is to be done."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str = ""


def machine_findings(settings: Settings, folder: Path) -> Iterator[MachineCheck]:
    """Every check that needs no request."""
    yield _python()
    yield _compiled()
    yield _sqlite()
    yield _dns(settings)
    yield _tls(settings)
    yield _clock()
    yield _disk(folder)
    yield from _extras()
    yield _identity(settings)


def _python() -> MachineCheck:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < LEAST_PYTHON:
        return MachineCheck("python", "fail", version, "use Python 3.11 or newer")
    return MachineCheck("python", "ok", version)


def _compiled() -> MachineCheck:
    """The modules that every page goes through may have been compiled to C when this was installed."""
    spec = find_spec("evercrawl.core.document.paragraphs")
    if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
        return MachineCheck("compiled", "ok", "yes")
    return MachineCheck("compiled", "ok", "no: plain Python, which gives the same and takes longer")


def _sqlite() -> MachineCheck:
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        return MachineCheck("sqlite", "fail", sqlite3.sqlite_version, "use a Python with SQLite 3.35 or newer")
    return MachineCheck("sqlite", "ok", sqlite3.sqlite_version)


def _dns(settings: Settings) -> MachineCheck:
    """c-ares starts, knows name servers and answers from the hosts file, without a packet on the network."""
    try:
        servers = settings.dns.servers or asyncio.run(_ask_resolver())
    except Exception as error:
        return MachineCheck(
            "dns", "fail", f"the resolver does not work: {error}", "check /etc/resolv.conf and /etc/hosts"
        )
    if not servers:
        return MachineCheck("dns", "warn", "no name server is configured", "set dns.servers or mend /etc/resolv.conf")
    return MachineCheck("dns", "ok", "name servers " + ", ".join(servers))


async def _ask_resolver() -> tuple[str, ...]:
    import aiodns

    resolver = aiodns.DNSResolver()
    try:
        await resolver.getaddrinfo("localhost", family=socket.AF_INET)
        return tuple(resolver.nameservers)
    finally:
        await resolver.close()


def _tls(settings: Settings) -> MachineCheck:
    """Certificate authorities are there; those in a folder are read on demand, so the place is checked."""
    paths = ssl.get_default_verify_paths()
    stores = [path for path in (settings.http.ca_file, paths.cafile, paths.capath) if path and Path(path).exists()]
    if not settings.http.verify_tls:
        return MachineCheck("tls", "warn", "certificates are not verified", "set http.verify_tls to true")
    if not stores:
        return MachineCheck("tls", "fail", "no certificate authorities", "install ca-certificates or set http.ca_file")
    return MachineCheck("tls", "ok", f"{ssl.OPENSSL_VERSION}, authorities in {stores[0]}")


def _clock() -> MachineCheck:
    now = datetime.now(UTC)
    if now < EARLIEST_DATE:
        return MachineCheck(
            "clock", "fail", f"{moment(now)} lies in the past", "set the clock: records would be misdated"
        )
    return MachineCheck("clock", "ok", moment(now))


def _disk(folder: Path) -> MachineCheck:
    place = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE_BYTES:
        return MachineCheck("disk", "warn", f"{size(free)} free", "make room: a full disk stops the crawl")
    return MachineCheck("disk", "ok", f"{size(free)} free")


def _extras() -> Iterator[MachineCheck]:
    for extra, (module, purpose) in EXTRAS.items():
        there = find_spec(module) is not None
        remedy = "" if there else f"for {purpose}: pip install 'evercrawl[{extra}]'"
        yield MachineCheck(f"extra {extra}", "ok", "installed" if there else "not installed", remedy)


def _identity(settings: Settings) -> MachineCheck:
    from evercrawl.errors import ConfigError
    from evercrawl.model import __version__
    from evercrawl.model.user_agent import user_agent

    try:
        agent = user_agent(settings.identity, __version__)
    except ConfigError as error:
        return MachineCheck("identity", "fail", str(error), "evercrawl config contact you@example.org")
    if settings.identity.contact is None:
        return MachineCheck("identity", "warn", f"{agent}, no contact", "evercrawl config contact you@example.org")
    return MachineCheck("identity", "ok", agent)
