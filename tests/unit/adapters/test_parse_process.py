"""Documents that are parsed in a process of their own: budgets, crashes, and what is left."""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from timeit import timeit
from unittest.mock import Mock, patch

import pypdf
import pytest

from evercrawl.adapters import parse_process
from evercrawl.adapters.parse_process import ParseProcesses
from evercrawl.adapters.parse_worker import parse_within_budget
from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.core.change.detectors import bytes_change
from evercrawl.core.change.snapshot import unpack_snapshot
from evercrawl.core.document.html import parse_document
from evercrawl.core.fields.reading import FieldComparison, compare_page_fields
from evercrawl.core.fields.selectors import PagePart
from evercrawl.engine.decision import Past, Policy
from evercrawl.engine.interpret import (
    QUICK_BYTES,
    QUICK_FIELD_BYTES,
    CompareTask,
    compare,
    compare_long,
    parse,
    read_fields_bounded,
    read_sitemap_bounded,
    takes_long,
)
from evercrawl.engine.ports import LongCall, ParseTask
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers
from evercrawl.model.fields import FieldRule, FieldType
from evercrawl.model.settings import ParseSettings
from evercrawl.model.sitemap import Sitemap, SitemapType
from tests.unit.adapters.test_pdf import pdf_with
from tests.unit.engine import visits

URL = "https://a.test/x"
BUDGET = ParseSettings(max_cpu_time=timedelta(seconds=0.3))


@pytest.fixture(scope="module")
def processes() -> Iterator[ParseProcesses]:
    found = ParseProcesses()
    yield found
    found.close()


def test_two_quick_documents_need_one_process() -> None:
    found = ParseProcesses()
    task = ParseTask(URL, visits.HTML, b"<p>Text.</p>", "text/html", "T", ParseSettings())

    async def parse_both() -> list[Document | None]:
        return list(await asyncio.gather(found.parse(task), found.parse(task)))

    try:
        with (
            patch.object(parse_process, "PATIENCE_S", 60.0),
            patch.object(parse_process, "_Process", Mock(wraps=parse_process._Process)) as started,
        ):
            texts = [document.text for document in asyncio.run(parse_both()) if document is not None]
    finally:
        found.close()
    assert texts == ["Text.", "Text."]
    assert started.call_count == 1


def pdf_task(body: bytes, limits: ParseSettings | None = None) -> ParseTask:
    return ParseTask(URL, (), body, "application/pdf", "T", limits or ParseSettings())


def slow_pdf() -> bytes:
    """Return a file whose second page takes very long."""
    writer = pypdf.PdfWriter()
    for text in ("The first page", "The second"):
        page = writer.add_page(pypdf.PdfReader(io.BytesIO(pdf_with(text, ""))).pages[0])
    stream = pypdf.generic.DecodedStreamObject()
    stream.set_data(b"BT /F1 12 Tf " + b"1 0 0 1 20 100 Tm (word) Tj " * 250_000 + b"ET")
    page[pypdf.generic.NameObject("/Contents")] = writer._add_object(stream.flate_encode())
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


SLOW_PDF = slow_pdf()


class Patient:
    """A handler that needs forever and keeps what it has read when it is interrupted."""

    media_types = ("x/y",)

    def __init__(self, *, ignores: int = 0) -> None:
        self.ignores = ignores

    def parse(self, url: str, headers: Headers, body: bytes) -> Document:
        for _ in range(self.ignores + 1):
            try:
                while True:
                    pass
            except TimeoutError:
                pass
        return Document("utf-8", url, text="so far")


class Broken:
    media_types = ("x/y",)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def parse(self, url: str, headers: Headers, body: bytes) -> Document:
        raise self.error


def test_a_file_is_parsed_and_the_process_kept(processes: ParseProcesses) -> None:
    for _ in range(2):
        document = processes.parse_now(pdf_task(pdf_with("Hello", "A title")))
        assert document is not None
        assert (document.text, document.title, document.stopped) == ("Hello", "A title", None)
    assert len(processes._idle) == 1


def test_a_slow_file_keeps_the_text_read_within_its_budget(processes: ParseProcesses) -> None:
    document = processes.parse_now(pdf_task(SLOW_PDF, BUDGET))
    assert document is not None
    assert document.text == "The first page"
    assert document.stopped == "parsing took more than 0.3 s of CPU time"
    after = processes.parse_now(pdf_task(pdf_with("Next", "")))
    assert after is not None
    assert after.text == "Next"


def test_the_event_loop_goes_on_meanwhile(processes: ParseProcesses) -> None:
    async def run() -> int:
        turns = 0
        parsing = asyncio.create_task(processes.parse(pdf_task(SLOW_PDF, BUDGET)))
        while not parsing.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(run()) > 100


@pytest.mark.parametrize(
    ("code", "why"),
    [(signal.SIGSEGV, "the parser ended with SIGSEGV"), (signal.SIGXCPU, "parsing took more than 20 s of CPU time")],
)
def test_a_process_that_dies_costs_one_text(processes: ParseProcesses, code: int, why: str) -> None:
    assert processes.parse_now(pdf_task(pdf_with("x", ""))) is not None
    number = processes._idle[0]._process.pid
    found: list[Document | None] = []
    parsing = threading.Thread(target=lambda: found.append(processes.parse_now(pdf_task(SLOW_PDF))))
    parsing.start()
    while not processes._busy:
        time.sleep(0.001)
    os.kill(number, code)
    parsing.join()
    assert found == [Document("utf-8", URL, stopped=why)]
    after = processes.parse_now(pdf_task(pdf_with("Next", "")))
    assert after is not None
    assert after.text == "Next"


def test_too_little_memory_costs_the_text_only(processes: ParseProcesses) -> None:
    page = b"<p>beginning</p>" + b"<p>x" * 200_000
    limits = ParseSettings(max_memory_bytes=1)
    document = processes.parse_now(ParseTask(URL, (), page, "text/html", "T", limits))
    assert document is not None
    assert document.text.startswith("beginning")
    assert document.stopped is not None
    assert document.unread > 700_000


@pytest.mark.parametrize("ignores", [0, 1])
def test_a_parser_is_interrupted_until_it_returns(ignores: int) -> None:
    task = ParseTask(URL, (), b"", "x/y", "T", BUDGET)
    reply = parse_within_budget(task, lambda _: Patient(ignores=ignores))
    assert reply == (Document("utf-8", URL, text="so far"), "parsing took more than 0.3 s of CPU time")


def test_an_error_of_a_handler_is_named() -> None:
    task = ParseTask(URL, (), b"", "x/y", "T", BUDGET)
    reply = parse_within_budget(task, lambda _: Broken(ValueError("oh")))
    assert reply == (None, "the parser failed: ValueError: oh")
    assert parse_within_budget(task, lambda _: Broken(MemoryError())).stopped == (
        "parsing took more than 2147483648 bytes of memory"
    )


def test_other_bytes_are_another_version_where_only_the_beginning_was_read() -> None:
    page, answer = visits.page(version=1, digest=b"d"), visits.fetched(b"<p>Beginning <b>end")
    cut = Document("utf-8", URL, text="Beginning", snapshot=b"s", stopped="parsing took more than 20 s of CPU time")
    site = visits.SiteKnowledge(visits.SITE).change
    found = compare(page, cut, answer.body, Past(text="Beginning"), site, now=visits.NOW, policy=visits.POLICY)
    assert found.change == bytes_change()


class Recorder:
    """Implements `DocumentParser`, and notes what it is asked for."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    async def parse(self, task: ParseTask) -> Document | None:
        self.kinds.append(task.kind)
        return None

    async def call(self, call: LongCall) -> tuple[object, str | None]:
        return None, None

    def close(self) -> None:
        pass


def test_only_what_may_take_long_is_parsed_apart() -> None:
    recorder = Recorder()
    policy = visits.replace(visits.POLICY, parser=recorder, handler_of={"application/pdf": Patient()}.get)
    pdf = (("Content-Type", "application/pdf"),)
    small, large = visits.fetched(b"<p>small"), visits.fetched(b"<p>large" + b" " * QUICK_BYTES)
    for answer in (
        small,
        large,
        visits.fetched(b"%PDF-", pdf),
        visits.fetched(b"\x89PNG", (("Content-Type", "image/png"),)),
        visits.fetched(b"<rss>" + b" " * QUICK_BYTES, (("Content-Type", "application/rss+xml"),)),
    ):
        asyncio.run(parse(answer, policy))
    assert recorder.kinds == ["text/html", "application/pdf", "application/rss+xml"]


def test_a_long_call_returns_its_result_or_the_limit_it_reached(processes: ParseProcesses) -> None:
    assert processes.call_now(LongCall("comparing", str.upper, ("a",), BUDGET)) == ("A", None)
    stopped = (None, "comparing took more than 0.3 s of CPU time")
    assert (
        processes.call_now(LongCall("comparing", timeit, ("pass", "pass", time.perf_counter, 10**12), BUDGET))
        == stopped
    )
    failed = processes.call_now(LongCall("comparing", int, ("a",), BUDGET))
    assert failed[0] is None
    assert "comparing failed: ValueError" in str(failed[1])


def test_comparing_long_pages_ends_at_the_limit_and_the_bytes_decide(processes: ParseProcesses) -> None:
    task, policy = long_comparison(processes, ParseSettings(max_cpu_time=timedelta(seconds=0.05)))
    assert takes_long(task)
    document, found = asyncio.run(compare_long(task, policy))
    assert document is not None
    assert document.stopped == "comparing took more than 0.05 s of CPU time"
    assert found.change == bytes_change()
    assert found.snapshot == document.snapshot
    assert found.site is None


def test_long_pages_are_compared_as_short_ones_are(processes: ParseProcesses) -> None:
    task, policy = long_comparison(processes, ParseSettings())
    document, found = asyncio.run(compare_long(task, policy))
    here = compare(
        task.page, task.document, task.body, task.past, task.site, now=task.now, policy=replace(policy, parser=None)
    )
    assert document == task.document
    assert found.change == here.change
    assert found.memory == here.memory
    assert found.site is not None
    assert here.site is not None
    assert found.site.to_bytes() == here.site.to_bytes()


def long_comparison(processes: ParseProcesses, limits: ParseSettings) -> tuple[CompareTask, Policy]:
    before, after = ("".join(f"<p>{word} {n} is written here.</p>" for n in range(4000)) for word in ("Old", "New"))
    policy = visits.policy()
    policy = replace(policy, parser=processes, settings=replace(policy.settings, parse=limits))
    old, new = (
        parse_document(URL, visits.HTML, text.encode(), agent="T", limits=limits, wants_snapshot=True)
        for text in (before, after)
    )
    past = Past(text=old.text, snapshot=unpack_snapshot(old.snapshot or b""))
    return CompareTask(visits.page(), new, after.encode(), past, SiteChangeHistory(), visits.NOW, "meaning"), policy


def test_fields_of_large_pages_are_read_within_the_budget(processes: ParseProcesses) -> None:
    page = PagePart("<p class=price>3.50</p>" * (QUICK_FIELD_BYTES // 4), "")
    rules = tuple(FieldRule(f"price{number}", ("*",), "css:.price", FieldType.TEXT) for number in range(20))

    def read(seconds: float) -> tuple[FieldComparison | None, str | None]:
        limits = ParseSettings(max_cpu_time=timedelta(seconds=seconds))
        settings = replace(visits.POLICY.settings, parse=limits)
        policy = visits.replace(visits.POLICY, parser=processes, settings=settings)
        return asyncio.run(read_fields_bounded(None, page, rules, policy))

    assert read(60) == (compare_page_fields(None, page, rules), None)
    assert read(0.01) == (None, "reading fields took more than 0.01 s of CPU time")


SITEMAP: Headers = (("Content-Type", "application/xml"),)
BROKEN = b"<urlset><</a>" + b"<url>" * 400_000  # Read tag by tag: the XML is not well-formed.


@pytest.mark.parametrize("body", [BROKEN, gzip.compress(BROKEN)], ids=["plain", "compressed"])
def test_long_sitemaps_are_read_within_the_budget(processes: ParseProcesses, body: bytes) -> None:
    settings = replace(visits.POLICY.settings, parse=BUDGET)
    policy = visits.replace(visits.POLICY, parser=processes, settings=settings)
    found = asyncio.run(read_sitemap_bounded(visits.fetched(body, SITEMAP), policy))
    assert found == Sitemap(SitemapType.UNKNOWN, error="reading a sitemap took more than 0.3 s of CPU time")


def test_a_long_sitemap_is_read_as_a_short_one_is(processes: ParseProcesses) -> None:
    body = b"<urlset>" + b"".join(b"<url><loc>https://a.test/%d</loc></url>" % n for n in range(20_000)) + b"</urlset>"
    answer = visits.fetched(body, SITEMAP)
    found = asyncio.run(read_sitemap_bounded(answer, visits.replace(visits.POLICY, parser=processes)))
    assert found == asyncio.run(read_sitemap_bounded(answer, visits.POLICY))
    assert len(found.entries) == 20_000
