"""Parser of search queries: words, "literal phrases", -excluded, OR, and operators such as site: and as-of:.
An operator value that cannot be read is an error that shows a valid one. What only looks like an operator (`std::move`,
`https://...`) is words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from evercrawl.core.document.media_type import MEDIA_KINDS
from evercrawl.errors import ConfigError
from evercrawl.model.search import Query, QueryField, Term, Tone
from evercrawl.model.time import parse_time

MAX_QUERY_CHARS = 2000
MAX_TERMS = 64

_PART = re.compile(r'(?P<sign>[-+]?)(?:(?P<name>[A-Za-z][A-Za-z-]*):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_COMPARED = re.compile(r"[<>](?=-?\d)")
_LANG = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]+)*", re.IGNORECASE)
_SITE = re.compile(r"[^\s/]+(?:/\S*)?")
_SENTIMENTS = {
    "pos": Tone.POSITIVE, "positive": Tone.POSITIVE, "neg": Tone.NEGATIVE, "negative": Tone.NEGATIVE,
    "neutral": Tone.NEUTRAL,
}  # fmt: skip
_EMPTY_QUERY = Query()


@dataclass(slots=True)
class _Draft:
    """A query while it is parsed."""

    now: datetime
    query: Query = _EMPTY_QUERY
    joins: bool = False  # OR precedes the next term.

    def add(self, term: Term, *, negative: bool) -> None:
        groups = self.query.groups
        if negative:
            self.query = replace(self.query, without=(*self.query.without, term))
        elif self.joins and groups:
            self.query = replace(self.query, groups=(*groups[:-1], (*groups[-1], term)))
        else:
            self.query = replace(self.query, groups=(*groups, (term,)))
        self.joins = False


_Operator = Callable[[_Draft, str, bool], None]  # Draft, value and whether it is excluded.


def parse_query(text: str, *, now: datetime) -> Query:
    """Parse a query; raises ConfigError if an operator cannot be read or the query is empty."""
    if len(text) > MAX_QUERY_CHARS:
        raise ConfigError(f"the query has {len(text)} characters; the limit is {MAX_QUERY_CHARS}")
    draft = _Draft(now)
    for match in _PART.finditer(text):
        _add_part(draft, match)
    _check(draft.query, text)
    return draft.query


def _check(query: Query, text: str) -> None:
    terms = sum(map(len, query.groups)) + len(query.without)
    if terms > MAX_TERMS:
        raise ConfigError(f"the query has {terms} words; the limit is {MAX_TERMS}")
    filters = (query.sites, query.langs, query.changed_from, query.changed_until, query.tone, query.kinds, query.values)
    if query.groups or any(filters):
        return
    if query.without or query.not_sites:
        raise ConfigError(f"the query {text!r} only excludes; add a word to search for")
    raise ConfigError("the query is empty; enter words, for example: evercrawl search crash safety")


def _add_part(draft: _Draft, match: re.Match[str]) -> None:
    negative = match["sign"] == "-"
    name = (match["name"] or "").lower()
    value = match["phrase"] if match["phrase"] is not None else match["word"]
    if match["word"] is not None and not name and value.endswith(":") and value[:-1].lower() in _OPERATORS:
        raise ConfigError(f"{value} needs a value, for example {_EXAMPLES[value[:-1].lower()]}")
    operator = _OPERATORS.get(name)
    if operator is not None:
        _apply_operator(draft, operator, name, value.strip(), negative=negative)
    elif name and match["phrase"] is None:
        draft.add(Term(f"{match['name']}:{value}"), negative=negative)
    elif match["word"] == "OR" and not match["sign"]:
        draft.joins = True
    elif any(char.isalnum() or char > "\x7f" for char in value):  # Signs beyond ASCII, such as emoji, are searchable.
        draft.add(Term(value.strip(), match["phrase"] is not None), negative=negative)


def _apply_operator(draft: _Draft, operator: _Operator, name: str, value: str, *, negative: bool) -> None:
    if not value:
        raise ConfigError(f"{name}: needs a value, for example {_EXAMPLES[name]}")
    if negative and name not in ("site", "title", "url", "inurl", "intitle"):
        raise ConfigError(f"-{name}: is not supported; you can exclude words, site:, title: and url:")
    operator(draft, value, negative)


def _site(draft: _Draft, value: str, negative: bool) -> None:
    place = re.sub(r"^[a-z][a-z0-9+.-]*://", "", value.lower()).rstrip("/")
    if not _SITE.fullmatch(place):
        raise ConfigError(f"site:{value} is not a site; write it like {_EXAMPLES['site']}")
    query = draft.query
    if negative:
        draft.query = replace(query, not_sites=(*query.not_sites, place))
    else:
        draft.query = replace(query, sites=(*query.sites, place))


def _lang(draft: _Draft, value: str, negative: bool) -> None:
    if not _LANG.fullmatch(value):
        raise ConfigError(f"lang:{value} is not a language code; write it like {_EXAMPLES['lang']}")
    draft.query = replace(draft.query, langs=(*draft.query.langs, primary_language(value)))


def _field_operator(place: QueryField) -> _Operator:
    def take(draft: _Draft, value: str, negative: bool) -> None:
        draft.add(Term(value, " " in value, place), negative=negative)

    return take


def _changed(draft: _Draft, value: str, negative: bool) -> None:
    """Set the time range: `>7d` later than seven days ago, `<2026-05` before that month, `2026-05` within it."""
    sign, moment = (value[0], value[1:].lstrip("=")) if value[0] in "<>" else ("", value)
    try:
        first = parse_time(moment, now=draft.now)
        last = parse_time(moment, now=draft.now, at_end=True)
    except ConfigError as error:
        raise ConfigError(f"changed:{value} cannot be read: {error}") from None
    if sign == "<":
        draft.query = replace(draft.query, changed_until=first)
    elif sign == ">" or first == last:
        draft.query = replace(draft.query, changed_from=first)
    else:
        draft.query = replace(draft.query, changed_from=first, changed_until=last)


def _sentiment(draft: _Draft, value: str, negative: bool) -> None:
    if value.lower() not in _SENTIMENTS:
        raise ConfigError(f"sentiment:{value} is not a sentiment; write pos, neg or neutral")
    draft.query = replace(draft.query, tone=_SENTIMENTS[value.lower()])


def _as_of(draft: _Draft, value: str, negative: bool) -> None:
    try:
        draft.query = replace(draft.query, as_of=parse_time(value, now=draft.now, at_end=True))
    except ConfigError as error:
        raise ConfigError(f"as-of:{value} cannot be read: {error}") from None


def _kind(draft: _Draft, value: str, negative: bool) -> None:
    if value.lower() not in MEDIA_KINDS:
        raise ConfigError(f"type:{value} is not a type; write one of {', '.join(MEDIA_KINDS)}")
    draft.query = replace(draft.query, kinds=(*draft.query.kinds, value.lower()))


def _value(draft: _Draft, value: str, negative: bool) -> None:
    from evercrawl.core.fields.conditions import parse_condition

    text = _COMPARED.sub(lambda sign: " below " if sign[0] == "<" else " above ", value)
    condition = parse_condition(text)
    if condition.kind in ("step", "share", "disappears") or negative:
        raise ConfigError(f'field:{value} cannot be searched; write field:"price below 50" or field:price')
    draft.query = replace(draft.query, values=(*draft.query.values, text))


_OPERATORS: dict[str, _Operator] = {
    "site": _site,
    "lang": _lang,
    "title": _field_operator(QueryField.TITLE),
    "intitle": _field_operator(QueryField.TITLE),
    "url": _field_operator(QueryField.URL),
    "inurl": _field_operator(QueryField.URL),
    "changed": _changed,
    "sentiment": _sentiment,
    "type": _kind,
    "field": _value,
    "as-of": _as_of,
    "asof": _as_of,
}
_EXAMPLES = {
    "site": "site:example.org", "lang": "lang:de", "title": "title:guide", "intitle": "intitle:guide",
    "url": "url:docs", "inurl": "inurl:docs", "changed": "changed:>7d", "sentiment": "sentiment:neg",
    "as-of": "as-of:2026-05", "asof": "asof:2026-05",
    "type": "type:pdf", "field": 'field:"price below 50"',
}  # fmt: skip


def primary_language(tag: str) -> str:
    """Return the language of a tag without its region: `en` of en-GB (RFC 5646 section 2.2.1)."""
    return re.split(r"[-_]", tag.strip().lower(), maxsplit=1)[0]
