"""The browser that `serve` opens gets no secret on its command line."""

from __future__ import annotations

import stat
from pathlib import Path

from evercrawl.cli.commands.serve import write_door


def test_the_login_key_is_in_a_private_file_and_not_in_its_name(tmp_path: Path) -> None:
    door = write_door(tmp_path, "http://127.0.0.1:8787/first?key=s3cret&a=b")
    assert "s3cret" not in door.as_uri()
    assert door.as_uri().startswith("file:///")
    assert stat.S_IMODE(door.stat().st_mode) == 0o600
    assert 'url=http://127.0.0.1:8787/first?key=s3cret&amp;a=b"' in door.read_text()
