"""The features of a page or link that the classifier uses: named blocks of counts.
A block is one view: text, title, URL, anchors, targets, shape. Each is scaled to length one, so a long text cannot
drown a telling title. Digits become `#`, so what is learned on one site (`cs415`) holds on another (`ee210`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from evercrawl.model.document import Document, Link

Blocks = dict[str, Counter[str]]  # Block -> feature -> count.

MAX_TEXT_CHARS = 20_000  # Characters of a text that are used.
MAX_ANCHOR_CHARS = 200
MAX_LINKS = 500
MAX_DIGITS = 4
MAX_LEVELS = 3  # Path levels, counted from the end, that are told apart.

_WORD = re.compile(r"[^\W\d_]+|\d+")
_SUFFIX = re.compile(r"\.(?:[sx]?html?|php\d?|aspx?|jsp)\Z")
_OWN_PAGES = frozenset(("index", "home", "welcome", "main", "default"))


def words_of(text: str) -> list[str]:
    """Return the words in lower case. A number becomes one `#` per digit, at most four."""
    found = _WORD.findall(text[:MAX_TEXT_CHARS].lower())
    return ["#" * min(len(word), MAX_DIGITS) if word.isdigit() else word for word in found]


def page_blocks(url: str, document: Document) -> Blocks:
    """Return the feature blocks of a page."""
    text = words_of(document.text)
    title = words_of(document.title or "")
    links = document.links[:MAX_LINKS]
    anchors = [word for link in links for word in words_of(link.text[:MAX_ANCHOR_CHARS])]
    targets = [word for link in links for word in words_of(link.url.rpartition("/")[2][:MAX_ANCHOR_CHARS])]
    return {
        "text": Counter(text),
        "title": Counter(title + _pairs(title)),
        "url": Counter(url_features(url)),
        "anchors": Counter(anchors),
        "targets": Counter(targets),
        "shape": Counter(_shape(url, links, words=len(text), title=title)),
    }


def _pairs(words: list[str]) -> list[str]:
    return [f"{one} {other}" for one, other in pairwise(words)]


def url_features(url: str) -> list[str]:
    """Return the words of the path with and without their level, and the form of each segment."""
    path = url.partition("://")[2].partition("/")[2].partition("#")[0].lower()
    segments = [_SUFFIX.sub("", part) for part in path.split("/") if part]
    while segments and segments[-1] in _OWN_PAGES:
        segments.pop()
    found = [f"depth {min(len(segments), 8)}"]
    if path.startswith("~"):
        found.append("~")
    for level, segment in enumerate(reversed(segments)):
        words = words_of(segment[:MAX_ANCHOR_CHARS])
        place = min(level, MAX_LEVELS)
        found += words
        found += [f"{word}@{place}" for word in words]
        found.append(f"{''.join(words)[:20]}={place}")
    return found


def folder_of(url: str) -> str:
    """Return the URL up to the last slash of its path."""
    return url.partition("?")[0].rpartition("/")[0] + "/"


def _shape(url: str, links: Iterable[Link], *, words: int, title: list[str]) -> list[str]:
    """Return where the links lead and how large things are, which separates home pages from leaves."""
    folder = folder_of(url)
    inside = above = deeper = 0
    count = 0
    for link in links:
        count += 1
        if link.url.startswith(folder):
            inside += link.url != url
            deeper += "/" in link.url[len(folder) :]
        elif folder.startswith(folder_of(link.url)):
            above += 1
    sizes = {"inside": inside, "above": above, "deeper": deeper, "links": count, "words": words}
    found = [f"{name} {min(size, 4095).bit_length()}" for name, size in sizes.items()]
    if title:
        found += [f"first {title[0]}", f"last {title[-1]}"]
    found.append(f"title {min(len(title), 8).bit_length()}")
    found.append(f"own {is_home(url)}")
    return found


def link_blocks(
    source_url: str, link: Link, *, around: str = "", source_title: str = "", source_on_topic: bool = False
) -> Blocks:
    """Return the feature blocks of a link, before anything of its target is known."""
    anchor = words_of(link.text[:MAX_ANCHOR_CHARS])
    return {
        "anchor": Counter(anchor + _pairs(["^", *anchor, "$"])),
        "around": Counter(words_of(around[:MAX_ANCHOR_CHARS])),
        "url": Counter(url_features(link.url)),
        "source": Counter(words_of(source_title[:MAX_ANCHOR_CHARS])),
        "way": Counter([f"{link_direction(source_url, link.url)}, source {'on' if source_on_topic else 'off'} topic"]),
    }


def is_home(url: str) -> bool:
    """True if a page is the first of its folder, by a usual name or the folder's own."""
    folder, _, name = url.partition("?")[0].rpartition("/")
    name = _SUFFIX.sub("", name.lower())
    return not name or name in _OWN_PAGES or name in folder.rpartition("/")[2].lower()


def link_direction(source: str, target: str) -> str:
    here, there = folder_of(source), folder_of(target)
    if here == there:
        return "same folder"
    if there.startswith(here):
        return "deeper"
    if here.startswith(there):
        return "above"
    return "aside" if source.split("/")[2:3] == target.split("/")[2:3] else "other site"


CONTEXT_CHARS = 100  # Characters around an anchor that count as its context.


def link_contexts(document: Document) -> list[str]:
    """Return the context of each link: the text around its anchor, else the links beside it."""
    found: list[str] = []
    place = 0
    links = document.links
    for number, link in enumerate(links):
        start = document.text.find(link.text, place) if link.text else -1
        if start >= 0:
            place = start + len(link.text)
            found.append(
                f"{document.text[max(0, start - CONTEXT_CHARS) : start]} {document.text[place : place + CONTEXT_CHARS]}"
            )
        else:
            beside = links[max(0, number - 1) : number] + links[number + 1 : number + 2]
            found.append(" ".join(other.text for other in beside))
    return found
