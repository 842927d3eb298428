"""Tell search engines which pages are new: the IndexNow protocol (indexnow.org, read in November 2026).

A key that lies as a file on the site proves that the sender may speak for it. One request has the host, the
key and at most 10,000 URLs of that host; the engines that take part pass it on to each other.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

import orjson

from evercrawl.adapters.http.poster import PostResult
from evercrawl.adapters.system import write_atomically
from evercrawl.core.faults import retry_after
from evercrawl.core.url import canonical, site_of, site_parts
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import header

ENDPOINT = "https://api.indexnow.org/indexnow"
MAX_URLS = 10_000
KEY_BYTES = 16

STATUS_MEANINGS = {
    200: "taken",
    202: "taken; the key is still to be verified",
    400: "refused: the format is not valid",
    403: "refused: the key is not valid, or its file is not found on the site or does not hold the key",
    422: "refused: URLs that are not of the host, or a key that is not of the protocol's form",
    429: "refused: too many requests; call again later, and announce only what changed",
}
ACCEPTED = (200, 202)

_KEY = re.compile(r"[A-Za-z0-9-]{8,128}", re.ASCII)


class UrlPoster(Protocol):
    """What sends a document."""

    async def post(self, url: str, document: bytes) -> PostResult: ...


class IndexNowSubmission(NamedTuple):
    """How one request ended."""

    host: str
    urls: int
    status: int | None
    meaning: str
    retry_after: timedelta | None = None

    @property
    def is_accepted(self) -> bool:
        """The service has the URLs."""
        return self.status in ACCEPTED


def validate_key(key: str) -> str:
    """The key; ConfigError where it is not of the protocol's form."""
    if not _KEY.fullmatch(key):
        raise ConfigError("an IndexNow key has 8 to 128 of the characters a-z, A-Z, 0-9 and -")
    return key


def create_key(folder: Path) -> tuple[str, Path]:
    """A new key, and the file in the site's folder that proves it."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; name the one that the site is served from")
    key = secrets.token_hex(KEY_BYTES)
    path = folder / f"{key}.txt"
    write_atomically(path, key.encode())
    return key, path


def read_key(path: Path) -> str:
    """The key in a key file."""
    try:
        return validate_key(path.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def url_batches(urls: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The URLs in portions that one request may have, each of one site."""
    sites: dict[str, dict[str, None]] = {}
    for url in urls:
        name = canonical(url)
        if name is None:
            raise ConfigError(f"{url!r} is not a URL that can be announced; write it like https://example.org/")
        sites.setdefault(site_of(name), {})[name] = None
    for site, names in sites.items():
        listed = list(names)
        for start in range(0, len(listed), MAX_URLS):
            yield site, listed[start : start + MAX_URLS]


def submission_body(site: str, urls: Sequence[str], *, key: str, key_location: str | None) -> bytes:
    """The document of one request."""
    return orjson.dumps(
        {
            "host": site_parts(site).host,
            "key": key,
            "keyLocation": key_location or f"{site}/{key}.txt",
            "urlList": list(urls),
        }
    )


async def submit_urls(
    poster: UrlPoster, urls: Iterable[str], *, key: str, key_location: str | None, endpoint: str
) -> list[IndexNowSubmission]:
    """Announce the URLs, one request after the other; after one that was refused no other is made."""
    submissions: list[IndexNowSubmission] = []
    for site, batch in url_batches(urls):
        response = await poster.post(endpoint, submission_body(site, batch, key=key, key_location=key_location))
        submissions.append(_submission(site, len(batch), response))
        if not submissions[-1].is_accepted:
            break
    return submissions


def _submission(site: str, urls: int, response: PostResult) -> IndexNowSubmission:
    status = response.status
    if status is None:
        return IndexNowSubmission(site, urls, None, f"not sent: {response.detail}")
    wait = retry_after(header(response.headers, "retry-after"), now=datetime.now(UTC))
    other = "the service has an error of its own; call again later" if status >= 500 else "refused"
    return IndexNowSubmission(site, urls, status, STATUS_MEANINGS.get(status, f"{other} ({status})"), wait)
