"""Submit changed URLs to search engines by IndexNow (indexnow.org, as of November 2026).
A key file on the site proves that the sender may submit its URLs. One request holds the host, the key and at most
10,000 URLs of that host. Participating engines share submissions."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

import orjson

from evercrawl.adapters.http.dialer import PostResult
from evercrawl.adapters.system import write_atomically
from evercrawl.core.faults import retry_after
from evercrawl.core.url import canonical, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import header

ENDPOINT = "https://api.indexnow.org/indexnow"
MAX_URLS = 10_000
KEY_BYTES = 16

STATUS_MEANINGS = {
    200: "accepted",
    202: "accepted; the key will be verified",
    400: "rejected: invalid format",
    403: "rejected: invalid key, or the key file is missing or does not contain the key",
    422: "rejected: URLs of another host, or a malformed key",
    429: "rejected: too many requests; try again later and submit only changed URLs",
}
ACCEPTED = (200, 202)

_KEY = re.compile(r"[A-Za-z0-9-]{8,128}", re.ASCII)


class UrlPoster(Protocol):
    """Sends a POST request."""

    async def post(self, url: str, document: bytes) -> PostResult: ...


class IndexNowSubmission(NamedTuple):
    """The result of one request."""

    host: str
    urls: int
    status: int | None
    meaning: str
    retry_after: timedelta | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the service accepted the URLs."""
        return self.status in ACCEPTED


def validate_key(key: str) -> str:
    """Return the key; raise ConfigError if its format is invalid."""
    if not _KEY.fullmatch(key):
        raise ConfigError("an IndexNow key has 8 to 128 characters from a-z, A-Z, 0-9 and -")
    return key


def create_key(folder: Path) -> tuple[str, Path]:
    """Create a key and its file in the site's folder."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; name the site's root folder")
    key = secrets.token_hex(KEY_BYTES)
    path = folder / f"{key}.txt"
    write_atomically(path, key.encode())
    return key, path


def read_key(path: Path) -> str:
    """Read the key from its file."""
    try:
        return validate_key(path.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def url_batches(urls: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Split the URLs into batches of one site that fit into a request."""
    sites: dict[str, dict[str, None]] = {}
    for url in urls:
        name = canonical(url)
        if name is None:
            raise ConfigError(f"{url!r} is not a valid URL; write it like https://example.org/")
        sites.setdefault(site_of(name), {})[name] = None
    for site, names in sites.items():
        listed = list(names)
        for start in range(0, len(listed), MAX_URLS):
            yield site, listed[start : start + MAX_URLS]


def submission_body(site: str, urls: Sequence[str], *, key: str, key_location: str | None) -> bytes:
    """Return the body of one request."""
    location = key_location or f"{site}/{key}.txt"
    host = site.partition("://")[2]  # With the port, unless it is the usual one.
    return orjson.dumps({"host": host, "key": key, "keyLocation": location, "urlList": list(urls)})


async def submit_urls(
    poster: UrlPoster, urls: Iterable[str], *, key: str, key_location: str | None, endpoint: str
) -> list[IndexNowSubmission]:
    """Submit the URLs in sequential requests; stop after the first rejected one."""
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
    other = "server error; try again later" if status >= 500 else "rejected"
    return IndexNowSubmission(site, urls, status, STATUS_MEANINGS.get(status, f"{other} ({status})"), wait)
