"""JSON, XML and plain text as simple markup, so that their parts are found by the same evidence as those of HTML pages.

Each part of JSON and XML carries its path, from which selectors are made. Lines of plain text that say something of
something (`Depth: 6 m`, `Depth ..... 6 m`, `| Depth | 6 m |`) become rows of tables, lines with bullets become lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

PATH_ATTRIBUTE = "data-evercrawl-at"
MAX_LEAVES = 20_000  # Values of a document.
MAX_DEPTH = 60
MAX_LINES = 20_000  # Of plain text.
MAX_LINE_CHARS = 2000
MAX_FILTER_CHARS = 60  # Of a text by which an entry of a list is selected.
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_BULLET = re.compile(r"\s*(?:[-*+•‣▪◦·■●○□►»–—✓✔]|\d{1,3}[.)])\s+(?=\S)")
_TITLE = re.compile(r"\s*(#{1,6})\s+(?=\S)")
_RULE = re.compile(r"[-=_~*+|:. \t]{3,}")
_LABELLED = re.compile(r"[*_\s]{0,10}([^\W\d_][^:：=|\t]{0,59})[:：=]\s*[*_]{0,4}(?=\S)")
_CELLS = re.compile(r"\s*(?:\t|\s\.{2,}\s?|\.{3,}|\s{3,}|\s\|\s)\s*")


def data_markup(markup: str, text: str) -> tuple[str, str]:
    """Return markup for a document that is not HTML, and the language of its paths: json, xpath, or text for none."""
    start = markup[:200].lstrip("\ufeff \t\r\n")[:1]
    if start in ("{", "[") and (found := json_markup(markup)):
        return found, "json"
    if start == "<" and (found := xml_markup(markup)):
        return found, "xpath"
    return text_markup(text), "text"


# JSON


def json_markup(markup: str) -> str:
    """Return a JSON document as markup; empty if it cannot be read."""
    try:
        value = json.loads(markup)
    except (ValueError, RecursionError):
        return ""
    parts: list[str] = []
    _write_json(value, "", "$", parts, 0)
    return "".join(parts)


def _write_json(value: Any, key: str, path: str, parts: list[str], depth: int) -> None:
    if value is None or len(parts) > 3 * MAX_LEAVES or depth > MAX_DEPTH:
        return
    is_group = isinstance(value, dict | list)
    tag = ("ul" if isinstance(value, list) else "div") if is_group else "span"
    parts.append(_open_tag(tag, key, path))
    if isinstance(value, dict):
        for name, one in value.items():
            _write_json(one, name, f"{path}[{json.dumps(name, ensure_ascii=False)}]", parts, depth + 1)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            _write_json(one, key, f"{path}[{at}]", parts, depth + 1)
    else:
        parts.append(escape(value if isinstance(value, str) else json.dumps(value)))
    parts.append(f"</{tag}>")


def json_leaves(markup: str) -> Iterator[tuple[str, str]]:
    """Yield the values of a JSON document in order: paths with their keys."""
    try:
        waiting: list[tuple[str, str, Any]] = [("$", "", json.loads(markup))]
    except (ValueError, RecursionError):
        return
    count = 0
    while waiting and count < MAX_LEAVES:
        path, key, value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting += [(f"{path}[{json.dumps(name)}]", name, one) for name, one in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(f"{path}[{at}]", key, one) for at, one in reversed(list(enumerate(value)))]
        elif value is not None:
            yield path, key


# XML


def xml_markup(markup: str) -> str:
    """Return an XML document as markup; empty if it cannot be read."""
    try:
        from lxml import etree
    except ImportError:
        return ""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, encoding="utf-8")
    root = etree.fromstring(markup.encode("utf-8", "replace"), parser)
    parts: list[str] = []
    if root is not None and isinstance(root.tag, str):
        _write_xml(root, f"/{_step(root.tag)}", parts, 0)
    return "".join(parts)


def _write_xml(element: Any, path: str, parts: list[str], depth: int) -> None:
    if len(parts) > 3 * MAX_LEAVES or depth > MAX_DEPTH:
        return
    name = _local(element.tag)
    inner = [one for one in element if isinstance(one.tag, str)]
    attributes = [(key, value) for key, value in element.attrib.items() if not key.startswith("{")]
    is_leaf = not inner and bool((element.text or "").strip())
    if attributes or not is_leaf:
        parts.append(_open_tag("div", name, "" if is_leaf else path))
    parts += [f"{_open_tag('span', key, f'{path}/@{key}')}{escape(value)}</span>" for key, value in attributes]
    if is_leaf:
        parts.append(f"{_open_tag('span', name, path)}{escape(element.text)}</span>")
    counts: dict[str, int] = {}
    totals = [one.tag for one in inner]
    repeated = {tag for tag in set(totals) if totals.count(tag) > 1} if len(totals) < MAX_LEAVES else set(totals)
    for one in inner:
        counts[one.tag] = counts.get(one.tag, 0) + 1
        step = _step(one.tag) + (f"[{counts[one.tag]}]" if one.tag in repeated else "")
        _write_xml(one, f"{path}/{step}", parts, depth + 1)
    if attributes or not is_leaf:
        parts.append("</div>")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _step(tag: str) -> str:
    name = _local(tag)
    return name if name == tag and _NAME.fullmatch(name) else f"*[local-name()='{name}']"


def _open_tag(tag: str, key: str, path: str) -> str:
    place = f' {PATH_ATTRIBUTE}="{escape(path)}"' if path else ""
    return f'<{tag} class="{escape(key)}"{place}>'


def xml_path(found: Any) -> str:
    """Return the path of a result of XPath in the form of the markup; empty if it is no part of the document."""
    if getattr(found, "is_attribute", False):
        return f"{xml_path(found.getparent())}/@{found.attrname}"
    if getattr(found, "is_text", False):
        return xml_path(found.getparent())
    if not isinstance(getattr(found, "tag", None), str):
        return ""
    above, step = found.getparent(), _step(found.tag)
    if above is None:
        return f"/{step}"
    same = list(above.iterchildren(found.tag))
    return f"{xml_path(above)}/{step}" + (f"[{same.index(found) + 1}]" if len(same) > 1 else "")


def json_path(parts: Iterable[int | str]) -> str:
    """Return the path of a value in the form of the markup."""
    return "$" + "".join(f"[{one if isinstance(one, int) else json.dumps(one, ensure_ascii=False)}]" for one in parts)


# Plain text


def text_markup(text: str) -> str:
    """Return plain text as markup: titles, lists, rows of tables, and paragraphs."""
    lines = [line[:MAX_LINE_CHARS].rstrip() for line in text.splitlines()[:MAX_LINES]]
    parts: list[str] = []
    kind = ""
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        found, inner = _line_markup(line, following)
        if found != kind:
            parts.append(f"</{kind}>" if kind in ("table", "ul") else "")
            parts.append(f"<{found}>" if found in ("table", "ul") else "")
            kind = found
        parts.append(inner)
    return "".join(parts)


def _line_markup(line: str, following: str) -> tuple[str, str]:
    """Return the kind of a line, and its markup."""
    if not line.strip():
        return "", ""
    if _RULE.fullmatch(line):
        return ("table", "") if "|" in line else ("", "")
    if title := _TITLE.match(line):
        return "h2", f"<h2>{escape(line[title.end() :])}</h2>"
    if _RULE.fullmatch(following) and "|" not in following:
        return "h2", f"<h2>{escape(line)}</h2>"
    if bullet := _BULLET.match(line):
        return "ul", f"<li>{escape(line[bullet.end() :])}</li>"
    cells = _cells_of(line)
    if len(cells) > 1:
        return "table", "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    if line.isupper() and len(line) < 60:
        return "h2", f"<h2>{escape(line)}</h2>"
    return "p", f"<p>{escape(line.strip())}</p>"


def _cells_of(line: str) -> list[str]:
    plain = line.strip().strip("|").strip()
    if "|" not in line and (label := _LABELLED.match(plain)) is not None:
        return [label[1].strip(" .*_"), plain[label.end() :].strip(" *_")]
    found = [cell.strip(" *_`") for cell in (plain.split("|") if line.strip().startswith("|") else _CELLS.split(plain))]
    return [cell for cell in found if cell]


# Selectors


def path_selectors(path: str, siblings: Sequence[tuple[str, str]], language: str) -> Iterator[str]:
    """Yield selectors for a part with a path, the most robust first: by a text beside it, by names, by its place.
    `siblings` are the names and texts of the other values in the same entry of a list."""
    head, place, rest = _last_place(path, language)
    if place:
        for name, text in siblings:
            if (test := _test(name, text, language)) is not None:
                yield f"{language}:{head}[{test}]{rest}"
    elif path:
        yield f"{language}:{path}"
    if language == "json" and (key := re.search(r'\["((?:[^"\\]|\\.)*)"\]$', path)):
        yield f'json:$..["{key[1]}"]'
    if place:
        yield f"{language}:{path}"


def list_paths(paths: Sequence[str], language: str) -> list[str]:
    """Return selectors for all entries of the lists that parts with these paths are in."""
    every = "[*]" if language == "json" else ""
    found = []
    for path in paths:
        head, place, rest = _last_place(path, language)
        if place:
            found.append(f"{language}:{head}{every}{rest}")
    return list(dict.fromkeys(found))


def _last_place(path: str, language: str) -> tuple[str, str, str]:
    """Return a path before its last place in a list, the place, and what follows."""
    found = list(re.finditer(r"\[\d+\]", path))
    return (path[: found[-1].start()], found[-1][0], path[found[-1].end() :]) if found else (path, "", "")


def _test(name: str, text: str, language: str) -> str | None:
    """Return the expression that is true for entries in which a value has this text."""
    if not 0 < len(text) <= MAX_FILTER_CHARS or not any(map(str.isalpha, text)):
        return None
    if language == "json":
        return f"?@[{json.dumps(name, ensure_ascii=False)}]=={json.dumps(text, ensure_ascii=False)}"
    quote = '"' if "'" in text else "'"
    if quote in text:
        return None
    is_attribute = name.startswith("@")
    return f"{name if is_attribute else _step(name)}={quote}{text}{quote}"
