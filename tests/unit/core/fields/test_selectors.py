"""Selectors of every language, and what they refuse."""

from __future__ import annotations

import json

import pytest

from evercrawl.core.fields.reading import compare_fields, read_field, read_fields, rules_for
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.errors import ConfigError
from evercrawl.model.fields import FieldReading, FieldRule, FieldType

PAGE = PagePart(
    '<main><h1>Kettle</h1><p class=price content="49.90">49,90 &euro;</p><ul><li>Red<li>Blue</ul>'
    "<table><tr><td>Weight<td>1.2 kg</table></main>",
    "Kettle\n49,90 €\nRed\nBlue\nVersion 1.4.2",
)
JSON = PagePart('{"items": [{"name": "Kettle", "price": 49.9}, {"name": "Pot", "price": 20}]}', "", is_html=False)
XML = PagePart('<?xml version="1.0"?><rates><rate c="USD">1.08</rate></rates>', "", is_html=False)


@pytest.mark.parametrize(
    ("selector", "page", "expected"),
    [
        ("css:.price", PAGE, ["49,90 €"]),
        (".price", PAGE, ["49,90 €"]),
        ("css:li", PAGE, ["Red", "Blue"]),
        ("css:.price::attr(content)", PAGE, ["49.90"]),
        ("css:h1::html", PAGE, ["<h1>Kettle</h1>"]),
        ("xpath://tr/td[2]", PAGE, ["1.2 kg"]),
        ("xpath:count(//li)", PAGE, ["2"]),
        ("xpath://li/text()", PAGE, ["Red", "Blue"]),
        ("xpath://rate[@c='USD']", XML, ["1.08"]),
        ("json:$.items[?@.name == 'Pot'].price", JSON, ["20"]),
        ("json:$.items[*].name", JSON, ["Kettle", "Pot"]),
        ("text:Version (\\S+)", PAGE, ["1.4.2"]),
        ("text:R\\w+", PAGE, ["Red"]),
        ("css:.gone", PAGE, []),
        ("json:$.a", PAGE, []),
    ],
)
def test_selectors(selector: str, page: PagePart, expected: list[str]):
    assert parse_selector(selector)(page) == expected


@pytest.mark.parametrize("selector", ["css:p[", "xpath://[", "json:$[", "text:(", "css:", "text:(?=x)"])
def test_bad_selectors_are_refused(selector: str):
    with pytest.raises(ConfigError):
        parse_selector(selector)


def test_fields_have_types():
    price = FieldRule("price", ("*",), ".price", FieldType.NUMBER)
    colours = FieldRule("colours", ("*",), "li", FieldType.LIST)
    gone = FieldRule("gone", ("*",), ".gone", FieldType.NUMBER)
    assert read_fields(PAGE, (price, colours, gone)) == {
        "price": FieldReading(49.9, "49,90 €", "EUR", ".price"),
        "colours": FieldReading(("Red", "Blue"), "Red\nBlue", select="li"),
        "gone": FieldReading(None),
    }


def test_a_text_without_a_value_of_its_type_is_not_lost():
    title = FieldRule("title", ("*",), "h1", FieldType.DATE)
    assert read_field(PAGE, title) == FieldReading(None, "Kettle", select="h1")


def test_rules_apply_to_their_pages():
    one = FieldRule("one", ("https://a.example/shop/*",), "h1")
    two = FieldRule("two", ("https://a.example/",), "h1")
    assert rules_for("https://a.example/shop/1", (one, two)) == (one,)
    assert rules_for("https://a.example/", (one, two)) == (two,)


def test_a_difference_says_whether_the_selector_was_lost():
    before = {"price": FieldReading(49.9, "49,90 €", "EUR"), "name": FieldReading("Kettle", "Kettle")}
    (raised,) = compare_fields(before, {"price": FieldReading(52, "52 €", "EUR"), "name": before["name"]})
    assert (raised.name, raised.is_lost) == ("price", False)
    (lost,) = compare_fields(before, {"price": FieldReading(None)})
    assert lost.is_lost
    assert compare_fields({}, before) == ()


@pytest.mark.parametrize("name", ["match", "search"])
def test_expressions_in_json_paths_take_linear_time(name: str) -> None:
    texts = json.dumps([{"a": "a" * 5000 + "!"}, {"a": "aab"}, {"a": "(", "b": "("}])
    page = PagePart(texts, "", is_html=False)
    assert parse_selector(f"json:$[?{name}(@.a, '(a+)+b')].a")(page) == ["aab"]
    assert parse_selector(f"json:$[?{name}(@.a, @.b)].a")(page) == []  # Not an expression.


def test_json_paths_with_other_expressions_are_refused() -> None:
    with pytest.raises(ConfigError, match="use match"):
        parse_selector("json:$[?@.a =~ /(a+)+b/]")


@pytest.mark.parametrize(
    "markup",
    [
        "<p><b>Weight:</b> 4 kg</p>",
        "<li>Weight: <span>4 kg</span></li>",
        "<h3>Weight</h3><div><p>4 kg</p></div>",
        "<div><span>Weight</span><span>4 kg</span></div>",
        "<p>Weight: 4 kg</p>",
        "<p><strong>4 kg</strong> weight</p>",
        "<table><tr><td>Weight<td>4 kg<tr><td>Colour<td>red</table>",
        "<p><b>Size:</b> 3 m <b>Weight:</b> 4 kg <b>Colour:</b> red</p>",
    ],
)
def test_a_label_selects_what_stands_beside_it(markup: str):
    assert parse_selector("label:Weight")(PagePart(f"<h1>Kettle</h1>{markup}<p>More</p>", "")) == ["4 kg"]


def test_a_label_beside_another_label_has_no_value():
    assert parse_selector("label:Weight")(PagePart("<ul><li>Weight</li><li>Colour</li></ul>", "")) == []


def test_earlier_prices_do_not_count_also_where_screen_readers_read_them():
    sale = PagePart(
        "<p class=price><del>&euro;62.38</del> <span class=hidden>Original price was: &euro;62.38.</span>"
        "<ins><bdi>&euro;49.90</bdi></ins><span class=hidden>Current price is: &euro;49.90.</span></p>"
        "<div><del><i>8</i></del><i>5</i></div>",
        "",
    )
    assert read_field(sale, FieldRule("price", ("*",), "css:p.price", FieldType.NUMBER)).value == 49.9
    assert parse_selector("css:div i")(sale) == ["5"]
