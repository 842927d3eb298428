"""Analysers return fields for a document."""

from __future__ import annotations

from collections.abc import Mapping

from evercrawl.core.sentiment.field_analysers import Analyser, LanguageAnalyser, SentimentAnalyser, analyse_fields
from evercrawl.model.document import Document, FieldValue


def document(text: str, lang: str | None = None) -> Document:
    return Document("utf-8", "http://a.test/", text=text, lang=lang)


def test_language_and_sentiment():
    analysers: list[Analyser] = [LanguageAnalyser(), SentimentAnalyser(lambda _: 0.5)]
    fields = analyse_fields(document("This is the one. It is good.", "en-US"), analysers)
    counts = {"sentiment_sentences": 2, "sentiment_positive": 2, "sentiment_negative": 0}
    assert fields == {"language": "en", "sentiment": 0.5, **counts}


def test_unknown_fields_are_left_out():
    analysers: list[Analyser] = [LanguageAnalyser(), SentimentAnalyser(lambda _: 0.5)]
    assert analyse_fields(document("Das ist nicht gut.", "de"), analysers) == {"language": "de"}
    assert analyse_fields(document("Das ist nicht gut."), analysers) == {}


def test_a_taken_name_gets_the_analyser_name():
    class Alarm:
        name = "alarm"

        def analyse(self, document: Document) -> Mapping[str, FieldValue]:
            return {"language": "fire" in document.text}

    fields = analyse_fields(document("fire", "en"), [LanguageAnalyser(), Alarm()])
    assert fields == {"language": "en", "alarm_language": True}
