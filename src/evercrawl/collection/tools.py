"""JSON lines in, JSON lines out, in order and with the same `id`; a bad line gives an error and no more."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from evercrawl.adapters.learned import load_background, load_paper_model, load_sentiment_model
from evercrawl.core.change.classify import compare
from evercrawl.core.document.encoding import DECODE_ONLY, detect_charset, encode_text
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import url_file_type
from evercrawl.core.duplicates.minhash import is_near_duplicate, signature_similarity, text_signature
from evercrawl.core.focus.focus import focus_of, relevance
from evercrawl.core.robots.robots_txt import RobotsTxt, parse_robots, sitemap_urls, verdict_for
from evercrawl.core.sentiment.sentences import MAX_SENTENCE_CHARS, is_english, tokenize
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.sitemap.sitemap_values import is_in_scope
from evercrawl.core.traps.url_check import url_verdict
from evercrawl.core.url import canonical_of_href, join, key_of, parse
from evercrawl.model.document import Document, Link
from evercrawl.model.fetch import Headers, header
from evercrawl.model.settings import IdentitySettings, ParseSettings
from evercrawl.model.sitemap import SitemapEntry, SitemapType

Tool = Callable[[dict[str, Any]], dict[str, Any]]

_FIELDS = "a after agent b base before body content_type html input page_url robots_txt text url user_agent"
TEXTS = frozenset(_FIELDS.split())
"""Fields of the lines that have to be strings."""
TOOLS = ("robots", "url", "extract", "changed", "similar", "sitemap", "trap", "sentiment")
"""Each is the function of that name in the module of that name, imported when it is asked for: a pipe pays
for the start of its own tool only.
"""


def tool_named(name: str) -> Tool:
    """One of TOOLS."""
    found: Tool = getattr(import_module(f"evercrawl.collection.tools.{name}"), name)
    return found


def answer_lines(tool: Tool, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer every line of `source` on `sink` at once, so that a program can talk with the tool."""
    for line in source:
        if line.isspace():
            continue
        sink.write(_written(_answer(tool, line)))
        sink.flush()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, one a line; ValueError names the line that is none."""
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.isspace() or not line:
            continue
        try:
            row = _read(line)
        except ValueError as error:
            raise ValueError(f"line {number} is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is not a JSON object")
        rows.append(row)
    return rows


def _answer(tool: Tool, line: bytes) -> dict[str, Any]:
    """One line must never end the stream, whatever is wrong with it."""
    try:
        row = _read(line)
    except Exception as error:
        return {"id": None, "error": f"{type(error).__name__}: {error}"}
    if not isinstance(row, dict):
        return {"id": None, "error": "the line is not a JSON object"}
    try:
        return {"id": row.get("id"), **tool(row)}
    except Exception as error:
        return {"id": row.get("id"), "error": _told(error, row)}


def _told(error: Exception, row: dict[str, Any]) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    if isinstance(error, TypeError | AttributeError):
        wrong = [name for name in TEXTS & row.keys() if not isinstance(row[name], str)]
        if wrong:
            # Null may stand for a field that need not be given: it is the last to be blamed.
            return f"{min(wrong, key=lambda name: (row[name] is None, name))} is not a string"
    return f"{type(error).__name__}: {error}"


def _read(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # The slower reader also takes lone surrogates, which pages do contain.
        return json.loads(line)


def _written(answer: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(answer, default=str).encode() + b"\n"


FILES_REMEMBERED = 16


def robots(row: dict[str, Any]) -> dict[str, Any]:
    """Permission, deciding line, delay and sitemaps for `url`; without a `url` there is no permission."""
    compiled = _compiled(_body(row), str(row.get("user_agent", IdentitySettings().product)))
    url = row.get("url")
    verdict = None if url is None else verdict_for(compiled, str(url))
    return {
        "allowed": None if verdict is None else verdict.allowed,
        "line": None if verdict is None else verdict.line,
        "crawl_delay": compiled.crawl_delay,
        "sitemaps": _sitemaps(compiled, row.get("robots_url") or url),
    }


def _body(row: dict[str, Any]) -> bytes:
    if "robots_txt_b64" in row:
        return b64decode(row["robots_txt_b64"], validate=True)
    if "robots_txt" not in row:
        raise ValueError("robots_txt or robots_txt_b64 is missing")
    return str(row["robots_txt"]).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=FILES_REMEMBERED)
def _compiled(body: bytes, agent: str) -> RobotsTxt:
    return parse_robots(body, agent=agent)


def _sitemaps(compiled: RobotsTxt, base: object) -> list[str]:
    """As the file has them; relative ones are completed when we know of which site the file is."""
    if not isinstance(base, str) or parse(base) is None:
        return list(compiled.sitemaps)
    return list(sitemap_urls(compiled, base))


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def url(row: dict[str, Any]) -> dict[str, Any]:
    """WHATWG serialisation, canonical form and key of `input`, resolved against `base` where given."""
    reference, base = _scalar(row["input"]), row.get("base")
    href = parse(reference) if base is None else join(_scalar(base), reference)
    page = None if href is None else canonical_of_href(href)
    return {"href": href, "canonical": page, "key": None if page is None else key_of(page).hex()}


def _scalar(value: object) -> str:
    """The text with U+FFFD for what is no character, as the standard's own conversion has it."""
    if not isinstance(value, str):
        raise ValueError("input and base must be strings")
    return _LONE_SURROGATE.sub("�", value)


_LIMITS = ParseSettings()
_US = IdentitySettings().product


def extract(row: dict[str, Any]) -> dict[str, Any]:
    """Links, embeds, relations, directives and main text of `html` or `html_b64`."""
    headers = _headers(row)
    agent = row.get("user_agent") or _US
    document = parse_document(
        row.get("page_url") or "", headers, _body_extract(row, headers), agent=agent, limits=_LIMITS
    )
    return _shown(document)


def _body_extract(row: dict[str, Any], headers: Headers) -> bytes:
    """The bytes of the page; markup given as text is written in the encoding that the page claims, if that
    can be.
    """
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
    """The given headers; a separate content type comes first, and without any the page is HTML."""
    given = tuple((str(name), str(value)) for name, value in row.get("headers") or ())
    content_type = row.get("content_type")
    if content_type is None and header(given, "content-type") is None:
        content_type = "text/html"
    return given if content_type is None else (("Content-Type", str(content_type)), *given)


def _shown(document: Document) -> dict[str, Any]:
    # A link to a file that calls itself an image is one: a crawl does not take it for a page either.
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
        "links": [_link(link) for link in pages],
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


def _link(link: Link) -> dict[str, Any]:
    return {"url": link.url, "text": link.text, "nofollow": link.nofollow}


def changed(row: dict[str, Any]) -> dict[str, Any]:
    """Whether `after` differs from `before` in meaning, in which way and by how much."""
    change = compare(row["before"], row["after"], page_url=row.get("page_url") or "")
    return {"changed": change.changed, "class": change.kind.value, "size": round(change.size, 4)}


def similar(row: dict[str, Any]) -> dict[str, Any]:
    """Whether the plain texts `a` and `b` are near duplicates, and their estimated similarity."""
    one, other = row["a"], row["b"]
    first, second = text_signature(one), text_signature(other)
    return {
        "near_duplicate": is_near_duplicate(first, second, sizes=(len(one), len(other))),
        "similarity": round(signature_similarity(first, second), 4),
    }


def sitemap(row: dict[str, Any]) -> dict[str, Any]:
    """Type, entries and error of `body` or `body_b64` as it came from `url`."""
    url = str(row.get("url") or "")
    content_type = row.get("content_type")
    found = read_sitemap(_body_sitemap(row), url, content_type=None if content_type is None else str(content_type))
    return {
        "type": found.type.value,
        "entries": [_entry(entry, url, found.type) for entry in found.entries],
        "feed_lastmod": _utc(found.feed_lastmod),
        "error": found.error,
    }


def _body_sitemap(row: dict[str, Any]) -> bytes:
    if row.get("body_b64") is not None:
        return b64decode(row["body_b64"])
    if row.get("body") is None:
        raise ValueError("body or body_b64 is missing")
    return str(row["body"]).encode("utf-8", "replace")


def _entry(entry: SitemapEntry, url: str, kind: SitemapType) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "url": entry.url,
        "lastmod": _utc(entry.lastmod),
        "changefreq": entry.changefreq,
        "priority": entry.priority,
        "in_scope": is_in_scope(url, entry.url),
    }
    if entry.text is not None:
        shown["anchor_text" if kind is SitemapType.EXTENDED else "title"] = entry.text
    if entry.alternates:
        shown["alternates"] = [{"url": it.url, "hreflang": it.hreflang, "type": it.type} for it in entry.alternates]
    if entry.images:
        shown["images"] = list(entry.images)
    if entry.videos:
        shown["video"] = entry.videos[0]
        shown["videos"] = list(entry.videos)
    if entry.news is not None:
        shown["news"] = entry.news
    return shown


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def trap(row: dict[str, Any]) -> dict[str, Any]:
    """Whether `url`, so many `hops` away from a seed, is a trap, and why in words."""
    url, hops = row["url"], row.get("hops")
    if not isinstance(url, str):
        raise ValueError("url must be a string")
    verdict = url_verdict(url, hops=None if hops is None else int(hops), year=datetime.now(UTC).year)
    return {"trap": verdict.trap, "reason": f"{verdict.kind}: {verdict.reason}" if verdict.trap else ""}


DIGITS = 4


def _default(text: str) -> float:
    return load_sentiment_model().score(text)


def _paper(text: str) -> float:
    return load_paper_model().score(text)


def _paper_add_one(text: str) -> float:
    return load_paper_model().score(text, add_one=True)


METHODS: dict[str, Callable[[str], float]] = {"default": _default, "paper": _paper, "paper-add-one": _paper_add_one}


def sentiment(row: dict[str, Any]) -> dict[str, Any]:
    """`label` and `score` of `text` by `method`; both null without words and for another language."""
    method = METHODS.get(row.get("method") or "default")
    if method is None:
        raise ValueError(f"method is one of {', '.join(METHODS)}")
    text = str(row["text"])[:MAX_SENTENCE_CHARS]
    if not tokenize(text) or not is_english(text, lang=row.get("lang")):
        return {"label": None, "score": None}
    score = round(method(text), DIGITS)
    return {"label": "pos" if score >= 0 else "neg", "score": score}


RELEVANCE_DIGITS = 6


def relevance_tool(examples: Iterable[dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function from `url` and `html` to `score`, learned from the rows of an examples file."""
    focus = focus_of(examples, background=load_background())

    def score(row: dict[str, Any]) -> dict[str, Any]:
        url, html = str(row.get("url") or ""), row.get("html") or row.get("text") or ""
        return {"score": round(relevance(focus, url, str(html)), RELEVANCE_DIGITS)}

    return score
