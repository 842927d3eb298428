"""Read what publishers say about the use of their pages, in robots.txt, header fields and the page itself.
Content-Usage: draft-ietf-aipref-attach-05 with the labels of draft-ietf-aipref-vocab-08; Content-Signal: Cloudflare's
policy; TDMRep: the W3C community group's report of 10 May 2024; noai and noimageai: as image hosts introduced them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evercrawl.core.robots.robots_txt import normalise_escapes, pattern_rank
from evercrawl.core.url import join, path_of
from evercrawl.model.document import UsageStatement, UsageTerms
from evercrawl.model.fetch import Headers

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from evercrawl.core.document.elements import Elements

MAX_STATEMENTS = 50
MAX_LICENCES = 10
MAX_URL_CHARS = 2048
MAX_SOURCE_CHARS = 200
MAX_MENTIONS = 50  # Words of a page that are examined one by one.
MAX_VALUE_BYTES = 1000
MAX_SCRIPTS = 20
MAX_JSON_VALUES = 5_000
TDMREP_PATH = "/.well-known/tdmrep.json"
TDMREP_BYTES = 64 * 1024
MAX_RULES = 1000  # Rules of a tdmrep.json that are read.

_LABELS = {
    "train-ai": ("ai-train",),
    "train-genai": ("ai-train",),
    "ai-train": ("ai-train",),
    "ai-use": ("ai-input",),
    "ai-output": ("ai-input",),
    "ai-input": ("ai-input",),
    "search": ("search",),
    "tdm": ("tdm",),
    "bots": ("search", "ai-input", "ai-train", "tdm"),
}
"""Labels of Content-Usage, those of earlier drafts included, and of Content-Signal."""
_VALUES = {"y": True, "yes": True, "n": False, "no": False}
_DIRECTIVES = {"noai": "ai-train", "noimageai": "ai-train-images"}
_SIGNS = b"= \t\n\f\r"
_LICENCE_METAS = frozenset(("dc.rights", "dc.rights.license", "dcterms.license", "dcterms.rights", "license"))
_LICENCE_KEYS = ("license", "schema:license", "http://schema.org/license", "https://schema.org/license")
_SELECTOR = "link[rel~=license],a[rel~=license],area[rel~=license],[itemprop=license]"


def parse_preferences(text: str, source: str) -> tuple[UsageStatement, ...]:
    """Return the statements of a Content-Usage or Content-Signal value: `label=value` with commas between.
    Unknown labels and values say nothing; parameters of values are left out (RFC 9651 section 3.2)."""
    found = []
    for member in text.split(",")[:MAX_STATEMENTS]:
        label, _, value = member.partition("=")
        is_allowed = _VALUES.get(value.partition(";")[0].strip().strip('"').lower())
        if is_allowed is not None:
            place = f"{source}: {member.strip()}"[:MAX_SOURCE_CHARS]
            found += [UsageStatement(use, is_allowed, place) for use in _LABELS.get(label.strip().lower(), ())]
    return tuple(found)


def combine_terms(*terms: UsageTerms) -> UsageTerms:
    """Return all terms together; every statement counts, so that the most restrictive one decides."""
    terms = tuple(filter(None, terms))
    if not terms:
        return UsageTerms()
    return UsageTerms(
        tuple(dict.fromkeys(one for term in terms for one in term.statements))[:MAX_STATEMENTS],
        tuple(dict.fromkeys(one for term in terms for one in term.licences))[:MAX_LICENCES],
        tuple(dict.fromkeys(one for term in terms for one in term.policies))[:MAX_LICENCES],
    )


# Header fields

_HEADERS = frozenset(("content-usage", "content-signal", "x-robots-tag", "tdm-reservation", "tdm-policy", "link"))


def header_terms(url: str, headers: Headers, *, agent: str) -> UsageTerms:
    """Return what the header fields of a response say."""
    if _HEADERS.isdisjoint(name.lower() for name, _ in headers):
        return UsageTerms()
    statements: list[UsageStatement] = []
    licences: list[str] = []
    reserved: str | None = None
    policy: str | None = None
    for name, value in headers:
        lower = name.lower()
        if lower in ("content-usage", "content-signal"):
            statements += parse_preferences(value, f"header {name}")
        elif lower == "x-robots-tag":
            statements += _directives(_addressed(value, agent), f"header {name}")
        elif lower == "tdm-reservation":
            reserved = value
        elif lower == "tdm-policy":
            policy = value
        elif lower == "link":
            licences += _linked_licences(url, value)
    terms = UsageTerms(tuple(statements), tuple(licences))
    return combine_terms(terms, _tdm_terms(url, reserved, policy, "header tdm-reservation"))


def _addressed(value: str, agent: str) -> Iterator[str]:
    """Yield the directives of an X-Robots-Tag that are for everybody or for us."""
    is_ours = True
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        if colon and " " not in name.strip():
            is_ours = name.strip().lower() in ("*", "robots", agent.lower())
            part = rest
        if is_ours:
            yield part


def _directives(rules: Iterable[str], source: str) -> list[UsageStatement]:
    names = (rule.strip().lower() for rule in rules)
    return [UsageStatement(_DIRECTIVES[name], False, f"{source}: {name}") for name in names if name in _DIRECTIVES]


def _tdm_terms(url: str, reserved: str | None, policy: str | None, source: str) -> UsageTerms:
    """Return a TDM reservation: 1 reserves the rights, 0 does not; a policy counts only with a reservation."""
    value = (reserved or "").strip()
    if value not in ("0", "1"):
        return UsageTerms()
    statement = UsageStatement("tdm", value == "0", f"{source}: {value}"[:MAX_SOURCE_CHARS])
    target = _url(url, policy) if policy and value == "1" else None
    return UsageTerms((statement,), policies=() if target is None else (target,))


def _linked_licences(url: str, value: str) -> list[str]:
    """Return the targets of a Link field with the relation `license` (RFC 8288)."""
    found = []
    for part in value[: 4 * MAX_URL_CHARS].split(","):
        target, _, parameters = part.strip().partition(">")
        relations = parameters.lower().replace('"', " ").replace("=", " ").replace(";", " ").split()
        if target.startswith("<") and "rel" in relations and "license" in relations:
            found.append(_url(url, target[1:]))
    return [one for one in found if one is not None]


def _url(base: str, text: str) -> str | None:
    joined = join(base, text.strip()) if len(text) <= MAX_URL_CHARS else None
    return joined if joined is not None and joined.startswith(("http://", "https://")) else None


# The page


def page_terms(url: str, tree: LexborHTMLParser, elements: Elements, body: bytes, *, agent: str) -> UsageTerms:
    """Return what a page says in its elements: meta, rel=license, itemprop=license, JSON-LD, Dublin Core."""
    metas: dict[str, str] = {}
    statements: list[UsageStatement] = []
    licences: list[str] = []
    for meta in elements.metas:
        name = (meta.get("name") or meta.get("property") or "").strip().lower()
        content = meta.get("content") or ""
        if name in ("robots", agent):
            statements += _directives(content.split(","), f"meta {name}")
        if name in _LICENCE_METAS and content:
            licences += _named_licences(url, content)
        metas.setdefault(name, content)
    if _may_name_licence(body.lower()):
        licences += [found for node in tree.css(_SELECTOR) for found in _element_licence(url, node)]
    for script in elements.linked_data[:MAX_SCRIPTS]:
        licences += _json_licences(url, script) if "licen" in script else []
    reserved = _tdm_terms(url, metas.get("tdm-reservation"), metas.get("tdm-policy"), "meta tdm")
    own = UsageTerms(tuple(statements), tuple(licences))
    return combine_terms(own, reserved) if own or reserved else own


def _may_name_licence(lower: bytes) -> bool:
    """Return whether an attribute may name a licence; most pages only speak of licences in their text."""
    at = -1
    for _ in range(MAX_MENTIONS):
        at = lower.find(b"licen", at + 1)
        if at < 0:
            return False
        before = lower[max(0, at - MAX_VALUE_BYTES) : at]
        for mark in (b'"', b"'", b"="):
            name, sign, _ = before.rpartition(mark)
            name = name.rstrip()
            if sign and (mark == b"=" or name.endswith(b"=")) and name.rstrip(_SIGNS).endswith((b"rel", b"itemprop")):
                return True
    return True


def _element_licence(url: str, node: LexborNode) -> list[str]:
    stated = node.attributes.get("href") or node.attributes.get("content")
    if stated is None:
        return [text[:MAX_SOURCE_CHARS]] if (text := " ".join(node.text().split())) else []
    found = _url(url, stated)
    return [] if found is None else [found]


def _json_licences(url: str, script: str) -> list[str]:
    """Return the licences that the objects of a JSON-LD script name."""
    try:
        waiting: list[Any] = [json.loads(script, strict=False)]
    except (ValueError, RecursionError):
        return []
    found: list[str] = []
    seen = 0
    while waiting and seen < MAX_JSON_VALUES:
        value = waiting.pop()
        seen += 1
        if isinstance(value, Mapping):
            stated = [value[key] for key in _LICENCE_KEYS if key in value]
            found += [one for licence in stated for one in _named_licences(url, licence)]
            waiting += [inner for inner in value.values() if isinstance(inner, dict | list)]
        elif isinstance(value, list):
            waiting += [inner for inner in value if isinstance(inner, dict | list)]
    return found


def _named_licences(url: str, licence: object) -> list[str]:
    if isinstance(licence, list):
        named = [inner for inner in licence[:MAX_LICENCES] if not isinstance(inner, list)]
        return [one for inner in named for one in _named_licences(url, inner)]
    if isinstance(licence, Mapping):
        licence = licence.get("url") or licence.get("@id") or licence.get("name")
    if not isinstance(licence, str) or not licence.strip():
        return []
    text = " ".join(licence.split())[:MAX_SOURCE_CHARS]
    is_name = " " in text or ("/" not in text and ":" not in text)
    return [text if is_name else _url(url, licence) or text]


# Files of the site


def tdmrep_terms(url: str, body: str | bytes) -> UsageTerms:
    """Return what tdmrep.json of its site says about a page: the first rule whose location matches decides."""
    path = normalise_escapes(path_of(url))
    try:
        rules = json.loads(body)
    except (ValueError, RecursionError):
        return UsageTerms()
    for rule in rules[:MAX_RULES] if isinstance(rules, list) else ():
        location = rule.get("location") if isinstance(rule, Mapping) else None
        if isinstance(location, str) and pattern_rank(location, path) is not None:
            policy = rule.get("tdm-policy")
            reserved = str(rule.get("tdm-reservation"))
            return _tdm_terms(url, reserved, policy if isinstance(policy, str) else None, "tdmrep.json")
    return UsageTerms()


def rules_terms(rules: Sequence[tuple[str, str]]) -> UsageTerms:
    """Return the terms of robots.txt lines that apply to a page, as (value, source)."""
    return UsageTerms(tuple(one for value, source in rules for one in parse_preferences(value, source)))
