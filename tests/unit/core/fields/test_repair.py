"""Selectors that stop matching are repaired from what the page was before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evercrawl.core.fields.outline import PageOutline, is_generated, robust_selectors
from evercrawl.core.fields.reading import compare_page_fields, page_part, read_field, repair_missing
from evercrawl.core.fields.selectors import PagePart
from evercrawl.model.fields import FieldRepair, FieldRule, FieldType
from tests.worlds.values.others import OTHERS
from tests.worlds.values.software import SOFTWARE
from tests.worlds.values.traditions import TRADITIONS
from tests.worlds.values.watch import watch_all

PRICE = FieldRule("price", ("*",), "css:.price", FieldType.NUMBER)
BODY = "<h1>Kettle</h1><p class={name}>{price}</p><p>Made of steel.</p><h2>Also</h2><p class=card>Pot: {other}</p>"


def shop(price: str, name: str = "price", other: str = "20,00 €") -> PagePart:
    return PagePart(f"<main>{BODY.format(price=price, name=name, other=other)}</main>", "")


def test_a_renamed_part_is_found_by_its_value_and_its_neighbours():
    found = compare_page_fields(shop("49,90 €"), shop("49,90 €", "cost"), (PRICE,))
    assert found.readings["price"].value == 49.9
    assert [(one.select, one.is_sure) for one in found.repairs] == [("css:p.cost", True)]
    assert not found.differences


def test_without_repair_it_is_proposed():
    found = compare_page_fields(shop("49,90 €"), shop("49,90 €", "cost"), (replace(PRICE, repair=False),))
    (lost,) = found.differences
    assert lost.is_lost
    assert lost.repair is not None
    assert lost.repair.select == "css:p.cost"


def test_another_thing_with_the_same_price_is_not_the_lost_one():
    before = shop("49,90 €", other="49,90 €")
    after = PagePart(before.markup.replace("<p class=price>49,90 €</p>", ""), "")
    found = compare_page_fields(before, after, (PRICE,))
    assert found.readings["price"].value is None
    assert not any(one.is_sure for one in found.repairs)


def test_an_old_price_beside_the_new_one_is_no_move():
    after = PagePart(shop("39,90 €").markup.replace("<p>Made", "<p class=before>49,90 €</p><p>Made"), "")
    found = compare_page_fields(shop("49,90 €"), after, (PRICE,))
    assert found.readings["price"].value == 39.9
    assert not found.repairs


def test_a_class_that_is_used_for_something_else_is_noticed():
    before = PagePart("<h1>Show</h1><p>From <b class=value>R$ 100,00</b></p><h2>Cast</h2>", "")
    after = PagePart(
        "<h1>Show</h1><div><p>Fee <b class=value>R$ 9,00</b></p><p>From <b>R$ 100,00</b></p></div><h2>Cast</h2>", ""
    )
    rule = FieldRule("price", ("*",), "css:.value", FieldType.NUMBER)
    found = compare_page_fields(before, after, (rule,))
    assert found.readings["price"].value == 100
    assert [one.is_moved for one in found.repairs] == [True]


def test_a_list_is_found_in_other_elements():
    rule = FieldRule("items", ("*",), "css:ul.jobs li", FieldType.LIST)
    before = PagePart("<ul class=jobs><li>Cook<li>Nurse<li>Driver</ul>", "")
    after = PagePart("<div class=menu><p>Home</p></div><div class=list><p>Cook</p><p>Nurse</p><p>Baker</p></div>", "")
    found = compare_page_fields(before, after, (rule,))
    assert found.readings["items"].value == ("Cook", "Nurse", "Baker")


def test_a_cell_is_found_by_its_label():
    rule = FieldRule("weight", ("*",), "css:.specs tr:nth-child(2) td", FieldType.TEXT)
    before = PagePart("<table class=specs><tr><th>Colour<td>red<tr><th>Weight<td>4 kg</table>", "")
    after = PagePart("<dl><dt>Size<dd>L</dl><table><tr><th>Weight<td>5 kg<tr><th>Colour<td>red</table>", "")
    found = compare_page_fields(before, after, (rule,))
    assert [one.select for one in found.repairs] == ["table:Weight"]


def test_a_value_of_json_is_found_under_another_key():
    rule = FieldRule("price", ("*",), "json:$.item.price", FieldType.NUMBER)
    before = PagePart('{"item": {"price": 49.9, "id": 7}}', "", is_html=False)
    after = PagePart('{"data": {"item": {"price": 49.9, "id": 7}}}', "", is_html=False)
    found = compare_page_fields(before, after, (rule,))
    assert found.readings["price"].value == 49.9


def test_a_field_that_was_missing_for_a_while_is_found_by_an_earlier_version():
    gone = PagePart("<article><h1>Kettle</h1><p>Made of steel.</p></article>", "")
    back = PagePart("<article><h1>Kettle</h1><div class=a><b>45,90 €</b></div><p>Made of steel.</p></article>", "")
    found = compare_page_fields(gone, back, (PRICE,))
    assert found.missing == {"price"}
    found = repair_missing(found, shop("49,90 €"), back, (PRICE,))
    assert found.readings["price"].value == 45.9
    assert [one.name for one in found.differences] == ["price"]


def test_repairs_apply_from_their_time_on():
    moved = FieldRepair("price", "css:.price", "css:.card", "", True, is_moved=True, at="2026-03-05")
    rule = replace(PRICE, repairs=(moved,))
    assert read_field(shop("49,90 €"), rule, at="2026-03-04").value == 49.9
    assert read_field(shop("49,90 €"), rule, at="2026-03-05").value == 20


def test_selectors_prefer_names_to_places():
    page = PageOutline("<main><p class='css-1x2y3 cost'>5</p><p itemprop=price>6</p><p>7</p></main>")
    chosen = [robust_selectors(page, element)[0] for element in page.elements if element.tag == "p"]
    assert chosen[:2] == ["p.cost", 'p[itemprop="price"]']
    assert page.select(chosen[2]) == [page.elements[-1].place]


@pytest.mark.parametrize("name", ["css-1q2w3e", "sc-a1b2c3", "_3xYz9", "x12y34z5"])
def test_generated_names_are_known(name: str):
    assert is_generated(name)
    assert not is_generated("price-box")


@pytest.mark.parametrize("seed", [0, 1])
def test_pages_of_ten_templates_keep_their_values_through_redesigns(seed: int):
    figures = watch_all(seed=seed, days=40, accepts=True)
    assert figures.share >= 0.99
    assert not figures.silent


def test_pages_in_the_style_of_known_software_keep_most_values_through_redesigns():
    figures = watch_all(seed=104, days=30, templates=SOFTWARE)
    assert figures.share >= 0.9
    assert not figures.silent


def test_a_value_of_structured_data_is_found_under_another_property():
    rule = FieldRule("price", ("*",), "data:Product.offers.price", FieldType.NUMBER)

    def page(offer: str) -> PagePart:
        return PagePart(f'<script type="application/ld+json">{{"@type": "Product", "offers": {offer}}}</script>', "")

    before = page('{"@type": "Offer", "price": "49.90"}')
    found = compare_page_fields(
        before, page('{"priceSpecification": {"price": "52.50", "priceCurrency": "EUR"}}'), (rule,)
    )
    assert found.readings["price"].value == 52.5
    assert found.readings["price"].select == "data:Product.offers.priceSpecification.price"


def test_a_value_of_xml_is_found_in_another_element():
    rule = FieldRule("level", ("*",), "xpath:/gauge/level", FieldType.NUMBER)
    before = PagePart("<gauge><name>Elbe</name><level>231</level></gauge>", "", is_html=False)
    after = PagePart("<gauges><gauge name='Elbe'><level unit='cm'>229</level></gauge></gauges>", "", is_html=False)
    found = compare_page_fields(before, after, (rule,))
    assert (found.readings["level"].value, found.readings["level"].select) == (229, "xpath:/gauges/gauge/level")


def test_a_field_whose_part_is_gone_does_not_read_the_next_one():
    rule = FieldRule("members", ("*",), "css:li:first-child b", FieldType.NUMBER)
    rows = "<h1>Forum</h1><ul>{}<li>Posts <b>4,100</b></li></ul>"
    before = PagePart(rows.format("<li>Members <b>4,321</b></li>"), "")
    found = compare_page_fields(before, PagePart(rows.format(""), ""), (rule,))
    assert found.readings["members"].value is None
    assert [one.select for one in found.repairs if one.is_sure] == ["label:Members"]
    rule = replace(rule, repairs=tuple(one for one in found.repairs if one.is_sure))
    back = read_field(PagePart(rows.format("<li>Members <b>4,400</b></li>"), ""), rule)
    assert back.value == 4400


def test_tags_with_colons_are_no_obstacle():
    entries = "".join(f"<{{tag}}>{name}</{{tag}}>" for name in ("Oats", "Rye", "Barley", "Spelt"))
    before = PagePart(f"<h2>Grain</h2>{entries.format(tag='li')}<p>More</p>", "")
    after = PagePart(f"<h1>Mill</h1><h2>Grain</h2><w:body>{entries.format(tag='w:p')}</w:body>", "")
    rule = FieldRule("grain", ("*",), "css:li", FieldType.LIST)
    found = compare_page_fields(before, after, (rule,))
    assert found.readings["grain"].value == ("Oats", "Rye", "Barley", "Spelt")


def test_declarative_shadow_roots_are_read():
    root = '<template shadowrootmode="open"><b class=price>5 €</b></template>'
    markup = f"<x-offer>{root}Tea</x-offer><template>9 €</template>"
    page = page_part((("content-type", "text/html"),), markup.encode(), "")
    assert read_field(page, PRICE).value == 5


@pytest.mark.parametrize(
    ("rule", "before", "after", "select"),
    [
        (
            FieldRule("price", ("*",), "json:$.price", FieldType.NUMBER),
            '{"name": "Bike", "price": 2199, "related": [{"name": "Bell", "price": 12}]}',
            '{"data": {"title": "Bike", "unitPrice": "2199.00"}, "more": [{"title": "Bell", "unitPrice": "12.00"}]}',
            'json:$["data"]["unitPrice"]',
        ),
        (
            FieldRule("fork", ("*",), "json:$.specs.fork"),
            '{"specs": {"frame": "Carbon", "fork": "140 mm", "weight": "12 kg"}}',
            '{"rows": [{"k": "frame", "v": "Carbon"}, {"k": "fork", "v": "140 mm"}, {"k": "weight", "v": "12 kg"}]}',
            'json:$["rows"][?@["k"]=="fork"]["v"]',
        ),
        (
            FieldRule("parts", ("*",), "json:$.parts[*]", FieldType.LIST),
            '{"parts": ["Bell", "Pump", "Lock"]}',
            '{"included": [{"title": "Bell"}, {"title": "Pump"}, {"title": "Lock"}, {"title": "Bag"}]}',
            'json:$["included"][*]["title"]',
        ),
        (
            FieldRule("price", ("*",), "xpath:/shop/price", FieldType.NUMBER),
            "<shop><name>Tent</name><price>349.00</price><other>200.00</other></shop>",
            '<g:feed xmlns:g="http://x.example/"><g:title>Tent</g:title><g:price>349.00</g:price><o>200.00</o></g:feed>',
            "xpath:/*[local-name()='feed']/*[local-name()='price']",
        ),
        (
            FieldRule("swell", ("*",), "text:Swell: (.+)"),
            "Bulletin\n\nWind: SW 5\nSwell: 1.2 m\nDepth: 6.4 m\n",
            "BULLETIN\n\nWind ........... SW 5\nSwell .......... 1.2 m\nDepth .......... 6.4 m\n",
            "table:Swell",
        ),
        (
            FieldRule("notices", ("*",), "text:(?m)^- (.+)$", FieldType.LIST),
            "Notices\n\n- Crane out of order\n- Lock closed\n- Regatta\n",
            "# Bulletin\n\n## Notices\n\n1. Crane out of order\n2. Lock closed\n3. Regatta\n4. Dredging\n",
            "label:Notices/*",
        ),
    ],
)
def test_fields_of_data_and_text_are_found_again(rule: FieldRule, before: str, after: str, select: str):
    pages = [PagePart(markup, markup, is_html=False) for markup in (before, after)]
    found = compare_page_fields(*pages, (rule,))
    assert [(one.select, one.is_sure) for one in found.repairs] == [(select, True)]
    assert found.readings[rule.name].value is not None


@pytest.mark.parametrize(
    ("rule", "before", "after", "value"),
    [
        (  # The unit became a label.
            FieldRule("stars", ("*",), "css:.s", FieldType.NUMBER),
            "<h1>Hive</h1><ul><li class=s>4,514 stars<li>91 forks</ul>",
            "<h1>Hive</h1><div><a>Forks</a><a class=l>91</a></div><div><a>Star</a><a class=l>4648</a></div>",
            4648,
        ),
        (  # A part that says itself that it is something else, beside one that does not.
            FieldRule("now", ("*",), "css:.t", FieldType.NUMBER),
            "<main><h1>Bend</h1><p class=t>81°F<p>Fair</main><h2>Week</h2><p>Monday",
            "<article><h1>Bend</h1><div class=big>95°F</div><div>Feels like 92°F</div></article><h2>Week</h2><p>Monday",
            95,
        ),
        (  # The name of the field is the name of a column.
            FieldRule("price", ("*",), "css:.q", FieldType.NUMBER),
            "<h1>Honey Corp</h1><p class=q>212.54<h2>Key</h2>",
            "<h2>Honey Corp</h2><table><tr><th>Price<th>Ask<tr><td>258.10<td>258.36</table><p>Late</p><h2>Key</h2>",
            258.1,
        ),
        (  # What another thing cost before is no rival.
            FieldRule("price", ("*",), "css:.p", FieldType.NUMBER),
            "<h1>Phones</h1><p class=p>£132.00<p>Closed, for trains<h2>Also</h2><ul><li>Buds <b>£167.50</b></ul>",
            "<h1>Phones</h1><p>Closed, for trains</p><i>£160.00</i><h2>Also</h2><div><a>Buds <b>£167.50</b></a></div>",
            160,
        ),
    ],
)
def test_a_value_that_changed_with_the_design_is_found(rule: FieldRule, before: str, after: str, value: float):
    found = compare_page_fields(PagePart(before, ""), PagePart(after, ""), (rule,))
    assert found.readings[rule.name].value == value


def test_a_list_is_not_found_among_entries_that_stood_beside_it():
    rule = FieldRule("facts", ("*",), "css:.facts tr", FieldType.LIST)
    towns = "<table><tr><th>Town<th>People<tr><td>Upton<td>5<tr><td>Hallow<td>7</table>"
    facts = "<tr><th>County<td>Kent<tr><th>Mayor<td>D. Orme<tr><th>Area<td>12 km²"
    before = PagePart(f"<h1>Martley</h1><table class=facts>{facts}</table><h2>Near</h2>{towns}", "")
    after = PagePart(f"<h1>Martley</h1><div id=x><table>{facts}</table><h2>Near</h2>{towns}</div>", "")
    found = compare_page_fields(before, after, (rule,))
    assert found.readings["facts"].value == ("County Kent", "Mayor D. Orme", "Area 12 km²")


def test_pairs_of_elements_are_read_as_a_table():
    grid = "<div>{}</div>".format(
        "".join(f"<p class=k>{k}</p><p class=v>{v}</p>" for k, v in zip("AB", "12", strict=True))
    )
    page = PagePart(f"<h2>Data</h2>{grid}", "")
    assert read_field(page, FieldRule("b", ("*",), "table:B")).value == "2"
    assert read_field(page, FieldRule("all", ("*",), "table:A/*", FieldType.LIST)).value == ("A 1", "B 2")


def test_prefixes_of_xml_documents_can_be_used():
    page = PagePart('<r xmlns:g="http://x.example/"><g:price>5 EUR</g:price></r>', "", is_html=False)
    assert read_field(page, FieldRule("price", ("*",), "xpath://g:price", FieldType.NUMBER)).value == 5


def test_pages_of_other_traditions_and_languages_keep_most_values_through_redesigns():
    found = watch_all(seed=0, days=40, templates=(*TRADITIONS, *OTHERS))
    assert found.share >= 0.96
    assert len(found.silent) <= 1
