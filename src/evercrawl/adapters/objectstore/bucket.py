"""A bucket or a folder: `s3://bucket/prefix?endpoint=https://...` or `file:///path`.
The library connects through a proxy that refuses private addresses: a name that leads to one needs `&private=yes`.
Keys are never part of an address: they come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or the machine's role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.sanitize import has_credentials

if TYPE_CHECKING:
    from evercrawl.adapters.objectstore.guarded_proxy import GuardedProxy

TIMEOUT = timedelta(seconds=60)
RETRY_TIMEOUT = timedelta(seconds=30)  # How long the library retries a request; the uploader tries again later.
PART_BYTES = 8 * 1024 * 1024  # Larger files are uploaded in parts of this size.
CONCURRENT_PARTS = 4
_DEFAULT_REGION = "us-east-1"
_OPTIONS = frozenset({"endpoint", "private", "region"})
_PRIVATE = "yes"  # The value of the option `private`.


class Bucket:
    """Objects by name."""

    def __init__(self, address: str) -> None:
        self.address = address
        try:
            import obstore
        except ModuleNotFoundError as error:
            raise ConfigError(
                "archive.url needs the extra s3 (obstore is missing): pip install 'evercrawl[s3]'"
            ) from error
        self._library = obstore
        with self._translate_errors("opened"):
            self._store, self._proxy = _store_at(address)

    def put(self, path: Path, name: str) -> None:
        """Upload a file and verify the size of the object."""
        with self._translate_errors(f"written ({name})"):
            self._library.put(self._store, name, path, chunk_size=PART_BYTES, max_concurrency=CONCURRENT_PARTS)
        stored, size = self.size(name), path.stat().st_size
        if stored != size:
            raise StoreUnavailable(f"{name} has {stored} bytes in {self.address} instead of {size}")

    def size(self, name: str) -> int | None:
        """Return the size of an object, or None if it does not exist."""
        try:
            with self._translate_errors(f"queried ({name})"):
                return int(self._library.head(self._store, name)["size"])
        except FileNotFoundError:
            return None

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Return a part of an object; raise FileNotFoundError if it does not exist."""
        with self._translate_errors(f"read ({name})"):
            return bytes(self._library.get_range(self._store, name, start=offset, length=length))

    @contextmanager
    def _translate_errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except (self._library.exceptions.BaseError, OSError) as error:
            reason = str(error).splitlines()[0][:300]
            if self._proxy is not None and self._proxy.refused is not None:
                reason = f"{self._proxy.refused}; if you mean it, add &private={_PRIVATE}"
            raise StoreUnavailable(f"the archive in {self.address} cannot be {doing}: {reason}") from error


@cache
def open_bucket(address: str) -> Bucket:
    """Return the bucket of an address, opened once per process."""
    return Bucket(address)


def address_problem(address: str) -> str | None:
    """Return what is wrong with an address, or None."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return None if parts.path.startswith("/") and not parts.netloc else "file:///absolute/path"
    if parts.scheme != "s3" or not parts.netloc or parts.username:
        return "s3://bucket/prefix?endpoint=https://... or file:///path; set keys in the environment"
    options = dict(parse_qsl(parts.query))
    if options.keys() - _OPTIONS:
        return f"only {', '.join(sorted(_OPTIONS))} after the question mark"
    if has_credentials(options.get("endpoint", "")):
        return "an endpoint without a user name or password; set keys in the environment"
    return None if options.get("private", _PRIVATE) == _PRIVATE else f"private={_PRIVATE}, or nothing"


def _store_at(address: str) -> tuple[Any, GuardedProxy | None]:
    """Return the library's store, and the proxy through which it connects."""
    from obstore.store import LocalStore, S3Store

    from evercrawl.adapters.objectstore.guarded_proxy import GuardedProxy  # slow to load

    if (problem := address_problem(address)) is not None:
        raise ConfigError(f"archive.url {address!r} is not valid: {problem}")
    parts = urlsplit(address)
    if parts.scheme == "file":
        return LocalStore(unquote(parts.path), mkdir=True), None
    options = dict(parse_qsl(parts.query))
    endpoint = options.get("endpoint")
    client: dict[str, Any] = {"timeout": TIMEOUT, "allow_http": bool(endpoint and endpoint.startswith("http:"))}
    proxy = None
    if options.get("private") != _PRIVATE:
        proxy = GuardedProxy(urlsplit(endpoint or "").hostname)
        client["proxy_url"] = proxy.url
    store = S3Store(
        parts.netloc,
        prefix=parts.path.strip("/") or None,
        region=options.get("region", _DEFAULT_REGION),
        endpoint=endpoint,
        # Other servers usually expect the bucket in the path rather than in the host name.
        virtual_hosted_style_request=endpoint is None,
        client_options=client,  # type: ignore[arg-type]
        retry_config={"retry_timeout": RETRY_TIMEOUT},
    )
    return store, proxy
