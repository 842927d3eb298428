"""Which pages may there be that nothing links to? Folders above a page, and numbers beside a numbered one."""

from __future__ import annotations

import re

MOST_PARENTS = 10
MOST_NEIGHBOURS = 10
LONGEST_NUMBER = 12
"""Digits; longer ones are no numbers that are counted up."""

_LAST_NUMBER = re.compile(r"\d+(?=\D*\Z)")


def parents_of(url: str, most: int) -> list[str]:
    """The folders above a page, the nearest first, by cutting off its canonical URL."""
    start = url.index("/", url.index("//") + 2)
    path = url[start:].partition("?")[0]
    pieces = path.removesuffix("/").split("/")
    folders = ["/".join(pieces[:count]) + "/" for count in range(len(pieces) - 1, 0, -1)]
    if "?" in url:
        folders.insert(0, path)
    return [url[:start] + folder for folder in folders[: min(most, MOST_PARENTS)]]


def neighbours_of(url: str, most: int) -> list[str]:
    """The same address with numbers near its last one, the nearest first; zeros in front stay."""
    start = url.index("/", url.index("//") + 2)
    found = _LAST_NUMBER.search(url, start)
    if found is None or len(found[0]) > LONGEST_NUMBER:
        return []
    width = len(found[0]) if found[0].startswith("0") else 0
    at = int(found[0])
    near = [other for step in range(1, min(most, MOST_NEIGHBOURS) + 1) for other in (at - step, at + step)]
    return [f"{url[: found.start()]}{other:0{width}}{url[found.end() :]}" for other in near if other >= 0]
