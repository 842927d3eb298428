"""A table that takes long to sort: a page shows the first rows so far, a program waits for all."""

from __future__ import annotations

import pytest

from evercrawl.collection import table_view
from tests.web.conftest import Interface


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every part late, as in a large collection."""
    monkeypatch.setattr(table_view, "PART_AFTER_S", -1.0)


def test_parts_are_the_first_rows_of_what_was_read(web: Interface, slow: None):
    parts = []
    query = table_view.TableQuery((), "url", False, None, False, 5)
    state = web.service.state
    whole = table_view.read_table(state.path, state.settings, "pages", query, on_part=parts.append)
    (part,) = parts
    assert part.is_partial
    assert part.next is None
    assert [row["url"] for row in part.rows] == sorted(row["url"] for row in part.rows)
    assert not whole.is_partial
    assert len(whole.rows) == 5


def test_a_page_says_that_it_is_still_sorting_and_a_program_waits(
    web: Interface, slow: None, monkeypatch: pytest.MonkeyPatch
):
    import threading

    from evercrawl.web import table_page

    go_on = threading.Event()
    read = table_page.read_table

    def waits(*args, on_part, **options):
        found = read(*args, on_part=on_part, **options)
        go_on.wait(20)
        return found

    monkeypatch.setattr(table_page, "read_table", waits)
    monkeypatch.setattr(table_page, "PART_WAIT_S", 20.0)
    page = web.operator.get("/pages?sort=-visits&limit=7").text
    assert "Still sorting" in page
    assert 'data-poll="true"' in page
    go_on.set()
    rows = web.operator.get("/pages.json?sort=-visits&limit=7").json()
    assert rows["complete"] is True
    assert len(rows["pages"]) == 7
    assert "Still sorting" not in web.operator.get("/pages?sort=-visits&limit=7").text
