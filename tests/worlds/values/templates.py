"""Ten templates in seven languages. Each has a first design and two redesigns of different kinds: renamed classes,
generated classes, other elements, tables that become lists, moved parts, and old names used for something else.

The selectors are what a person writes who looks at the first design.
"""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple

from evercrawl.model.fields import FieldRule, FieldType
from tests.worlds.values.facts import DayFacts, Subject

Design = Callable[[DayFacts, int], str]  # Facts and the number of the visit -> markup.


class ValueTemplate(NamedTuple):
    """One template: its subject, how it looks before and after redesigns, and what is watched."""

    name: str
    subject: Subject
    designs: tuple[Design, ...]  # The first one, and those that it may become.
    selectors: tuple[tuple[str, str, FieldType], ...]  # Name, selector and type.
    row: str  # The label of the table row that `cell` reads.
    unit: str
    media: str = "html"

    def rules(self, page: str) -> tuple[FieldRule, ...]:
        """Return the fields of a page."""
        return tuple(FieldRule(name, (page,), select, kind, only=True) for name, select, kind in self.selectors)


def _group(number: float, thousands: str, decimal: str, places: int = 2) -> str:
    text = f"{number:,.{places}f}"
    return text.replace(",", "\0").replace(".", decimal).replace("\0", thousands)


def _indian(number: float) -> str:
    digits = f"{number:.0f}"
    head, tail = digits[:-3], digits[-3:]
    parts = []
    while head:
        parts.insert(0, head[-2:])
        head = head[:-2]
    return ",".join([*parts, tail])


def _named(day: date, months: str, form: str) -> str:
    return form.format(day=day.day, month=months.split()[day.month - 1], year=day.year)


def _join(form: str, rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(form.format(*row) for row in rows)


def _items(form: str, items: Iterable[str]) -> str:
    return "".join(form.format(item) for item in items)


_GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
_FRENCH = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
_ENGLISH = "January February March April May June July August September October November December"
_POLISH = "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"
_PORTUGUESE = "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
_LOREM = (
    "Every order is packed by hand on the day it arrives. Questions are answered by the people who made the thing.",
    "We have been in the same street since 1952 and still know most of our customers by name.",
)


# 1. A German shop.


def _kettle_first(f: DayFacts, visit: int) -> str:
    price = "ausverkauft" if f.price is None else f"{_group(f.price, '.', ',')} €"
    also = _items(
        "<li class=teaser><span class=teaser-price>{} €</span></li>", (_group(p, ".", ",") for p in f.other_prices)
    )
    return f"""<!doctype html><html lang=de><title>Espressomaschine</title><nav><a href=/>Start</a> Warenkorb ({visit})</nav>
<main><h1>Espressomaschine Modell 4</h1><p class="price">{price}</p><p>{_LOREM[0]}</p>
<h2>Technische Daten</h2><table class="specs">{_join("<tr><th>{}</th><td>{}</td></tr>", f.rows)}</table>
<h2>Zubehör</h2><ul class="parts">{_items("<li>{}</li>", f.items)}</ul>
<p class="stand">Stand: {_named(f.day, _GERMAN, "{day}. {month} {year}")}</p></main>
<aside><h2>Das könnte Ihnen auch gefallen</h2><ul>{also}</ul></aside></html>"""


def _kettle_second(f: DayFacts, visit: int) -> str:
    price = "<b>ausverkauft</b>" if f.price is None else f"<b>{_group(f.price, '.', ',')} €</b>"
    also = _items("<div class=card><i>{} €</i></div>", (_group(p, ".", ",") for p in f.other_prices))
    return f"""<!doctype html><html lang=de><title>Espressomaschine</title><div class=top>Warenkorb {visit}</div>
<div class=product><div class=left><h1>Espressomaschine Modell 4</h1><div class="product-price-box">{price}</div>
<p>{_LOREM[0]}</p></div><div class=right><h2>Technische Daten</h2><table class="datasheet"><tbody>
{_join("<tr><td class=k>{}</td><td class=v>{}</td></tr>", f.rows)}</table>
<h2>Zubehör</h2><ul class="accessories">{_items("<li><a href=#>{}</a></li>", f.items)}</ul>
<small>Stand: <time>{_named(f.day, _GERMAN, "{day}. {month} {year}")}</time></small></div></div>
<div class=cards><h2>Das könnte Ihnen auch gefallen</h2>{also}</div></html>"""


def _kettle_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"<span itemprop=price>{_group(f.price, '.', ',')} €</span>"
    also = _items('<p class="price">{} €</p>', (_group(p, ".", ",") for p in f.other_prices))
    return f"""<!doctype html><html lang=de><title>Espressomaschine</title><header>Warenkorb: {visit}</header>
<aside><h2>Das könnte Ihnen auch gefallen</h2>{also}</aside>
<article><h1>Espressomaschine Modell 4</h1><div>{price}</div><p>{_LOREM[0]}</p>
<h2>Technische Daten</h2><dl>{_join("<div><dt>{}</dt><dd>{}</dd></div>", f.rows)}</dl>
<h2>Zubehör</h2><div class=grid>{_items("<div class=tile>{}</div>", f.items)}</div>
<p>Stand: <span>{f.day:%d.%m.%Y}</span></p></article></html>"""


# 2. An American shop.


def _desk_first(f: DayFacts, visit: int) -> str:
    price = "Currently unavailable" if f.price is None else f"${_group(f.price, ',', '.')}"
    return f"""<html lang=en-US><head><title>Desk</title></head><body><div id=header>Hello #{visit}</div>
<div id=content><h1>Standing desk</h1><div id="buybox"><span id="price">{price}</span> <button>Add to cart</button></div>
<div class=features><h3>Features</h3><ol>{_items("<li>{}</li>", f.items)}</ol></div>
<table id=details border=1><caption>Details</caption>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table>
<p id="updated">Last updated {_named(f.day, _ENGLISH, "{month} {day}, {year}")}</p></div>
<div id=sponsored>{_items("<p>Sponsored: ${}</p>", (_group(p, ",", ".") for p in f.other_prices))}</div></body></html>"""


def _desk_second(f: DayFacts, visit: int) -> str:
    price = "Currently unavailable" if f.price is None else f"${_group(f.price, ',', '.')}"
    return f"""<html lang=en-US><head><title>Desk</title></head><body class=css-9x2k1><div class=css-77aa1>Hello #{visit}</div>
<main class=css-1a2b3><h1 class=css-5d6e7>Standing desk</h1><div class=css-8f9g1><span class=css-2h3j4>{price}</span>
<button class=css-5k6m7>Add to cart</button></div><h3>Details</h3><table class=css-4x5c6>
{_join("<tr><td class=css-1l2k3>{}</td><td class=css-9i8u7>{}</td></tr>", f.rows)}</table>
<h3>Features</h3><ul class=css-6y5t4>{_items("<li class=css-3e2w1>{}</li>", f.items)}</ul>
<p class=css-0o9i8>Last updated {_named(f.day, _ENGLISH, "{month} {day}, {year}")}</p></main>
<section class=css-2q3w4>{_items("<p>Sponsored: ${}</p>", (_group(p, ",", ".") for p in f.other_prices))}</section></body></html>"""


def _desk_third(f: DayFacts, visit: int) -> str:
    price = "Currently unavailable" if f.price is None else f"<sup>$</sup>{_group(f.price, ',', '.')}"
    return f"""<html lang=en-US><head><title>Desk</title></head><body><header>Hello #{visit}</header>
<section class=hero><h1>Standing desk</h1><p data-role=offer>{price}</p></section>
<section class=tabs><div class=tab><h3>Features</h3>{_items("<p class=bullet>{}</p>", f.items)}</div>
<div class=tab><h3>Details</h3><table><thead><tr>{_items("<th>{}</th>", (row[0] for row in f.rows))}</tr></thead><tbody><tr>
{_items("<td>{}</td>", (row[1] for row in f.rows))}</tr></tbody></table></div></section>
<footer>Last updated <time datetime={f.day.isoformat()}>{_named(f.day, _ENGLISH, "{month} {day}, {year}")}</time></footer></body></html>"""


# 3. An Indian shop with structured data.


def _phone_first(f: DayFacts, visit: int) -> str:
    price = "Sold out" if f.price is None else f"₹{_indian(f.price)}"
    offer = "" if f.price is None else f'"offers":{{"@type":"Offer","price":"{f.price:.0f}","priceCurrency":"INR"}},'
    return f"""<!doctype html><html lang=en-IN><title>Phone</title><script type="application/ld+json">
{{"@context":"https://schema.org","@type":"Product",{offer}"name":"Phone"}}</script>
<div class=wrap><h1>Phone 12</h1><div class="amount">{price}</div><div class=viewers>{visit + 3} people are looking</div>
<div class=specbox>{_join("<div class=row><span class=name>{}</span><span class=val>{}</span></div>", f.rows)}</div>
<div class=offers><h4>Bank offers</h4>{_items("<div class=offer>{}</div>", f.items)}</div>
<div class=delivery>Delivery by <b>{f.day:%d/%m/%Y}</b></div></div></html>"""


def _phone_second(f: DayFacts, visit: int) -> str:
    price = "Sold out" if f.price is None else f"₹ {_indian(f.price)}"
    offer = "" if f.price is None else f'"offers":{{"@type":"Offer","price":"{f.price:.0f}","priceCurrency":"INR"}},'
    return f"""<!doctype html><html lang=en-IN><title>Phone</title><script type="application/ld+json">
{{"@context":"https://schema.org","@type":"Product",{offer}"name":"Phone"}}</script>
<main><h1>Phone 12</h1><section class=buy><h2 class="amount-now">{price}</h2><em>{visit + 3} people are looking</em></section>
<section class=delivery-info>Delivery by <strong>{f.day:%d/%m/%Y}</strong></section>
<section><h4>Bank offers</h4><ul>{_items("<li class=bank-offer>{}</li>", f.items)}</ul></section>
<section class=specs>{_join("<p><span>{}</span> <span>{}</span></p>", f.rows)}</section></main></html>"""


def _phone_third(f: DayFacts, visit: int) -> str:
    price = "Sold out" if f.price is None else f"₹{_indian(f.price)}"
    emi = "" if f.price is None else f'<div class="amount">₹{_indian(round(f.price / 12))} a month for 12 months</div>'
    return f"""<!doctype html><html lang=en-IN><title>Phone</title>
<main><h1>Phone 12</h1>{emi}<div class=full><span>{price}</span></div><em>{visit + 3} people are looking</em>
<h4>Bank offers</h4><ul>{_items("<li>{}</li>", f.items)}</ul>
<p>Delivery by <strong>{f.day:%d %b %Y}</strong></p>
<table>{_join("<tr><th>{}</th><td>{}</td></tr>", f.rows)}</table></main></html>"""


# 4. A British hotel.


def _hotel_first(f: DayFacts, visit: int) -> str:
    price = "fully booked" if f.price is None else f"from £{f.price:.0f}"
    return f"""<!doctype html><html lang=en-GB><title>Hotel</title><body><h1>The Anchor</h1>
<div class="rates"><span class="rate">{price}</span> per night</div><p>{_LOREM[1]}</p>
<div class="hours"><h2>Reception</h2><table>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table></div>
<div class="amenities"><h2>Amenities</h2><ul>{_items("<li>{}</li>", f.items)}</ul></div>
<div class="checked">Prices checked on {f.day.day} {f.day:%b %Y}</div><div>{visit} visitors today</div></body></html>"""


def _hotel_second(f: DayFacts, visit: int) -> str:
    price = "fully booked" if f.price is None else f"from £{f.price:.0f}"
    return f"""<!doctype html><html lang=en-GB><title>Hotel</title><body><div class=page><div class=banner>{visit} visitors today</div>
<h1>The Anchor</h1><div class="hotel-rates"><div class="hotel-rates__rate">{price}</div><div>per night</div></div>
<p>{_LOREM[1]}</p><div class="hotel-amenities"><h2>Amenities</h2><ul>{_items("<li>{}</li>", f.items)}</ul></div>
<div class="hotel-hours"><h2>Reception</h2><table>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table></div>
<div class="hotel-checked">Prices checked on {f.day.day} {f.day:%b %Y}</div></div></body></html>"""


def _hotel_third(f: DayFacts, visit: int) -> str:
    price = "fully booked" if f.price is None else f"<s>£{f.price * 1.3:.0f}</s> <strong>£{f.price:.0f}</strong>"
    return f"""<!doctype html><html lang=en-GB><title>Hotel</title><body><header>The Anchor · {visit}</header>
<main><h1>The Anchor</h1><p class=tariff>{price} per night</p><p>{_LOREM[1]}</p>
<h2>Reception</h2><ul class=times>{_join("<li><b>{}</b> <span>{}</span></li>", f.rows)}</ul>
<h2>Amenities</h2><p class=chips>{_items("<span class=chip>{}</span> ", f.items)}</p>
<p><i>Prices checked on {f.day.day} {f.day:%B %Y}</i></p></main></body></html>"""


# 5. A French railway.


def _train_first(f: DayFacts, visit: int) -> str:
    price = "complet" if f.price is None else f"{_group(f.price, ' ', ',')} €"
    return f"""<!doctype html><html lang=fr><title>Lyon</title><div class=menu>Visites : {visit}</div>
<h1>Paris – Lyon</h1><p>Tarif : <strong class="tarif">{price}</strong></p>
<table class="horaires"><thead><tr><th>Gare</th><th>Heure</th></tr></thead><tbody>
{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</tbody></table>
<h2>Travaux</h2><ul id="travaux">{_items("<li>{}</li>", f.items)}</ul>
<p class="maj">Mis à jour le {_named(f.day, _FRENCH, "{day} {month} {year}")}</p></html>"""


def _train_second(f: DayFacts, visit: int) -> str:
    price = "complet" if f.price is None else f"{_group(f.price, ' ', ',')} €"
    return f"""<!doctype html><html lang=fr><title>Lyon</title><div class=menu>Visites : {visit}</div>
<main><h1>Paris – Lyon</h1><section><p>Tarif : <span class="montant">{price}</span></p></section>
<section><table class="tableau"><thead><tr><th>Gare</th><th>Heure</th></tr></thead><tbody>
{_join("<tr><td>{}</td><td><b>{}</b></td></tr>", f.rows)}</tbody></table></section>
<section><h2>Travaux</h2>{_items("<article><p>{}</p></article>", f.items)}</section>
<section class=pied>Mis à jour le <b>{_named(f.day, _FRENCH, "{day} {month} {year}")}</b></section></main></html>"""


def _train_third(f: DayFacts, visit: int) -> str:
    price = "complet" if f.price is None else f"{_group(f.price, ' ', ',')} €"
    return f"""<!doctype html><html lang=fr><title>Lyon</title><main><h1>Paris – Lyon</h1>
<h2>Travaux</h2><ol>{_items("<li>{}</li>", f.items)}</ol>
<div class=x1><table><tbody><tr><th>Gare</th><th>Heure</th></tr>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</tbody></table></div>
<div class=x2><span>Tarif</span><span>{price}</span></div><div class=x3><span>Mis à jour le</span>
<span>{f.day:%d/%m/%Y}</span></div><footer>Visites : {visit}</footer></main></html>"""


# 6. A job board.


def _job_first(f: DayFacts, visit: int) -> str:
    pay = "Salary on request" if f.price is None else f"£{_group(f.price, ',', '.', 0)} per year"
    return f"""<!doctype html><html lang=en-GB><title>Job</title><h1>Data engineer</h1>
<dl class="facts"><dt>Salary</dt><dd class="salary">{pay}</dd><dt>Closing date</dt><dd class="closing">{f.day.isoformat()}</dd></dl>
<h2>About the post</h2><table class="about">{_join("<tr><th>{}</th><td>{}</td></tr>", f.rows)}</table>
<h2>Other posts</h2><ul class="jobs">{_items('<li><a href="#">{}</a></li>', f.items)}</ul><p>{visit} applications</p></html>"""


def _job_second(f: DayFacts, visit: int) -> str:
    pay = "Salary on request" if f.price is None else f"£{_group(f.price, ',', '.', 0)} per year"
    return f"""<!doctype html><html lang=en-GB><title>Job</title><main><h1>Data engineer</h1>
<div class=summary><div><span class=l>Salary</span><span class=r>{pay}</span></div>
<div><span class=l>Closing date</span><span class=r>{f.day.isoformat()}</span></div></div>
<h2>About the post</h2><table class="summary-table">{_join("<tr><th scope=row>{}</th><td>{}</td></tr>", f.rows)}</table>
<h2>Other posts</h2><div class="post-list">{_items('<a href="#">{}</a>', f.items)}</div><p>{visit} applications</p></main></html>"""


def _job_third(f: DayFacts, visit: int) -> str:
    pay = "Salary on request" if f.price is None else f"£{_group(f.price, ',', '.', 0)} per year"
    return f"""<!doctype html><html lang=en-GB><title>Job</title><body><h1>Data engineer</h1><table class=all>
<tr><th>Salary<td>{pay}<tr><th>Closing date<td>{f.day.day} {f.day:%B %Y}
{_join("<tr><th>{}<td>{}", f.rows)}</table><h2>Other posts</h2>
<ul>{_items("<li class=o><h3>{}</h3></li>", f.items)}</ul><p>{visit} applications</p></body></html>"""


# 7. A program's download page.


def _program_first(f: DayFacts, visit: int) -> str:
    price = "free this week" if f.price is None else f"${f.price:.2f}"
    return f"""<!doctype html><html lang=en><title>Editor</title><h1>Editor</h1>
<section class="plan plan-pro"><h2>Pro</h2><div class="plan__price">{price}</div><div>per month</div></section>
<section class="plan plan-free"><h2>Free</h2><div class="plan__price">$0.00</div></section>
<h2>Downloads</h2><table class=dl>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table>
<h2>What's new</h2><ul class=news>{_items("<li>{}</li>", f.items)}</ul>
<p>Released <time class="released" datetime="{f.day.isoformat()}">{f.day:%b} {f.day.day}, {f.day.year}</time> · {visit} stars</p></html>"""


def _program_second(f: DayFacts, visit: int) -> str:
    price = "free this week" if f.price is None else f"${f.price:.2f}"
    return f"""<!doctype html><html lang=en><title>Editor</title><h1>Editor</h1><p>{visit} stars</p>
<div class=pricing><div class="tier free"><h2>Free</h2><p class=cost>$0.00</p></div>
<div class="tier pro"><h2>Pro</h2><p class=cost>{price}</p><p>per month</p></div></div>
<h2>Downloads</h2><table class=files>{_join("<tr><td><a href=#>{}</a></td><td>{}</td></tr>", f.rows)}</table>
<h2>What's new</h2><ul class=changes>{_items("<li>{}</li>", f.items)}</ul>
<p>Released <time datetime="{f.day.isoformat()}">{f.day:%b} {f.day.day}, {f.day.year}</time></p></html>"""


def _program_third(f: DayFacts, visit: int) -> str:
    price = "free this week" if f.price is None else f"${f.price:.2f}"
    return f"""<!doctype html><html lang=en><title>Editor</title><h1>Editor</h1><table class=compare>
<tr><th></th><th>Free</th><th>Pro</th></tr><tr><th>Price</th><td>$0.00</td><td>{price}</td></tr></table>
<h2>What's new</h2><ol class=log>{_items("<li>{}</li>", f.items)}</ol>
<h2>Downloads</h2><div class=files>{_join("<p><b>{}</b> <span>{}</span></p>", f.rows)}</div>
<p>Released on <b>{f.day.isoformat()}</b>. {visit} stars</p></html>"""


# 8. A Japanese bank.


def _bank_first(f: DayFacts, visit: int) -> str:
    rate = "停止中" if f.price is None else f"{f.price:.2f}%"
    return f"""<!doctype html><html lang=ja><title>金利</title><h1>住宅ローン金利</h1><p class="kinri">{rate}</p>
<table class="hyou">{_join("<tr><th>{}</th><td>{}</td></tr>", f.rows)}</table>
<h2>お知らせ</h2><ul class="oshirase">{_items("<li>{}</li>", f.items)}</ul>
<p class="koushin">{f.day.year}年{f.day.month}月{f.day.day}日更新</p><p>来訪 {visit}</p></html>"""


def _bank_second(f: DayFacts, visit: int) -> str:
    rate = "停止中" if f.price is None else f"{f.price:.2f}%"
    return f"""<!doctype html><html lang=ja><title>金利</title><div id=app><h1>住宅ローン金利</h1>
<div class="rate-box"><strong>{rate}</strong></div><div class=table-wrap><table>
{_join("<tr><th>{}</th><td>{}</td></tr>", f.rows)}</table></div>
<h2>お知らせ</h2><div class=notices>{_items("<p>{}</p>", f.items)}</div>
<footer><span>{f.day.year}年{f.day.month}月{f.day.day}日更新</span> <span>来訪 {visit}</span></footer></div></html>"""


def _bank_third(f: DayFacts, visit: int) -> str:
    rate = "停止中" if f.price is None else f"年 {f.price:.2f} %"
    return f"""<!doctype html><html lang=ja><title>金利</title><main><p>来訪 {visit}</p><h1>住宅ローン金利</h1>
<p class="now">{rate}</p><h2>お知らせ</h2><ul>{_items("<li class=n>{}</li>", f.items)}</ul>
<dl>{_join("<dt>{}</dt><dd>{}</dd>", f.rows)}</dl><p class=d>{f.day.year}年{f.day.month}月{f.day.day}日 更新</p></main></html>"""


# 9. Polish used cars.


def _car_first(f: DayFacts, visit: int) -> str:
    price = "sprzedany" if f.price is None else f"{_group(f.price, ' ', ',', 0)} zł"
    return f"""<!doctype html><html lang=pl><title>Auto</title><div class=offer><h1>Auto kombi</h1>
<div class="offer-price">{price}</div><ul class="params">{_join("<li><span>{}</span> <b>{}</b></li>", f.rows)}</ul>
<h2>Wyposażenie</h2><ul class="equipment">{_items("<li>{}</li>", f.items)}</ul>
<span class="offer-date">Dodano {_named(f.day, _POLISH, "{day} {month} {year}")}</span><i>{visit} wyświetleń</i></div></html>"""


def _car_second(f: DayFacts, visit: int) -> str:
    price = "sprzedany" if f.price is None else f"{_group(f.price, ' ', ',', 0)} PLN"
    return f"""<!doctype html><html lang=pl><title>Auto</title><main><h1>Auto kombi</h1><i>{visit} wyświetleń</i>
<h3 data-testid="ad-price">{price}</h3><div data-testid="params">{_join("<p data-testid=param><span>{}</span> <b>{}</b></p>", f.rows)}</div>
<h2>Wyposażenie</h2><div data-testid="equipment">{_items("<p>{}</p>", f.items)}</div>
<p data-testid="date">Dodano {_named(f.day, _POLISH, "{day} {month} {year}")}</p></main></html>"""


def _car_third(f: DayFacts, visit: int) -> str:
    price = "sprzedany" if f.price is None else f"{_group(f.price, ' ', ',', 0)} zł"
    return f"""<!doctype html><html lang=pl><title>Auto</title><div class=page><div class=col>
<h2>Wyposażenie</h2><ul>{_items("<li>{}</li>", f.items)}</ul></div><div class=col><h1>Auto kombi</h1><p>{price}</p>
<table>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table>
<p>Dodano {_named(f.day, _POLISH, "{day} {month} {year}")}</p><p>{visit} wyświetleń</p></div></div></html>"""


# 10. Brazilian tickets.


def _ticket_first(f: DayFacts, visit: int) -> str:
    price = "esgotado" if f.price is None else f"R$ {_group(f.price, '.', ',')}"
    return f"""<!doctype html><html lang=pt-BR><title>Show</title><h1>Festival de verão</h1>
<div class="ingresso"><span>A partir de</span> <b class="valor">{price}</b></div>
<table class="setores"><tr><th>Setor</th><th>Lugares</th></tr>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table>
<h2>Atrações</h2><ul class="atracoes">{_items("<li>{}</li>", f.items)}</ul>
<p class="data">Atualizado em {_named(f.day, _PORTUGUESE, "{day} de {month} de {year}")}</p><p>{visit} pessoas</p></html>"""


def _ticket_second(f: DayFacts, visit: int) -> str:
    price = "esgotado" if f.price is None else f"R$ {_group(f.price, '.', ',')}"
    return f"""<!doctype html><html lang=pt-BR><title>Show</title><div class=capa><h1>Festival de verão</h1></div>
<div class=compra><small>A partir de</small> <big class="preco">{price}</big></div><p>{visit} pessoas</p>
<h2>Atrações</h2><ul class="lineup">{_items("<li><strong>{}</strong></li>", f.items)}</ul>
<div class=mapa><table><tr><th>Setor</th><th>Lugares</th></tr>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table></div>
<p>Atualizado em <time>{_named(f.day, _PORTUGUESE, "{day} de {month} de {year}")}</time></p></html>"""


def _ticket_third(f: DayFacts, visit: int) -> str:
    price = "esgotado" if f.price is None else f"R$ {_group(f.price, '.', ',')}"
    fee = f"R$ {_group(f.other_prices[0] / 10, '.', ',')}"
    return f"""<!doctype html><html lang=pt-BR><title>Show</title><h1>Festival de verão</h1><p>{visit} pessoas</p>
<div class=box><p>Taxa de serviço <b class="valor">{fee}</b></p><p>A partir de <b>{price}</b></p></div>
<table class=lugares><tr><th>Setor</th><th>Lugares</th></tr>{_join("<tr><td>{}</td><td>{}</td></tr>", f.rows)}</table>
<h2>Atrações</h2><ol>{_items("<li>{}</li>", f.items)}</ol>
<p>Atualizado em {f.day:%d/%m/%Y}</p></html>"""


_T, _N, _D, _L = FieldType.TEXT, FieldType.NUMBER, FieldType.DATE, FieldType.LIST


def _rows(**values: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((label.replace("_", " "), tuple(text.split("|"))) for label, text in values.items())


TEMPLATES = (
    ValueTemplate(
        "shop-de",
        Subject(
            1234.56, 0.5, _rows(Gewicht="4,2 kg|4,3 kg|4,5 kg", Leistung="1200 W|1250 W|1300 W", Farbe="rot|blau|grau"),
            ("Milchkanne", "Tamper aus Stahl", "Reinigungsset", "Bohnenbehälter", "Siebträger", "Wasserfilter"),
        ),
        (_kettle_first, _kettle_second, _kettle_third),
        (("price", "css:p.price", _N), ("cell", "xpath://table[@class='specs']//tr[th='Leistung']/td", _T),
         ("table", "css:table.specs tr", _L), ("items", "css:ul.parts li", _L), ("date", "css:.stand", _D)),
        "Leistung", "EUR",
    ),
    ValueTemplate(
        "shop-us",
        Subject(
            1234.56, 1, _rows(Width="48 in|50 in|60 in", Weight="80 lbs|82 lbs", Color="Oak|Walnut|White"),
            ("Quiet motor", "Steel frame", "Four presets", "Cable tray", "Ten-year warranty", "USB charger"),
        ),
        (_desk_first, _desk_second, _desk_third),
        (("price", "css:#price", _N), ("cell", "css:#details tr:nth-child(1) td:nth-child(2)", _T),
         ("table", "css:#details tr", _L), ("items", "css:.features li", _L), ("date", "css:#updated", _D)),
        "Width", "USD",
    ),
    ValueTemplate(
        "shop-in",
        Subject(
            123456, 1000, _rows(RAM="8 GB|12 GB", Storage="256 GB|512 GB|1 TB", Battery="5000 mAh|5200 mAh"),
            ("10% off with card A", "No-cost EMI", "Cashback on wallet B", "Exchange bonus", "Student discount"),
        ),
        (_phone_first, _phone_second, _phone_third),
        (("price", "css:.amount", _N), ("cell", "css:.specbox .row:nth-child(2) .val", _T),
         ("table", "css:.specbox .row", _L), ("items", "css:.offers .offer", _L), ("date", "css:.delivery b", _D)),
        "Storage", "INR",
    ),
    ValueTemplate(
        "hotel-uk",
        Subject(
            79, 1, _rows(Weekdays="7:00–22:00|8:00–22:00|8:00–20:00", Saturday="8:00–20:00|9:00–18:00",
                         Sunday="closed|10:00–16:00"),
            ("Free parking", "Breakfast", "Sauna", "Dogs welcome", "Bicycle hire", "Garden"),
        ),
        (_hotel_first, _hotel_second, _hotel_third),
        (("price", "css:.rates .rate", _N), ("cell", "xpath://div[@class='hours']//tr[2]/td[2]", _T),
         ("table", "css:.hours tr", _L), ("items", "css:.amenities li", _L), ("date", "css:.checked", _D)),
        "Saturday", "GBP",
    ),
    ValueTemplate(
        "train-fr",
        Subject(
            1234.5, 0.5, _rows(Paris="8 h 04|8 h 10|8 h 30", Dijon="9 h 40|9 h 55", Lyon="10 h 02|10 h 15|10 h 40"),
            ("Ligne C fermée", "Gare de Dijon en travaux", "Retards possibles", "Quai 4 inaccessible", "Bus de remplacement"),
        ),
        (_train_first, _train_second, _train_third),
        (("price", "css:strong.tarif", _N), ("cell", "css:.horaires tbody tr:nth-child(3) td:nth-child(2)", _T),
         ("table", "css:.horaires tbody tr", _L), ("items", "css:#travaux li", _L), ("date", "css:p.maj", _D)),
        "Lyon", "EUR",
    ),
    ValueTemplate(
        "jobs",
        Subject(
            45000, 500, _rows(Team="Platform|Search|Data", Place="Leeds|York|Remote", Hours="37|40|30"),
            ("Gardener", "Head of finance", "Driver (part time)", "Nurse", "Cook", "Receptionist"),
        ),
        (_job_first, _job_second, _job_third),
        (("price", "css:dd.salary", _N), ("cell", "xpath://table[@class='about']//tr[2]/td", _T),
         ("table", "css:table.about tr", _L), ("items", "css:ul.jobs li", _L), ("date", "css:dd.closing", _D)),
        "Place", "GBP",
    ),
    ValueTemplate(
        "program",
        Subject(
            29, 1, _rows(Linux="48 MB|49 MB|51 MB", Windows="62 MB|63 MB|70 MB", macOS="70 MB|71 MB|75 MB"),
            ("Faster start", "Dark mode", "Search in files", "Fewer crashes", "New icons", "Split view"),
        ),
        (_program_first, _program_second, _program_third),
        (("price", "css:.plan-pro .plan__price", _N), ("cell", "css:table.dl tr:nth-child(2) td:nth-child(2)", _T),
         ("table", "css:table.dl tr", _L), ("items", "css:ul.news li", _L),
         ("date", "css:time.released::attr(datetime)", _D)),
        "Windows", "USD",
    ),
    ValueTemplate(
        "bank-ja",
        Subject(
            3.45, 0.05, _rows(普通預金="0.10%|0.12%|0.15%", 定期預金="0.30%|0.35%", 変動="0.60%|0.65%|0.70%"),
            ("年末の営業時間", "手数料の変更", "新しい支店", "アプリの更新", "詐欺にご注意ください"),
        ),
        (_bank_first, _bank_second, _bank_third),
        (("price", "css:.kinri", _N), ("cell", "css:.hyou tr:nth-child(2) td", _T),
         ("table", "css:.hyou tr", _L), ("items", "css:.oshirase li", _L), ("date", "css:.koushin", _D)),
        "定期預金", "%",
    ),
    ValueTemplate(
        "car-pl",
        Subject(
            45900, 100, _rows(Rocznik="2019|2020", Przebieg="84 000 km|85 500 km|91 000 km", Paliwo="benzyna|diesel"),
            ("Klimatyzacja", "Hak", "Nawigacja", "Podgrzewane fotele", "Czujniki parkowania", "Alufelgi"),
        ),
        (_car_first, _car_second, _car_third),
        (("price", "css:.offer-price", _N), ("cell", "css:.params li:nth-child(2) b", _T),
         ("table", "css:.params li", _L), ("items", "css:.equipment li", _L), ("date", "css:.offer-date", _D)),
        "Przebieg", "PLN",
    ),
    ValueTemplate(
        "tickets-br",
        Subject(
            1234.56, 5, _rows(Pista="412|380|305", Arquibancada="1.200|1.105|990", Camarote="22|18|9"),
            ("Banda do Porto", "Ana e os Ventos", "Trio Serrano", "Coro da Praia", "DJ Maré", "Os Caminhantes"),
        ),
        (_ticket_first, _ticket_second, _ticket_third),
        (("price", "css:.valor", _N), ("cell", "xpath://table[@class='setores']//tr[3]/td[2]", _T),
         ("table", "css:table.setores tr", _L), ("items", "css:ul.atracoes li", _L), ("date", "css:p.data", _D)),
        "Arquibancada", "BRL",
    ),
)  # fmt: skip
