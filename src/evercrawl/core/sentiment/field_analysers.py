"""What else can be said about a document? Analysers add fields; language and sentiment are the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from evercrawl.core.sentiment.sentences import is_english, page_sentiment
from evercrawl.model.document import Document

FieldValue = str | int | float | bool | None
"""What a field may hold: a value that JSON, SQL and a search index all know."""


MAX_ERROR_CHARS = 200


class Analyser(Protocol):
    """Document in, fields out; found by entry point `evercrawl.analysers`."""

    @property
    def name(self) -> str:
        """The one word that its fields begin with where names would clash."""

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        """The fields of one document, always the same for the same document; no field: nothing to say."""


DetectLanguage = Callable[[str], str | None]
"""A text in, the primary subtag of its language out; None: it is not clear."""


def _english_or_unknown(text: str) -> str | None:
    return "en" if text and is_english(text) else None


def _language_of(document: Document, detect: DetectLanguage) -> str | None:
    """The language that a document names, or else the one that its words say (RFC 5646, primary subtag)."""
    if document.lang:
        return document.lang.replace("_", "-").partition("-")[0].lower()
    return detect(document.text)


@dataclass(frozen=True, slots=True)
class LanguageAnalyser:
    """The language that a document names, or the one that its words say."""

    detect: DetectLanguage = _english_or_unknown
    name: str = "language"

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        """`language` as a primary subtag; none where nothing is known."""
        found = _language_of(document, self.detect)
        return {"language": found} if found else {}


@dataclass(frozen=True, slots=True)
class SentimentAnalyser:
    """How friendly a document in English is, by a method that scores sentences."""

    score: Callable[[str], float]
    detect: DetectLanguage = _english_or_unknown
    name: str = "sentiment"

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        """`sentiment` from -1 to 1 and the sentences that it rests on; none for other languages."""
        found = page_sentiment(document.text, self.score, lang=_language_of(document, self.detect))
        if found is None:
            return {}
        return {"sentiment": round(found.score, 4), "sentiment_sentences": found.sentences}


def analyse_fields(document: Document, analysers: Iterable[Analyser]) -> dict[str, FieldValue]:
    """The fields of all analysers together; a name that is taken gets its analyser's name in front."""
    fields: dict[str, FieldValue] = {}
    for analyser in analysers:
        for field, value in _said_by(analyser, document).items():
            fields[field if field not in fields else f"{analyser.name}_{field}"] = value
    return fields


def _said_by(analyser: Analyser, document: Document) -> Mapping[str, FieldValue]:
    """What it says; an analyser that fails costs its own fields and not the page."""
    try:
        return analyser.analyse(document)
    except Exception as error:
        return {f"{analyser.name}_error": f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]}
