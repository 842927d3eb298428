"""Which links does a Link header carry? RFC 8288 section 3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST_LINKS = 200

_LINK = re.compile(r'[\s,]*<([^>]*)>((?:[^,"<]|"(?:[^"\\]|\\.)*"?)*)', re.DOTALL)
_PARAMETER = re.compile(r';\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,"]*)))?', re.DOTALL)


class HeaderLink(NamedTuple):
    """One link of the field; `rel` holds its relation types in lower case."""

    reference: str
    rel: frozenset[str]
    hreflang: str | None
    type: str | None


def header_links(value: str) -> Iterator[HeaderLink]:
    """The links of one field, in order; a link about another page (`anchor`) is left out."""
    for count, match in enumerate(_LINK.finditer(value)):
        if count >= MOST_LINKS:
            return
        parameters: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(match[2]):
            parameters.setdefault(name.lower(), quoted or bare)
        if "anchor" not in parameters:
            rel = frozenset(parameters.get("rel", "").lower().split())
            yield HeaderLink(match[1].strip(), rel, parameters.get("hreflang"), parameters.get("type"))
