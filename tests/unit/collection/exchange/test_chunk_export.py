"""The export `chunks`: sections with stable ids, and only what is new since the last export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evercrawl.errors import ConfigError
from evercrawl.model.listing import VersionSelection
from tests.unit.collection.exchange.archives import SITE, collection_of, day, response

PAGE = b"<title>Guide</title><main><h1>Guide</h1><p>First words of it.</p><h2>Install</h2><p>Run it now.</p></main>"


def test_chunks_name_their_source(tmp_path: Path):
    collection = collection_of(tmp_path, response(SITE + "/guide", day(0), PAGE))
    collection.export("chunks", tmp_path / "out.jsonl")
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert first["headings"] == ["Guide"]
    assert first["text"] == "First words of it."
    assert second["headings"] == ["Guide", "Install"]
    assert second["url"] == SITE + "/guide"
    assert (second["part"], second["chunks"], second["version"]) == (1, 2, 1)


def test_a_cursor_exports_only_what_is_new(tmp_path: Path):
    collection = collection_of(tmp_path, response(SITE + "/guide", day(0), PAGE))
    cursor = tmp_path / "index.cursor"
    assert collection.export("chunks", tmp_path / "1.jsonl", cursor=cursor).versions == 1
    assert collection.export("chunks", tmp_path / "2.jsonl", cursor=cursor).versions == 0
    cursor.unlink()
    assert collection.export("chunks", tmp_path / "3.jsonl", cursor=cursor).versions == 1


def test_a_cursor_that_cannot_be_used_is_refused(tmp_path: Path):
    collection = collection_of(tmp_path, response(SITE + "/guide", day(0), PAGE))
    cursor = tmp_path / "index.cursor"
    cursor.write_text("{}")
    with pytest.raises(ConfigError, match="is not a cursor"):
        collection.export("chunks", tmp_path / "1.jsonl", cursor=cursor)
    with pytest.raises(ConfigError, match="--since"):
        collection.export("chunks", cursor=cursor, selection=VersionSelection(since=day(0)))
