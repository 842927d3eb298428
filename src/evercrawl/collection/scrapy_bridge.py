"""A bridge to Scrapy: a downloader middleware that answers requests from a collection and writes new responses to it.
Nothing here is imported by evercrawl itself; Scrapy loads `CollectionMiddleware` by its name."""

from __future__ import annotations

import gzip
import logging
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from evercrawl.adapters.warc.warc_records import response_of
from evercrawl.collection.collection import Collection
from evercrawl.collection.collection import open as open_collection
from evercrawl.core.http.message import SECRET_FIELDS
from evercrawl.core.url import canonical
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.fetch import Headers

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

ORDER = 950
"""The place of the middleware: nearest to the downloader, so that it sees responses as they were sent."""
STORED_FLAG = "evercrawl"  # A response with this flag was read from the collection.
_OF_THE_BODY_AS_SENT = frozenset(("content-encoding", "content-length", "transfer-encoding"))
MODES = ("read", "write", "both")
log = logging.getLogger("evercrawl.scrapy")


class StoredAnswer(NamedTuple):
    """A stored response with its decoded body."""

    url: str
    status: int
    headers: Headers
    body: bytes
    fetched_at: datetime


class StoredResponses:
    """Answers requests with the newest versions of a collection, or with those of a time."""

    def __init__(self, collection: Collection, *, as_of: str | None = None, max_age: timedelta | None = None) -> None:
        self._collection = collection
        self._as_of = as_of
        self._max_age = max_age

    def find(self, url: str, *, now: datetime) -> StoredAnswer | None:
        """Return the stored response to a GET of a URL; None: there is none, or it is too old."""
        try:
            page = self._collection.show(url, self._as_of)
        except ConfigError:
            return None
        if self._max_age is not None and now - page.fetched_at > self._max_age:
            return None
        headers = tuple(field for field in page.headers if field[0].lower() not in _OF_THE_BODY_AS_SENT)
        return StoredAnswer(url, page.status, headers, page.html, page.fetched_at)


class ResponseRecorder:
    """Writes responses to a WARC file, and imports it into the collection when the spider has ended."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._folder = tempfile.TemporaryDirectory(prefix="evercrawl-scrapy-")
        self._file = Path(self._folder.name) / f"scrapy-{uuid4().hex[:12]}.warc.gz"
        self._out = self._file.open("xb")
        self.responses = 0

    def add(self, url: str, status: int, headers: Iterable[tuple[str, str]], body: bytes, *, at: datetime) -> bool:
        """Write a response to a GET; return False for what is no page: robots.txt and URLs that cannot be crawled.
        Cookies are left out."""
        page = canonical(url)
        if page is None or page.partition("://")[2].partition("/")[2] == "robots.txt":
            return False
        kept = [field for field in headers if field[0].lower() not in SECRET_FIELDS]
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
        self._out.write(gzip.compress(response_of(page, at, (status, phrase), kept, body), compresslevel=6, mtime=0))
        self.responses += 1
        return True

    def close(self) -> str:
        """Import what was written; return what came of it. If a crawl runs in the collection, keep the file."""
        self._out.close()
        try:
            if not self.responses:
                return "no new response"
            report = self._collection.import_("warc", [self._file])
            return f"{self.responses:,} responses: {report.versions:,} versions, {report.unchanged:,} unchanged"
        except EvercrawlError as error:
            kept = self._collection.path.with_name(self._file.name)
            kept.write_bytes(self._file.read_bytes())
            return f"{error}; import the responses later: evercrawl -C {self._collection.path} import warc {kept}"
        finally:
            self._folder.cleanup()


class CollectionMiddleware:
    """Scrapy's downloader middleware. Settings: `EVERCRAWL_COLLECTION` (the folder), `EVERCRAWL_MODE` (read, write or
    both), `EVERCRAWL_MAX_AGE` (seconds; older versions are requested again), `EVERCRAWL_AS_OF` (a time),
    `EVERCRAWL_ONLY_STORED` (send no request)."""

    def __init__(self, settings: Any) -> None:
        path, mode = settings.get("EVERCRAWL_COLLECTION"), settings.get("EVERCRAWL_MODE", "both")
        if not path:
            raise ConfigError("set EVERCRAWL_COLLECTION to the folder of a collection")
        if mode not in MODES:
            raise ConfigError(f"EVERCRAWL_MODE is {mode!r}; choose from {', '.join(MODES)}")
        collection = open_collection(path, create=mode != "read")
        age = settings.getfloat("EVERCRAWL_MAX_AGE", 0.0)
        self._only_stored = settings.getbool("EVERCRAWL_ONLY_STORED", False)
        self._stored = None
        if mode != "write":
            max_age = timedelta(seconds=age) if age else None
            self._stored = StoredResponses(collection, as_of=settings.get("EVERCRAWL_AS_OF"), max_age=max_age)
        self._recorder = ResponseRecorder(collection) if mode != "read" else None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CollectionMiddleware:
        """Create the middleware, and close it with the spider."""
        from scrapy import signals

        found = cls(crawler.settings)
        crawler.signals.connect(found.spider_closed, signal=signals.spider_closed)
        return found

    def process_request(self, request: Request, spider: Spider | None = None) -> Response | None:
        """Answer a GET from the collection."""
        from scrapy.exceptions import IgnoreRequest
        from scrapy.responsetypes import responsetypes

        is_plain = request.method == "GET" and not request.body
        found = self._stored.find(request.url, now=datetime.now(UTC)) if self._stored and is_plain else None
        if found is None:
            if self._only_stored:
                raise IgnoreRequest(f"{request.url} is not in the collection")
            return None
        from scrapy.http import Headers as ScrapyHeaders

        headers = ScrapyHeaders()
        for name, value in found.headers:
            headers.appendlist(name, value)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=found.body)
        return kind(
            request.url, status=found.status, headers=headers, body=found.body, flags=[STORED_FLAG], request=request
        )

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:
        """Write a response to the collection, unless it came from there."""
        if self._recorder is not None and request.method == "GET" and STORED_FLAG not in response.flags:
            fields = [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, values in response.headers.items()
                for value in values
            ]
            self._recorder.add(response.url, response.status, fields, response.body, at=datetime.now(UTC))
        return response

    def spider_closed(self) -> None:
        """Import the new responses."""
        if self._recorder is not None:
            log.info("%s", self._recorder.close())


def stored_requests(collection: str | Path, **filters: Any) -> Iterator[Request]:
    """Yield a request for every page of a collection that matches the filters of `Collection.pages`, for spiders to
    start with. The middleware answers them."""
    from scrapy import Request as ScrapyRequest

    for page in open_collection(collection).pages(**filters):
        yield ScrapyRequest(page.url, dont_filter=True)
