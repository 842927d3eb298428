"""Does a URL carry a session, so that every visitor gets an endless supply of addresses for the same page?

A name that is used for sessions and nothing else is enough. A name that also means other things (`sid`, `s`,
`session`) counts only with a value that looks drawn by lot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evercrawl.core.traps.parts import Parts, unescaped

LEAST_RANDOM_CHARS = 12
LEAST_SURE_CHARS = 4
"""The least length of a value under a name that is used for sessions alone."""

_SURE = re.compile(
    r"(?:j|php|asp|aspx|asp\.net_?|cf|x?oos?|osc|xtc|zen|mod|smf|ci_|cake|laravel_|plack_|rack\.?)?_?"
    r"(?:sess(?:ion)?[_-]?id\w{0,12})|oscsid|xtcsid|modsid|zenid|cftoken|cfid|phpsessid|aspsessionid\w*"
)
_LIKELY = re.compile(r"(?:[a-z]+[_-])?(?:sid|s|sess|session|session[_-]?(?:key|hash|token|id)|sessid|visitor[_-]?id)")
# ASP.NET writes (S(…)), (A(…)S(…)), (X(1)S(…)) and (F(…)) into the path when cookies are off.
_COOKIELESS = re.compile(r"/\((?=[^/]{12,}/)(?:[a-z]\([\w\-]+\))+\)/", re.IGNORECASE)
_RANDOM_TEXT = re.compile(r"[0-9a-z\-_.~%+=]+\Z", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[-_.~+]")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{5,}", re.IGNORECASE)
_NAMED_VALUE = re.compile(r"([a-z.\[\]_\-]*(?:sess|sid)[a-z_\-]*?)[=:~-]([\w\-.]+)\Z", re.IGNORECASE)
_FOLDER_OF_SESSIONS = frozenset(("session", "sessionid", "session_id", "session-id", "sessid", "sid", "sess"))


def session_in(parts: Parts) -> str | None:
    """In words, where the URL carries a session; None: nowhere."""
    if "(" in parts.path and _COOKIELESS.search(parts.path):
        return "a session in the path, as ASP.NET writes it without cookies"
    for name, value in _named(parts):
        if _is_session(name, value):
            return f"a session in {name}={value[:12]}…"
    return _in_folder(parts)


def _named(parts: Parts) -> Iterator[tuple[str, str]]:
    """Parameters of the query and of the path (`;jsessionid=…`, `/sid=…/`)."""
    yield from parts.pairs
    if ";" in parts.path:
        for piece in parts.path.split(";")[1:]:
            name, equals, value = piece.partition("=")
            if equals:
                yield name.lower(), value.partition("/")[0]
    for segment in parts.segments:
        if "si" in segment or "ses" in segment:
            match = _NAMED_VALUE.match(segment)
            if match is not None:
                yield match[1], match[2]


def _is_session(name: str, value: str) -> bool:
    name = unescaped(name)
    if _LIKELY.fullmatch(name) and looks_random(value):
        return True
    return bool(_SURE.fullmatch(name)) and _is_sure(name, value)


def _is_sure(name: str, value: str) -> bool:
    """`session_id=17` is a talk at a conference; `jsessionid=17` is not."""
    if name in ("sessionid", "session_id", "session-id", "sessid", "sess_id"):
        return looks_random(value)
    return len(value) >= LEAST_SURE_CHARS


def _in_folder(parts: Parts) -> str | None:
    """/session/3f0c…/page: the folder's name says it, the value is drawn by lot, and something follows."""
    for before, value in zip(parts.segments[:-2], parts.segments[1:-1], strict=True):
        if before in _FOLDER_OF_SESSIONS and looks_random(value):
            return f"a session in the folder /{before}/{value[:12]}…/"
    return None


def looks_random(value: str) -> bool:
    """Letters and digits mixed, long, and without a word inside: drawn by lot rather than named."""
    if len(value) < LEAST_RANDOM_CHARS or not _RANDOM_TEXT.match(value):
        return False
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    if not digits:
        return len(value) >= 2 * LEAST_RANDOM_CHARS and value.isalpha() and not _reads_well(value)
    if digits < 2 or letters < 2:
        return False
    worded = sum(len(word) for word in _WORD.findall(value))
    return worded <= len(value) // 2 and not _is_slug(value)


def _is_slug(value: str) -> bool:
    """Words with hyphens between them, and a number: `building-apps-101`."""
    pieces = [piece for piece in _BETWEEN_WORDS.split(value) if piece]
    named = sum(len(piece) for piece in pieces if piece.isalpha() and _VOWEL.search(piece))
    return len(pieces) > 1 and 2 * named >= sum(map(len, pieces))


def _reads_well(value: str) -> bool:
    """Vowels at about the rate of language, and one case."""
    vowels = sum(character in "aeiouyAEIOUY" for character in value)
    return vowels >= len(value) // 4 and (value.islower() or value.isupper() or value.istitle())
