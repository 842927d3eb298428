"""A page's main text as Markdown, with its title and source.

The page is cut into blocks (headings, paragraphs, items, code, tables), and those stay whose words are part
of the main text: what is navigation is decided in one place, `core/document/main_text.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.collection.exchange.run import PageCopy
from evercrawl.core.document.bounds import bounded
from evercrawl.core.document.elements import tree_of
from evercrawl.core.document.encoding import decoded
from evercrawl.core.document.media_type import HTML_TYPES, media_type
from evercrawl.core.url import PAGE_SCHEMES, join
from evercrawl.model.time import from_us

MOST_DEPTH = 100
"""Elements within elements; deeper ones give their text only."""

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_LEFT_OUT_NAMES = (
    "script style noscript template iframe object svg math button select textarea input nav aside footer"
    " canvas audio video map dialog menu title head datalist meter embed"
)
_LEFT_OUT = frozenset(_LEFT_OUT_NAMES.split())
_INLINE_NAMES = (
    "a abbr b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small span strike"
    " strong sub sup time tt u var wbr br"
)
_INLINE = frozenset(_INLINE_NAMES.split())
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "strike": "~~"}
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_SPECIAL = re.compile(r"[\\`*_\[\]<>|]")
_LINE_START = re.compile(r"(?m)^(\s*)([#+>-]|\d+[.)])(?=\s)")
_SPACE = re.compile(r"[ \t\r\f]*\n[ \t\r\f]*|[ \t\r\f]+")


class Block(NamedTuple):
    """A piece of the page that stands by itself."""

    plain: str
    """Its words, with single spaces."""
    markdown: str


def markdown_of(page: PageCopy) -> str:
    """The whole file: title, source, main text."""
    version, document = page.version, page.document
    title = _one_line(version.title or document.title or version.url)
    parts = [
        f"# {_escaped(title)}",
        f"Source: <{version.url}>  \nFetched: {from_us(version.seen_us):%Y-%m-%dT%H:%M:%SZ}",
    ]
    blocks = _main_blocks(page)
    if blocks and blocks[0].plain == title and blocks[0].markdown.startswith("# "):
        del blocks[0]
    return "\n\n".join([*parts, *(block.markdown for block in blocks)]) + "\n"


def _main_blocks(page: PageCopy) -> list[Block]:
    document = page.document
    if media_type(page.stored.http.headers, page.body) not in HTML_TYPES:
        return _plain_blocks(document.text)
    main = f" {' '.join(document.text.split())} "
    body = tree_of(decoded(bounded(page.body), document.encoding)).body
    found = _Blocks(document.base_url).of(body) if body is not None else []
    kept = [block for block in found if block.plain and block.plain in main]
    return kept or _plain_blocks(document.text)


def _plain_blocks(text: str) -> list[Block]:
    return [Block(line, _escaped(line)) for line in text.splitlines() if line.strip()]


class _Blocks:
    """Walks a page and collects its blocks."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url
        self._found: list[Block] = []

    def of(self, root: LexborNode) -> list[Block]:
        self._walk(root, indent="", depth=0)
        return self._found

    def _walk(self, node: LexborNode, *, indent: str, depth: int) -> None:
        """The blocks below a node; what stands between blocks is a paragraph of its own."""
        run: list[LexborNode] = []
        for child in node.iter(include_text=True):
            tag = child.tag or ""
            if tag in ("-text", *_INLINE) and not _holds_blocks(child):
                run.append(child)
                continue
            self._paragraph(run, indent=indent)
            run = []
            if tag not in _LEFT_OUT and not tag.startswith("-"):
                self._block(child, tag, indent=indent, depth=depth)
        self._paragraph(run, indent=indent)

    def _block(self, node: LexborNode, tag: str, *, indent: str, depth: int) -> None:
        if tag in _HEADINGS:
            self._add(node, f"{_HEADINGS[tag]} ", indent=indent)
        elif tag == "pre":
            self._code(node, indent=indent)
        elif tag in ("ul", "ol"):
            self._items(node, tag, indent=indent, depth=depth)
        elif tag == "tr":
            self._row(node, indent=indent)
        elif tag == "hr":
            pass
        elif depth >= MOST_DEPTH:
            self._add(node, "", indent=indent)
        else:
            deeper = f"{indent}> " if tag == "blockquote" else indent
            self._walk(node, indent=deeper, depth=depth + 1)

    def _paragraph(self, run: list[LexborNode], *, indent: str) -> None:
        text = "".join(self._inline(node, 0) for node in run).strip()
        plain = _one_line("".join(node.text() if node.tag != "br" else " " for node in run))
        if plain:
            self._found.append(Block(plain, _indented(_guarded(text), indent)))

    def _add(self, node: LexborNode, mark: str, *, indent: str) -> None:
        plain = _one_line(node.text())
        if plain:
            text = " ".join(self._children(node, 0).split())
            self._found.append(Block(plain, f"{indent}{mark}{text}"))

    def _code(self, node: LexborNode, *, indent: str) -> None:
        text = node.text().strip("\n")
        fence = "```"
        while fence in text:
            fence += "`"
        self._found.append(Block(_one_line(text), _indented(f"{fence}\n{text}\n{fence}", indent)))

    def _items(self, node: LexborNode, tag: str, *, indent: str, depth: int) -> None:
        number = 0
        for item in node.iter():
            if item.tag != "li":
                continue
            number += 1
            before = len(self._found)
            mark = f"{number}. " if tag == "ol" else "- "
            self._walk(item, indent=indent + " " * len(mark), depth=min(depth + 1, MOST_DEPTH))
            if len(self._found) > before:
                first = self._found[before]
                text = first.markdown[len(indent) + len(mark) :]
                self._found[before] = first._replace(markdown=f"{indent}{mark}{text}")

    def _row(self, node: LexborNode, *, indent: str) -> None:
        cells = [cell for cell in node.iter() if cell.tag in ("td", "th")]
        plain = _one_line(" ".join(cell.text() for cell in cells))
        if plain:
            row = " | ".join(" ".join(self._children(cell, 0).split()) for cell in cells)
            self._found.append(Block(plain, indent + (row if len(cells) == 1 else f"| {row} |")))

    def _children(self, node: LexborNode, depth: int) -> str:
        return "".join(self._inline(child, depth + 1) for child in node.iter(include_text=True))

    def _inline(self, node: LexborNode, depth: int) -> str:
        tag = node.tag or ""
        if tag == "-text" or depth > MOST_DEPTH:
            return _escaped(_SPACE.sub(" ", node.text()))
        if tag == "br":
            return "  \n"
        if tag in _LEFT_OUT or tag.startswith("-"):
            return ""
        if tag in _CODE:
            code = _one_line(node.text())
            return f"`{code}`" if code and "`" not in code else _escaped(code)
        text = self._children(node, depth)
        if tag == "a":
            return self._link(node, text)
        mark = _MARKS.get(tag, "")
        return f"{mark}{text.strip()}{mark}" if mark and text.strip() else text

    def _link(self, node: LexborNode, text: str) -> str:
        target = join(self._base, node.attributes.get("href") or "")
        if not text.strip() or target is None or not target.startswith(PAGE_SCHEMES):
            return text
        return f"[{text.strip()}]({target.replace('(', '%28').replace(')', '%29')})"


def _holds_blocks(node: LexborNode) -> bool:
    """An inline element that holds block elements, as pages have them round whole cards."""
    child = node.first_child
    while child is not None:
        tag = child.tag or ""
        if not tag.startswith("-") and tag not in _INLINE and tag not in _LEFT_OUT:
            return True
        child = child.next
    return False


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _guarded(text: str) -> str:
    """A paragraph does not become a heading or a list by what it begins with."""
    return _LINE_START.sub(r"\1\\\2", text)


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line for line in text.split("\n"))


def _one_line(text: str) -> str:
    return " ".join(text.split())
