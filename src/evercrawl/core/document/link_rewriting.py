"""Rewrites the references of HTML source in place. Everything else stays as it was written, since a parsed page written
out again may differ from what the browser showed (HTML standard 13.2.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from typing import NamedTuple

from evercrawl.core.document.html import LAZY_SOURCES, LAZY_SRCSETS, Place, rewrite_css, rewrite_srcset
from evercrawl.core.document.links import parse_refresh

# A comment, another declaration or end tag, or the start of a tag.
_MARK = re.compile(r"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|[!?/][^>]*+>?|([A-Za-z][^\s/>]*+))", re.DOTALL)
_ATTRIBUTE = re.compile(r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|(?!["'])[^\s>]*+))?""")
# Without semicolon a name is a reference only if no letter, digit or `=` follows: `?a=1&copy=2` is a query.
_REFERENCE = re.compile(r"&(?:#\w{1,8}+;?|[A-Za-z]\w{0,40}+(?:;|(?![\w=])))")
_RAW_TEXT = {
    name: re.compile(rf"</{name}(?=[\s/>]|\Z)", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
_URL_ATTRIBUTES = frozenset(
    ("href", "src", "action", "formaction", "poster", "background", "cite", "longdesc", "xlink:href", "manifest")
)
_SRCSETS = frozenset(("srcset", "imagesrcset"))
_DROPPED = frozenset(("integrity", "crossorigin"))
"""A browser checks these against what it loads, and refuses local files."""


class _Attribute(NamedTuple):
    """An attribute of a tag: its lower-case name, its value without references, and its position."""

    name: str
    value: str
    start: int
    end: int


def rewrite_html(html: str, place: Place) -> str:
    """Return the page with every reference replaced."""
    parts, done, at = [], 0, 0
    while mark := _MARK.search(html, at):
        at = mark.end()
        if not mark[1]:
            continue
        name = mark[1].lower()
        attributes = list(_attributes(html, at))
        at = attributes[-1].end if attributes else at
        for attribute, new in _rewritten(name, attributes, place):
            parts += [html[done : attribute.start], f' {attribute.name}="{escape(new)}"' if new is not None else ""]
            done = attribute.end
        if name in _RAW_TEXT:
            start = html.find(">", at) + 1 or len(html)
            end = _RAW_TEXT[name].search(html, start)
            at = end.start() if end else len(html)
            if name == "style":
                parts += [html[done:start], rewrite_css(html[start:at], place)]
                done = at
    return "".join((*parts, html[done:]))


def _attributes(html: str, at: int) -> Iterator[_Attribute]:
    while found := _ATTRIBUTE.match(html, at):
        at = found.end()
        value = found[2] or ""
        value = value[1:-1] if value[:1] in ('"', "'") else value
        yield _Attribute(found[1].lower(), _REFERENCE.sub(lambda one: unescape(one[0]), value), found.start(), at)


def _rewritten(name: str, attributes: list[_Attribute], place: Place) -> Iterator[tuple[_Attribute, str | None]]:
    """Yield the attributes that change with their new values; None: the attribute is left out."""
    values = {one.name: one.value for one in reversed(attributes)}
    is_lazy = name in ("img", "source") and values.get("src", "data:").startswith("data:")
    if is_lazy and not values.keys().isdisjoint((*LAZY_SOURCES, *LAZY_SRCSETS)):
        yield from _shown_at_once(attributes, values, place)
        return
    if name == "link" and "canonical" in values.get("rel", "").lower():
        return
    changed = {one: new for one in attributes if (new := _new_value(name, one, values, place)) not in (None, one.value)}
    for one in attributes:
        if one in changed:
            yield one, changed[one]
        elif changed and one.name in _DROPPED:
            yield one, None


def _shown_at_once(
    attributes: list[_Attribute], values: dict[str, str], place: Place
) -> Iterator[tuple[_Attribute, str | None]]:
    """Yield the attributes of an image without the wait for a script that shows it when it comes into view."""
    lazy = {"src": _first(LAZY_SOURCES, values), "srcset": _first(LAZY_SRCSETS, values)}
    names = {old: new for new, old in lazy.items() if old is not None}
    for one in attributes:
        new = _new_value("img", one._replace(name=names.get(one.name, one.name)), values, place)
        if one.name in names:
            yield one._replace(name=names[one.name]), new if new is not None else one.value
        elif lazy.get(one.name) or one.name in _DROPPED:
            yield one, None  # A placeholder, or a check.
        elif new not in (None, one.value):
            yield one, new


def _first(names: tuple[str, ...], values: dict[str, str]) -> str | None:
    return next((name for name in names if values.get(name)), None)


def _new_value(name: str, one: _Attribute, values: dict[str, str], place: Place) -> str | None:
    if name == "base":
        return "" if one.name == "href" else None
    if name == "meta":
        return _new_meta(values, place) if one.name == "content" else None
    if one.name in _URL_ATTRIBUTES or (name == "object" and one.name == "data"):
        return place(one.value)
    if one.name in _SRCSETS:
        return rewrite_srcset(one.value, place)
    return rewrite_css(one.value, place) if one.name == "style" else None


def _new_meta(values: dict[str, str], place: Place) -> str | None:
    """Return the new content of a meta element: a refresh leads elsewhere, and no policy keeps out local files."""
    what = values.get("http-equiv", "").strip().lower()
    if what == "content-security-policy":
        return ""
    target = parse_refresh(values["content"]) if what == "refresh" else None
    new = place(target.reference) if target is not None and target.reference else None
    return f"{target.delay}; url={new}" if target is not None and new is not None else None
