"""The man page covers every command."""

from __future__ import annotations

import runpy
from pathlib import Path

from evercrawl.cli.main import COMMANDS

MAN = Path(__file__).resolve().parents[2] / "docs" / "man.py"


def test_the_man_page_covers_every_command() -> None:
    page = runpy.run_path(str(MAN))["man_page"]()
    assert page.startswith(".TH EVERCRAWL 1")
    for name in COMMANDS:
        assert f"\n.SS {name} " in page, name
    assert "\n.SS alert add " in page
