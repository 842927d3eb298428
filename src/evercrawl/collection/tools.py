"""The tools of `evercrawl tool`: JSON lines in, JSON lines out, in order and with the same `id`.
They use the code that a crawl uses, and make no request."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from evercrawl.adapters.learned import load_background, load_paper_model, load_sentiment_model
from evercrawl.core.change.classify import compare
from evercrawl.core.change.detectors import bytes_change
from evercrawl.core.document.encoding import DECODE_ONLY, detect_charset, encode_text
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import url_file_type
from evercrawl.core.duplicates.minhash import is_near_duplicate, signature_similarity, text_signature
from evercrawl.core.focus.focus import focus_from_rows, relevance
from evercrawl.core.robots.robots_txt import RobotsTxt, parse_robots, sitemap_urls, verdict_for
from evercrawl.core.sentiment.sentences import MAX_SENTENCE_CHARS, is_english, tokenize
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.sitemap.sitemap_values import is_in_scope
from evercrawl.core.traps.url_check import url_verdict
from evercrawl.core.url import canonical_of_href, join, key_of, parse
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers, header
from evercrawl.model.settings import IdentitySettings, ParseSettings
from evercrawl.model.sitemap import SitemapEntry, SitemapType

Tool = Callable[[dict[str, Any]], dict[str, Any]]

_FIELDS = "a after agent b base before body content_type html input page_url robots_txt text url user_agent"
TEXTS = frozenset(_FIELDS.split())  # Fields of the lines that have to be strings.
TOOLS = ("robots", "url", "extract", "changed", "similar", "sitemap", "trap", "sentiment")
"""Each is the function of that name."""


def tool_named(name: str) -> Tool:
    """Return one of TOOLS."""
    found: Tool = globals()[name]
    return found


def answer_lines(tool: Tool, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer each line of `source` on `sink` at once, so that programs can use the tool interactively."""
    for line in source:
        if line.isspace():
            continue
        sink.write(_serialize(_answer(tool, line)))
        sink.flush()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects of a file, one per line; raise ValueError with the number of a bad line."""
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.isspace() or not line:
            continue
        try:
            row = _read(line)
        except ValueError as error:
            raise ValueError(f"line {number} is not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is not a JSON object")
        rows.append(row)
    return rows


def _answer(tool: Tool, line: bytes) -> dict[str, Any]:
    """Answer one line; a bad line gets an error and never ends the stream."""
    try:
        row = _read(line)
    except Exception as error:
        return {"id": None, "error": f"{type(error).__name__}: {error}"}
    if not isinstance(row, dict):
        return {"id": None, "error": "the line is not a JSON object"}
    try:
        return {"id": row.get("id"), **tool(row)}
    except Exception as error:
        return {"id": row.get("id"), "error": _error_text(error, row)}


def _error_text(error: Exception, row: dict[str, Any]) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    if isinstance(error, TypeError | AttributeError):
        wrong = [name for name in TEXTS & row.keys() if not isinstance(row[name], str)]
        if wrong:
            # Null is fine for an optional field, so other values are blamed first.
            return f"{min(wrong, key=lambda name: (row[name] is None, name))} is not a string"
    return f"{type(error).__name__}: {error}"


def _read(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # The slower parser also accepts lone surrogates, which pages contain.
        return json.loads(line)


def _serialize(answer: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(answer, default=str).encode() + b"\n"


CACHED_FILES = 16


def robots(row: dict[str, Any]) -> dict[str, Any]:
    """Return whether robots.txt allows `url`, the deciding line, the crawl delay and the sitemaps."""
    compiled = _parse_cached(_robots_body(row), str(row.get("user_agent", IdentitySettings().product)))
    url = row.get("url")
    verdict = None if url is None else verdict_for(compiled, str(url))
    return {
        "allowed": None if verdict is None else verdict.allowed,
        "line": None if verdict is None else verdict.line,
        "crawl_delay": compiled.crawl_delay,
        "sitemaps": _sitemaps(compiled, row.get("robots_url") or url),
    }


def _robots_body(row: dict[str, Any]) -> bytes:
    if "robots_txt_b64" in row:
        return b64decode(row["robots_txt_b64"], validate=True)
    if "robots_txt" not in row:
        raise ValueError("robots_txt or robots_txt_b64 is missing")
    return str(row["robots_txt"]).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=CACHED_FILES)
def _parse_cached(body: bytes, agent: str) -> RobotsTxt:
    return parse_robots(body, agent=agent)


def _sitemaps(compiled: RobotsTxt, base: object) -> list[str]:
    """Return the sitemap URLs; relative ones are resolved if the site is known."""
    if not isinstance(base, str) or parse(base) is None:
        return list(compiled.sitemaps)
    return list(sitemap_urls(compiled, base))


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def url(row: dict[str, Any]) -> dict[str, Any]:
    """Return the WHATWG serialization, canonical form and key of `input`, resolved against `base` if given."""
    reference, base = _scalar_text(row["input"]), row.get("base")
    href = parse(reference) if base is None else join(_scalar_text(base), reference)
    page = None if href is None else canonical_of_href(href)
    return {"href": href, "canonical": page, "key": None if page is None else key_of(page).hex()}


def _scalar_text(value: object) -> str:
    """Replace lone surrogates by U+FFFD, as the URL standard does."""
    if not isinstance(value, str):
        raise ValueError("input and base must be strings")
    return _LONE_SURROGATE.sub("�", value)


_LIMITS = ParseSettings()
_PRODUCT = IdentitySettings().product


def extract(row: dict[str, Any]) -> dict[str, Any]:
    """Return the links, embeds, relations, directives and main text of `html` or `html_b64`."""
    headers = _headers(row)
    agent = row.get("user_agent") or _PRODUCT
    body = _html_body(row, headers)
    document = parse_document(row.get("page_url") or "", headers, body, agent=agent, limits=_LIMITS)
    return _document_fields(document)


def _html_body(row: dict[str, Any], headers: Headers) -> bytes:
    """Return the bytes of the page; text is encoded in the charset that the page declares, if possible."""
    packed = row.get("html_b64")
    if packed is not None:
        return b64decode(packed)
    text = row.get("html") or ""
    raw = bytes(text.encode("utf-8", "replace"))
    encoding = detect_charset(raw, header(headers, "content-type")).encoding
    if raw.isascii() or encoding == "utf-8":
        return raw
    try:
        return BOM_UTF8 + raw if encoding in DECODE_ONLY else encode_text(text, encoding)
    except UnicodeEncodeError:
        return BOM_UTF8 + raw


def _headers(row: dict[str, Any]) -> Headers:
    """Return the headers; `content_type` comes first, and the default is HTML."""
    given = tuple((str(name), str(value)) for name, value in row.get("headers") or ())
    content_type = row.get("content_type")
    if content_type is None and header(given, "content-type") is None:
        content_type = "text/html"
    return given if content_type is None else (("Content-Type", str(content_type)), *given)


def _document_fields(document: Document) -> dict[str, Any]:
    # A link to a file with the extension of an image counts as an embed, as in a crawl.
    images = [link.url for link in document.links if url_file_type(link.url) == "image"]
    pages = [link for link in document.links if link.url not in set(images)] if images else document.links
    refresh = document.refresh
    return {
        "encoding": document.encoding,
        "base_url": document.base_url,
        "title": document.title,
        "lang": document.lang,
        "author": document.author,
        "published": document.published,
        "modified": document.modified,
        "links": [{"url": link.url, "text": link.text, "nofollow": link.nofollow} for link in pages],
        "embeds": list(dict.fromkeys((*document.embeds, *images))),
        "canonical": document.canonical,
        "alternates": [{"url": it.url, "hreflang": it.hreflang, "type": it.type} for it in document.alternates],
        "refresh": {"delay": refresh.delay, "url": refresh.url} if refresh is not None else None,
        "robots": {
            "noindex": document.robots.noindex,
            "nofollow": document.robots.nofollow,
            "noarchive": document.robots.noarchive,
        },
        "text": document.text,
    }


def changed(row: dict[str, Any]) -> dict[str, Any]:
    """Return whether `after` differs from `before`, in which way and by how much."""
    from evercrawl.collection.stored_pages import compare_bounded

    before, after = row["before"], row["after"]
    change, stopped = compare_bounded(compare, before, after, limits=_LIMITS)
    if stopped is not None:
        change = bytes_change()  # As in a crawl.
    return {"changed": change.changed, "class": change.kind.value, "size": round(change.size, 4)}


def similar(row: dict[str, Any]) -> dict[str, Any]:
    """Return whether the texts `a` and `b` are near-duplicates, and their estimated similarity."""
    one, other = row["a"], row["b"]
    first, second = text_signature(one), text_signature(other)
    return {
        "near_duplicate": is_near_duplicate(first, second, sizes=(len(one), len(other))),
        "similarity": round(signature_similarity(first, second), 4),
    }


def sitemap(row: dict[str, Any]) -> dict[str, Any]:
    """Return the type, entries and error of the sitemap `body` or `body_b64` fetched from `url`."""
    url = str(row.get("url") or "")
    content_type = row.get("content_type")
    found = read_sitemap(_sitemap_body(row), url, content_type=None if content_type is None else str(content_type))
    return {
        "type": found.type.value,
        "entries": [_entry_fields(entry, url, found.type) for entry in found.entries],
        "feed_lastmod": _iso_utc(found.feed_lastmod),
        "error": found.error,
    }


def _sitemap_body(row: dict[str, Any]) -> bytes:
    if row.get("body_b64") is not None:
        return b64decode(row["body_b64"])
    if row.get("body") is None:
        raise ValueError("body or body_b64 is missing")
    return str(row["body"]).encode("utf-8", "replace")


def _entry_fields(entry: SitemapEntry, url: str, kind: SitemapType) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "url": entry.url,
        "lastmod": _iso_utc(entry.lastmod),
        "changefreq": entry.changefreq,
        "priority": entry.priority,
        "in_scope": is_in_scope(url, entry.url),
    }
    if entry.text is not None:
        fields["anchor_text" if kind is SitemapType.EXTENDED else "title"] = entry.text
    if entry.alternates:
        fields["alternates"] = [{"url": it.url, "hreflang": it.hreflang, "type": it.type} for it in entry.alternates]
    if entry.images:
        fields["images"] = list(entry.images)
    if entry.videos:
        fields["video"] = entry.videos[0]
        fields["videos"] = list(entry.videos)
    if entry.news is not None:
        fields["news"] = entry.news
    return fields


def _iso_utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def trap(row: dict[str, Any]) -> dict[str, Any]:
    """Return whether `url`, found `hops` links away from a seed, is a crawler trap, and why."""
    url, hops = row["url"], row.get("hops")
    if not isinstance(url, str):
        raise ValueError("url must be a string")
    verdict = url_verdict(url, hops=None if hops is None else int(hops), year=datetime.now(UTC).year)
    return {"trap": verdict.trap, "reason": f"{verdict.kind}: {verdict.reason}" if verdict.trap else ""}


SENTIMENT_DIGITS = 4


def _default(text: str) -> float:
    return load_sentiment_model().score(text)


def _paper(text: str) -> float:
    return load_paper_model().score(text)


def _paper_add_one(text: str) -> float:
    return load_paper_model().score(text, add_one=True)


METHODS: dict[str, Callable[[str], float]] = {"default": _default, "paper": _paper, "paper-add-one": _paper_add_one}


def sentiment(row: dict[str, Any]) -> dict[str, Any]:
    """Return the label and score of `text`; both are null if it has no words or is not English."""
    method = METHODS.get(row.get("method") or "default")
    if method is None:
        raise ValueError(f"method is one of {', '.join(METHODS)}")
    text = str(row["text"])[:MAX_SENTENCE_CHARS]
    if not tokenize(text) or not is_english(text, lang=row.get("lang")):
        return {"label": None, "score": None}
    score = round(method(text), SENTIMENT_DIGITS)
    return {"label": "pos" if score >= 0 else "neg", "score": score}


RELEVANCE_DIGITS = 6


def relevance_tool(examples: Iterable[dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a tool that scores `url` and `html`, trained with the rows of an examples file."""
    focus = focus_from_rows(examples, background=load_background())

    def score(row: dict[str, Any]) -> dict[str, Any]:
        url, html = str(row.get("url") or ""), row.get("html") or row.get("text") or ""
        return {"score": round(relevance(focus, url, str(html)), RELEVANCE_DIGITS)}

    return score
