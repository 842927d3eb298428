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


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Der Hafen liegt geschützt hinter der Mole, und die Boote kommen am Abend zurück.", "de"),
        ("Le port est protégé par la jetée, et les bateaux reviennent le soir avec leur pêche.", "fr"),
        ("De haven ligt beschut achter de pier, en de boten komen 's avonds terug.", "nl"),
        ("Hamnen ligger skyddad bakom piren, och båtarna kommer tillbaka på kvällen.", "sv"),
        ("Гавань защищена молом, и лодки возвращаются вечером с уловом.", "ru"),
        ("Гавань захищена молом, і човни повертаються ввечері з уловом.", "uk"),
        ("المرفأ محمي خلف الرصيف والقوارب تعود في المساء مع صيدها.", "ar"),
        ("港口位于防波堤后面，船只在傍晚带着渔获返回，市场随即开门。", "zh"),
        ("港は防波堤の後ろにあり、船は夕方に漁から戻ってきます。", "ja"),
        ("항구는 방파제 뒤에 있고 배들은 저녁에 고기를 잡아 돌아옵니다.", "ko"),
        ("הנמל מוגן מאחורי שובר הגלים והסירות חוזרות בערב עם הדגה.", "he"),
        ("Το λιμάνι είναι προστατευμένο πίσω από τον μόλο και οι βάρκες επιστρέφουν.", "el"),
        ("ნავსადგური დაცულია და ნავები საღამოს ბრუნდებიან თევზით.", "ka"),
        ("ท่าเรืออยู่หลังเขื่อนกันคลื่น และเรือกลับมาในตอนเย็น", "th"),
        ("बंदरगाह दीवार के पीछे सुरक्षित है और नावें शाम को लौटती हैं।", "hi"),
        ("Ang daungan ay protektado sa likod ng pantalan, at ang mga bangka ay bumabalik sa gabi.", "tl"),
    ],
)
def test_languages_are_detected_by_their_common_codes(text: str, lang: str):
    assert detect_language(text) == lang


def test_no_language_of_another_script_is_named():
    syriac = "ܠܡܐܢܐ ܣܬܝܪ ܒܬܪ ܫܘܪܐ ܘܐܠܦܐ ܗܦܟܢ ܒܪܡܫܐ ܥܡ ܢܘܢܐ"
    assert detect_language(syriac) not in {"en", "hi", "ka", "zh", "ja", "ko", "he"}
    assert detect_language("ދިވެހި ބަހުން ލިޔެފައިވާ މި ޖުމްލަ ވަރަށް ދިގު ޖުމްލައެކެވެ") == "dv"


def test_text_that_is_not_valid_unicode_is_read():
    assert detect_language("\ud800 Der Hafen liegt geschützt hinter der Mole, und die Boote kommen zurück.") == "de"


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
