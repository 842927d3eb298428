"""The source paper's way to see a change: the ASCII count (mission B4, B7).

The paper sums the character codes of a page and takes the page as changed where the sum differs. That
needs a few bytes for each page and no text, and it cannot see that characters changed places.
"""

from __future__ import annotations

from evercrawl.model.change import NO_CHANGE, Change, ChangeClass


def ascii_count(html: bytes | str) -> int:
    """The sum of the page's byte values."""
    return sum(html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html)


class AsciiCountDetector:
    """Tells changed from unchanged by the ASCII count alone; every difference is content to it."""

    name = "paper-ascii-count"

    def compare(self, before: bytes | str, after: bytes | str) -> Change:
        """The change that the two counts show."""
        return self.compare_counts(ascii_count(before), ascii_count(after))

    def compare_counts(self, before: int, after: int) -> Change:
        """The change that two stored counts show; its size is unknown and given as the whole."""
        return NO_CHANGE if before == after else Change(ChangeClass.CONTENT, 1.0)
