"""An archived page made still: its scripts gone, its links kept inside the archive.

This is the second wall. The first is the policy that replay sends, which lets nothing run and nothing be
loaded from elsewhere, whatever this leaves in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.url import canonical, join

REMOVED = "script, object, embed, applet, portal, fencedframe, template"
"""Elements that run or load something on their own."""
FRAMES = "iframe, frame"
KEPT_LINKS = frozenset({"stylesheet", "icon", "shortcut"})
URL_ATTRIBUTES = frozenset(
    {"href", "src", "action", "formaction", "poster", "background", "data", "cite", "longdesc", "xlink:href",
     "manifest", "codebase", "classid", "profile", "usemap", "lowsrc", "dynsrc", "icon"}
)  # fmt: skip
DROPPED_ATTRIBUTES = frozenset(
    {"srcset", "imagesrcset", "ping", "target", "nonce", "integrity", "crossorigin", "autofocus", "srcdoc",
     "archive", "attributionsrc", "http-equiv"}
)  # fmt: skip
MOST_BYTES = 20_000_000
_CSS_IMPORT = re.compile(r"@import[^;]*(?:;|$)", re.IGNORECASE)
_CSS_ADDRESS = re.compile(r"(?:url|src|image|image-set|-webkit-image-set)\([^)]*\)", re.IGNORECASE)


def still(html: str, base: str, place: Callable[[str], str]) -> str:
    """The page without anything that acts; `place` gives where replay has the URL."""
    tree = LexborHTMLParser(html[:MOST_BYTES])
    base = _base(tree, base)
    for node in tree.css(f"{REMOVED}, {FRAMES}, base, meta[http-equiv]"):
        node.decompose()
    for node in tree.css("link"):
        relations = set((node.attributes.get("rel") or "").lower().split())
        if not relations & KEPT_LINKS or relations & {"preload", "prefetch", "dns-prefetch", "preconnect"}:
            node.decompose()
    for node in tree.css("style"):
        node.inner_html = _still_style(node.text() or "")
    for node in tree.css("*"):
        _still_attributes(node, base, place)
    return tree.html or ""


def _base(tree: LexborHTMLParser, base: str) -> str:
    node = tree.css_first("base[href]")
    written = node.attributes.get("href") if node is not None else None
    return (join(base, written) or base) if written else base


def _still_attributes(node: LexborNode, base: str, place: Callable[[str], str]) -> None:
    for name, value in list(node.attributes.items()):
        low = name.lower()
        if low.startswith("on") or low in DROPPED_ATTRIBUTES:
            del node.attrs[name]
        elif low == "style":
            node.attrs[name] = _still_style(value or "")
        elif low in URL_ATTRIBUTES or low.endswith(":href"):
            node.attrs[name] = _kept_inside(value or "", base, place)


def _still_style(css: str) -> str:
    """A style sheet that asks for nothing: imports and addresses are gone."""
    return _CSS_ADDRESS.sub("none", _CSS_IMPORT.sub("", css)).replace("<", "")


def _kept_inside(written: str, base: str, place: Callable[[str], str]) -> str:
    """Where a link leads inside the archive; what is no page leads nowhere."""
    stripped = written.strip()
    if stripped.startswith("#"):
        return stripped
    if stripped[:5].lower() == "data:" and stripped[5:11].lower() == "image/" and "svg" not in stripped[:30].lower():
        return stripped
    absolute = join(base, stripped)
    name = canonical(absolute) if absolute else None
    if name is None:
        return "#"
    _, mark, fragment = (absolute or "").partition("#")
    return place(name) + (mark + quote(fragment, safe="%!$&'()*+,;=:@/?-._~") if fragment else "")
