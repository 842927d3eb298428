"""Load analysers by name, module and entry point."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint

import pytest

from evercrawl.adapters.analysers import detect_language, load_analysers
from evercrawl.core.sentiment.field_analysers import analyse_fields
from evercrawl.errors import ConfigError
from evercrawl.model.document import Document, FieldValue


class Shouting:
    name = "shouting"

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        return {"shouting": document.text.isupper()}


class Broken:
    name = "broken"

    def analyse(self, document: Document) -> Mapping[str, FieldValue]:
        raise ZeroDivisionError("by zero")


def document(text: str, lang: str | None = None) -> Document:
    return Document("utf-8", "http://a.test/", text=text, lang=lang)


def test_built_in_analysers():
    text = "What a wonderful, touching film this is. I loved every minute of it."
    said = analyse_fields(document(text), load_analysers(["language", "sentiment"]))
    assert said["language"] == "en"
    assert isinstance(said["sentiment"], float)
    assert said["sentiment"] > 0.3


@pytest.mark.parametrize(
    "text",
    [
        "Ein wunderbarer Film, der mich sehr bewegt hat. Ich mochte jede Minute.",
        "C'est un film magnifique et touchant que j'ai beaucoup aimé.",
        "とても素晴らしい映画でした。毎分が楽しかったです。",
    ],
)
def test_other_languages_have_no_score(text: str):
    said = analyse_fields(document(text), load_analysers(["language", "sentiment"]))
    assert set(said) == {"language"}
    assert said["language"] != "en"


def test_the_declared_language_wins():
    assert analyse_fields(document("Good. Very good.", "de-AT"), load_analysers(["language", "sentiment"])) == {
        "language": "de"
    }


def test_a_short_text_has_no_clear_language():
    assert detect_language("ok") is None


def test_modules_and_entry_points():
    here = f"{__name__}:Shouting"
    point = EntryPoint("loud", here, "evercrawl.analysers")
    for names, points in (([here], []), (["loud"], [point])):
        assert analyse_fields(document("HEY"), load_analysers(names, points)) == {"shouting": True}


def test_a_failing_analyser_only_loses_its_own_fields():
    analysers = load_analysers([f"{__name__}:Broken", f"{__name__}:Shouting"])
    assert analyse_fields(document("x"), analysers) == {"broken_error": "ZeroDivisionError: by zero", "shouting": False}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "choose from language, paper-sentiment"),
        ("no_such_module:X", "no module"),
        ("json:decoder", "needs a name and a method"),
        (f"{__name__}:Nothing", "has no object"),
    ],
)
def test_unusable_analysers_are_reported(name: str, message: str):
    with pytest.raises(ConfigError, match=message):
        load_analysers([name], [])


def test_a_broken_entry_point_is_reported():
    with pytest.raises(ConfigError, match="odd"):
        load_analysers(["odd"], [EntryPoint("odd", "no_such_module:X", "evercrawl.analysers")])
