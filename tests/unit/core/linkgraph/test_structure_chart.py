"""The chart of a site's structure."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from evercrawl.core.linkgraph.structure_chart import MAX_ROWS, ChartPage, build_folder_tree, chart_rows, draw_structure


def site(count: int) -> list[ChartPage]:
    names = ["https://example.org/"]
    names += [f"https://example.org/{'abc'[number % 3]}/{number % 7}/p{number}.html" for number in range(1, count)]
    return [ChartPage(name, 1 / count, number % 9 or None, number % 50 == 49) for number, name in enumerate(names)]


@pytest.mark.parametrize("count", [1, 50, 5000])
def test_a_chart_is_readable_at_any_size(count: int):
    pages = site(count)
    picture = ElementTree.fromstring(draw_structure(pages, [(0, page) for page in range(count)], title="a < b"))
    texts = [element.text or "" for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "a < b" in texts
    assert float(picture.get("height", "0")) < 120 + 20 * MAX_ROWS
    assert float(picture.get("width", "0")) < 1200
    assert any("more" in text for text in texts) is (count == 5000)


@pytest.mark.parametrize("count", [1, 50, 700, 5000])
def test_every_page_is_in_exactly_one_row(count: int):
    rows = chart_rows(build_folder_tree(site(count)))
    assert sorted(page for row in rows for page in row.members) == list(range(count))
    assert len(rows) <= MAX_ROWS
    assert rows[0].count == count


def test_hostile_names_are_escaped():
    pages = [ChartPage("https://example.org/<script>%00\u202e", 1.0, 0), ChartPage("https://example.org/b", 1.0, 1)]
    picture = draw_structure(pages, [], title="\x1b[2J</svg>")
    assert "<script>" not in picture
    ElementTree.fromstring(picture)
