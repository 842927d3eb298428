"""The words around each link: where its text stands in the main text, else the links beside it."""

from __future__ import annotations

from evercrawl.model.document import Document

REACH = 100
"""Characters before and behind an anchor that count as around it."""


def texts_around(document: Document) -> list[str]:
    """For each link of the document, in order, what stands around it without the anchor itself."""
    found: list[str] = []
    place = 0
    links = document.links
    for number, link in enumerate(links):
        start = document.text.find(link.text, place) if link.text else -1
        if start >= 0:
            place = start + len(link.text)
            found.append(f"{document.text[max(0, start - REACH) : start]} {document.text[place : place + REACH]}")
        else:
            beside = links[max(0, number - 1) : number] + links[number + 1 : number + 2]
            found.append(" ".join(other.text for other in beside))
    return found
