"""The folder of the index after a crash: what the last commit does not name is in nobody's way."""

from __future__ import annotations

import shutil
from pathlib import Path

from evercrawl.adapters.tantivy import TextIndex
from evercrawl.adapters.tantivy.text_index import index_folder

HEAP_BYTES = 15_000_000


def _follow(collection: Path, **cursors: int) -> None:
    with TextIndex(collection).writing(HEAP_BYTES) as writing:
        for name, visit in cursors.items():
            writing.set_cursor(int(name.removeprefix("shard")), {"visit": visit})
        writing.commit()


def test_files_of_a_commit_that_died_are_in_nobodys_way(tmp_path: Path) -> None:
    killed, went_on = tmp_path / "killed", tmp_path / "went on"
    _follow(killed, shard0=1, shard1=1)
    shutil.copytree(killed, went_on)
    _follow(went_on, shard0=2)
    # All that a process has written that is killed before it puts the list of segments into place.
    for path in index_folder(went_on).iterdir():
        if path.name != "meta.json":
            shutil.copy(path, index_folder(killed))
    assert list(index_folder(killed).glob("*.del"))
    _follow(killed, shard0=3)
    index = TextIndex(killed)
    assert [index.cursor(shard)["visit"] for shard in (0, 1)] == [3, 1]
