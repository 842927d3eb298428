"""`tool extract`: what a page says, by the code that a crawl uses."""

from __future__ import annotations

from base64 import b64decode
from codecs import BOM_UTF8
from typing import Any

from evercrawl.core.document.encoding import NOT_FOR_WRITING, charset_of, encoded
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.media_type import file_type_of
from evercrawl.model.document import Document, Link
from evercrawl.model.fetch import Headers, header
from evercrawl.model.settings import IdentitySettings, ParseSettings

_LIMITS = ParseSettings()
_US = IdentitySettings().product


def extract(row: dict[str, Any]) -> dict[str, Any]:
    """Links, embeds, relations, directives and main text of `html` or `html_b64`."""
    headers = _headers(row)
    agent = row.get("user_agent") or _US
    document = parse_document(row.get("page_url") or "", headers, _body(row, headers), agent=agent, limits=_LIMITS)
    return _shown(document)


def _body(row: dict[str, Any], headers: Headers) -> bytes:
    """The bytes of the page; markup given as text is written in the encoding that the page claims, if that
    can be.
    """
    packed = row.get("html_b64")
    if packed is not None:
        return b64decode(packed)
    text = row.get("html") or ""
    raw = bytes(text.encode("utf-8", "replace"))
    encoding = charset_of(raw, header(headers, "content-type")).encoding
    if raw.isascii() or encoding == "utf-8":
        return raw
    try:
        return BOM_UTF8 + raw if encoding in NOT_FOR_WRITING else encoded(text, encoding)
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
    images = [link.url for link in document.links if file_type_of(link.url) == "image"]
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
