"""Analysers: packages offer them by entry point `evercrawl.analysers`; `module:object` names one besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from evercrawl.adapters.language import language_of
from evercrawl.adapters.learned import default_sentiment
from evercrawl.adapters.plugins import load_object
from evercrawl.core.sentiment.field_analysers import Analyser, LanguageAnalyser, SentimentAnalyser
from evercrawl.errors import ConfigError

GROUP = "evercrawl.analysers"


def language() -> Analyser:
    """Which language a document is written in."""
    return LanguageAnalyser(language_of)


def sentiment() -> Analyser:
    """How friendly a document in English is, by the default method."""
    return SentimentAnalyser(default_sentiment().score, language_of)


OURS: dict[str, Callable[[], Analyser]] = {"language": language, "sentiment": sentiment}
"""Those of this package, whatever the metadata of the installation says."""


def load_analysers(names: Iterable[str], points: Iterable[EntryPoint] | None = None) -> tuple[Analyser, ...]:
    """The analysers of these names, in order; ConfigError for one that is not there or cannot be used."""
    names = list(dict.fromkeys(names))
    if not names:
        return ()
    found = {point.name: point for point in (entry_points(group=GROUP) if points is None else points)}
    return tuple(_loaded(name, found) for name in names)


def _loaded(name: str, points: dict[str, EntryPoint]) -> Analyser:
    if ":" in name:
        return _usable(load_object(name, "analyser", "my_analysers:Keywords"), name)
    if name in OURS:
        return OURS[name]()
    if name not in points:
        known = ", ".join(sorted({*OURS, *points}))
        raise ConfigError(f"there is no analyser {name!r}; installed are {known}; or write module:object")
    try:
        made: Any = points[name].load()
        return _usable(made() if callable(made) else made, name)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"analyser {name!r} cannot be used: {type(error).__name__}: {error}") from error


def _usable(found: Any, name: str) -> Analyser:
    if not callable(getattr(found, "analyse", None)) or not isinstance(getattr(found, "name", None), str):
        raise ConfigError(f"analyser {name!r} needs a name and a method analyse(document)")
    return found  # type: ignore[no-any-return]
