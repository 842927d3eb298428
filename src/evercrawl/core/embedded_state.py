"""Content that a page carries as data for its scripts: `__NEXT_DATA__`, `__NUXT_DATA__`, `window.__STATE__ = {…}`,
JSON-LD and other JSON. Rendered pages show which of its values are content; pages like them are then read without a
browser. What scripts add to every page alike, such as menus, is not in the data and not in these pages."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser
from xxhash import xxh3_64_intdigest

from evercrawl.core.url import join

MAX_VALUES, MAX_DEPTH = 20_000, 40  # Strings of one page that are read, and how deep in its data.
MAX_PATHS, MAX_PATH_CHARS = 60, 200
MAX_ASSIGNMENTS = 200  # Assignments in the scripts of one page that are read.
MAX_COMPARED_CHARS = 300_000_000  # Values of a page times the length of its text.
MAX_LABELS = 400  # Words and links that the scripts of a page add by themselves.
MIN_SHOWN = 0.9  # Share of the strings at a path that must be in the rendered text.
MIN_PROSE_WORDS = 3  # Without a rendered page to compare, a string of this many words is content.

_ASSIGNMENT = re.compile(
    r"(?:window|self|globalThis)\s*(?:\.\s*|\[\s*[\"'])([\w$]+)(?:[\"']\s*\])?\s*=\s*(JSON\.parse\()?"
)
_TAG = re.compile(r"<[a-zA-Z/][^<>]*>")
_WORD = re.compile(r"\w+")
_DATA_TYPES = ("application/json", "application/ld+json")


class Value(NamedTuple):
    """A string in the data of a page. `path` has `*` for places in lists, so that all items share it."""

    path: str
    text: str


class EmbeddedSample(NamedTuple):
    """What comparing the data of a page with its rendered text showed."""

    paths: tuple[str, ...]  # Where the content is; those of links begin with `@`.
    labels: frozenset[int]  # Digests of the words and links that are not in the data.


def embedded_values(tree: LexborHTMLParser) -> list[Value]:
    """Return the strings in the data of a page, in their order."""
    values: list[Value] = []
    left = MAX_ASSIGNMENTS
    for node in tree.css("script"):
        attributes = node.attributes
        code = node.text() or ""
        if attributes.get("src") or len(values) >= MAX_VALUES:
            continue
        if (attributes.get("type") or "").strip().lower() in _DATA_TYPES:
            found = [(attributes.get("id") or attributes.get("type") or "", _decoded(code))]
        else:
            matches = list(islice(_ASSIGNMENT.finditer(code), left))
            left -= len(matches)
            found = [(match[1], _assigned(code, match)) for match in matches]
        for name, data in found:
            values += _strings(_revived(data), name, 0)
    return values[:MAX_VALUES]


def _decoded(code: str, start: int = 0) -> Any:
    try:
        return json.JSONDecoder(strict=False).raw_decode(code, start)[0]
    except (ValueError, RecursionError):
        return None


def _assigned(code: str, match: re.Match[str]) -> Any:
    data = _decoded(code, match.end()) if code[match.end() : match.end() + 1] in ("{", "[", '"') else None
    return _decoded(data) if match[2] and isinstance(data, str) else data


def _revived(data: Any) -> Any:
    """Return data with its references resolved, if numbers in it are places of other values (devalue)."""
    if not (isinstance(data, list) and len(data) > 1 and isinstance(data[0], dict | list)):
        return data
    first = data[0].values() if isinstance(data[0], dict) else data[0]
    if not all(isinstance(place, str) or (isinstance(place, int) and place < len(data)) for place in first):
        return data
    left = MAX_VALUES

    def revive(place: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if not isinstance(place, int) or not 0 <= place < len(data) or depth > MAX_DEPTH or left < 0:
            return None
        value = data[place]
        if isinstance(value, dict):
            return {name: revive(one, depth + 1) for name, one in value.items()}
        if isinstance(value, list):
            is_wrapped = len(value) == 2 and isinstance(value[0], str)
            return revive(value[1], depth + 1) if is_wrapped else [revive(one, depth + 1) for one in value]
        return value

    return revive(0, 0)


def _strings(data: Any, path: str, depth: int) -> Iterator[Value]:
    if isinstance(data, str):
        if data.strip() and len(path) <= MAX_PATH_CHARS:
            yield Value(path, data)
    elif depth < MAX_DEPTH and isinstance(data, dict):
        for name, value in data.items():
            yield from _strings(value, f"{path}.{name}", depth + 1)
    elif depth < MAX_DEPTH and isinstance(data, list):
        for value in data:
            yield from _strings(value, f"{path}.*", depth + 1)


def compare_embedded(
    values: Iterable[Value], *, url: str, text: str, added: Counter[str], links: Iterable[str]
) -> EmbeddedSample | None:
    """Return which values a rendered page showed; None: it added nothing, or none of it is in the data.
    `text` is the rendered text, `added` and `links` what scripts added to the page."""
    shown, absolute = f" {_normal(text)} ", {join(url, link) or link for link in links}
    words_shown = frozenset(shown.split())
    by_path: dict[str, list[str]] = {}
    for value in values:
        by_path.setdefault(value.path, []).append(value.text)
    if len(shown) * sum(map(len, by_path.values())) > MAX_COMPARED_CHARS:
        return None
    paths, rest, left = [], added.copy(), absolute
    for path, texts in by_path.items():
        plain = [_normal(_TAG.sub(" ", one)) for one in texts]
        if sum(words_shown.issuperset(one.split()) and f" {one} " in shown for one in plain) >= MIN_SHOWN * len(
            plain
        ) and any(plain):
            words = Counter(word for one in plain for word in one.split())
            if any(word in rest for word in words):
                _take(rest, words)
                paths.append(path)
        targets = {join(url, one) or one for one in texts if _is_link(one)}
        if targets & left and len(targets) == len(set(texts)):
            left -= targets
            paths.append(f"@{path}")
    if not any(not path.startswith("@") for path in paths):
        return None
    labels = frozenset(word_digest(one) for one in (*rest, *left))
    return EmbeddedSample(tuple(paths), labels) if len(paths) <= MAX_PATHS and len(labels) <= MAX_LABELS else None


def _take(words: Counter[str], taken: Counter[str]) -> None:
    """Remove words that are in the data; what is left is above zero."""
    for word in taken.keys() & words.keys():
        words[word] -= taken[word]
        if words[word] <= 0:
            del words[word]


def prose_paths(values: Iterable[Value]) -> tuple[str, ...]:
    """Return the paths that seem to have content, where no page can be rendered to compare it."""
    found = (value.path for value in values if len(_WORD.findall(_TAG.sub(" ", value.text))) >= MIN_PROSE_WORDS)
    return tuple(dict.fromkeys(found))[:MAX_PATHS]


def embedded_html(values: Iterable[Value], paths: Iterable[str]) -> str:
    """Return the content at some paths as HTML; empty: there is none."""
    wanted, parts = frozenset(paths), []
    for value in values:
        if value.path in wanted:
            parts.append(f"<div>{value.text}</div>" if _TAG.search(value.text) else f"<p>{escape(value.text)}</p>")
        if f"@{value.path}" in wanted and _is_link(value.text):
            parts.append(f'<a href="{escape(value.text)}"></a>')
    return "\n".join(parts)


def with_embedded(tree: LexborHTMLParser, html: str) -> bytes:
    """Return a page, in UTF-8, with the content of its data."""
    head, end, tail = (tree.html or "").rpartition("</body>")
    return f'{head}<section data-view="embedded data">{html}</section>{end}{tail}'.encode("utf-8", "replace")


def _is_link(text: str) -> bool:
    return text.startswith(("/", "http://", "https://")) and not any(map(str.isspace, text))


def word_digest(text: str) -> int:
    """Return a digest of a word or link that is exact in JSON."""
    return int(xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))) >> 11


def _normal(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
