"""Selectors: parts of a page by CSS, XPath, JSONPath or a text pattern.

css:.price            text of the matches; css:.price::attr(content) an attribute; css:main::html the markup
xpath://td[2]         needs the extra `fields`
json:$.items[*].price of JSON pages; needs the extra `fields`
text:Version (\\S+)    an RE2 expression on the text; the first group, else the whole match
table:Weight          the cell beside a label, in tables and definition lists; table:Oslo/July below a head;
                      table:Weight/* all rows of the table that has the label
label:Weight          what stands beside a label anywhere on the page
data:Product.offers.price  structured data: JSON-LD, microdata, RDFa; data:og:title Open Graph
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import re2
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from evercrawl.core.fields.data_markup import data_markup, json_path, xml_path
from evercrawl.core.fields.outline import STRUCK_TAGS, PageOutline, figures_of, label_of, select_beside, select_cells
from evercrawl.core.fields.structured import select_data, structured_items, structured_values
from evercrawl.errors import ConfigError

MAX_MATCHES = 1000  # Matches of one selector on one page.
MAX_VALUE_CHARS = 10_000  # Of the text of one match.
LANGUAGES = ("css", "xpath", "json", "text", "table", "label", "data")
_CSS_PSEUDO = re.compile(r"text|html|attr\(([A-Za-z_:][\w:.-]*)\)")
_LANG = re.compile(r"<html\b[^>]{0,500}?\blang\s*=\s*[\"']?([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)", re.IGNORECASE)
_STRUCK, _IN_STRUCK = ", ".join(STRUCK_TAGS), ", ".join(f"{tag}, {tag} *" for tag in STRUCK_TAGS)
_EXTRA = "install it with: pip install 'evercrawl[fields]'"


@dataclass(frozen=True)
class PagePart:
    """What selectors are applied to; it is parsed once, when the first selector needs it."""

    markup: str  # The decoded body.
    text: str  # The main text.
    is_html: bool = True
    selected: str = ""  # The selector of which this is the text; another program kept no more of the page.

    def __reduce__(self) -> tuple[type[PagePart], tuple[str, str, bool, str]]:
        """What another process gets: the texts, without the trees made of them."""
        return PagePart, (self.markup, self.text, self.is_html, self.selected)

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The page as CSS selectors see it."""
        return LexborHTMLParser(self.markup or "<html>")

    @cached_property
    def lxml_tree(self) -> Any:
        """The page as XPath sees it; None if it cannot be parsed."""
        from lxml import etree, html

        body = self.markup.encode("utf-8", "replace")
        if self.is_html:
            return html.document_fromstring(body or b"<html>", parser=html.HTMLParser(encoding="utf-8"))
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, encoding="utf-8")
        return etree.fromstring(body, parser)

    @cached_property
    def outline(self) -> PageOutline:
        """The elements of the page with their texts; of data and plain text, as if they were a page."""
        return PageOutline(self.markup) if self.is_html else PageOutline(*data_markup(self.markup, self.text))

    @cached_property
    def data(self) -> list[tuple[str, str]]:
        """The values of its structured data, with their paths."""
        return structured_values(structured_items(self.tree))

    @cached_property
    def lang(self) -> str:
        """The language that the page states, in lower case; empty: none."""
        found = _LANG.search(self.markup[:4000]) if self.is_html else None
        return found[1].lower() if found else ""


Select = Callable[[PagePart], list[str]]


def split_selector(text: str) -> tuple[str, str]:
    """Return the language of a selector and the rest of it; without a language it is CSS."""
    language, colon, rest = text.partition(":")
    return (language, rest.strip()) if colon and language in LANGUAGES else ("css", text.strip())


@lru_cache(maxsize=512)
def parse_selector(text: str) -> Select:
    """Return the function of a selector; raise ConfigError if it is not valid. Without a language it is CSS."""
    language, rest = split_selector(text)
    if not rest:
        raise ConfigError(f"the selector {text!r} is empty; write it like css:.price or text:Version (\\S+)")
    return _PARSERS[language](rest)


def _css(expression: str) -> Select:
    before, colons, pseudo = expression.rpartition("::")
    found = _CSS_PSEUDO.fullmatch(pseudo.strip()) if colons else None
    css, kind, attribute = (before.strip() or "*", found[0], found[1]) if found else (expression, "text", None)
    try:
        LexborHTMLParser("<p>").css(css)
    except (SelectolaxError, ValueError) as error:
        raise ConfigError(f"{css!r} is not a CSS selector; write it like css:.price") from error

    def select(page: PagePart) -> list[str]:
        nodes = page.tree.css(css)[:MAX_MATCHES]
        if attribute is not None:
            return [_clean(value) for node in nodes if (value := node.attributes.get(attribute)) is not None]
        if kind == "html":
            return [(node.html or "")[:MAX_VALUE_CHARS] for node in nodes]
        if page.tree.css_first(_STRUCK) is not None:
            inside = {node.mem_id for node in page.tree.css(_IN_STRUCK)}
            nodes = [node for node in nodes if node.mem_id not in inside] or nodes
        return [_clean(_current_text(node)) for node in nodes]

    return select


def _current_text(node: LexborNode) -> str:
    """Return the text of an element without struck-out prices and texts that repeat them, if that leaves any."""
    if node.css_first(_STRUCK) is None:
        return node.text(separator=" ")
    parts: list[str] = []
    skipped, figures = set[int](), frozenset[str]()
    for one in node.traverse(include_text=True):
        if one.tag in STRUCK_TAGS or (one.parent is not None and one.parent.mem_id in skipped):
            skipped.add(one.mem_id)
            figures |= figures_of(one.text(deep=False))
        elif one.tag == "-text":
            parts.append(one.text(deep=False))
    current = [part for part in parts if not figures & figures_of(part)]
    return " ".join(current if any(map(figures_of, current)) else parts).strip() or node.text(separator=" ")


def first_path(select: str, page: PagePart) -> str:
    """Return the path of what a selector selects first in JSON or XML; empty: nothing, or it is in another language."""
    language, expression = split_selector(select)
    if language == "xpath" and not page.is_html:
        found = _xpath_results(_compiled_xpath(expression), page)
        return xml_path(found[0]) if found else ""
    if language == "json":
        matches = _json_matches(_compiled_json_path(expression), page)
        return json_path(matches[0].parts) if matches else ""
    return ""


def _xpath(expression: str) -> Select:
    compiled = _compiled_xpath(expression)
    return lambda page: [_clean(_node_text(one)) for one in _xpath_results(compiled, page)[:MAX_MATCHES]]


def _compiled_xpath(expression: str) -> Any:
    try:
        from lxml import etree
    except ImportError as error:
        raise ConfigError(f"XPath needs lxml; {_EXTRA}") from error
    try:
        return etree.XPath(expression)
    except etree.XPathSyntaxError as error:
        raise ConfigError(f"{expression!r} is not an XPath expression: {error}") from error


def _xpath_results(compiled: Any, page: PagePart) -> list[Any]:
    from lxml import etree

    try:
        tree = page.lxml_tree
        if tree is None:
            return []
        prefixes = {} if page.is_html else {name: uri for name, uri in tree.xpath("//namespace::*") if name}
        found = tree.xpath(compiled.path, namespaces=prefixes) if prefixes else compiled(tree)
    except (etree.LxmlError, ValueError):
        return []
    return found if isinstance(found, list) else [found]


def _node_text(found: Any) -> str:
    if isinstance(found, float):
        return f"{found:.15g}"
    return str(found) if isinstance(found, str | bool) else " ".join(found.itertext())


def _json_path(expression: str) -> Select:
    compiled = _compiled_json_path(expression)

    def select(page: PagePart) -> list[str]:
        values = (match.value for match in _json_matches(compiled, page))
        return [_clean(one if isinstance(one, str) else json.dumps(one)) for one in values]

    return select


def _json_matches(compiled: Any, page: PagePart) -> list[Any]:
    import jsonpath

    try:
        return list(islice(compiled.finditer(json.loads(page.markup)), MAX_MATCHES))
    except (ValueError, RecursionError, jsonpath.JSONPathError):
        return []


def _compiled_json_path(expression: str) -> Any:
    try:
        import jsonpath
    except ImportError as error:
        raise ConfigError(f"JSONPath needs python-jsonpath; {_EXTRA}") from error
    if "=~" in expression:
        raise ConfigError(f"{expression!r} has =~, which may take very long; use match(@.name, 'pattern') or search(…)")
    environment: Any = jsonpath.JSONPathEnvironment()
    for name in ("match", "search"):
        environment.function_extensions[name].check_cache = _linear_pattern
    try:
        return environment.compile(expression)
    except jsonpath.JSONPathError as error:
        raise ConfigError(f"{expression!r} is not a JSONPath: {error}") from error


def _table_cells(expression: str) -> Select:
    if not label_of(expression.partition("/")[0]):
        raise ConfigError(f"{expression!r} names no label; write it like table:Weight or table:Oslo/July")

    def select(page: PagePart) -> list[str]:
        return [_clean(text) for text in select_cells(page.outline, expression)[:MAX_MATCHES]]

    return select


def _beside_label(label: str) -> Select:
    if not label_of(label):
        raise ConfigError(f"{label!r} is no label; write it like label:Weight")
    return lambda page: [_clean(text) for text in select_beside(page.outline, label)]


def _data_path(path: str) -> Select:
    def select(page: PagePart) -> list[str]:
        return [_clean(text) for text in select_data(page.tree, path)[:MAX_MATCHES]] if page.is_html else []

    return select


@lru_cache(maxsize=512)
def compile_expression(expression: str) -> Any:
    """Return a pattern that takes linear time; raise ConfigError if RE2 does not know it."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        raise ConfigError(f"{expression!r} is not a regular expression of RE2: {error}") from error


def _linear_pattern(expression: str) -> Any:
    with suppress(ConfigError):
        return compile_expression(expression)


def _text_pattern(expression: str) -> Select:
    pattern = compile_expression(expression)

    def select(page: PagePart) -> list[str]:
        found: list[str] = []
        for match in pattern.finditer(page.text):
            found.append(_clean((match[1] if pattern.groups else match[0]) or ""))
            if len(found) == MAX_MATCHES:
                break
        return found

    return select


_PARSERS: dict[str, Callable[[str], Select]] = {
    "css": _css,
    "xpath": _xpath,
    "json": _json_path,
    "text": _text_pattern,
    "table": _table_cells,
    "label": _beside_label,
    "data": _data_path,
}


def _clean(text: str) -> str:
    return " ".join(text[: MAX_VALUE_CHARS * 4].split())[:MAX_VALUE_CHARS]
