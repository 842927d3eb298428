"""Structured data of pages, and the tables that labels name."""

from __future__ import annotations

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.fields.outline import PageOutline, page_tables
from evercrawl.core.fields.reading import compare_page_fields, read_field
from evercrawl.core.fields.selectors import PagePart, parse_selector
from evercrawl.core.fields.structured import DataItem, structured_items, structured_values
from evercrawl.core.fields.suggest import suggest_fields
from evercrawl.model.fields import FieldRule, FieldType

JSON_LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": "Product",
"name": "Kettle", "offers": {"@type": "Offer", "price": 49.9, "priceCurrency": "EUR"}}]}</script>
<script type="application/ld+json">{broken</script>"""
MICRODATA = """<div itemscope itemtype="https://schema.org/Product" itemref=more><b itemprop=name>Kettle</b>
<div itemprop=offers itemscope itemtype="https://schema.org/Offer"><meta itemprop=price content="49.90">
<link itemprop=availability href="/InStock"></div></div><p id=more>Made by <i itemprop="brand maker">Steel
Works</i></p>"""
RDFA = """<div vocab="https://schema.org/" typeof=Event><span property=name>Fair</span>
<time property=startDate datetime="2026-11-18">Wednesday</time><div property=location typeof=Place>
<b property=name>Hall</b></div></div>"""
GRAPH = (
    '<meta property="og:title" content="Kettle"><meta property="og:image" content="/a.png"><meta property=x content=y>'
)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            JSON_LD,
            [("Product.name", "Kettle"), ("Product.offers.price", "49.9"), ("Product.offers.priceCurrency", "EUR")],
        ),
        (
            MICRODATA,
            [
                ("Product.name", "Kettle"),
                ("Product.offers.price", "49.90"),
                ("Product.offers.availability", "https://a.example/InStock"),
                ("Product.brand", "Steel Works"),
                ("Product.maker", "Steel Works"),
            ],
        ),
        (RDFA, [("Event.name", "Fair"), ("Event.startDate", "2026-11-18"), ("Event.location.name", "Hall")]),
        (GRAPH, [("og:title", "Kettle"), ("og:image", "/a.png")]),
        ("<p>nothing", []),
    ],
)
def test_values_of_structured_data(markup: str, expected: list[tuple[str, str]]):
    items = structured_items(LexborHTMLParser(markup), "https://a.example/kettle")
    assert structured_values(items) == expected


def test_items_know_their_types():
    (item,) = structured_items(LexborHTMLParser(MICRODATA))
    assert (item.name, item.types) == ("Product", ("https://schema.org/Product",))
    assert isinstance(item.properties["offers"][0], DataItem)


def test_structured_data_and_tables_are_selected_by_name():
    page = PagePart(
        JSON_LD + MICRODATA + GRAPH + "<table><caption>Rain</caption><tr><th>Town<th>June<th>July<tr><td>Oslo<td>70"
        "<td>82<tr><td>Rome<td>30<td>19</table><dl><div><dt>Weight:<dd>1.2 kg</div><dt>Size<dd>L</dl>",
        "",
    )
    chosen = {
        select: parse_selector(select)(page)
        for select in ("data:Product.offers.price", "data:og:title", "table:Oslo/July", "table:weight", "table:Size/*")
    }
    assert chosen == {
        "data:Product.offers.price": ["49.9"],
        "data:og:title": ["Kettle"],
        "table:Oslo/July": ["82"],
        "table:weight": ["1.2 kg"],
        "table:Size/*": ["Weight: 1.2 kg", "Size L"],
    }


def test_tables_have_a_title_heads_and_rows():
    page = PageOutline("<h2>Rain</h2><table><tr><th>Town<th>July<tr><td>Oslo<td>82</table>")
    (table,) = page_tables(page)
    assert (table.title, table.heads, table.rows) == ("Rain", (), (("Town", "Oslo"), ("July", "82")))


def product(name: str, price: str, weight: str) -> PagePart:
    return PagePart(
        f'<script type="application/ld+json">{{"@type": "Product", "sku": "{name}-1"}}</script>'
        f"<h1 class=title>{name}</h1>"
        f"<p class=price>{price}</p><p class=note>Same everywhere</p><table><tr><th>Weight<td>{weight}</table>"
        "<ul class=colours><li>Red<li>Blue<li>Green</ul>",
        "",
    )


def test_fields_are_suggested_from_what_differs_between_pages():
    found = suggest_fields([product("Kettle", "49,90 €", "1.2 kg"), product("Pot", "20 €", "2 kg")])
    assert [(one.name, one.select, one.type, one.source) for one in found] == [
        ("product_sku", "data:Product.sku", "text", "structured data"),
        ("weight", "table:Weight", "number", "table"),
        ("title", "css:h1.title", "text", "text"),
        ("price", "css:p.price", "number", "text"),
        ("colours", "css:ul.colours > li", "list", "list"),
    ]
    assert found[3].values == ("49,90 €", "20 €")


def test_labelled_lines_are_suggested_and_menus_are_not():
    menu = "<nav><a href=/a>A</a><a href=/b>B</a><a href=/c>C</a></nav>"
    pages = [PagePart(f"{menu}<p>Price: {price} EUR</p>", f"Item\nPrice: {price} EUR") for price in (5, 7)]
    (found,) = suggest_fields(pages)
    assert (found.name, found.type, found.values) == ("price", "number", ("5 EUR", "7 EUR"))


def test_fields_of_json_pages_and_feeds_are_suggested():
    data = PagePart('{"items": [{"price": 5}, {"price": 7}]}', "", is_html=False)
    assert [(one.name, one.type, one.values) for one in suggest_fields([data])] == [("price", "list", ("5, 7",))]
    feed = PagePart("<rss><channel><item><title>One</title></item></channel></rss>", "", is_html=False)
    assert [(one.name, one.values) for one in suggest_fields([feed])] == [("title", ("One",))]


def test_items_with_several_names_are_read_in_bounded_time():
    nested = LexborHTMLParser(
        "<div itemscope itemtype='https://schema.org/T'>" + "<div itemscope itemprop='a b c d'>" * 20
    )
    start = time.process_time()
    assert structured_values(structured_items(nested)) == []
    assert time.process_time() - start < 1


def test_long_vocabularies_and_bases_are_not_repeated_in_every_name():
    names = "".join(f"<b property=p{at}>v</b><a property=a{at} href=x>y</a>" for at in range(50))
    page = f"<base href='/{'x' * 5000}'><div vocab='{'x' * 5000}' typeof=T>{names}</div>"
    (item,) = structured_items(LexborHTMLParser(page), "https://a.example/b")
    assert item.properties["p0"] == ["v"]
    assert item.properties["a0"] == ["https://a.example/x"]


def test_fields_of_hostile_pages_take_bounded_time():
    deep = PagePart("<p>x" * 1000, ""), PagePart("<section>x" * 1000, "")
    rows = "<tr><td>k<td>$ 5" * 2000
    wide = [PagePart(f"<table><caption>{'<b>a</b>' * 4000}</caption>{rows}<tr><td>{price}", "") for price in ("", "x")]
    start = time.process_time()
    compare_page_fields(*deep, (FieldRule("texts", ("*",), "css:p", FieldType.LIST),))
    compare_page_fields(*wide, (FieldRule("price", ("*",), "css:.price", FieldType.NUMBER),))
    compare_page_fields(*reversed(wide), (FieldRule("price", ("*",), "table:k", FieldType.NUMBER),))
    assert time.process_time() - start < 3


def test_prices_of_structured_data_have_the_currency_that_stands_beside_them():
    price = '{"@type": "Product", "offers": {"price": "59.9", "highPrice": 70, "priceCurrency": "eur"}, "weight": 3}'
    amount = '<meta property="product:price:amount" content="8"><meta property="product:price:currency" content="USD">'
    page = PagePart(f'<script type="application/ld+json">{price}</script>{amount}<p>80', "")
    paths = ("Product.offers.price", "Product.offers.highPrice", "product:price:amount", "Product.weight")
    read = [read_field(page, FieldRule("x", ("*",), f"data:{path}", FieldType.NUMBER)) for path in paths]
    assert [(one.value, one.unit) for one in read] == [(59.9, "EUR"), (70, "EUR"), (8, "USD"), (3, None)]
