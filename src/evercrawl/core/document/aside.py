"""Is this part of the page beside its content? What its attributes say, doubted where it holds much text."""

from __future__ import annotations

from collections.abc import Mapping

from selectolax.lexbor import LexborNode

from evercrawl.core.document.naming import ASIDE, BODY, LAYOUT_ASIDE, LINKED_ASIDE, SMALL_ASIDE, SURE_ASIDE, verdict_of

LONGEST_SMALL_ASIDE = 400
"""Characters of a byline, a caption, a row of share buttons."""
UNNOTED = 250
"""Characters too few to have been the content by mistake."""
MUCH_PROSE = 1000
"""Characters of paragraphs, outside links, that no sidebar has."""
USUAL_LINK = 15
"""Characters of a link in a list of links."""
MOST_DOUBTED = 2_000_000
"""Characters of parts that were doubted; beyond this the page is believed nothing more, since looking costs
time.
"""

_ROLES = "navigation banner contentinfo complementary search menu menubar toolbar dialog alert tablist"
_ASIDE_ROLES = frozenset(_ROLES.split())


class Asides:
    """The parts left out of one page; those given as mistaken, or all where None is given, are not among
    them.
    """

    __slots__ = ("_doubted", "_mistaken", "large")

    def __init__(self, mistaken: frozenset[int] | None) -> None:
        self._mistaken = mistaken or frozenset()
        self._doubted = 0 if mistaken is not None else MOST_DOUBTED + 1
        self.large: list[tuple[LexborNode, int, int]] = []
        """With what the names say and the number of characters."""

    def holds(self, node: LexborNode, place: int) -> bool:
        """The element, in the place that its attributes name, is to be left out."""
        if place <= BODY or node.mem_id in self._mistaken or self._doubted > MOST_DOUBTED:
            return False
        if place == SURE_ASIDE:
            return True
        size = len(node.text_lexbor())
        if not _is_believed(node, place, size):
            self._doubted += size
            return False
        if size > UNNOTED:
            self.large.append((node, place, size))
        return True


def place_of(attributes: Mapping[str, str | None]) -> int:
    """What the attributes of an element say about its place on the page."""
    classes = attributes.get("class")
    if len(attributes) == 1 and classes:
        return verdict_of(classes, None)
    role = attributes.get("role")
    if role in _ASIDE_ROLES or "hidden" in attributes:
        return ASIDE
    style = attributes.get("style")
    if style and "none" in style and "display:none" in style.replace(" ", ""):
        return ASIDE
    if role == "main" or attributes.get("itemprop") == "articleBody":
        return BODY
    return verdict_of(classes, attributes.get("id"))


def unlinked_chars(node: LexborNode) -> int:
    """How much text an element holds outside links; 0 where there is hardly anything but links."""
    links = node.css("a")
    chars = _chars(node.text_lexbor())
    if len(links) * USUAL_LINK >= chars:
        return 0
    return chars - _chars("".join([link.text_lexbor() for link in links]))


def _chars(text: str) -> int:
    return len("".join(text.split()))


def _is_believed(node: LexborNode, place: int, size: int) -> bool:
    if place == SMALL_ASIDE:
        return size <= LONGEST_SMALL_ASIDE
    if place == LINKED_ASIDE:
        return size <= LONGEST_SMALL_ASIDE and node.css_first("a") is not None
    if place == LAYOUT_ASIDE and size > MUCH_PROSE:
        return sum(map(unlinked_chars, node.css("p"))) <= MUCH_PROSE
    return True
