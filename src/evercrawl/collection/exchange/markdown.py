"""Markdown of a page: every line of its main text, with the headings, lists, tables, code and links of the markup.
The lines decide what is written; the blocks of the page only say how each of them looks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.collection.exchange.export_run import ExportedPage
from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.elements import parse_tree
from evercrawl.core.document.encoding import decode_body
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.document.paragraphs import heading_content, is_left_out, preformatted_text
from evercrawl.core.url import PAGE_SCHEMES, join, without_user
from evercrawl.model.fetch import Headers
from evercrawl.model.report import PageContent
from evercrawl.model.time import from_us

MAX_DEPTH = 100  # Nesting of elements; of deeper ones only the text is used.
MAX_CANDIDATES = 50  # Blocks with the same first line that are compared with a line.

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_SKIPPED_NAMES = (
    "script style noscript template iframe object svg math button select textarea input nav"
    " canvas audio video map dialog menu title head datalist meter embed"
)
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_INLINE_NAMES = (
    "a abbr b bdi bdo big cite code data del dfn em font i img ins kbd mark q s samp small span strike"
    " strong sub sup time tt u var wbr br"
)
_INLINE = frozenset(_INLINE_NAMES.split())
_IN_LINE = _INLINE | {"-text"}
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "strike": "~~"}
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_IN_LAYOUT = "table, ul, ol, dl, pre, blockquote, h1, h2, h3, h4, h5, h6, p + p, div + div"
_SPECIAL = re.compile(r"[\\`*_\[\]<>|]")
_BACKTICKS = re.compile("`+")
_LINE_START = re.compile(r"(?m)^([^\S\n]*+)([#+>-]|\d++[.)])(?=\s)")
_SPACE = re.compile(r"[ \t\r\f]*\n[ \t\r\f]*|[ \t\r\f]+")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush)[-:]\s*([A-Za-z0-9+#]{1,20})")
_SIGNS = " ¶§🔗\u200b\ufeff\uf0c1"


class MarkdownBlock(NamedTuple):
    """A block of a page."""

    lines: tuple[str, ...]  # Its text as lines of the main text: one, or several for code and rows of long cells.
    markdown: str
    group: int = 0  # The list or table that it belongs to.
    is_tight: bool = False  # It follows the block before of the same group without an empty line.


def markdown_of(page: ExportedPage) -> str:
    """Return the page as Markdown: title, source, main text."""
    return compose_markdown(source_of(page))


def source_of(page: ExportedPage) -> PageSource:
    """Return what the Markdown of an exported page is made of."""
    version, document = page.version, page.document
    return PageSource(
        version.url,
        version.title or document.title,
        from_us(version.seen_us),
        page.stored.http.headers,
        page.body,
        document.encoding,
        document.base_url,
        document.text,
    )


def content_markdown(content: PageContent) -> str:
    """Return a stored version as Markdown: title, source, main text."""
    source = PageSource(
        content.url,
        content.title,
        content.fetched_at,
        content.headers,
        content.html,
        content.encoding,
        content.base_url or content.url,
        content.text,
    )
    return compose_markdown(source)


class PageSource(NamedTuple):
    """What Markdown is made of."""

    url: str
    title: str | None
    fetched_at: datetime
    headers: Headers
    body: bytes
    encoding: str
    base_url: str
    text: str


def compose_markdown(page: PageSource) -> str:
    """Return title, source and main text as Markdown."""
    title = _escape(_one_line(page.title or page.url))
    source = f"Source: <{page.url}>  \nFetched: {page.fetched_at:%Y-%m-%dT%H:%M:%SZ}"
    return f"# {title}\n\n{source}{main_markdown(page)}\n"


def main_markdown(page: PageSource) -> str:
    """Return the main text as Markdown, without the title if that is its first heading; it starts with empty lines."""
    title = _one_line(page.title or page.url)
    blocks = _main_blocks(page)
    if blocks and blocks[0].lines == (title,) and blocks[0].markdown.startswith("# "):
        del blocks[0]
    parts: list[str] = []
    for before, block in pairwise([MarkdownBlock((), ""), *blocks]):
        parts += ["\n" if block.is_tight and block.group == before.group else "\n\n", block.markdown]
    return "".join(parts)


def _main_blocks(page: PageSource) -> list[MarkdownBlock]:
    lines = [line for line in map(_one_line, page.text.splitlines()) if line]
    if sniff_media_type(page.headers, page.body) not in HTML_TYPES:
        return [_plain_block(line) for line in lines]
    body = parse_tree(decode_body(truncate_markup(page.body), page.encoding)).body
    found = _Blocks(page.base_url).of(body) if body is not None else []
    return _blocks_of_lines(lines, found)


def _plain_block(line: str) -> MarkdownBlock:
    return MarkdownBlock((line,), _escape_line_start(_escape(line)))


def _blocks_of_lines(lines: list[str], blocks: list[MarkdownBlock]) -> list[MarkdownBlock]:
    """Return a block for every line: that of the page with the same text, else a plain paragraph.
    Lines and blocks come in the same order, so texts that occur once say which of several equal blocks is meant."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, block in enumerate(blocks):
        places[block.lines[0]].append(place)
    gaps = _gaps(lines, places)
    chosen: list[MarkdownBlock] = []
    last = -1
    at = 0
    while at < len(lines):
        found = places.get(lines[at], [])
        near = _nearest(found, bisect_right(found, last), gaps[at])
        same = [other for other in near if tuple(lines[at : at + len(blocks[other].lines)]) == blocks[other].lines]
        if same:
            last = same[0]
            chosen.append(blocks[last])
        else:
            chosen.append(_plain_block(lines[at]))
        at += len(chosen[-1].lines)
    return chosen


class _Gap(NamedTuple):
    """The lines up to the next one whose block is certain."""

    limit: int | None  # That block.
    repeats: int  # How often a line occurs until then.


def _gaps(lines: list[str], places: dict[str, list[int]]) -> list[_Gap]:
    """Return the gap after each line; a block is certain if its text occurs once in the text and once in the page."""
    counts = Counter(lines)
    seen: Counter[str] = Counter()
    limit: int | None = None
    gaps: list[_Gap] = []
    for line in reversed(lines):
        seen[line] += 1
        gaps.append(_Gap(limit, seen[line]))
        found = places.get(line, ())
        if counts[line] == 1 and len(found) == 1 and (limit is None or found[0] < limit):
            limit = found[0]
            seen = Counter()
    return gaps[::-1]


def _nearest(found: list[int], first: int, gap: _Gap) -> list[int]:
    """Return a few blocks that a line can be, from the `first` on, the best first: those right before the next certain
    one."""
    end = len(found) if gap.limit is None else bisect_left(found, gap.limit, first)
    start = max(first, end - gap.repeats) if gap.limit is not None else first
    return [*found[start : min(end, start + MAX_CANDIDATES)], *found[end : end + 1]]


class _Blocks:
    """Walks a page and collects its blocks."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url
        self._found: list[MarkdownBlock] = []
        self._groups = 0
        self._group = 0

    def of(self, root: LexborNode) -> list[MarkdownBlock]:
        self._walk(root, indent="", depth=0)
        return self._found

    def _walk(self, node: LexborNode, *, indent: str, depth: int) -> None:
        """Collect the blocks of a node; text between blocks becomes a paragraph."""
        run: list[LexborNode] = []
        for child in node.iter(include_text=True):
            tag = child.tag or ""
            if tag in _IN_LINE and not _holds_blocks(child):
                run.append(child)
                continue
            self._paragraph(run, indent=indent)
            run = []
            if tag not in _SKIPPED and not tag.startswith("-"):
                self._block(child, tag, indent=indent, depth=depth)
        self._paragraph(run, indent=indent)

    def _block(self, node: LexborNode, tag: str, *, indent: str, depth: int) -> None:
        if tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag], indent=indent)
        elif tag == "pre":
            self._code(node, indent=indent)
        elif depth >= MAX_DEPTH and tag != "hr":
            self._add(_one_line(node.text()), " ".join(self._children(node, 0).split()), indent=indent)
        elif tag in ("ul", "ol", "dl", "table"):
            self._in_group(node, tag, indent=indent, depth=depth)
        elif tag == "tr" and node.css_first(_IN_LAYOUT) is None:
            self._row(node, indent=indent)
        elif tag == "hr":
            pass
        elif tag in ("dt", "dd"):
            self._term(node, tag, indent=indent, depth=depth)
        else:
            deeper = f"{indent}> " if tag == "blockquote" else indent
            self._walk(node, indent=deeper, depth=depth + 1)

    def _in_group(self, node: LexborNode, tag: str, *, indent: str, depth: int) -> None:
        """Collect a list or a table; those inside of a list are a part of it."""
        outer = self._group
        if not outer or tag == "table":
            self._groups += 1
            self._group = self._groups
        if tag in ("ul", "ol"):
            self._items(node, tag, indent=indent, depth=depth)
        else:
            self._walk(node, indent=indent, depth=depth + 1)
        self._group = outer

    def _add(self, plain: str, markdown: str, *, indent: str = "", is_tight: bool = False) -> None:
        if plain:
            self._found.append(MarkdownBlock((plain,), _indent(markdown, indent), self._group, is_tight))

    def _paragraph(self, run: list[LexborNode], *, indent: str) -> None:
        if run:
            text = "".join([self._inline(node, 0) for node in run]).strip()
            plain = _one_line("".join([_plain_text(node) for node in run]))
            self._add(plain, _escape_line_start(text), indent=indent)

    def _heading(self, node: LexborNode, mark: str, *, indent: str) -> None:
        content = heading_content(node)
        plain = _one_line("".join(map(_plain_text, content))).rstrip(_SIGNS)
        text = " ".join("".join([self._inline(part, 0) for part in content]).split()).rstrip(_SIGNS)
        self._add(plain, f"{mark} {text}", indent=indent)

    def _code(self, node: LexborNode, *, indent: str) -> None:
        text = preformatted_text(node)
        lines = tuple(line for line in map(_one_line, text.splitlines()) if line)
        if lines:
            longest = max(map(len, _BACKTICKS.findall(text)), default=0)
            fence = "`" * max(3, longest + 1)
            markdown = f"{fence}{_language(node)}\n{text}\n{fence}"
            self._found.append(MarkdownBlock(lines, _indent(markdown, indent), self._group))

    def _items(self, node: LexborNode, tag: str, *, indent: str, depth: int) -> None:
        number = 0
        for item in node.iter():
            if item.tag != "li":
                if item.tag in ("ul", "ol") and depth < MAX_DEPTH:  # An error that many pages make.
                    self._items(item, item.tag, indent=f"{indent}  ", depth=depth + 1)
                continue
            number += 1
            mark = f"{number}. " if tag == "ol" else "- "
            before = len(self._found)
            self._walk(item, indent=indent + " " * len(mark), depth=min(depth + 1, MAX_DEPTH))
            self._mark_first(before, indent, mark)

    def _term(self, node: LexborNode, tag: str, *, indent: str, depth: int) -> None:
        """Collect a term or its definition, as Pandoc and others write them."""
        before = len(self._found)
        self._walk(node, indent=indent if tag == "dt" else f"{indent}  ", depth=depth + 1)
        if tag == "dd":
            self._mark_first(before, indent, ": ")

    def _mark_first(self, before: int, indent: str, mark: str) -> None:
        """Put the mark of a list before the first block since `before`."""
        if len(self._found) > before:
            first = self._found[before]
            text = first.markdown[len(indent) + len(mark) :]
            self._found[before] = first._replace(markdown=f"{indent}{mark}{text}", is_tight=True)

    def _row(self, node: LexborNode, *, indent: str) -> None:
        cells = [cell for cell in node.iter() if cell.tag in ("td", "th")]
        plain = _one_line(" ".join(_plain_text(cell) for cell in cells))
        if not plain:
            return
        row = f"| {' | '.join(' '.join(self._children(cell, 0).split()) for cell in cells)} |"
        is_first = not self._found or self._found[-1].group != self._group or not self._found[-1].is_tight
        if is_first:
            rule = f"|{' --- |' * len(cells)}"
            is_head = any(cell.tag == "th" for cell in cells)
            row = f"{row}\n{rule}" if is_head else f"|{'  |' * len(cells)}\n{rule}\n{row}"
        lines = [line for line in (_one_line(_plain_text(cell)) for cell in cells) if line]
        block = MarkdownBlock((plain,), _indent(row, indent), self._group, is_tight=True)
        self._found.append(block)
        if len(lines) > 1:
            # Long cells are lines of their own in the text.
            self._found.append(block._replace(lines=tuple(lines)))

    def _children(self, node: LexborNode, depth: int) -> str:
        return "".join([self._inline(child, depth + 1) for child in node.iter(include_text=True)])

    def _inline(self, node: LexborNode, depth: int) -> str:
        tag = node.tag or ""
        if tag == "-text" or depth > MAX_DEPTH:
            return _escape(_SPACE.sub(" ", node.text()))
        if tag == "br":
            return "  \n"
        if tag in _SKIPPED or tag.startswith("-") or is_left_out(node):
            return ""
        if tag in _CODE:
            code = _one_line(node.text())
            return f"`{code}`" if code and "`" not in code else _escape(code)
        text = self._children(node, depth)
        if tag == "a":
            return f"{' ' if _follows_link(node) else ''}{self._link(node, text)}"
        mark = _MARKS.get(tag, "")
        return f"{mark}{text.strip()}{mark}" if mark and text.strip() else text

    def _link(self, node: LexborNode, text: str) -> str:
        target = join(self._base, node.attributes.get("href") or "")
        if not text.strip() or target is None or not target.startswith(PAGE_SCHEMES):
            return text
        return f"[{text.strip()}]({without_user(target).replace('(', '%28').replace(')', '%29')})"


def _plain_text(node: LexborNode, depth: int = 0) -> str:
    """Return the text of an inline node as the main text has it."""
    tag = node.tag or ""
    if tag == "-text" or depth > MAX_DEPTH:
        return node.text()
    if tag == "br":
        return " "
    if tag in _SKIPPED or tag.startswith("-") or is_left_out(node):
        return ""
    text = "".join([_plain_text(child, depth + 1) for child in node.iter(include_text=True)])
    return f" {text}" if tag == "a" and _follows_link(node) else text


def _follows_link(node: LexborNode) -> bool:
    """Return whether a link stands side by side with another."""
    before = node.prev
    return before is not None and before.tag == "a"


def _language(code: LexborNode) -> str:
    """Return the language of a listing if a class of it or around it says so."""
    around = code.parent
    for node in (code, code.first_child, around, around.parent if around is not None else None):
        names = node.attributes.get("class") if node is not None and node.tag != "-text" else None
        if names and (found := _LANGUAGE.search(names)):
            return "" if found[1] in ("default", "none", "text") else found[1].lower()
    return ""


def _holds_blocks(node: LexborNode) -> bool:
    """Return whether an inline element contains block elements."""
    child = node.first_child
    while child is not None:
        tag = child.tag or ""
        if not tag.startswith("-") and tag not in _INLINE and tag not in _SKIPPED:
            return True
        child = child.next
    return False


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _escape_line_start(text: str) -> str:
    """Escape the start of a paragraph, so that it does not become a heading or a list."""
    return _LINE_START.sub(r"\1\\\2", text)


def _indent(text: str, indent: str) -> str:
    return "\n".join(indent + line for line in text.split("\n"))


def _one_line(text: str) -> str:
    return " ".join(text.split())
