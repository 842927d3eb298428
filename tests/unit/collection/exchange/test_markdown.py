"""Markdown of lists, tables, terms, code and headings of documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.collection.exchange.markdown import MAX_DEPTH, _Blocks
from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.elements import parse_tree
from tests.unit.collection.exchange.archives import SITE, collection_of, day, response

SENTENCE = "The quick brown fox jumps over the lazy dog, again and again, until both are tired."
TOP = "<title>Site</title><nav><ul><li><a href=/a>Install</a></ul></nav>"


def markdown_of(folder: Path, markup: str) -> str:
    collection = collection_of(folder, response(SITE + "/page", day(0), (TOP + markup).encode()))
    collection.export("markdown", folder / "md")
    return (folder / "md" / "example.org" / "page" / "index.md").read_text().split("Z\n\n", 1)[1]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<ul><li><a href=/n>Nurse</a><li><a href=/d>Doctor</a></ul>", "- [Nurse](n)\n- [Doctor](d)"),
        ("<ol><li>One<ul><li>Two</ul><li>Three</ol>", "1. One\n   - Two\n2. Three"),
        ("<table><tr><th>Name<th>Size<tr><td>a|b<td>1</table>", "| Name | Size |\n| --- | --- |\n| a\\|b | 1 |"),
        ("<table><tr><td>Oak<td>12<tr><td>Ash<td>7</table>", "|  |  |\n| --- | --- |\n| Oak | 12 |\n| Ash | 7 |"),
        ("<dl><dt>Fox<dd>An animal<dt>Dog<dd>Another</dl>", "Fox\n: An animal\n\nDog\n: Another"),
        ("<pre class=language-py>if x:\n    y()\n</pre>", "```py\nif x:\n    y()\n```"),
        ("<h2 id=i>Install<a href=#i>¶</a></h2><p>Run it.</p>", "## Install\n\nRun it."),
        ("<h2>Use <code>x</code> <span>[<a href=/?action=edit>edit</a>]</span></h2><p>Go.</p>", "## Use `x`\n\nGo."),
        ("<dl><dt>run(x)<a href=#run>¶</a><dd>Runs it<sup><a href=#f>[1]</a></sup></dl>", "run(x)\n: Runs it"),
    ],
)
def test_blocks_keep_their_form(tmp_path: Path, markup: str, expected: str) -> None:
    text = markdown_of(tmp_path, f"<main><h1>Title</h1>{markup}</main>").replace(f"({SITE}/", "(")
    assert text == f"# Title\n\n{expected}\n"


def test_a_heading_is_not_taken_for_its_entry_in_the_menu(tmp_path: Path) -> None:
    menu = "<div class=toc><ul><li><a href=#i>Install</a></ul></div>"
    text = markdown_of(tmp_path, f"{menu}<main><h2 id=i>Install</h2><p>{SENTENCE * 3}</p></main>")
    assert text == f"## Install\n\n{SENTENCE * 3}\n"


def test_repeated_lines_keep_their_form(tmp_path: Path) -> None:
    entry = "<li><p><a href=/j>{0}</a></p><p>Berlin</p></li>"
    entries = "".join(map(entry.format, ("Nurse", "Doctor", "Cook")))
    text = markdown_of(tmp_path, f"<main><h1>Jobs</h1><ul>{entries}</ul></main>")
    assert text.count("  Berlin") == 3


def test_cells_of_layouts_are_blocks(tmp_path: Path) -> None:
    cell = f"<td><h2>Left</h2><p>{SENTENCE}</p><p>{SENTENCE}</p><ul><li>one<li>two</ul>"
    text = markdown_of(tmp_path, f"<table><tr>{cell}<td><p>{SENTENCE}</p></table>")
    assert "## Left\n\nThe quick" in text
    assert "- one\n- two" in text
    assert "|" not in text


def test_deep_inline_elements_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    assert SENTENCE in markdown_of(tmp_path, f"<p>{'<i>' * (MAX_DEPTH * 20)}{SENTENCE}").replace("*", "")


def test_lists_in_lists_without_end_are_text() -> None:
    body = parse_tree(truncate_markup(b"<ul><li>" * 2_000 + b"end")).body
    assert body is not None
    assert "end" in "".join(block.markdown for block in _Blocks("https://a.test/").of(body))


def test_code_full_of_backticks_gets_a_longer_fence() -> None:
    body = parse_tree("<pre>" + "`" * 200_000 + "</pre>").body
    assert body is not None
    (block,) = _Blocks("https://a.test/").of(body)
    assert block.markdown.startswith("`" * 200_001 + "\n")
