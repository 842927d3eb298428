"""What publishers say about use goes along with every export, and what they refuse can be left out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from evercrawl.collection.agent_tools import AgentTools
from evercrawl.collection.collection import Collection
from evercrawl.errors import ConfigError
from evercrawl.model.listing import VersionSelection
from tests.unit.collection.exchange.archives import SITE, collection_of, day, html, response

SAID = {"ai-train": "n", "sources": ["header Content-Usage: train-ai=n"]}


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    refusing = "Content-Type: text/html\r\nContent-Usage: train-ai=n"
    return collection_of(
        tmp_path,
        response(SITE + "/open", day(0), html("Open", "Everybody may learn from the open text of this page.")),
        response(
            SITE + "/closed", day(0), html("Closed", "Nobody may learn from the text of this page."), head=refusing
        ),
    )


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_and_chunks_carry_the_terms(collection: Collection, tmp_path: Path):
    for form in ("jsonl", "chunks"):
        collection.export(form, tmp_path / form)
        found = {row["url"]: row.get("usage") for row in lines(tmp_path / form)}
        assert found == {SITE + "/open": None, SITE + "/closed": SAID}


def test_refused_uses_are_left_out_and_counted(collection: Collection, tmp_path: Path):
    report = collection.export("jsonl", tmp_path / "x", selection=VersionSelection(usable_for="ai-train"))
    assert [row["url"] for row in lines(tmp_path / "x")] == [SITE + "/open"]
    assert (report.versions, report.refused) == (1, 1)
    assert collection.pages(usable_for="search").count() == 2
    assert collection.pages(usable_for="ai-train").count() == 1
    with pytest.raises(ConfigError, match="choose from search, ai-input"):
        collection.export("csv", tmp_path / "y", selection=VersionSelection(usable_for="profit"))
    assert not (tmp_path / "y").exists()
    with pytest.raises(ConfigError, match="choose from search, ai-input"):
        collection.pages(usable_for="profit").count()


def test_a_warc_file_has_the_terms_as_metadata(collection: Collection, tmp_path: Path):
    collection.export("warc", tmp_path / "x.warc.gz")
    with gzip.open(tmp_path / "x.warc.gz") as file:
        found = {
            record.rec_headers["WARC-Target-URI"]: record.content_stream().read()
            for record in ArchiveIterator(file)
            if record.rec_type == "metadata"
        }
    assert found == {SITE + "/closed": b"ai-train: n\r\nsources: header Content-Usage: train-ai=n\r\n"}


def test_people_and_agents_are_told(collection: Collection):
    assert collection.show(SITE + "/closed").usage == SAID
    assert collection.show(SITE + "/closed").analysis == {}
    assert collection.why(SITE + "/closed").usage == SAID
    tools = AgentTools(collection)
    assert tools.read(SITE + "/closed")["usage"] == SAID
    assert "usage" not in tools.read(SITE + "/open")
    hits = tools.search("text page")["hits"]
    assert {hit["url"]: hit.get("usage") for hit in hits} == {SITE + "/open": None, SITE + "/closed": SAID}
    assert [hit["url"] for hit in tools.search("text page", usable_for="ai-train")["hits"]] == [SITE + "/open"]
    with pytest.raises(ConfigError):
        tools.search("text", usable_for="profit")
