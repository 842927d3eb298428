"""What does a page call its parts? The headings of the first three levels, in document order."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from evercrawl.core.document.link import collapsed

MOST_HEADINGS = 200
LONGEST_HEADING = 200


def headings_of(body: LexborNode) -> tuple[str, ...]:
    """The texts of the headings, each once; those of a menu too, for they name the site's parts."""
    found: dict[str, None] = {}
    for node in body.css("h1,h2,h3"):
        if text := collapsed(node.text_lexbor(), LONGEST_HEADING):
            found[text] = None
        if len(found) >= MOST_HEADINGS:
            break
    return tuple(found)
