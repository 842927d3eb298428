"""The elements of a page with their texts, and selectors for them: attributes over positions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, takewhile
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

PLACE_ATTRIBUTE = "data-evercrawl-place"
MAX_ELEMENTS = 30_000  # Elements of a page that are read.
MAX_LANDMARK = 200  # Characters of a text that are compared with those of another version.
MAX_TRIED = 150  # Selectors that are tried for one element.
MAX_BESIDE_CHARS, MAX_BESIDE_TEXTS = 2000, 20  # Of what stands beside a label.
MIN_LINES = 3  # Lines of one element that are the entries of a list.
MAX_UNIT_CHARS = 12  # Of a unit in an element of its own, after a number.
MAX_ANCESTORS = 8  # How far up a selector or a comparison looks.
MAX_PATH_STEPS = 100  # Matching a path takes time that grows with its steps and with the elements around each.
STRUCK_TAGS = frozenset({"del", "s", "strike"})  # Text that no longer holds, as earlier prices.
SKIPPED_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "head"}) | STRUCK_TAGS
_ENTRIES = frozenset({"th", "li", "a", "dt", "option", "h2", "h3", "h4"})  # Two of them beside each other are no pair.
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "summary"})
_WORD = re.compile(r"[A-Z]?[a-zß-ÿ]+|[A-Z]+(?![a-z])|[^\W\da-zA-Z_]+")
_NAME = re.compile(r"\w+")
_TITLE_PARTS = re.compile(r"\s[|–—·•«»:-]\s")
_BARS = re.compile(r"\s[•·|–—]\s")
_OTHER_PAIR = re.compile(r"[·•|,;–—]\s*[^:：]{1,40}[:：]\s*\S")  # What follows a label without a value.
_FIGURES = re.compile(r"\d[\d.,]*\d|\d")
_STYLING_TOOLS = frozenset(("css", "sc", "jsx", "svelte", "ng", "ember", "emotion", "styled"))
_SPECIAL = re.compile(r"[^\w-]")
_IDENTIFIER = re.compile(r"-?[A-Za-z_][\w-]*", re.ASCII)
_NAMING = ("itemprop", "property", "name", "rel")
_NAMING_DATA = re.compile(r"data-[\w-]*(?:id|name|role|test|qa|cy|hook|source|field|type|key|label|th)", re.ASCII)
MAX_NAME = 60  # Characters of an attribute that may be a name.
_VALUE_ATTRIBUTES = ("content", "datetime", "value")


class Element(NamedTuple):
    """An element: its place in the outline, and where its texts are."""

    place: int
    tag: str
    attributes: dict[str, str]
    parent: int  # -1: none.
    start: int  # First of its texts.
    end: int  # After the last of its texts.
    node: int  # The parser's name of the node.

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the class names."""
        return tuple(self.attributes.get("class", "").split())

    @property
    def css_tag(self) -> str:
        """Return its tag in a CSS selector."""
        return _SPECIAL.sub(r"\\\g<0>", self.tag)


class PageOutline:
    """The elements and texts of a page, in document order."""

    def __init__(self, markup: str, language: str = "css") -> None:
        self.language = language  # In which its parts are selected; text: by labels only.
        self.lang = ""  # That the page states.
        self.tree = LexborHTMLParser(markup or "<html>")
        self.elements: list[Element] = []
        self.texts: list[str] = []
        self._owners: list[int] = []  # The innermost element of each text.
        self._read()
        self._by_node = {element.node: element.place for element in self.elements}
        self._chars = [0]
        for text in self.texts:
            self._chars.append(self._chars[-1] + len(text) + 1)

    def _read(self) -> None:
        """Fill the lists; the end of an element is known when the next one that is not inside it begins."""
        open_ones: list[tuple[int, int]] = []  # Node and index of the elements that are not closed yet.
        ends: dict[int, int] = {}
        skipped: set[int] = set()
        struck: tuple[int, frozenset[str]] = (
            -1,
            frozenset(),
        )  # The parent of the last struck-out text, and its figures.
        root = self.tree.root
        for node in root.traverse(include_text=True) if root is not None else ():
            above = node.parent.mem_id if node.parent is not None else 0
            tag = node.tag or ""
            if above in skipped or tag in SKIPPED_TAGS or (tag.startswith("-") and tag != "-text"):
                if tag in STRUCK_TAGS and above not in skipped:
                    struck = above, figures_of(node.text())
                skipped.add(node.mem_id)
                continue
            while open_ones and open_ones[-1][0] != above:
                ends[open_ones.pop()[1]] = len(self.texts)
            if tag == "-text":
                text = " ".join((node.text(deep=False) or "").split())
                is_beside = struck[1] and struck[0] in [node for node, _ in open_ones[-2:]]
                if text and not (is_beside and struck[1] & figures_of(text)):
                    self.texts.append(text)
                    self._owners.append(open_ones[-1][1] if open_ones else 0)
                continue
            if len(self.elements) >= MAX_ELEMENTS:
                break
            attributes = {name: value or "" for name, value in node.attributes.items()}
            parent = open_ones[-1][1] if open_ones else -1
            index = len(self.elements)
            if tag == "html":
                self.lang = attributes.get("lang", "").lower()
            self.elements.append(Element(index, tag, attributes, parent, len(self.texts), 0, node.mem_id))
            open_ones.append((node.mem_id, index))
        self.elements = [one._replace(end=ends.get(one.place, len(self.texts))) for one in self.elements]

    def text(self, element: Element, longest: int) -> str | None:
        """Return the text of an element; None if it is longer."""
        if self._chars[element.end] - self._chars[element.start] > longest + 1:
            return None
        return " ".join(self.texts[element.start : element.end])

    def before(self, element: Element) -> str:
        """Return the text right before an element."""
        return self.texts[element.start - 1] if element.start else ""

    def after(self, element: Element) -> str:
        """Return the text right after an element."""
        return self.texts[element.end] if element.end < len(self.texts) else ""

    def beside(self, at: int) -> str:
        """Return what stands beside a text that is a label: after it in its element or the next one, or before it if
        it is the last."""
        start, end = self._beside(at)
        found = " ".join(self.texts[start:end])
        if _OTHER_PAIR.match(found) is not None:
            return ""
        around = self._label_part(at)[1]
        if figures_of(found) and not any(map(str.isalpha, found)) and around.start <= at and end + 1 == around.end:
            unit = self.texts[end]
            found += f" {unit}" if len(unit) <= MAX_UNIT_CHARS and not figures_of(unit) else ""
        return found[:MAX_BESIDE_CHARS]

    def pieces_beside(self, at: int) -> list[str]:
        """Return the texts beside a label one by one, also those between bullets and bars."""
        start, end = self._beside(at)
        found = [piece for text in self.texts[start:end] for piece in _BARS.split(text)]
        return [piece for piece in found if any(map(str.isalnum, piece))][:MAX_BESIDE_TEXTS]

    def entries_below(self, at: int) -> list[str]:
        """Return the entries of the list after a heading: the elements of the part below it, or else its texts."""
        label, around = self._label_part(at)
        below = [self.elements[one] for one in self.children.get(around.place, [])]
        below = [one for one in below if one.start > at and one.end > one.start]
        stops = (number for number, one in enumerate(below) if one.tag == label.tag or one.tag in _HEADINGS)
        below = below[: next(stops, None)]
        if not below:
            return self.texts[at + 1 : self._next_element(at, around)] if label.tag not in _ENTRIES else []
        same = list(takewhile(lambda one: one.tag == below[0].tag, below))
        while len(same) == 1 and (inner := self.children.get(same[0].place)):
            if sum(self.elements[one].end - self.elements[one].start for one in inner) < same[0].end - same[0].start:
                break  # It has texts of its own.
            same = [self.elements[one] for one in inner if self.elements[one].end > self.elements[one].start]
        if len(same) == 1 or self._own_texts(same[0]) >= MIN_LINES > self._own_texts(same[1]):
            return self.texts[same[0].start : same[0].end]
        return [" ".join(self.texts[one.start : one.end])[:MAX_BESIDE_CHARS] for one in same]

    def _own_texts(self, element: Element) -> int:
        """Return how many texts stand directly in an element, such as lines with breaks between them."""
        return sum(self._owners[at] == element.place for at in range(element.start, element.end))

    def _next_element(self, at: int, around: Element) -> int:
        """Return where the first element with text begins after a text, in the part around it."""
        inside = [self.elements[one] for one in self.children.get(around.place, [])]
        return min([one.start for one in inside if at < one.start < one.end] + [around.end])

    def _label_part(self, at: int) -> tuple[Element, Element]:
        """Return the outermost element that has only this text, and the one around it."""
        label = around = inner = self.owner(at)
        for one in self.near_ancestors(inner):
            if around.end - around.start > 1:
                break
            label, around = around, one
        return label, around

    def _beside(self, at: int) -> tuple[int, int]:
        """Return the first of the texts beside a label, and the one after the last."""
        label, around = self._label_part(at)
        if at + 1 >= around.end:
            return (around.start, at) if at - around.start <= 2 else (at, at)
        children = [self.elements[one] for one in self.children.get(around.place, [])]
        value = next((one for one in children if one.start == at + 1 < one.end), None)
        if value is not None:
            is_label = value.tag == label.tag and value.tag in _ENTRIES
            return (at, at) if is_label else (value.start, value.end)
        stops = (one.start for one in children if one.start > at and one.tag == label.tag)
        return at + 1, min([*stops, around.end, at + 1 + MAX_BESIDE_TEXTS])

    def owner(self, at: int) -> Element:
        """Return the innermost element of a text."""
        return self.elements[self._owners[at]]

    def container(self, element: Element) -> Element:
        """Return the smallest element around an element that has more text."""
        more = (one for one in self.near_ancestors(element) if one.end - one.start > element.end - element.start)
        return next(more, element)

    @cached_property
    def titles(self) -> frozenset[str]:
        """The parts of its title, and its main headings: words in lower case. They differ from page to page."""
        found = [part for node in self.tree.css("title, h1")[:20] for part in _TITLE_PARTS.split(node.text())]
        return frozenset(" ".join(_LETTERS.findall(part.lower())) for part in found)

    @cached_property
    def landmarks(self) -> dict[str, int]:
        """The texts that stand just once on the page, in lower case, with their places; not figures alone."""
        found: dict[str, int] = {}
        for at, text in enumerate(self.texts):
            plain = label_of(text[:MAX_LANDMARK])
            if any(map(str.isalpha, plain)):
                found[plain] = -1 if plain in found else at
        return {text: at for text, at in found.items() if at >= 0}

    @cached_property
    def tables(self) -> list[PageTable]:
        """Its tables."""
        return _read_tables(self)

    @cached_property
    def _headings(self) -> tuple[list[int], list[str]]:
        found = [one for one in self.elements if one.tag in _HEADINGS and one.end > one.start]
        return [one.end for one in found], [self.text(one, 200) or "" for one in found]

    def heading(self, element: Element) -> str:
        """Return the last heading before an element."""
        ends, texts = self._headings
        at = bisect_right(ends, element.start)
        return texts[at - 1] if at else ""

    def ancestors(self, element: Element) -> Iterator[Element]:
        """Yield the elements around an element, the nearest first."""
        while element.parent >= 0:
            element = self.elements[element.parent]
            yield element

    def near_ancestors(self, element: Element) -> list[Element]:
        """Return the nearest elements around an element."""
        return [one for one, _ in zip(self.ancestors(element), range(MAX_ANCESTORS), strict=False)]

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The elements directly inside each element."""
        found: dict[int, list[int]] = {}
        for one in self.elements:
            found.setdefault(one.parent, []).append(one.place)
        return found

    def select(self, css: str) -> list[int]:
        """Return the elements that a CSS selector matches; none if it is not valid."""
        try:
            nodes = self.tree.css(css)
        except (SelectolaxError, ValueError):
            return []
        return [self._by_node[node.mem_id] for node in nodes if node.mem_id in self._by_node]

    def cell_labels(self, element: Element) -> tuple[str, str]:
        """Return the first cell of the row of an element and the head of its column; empty outside tables."""
        around = [element, *self.near_ancestors(element)]
        row = next((one for one in around if one.tag == "tr"), None)
        cell = next((one for one in around if one.tag in ("td", "th")), None)
        if row is None or cell is None or (table := self.table_of(row)) < 0:
            return "", ""
        cells = self.children.get(row.place, [])
        column = cells.index(cell.place) if cell.place in cells else 0
        label = (self.text(self.elements[cells[0]], 100) or "") if column else ""
        return label, self._column_head(table, row, column)

    def table_of(self, element: Element) -> int:
        """Return the place of the table around an element; -1: none."""
        return next((one.place for one in self.near_ancestors(element) if one.tag == "table"), -1)

    def _column_head(self, table: int, row: Element, column: int) -> str:
        first = self._first_rows.get(table, row.place)
        cells = self.children.get(first, []) if first < row.place else []
        head = self.elements[cells[column]] if column < len(cells) else None
        return (self.text(head, 100) or "") if head is not None and head.tag == "th" else ""

    @cached_property
    def _first_rows(self) -> dict[int, int]:
        """The first row of each table."""
        rows = [one for one in self.elements if one.tag == "tr"]
        return {self.table_of(row): row.place for row in reversed(rows)}


def figures_of(text: str | None) -> frozenset[str]:
    """Return the figures of a text as written."""
    return frozenset(_FIGURES.findall(text or ""))


def name_words(element: Element) -> frozenset[str]:
    """Return the words in the names of an element: its classes, id and naming attributes; not generated ones."""
    names = [*element.classes, element.attributes.get("id", ""), *_naming(element).values()]
    return frozenset(word.lower() for name in names if not is_generated(name) for word in _WORD.findall(name[:100]))


def _naming(element: Element) -> dict[str, str]:
    """Return the attributes that name an element for programs, as tests and scripts do; not numbers."""
    return {
        name: value
        for name, value in element.attributes.items()
        if (name in _NAMING or _NAMING_DATA.fullmatch(name))
        and 0 < len(value) <= MAX_NAME
        and not any(map(is_generated, value.split()))
    }


def is_generated(name: str) -> bool:
    """Return whether a class or id looks as if a build tool made it, so that the next build changes it."""
    tool, dash, rest = name.partition("-")
    is_of_tool = bool(dash) and tool in _STYLING_TOOLS
    word = rest if is_of_tool else name
    if _NAME.fullmatch(word) is None:
        return False
    digits = sum(map(str.isdecimal, word))
    if is_of_tool:
        return digits > 0
    is_mixed = digits > 0 and len(word) >= 5 and any("A" <= letter <= "Z" for letter in word)
    return is_mixed or digits >= 3 or (word.startswith("_") and len(word) > 1)


def mark_places(markup: str) -> str:
    """Return a page in which every element says its place in the outline, for a click in it."""
    outline = PageOutline(markup)
    places = {one.node: one.place for one in outline.elements}
    for node in outline.tree.css(f"[{PLACE_ATTRIBUTE}]"):
        del node.attrs[PLACE_ATTRIBUTE]
    root = outline.tree.root
    for node in root.traverse() if root is not None else ():
        if node.mem_id in places:
            node.attrs[PLACE_ATTRIBUTE] = str(places[node.mem_id])
    return outline.tree.html or ""


# Selectors


def robust_selectors(outline: PageOutline, target: Element) -> list[str]:
    """Return CSS selectors whose first match is the element, the most robust first: names before places."""
    found: list[tuple[int, str]] = []
    for css in islice(dict.fromkeys(_combined(outline, target)), MAX_TRIED):
        matches = outline.select(css)
        if matches[:1] == [target.place]:
            found.append((len(matches), css))
    path = _path(outline, target)
    if path and outline.select(path)[:1] == [target.place]:
        found.append((1, path))
    found.sort(key=lambda one: one[0])  # Stable. One that matches more may come to match another part first.
    return list(dict.fromkeys(css for _, css in found))


def _combined(outline: PageOutline, target: Element) -> Iterator[str]:
    own = own_selectors(target)
    yield from own
    steps = _steps(outline, target)
    for around in outline.near_ancestors(target):
        for name in own_selectors(around):
            for css in (*own, target.css_tag):
                yield f"{name} {css}"
        if around.place in steps:
            for name in own_selectors(around):
                yield f"{name} > {steps[around.place]}"


def own_selectors(element: Element) -> list[str]:
    """Return selectors by the names of an element alone."""
    found = [f"{element.css_tag}{_attribute(name, value)}" for name, value in _naming(element).items()]
    own = element.attributes.get("id", "")
    if own and not is_generated(own):
        found.append(f"#{own}" if _IDENTIFIER.fullmatch(own) else f"{element.css_tag}{_attribute('id', own)}")
    names = [name for name in element.classes if not is_generated(name)]
    found += [f"{element.css_tag}{class_selector(name)}" for name in names]
    if len(names) > 1:
        found.append(element.css_tag + "".join(map(class_selector, names)))
    return found


def class_selector(name: str) -> str:
    """Return a CSS selector by a class."""
    return f".{name}" if _IDENTIFIER.fullmatch(name) else f'[class~="{_quoted(name)}"]'


def _attribute(name: str, value: str) -> str:
    return f'[{name}="{_quoted(value)}"]'


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ")


def _steps(outline: PageOutline, target: Element) -> dict[int, str]:
    """Return, for each near ancestor, the steps down from it to the element, by places."""
    found, path = {}, ""
    element = target
    for around in outline.near_ancestors(target):
        path = _step(outline, element) + (f" > {path}" if path else "")
        found[around.place] = path
        element = around
    return found


def _step(outline: PageOutline, element: Element) -> str:
    brothers = [at for at in outline.children.get(element.parent, []) if outline.elements[at].tag == element.tag]
    if len(brothers) == 1:
        return element.css_tag
    return f"{element.css_tag}:nth-of-type({brothers.index(element.place) + 1})"


def _path(outline: PageOutline, target: Element) -> str:
    """Return the path from the root, by places; empty if it is too long."""
    around = list(islice(outline.ancestors(target), MAX_PATH_STEPS))
    steps = [_step(outline, element) for element in (target, *around)]
    return " > ".join(reversed(steps)) if len(around) < MAX_PATH_STEPS else ""


def group_selectors(outline: PageOutline, members: Iterable[int]) -> list[str]:
    """Return CSS selectors that match elements like these, the most specific names first."""
    chosen = [outline.elements[at] for at in members]
    if not chosen:
        return []
    tags = {one.css_tag for one in chosen}
    if len(tags) > 1:
        return []
    tag = tags.pop()
    shared = [name for name in chosen[0].classes if all(name in one.classes for one in chosen)]
    own = [f"{tag}{class_selector(name)}" for name in shared if not is_generated(name)] + [tag]
    found: list[str] = []
    common = _common_ancestors(outline, chosen)
    for around in common:
        names = own_selectors(around)
        relation = " > " if all(one.parent == around.place for one in chosen) else " "
        found += [f"{name}{relation}{css}" for css in own for name in names]
    found += own[:-1]
    for around in common[:3]:
        found += [f"{path}{relation}{css}" for css in own[-1:] for path in robust_selectors(outline, around)[:2]
                  for relation in (" > ", " ")]  # fmt: skip
    found.append(tag)
    return list(dict.fromkeys(found))


def has_named_container(outline: PageOutline, members: Sequence[int]) -> bool:
    """Return whether elements, or the nearest element around all of them, have names to select them by."""
    chosen = [outline.elements[at] for at in members]
    return any(map(own_selectors, [chosen[0], *_common_ancestors(outline, chosen)[:1]]))


def _common_ancestors(outline: PageOutline, chosen: Sequence[Element]) -> list[Element]:
    shared = [one.place for one in outline.near_ancestors(chosen[0])]
    for element in chosen[1:]:
        above = {one.place for one in outline.ancestors(element)}
        shared = [at for at in shared if at in above]
    return [outline.elements[at] for at in shared]


def value_attribute(element: Element) -> tuple[str, str] | None:
    """Return the attribute that states the value of an element for programs, and its text."""
    return next(((name, element.attributes[name]) for name in _VALUE_ATTRIBUTES if element.attributes.get(name)), None)


MAX_TABLES = 200  # Tables of a page that are read.
MAX_CELLS = 20_000  # Cells of all tables of a page.
MAX_CELL_CHARS = 2000
MAX_PAIR_LABEL = 60  # Characters of a label in a pair of elements.
_TABLE_PARTS = frozenset({"tr", "td", "th", "tbody", "thead", "tfoot", "dt", "dd", "option", "head", "body"})
_LETTERS = re.compile(r"[^\W_]+")


class PageTable(NamedTuple):
    """A table: its title, its column heads (empty: none) and its rows."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def label_of(text: str) -> str:
    """Return a label in the form in which labels are compared: words in lower case."""
    return " ".join(_LETTERS.findall(text.lower()))


def page_tables(page: PageOutline) -> list[PageTable]:
    """Return the tables and definition lists of a page in order, and after them parts that look like tables of two
    columns; nested tables are tables of their own."""
    return page.tables


def _read_tables(page: PageOutline) -> list[PageTable]:
    rows: dict[int, list[tuple[bool, tuple[str, ...]]]] = {}
    left = MAX_CELLS
    for element in page.elements:
        if element.tag not in ("table", "tr", "dl") or left <= 0:
            continue
        if element.tag == "table" and len(rows) < MAX_TABLES:
            rows[element.place] = []
        elif element.tag == "dl" and len(rows) < MAX_TABLES:
            rows[element.place] = [(False, pair) for pair in _pairs(page, element)]
            left -= 2 * len(rows[element.place])
        elif element.tag == "tr":
            table = page.table_of(element)
            cells = [page.elements[at] for at in page.children.get(element.place, [])]
            cells = [cell for cell in cells if cell.tag in ("td", "th")]
            left -= len(cells)
            if table in rows and cells:
                is_head = all(cell.tag == "th" for cell in cells) and len(cells) > 1
                rows[table].append((is_head, tuple(page.text(cell, MAX_CELL_CHARS) or "" for cell in cells)))
    return [_as_table(page, at, found) for at, found in rows.items() if found] + list(_pair_tables(page))


def _pair_tables(page: PageOutline) -> Iterator[PageTable]:
    """Yield parts whose elements are pairs of a label and a value, or in turn a label and a value of other classes."""
    count = 0
    for place, inner in page.children.items():
        parts = [page.elements[at] for at in inner if page.elements[at].end > page.elements[at].start]
        if place < 0 or len(parts) < 2 or count >= MAX_TABLES or parts[0].tag in _TABLE_PARTS:
            continue
        pairs = [_two_parts(page, one) for one in parts]
        if any(pair is None for pair in pairs) or len({(one.tag, one.classes) for one in parts}) > 1:
            pairs = list(zip(parts[::2], parts[1::2], strict=False)) if _is_alternating(parts) else []
        rows = [tuple(page.text(one, MAX_CELL_CHARS) or "" for one in pair) for pair in pairs if pair is not None]
        if rows and all(0 < len(row[0]) <= MAX_PAIR_LABEL and row[1] for row in rows):
            count += 1
            yield PageTable(page.heading(page.elements[place]), (), tuple(rows))


def _two_parts(page: PageOutline, element: Element) -> tuple[Element, Element] | None:
    """Return the two elements that have all the text of an element; None: it has others, or text of its own."""
    inner = [page.elements[at] for at in page.children.get(element.place, [])]
    inner = [one for one in inner if one.end > one.start]
    if len(inner) != 2 or sum(one.end - one.start for one in inner) != element.end - element.start:
        return None
    return inner[0], inner[1]


def _is_alternating(parts: list[Element]) -> bool:
    """Return whether elements are in turn of two kinds."""
    labels, values = ({(one.tag, one.classes) for one in some} for some in (parts[::2], parts[1::2]))
    return len(parts) >= 4 and len(parts) % 2 == 0 and len(labels) == len(values) == 1 and labels != values


def _as_table(page: PageOutline, at: int, rows: list[tuple[bool, tuple[str, ...]]]) -> PageTable:
    heads = rows[0][1] if rows[0][0] else ()
    body = tuple(cells for is_head, cells in (rows[1:] if heads else rows) if not is_head or not heads)
    if len(heads) > 1 and len(body) == 1 and len(body[0]) == len(heads):
        heads, body = (), tuple(zip(heads, body[0], strict=True))  # One record across.
    captions = [page.elements[one] for one in page.children.get(at, []) if page.elements[one].tag == "caption"]
    title = page.text(captions[0], MAX_CELL_CHARS) if captions else page.heading(page.elements[at])
    return PageTable(title or "", heads, body)


def _pairs(page: PageOutline, dl: Element) -> Iterator[tuple[str, str]]:
    """Yield the terms of a definition list, each with its description, also where they are wrapped in elements."""
    term = ""
    for element in page.elements[dl.place + 1 :]:
        if element.start >= dl.end:
            return
        if element.tag == "dt":
            term = page.text(element, MAX_CELL_CHARS) or ""
        elif element.tag == "dd" and term:
            yield term, page.text(element, MAX_CELL_CHARS) or ""


def select_cells(page: PageOutline, expression: str) -> list[str]:
    """Return what `LABEL`, `LABEL/COLUMN` or `LABEL/*` selects: cells of rows with this label, the cell below a head,
    or all rows of the table that has the label."""
    label, slash, column = expression.rpartition("/") if "/" in expression else (expression, "", "")
    wanted, head = label_of(label), label_of(column)
    for table in page_tables(page):
        named = [row for row in table.rows if len(row) > 1 and label_of(row[0]) == wanted]
        if not named:
            continue
        if not slash:
            return [cell for row in named for cell in row[1:2]]
        if column.strip() == "*":
            return [" ".join(row) for row in table.rows]
        heads = [label_of(one) for one in table.heads]
        if head in heads:
            return [row[heads.index(head)] for row in named if heads.index(head) < len(row)]
    return []


def select_beside(page: PageOutline, label: str) -> list[str]:
    """Return what stands beside a label, wherever it is; without such a text, the rest of texts that begin with it.
    `LABEL/2` selects the second of the texts there, `LABEL/*` the entries of the list below it."""
    head, _, part = label.rpartition("/")
    if head and (part == "*" or part.isdecimal()):
        return _select_pieces(page, head, part)
    if cells := select_cells(page, label.replace("/", " ")):
        return cells
    wanted = label_of(label)
    found = [text for at in _labels_at(page, wanted) if (text := page.beside(at))]
    start = re.compile(
        r"[\W_]*" + r"[\W_]+".join(map(re.escape, wanted.split())) + r"(?:\s*:\s*|\s+(?=.*\d))", re.IGNORECASE
    )
    short = [text for text in page.texts if len(text) <= MAX_CELL_CHARS]
    return found or [text[rest.end() :] for text in short if (rest := start.match(text))][:MAX_TABLES]


def _labels_at(page: PageOutline, wanted: str) -> list[int]:
    short = ((at, text) for at, text in enumerate(page.texts) if len(text) <= MAX_CELL_CHARS)
    return [at for at, text in short if label_of(text) == wanted][:MAX_TABLES]


def _select_pieces(page: PageOutline, label: str, part: str) -> list[str]:
    places = _labels_at(page, label_of(label))
    if part == "*":
        return next((found for at in places if (found := page.entries_below(at))), [])
    number = int(part[:3])
    return [found[number - 1] for at in places if len(found := page.pieces_beside(at)) >= number > 0]
