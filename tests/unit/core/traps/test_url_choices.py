from __future__ import annotations

from evercrawl.core.traps.url_choices import MAX_CHOICES, Choices, is_kind, learn_choices, patterns_with_choices
from evercrawl.core.traps.url_pattern import Breadth

SITE = "http://a.test"


def name_of(choices: Choices, url: str) -> str:
    return patterns_with_choices(choices, SITE + url)[0].name


def learned(urls: list[str]) -> Choices:
    choices: Choices = {}
    for url in urls:
        choices = learn_choices(choices, SITE + url)
    return choices


def titles(count: int) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [f"{letters[one % 26]}{letters[one // 26]}" for one in range(count)]


def test_a_parameter_with_few_values_is_a_choice_and_one_with_many_a_variable() -> None:
    choices = learned([f"/index.php?title={one}&action=history" for one in titles(MAX_CHOICES + 1)])
    assert name_of(choices, "/index.php?title=xx&action=history") == "/index.php?action=history&title"
    assert name_of(choices, "/index.php?title=xx&action=raw") == "/index.php?action=raw&title"


def test_numbers_are_no_choices() -> None:
    assert name_of({}, "/list?page=7") == "/list?page"


def test_semicolons_separate_parameters() -> None:
    assert name_of({}, "/?p=x.git;a=blob;h=12ab34cd56") == name_of({}, "/?p=x.git&a=blob&h=12ab34cd56")
    assert name_of({}, "/?p=x.git;a=blob;h=12ab34cd56") == "/?a=blob&h&p=x.git"


def test_words_of_the_path_are_choices_before_parameters_only() -> None:
    assert name_of({}, "/small/diff/?id=12ab34cd56") == "/small/diff/?id"
    assert name_of({}, "/small/diff/readme") == "/small/{word}/{word}"


def test_the_variant_comes_before_the_shape() -> None:
    kinds = [pattern.breadth for pattern in patterns_with_choices({}, f"{SITE}/index.php?action=raw&id=7")]
    assert kinds[:2] == [Breadth.VARIANT, Breadth.SHAPE]


def test_a_rule_can_name_a_kind_by_its_choices() -> None:
    url = f"{SITE}/index.php?action=raw&title=Foo"
    assert is_kind("/index.php?action=raw&title", url)
    assert not is_kind("/index.php?action=edit&title", url)
    assert not is_kind("/index.php?action=raw", url)
    assert is_kind("/small/diff/?id", f"{SITE}/small/diff/?id=7")
    assert not is_kind("/small/tree/?id", f"{SITE}/small/diff/?id=7")
