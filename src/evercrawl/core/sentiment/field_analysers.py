"""Analysers that add fields to a document: language and sentiment, and those of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from evercrawl.core.items import ITEMS_KEY, ExtractItems, ItemPage, extract_items
from evercrawl.core.sentiment.sentences import CLEAR_SCORE, is_english, page_sentiment
from evercrawl.model.document import Document, FieldValue

MAX_ERROR_CHARS = 200


class Analyser(Protocol):
    """Returns fields for a document; found by the entry point `evercrawl.analysers`. With a method `extract(page)` it
    yields items too."""

    @property
    def name(self) -> str:
        """The word that its fields begin with if names clash."""

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        """Return the fields of a document, always the same for the same document."""


DetectLanguage = Callable[[str], str | None]  # Text -> primary language subtag; None if unclear.


def _english_or_unknown(text: str) -> str | None:
    return "en" if text and is_english(text) else None


def _language_of(document: Document, detect: DetectLanguage) -> str | None:
    """Return the language that a document declares, else the detected one (RFC 5646, primary subtag)."""
    return document.lang.replace("_", "-").partition("-")[0].lower() if document.lang else detect(document.text)


@dataclass(frozen=True, slots=True)
class LanguageAnalyser:
    """Adds the language of a document."""

    detect: DetectLanguage = _english_or_unknown
    name: str = "language"

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        """Return `language` as a primary subtag, if known."""
        found = _language_of(document, self.detect)
        return {"language": found} if found else {}


@dataclass(frozen=True, slots=True)
class SentimentAnalyser:
    """Adds the sentiment of an English document."""

    score: Callable[[str], float]
    detect: DetectLanguage = _english_or_unknown
    name: str = "sentiment"
    clear: float = CLEAR_SCORE  # Score from which a sentence is positive or negative.

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        """Return `sentiment` from -1 to 1 and the numbers of its sentences; nothing for other languages."""
        lang = _language_of(document, self.detect)
        found = page_sentiment(document.text, self.score, lang=lang, clear=self.clear)
        if found is None:
            return {}
        return {
            "sentiment": round(found.score, 4),
            "sentiment_sentences": found.sentences,
            "sentiment_positive": found.positive,
            "sentiment_negative": found.negative,
        }


@dataclass(frozen=True, slots=True)
class ItemExtractor:
    """An analyser made of a function that yields the items of a page."""

    extract: ExtractItems
    name: str

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        """Return no fields."""
        return {}


def analyse_items(page: ItemPage, analysers: Iterable[Analyser]) -> dict[str, Any]:
    """Return the items of all analysers that extract some, and the errors of those that failed."""
    found: dict[str, Any] = {}
    for analyser in analysers:
        if callable(extract := getattr(analyser, "extract", None)):
            results = extract_items(page, analyser.name, extract)
            items = [*found.get(ITEMS_KEY, ()), *results.pop(ITEMS_KEY, ())]
            found |= results | ({ITEMS_KEY: items} if items else {})
    return found


def analyse_fields(document: Document, analysers: Iterable[Analyser]) -> dict[str, FieldValue]:
    """Return the fields of all analysers; a taken name gets its analyser's name in front."""
    fields: dict[str, FieldValue] = {}
    for analyser in analysers:
        for field, value in _run_analyser(analyser, document).items():
            fields[field if field not in fields else f"{analyser.name}_{field}"] = value
    return fields


def _run_analyser(analyser: Analyser, document: Document) -> Mapping[str, FieldValue]:
    """Run an analyser; if it fails, only its own fields are lost."""
    try:
        return analyser.analyse(document)
    except Exception as error:
        return {f"{analyser.name}_error": f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]}
