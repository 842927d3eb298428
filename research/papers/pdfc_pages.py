"""The hundred home pages of the PDFC paper's experiment: about 10 KB each, changing as often as in the paper.

Section 7 of the paper: 41 of 100 pages changed at every visit, and 19 of the other 59 on an average day. It does not
say how much of a page an edit changes; here one to `most_edited` of its 32 paragraphs.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from email.utils import format_datetime
from functools import lru_cache
from itertools import accumulate

from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ReadLimits, parse_response_head
from evercrawl.core.http.message import RawResponse, constant_headers, fetch_result, request_bytes
from evercrawl.core.url import path_of, site_of
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import Exchange, FetchResult, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.testing.site_plan import hash_number, random_stream, uniform
from evercrawl.testing.virtual_time import EPOCH

SITES = 100
CHANGING_DAILY = 41
CHANGED_A_DAY = 19
SUFFIXES = ("com", "org", "edu", "net", "gov")
PARAGRAPHS = 32
PARAGRAPH_CHARS = 237
VOCABULARY = 500
"""With this many words a page compresses to about a third, as in the paper."""
COMMON_WORDS = 20
MENU_ENTRIES = 24
ANSWER_S = 0.1
_SYLLABLES = tuple(first + second for first in "bcdfghjklmnprstvwz" for second in "aeiouy")


@lru_cache(maxsize=4)
def words(seed: int) -> tuple[str, ...]:
    """Return the vocabulary of all sites, common words first."""
    chance = random_stream(seed, "paper words")
    lengths = [1 if rank < COMMON_WORDS else 2 + rank % 3 for rank in range(VOCABULARY)]
    return tuple("".join(chance.choices(_SYLLABLES, k=length)) for length in lengths)


class PaperPage:
    """The home page of one site and its edits."""

    def __init__(self, seed: int, place: int, *, most_edited: int) -> None:
        self.origin = f"https://site-{place:03d}.example.{SUFFIXES[place % len(SUFFIXES)]}"
        self._seed = seed
        self._place = place
        self._words = words(seed)
        self._weights = list(accumulate(1.0 / (rank + 1) for rank in range(VOCABULARY)))
        self._most_edited = most_edited
        self.changes_daily = place < CHANGING_DAILY
        self._body = (-1, b"")
        self._written: dict[tuple[int, int], str] = {}

    def edits(self, day: int) -> int:
        """Return how often the page was edited by that day."""
        if self.changes_daily:
            return day
        return sum(uniform(self._seed, self._place, now, "edit") < self._probability for now in range(1, day + 1))

    @property
    def _probability(self) -> float:
        """Return the probability of an edit per day: from rare to frequent, on average as in the paper."""
        spread = 2.0 * CHANGED_A_DAY / (SITES - CHANGING_DAILY)
        return spread * (self._place - CHANGING_DAILY + 0.5) / (SITES - CHANGING_DAILY)

    def body(self, day: int) -> bytes:
        """Return the page on that day."""
        edits = self.edits(day)
        if self._body[0] != edits:
            self._body = edits, self._render(edits)
        return self._body[1]

    def _render(self, edits: int) -> bytes:
        written = [0] * PARAGRAPHS
        for edit in range(1, edits + 1):
            chance = random_stream(self._seed, self._place, edit, "places")
            for place in chance.sample(range(PARAGRAPHS), chance.randint(1, self._most_edited)):
                written[place] = edit
        text = "".join(
            f'<article class="entry"><p>{self._paragraph(place)}</p></article>\n' for place in enumerate(written)
        )
        menu = "".join(
            f'<li><a href="/{name}/">{name.capitalize()}</a></li>'
            for name in random_stream(self._seed, self._place, "menu").sample(self._words, MENU_ENTRIES)
        )
        title = f"Site {self._place}"
        return (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
            f"<body><nav><ul>{menu}</ul></nav>\n<main><h1>{title}</h1>\n{text}</main></body></html>\n"
        ).encode()

    def _paragraph(self, place: tuple[int, int]) -> str:
        """Return the text of a paragraph after an edit."""
        if place not in self._written:
            chance = random_stream(self._seed, self._place, *place, "paragraph")
            drawn = chance.choices(self._words, cum_weights=self._weights, k=PARAGRAPH_CHARS // 3)
            text = " ".join(drawn)[:PARAGRAPH_CHARS]
            self._written[place] = text.capitalize() + "."
        return self._written[place]


class PaperWeb:
    """Implements `Fetcher` for these pages and counts requests."""

    def __init__(self, pages: list[PaperPage], clock: Clock) -> None:
        self._pages = {page.origin: page for page in pages}
        self._clock = clock
        self._http = HttpSettings()
        self._constant = constant_headers("evercrawl/lab", None, accept_encoding="identity")
        self.page_requests = 0

    async def fetch(self, request: Request) -> FetchResult:
        """Return the page of the day after the latency of a nearby server."""
        began = self._clock.now()
        delay = ANSWER_S * (0.5 + hash_number(request.url, began) / 2.0**64)
        await asyncio.sleep(delay)
        page = self._pages[site_of(request.url)]
        day = (began - EPOCH) // timedelta(days=1)
        path = path_of(request.url)
        self.page_requests += path == "/"
        body = page.body(day) if path == "/" else b"User-agent: *\nDisallow:\n"
        status = "200 OK" if path in ("/", "/robots.txt") else "404 Not Found"
        raw = (
            f"HTTP/1.1 {status}\r\nDate: {format_datetime(began.replace(microsecond=0), usegmt=True)}\r\n"
            f"Server: paper\r\nContent-Type: {'text/html' if path == '/' else 'text/plain'}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        took = self._clock.now() - began
        exchange = Exchange(request_bytes(request, self._constant), raw, body, "192.0.2.1", began, took)
        limits = ReadLimits(self._http.max_header_bytes, self._http.max_headers, self._http.max_wire_bytes)
        answer = RawResponse(parse_response_head(raw, limits), exchange)
        decoded = DecodeLimits(self._http.max_decoded_bytes, self._http.max_compression_ratio)
        return fetch_result(request, answer, limits=decoded)

    async def close(self) -> None:
        """Nothing is held open."""
