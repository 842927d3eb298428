"""Files of an interrupted commit do not disturb the next one."""

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


def test_files_of_an_interrupted_commit_are_ignored(tmp_path: Path) -> None:
    killed, finished = tmp_path / "killed", tmp_path / "finished"
    _follow(killed, shard0=1, shard1=1)
    shutil.copytree(killed, finished)
    _follow(finished, shard0=2)
    # The files of a process that was killed before it replaced the list of segments.
    for path in index_folder(finished).iterdir():
        if path.name != "meta.json":
            shutil.copy(path, index_folder(killed))
    assert list(index_folder(killed).glob("*.del"))
    _follow(killed, shard0=3)
    index = TextIndex(killed)
    assert [index.cursor(shard)["visit"] for shard in (0, 1)] == [3, 1]
