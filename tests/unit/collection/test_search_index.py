from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from evercrawl.adapters.graph_files import current_graph, load_partial_ranks, save_partial_ranks
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.adapters.sqlite.state_file import shard_path
from evercrawl.adapters.tantivy import IndexBusy, TextIndex
from evercrawl.collection.explain import explain
from evercrawl.collection.graph_builder import build_graph, is_outdated, up_to_date_graph
from evercrawl.collection.search import search, update_index
from evercrawl.collection.search_index import catch_up, index_state, open_text_index, rebuild_index
from evercrawl.collection.searcher import Searcher
from evercrawl.core.digest import content_digest, text_digest
from evercrawl.core.document.compression import pack_outline, pack_text
from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.url import key_of
from evercrawl.errors import ConfigError
from evercrawl.model.document import Link, Outline
from evercrawl.model.page import Batch, CompletedVisit, NewPage, Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import SearchSettings, Settings, StoreSettings
from evercrawl.model.site import Site
from tests.index_checks import missing_versions

SETTINGS = SearchSettings()
DAY_US = 86_400_000_000
BEGAN_US = 20_000 * DAY_US


class Story:
    """A collection with one shard; each commit is a day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers: dict[str, int] = {}
        self.versions: dict[str, int] = {}
        self.day = 0

    def write(self, *pages: tuple[str, str | None]) -> None:
        """Commit visits: path and text; None: the page is gone."""
        self.day += 1
        asyncio.run(self._commit(pages))

    async def _commit(self, pages: tuple[tuple[str, str | None], ...]) -> None:
        store = SqliteStore(self.folder, StoreSettings(shards=1))
        shard = await store.open_shard(0)
        facts = await shard.claim()
        batch = Batch(sites={1: Site(1, "https://tale.test", "tale.test")})
        for place, (path, text) in enumerate(pages):
            batch.visited.append(self._visit(batch, path, text, BEGAN_US + self.day * DAY_US + place))
        await shard.commit(facts.epoch, batch)
        await shard.release(facts.epoch)
        await store.close()

    def _visit(self, batch: Batch, path: str, text: str | None, at_us: int) -> CompletedVisit:
        url = f"https://tale.test{path}"
        if path not in self.numbers:
            self.numbers[path] = number = len(self.numbers) + 1
            batch.new_pages.append(NewPage(number, key_of(url), url, 1, 1, 0, 0, number, None, at_us))
        page_id = self.numbers[path]
        if text is None:
            return CompletedVisit(page_id, 1, 0, -1, at_us, Outcome.ERROR, Reason.NOT_FOUND, "", 404, 1, 0, None, 1, 0)
        self.versions[path] = number = self.versions.get(path, 0) + 1
        version = Version(
            number, content_digest(text.encode()), b"\0" * 20, text_digest(text), text_signature(text),
            "text/html", "utf-8", f"Title of {path.strip('/')}", "en", len(text), len(text.split()), None,
            None, "f", 0, 0,
            bytes(16), None, text=pack_text(text, 1, None),
        )  # fmt: skip
        outline = pack_outline(Outline(("Heading",), (Link("https://tale.test/a", "the first", False),)))
        return CompletedVisit(
            page_id, 1, 0, -1, at_us, Outcome.FETCHED, Reason.NEW, "", 200, 1, len(text), None, 0, 0,
            version=version, digest=version.digest, outline=outline,
        )  # fmt: skip

    def found(self, query: str) -> list[tuple[str, int]]:
        hits = search(self.folder, SETTINGS, query).hits
        return [(hit.url.removeprefix("https://tale.test"), hit.version) for hit in hits]

    def change_state(self, statement: str) -> None:
        with sqlite3.connect(shard_path(self.folder, 0)) as db:
            db.execute(statement)
        db.close()


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    return Story(tmp_path)


def test_an_empty_collection_finds_nothing(story: Story):
    assert story.found("anything") == []
    assert index_state(story.folder, open_text_index(story.folder)).documents == 0
    assert not is_outdated(story.folder)


def test_each_look_takes_in_what_is_new_and_nothing_twice(story: Story):
    index = open_text_index(story.folder)
    story.write(("/a", "one red fish"), ("/b", "two blue fish"))
    assert catch_up(story.folder, index, SETTINGS) == 2
    assert catch_up(story.folder, index, SETTINGS) == 0
    story.write(("/a", "one green fish"))
    assert catch_up(story.folder, index, SETTINGS) == 2, "the new version, and the end of the one before"
    assert index_state(story.folder, index).documents == 3
    assert list(missing_versions(story.folder, index)) == []
    assert story.found("red") == []
    assert story.found("green") == [("/a", 2)]
    assert story.found("red as-of:2024-10-05") == [("/a", 1)]


def test_several_versions_in_one_look(story: Story):
    for colour in ("red", "green", "white", "black"):
        story.write(("/a", f"a {colour} fish swims"))
    assert story.found("black fish") == [("/a", 4)]
    for number, colour in enumerate(("red", "green", "white"), start=1):
        assert story.found(f"{colour} as-of:2024-10-0{4 + number}") == [("/a", number)]
    assert story.found("fish as-of:2024-10-06") == [("/a", 2)]


def test_gone_and_back(story: Story):
    story.write(("/a", "a red fish"))
    story.write(("/a", None))
    assert [hit.is_gone for hit in search(story.folder, SETTINGS, "red").hits] == [True]
    story.write(("/a", "a red fish again"))
    assert [hit.is_gone for hit in search(story.folder, SETTINGS, "red").hits] == [False]


def test_a_truncated_log_is_indexed_again(story: Story):
    story.write(("/a", "a red fish"), ("/b", "a blue fish"))
    assert story.found("blue") == [("/b", 1)]
    for table in ("version", "text", "visit"):
        story.change_state(f"delete from {table} where page_id = 2")
    story.change_state("update page set version = 0 where id = 2")
    assert story.found("blue") == []
    assert story.found("red") == [("/a", 1)]
    state = index_state(story.folder, open_text_index(story.folder))
    assert (state.documents, state.versions, state.lag) == (1, 1, 0)


def test_a_damaged_index_is_rebuilt(story: Story):
    story.write(("/a", "a red fish"))
    assert story.found("red") == [("/a", 1)]
    (open_text_index(story.folder).folder / "meta.json").write_text("{broken")
    assert story.found("red") == [("/a", 1)]


def test_a_rebuild_gives_the_same(story: Story):
    story.write(("/a", "a red fish"), ("/b", "a blue fish"))
    before = story.found("fish")
    assert rebuild_index(story.folder, SETTINGS) == 2
    assert sorted(story.found("fish")) == sorted(before)


def test_while_another_writes_one_still_searches(story: Story):
    story.write(("/a", "a red fish"))
    assert story.found("red") == [("/a", 1)]
    index = TextIndex(story.folder)
    with index.writing(SETTINGS.index_buffer_bytes):
        story.write(("/b", "a blue fish"))
        assert update_index(story.folder, SETTINGS)
        with pytest.raises(IndexBusy):
            catch_up(story.folder, TextIndex(story.folder), SETTINGS)
        found = search(story.folder, SETTINGS, "fish")
        assert [hit.url for hit in found.hits] == ["https://tale.test/a"]
        assert found.lag == 1
    assert {path for path, _ in story.found("fish")} == {"/a", "/b"}


def test_the_same_searching_sees_later_commits(story: Story):
    story.write(("/a", "a red fish"))
    update_index(story.folder, SETTINGS)
    searching = Searcher(story.folder, SETTINGS)
    assert searching.find("bird").hits == ()
    story.write(("/b", "a blue bird"))
    update_index(story.folder, SETTINGS)
    assert [hit.version for hit in searching.find("birds").hits] == [1]
    with pytest.raises(ConfigError, match="limit"):
        searching.find("bird", limit=0)
    searching.close()


def test_tone_is_a_filter(story: Story):
    story.write(
        ("/good", "This fish was wonderful and delicious. We loved it and had a great time. Excellent food!"),
        ("/bad", "This fish was terrible and awful. We hated it. The worst and most disappointing food."),
    )
    assert story.found("fish sentiment:pos") == [("/good", 1)]
    assert story.found("fish sentiment:neg") == [("/bad", 1)]


# The link graph


def test_the_graph_is_rebuilt_after_new_visits(story: Story):
    story.write(("/a", "one"), ("/b", "two"), ("/c", "three"))
    assert is_outdated(story.folder)
    built = build_graph(story.folder)
    assert (len(built.pages), built.graph.links) == (3, 2)
    assert up_to_date_graph(story.folder).folder == built.folder
    assert not is_outdated(story.folder)
    story.write(("/d", "four"))
    assert up_to_date_graph(story.folder).graph.links == 3
    assert len(list((story.folder / "graph").glob("g*"))) == 1
    assert story.found("the first")[0] == ("/a", 1), "what others call it"


def test_ranks_of_a_run_that_was_broken_off_are_kept_for_the_same_links(story: Story):
    story.write(("/a", "one"))
    ranks = build_graph(story.folder).ranks
    save_partial_ranks(story.folder, 7, ranks)
    loaded = load_partial_ranks(story.folder, 7)
    assert loaded is not None
    assert loaded.tolist() == ranks.tolist()
    assert load_partial_ranks(story.folder, 8) is None
    (story.folder / "graph" / "current").write_text("g99")
    assert current_graph(story.folder) is None
    assert len(up_to_date_graph(story.folder).pages) == 1


def test_only_the_beginning_of_a_long_text_is_indexed_and_why_says_so(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.write(("/long", "harbour " * 10 + "lighthouse"))
    short = Settings(store=StoreSettings(shards=1), search=SearchSettings(max_text_chars=40))
    catch_up(story.folder, open_text_index(story.folder), short.search)
    assert [len(search(story.folder, short.search, word).hits) for word in ("harbour", "lighthouse")] == [1, 0]
    note = "search finds only the first 40 of 90 characters (search.max_text_chars)"
    assert explain(story.folder, short, "https://tale.test/long").detail.endswith(note)
    whole = Settings(store=StoreSettings(shards=1))
    assert "search finds" not in explain(story.folder, whole, "https://tale.test/long").detail
