"""What does a page call its parts? The headings of the first three levels, in document order."""

from __future__ import annotations

from evercrawl.core.document.element import Elements
from evercrawl.core.document.link import collapsed

MOST_HEADINGS = 200
LONGEST_HEADING = 200


def headings_of(elements: Elements) -> tuple[str, ...]:
    """The texts of the headings, each once; those of a menu too, for they name the site's parts."""
    found: dict[str, None] = {}
    for node in elements.headings:
        if text := collapsed(node.text_lexbor(), LONGEST_HEADING):
            found[text] = None
        if len(found) >= MOST_HEADINGS:
            break
    return tuple(found)
