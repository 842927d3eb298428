"""Outputs are complete or missing, and replace others only with force."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.collection.exchange.export_run import MAPPING, new_file, new_folder
from evercrawl.errors import ConfigError


class Interrupted(Exception):
    pass


def test_a_file_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "x.csv"
    with new_file(target, force=False) as beside:
        beside.write_text("whole")
        assert not target.exists()
        assert beside.parent == target.parent
    assert target.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]


def broken_off(target: Path, *, force: bool) -> None:
    with new_file(target, force=force) as beside:
        beside.write_text("half")
        raise Interrupted


def test_what_is_broken_off_leaves_nothing_and_keeps_what_was_there(tmp_path):
    target = tmp_path / "x.csv"
    with pytest.raises(Interrupted):
        broken_off(target, force=False)
    assert list(tmp_path.iterdir()) == []
    target.write_text("before")
    with pytest.raises(Interrupted):
        broken_off(target, force=True)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_replaced_unasked(tmp_path):
    target = tmp_path / "x.csv"
    target.write_text("before")
    with pytest.raises(ConfigError, match="--force"), new_file(target, force=False):
        pytest.fail("not reached")
    with new_file(target, force=True) as beside:
        beside.write_text("after")
    assert target.read_text() == "after"


def test_a_dangling_link_is_in_the_way_too(tmp_path):
    target = tmp_path / "x.csv"
    target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError), new_file(target, force=False):
        pytest.fail("not reached")
    with new_file(target, force=True) as beside:
        beside.write_text("after")
    assert not target.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_is_replaced_only_if_it_is_an_export(tmp_path):
    target = tmp_path / "mirror"
    target.mkdir()
    (target / "precious").write_text("photos")
    with pytest.raises(ConfigError, match="never replaced"), new_folder(target, force=True):
        pytest.fail("not reached")
    (target / MAPPING).write_text("")
    with new_folder(target, force=True) as beside:
        (beside / MAPPING).write_text("new")
    assert [path.name for path in target.iterdir()] == [MAPPING]
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match="does not exist"), new_file(tmp_path / "no" / "x", force=False):
        pytest.fail("not reached")
