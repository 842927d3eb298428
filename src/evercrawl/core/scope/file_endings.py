"""Whether the ending of a URL says that it is a file: `/tree/logo.svg` in a code browser and `/wiki/Node.js` are pages.
What the URLs of the same folder answered before decides. Without such evidence, an ending means what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from evercrawl.core.document.media_type import url_file_type

MAX_FOLDERS = 200  # Entries of one site that are remembered.
MAX_COUNT = 8  # Answers that are counted per entry.
MIN_PAGES = 3  # Pages without an ending in a folder that make one with an ending worth a try.
MAX_TRIES = 5  # Kinds of files of one site that are tried in vain before no more are.

Answers = Mapping[str, tuple[int, int]]
"""Folder and ending -> how many URLs answered with a page, and with a file."""
NO_ANSWERS: Answers = {}

_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,7})\Z")
_PAGE_ENDINGS = frozenset(
    {
        "html", "htm", "xhtml", "shtml", "php", "php3", "php4", "php5", "phtml", "asp", "aspx", "ashx", "jsp", "jspx",
        "jsf", "do", "action", "cgi", "pl", "cfm", "nsf", "rhtml",
    }
)  # fmt: skip
_REFUSED = "refused"


class Meaning(Enum):
    """What the ending of a URL means."""

    FILE = "a file"
    UNSURE = "a file, or a page"  # Worth a try when nothing better is left.
    PAGE = "a page"


def meaning_of(answers: Answers, url: str, kind: str) -> Meaning:
    """Return what the ending of a URL means that promises a file of this kind."""
    folder = _folder(url)
    pages, files = answers.get(f"{folder} {kind}", (0, 0))
    if pages or files:
        return Meaning.PAGE if pages >= files else Meaning.FILE
    pages, files = answers.get(f"{folder} other", (0, 0))
    if pages or files:
        return Meaning.PAGE if not files else Meaning.FILE
    is_routed = answers.get(f"{folder} none", (0, 0))[0] >= MIN_PAGES
    return Meaning.UNSURE if is_routed and _tries_in_vain(answers) < MAX_TRIES else Meaning.FILE


def is_unsure_ending(answers: Answers, url: str) -> bool:
    """Return whether a URL may be a page in spite of its ending, but probably is not."""
    kind = url_file_type(url)
    return kind is not None and meaning_of(answers, url, kind) is Meaning.UNSURE


def _tries_in_vain(answers: Answers) -> int:
    return sum(1 for key, (pages, files) in answers.items() if files and not pages and not key.endswith(" other"))


def after_answer(answers: Answers, url: str, *, is_page: bool) -> Answers:
    """Return the answers with one more; the same object if it teaches nothing new."""
    ending = _ending(url)
    key = f"{_folder(url)} {ending}"
    pages, files = answers.get(key, (0, 0))
    if ending is None or max(pages, files) >= MAX_COUNT:
        return answers
    return _with(answers, key, (pages + is_page, files + (not is_page)))


def after_refusal(answers: Answers, url: str) -> Answers:
    """Return the answers with the note that a URL of this folder was refused for its ending."""
    key = f"{_folder(url)} {_REFUSED}"
    return answers if key in answers else _with(answers, key, (0, 0))


def admits_more(before: Answers, after: Answers, url: str) -> bool:
    """Return whether URLs of the same folder that were refused for their endings may be pages now."""
    folder = _folder(url)
    if after is before or f"{folder} {_REFUSED}" not in after:
        return False
    ending = _ending(url)
    key, enough = f"{folder} {ending}", MIN_PAGES if ending == "none" else 1
    return before.get(key, (0, 0))[0] < enough <= after.get(key, (0, 0))[0]


def _with(answers: Answers, key: str, counts: tuple[int, int]) -> Answers:
    both = {**answers, key: counts}
    return both if len(both) <= MAX_FOLDERS else dict(list(both.items())[-MAX_FOLDERS * 3 // 4 :])


def _folder(url: str) -> str:
    """Return the first two folders of a URL's path."""
    path = url.partition("?")[0]
    start = path.find("/", path.find("//") + 2)
    return "/".join(path[start:].split("/")[:-1][:3]) if start >= 0 else ""


def _ending(url: str) -> str | None:
    """Return the kind of ending of a URL: of a file, another one, or none. None: that of pages."""
    kind = url_file_type(url)
    if kind is not None:
        return kind
    found = _ENDING.search(url.partition("?")[0].rpartition("/")[2])
    if found is None:
        return "none"
    return None if found[1].lower() in _PAGE_ENDINGS else "other"
