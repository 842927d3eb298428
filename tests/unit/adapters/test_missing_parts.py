"""What is used where the system or an extra is missing."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import tempfile
from pathlib import Path

import pytest

from evercrawl.adapters import graph_files, system
from evercrawl.adapters.focus_file import load_focus
from evercrawl.collection.crawl import set_focus
from evercrawl.collection.doctor import EXTRAS
from evercrawl.collection.link_report import orphans
from evercrawl.errors import ConfigError
from evercrawl.model.settings import Settings


def _is_synced() -> list[int]:
    with tempfile.TemporaryFile() as file:
        system.sync_data(file.fileno())
        return [file.fileno()]


def test_without_fdatasync_the_whole_file_is_synced(monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.delattr(os, "fdatasync")
    monkeypatch.setattr(os, "fsync", synced.append)
    assert _is_synced() == synced


def test_where_fsync_is_not_enough_the_full_form_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda *call: calls.append(call))
    (descriptor,) = _is_synced()
    assert calls == [(descriptor, 51)]


def test_without_memfd_memory_is_a_file_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    descriptor = system.open_shared_memory(64, "evercrawl-test")
    try:
        assert os.pread(descriptor, 100, 0) == bytes(64)
        assert os.fstat(descriptor).st_nlink == 0
    finally:
        os.close(descriptor)


def test_without_uvloop_python_makes_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert system.loop_factory() is None


def test_with_uvloop_it_makes_the_loop() -> None:
    factory = system.loop_factory()
    assert factory is not None
    assert factory.__module__.startswith("uvloop")


def test_without_numpy_the_link_graph_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ConfigError, match=r"pip install 'evercrawl\[graph\]'"):
        orphans(Path("nowhere"))


def test_without_numpy_there_is_no_graph_to_rank_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_files, "find_spec", lambda name: None)
    assert graph_files.current_graph(Path("nowhere")) is None


def test_without_numpy_a_focus_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ConfigError, match=r"pip install 'evercrawl\[focus\]'"):
        asyncio.run(set_focus(tmp_path, Settings(), "tides and harbours"))
    (tmp_path / "topic.bin").write_bytes(b"stored by another installation")
    with pytest.raises(ConfigError, match=r"pip install 'evercrawl\[focus\]'"):
        load_focus(tmp_path)


def test_doctor_lists_every_extra() -> None:
    project = (Path(__file__).resolve().parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    table = project.partition("[project.optional-dependencies]\n")[2].partition("\n\n")[0]
    assert {line.partition(" = ")[0] for line in table.splitlines()} - {"all"} == set(EXTRAS)
