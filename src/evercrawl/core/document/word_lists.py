"""Lists of words that are kept in files beside the code."""

from __future__ import annotations

import re
from importlib.resources import files

_TITLE = re.compile(r"^\[(.+)\]$", re.MULTILINE)


def read_lists(package: str, name: str, *, separators: str = ";\n") -> dict[str, list[str]]:
    """Return the lists of a file by their titles, which stand in brackets on lines of their own."""
    parts = _TITLE.split(files(package).joinpath(name).read_text("utf-8"))[1:]
    entries = ([one for one in map(str.strip, re.split(f"[{separators}]", lines)) if one] for lines in parts[1::2])
    return dict(zip(parts[::2], entries, strict=True))
