"""A Fetcher that reads a site's own files: no request is made (`outpost run --read DIR`).

It answers as a plain web server would, for files only. What is not a file (a query, a page made by a program)
is not ours to answer: the crawler asks the site itself.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import unquote

from evercrawl.core.answer import Answer, result_of
from evercrawl.core.coding import DecodeLimits
from evercrawl.core.http1 import ReadLimits, parse_head
from evercrawl.core.request_head import constant_lines, request_head
from evercrawl.core.url import path_of, site_of, site_parts
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import Exchange, FetchResult, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.outpost.hand import Declined

INDEX = "index.html"


class FolderFetcher:
    """The files under one folder; with a folder for each host inside it, those of that host."""

    def __init__(self, folder: Path, clock: Clock, *, http: HttpSettings, user_agent: str) -> None:
        self._folder = folder.resolve(strict=True)
        self._clock = clock
        self._http = http
        self._constant = constant_lines(user_agent, None, accept_encoding="identity")

    async def fetch(self, request: Request) -> FetchResult:
        """What the file says; NotMine where there is none."""
        began = self._clock.now()
        path = self._file_of(request.url)
        try:
            with path.open("rb") as file:
                changed = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC).replace(microsecond=0)
                body = file.read(self._http.wire_bytes + 1)
        except OSError as error:
            raise Declined(f"not a file that can be read: {error.strerror}") from error
        date = format_datetime(changed, usegmt=True)
        is_same = request.last_modified == date
        raw = _response_head(304 if is_same else 200, date, path, len(body), now=began)
        limit = self._http.wire_bytes
        took = max(self._clock.now() - began, timedelta(microseconds=1))
        sent = b"" if is_same else body[:limit]
        asked = request_head(request, self._constant)
        exchange = Exchange(asked, raw, sent, None, began, took)
        head = parse_head(raw, ReadLimits(self._http.header_bytes, self._http.header_count, limit))
        limits = DecodeLimits(self._http.decoded_bytes, self._http.ratio)
        return result_of(request, Answer(head, exchange, cut=len(body) > limit), limits=limits)

    async def close(self) -> None:
        """Nothing is held open."""

    def _file_of(self, url: str) -> Path:
        """The file of a URL, never outside the folder, whatever links and dots say."""
        path, _, query = path_of(url).partition("?")
        own = self._folder / site_parts(site_of(url)).host
        base = own if own.is_dir() else self._folder
        name = unquote(path).lstrip("/")
        if query or "\0" in name:
            raise Declined("not a file: the URL has a query")
        try:
            found = (base / name).resolve()
            found = found / INDEX if found.is_dir() else found
            is_inside = found.resolve().is_relative_to(base.resolve())
        except OSError as error:
            raise Declined("not a file") from error
        if not is_inside or not found.is_file() or any(part.startswith(".") for part in Path(name).parts):
            raise Declined("not a file of the site's folder")
        return found


def _response_head(status: int, date: str, path: Path, size: int, *, now: datetime) -> bytes:
    phrase = "OK" if status == 200 else "Not Modified"
    kind = guess_type(path.name)[0] or "application/octet-stream"
    lines = [
        f"HTTP/1.1 {status} {phrase}",
        f"Date: {format_datetime(now.replace(microsecond=0), usegmt=True)}",
        f"Last-Modified: {date}",
    ]
    if status == 200:
        lines += [f"Content-Type: {kind}", f"Content-Length: {size}"]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")
