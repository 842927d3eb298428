"""The numbers by which the parser knows the elements, asked of the parser itself, since they differ between
its versions.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser


def tag_ids(names: str) -> frozenset[int]:
    """The numbers of the elements in a list of names separated by spaces."""
    return frozenset(tag_id(name) for name in names.split())


def tag_id(name: str) -> int:
    """The number of one element."""
    return int(_ASKED.create_node(name).tag_id)


def text_node_id() -> int:
    """The number that all text nodes have."""
    node = LexborHTMLParser("<p>x").css_first("p")
    child = node.first_child if node is not None else None
    if child is None:
        raise RuntimeError("the HTML parser does not keep text")
    return int(child.tag_id)


_ASKED = LexborHTMLParser("")
