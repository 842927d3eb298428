"""Selectors: parts of a page by CSS, XPath, JSONPath or a text pattern.

css:.price            text of the matches; css:.price::attr(content) an attribute; css:main::html the markup
xpath://td[2]         needs the extra `fields`
json:$.items[*].price of JSON pages; needs the extra `fields`
text:Version (\\S+)    an RE2 expression on the text; the first group, else the whole match
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import re2
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from evercrawl.errors import ConfigError

MAX_MATCHES = 1000  # Matches of one selector on one page.
MAX_VALUE_CHARS = 10_000  # Of the text of one match.
LANGUAGES = ("css", "xpath", "json", "text")
_CSS_PSEUDO = re.compile(r"text|html|attr\(([A-Za-z_:][\w:.-]*)\)")
_EXTRA = "install it with: pip install 'evercrawl[fields]'"


class PagePart(NamedTuple):
    """What selectors are applied to."""

    markup: str  # The decoded body.
    text: str  # The main text.
    is_html: bool = True


Select = Callable[[PagePart], list[str]]


@lru_cache(maxsize=512)
def parse_selector(text: str) -> Select:
    """Return the function of a selector; raise ConfigError if it is not valid. Without a language it is CSS."""
    language, colon, rest = text.partition(":")
    if not colon or language not in LANGUAGES:
        language, rest = "css", text
    if not rest.strip():
        raise ConfigError(f"the selector {text!r} is empty; write it like css:.price or text:Version (\\S+)")
    return {"css": _css, "xpath": _xpath, "json": _json_path, "text": _text_pattern}[language](rest.strip())


def _css(expression: str) -> Select:
    before, colons, pseudo = expression.rpartition("::")
    found = _CSS_PSEUDO.fullmatch(pseudo.strip()) if colons else None
    css, kind, attribute = (before.strip() or "*", found[0], found[1]) if found else (expression, "text", None)
    try:
        LexborHTMLParser("<p>").css(css)
    except (SelectolaxError, ValueError) as error:
        raise ConfigError(f"{css!r} is not a CSS selector; write it like css:.price") from error

    def select(page: PagePart) -> list[str]:
        nodes = LexborHTMLParser(page.markup).css(css)[:MAX_MATCHES]
        if attribute is not None:
            return [_clean(value) for node in nodes if (value := node.attributes.get(attribute)) is not None]
        if kind == "html":
            return [(node.html or "")[:MAX_VALUE_CHARS] for node in nodes]
        return [_clean(node.text(separator=" ")) for node in nodes]

    return select


def _xpath(expression: str) -> Select:
    try:
        from lxml import etree, html
    except ImportError as error:
        raise ConfigError(f"XPath needs lxml; {_EXTRA}") from error
    try:
        compiled = etree.XPath(expression)
    except etree.XPathSyntaxError as error:
        raise ConfigError(f"{expression!r} is not an XPath expression: {error}") from error

    def parse(page: PagePart) -> Any:
        body = page.markup.encode("utf-8", "replace")
        if page.is_html:
            return html.document_fromstring(body or b"<html>", parser=html.HTMLParser(encoding="utf-8"))
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, encoding="utf-8")
        return etree.fromstring(body, parser)

    def select(page: PagePart) -> list[str]:
        try:
            tree = parse(page)
            found = compiled(tree) if tree is not None else []
        except (etree.LxmlError, ValueError):
            return []
        return [_clean(_node_text(one)) for one in (found if isinstance(found, list) else [found])[:MAX_MATCHES]]

    return select


def _node_text(found: Any) -> str:
    if isinstance(found, float):
        return f"{found:.15g}"
    return str(found) if isinstance(found, str | bool) else " ".join(found.itertext())


def _json_path(expression: str) -> Select:
    try:
        import jsonpath
    except ImportError as error:
        raise ConfigError(f"JSONPath needs python-jsonpath; {_EXTRA}") from error
    try:
        compiled = jsonpath.compile(expression)
    except jsonpath.JSONPathError as error:
        raise ConfigError(f"{expression!r} is not a JSONPath: {error}") from error

    def select(page: PagePart) -> list[str]:
        try:
            found = compiled.findall(json.loads(page.markup))
        except (ValueError, RecursionError, jsonpath.JSONPathError):
            return []
        return [_clean(one if isinstance(one, str) else json.dumps(one)) for one in found[:MAX_MATCHES]]

    return select


def _text_pattern(expression: str) -> Select:
    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile(expression, options)
    except re2.error as error:
        raise ConfigError(f"{expression!r} is not a regular expression of RE2: {error}") from error

    def select(page: PagePart) -> list[str]:
        found: list[str] = []
        for match in pattern.finditer(page.text):
            found.append(_clean((match[1] if pattern.groups else match[0]) or ""))
            if len(found) == MAX_MATCHES:
                break
        return found

    return select


def _clean(text: str) -> str:
    return " ".join(text[: MAX_VALUE_CHARS * 4].split())[:MAX_VALUE_CHARS]
