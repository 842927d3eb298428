"""Eight templates of other markup traditions and locales: utility classes, tables of 1998, definition lists in Arabic,
web components in German, a JSON API, an XML feed, plain text, and a Japanese shop. Each is redesigned twice.

They were written without a look at how they are read, and measured before anything was changed for them.
"""

# ruff: noqa: E501 (markup)
from __future__ import annotations

import json

from evercrawl.model.fields import FieldType
from tests.worlds.values.facts import DayFacts, Subject
from tests.worlds.values.moves import _each, _zip
from tests.worlds.values.templates import _ENGLISH, _GERMAN, ValueTemplate, _group, _items, _named, _rows

_N, _T, _L, _D = FieldType.NUMBER, FieldType.TEXT, FieldType.LIST, FieldType.DATE
_LONG, _US = "{day} {month} {year}", "{month} {day}, {year}"
_DE = "{day}. {month} {year}"


# 1. Utility classes only: Tailwind, another Tailwind, Chakra.
_SETS = "Earbuds Mini|Studio Monitor|Travel Case"


def _tail_first(f: DayFacts, visit: int) -> str:
    price = (
        '<p class="mt-3 text-base text-gray-500">Sold out</p>'
        if f.price is None
        else f'<p class="text-3xl tracking-tight text-gray-900">£{f.price:,.2f}</p>'
    )
    more = _zip(
        '<div class="group relative"><div class="mt-4 flex justify-between"><div><h3 class="text-sm text-gray-700"><a href="#"><span aria-hidden="true" class="absolute inset-0"></span>{}</a></h3></div><p class="text-sm font-medium text-gray-900">£{}</p></div></div>',
        _SETS,
        f.other_prices,
        "{:,.2f}",
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><title>Over-ear 2 – Quiet</title></head><body class="h-full bg-white antialiased"><header class="relative bg-white"><p class="flex h-10 items-center justify-center bg-indigo-600 px-4 text-sm font-medium text-white">Free delivery on orders over £50</p><span class="ml-2 text-sm font-medium text-gray-700">{visit % 5}</span></header><main class="mx-auto max-w-7xl px-4"><div class="lg:grid lg:grid-cols-2 lg:gap-x-8"><div class="mt-10 px-4 sm:px-0"><h1 class="text-3xl font-bold tracking-tight text-gray-900">Over-ear 2</h1><div class="mt-3"><h2 class="sr-only">Product information</h2>{price}</div><div class="mt-6"><h3 class="sr-only">Description</h3><div class="space-y-6 text-base text-gray-700"><p>Closed headphones for offices and trains.</p></div></div><div class="mt-8"><h2 class="text-sm font-medium text-gray-900">In the box</h2><ul role="list" class="list-disc space-y-2 pl-4 text-sm">{_items('<li class="text-gray-400"><span class="text-gray-600">{}</span></li>', f.items)}</ul></div><section class="mt-12"><h2 class="text-sm font-medium text-gray-900">Specifications</h2><dl class="divide-y divide-gray-200 border-t">{_each('<div class="flex justify-between py-3 text-sm"><dt class="text-gray-500">{k}</dt><dd class="text-gray-900">{v}</dd></div>', f)}</dl></section><p class="mt-4 flex space-x-2 text-sm text-gray-700"><svg></svg><span>Dispatched from {_named(f.day, _ENGLISH, _LONG)}</span></p></div></div><section class="mt-10 border-t px-4 py-16"><h2 class="text-xl font-bold text-gray-900">Customers also bought</h2><div class="mt-8 grid grid-cols-1">{more}</div></section></main></body></html>"""


def _tail_second(f: DayFacts, visit: int) -> str:
    price = (
        '<span class="rounded-full bg-red-50 px-3 text-xs text-red-700">Sold out</span>'
        if f.price is None
        else f'<span class="text-4xl font-semibold text-zinc-950 dark:text-white">£{f.price:,.2f}</span><span class="text-xs text-zinc-500">inc. VAT</span>'
    )
    more = _zip(
        '<a class="snap-start shrink-0 w-64 rounded-2xl ring-1 ring-zinc-200 p-6"><div class="text-zinc-950">{}</div><div class="text-3xl tracking-tight text-gray-900">£{}</div></a>',
        _SETS,
        f.other_prices,
        "{:,.2f}",
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><title>Over-ear 2 | Quiet</title></head><body class="bg-zinc-50"><div class="sticky top-0 z-50 backdrop-blur"><nav class="flex gap-6 p-4"><a>Shop</a><a>Support</a><a>Bag · {visit % 5}</a></nav></div><div class="isolate"><div class="overflow-x-auto flex gap-4 p-8"><p class="text-lg">Customers also bought</p>{more}</div><div class="p-8 grid gap-y-10"><div class="space-y-1"><h1 class="text-5xl/14 font-medium tracking-tighter">Over-ear 2</h1><p class="text-zinc-600">Closed headphones for offices and trains.</p><div class="flex items-end gap-2">{price}</div><p class="text-sm/6 text-zinc-500">Dispatched from <span class="font-medium text-zinc-950">{_named(f.day, _ENGLISH, _LONG)}</span></p></div><div><p class="font-mono text-xs/5 uppercase text-zinc-500">Specifications</p><div class="grid grid-cols-2 mt-4">{_each('<div class="border-b border-zinc-950/5 py-2 text-zinc-500">{k}</div><div class="border-b border-zinc-950/5 py-2 text-zinc-950">{v}</div>', f)}</div></div><div><p class="font-mono text-xs/5 uppercase text-zinc-500">In the box</p><div class="flex flex-wrap gap-2 mt-4">{_items('<span class="inline-flex items-center gap-x-1.5 rounded-md px-1.5 py-0.5 text-sm/5">{}</span>', f.items)}</div></div></div></div></body></html>"""


def _tail_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f'<p class="chakra-text css-15ks1a">£{f.price:,.2f}</p>'
    more = _zip(
        '<div class="chakra-card css-1vrr4tx"><p class="chakra-text css-0">{}</p><p class="chakra-text css-15ks1a">£{}</p></div>',
        _SETS,
        f.other_prices,
        "{:,.2f}",
    )
    return f"""<!DOCTYPE html><html lang="en" data-theme="light"><head><title>Over-ear 2</title></head><body class="chakra-ui-light"><div class="css-gmuwbf"><div class="css-k008qs"><h2 class="chakra-heading css-18j379d">Over-ear 2</h2><p class="chakra-text css-0">Closed headphones for offices and trains.</p>{price}<button class="chakra-button css-ez23ye">{"Notify me" if f.price is None else "Add to bag"}</button></div><div class="chakra-stack css-1q6d2k"><h2 class="chakra-heading css-1dklj6k">Specifications</h2><div class="chakra-table__container css-1te4nz4"><table class="chakra-table css-5605sr"><tbody class="css-0">{_each('<tr class="css-0"><td class="css-xlrdhu">{k}</td><td class="css-xlrdhu">{v}</td></tr>', f)}</tbody></table></div><h2 class="chakra-heading css-1dklj6k">In the box</h2><ul class="css-10klw3m">{_items('<li class="css-0">{}</li>', f.items)}</ul><p class="chakra-text css-ynn1h2">Dispatched from {_named(f.day, _ENGLISH, _US)}</p></div><div class="chakra-wrap css-0"><h2 class="chakra-heading css-1dklj6k">Customers also bought</h2>{more}</div><p>{visit} reviews</p></div></body></html>"""


# 2. Tables for layout, 1998: a coin dealer in German; nested tables of 2003; Bootstrap.
_COINS = "Taler 1788|Groschen 1812|Gulden 1846"


def _coin_first(f: DayFacts, visit: int) -> str:
    price = "verkauft" if f.price is None else f"{_group(f.price, '.', ',')} EUR"
    more = _zip(
        "<TR><TD><FONT SIZE=1>{}</FONT></TD><TD ALIGN=RIGHT><FONT SIZE=1>{} EUR</FONT></TD></TR>",
        _COINS,
        tuple(f.other_prices),
        "{:.0f},00",
    )
    return f"""<HTML><HEAD><TITLE>M&uuml;nzhandlung - Dukat 1762</TITLE></HEAD><BODY BGCOLOR="#FFFFCC" TEXT="#000000"><CENTER><TABLE WIDTH=640 BORDER=0 CELLSPACING=0 CELLPADDING=4><TR><TD COLSPAN=2 BGCOLOR="#663300"><FONT FACE="Arial,Helvetica" SIZE=5 COLOR="#FFFFFF"><B>Dukat 1762</B></FONT></TD></TR><TR><TD VALIGN=TOP WIDTH=140 BGCOLOR="#FFCC99"><FONT SIZE=2><A HREF="/">Startseite</A><BR><A HREF="/liste">Preisliste</A><BR>Besucher: {visit + 10000}</FONT></TD><TD VALIGN=TOP><TABLE BORDER=1><TR><TD><FONT SIZE=2><B>Preis:</B></FONT></TD><TD><FONT SIZE=2 COLOR="#CC0000"><B>{price}</B></FONT></TD></TR>{_each("<TR><TD><FONT SIZE=2>{k}:</FONT></TD><TD><FONT SIZE=2>{v}</FONT></TD></TR>", f)}</TABLE><P><FONT SIZE=2><B>Zubeh&ouml;r</B></FONT><UL>{_items("<LI><FONT SIZE=2>{}</FONT>", f.items)}</UL><P><FONT SIZE=1><I>Letzte &Auml;nderung: {f.day.day}.{f.day.month}.{f.day.year}</I></FONT><HR><TABLE>{more}</TABLE></TD></TR></TABLE></CENTER></BODY></HTML>"""


def _coin_second(f: DayFacts, visit: int) -> str:
    price = "<b>verkauft</b>" if f.price is None else f"<b>€ {_group(f.price, '.', ',')}</b>"
    more = _zip('<td class="klein">{}<br>€ {}</td>', _COINS, tuple(f.other_prices), "{:.0f},00")
    return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"><html><head><title>Dukat 1762 :: M&uuml;nzhandlung</title></head><body><table width="780" align="center"><tr><td colspan="3" class="kopf">M&uuml;nzhandlung seit 1952</td></tr><tr><td class="menue"><a href="/">Home</a></td><td class="inhalt"><span class="titel">Dukat 1762</span><br><br><table class="daten" cellpadding="3">{_each("<tr><td align='right'><b>{k}</b></td><td>{v}</td></tr>", f)}<tr><td align="right"><b>Preis</b></td><td>{price} <span class="mini">(inkl. MwSt.)</span></td></tr></table><br><span class="titel">Zubeh&ouml;r</span><br>{_items("&bull; {}<br>", f.items)}<br><span class="mini">Letzte &Auml;nderung: {_named(f.day, _GERMAN, _DE)}</span></td><td class="rechts"><table><tr>{more}</tr></table>{visit} Besucher</td></tr></table></body></html>"""


def _coin_third(f: DayFacts, visit: int) -> str:
    price = (
        '<span class="badge bg-secondary">verkauft</span>'
        if f.price is None
        else f'<div class="h3 text-danger">{_group(f.price, ".", ",")}&nbsp;€</div>'
    )
    more = _zip(
        '<div class="col"><div class="card"><div class="card-body"><h5 class="card-title">{}</h5><div class="h5 text-danger">{}&nbsp;€</div></div></div></div>',
        _COINS,
        tuple(f.other_prices),
        "{:.0f},00",
    )
    return f"""<!doctype html><html lang="de"><head><title>Dukat 1762 | Münzhandlung</title></head><body><nav class="navbar navbar-expand-lg"><a class="navbar-brand">Münzhandlung</a><span class="badge">{visit % 4}</span></nav><div class="container"><div class="row"><div class="col-md-6"><h1>Dukat 1762</h1>{price}<div class="small text-muted">inkl. MwSt., zzgl. Versand</div></div><div class="col-md-6"><ul class="list-group list-group-flush">{_each('<li class="list-group-item d-flex justify-content-between"><span>{k}</span><strong>{v}</strong></li>', f)}</ul></div></div><h4 class="mt-4">Zubehör</h4><ul class="list-unstyled">{_items('<li><i class="bi bi-check"></i> {}</li>', f.items)}</ul><div class="row row-cols-3">{more}</div><footer class="small">Letzte Änderung: {f.day:%d.%m.%Y}</footer></div></body></html>"""


# 3. Arabic, right to left, with its own figures: a definition list, a table, cards.
_ARABIC_MONTHS = "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"
_PHONES = "هاتف النخلة|هاتف الواحة|هاتف البحر"
_TO_ARABIC = str.maketrans("0123456789,.", "٠١٢٣٤٥٦٧٨٩٬٫")


def _arabic(text: str) -> str:
    return text.translate(_TO_ARABIC)


def _arabic_price(number: float) -> str:
    return _arabic(f"{number:,.2f}")


def _phone_first(f: DayFacts, visit: int) -> str:
    price = (
        '<dd class="price">غير متوفر</dd>'
        if f.price is None
        else f'<dd class="price">{_arabic_price(f.price)} ر.س</dd>'
    )
    more = _zip(
        '<li><a href="#">{}</a> <span class="p">{} ر.س</span></li>',
        _PHONES,
        tuple(map(_arabic_price, f.other_prices)),
        "{}",
    )
    return f"""<!DOCTYPE html><html lang="ar" dir="rtl"><head><meta charset="utf-8"><title>هاتف الصقر</title></head><body><header><a href="/">الرئيسية</a> السلة ({_arabic(str(visit % 7))})</header><main><h1>هاتف الصقر</h1><dl class="offer"><dt>السعر</dt>{price}<dt>تاريخ التوصيل</dt><dd class="when">{_arabic(_named(f.day, _ARABIC_MONTHS, _LONG))}</dd></dl><h2>المواصفات</h2><dl class="specs">{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl><h2>محتويات العلبة</h2><ul class="box">{_items("<li>{}</li>", f.items)}</ul></main><aside><h3>منتجات مشابهة</h3><ul class="similar">{more}</ul></aside></body></html>"""


def _phone_second(f: DayFacts, visit: int) -> str:
    price = (
        '<strong class="out">غير متوفر</strong>'
        if f.price is None
        else f'<strong class="amount">{f.price:,.2f}</strong> <small>ر.س</small>'
    )
    more = _zip('<div class="tile"><b>{}</b><p class="amount">{} ر.س</p></div>', _PHONES, f.other_prices, "{:,.2f}")
    return f"""<!DOCTYPE html><html lang="ar-SA" dir="rtl"><head><meta charset="utf-8"><title>هاتف الصقر | متجر</title></head><body><div class="bar">مرحبا بك، زائر رقم {visit}</div><section class="hero"><h1>هاتف الصقر</h1><div class="buy"><span>السعر</span> {price}</div><p>تاريخ التوصيل: {_named(f.day, _ARABIC_MONTHS, _LONG)}</p></section><section><h2>المواصفات</h2><table><tbody>{_each("<tr><th>{k}</th><td>{v}</td></tr>", f)}</tbody></table></section><section><h2>محتويات العلبة</h2><div class="chips">{_items("<span class='chip'>{}</span>", f.items)}</div></section><section><h2>منتجات مشابهة</h2>{more}</section></body></html>"""


def _phone_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"<p>السعر: <bdi>{_arabic_price(f.price)} ريال</bdi></p>"
    more = _zip("<li>{}: <bdi>{} ريال</bdi></li>", _PHONES, tuple(map(_arabic_price, f.other_prices)), "{}")
    return f"""<!DOCTYPE html><html lang="ar" dir="rtl"><head><meta charset="utf-8"><title>متجر - هاتف الصقر</title></head><body class="rtl"><article class="post-77 product"><h2 class="entry-title">هاتف الصقر</h2><ol class="similar"><li>منتجات مشابهة</li>{more}</ol><div class="entry-content">{price}<h3>المواصفات</h3><ul>{_each("<li><strong>{k}:</strong> {v}</li>", f)}</ul><h3>محتويات العلبة</h3><ul>{_items("<li>{}</li>", f.items)}</ul></div><footer>تاريخ التوصيل <time datetime="{f.day.isoformat()}">{_arabic(_named(f.day, _ARABIC_MONTHS, _LONG))}</time> — {_arabic(str(visit))}</footer></article></body></html>"""


# 4. Web components, German: slots, a declarative shadow root, attributes.
_TARIFFS = "Sonne 24|Wind 12|Wasser Flex"


def _power_first(f: DayFacts, visit: int) -> str:
    price = (
        '<span slot="hinweis">zurzeit nicht buchbar</span>'
        if f.price is None
        else f'<span slot="preis">{_group(f.price, ".", ",")} €</span>'
    )
    more = _zip(
        '<tarif-kachel><h3 slot="titel">{}</h3><span slot="preis-klein">{} €</span></tarif-kachel>',
        _TARIFFS,
        tuple(_group(one, ".", ",") for one in f.other_prices),
        "{}",
    )
    return f"""<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Tarif Ökostrom Fix</title></head><body><app-kopf><span slot="zaehler">{visit % 40} Personen sehen sich das an</span></app-kopf><tarif-karte><h1 slot="titel">Ökostrom Fix</h1>{price}<p slot="text">Strom aus Wasserkraft, monatlich.</p></tarif-karte><daten-blatt><h2 slot="kopf">Vertragsdaten</h2>{_each('<daten-zeile><span slot="name">{k}</span><span slot="wert">{v}</span></daten-zeile>', f)}</daten-blatt><vorteil-liste><h2 slot="kopf">Vorteile</h2>{_items("<vorteil-punkt>{}</vorteil-punkt>", f.items)}</vorteil-liste><p class="gueltig">Preis gültig bis {_named(f.day, _GERMAN, _DE)}</p><app-mehr><h2>Andere Tarife</h2>{more}</app-mehr><script type="module" src="/app.js"></script></body></html>"""


def _power_second(f: DayFacts, visit: int) -> str:
    price = (
        "<em>zurzeit nicht buchbar</em>"
        if f.price is None
        else f'<strong part="price">{_group(f.price, ".", ",")} €</strong>'
    )
    more = "".join(
        f'<x-tile><template shadowrootmode="open"><b><slot></slot></b> <i part="price">{_group(number, ".", ",")} €</i></template>{name}</x-tile>'
        for name, number in zip(_TARIFFS.split("|"), f.other_prices, strict=True)
    )
    return f"""<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Ökostrom Fix</title></head><body><x-header><template shadowrootmode="open"><slot></slot></template>{visit % 40} Aufrufe</x-header><x-offer><template shadowrootmode="open"><style>strong{{color:red}}</style><h1>Ökostrom Fix</h1><p>{price}</p><slot></slot></template><p>Strom aus Wasserkraft, monatlich.</p></x-offer><x-specs><template shadowrootmode="open"><h2>Vertragsdaten</h2><dl>{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl></template></x-specs><x-benefits><h2>Vorteile</h2><ul>{_items("<li>{}</li>", f.items)}</ul></x-benefits><x-note>Preis gültig bis <time>{f.day:%d.%m.%Y}</time></x-note><h2>Andere Tarife</h2>{more}</body></html>"""


def _power_third(f: DayFacts, visit: int) -> str:
    price = (
        '<sl-badge variant="neutral">zurzeit nicht buchbar</sl-badge>'
        if f.price is None
        else f'<sl-format-number type="currency" currency="EUR" value="{f.price:.2f}" lang="de">{_group(f.price, ".", ",")} €</sl-format-number>'
    )
    more = "".join(
        f'<sl-card><strong slot="header">{name}</strong><sl-format-number type="currency" currency="EUR" value="{number:.2f}" lang="de">{_group(number, ".", ",")} €</sl-format-number></sl-card>'
        for name, number in zip(_TARIFFS.split("|"), f.other_prices, strict=True)
    )
    return f"""<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Ökostrom Fix – Stadtwerke</title></head><body><sl-alert open>{visit % 40} Kunden wechselten heute</sl-alert><div class="teaser">{more}</div><sl-card class="card-overview"><h1 slot="header">Ökostrom Fix</h1>{price}<small>Strom aus Wasserkraft, monatlich.</small></sl-card><sl-details summary="Vertragsdaten" open><div class="grid">{_each('<div class="feld"><small>{k}</small><div>{v}</div></div>', f)}</div></sl-details><sl-details summary="Vorteile" open><h2>Vorteile</h2>{_items('<sl-menu-item class="punkt">{}</sl-menu-item>', f.items)}</sl-details><footer><span>Preis gültig bis</span> <sl-format-date date="{f.day.isoformat()}">{_named(f.day, _GERMAN, _DE)}</sl-format-date></footer></body></html>"""


# 5. The answer of an API: flat, an envelope with other names, JSON:API.


def _api_first(f: DayFacts, visit: int) -> str:
    return json.dumps(
        {
            "id": 4711, "name": "Trail bike 29", "price": f.price, "currency": "EUR", "views": visit,
            "specs": [{"label": key, "value": value} for key, value in f.rows],
            "accessories": list(f.items), "available_from": f.day.isoformat(),
            "related": [{"id": 4000 + at, "price": number} for at, number in enumerate(f.other_prices)],
        }, indent=1,
    )  # fmt: skip


def _api_second(f: DayFacts, visit: int) -> str:
    offer = {"amount": None if f.price is None else f"{f.price:.2f}", "currencyCode": "EUR"}
    return json.dumps(
        {
            "meta": {"requestId": f"r-{visit}", "version": "2.0"},
            "data": {
                "product": {
                    "id": "4711", "title": "Trail bike 29", "offer": offer,
                    "attributes": [{"name": key, "text": value} for key, value in f.rows],
                    "bundledItems": [{"title": item} for item in f.items], "availableFrom": f"{f.day.isoformat()}T00:00:00Z",
                },
                "recommendations": [
                    {"id": str(4000 + at), "offer": {"amount": f"{number:.2f}", "currencyCode": "EUR"}} for at, number in enumerate(f.other_prices)
                ],
            },
        }
    )  # fmt: skip


def _api_third(f: DayFacts, visit: int) -> str:
    return json.dumps(
        {
            "data": {
                "type": "bikes", "id": "4711",
                "attributes": {
                    "name": "Trail bike 29", "unit-price": f.price, "specs": [{"k": key, "v": value} for key, value in f.rows],
                    "included": list(f.items), "available-from": f.day.isoformat(), "watchers": visit,
                },
            },
            "included": [{"type": "bikes", "attributes": {"unit-price": number}} for number in f.other_prices],
        }
    )  # fmt: skip


# 6. An XML feed: elements, attributes, a namespace.


def _xml_first(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"<price currency='CZK'>{f.price:.2f}</price>"
    more = "".join(
        f"<item><name>Alternative {at}</name><cost>{one:.2f}</cost></item>" for at, one in enumerate(f.other_prices)
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?><shop hits="{visit}"><product id="77"><name>Stan Kopec 2</name>{price}<params>{_each("<param><name>{k}</name><value>{v}</value></param>", f)}</params><includes>{_items("<include>{}</include>", f.items)}</includes><delivery>{f.day.isoformat()}</delivery></product><alternatives>{more}</alternatives></shop>"""


def _xml_second(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f' price="{f.price:.2f}"'
    more = "".join(f'<alt name="Alternative {at}" price="{one:.2f}"/>' for at, one in enumerate(f.other_prices))
    return f"""<?xml version="1.0"?><catalog generated="{visit}"><alts>{more}</alts><entry sku="77" title="Stan Kopec 2" currency="CZK"{price} delivery="{f.day.isoformat()}"><attributes>{_each('<attribute name="{k}">{k}: {v}</attribute>', f)}</attributes><contents>{_items("<content>{}</content>", f.items)}</contents></entry></catalog>"""


def _xml_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"<g:price>{f.price:.2f} CZK</g:price>"
    more = "".join(
        f"<item><title>Alternative {at}</title><g:price>{one:.2f} CZK</g:price></item>"
        for at, one in enumerate(f.other_prices)
    )
    return f"""<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Feed {visit}</title><item><g:id>77</g:id><title>Stan Kopec 2</title>{price}<g:availability_date>{f.day.isoformat()}T00:00+0100</g:availability_date>{_each("<g:product_detail><g:attribute_name>{k}</g:attribute_name><g:attribute_value>{v}</g:attribute_value></g:product_detail>", f)}{_items("<g:product_highlight>{}</g:product_highlight>", f.items)}</item>{more}</channel></rss>"""


# 7. Plain text: colons, dots, a mail.


def _text_first(f: DayFacts, visit: int) -> str:
    price = "n/a" if f.price is None else f"{f.price:.2f} USD"
    rows = "\n".join(f"{key}: {value}" for key, value in f.rows)
    items = "\n".join(f"  - {item}" for item in f.items)
    return f"""HARBOUR BULLETIN no. {visit}\n\nDiesel price: {price}\nValid from: {f.day.isoformat()}\n\nConditions\n----------\n{rows}\n\nNotices\n-------\n{items}\n\nOther harbours\n{_zip("{} diesel {} USD; ", "Skagen|Thyborøn|Hanstholm", f.other_prices, "{:.2f}")}\n"""


def _text_second(f: DayFacts, visit: int) -> str:
    price = "----" if f.price is None else f"USD {f.price:.2f}"
    rows = "\n".join(f"{key:.<24} {value}" for key, value in f.rows)
    items = "\n".join(f"* {item}" for item in f.items)
    return f"""*** Harbour bulletin {visit} ***\n\n{"Valid from":.<24} {f.day.day} {_ENGLISH.split()[f.day.month - 1]} {f.day.year}\n{"Diesel price":.<24} {price}\n\nCONDITIONS\n{rows}\n\nNOTICES\n{items}\n\nOTHER HARBOURS\n{_zip("{:.<24} USD {}" + chr(10), "Skagen|Thyborøn|Hanstholm", f.other_prices, "{:.2f}")}\n"""


def _text_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"| Diesel price | {f.price:.2f} USD |\n"
    rows = "\n".join(f"| {key} | {value} |" for key, value in f.rows)
    items = "\n".join(f"{at}. {item}" for at, item in enumerate(f.items, 1))
    return f"""# Harbour bulletin {visit}\n\n_Valid from {f.day.isoformat()}_\n\n| Item | Value |\n|---|---|\n{price}{rows}\n\n## Notices\n\n{items}\n\n## Other harbours\n\n{_zip("- {}: {} USD" + chr(10), "Skagen|Thyborøn|Hanstholm", f.other_prices, "{:.2f}")}\n"""


# 8. A Japanese shop: a mall page of tables, an own shop, an app.
_TEAS = "玉露 100g|ほうじ茶 200g|抹茶 30g"


def _yen(number: float) -> str:
    return f"{number:,.0f}"


def _tea_first(f: DayFacts, visit: int) -> str:
    price = (
        '<span class="soldout_msg">売り切れました</span>'
        if f.price is None
        else f'<span class="price2">{_yen(f.price)}円</span><span class="tax_postage">税込、送料無料</span>'
    )
    more = _zip(
        '<td><a href="#">{}</a><br><span class="price3">{}円</span></td>', _TEAS, tuple(map(_yen, f.other_prices)), "{}"
    )
    return f"""<!DOCTYPE html><html lang="ja"><head><meta charset="utf-8"><title>【送料無料】煎茶 100g：山本園</title></head><body><div id="pageheader">レビュー({visit % 90 + 10}件)</div><table id="pagebody"><tr><td><span class="item_name"><b>煎茶 100g</b></span><br><table cellspacing="2"><tr><td nowrap><span class="catch">価格</span></td><td nowrap>{price}</td></tr></table><table class="item_desc" border="1">{_each("<tr><th>{k}</th><td>{v}</td></tr>", f)}</table><p>■セット内容</p><ul class="setlist">{_items("<li>{}</li>", f.items)}</ul><p class="ship">お届け予定日：{f.day.year}年{f.day.month}月{f.day.day}日</p></td></tr></table><table class="reco"><caption>おすすめ商品</caption><tr>{more}</tr></table></body></html>"""


def _tea_second(f: DayFacts, visit: int) -> str:
    price = (
        '<p class="product-soldout">売り切れました</p>'
        if f.price is None
        else f'<p class="product-price">¥{_yen(f.price)} <small>(税込)</small></p>'
    )
    more = _zip(
        '<li class="reco-item"><span>{}</span><span class="product-price">¥{}</span></li>',
        _TEAS,
        tuple(map(_yen, f.other_prices)),
        "{}",
    )
    return f"""<!DOCTYPE html><html lang="ja"><head><meta charset="utf-8"><title>煎茶 100g | 山本園</title></head><body><header class="g-header"><a>カート {visit % 4}点</a></header><ul class="reco"><li>おすすめ商品</li>{more}</ul><main><h1 class="product-name">煎茶 100g</h1>{price}<p class="product-date">お届け予定日 <b>{f.day:%Y/%m/%d}</b></p><h2>商品情報</h2><dl class="product-spec">{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl><h2>セット内容</h2><ol>{_items("<li>{}</li>", f.items)}</ol></main></body></html>"""


def _tea_third(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="sc-kOPcWz iMXyVf">売り切れました</div>'
        if f.price is None
        else f'<div class="sc-kOPcWz jZKtLm"><span class="sc-cWSHoV">価格</span><span class="sc-eBMEME bNQVzR">{_yen(f.price)}</span><span class="sc-dCFHLb">円（税込）</span></div>'
    )
    more = _zip(
        '<div class="sc-fhzFiK"><div>{}</div><span class="sc-eBMEME bNQVzR">{}</span><span class="sc-dCFHLb">円（税込）</span></div>',
        _TEAS,
        tuple(map(_yen, f.other_prices)),
        "{}",
    )
    return f"""<!DOCTYPE html><html lang="ja-JP"><head><meta charset="utf-8"><title>煎茶 100g - 公式ストア</title></head><body><div id="app"><div class="sc-aXZVg gpoYpT"><div class="sc-gEvEer">煎茶 100g</div>{price}<div class="sc-jsJBEP">お届け予定日：{f.day.month}月{f.day.day}日（{f.day.year}年）</div></div><div class="sc-iGgWBj"><div class="sc-gsFSXq">商品情報</div>{_each('<div class="sc-kAyceB"><div class="sc-imWYAI">{k}</div><div class="sc-jXbUNg">{v}</div></div>', f)}</div><div class="sc-iGgWBj"><div class="sc-gsFSXq">セット内容</div>{_items('<div class="sc-dhKdcB">{}</div>', f.items)}</div><div class="sc-iGgWBj"><div class="sc-gsFSXq">おすすめ商品</div>{more}</div><div>{visit}人が閲覧中</div></div></body></html>"""


def _fields(price: str, cell: str, table: str, items: str, date: str) -> tuple[tuple[str, str, FieldType], ...]:
    return ("price", price, _N), ("cell", cell, _T), ("table", table, _L), ("items", items, _L), ("date", date, _D)


TRADITIONS = (
    ValueTemplate(
        "utility-classes",
        Subject(149.0, 0.5, _rows(Battery="30 hours|32 hours|35 hours", Weight="250 g|248 g|245 g", Driver="40 mm|42 mm"),
                ("USB-C cable", "Travel pouch", "Audio cable", "Flight adapter", "Quick start guide", "Spare ear pads")),
        (_tail_first, _tail_second, _tail_third),
        _fields("css:p.text-3xl", "label:Weight", "css:dl.divide-y > div", "css:ul.list-disc li", "xpath://span[contains(., 'Dispatched')]"),
        "Weight", "GBP",
    ),
    ValueTemplate(
        "tables-of-1998",
        Subject(480.0, 5, _rows(Erhaltung="vorzüglich|sehr schön|Stempelglanz", Gewicht="3,48 g|3,49 g|3,47 g", Herkunft="Sammlung Kern|Auktion 12|Privatbesitz")
                , ("Echtheitszertifikat", "Münzkapsel", "Etui aus Leder", "Expertise Dr. Lang", "Sammlerkarte", "Foto des Fundorts")),
        (_coin_first, _coin_second, _coin_third),
        _fields("xpath://tr[contains(., 'Preis:') and not(.//tr)]/td[2]", "table:Gewicht",
                "xpath://table[@border=1]//tr[position() > 1]", "css:ul li", "css:font > i"),
        "Gewicht", "EUR",
    ),
    ValueTemplate(
        "definition-lists-in-arabic",
        Subject(1899.0, 10, (("الشاشة", ("٦٫١ بوصة", "٦٫٣ بوصة", "٦٫٧ بوصة")), ("الذاكرة", ("١٢٨ جيجابايت", "٢٥٦ جيجابايت", "٥١٢ جيجابايت")), ("اللون", ("أسود", "أزرق", "ذهبي"))),
                ("شاحن سريع", "سماعات", "كابل", "غطاء حماية", "دليل الاستخدام", "واقي شاشة")),
        (_phone_first, _phone_second, _phone_third),
        _fields("css:dl.offer dd.price", "table:الذاكرة", "table:الذاكرة/*", "css:ul.box li", "css:dd.when"),
        "الذاكرة", "SAR",
    ),
    ValueTemplate(
        "web-components-in-german",
        Subject(64.9, 0.5, (("Laufzeit", ("12 Monate", "24 Monate", "6 Monate")), ("Grundpreis", ("9,90 €", "10,90 €", "11,50 €")), ("Kündigungsfrist", ("4 Wochen", "6 Wochen", "1 Monat"))),
                ("Preisgarantie", "Kostenloser Wechsel", "Sofortbonus", "App mit Verbrauch", "Regionaler Anbieter", "Keine Vorkasse")),
        (_power_first, _power_second, _power_third),
        _fields("css:[slot=preis]", "xpath://daten-zeile[span='Laufzeit']/span[2]", "css:daten-zeile", "css:vorteil-punkt", "css:.gueltig"),
        "Laufzeit", "EUR",
    ),
    ValueTemplate(
        "json-api",
        Subject(2199.0, 10, _rows(Frame="Carbon|Aluminium|Steel", Fork="140 mm|150 mm|160 mm", Weight="12.4 kg|12.9 kg|13.3 kg"),
                ("Bell", "Reflectors", "Pump", "Tubeless kit", "Bottle cage", "Multitool")),
        (_api_first, _api_second, _api_third),
        _fields("json:$.price", "json:$.specs[?@.label=='Fork'].value", "json:$.specs[*]", "json:$.accessories[*]", "json:$.available_from"),
        "Fork", "", "json",
    ),
    ValueTemplate(
        "xml-feed",
        Subject(3490.0, 10, _rows(Hmotnost="2,1 kg|2,3 kg|2,4 kg", Barva="zelená|oranžová|šedá", Sezona="třísezónní|celoroční"),
                ("Kolíky", "Obal", "Opravná sada", "Podlážka", "Předsíň", "Návod")),
        (_xml_first, _xml_second, _xml_third),
        _fields("xpath:/shop/product/price", "xpath://param[name='Barva']/value", "xpath://params/param", "xpath://includes/include", "xpath://product/delivery"),
        "Barva", "", "xml",
    ),
    ValueTemplate(
        "plain-text",
        Subject(1.12, 0.01, _rows(Wind="SW 5|W 4|NW 6", Swell="1.2 m|1.8 m|0.9 m", Depth="6.4 m|6.1 m|6.6 m"),
                ("Crane out of order", "Lock closed at night", "Dredging at pier 3", "Regatta on Saturday", "New mooring fees", "Light 4 extinguished")),
        (_text_first, _text_second, _text_third),
        _fields("text:Diesel price: (.+)", "text:(?m)^Swell: (.+)", "text:(?m)^(?:Wind|Swell|Depth): .+", "text:(?m)^  - (.+)$", "text:Valid from: (\\S+)"),
        "Swell", "USD", "text",
    ),
    ValueTemplate(
        "japanese-shop",
        Subject(1980.0, 10, (("内容量", ("100g", "120g", "90g")), ("産地", ("静岡県", "鹿児島県", "京都府")), ("賞味期限", ("180日", "240日", "365日"))),
                ("煎茶 2袋", "急須", "茶さじ", "桐箱", "のし", "湯呑み")),
        (_tea_first, _tea_second, _tea_third),
        _fields("css:.price2", "table:産地", "css:table.item_desc tr", "css:ul.setlist li", "css:p.ship"),
        "産地", "JPY",
    ),
)  # fmt: skip
