"""Where does a URL lie beside the pages on topic that are known? What belongs to one of them is seldom
another.
"""

from __future__ import annotations

from collections.abc import Iterable

from evercrawl.core.focus.feature import folder_of, is_home

OUTSIDE = "outside"
MOST_FOLDERS = 200_000
"""Beyond this no new folders are remembered."""


class Places:
    """The folders of pages on topic. A page does not count as its own neighbour."""

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._folders: dict[str, set[str]] = {}
        for url in urls:
            self.add(url)

    def add(self, url: str) -> None:
        """One more page is on topic."""
        folder = folder_of(url)
        if folder in self._folders or len(self._folders) < MOST_FOLDERS:
            self._folders.setdefault(folder, set()).add(url)

    def urls(self) -> list[str]:
        """All pages that were added."""
        return [url for urls in self._folders.values() for url in sorted(urls)]

    def of(self, url: str) -> str:
        """In or below the folder of another page on topic, and whether that page is the folder's first."""
        own = folder = folder_of(url)
        while folder.count("/") > 3:
            others = self._folders.get(folder, set()) - {url}
            if others:
                kind = "home" if any(map(is_home, others)) else "page"
                return f"{'beside' if folder == own else 'below'} {kind}"
            folder = folder_of(folder[:-1])
        return OUTSIDE
