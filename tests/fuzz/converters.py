"""More readers of foreign bytes: fields, Markdown, messages, imported lists, stored values, what clients send."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import brotli
import zstandard

from evercrawl.adapters.analysers import detect_language
from evercrawl.collection.alerts.mail import body_of, mail_parts
from evercrawl.collection.exchange.chunk_export import split_markdown
from evercrawl.collection.exchange.markdown import PageSource, compose_markdown
from evercrawl.collection.exchange.watch_import import Members, WatchReport, _history, _watches
from evercrawl.collection.folder import parse_tags
from evercrawl.collection.stored_pages import decode_css
from evercrawl.core.alerts.html_message import MessageLinks
from evercrawl.core.alerts.matching import parse_alert_query
from evercrawl.core.alerts.message_format import MessageContent, atom_feed, html_text, plain_text
from evercrawl.core.change.detectors import DETECTORS, FetchedContent, detect_change
from evercrawl.core.change.held_changes import unpack_held
from evercrawl.core.change.text_diff import make_edit
from evercrawl.core.document.compression import unpack_text, unpack_text_start
from evercrawl.core.document.encoding import decode_body, detect_text_charset
from evercrawl.core.document.html import parse_document
from evercrawl.core.fields.conditions import parse_condition
from evercrawl.core.fields.reading import page_part, read_fields
from evercrawl.core.fields.values import find_date, find_number
from evercrawl.core.focus.focus import parse_example
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits
from evercrawl.core.http.content_coding import decode_body as decode_coded
from evercrawl.core.http.ip_address import parse_ip_literal
from evercrawl.core.search.snippet import SnippetTerm, make_snippet
from evercrawl.core.sentiment.sentences import split_sentences
from evercrawl.core.sitemap.websub_protocol import read_subscription
from evercrawl.core.traps.url_pattern import split_path
from evercrawl.core.visit.links import unpack_links
from evercrawl.engine.page_rendering import read_embedded
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import (
    Alert,
    AlertFilter,
    Channel,
    Destination,
    Event,
    EventKind,
    MessageTemplates,
    PendingEvent,
)
from evercrawl.model.fetch import Exchange, Fetched
from evercrawl.model.fields import FieldRule, FieldType
from evercrawl.model.settings import ParseSettings
from evercrawl.outpost.answers import split_exchange
from evercrawl.outpost.pairing import parse_code
from evercrawl.sitemaps.page_content import read_content
from evercrawl.web.access_control import split_base
from evercrawl.web.pages.add_site import read_urls
from evercrawl.web.protocols.streams import parse_position
from evercrawl.web.route import BadRequest, parse_cursor

URL = "https://a.example/b/c?d=1"
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
HTML = (("Content-Type", "text/html"),)
JSON = (("Content-Type", "application/json"),)
SELECTORS = (
    "css:.price", "css:main p > b", "css:div div div", "css:p:nth-child(2n)", "xpath://p[@class='price']",
    "xpath://div//div//text()", "json:$..price", "json:$.items[?@.price > 3]", "text:[0-9]+ EUR", "text:(a+)+b",
)  # fmt: skip
RULES = tuple(
    FieldRule(f"field{number}", ("*",), selector, list(FieldType)[number % len(FieldType)])
    for number, selector in enumerate(SELECTORS)
)


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def read_page_fields(data: bytes) -> None:
    for headers in (HTML, JSON):
        read_fields(page_part(headers, data, text(data)), RULES)
    find_number(text(data))
    find_date(text(data))


def write_markdown(data: bytes) -> None:
    document = parse_document(URL, HTML, data, agent="T", limits=ParseSettings())
    source = PageSource(URL, document.title, NOW, HTML, data, document.encoding, document.base_url, document.text)
    split_markdown(URL, document.title or "", compose_markdown(source))
    read_content(URL, HTML, data, agent="T", site="https://a.example/")
    read_embedded(Fetched(URL, 200, HTML, data, Exchange(b"", b"", data, None, NOW, NOW - NOW), None), None)
    with suppress(KeyError):
        parse_example({"url": URL, "html": text(data)})


def read_text(data: bytes) -> None:
    value = text(data)
    detect_language(value)
    split_sentences(value)
    make_snippet(value, (SnippetTerm("a", is_word=True), SnippetTerm("the town", is_word=False)))
    for detector in DETECTORS[1:]:
        detect_change(detector, FetchedContent(data, value), FetchedContent(data[1:], value[1:]))
    for kind in ("text/css", "text/plain; charset=" + value[:30]):
        decode_body(data, detect_text_charset(data, kind).encoding)
        decode_css(data, kind)


MAIL = Alert("a", AlertFilter(), Destination(Channel.MAIL, "you@example.org"))
TEMPLATE = MessageTemplates(
    subject="{{ summary }}", text="{% for change in changes %}{{ change.url }} {{ change.title }}{% endfor %}"
)


def write_messages(data: bytes) -> None:
    value = text(data)
    edit = make_edit(1, value[: len(value) // 2], value[len(value) // 2 :], is_template=False)
    title = value[: ParseSettings().max_title_chars]
    event = Event(0, 1, 1, URL, EventKind.CONTENT, 0.5, 1_790_000_000_000_000, 2, title, (edit,), excerpt=title)
    changes = tuple(PendingEvent(number, event.at_us, event) for number in range(3))
    for alert in (MAIL, replace(MAIL, templates=TEMPLATE)):
        content = MessageContent(alert, changes, MessageLinks("c", alert.name, "https://c.example", b"key", 1))
        plain_text(content)
        html_text(content)
        atom_feed(content, feed_id="urn:x")
        mail_parts(content, message_id="m", at_us=1)
        body_of(content, message_id="m", at_us=1)


def read_backup(data: bytes) -> None:
    errors = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError, ConfigError)
    with suppress(*errors), zipfile.ZipFile(io.BytesIO(data)) as opened:
        backup = Members(opened)
        for watch in _watches(backup, WatchReport()):
            list(_history(backup, watch))


def backup_file(watch: bytes, history: bytes) -> bytes:
    folder, out = "70600454-fd1f-4542-a9c8-ef58dc663261", io.BytesIO()
    with zipfile.ZipFile(out, "w") as backup:
        backup.writestr(f"{folder}/watch.json", watch)
        backup.writestr(f"{folder}/history.txt", history)
        backup.writestr(f"{folder}/aa.txt", "text")
        backup.writestr(f"{folder}/bb.br", brotli.compress(b"<p>page"))
    return out.getvalue()


def in_backup(data: bytes) -> None:
    """Read the bytes as the settings and as the history of a watch."""
    read_backup(backup_file(data, b"1794984679,aa.txt"))
    read_backup(backup_file(b'{"url": "https://a.example/"}', data))


def read_stored_values(data: bytes) -> None:
    readers: tuple[Callable[[], object], ...] = (
        lambda: unpack_held(data),
        lambda: unpack_text([data]),
        lambda: unpack_text_start([data], 100),
        lambda: split_exchange(data),
    )
    for read in readers:
        with suppress(ValueError, zstandard.ZstdError):
            read()


def read_own_values(data: bytes) -> None:
    """Values that this program stores; a damaged state may raise errors, but not hang."""
    for read in (lambda: unpack_links(data), lambda: read_subscription(text(data))):
        with suppress(ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
            read()


def read_requests(data: bytes) -> None:
    value = text(data)
    split_base(value)
    split_path(value)
    parse_ip_literal(value)
    readers: tuple[Callable[[str], object], ...] = (
        read_urls, parse_cursor, parse_position, parse_code, parse_condition, parse_alert_query, parse_tags,
    )  # fmt: skip
    for read in readers:
        with suppress(ConfigError, BadRequest, ValueError):
            read(value)
    with suppress(BadCoding):
        headers = (("Content-Encoding", value[:2000]),)
        decode_coded(headers, data, limits=DecodeLimits(1 << 20, 100.0))


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a73"
    "0000001649444154789c63fccfc0c0f09f8101010081002a8002ff1c1d01fb0000000049454e44ae426082"
)
WATCH = json.dumps({"url": URL, "title": "A", "include_filters": [".a"], "time_between_check": {"hours": 1}}).encode()
BOOKMARKS = b'<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><A HREF="https://a.example/">A</A></DL>'
OPML = b'<opml><body><outline text="x" xmlUrl="https://a.example/f" htmlUrl="https://a.example/"/></body></opml>'
