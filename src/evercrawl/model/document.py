"""A parsed document: text, links, metadata and directives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evercrawl.errors import ConfigError

USES: dict[str, str] = {
    "search": "finding the page, with a link and short excerpts",
    "ai-input": "input of a generative model, such as answers from retrieved pages",
    "ai-train": "training of generative models",
    "ai-train-images": "training of generative models with the images of the page",
    "tdm": "text and data mining",
}
"""The uses that publishers speak about, in our words (those of Content Signals and TDMRep)."""
_INCLUDED_IN = {"ai-train": ("ai-train", "tdm"), "ai-train-images": ("ai-train-images", "ai-train", "tdm")}
"""Uses that are part of others: who refuses one of these refuses the use."""
USAGE_KEY = "usage"
"""The name under which the terms are stored with a version."""


class UsageStatement(NamedTuple):
    """One statement: whether a use is allowed, and where and how that was said."""

    use: str
    is_allowed: bool
    source: str


@dataclass(frozen=True, slots=True)
class UsageTerms:
    """Everything that was said about one version when it was fetched. Silence is neither yes nor no."""

    statements: tuple[UsageStatement, ...] = ()
    licences: tuple[str, ...] = ()  # URLs or names.
    policies: tuple[str, ...] = ()  # URLs of TDM policies.

    def __bool__(self) -> bool:
        return bool(self.statements or self.licences or self.policies)

    def preference(self, use: str) -> bool | None:
        """Return whether a use is allowed, by the most restrictive statement; None: nobody said."""
        said = [one.is_allowed for one in self.statements if one.use == use]
        return all(said) if said else None

    def refusal(self, use: str) -> str | None:
        """Return the statement that refuses a use; None: no statement does."""
        uses = _INCLUDED_IN.get(use, (use,))
        return next((one.source for one in self.statements if one.use in uses and not one.is_allowed), None)

    def summary(self) -> dict[str, Any]:
        """Return the terms for readers: each use with y or n, licences, policies and sources; empty: nothing said."""
        said = {use: self.preference(use) for use in USES}
        found: dict[str, Any] = {use: "y" if allowed else "n" for use, allowed in said.items() if allowed is not None}
        lists = {"licences": self.licences, "tdm_policies": self.policies}
        found |= {name: list(values) for name, values in lists.items() if values}
        if self.statements:
            found["sources"] = list(dict.fromkeys(one.source for one in self.statements))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the terms as they are stored."""
        lists = {"statements": self.statements, "licences": self.licences, "tdm_policies": self.policies}
        return {name: [*values] for name, values in lists.items() if values}


def require_use(use: str | None) -> None:
    """Raise ConfigError if there is no such use."""
    if use is not None and use not in USES:
        raise ConfigError(f"there is no use {use!r}; choose from {', '.join(USES)}")


def usage_text(summary: Mapping[str, Any]) -> str:
    """Return a summary in one line; empty: nothing was said."""
    uses = [f"{use}: {'yes' if summary[use] == 'y' else 'no'}" for use in USES if use in summary]
    licences = [f"licence {one}" for one in summary.get("licences", ())]
    policies = [f"TDM policy {one}" for one in summary.get("tdm_policies", ())]
    sources = f" ({'; '.join(summary['sources'])})" if summary.get("sources") else ""
    return ", ".join([*uses, *licences, *policies]) + sources


def terms_from(fields: Mapping[str, Any] | None) -> UsageTerms:
    """Return the terms of a version from what was stored with it."""
    if not fields:
        return UsageTerms()
    statements = tuple(UsageStatement(*one) for one in fields.get("statements", ()))
    return UsageTerms(statements, tuple(fields.get("licences", ())), tuple(fields.get("tdm_policies", ())))


class Link(NamedTuple):
    """A link: absolute WHATWG URL without fragment, anchor text, and whether it is nofollow."""

    url: str
    text: str
    nofollow: bool


class Alternate(NamedTuple):
    """An alternate form of the page: a translation, a feed, a format."""

    url: str
    hreflang: str | None
    type: str | None


class Refresh(NamedTuple):
    """A meta refresh (or Refresh header): after `delay` seconds go to `url`."""

    delay: float
    url: str


@dataclass(frozen=True, slots=True)
class Directives:
    """The robots directives that apply to us, from meta elements and X-Robots-Tag."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed response. Links are absolute, without fragment, in document order, each once."""

    encoding: str
    base_url: str
    title: str | None = None
    lang: str | None = None
    links: tuple[Link, ...] = ()
    embeds: tuple[str, ...] = ()
    canonical: str | None = None
    alternates: tuple[Alternate, ...] = ()
    feeds: tuple[str, ...] = ()
    refresh: Refresh | None = None
    robots: Directives = field(default_factory=Directives)
    terms: UsageTerms = field(default_factory=UsageTerms)  # What the elements of the page say about its use.
    text: str = ""
    author: str | None = None
    published: str | None = None  # ISO 8601, with the precision of the page.
    modified: str | None = None
    headings: tuple[str, ...] = ()  # Headings of the first three levels, in document order; empty if not requested.
    snapshot: bytes | None = None  # The packed snapshot for comparisons; None: not requested, or not HTML.
    is_list: bool = False  # A feed: its text is a list of entries.
    unread: int = 0  # Bytes at the end of the body that were not parsed, because of nesting or size limits.
    stopped: str | None = None  # Why the parser was ended early, so that text and links may be missing.


class Outline(NamedTuple):
    """Headings and links of a page."""

    headings: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    noindex: bool = False  # The page is marked noindex.


FieldValue = str | int | float | bool | None  # A value that JSON, SQL and a search index all know.
