"""Load analysers: built-in ones, those of installed packages (`evercrawl.analysers`) and `module:object`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from types import FunctionType
from typing import Any

from evercrawl.adapters.learned import load_paper_model, load_sentiment_model
from evercrawl.adapters.plugins import load_object
from evercrawl.core.sentiment.field_analysers import Analyser, ItemExtractor, LanguageAnalyser, SentimentAnalyser
from evercrawl.core.sentiment.sentences import ENGLISH_WORDS, FOREIGN_WORDS, LANGUAGES_WITH_SCRIPT, languages_of_script
from evercrawl.errors import ConfigError

ANALYSER_GROUP = "evercrawl.analysers"


MAX_CHARS = 200  # More text hardly improves the detection.
MIN_LETTERS = 20
MIN_ENGLISH_WORDS = 5  # This many common English words, and no foreign ones, identify English without the model.


def language() -> Analyser:
    """Return the analyser of a document's language."""
    return LanguageAnalyser(detect_language)


def sentiment() -> Analyser:
    """Return the analyser of an English document's sentiment."""
    return SentimentAnalyser(load_sentiment_model().score, detect_language)


def paper_sentiment() -> Analyser:
    """Return paper D's naive Bayes, exactly as printed."""
    return SentimentAnalyser(load_paper_model().score, detect_language, "paper-sentiment", clear=0.0)


def paper_sentiment_add_one() -> Analyser:
    """Return paper D's naive Bayes with 1 added to each count."""
    score = partial(load_paper_model().score, add_one=True)
    return SentimentAnalyser(score, detect_language, "paper-sentiment-add-one", clear=0.0)


BUILT_IN: dict[str, Callable[[], Analyser]] = {
    "language": language,
    "sentiment": sentiment,
    "paper-sentiment": paper_sentiment,
    "paper-sentiment-add-one": paper_sentiment_add_one,
}
"""The built-in analysers, which need no entry point."""


def load_analysers(names: Iterable[str], points: Iterable[EntryPoint] | None = None) -> tuple[Analyser, ...]:
    """Return the named analysers, in order; raise ConfigError if one is missing or invalid."""
    names = list(dict.fromkeys(names))
    if not names:
        return ()
    found = {point.name: point for point in (entry_points(group=ANALYSER_GROUP) if points is None else points)}
    return tuple(_load(name, found) for name in names)


def _load(name: str, points: dict[str, EntryPoint]) -> Analyser:
    if ":" in name:
        return _validate(load_object(name, "analyser", "my_analysers:Keywords"), name)
    if name in BUILT_IN:
        return BUILT_IN[name]()
    if name not in points:
        known = ", ".join(sorted({*BUILT_IN, *points}))
        raise ConfigError(f"there is no analyser {name!r}; choose from {known}, or write module:object")
    try:
        made: Any = points[name].load()
        return _validate(made() if callable(made) else made, name)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"analyser {name!r} cannot be used: {type(error).__name__}: {error}") from error


def _validate(found: Any, name: str) -> Analyser:
    if isinstance(found, FunctionType):
        return ItemExtractor(found, found.__name__)
    if not callable(getattr(found, "analyse", None)) or not isinstance(getattr(found, "name", None), str):
        raise ConfigError(
            f"analyser {name!r} needs a name and a method analyse(document), or is a function that yields items"
        )
    return found  # type: ignore[no-any-return]


def detect_language(text: str) -> str | None:
    """Return the language code of a text (offline, by its script or by CLD3), or None if it is too short or unclear."""
    words = text[: 2 * MAX_CHARS].split()
    if len(ENGLISH_WORDS.intersection(words)) >= MIN_ENGLISH_WORDS and FOREIGN_WORDS.isdisjoint(words):
        return "en"
    start = " ".join(words)[:MAX_CHARS].encode("utf-8", "ignore").decode()  # Without lone surrogates.
    letters = [char for char in start if char.isalpha()]
    if len(letters) < MIN_LETTERS:
        return None
    languages = languages_of_script(letters)
    if len(languages) == 1:
        return languages[0]
    found = _detector().FindLanguage(text=start)
    lang = {"iw": "he", "fil": "tl"}.get(found.language) or str(found.language).partition("-")[0]
    fits = lang in languages if languages else lang not in LANGUAGES_WITH_SCRIPT
    return lang if found.is_reliable and fits else None


@lru_cache(maxsize=1)
def _detector() -> Any:
    from gcld3 import NNetLanguageIdentifier  # Imported late: most pages declare their language.

    return NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=4 * MAX_CHARS)
