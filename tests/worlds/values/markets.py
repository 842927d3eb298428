"""Eight more templates, in Polish, Hungarian, Turkish, Indonesian, Korean, English, Greek and Danish: a flat to rent, a
fridge, a flight, a job, a concert, a fundraiser, a ferry and a used car. Each is redesigned twice.
"""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from tests.worlds.values.facts import DayFacts, Subject
from tests.worlds.values.moves import _each, _zip
from tests.worlds.values.others import _fields
from tests.worlds.values.templates import ValueTemplate, _group, _items, _named, _rows

_LONG = "{day} {month} {year}"
_POLISH = "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"
_HUNGARIAN = "január február március április május június július augusztus szeptember október november december"
_TURKISH = "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık"
_INDONESIAN = "Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember"
_GREEK = (
    "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου"
)
_DANISH = "januar februar marts april maj juni juli august september oktober november december"
_ENGLISH = "January February March April May June July August September October November December"


# 1. A flat to rent in Polish.
_FLATS = "Kawalerka Mokotów|Pokój Ochota|Dom Wawer"


def _rent_first(f: DayFacts, visit: int) -> str:
    price = (
        '<strong class="css-noprice">Zapytaj o cenę</strong>'
        if f.price is None
        else f'<strong data-cy="adPageHeaderPrice" class="css-price">{_group(f.price, " ", ",", 0)} zł</strong><span class="css-rent">+ czynsz 450 zł</span>'
    )
    more = _zip('<article class="css-ad"><p>{}</p><span>{} zł</span></article>', _FLATS, f.other_prices, "{:.0f}")
    return f"""<!DOCTYPE html><html lang="pl"><head><title>Mieszkanie 2 pokoje</title></head><body><main><header><h1>Mieszkanie 2 pokoje, Wola</h1>{price}</header><div class="css-table">{_each('<div class="css-row"><div class="css-k">{k}</div><div class="css-v">{v}</div></div>', f)}</div><h2>Wyposażenie</h2><ul class="css-eq">{_items("<li>{}</li>", f.items)}</ul><p class="css-date">Aktualizacja: {_named(f.day, _POLISH, _LONG)}</p><p>Wyświetleń: {visit}</p></main><aside><h3>Podobne ogłoszenia</h3>{more}</aside></body></html>"""


def _rent_second(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"<p>Cena najmu <b>{_group(f.price, ' ', ',', 0)} zł</b> / miesiąc</p>"
    more = _zip("<li><a>{}</a> <i>{} zł</i></li>", _FLATS, f.other_prices, "{:.0f}")
    return f"""<!DOCTYPE html><html lang="pl"><head><title>Oferta</title></head><body><div id="oferta"><h1>Mieszkanie 2 pokoje, Wola</h1>{price}<table class="parametry"><tbody>{_each("<tr><td>{k}:</td><td><b>{v}</b></td></tr>", f)}</tbody></table><h4>Wyposażenie</h4><div class="tagi">{_items("<span>{}</span>", f.items)}</div><small>Aktualizacja {f.day:%d.%m.%Y}, odsłon {visit}</small></div><h4>Podobne ogłoszenia</h4><ul>{more}</ul></body></html>"""


def _rent_third(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="amount amount--none">cena na zapytanie</div>'
        if f.price is None
        else f'<div class="amount"><span>{_group(f.price, " ", ",", 0)}</span> <abbr>PLN</abbr></div><div class="fee">Kaucja {_group(f.price * 2, " ", ",", 0)} PLN</div>'
    )
    more = _zip(
        '<div class="tile"><div class="amount">{1} PLN</div><div>{0}</div></div>', _FLATS, f.other_prices, "{:.0f}"
    )
    return f"""<!DOCTYPE html><html lang="pl"><head><title>Mieszkanie</title></head><body><section class="tiles">{more}</section><section class="offer"><h1>Mieszkanie 2 pokoje, Wola</h1>{price}<dl>{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl><h3>Wyposażenie</h3><ol class="eq">{_items("<li><span>{}</span></li>", f.items)}</ol><time datetime="{f.day.isoformat()}">Aktualizacja: {_named(f.day, _POLISH, _LONG)}</time><em>{visit}</em></section></body></html>"""


# 2. A fridge in Hungarian.
_FRIDGES = "Fagyasztóláda|Mini hűtő|Borhűtő"


def _fridge_first(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="stock">Nem rendelhető</div>'
        if f.price is None
        else f'<div class="product-price" itemprop="price">{_group(f.price, " ", ",", 0)} Ft</div>'
    )
    more = _zip(
        '<div class="card"><a>{}</a><div class="product-price">{} Ft</div></div>', _FRIDGES, f.other_prices, "{:.0f}"
    )
    return f"""<html lang="hu"><head><title>Hűtő</title></head><body><h1 class="product-name">Kombinált hűtő 300 l</h1>{price}<div class="ship">Várható szállítás: <span class="when">{f.day.year}. {_HUNGARIAN.split()[f.day.month - 1]} {f.day.day}.</span></div><table class="attrs">{_each("<tr><th>{k}</th><td>{v}</td></tr>", f)}</table><h3>Tartozékok</h3><ul class="acc">{_items("<li>{}</li>", f.items)}</ul><div class="rel"><h3>Ajánlatunk</h3>{more}</div><p>{visit} vélemény</p></body></html>"""


def _fridge_second(f: DayFacts, visit: int) -> str:
    price = (
        '<p class="m-0 text-danger">Elfogyott</p>'
        if f.price is None
        else f'<p class="m-0 fs-2 fw-bold">{_group(f.price, ".", ",", 0)} Ft</p><p class="text-muted">vagy 10 × {_group(f.price / 10, ".", ",", 0)} Ft</p>'
    )
    more = _zip(
        '<div class="col"><p class="m-0">{}</p><p class="fw-bold">{} Ft</p></div>', _FRIDGES, f.other_prices, "{:.0f}"
    )
    return f"""<html lang="hu"><head><title>Webáruház</title></head><body class="bg-light"><div class="container"><div class="row"><div class="col-8"><h1>Kombinált hűtő 300 l</h1><div class="badge">{visit} vélemény</div></div><div class="col-4">{price}<p>Várható szállítás: {f.day:%Y.%m.%d}.</p></div></div><h2>Műszaki adatok</h2><div class="list-group">{_each('<div class="list-group-item"><span>{k}</span><strong>{v}</strong></div>', f)}</div><h2>Tartozékok</h2><div>{_items('<div class="acc-item">{}</div>', f.items)}</div><h2>Ajánlatunk</h2><div class="row">{more}</div></div></body></html>"""


def _fridge_third(f: DayFacts, visit: int) -> str:
    price = (
        "<tr><td>Ár</td><td>jelenleg nem kapható</td></tr>"
        if f.price is None
        else f"<tr><td>Ár</td><td>{_group(f.price, ' ', ',', 0)} Ft</td></tr>"
    )
    more = _zip("<tr><td>{}</td><td>{} Ft</td></tr>", _FRIDGES, f.other_prices, "{:.0f}")
    return f"""<html lang="hu"><head><title>Hűtők</title></head><body><center><h2>Kombinált hűtő 300 l</h2><table border="1">{price}<tr><td>Várható szállítás</td><td>{_named(f.day, _HUNGARIAN, "{year}. {month} {day}.")}</td></tr>{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</table><p><b>Tartozékok</b><br>{"<br>".join(f.items)}</p><table><caption>Ajánlatunk</caption>{more}</table><font size="1">{visit}</font></center></body></html>"""


# 3. A flight in Turkish.
_TRIPS = "İzmir|Antalya|Trabzon"


def _flight_first(f: DayFacts, visit: int) -> str:
    price = (
        '<span class="full">Yer yok</span>'
        if f.price is None
        else f'<span class="fare"><b>{_group(f.price, ".", ",")}</b> TL</span>'
    )
    more = _zip(
        '<li class="other"><span>{}</span><span class="fare"><b>{}</b> TL</span></li>', _TRIPS, f.other_prices, "{:.0f}"
    )
    return f"""<html lang="tr"><head><title>Uçuş</title></head><body><div id="summary"><h1>İstanbul – Adana</h1><div class="from">En ucuz bilet {price}</div><div class="dep">Kalkış <time>{_named(f.day, _TURKISH, _LONG)}</time></div></div><table id="info">{_each("<tr><td class=l>{k}</td><td class=r>{v}</td></tr>", f)}</table><h2>Hizmetler</h2><ul id="services">{_items("<li>{}</li>", f.items)}</ul><h2>Diğer uçuşlar</h2><ul>{more}</ul><p>{visit} kişi bakıyor</p></body></html>"""


def _flight_second(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="Kx9">Yer yok</div>'
        if f.price is None
        else f'<div class="Kx9"><span class="aQ">En ucuz bilet</span><span class="bR">{_group(f.price, ".", ",")} TL</span></div>'
    )
    more = _zip('<a class="zT"><span>{}</span><span class="bR">{} TL</span></a>', _TRIPS, f.other_prices, "{:.0f}")
    return f"""<html lang="tr"><head><title>Bilet</title></head><body><div class="root"><div class="hP"><h1>İstanbul – Adana</h1>{price}<div class="Kx9"><span class="aQ">Kalkış</span><span class="bR">{f.day:%d.%m.%Y}</span></div></div><div class="gG">{_each('<div class="iI"><span class="aQ">{k}</span><span class="oO">{v}</span></div>', f)}</div><div class="sS"><h3>Hizmetler</h3>{_items("<p>{}</p>", f.items)}</div><nav class="dD"><h3>Diğer uçuşlar</h3>{more}</nav><span>{visit}</span></div></body></html>"""


def _flight_third(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<p class="lead">Bu uçuşta biletler <mark>{_group(f.price, ".", ",")} TL</mark> fiyatından başlıyor.</p>'
    )
    more = _zip("<tr><td>{}</td><td>{} TL</td></tr>", _TRIPS, f.other_prices, "{:.0f}")
    return f"""<html lang="tr"><head><title>İstanbul – Adana</title></head><body><article><h1>İstanbul – Adana</h1>{price}<p>Kalkış: {_named(f.day, _TURKISH, "{day} {month} {year}")}</p><dl>{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl><h2>Hizmetler</h2><ul class="ticks">{_items("<li>✓ {}</li>", f.items)}</ul><h2>Diğer uçuşlar</h2><table>{more}</table><footer>{visit}</footer></article></body></html>"""


# 4. A job in Indonesian.
_JOBS = "Kasir|Sopir|Tukang kebun"


def _kerja_first(f: DayFacts, visit: int) -> str:
    pay = "" if f.price is None else f'<div class="gaji">Rp {_group(f.price, ".", ",", 0)} per bulan</div>'
    more = _zip(
        '<div class="lain"><b>{}</b><div class="gaji">Rp {} per bulan</div></div>', _JOBS, f.other_prices, "{:.0f}"
    )
    return f"""<html lang="id"><head><title>Lowongan</title></head><body><h1>Peternak lebah</h1>{pay}<p class="tutup">Lamaran ditutup {_named(f.day, _INDONESIAN, _LONG)}</p><table class="rincian">{_each("<tr><th>{k}</th><td>{v}</td></tr>", f)}</table><h2>Syarat</h2><ul class="syarat">{_items("<li>{}</li>", f.items)}</ul><h2>Lowongan lain</h2>{more}<p>Dilihat {visit} kali</p></body></html>"""


def _kerja_second(f: DayFacts, visit: int) -> str:
    pay = (
        '<span class="jd-x">Gaji dirahasiakan</span>'
        if f.price is None
        else f'<span class="jd-x">Gaji: Rp{_group(f.price, ".", ",", 0)}</span>'
    )
    more = _zip('<li>{} <span class="jd-x">Rp{}</span></li>', _JOBS, f.other_prices, "{:.0f}")
    return f"""<html lang="id-ID"><head><title>Karier</title></head><body><div class="jd"><h2>Peternak lebah</h2><div class="jd-top">{pay}<span class="jd-y">Lamaran ditutup: {f.day:%d/%m/%Y}</span></div><div class="jd-grid">{_each("<div><h5>{k}</h5><p>{v}</p></div>", f)}</div><h3>Syarat</h3><p>{"<br>".join(f"• {one}" for one in f.items)}</p></div><ul class="jd-more"><h3>Lowongan lain</h3>{more}</ul><i>{visit}</i></body></html>"""


def _kerja_third(f: DayFacts, visit: int) -> str:
    pay = "" if f.price is None else f"<dt>Gaji per bulan</dt><dd>IDR {f.price:,.0f}</dd>"
    more = _zip("<tr><td>{}</td><td>IDR {}</td></tr>", _JOBS, f.other_prices, "{:,.0f}")
    return f"""<html lang="id"><head><title>Peternak lebah</title></head><body><main class="page"><h1>Peternak lebah</h1><dl class="facts">{_each("<dt>{k}</dt><dd>{v}</dd>", f)}{pay}<dt>Lamaran ditutup</dt><dd>{_named(f.day, _INDONESIAN, _LONG)}</dd></dl><section><h2>Syarat</h2><ol>{_items("<li>{}</li>", f.items)}</ol></section><section><h2>Lowongan lain</h2><table>{more}</table></section><small>{visit}</small></main></body></html>"""


# 5. A concert in Korean.
_SHOWS = "재즈의 밤|봄 음악회|가족 뮤지컬"


def _show_first(f: DayFacts, visit: int) -> str:
    price = '<em class="soldout">매진</em>' if f.price is None else f'<em class="price">{f.price:,.0f}원</em>'
    more = _zip('<li><p class="tit">{}</p><em class="price">{}원</em></li>', _SHOWS, f.other_prices, "{:,.0f}")
    return f"""<html lang="ko"><head><title>공연</title></head><body><div class="summary"><h2 class="prdTitle">겨울 교향곡</h2><div class="R">R석 {price}</div><ul class="info">{_each("<li><strong>{k}</strong><span>{v}</span></li>", f)}</ul><p class="open">예매 시작 <span>{f.day:%Y.%m.%d}</span></p></div><h3>출연진</h3><div class="cast">{_items('<span class="who">{}</span>', f.items)}</div><ul class="rec">{more}</ul><p>조회 {visit}</p></body></html>"""


def _show_second(f: DayFacts, visit: int) -> str:
    price = "<td>매진</td>" if f.price is None else f"<td>{f.price:,.0f}원</td>"
    more = _zip("<tr><td>{}</td><td>{}원</td></tr>", _SHOWS, f.other_prices, "{:,.0f}")
    return f"""<html lang="ko"><head><title>겨울 교향곡</title></head><body><table class="detail"><tr><th colspan="2">겨울 교향곡</th></tr><tr><th>R석</th>{price}</tr><tr><th>예매 시작</th><td>{f.day.year}년 {f.day.month}월 {f.day.day}일</td></tr>{_each("<tr><th>{k}</th><td>{v}</td></tr>", f)}</table><h4>출연진</h4><ul>{_items("<li>{}</li>", f.items)}</ul><h4>추천 공연</h4><table>{more}</table><p>{visit}</p></body></html>"""


def _show_third(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="text-gray-400">매진</div>'
        if f.price is None
        else f'<div class="text-3xl">₩{f.price:,.0f}</div><div class="text-sm">예매 수수료 ₩1,000</div>'
    )
    more = _zip(
        '<div class="p-2"><div>{}</div><div class="text-3xl">₩{}</div></div>', _SHOWS, f.other_prices, "{:,.0f}"
    )
    return f"""<html lang="ko-KR"><head><title>티켓</title></head><body><div class="flex"><div class="w-1/2"><h1 class="text-2xl">겨울 교향곡</h1>{price}<div class="mt-4">예매 시작: {f.day.year}-{f.day.month:02}-{f.day.day:02}</div></div></div><div class="grid">{_each('<div class="cell"><div class="text-xs">{k}</div><div>{v}</div></div>', f)}</div><h2>출연진</h2><div class="flex-wrap">{_items('<div class="chip">{}</div>', f.items)}</div><h2>추천 공연</h2>{more}<div>{visit}</div></body></html>"""


# 6. A fundraiser in English: the amount raised.
_FUNDS = "Save the pond|New roof|Bee hotel"


def _fund_first(f: DayFacts, visit: int) -> str:
    raised = (
        '<p class="m-progress">Donations are paused</p>'
        if f.price is None
        else f'<p class="m-progress"><span class="raised">${f.price:,.0f}</span> raised of $90,000 goal</p>'
    )
    more = _zip(
        '<div class="tile"><b>{}</b><p class="m-progress"><span class="raised">${}</span> raised</p></div>',
        _FUNDS,
        f.other_prices,
        "{:,.0f}",
    )
    return f"""<html lang="en-US"><head><title>Help the orchard</title></head><body><h1 class="p-title">Help the orchard</h1>{raised}<p>{visit} donors</p><div class="m-facts">{_each("<p><b>{k}</b> {v}</p>", f)}</div><p class="upd">Updated {_named(f.day, _ENGLISH, "{month} {day}, {year}")}</p><h2>Top supporters</h2><ul class="sup">{_items("<li>{}</li>", f.items)}</ul><h2>More fundraisers</h2>{more}</body></html>"""


def _fund_second(f: DayFacts, visit: int) -> str:
    raised = (
        ""
        if f.price is None
        else f'<div class="hrt-stat"><div class="hrt-num">${f.price:,.0f} USD</div><div class="hrt-cap">raised of $90K</div></div>'
    )
    more = _zip('<li><a>{}</a><div class="hrt-num">${} USD</div></li>', _FUNDS, f.other_prices, "{:,.0f}")
    return f"""<html lang="en-US"><head><title>Orchard</title></head><body><div class="hrt"><h1>Help the orchard</h1><div class="hrt-stats">{raised}<div class="hrt-stat"><div class="hrt-num">{visit}</div><div class="hrt-cap">donors</div></div></div><dl>{_each("<div><dt>{k}</dt><dd>{v}</dd></div>", f)}</dl><div class="hrt-s">Updated <time datetime="{f.day.isoformat()}">{f.day:%m/%d/%Y}</time></div><h2>Top supporters</h2>{_items('<div class="hrt-avatar"><span>{}</span></div>', f.items)}<h2>More fundraisers</h2><ul>{more}</ul></div></body></html>"""


def _fund_third(f: DayFacts, visit: int) -> str:
    raised = (
        "<p>Donations are paused.</p>"
        if f.price is None
        else f"<p>So far, {visit} people gave <strong>${f.price:,.0f}</strong>.</p>"
    )
    more = _zip("<li>{}: ${}</li>", _FUNDS, f.other_prices, "{:,.0f}")
    return f"""<html lang="en"><head><title>Help the orchard</title></head><body><article class="post"><h1>Help the orchard</h1>{raised}<table>{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</table><h3>Top supporters</h3><ol>{_items("<li>{}</li>", f.items)}</ol><p class="meta">Updated on {f.day:%Y-%m-%d}</p><h3>More fundraisers</h3><ul>{more}</ul></article></body></html>"""


# 7. A ferry in Greek.
_PORTS = "Νάξος|Σύρος|Μήλος"


def _ferry_first(f: DayFacts, visit: int) -> str:
    price = (
        '<span class="na">Πλήρες</span>'
        if f.price is None
        else f'<span class="ticket-price">{_group(f.price, ".", ",")}€</span>'
    )
    more = _zip('<li>{} <span class="ticket-price">{}€</span></li>', _PORTS, f.other_prices, "{:.2f}").replace(".", ",")
    return f"""<html lang="el"><head><title>Πλοία</title></head><body><h1>Πειραιάς – Πάρος</h1><div class="best">Οικονομική θέση {price}</div><div class="when">Αναχώρηση: {_named(f.day, _GREEK, _LONG)}</div><table class="ship">{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</table><h2>Παροχές</h2><ul class="fac">{_items("<li>{}</li>", f.items)}</ul><h2>Άλλα δρομολόγια</h2><ul>{more}</ul><p>{visit} προβολές</p></body></html>"""


def _ferry_second(f: DayFacts, visit: int) -> str:
    price = "<dd>Πλήρες</dd>" if f.price is None else f"<dd>{_group(f.price, '.', ',')} €</dd>"
    more = _zip("<tr><td>{}</td><td>{} €</td></tr>", _PORTS, f.other_prices, "{:.2f}").replace(".", ",")
    return f"""<html lang="el-GR"><head><title>Πάρος</title></head><body><div id="c"><h1>Πειραιάς – Πάρος</h1><dl><dt>Οικονομική θέση</dt>{price}<dt>Αναχώρηση</dt><dd>{f.day:%d/%m/%Y}</dd>{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl><h3>Παροχές</h3><p>{_items('<span class="tag">{}</span> ', f.items)}</p><table><caption>Άλλα δρομολόγια</caption>{more}</table><p>{visit}</p></div></body></html>"""


def _ferry_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f'<button class="MuiButton">Κράτηση από {_group(f.price, ".", ",")} €</button>'
    more = _zip('<div class="MuiCard"><h4>{}</h4><span>{} €</span></div>', _PORTS, f.other_prices, "{:.2f}").replace(
        ".", ","
    )
    return f"""<html lang="el"><head><title>Κράτηση</title></head><body><div class="MuiContainer"><h1 class="MuiTypography">Πειραιάς – Πάρος</h1><p class="MuiTypography">Αναχώρηση {_named(f.day, _GREEK, _LONG)}</p>{price}<div class="MuiGrid">{_each('<div class="MuiPaper"><p>{k}</p><h6>{v}</h6></div>', f)}</div><h2>Παροχές</h2>{_items('<div class="MuiChip">{}</div>', f.items)}<h2>Άλλα δρομολόγια</h2>{more}<span>{visit}</span></div></body></html>"""


# 8. A used car in Danish.
_CARS = "VW Golf 1,4|Skoda Fabia|Opel Corsa"


def _car_first(f: DayFacts, visit: int) -> str:
    price = (
        '<span class="solgt">Solgt</span>'
        if f.price is None
        else f'<span class="bil-pris">{_group(f.price, ".", ",", 0)} kr.</span>'
    )
    more = _zip(
        '<div class="bil-kort"><h4>{}</h4><span class="bil-pris">{} kr.</span></div>', _CARS, f.other_prices, "{:.0f}"
    )
    return f"""<html lang="da"><head><title>Brugt bil</title></head><body><h1>Toyota Yaris 1,3</h1>{price}<p class="opr">Oprettet {_named(f.day, _DANISH, "{day}. {month} {year}")}</p><ul class="data">{_each("<li><label>{k}</label> <b>{v}</b></li>", f)}</ul><h2>Udstyr</h2><ul class="udstyr">{_items("<li>{}</li>", f.items)}</ul><h2>Lignende biler</h2>{more}<p>Vist {visit} gange</p></body></html>"""


def _car_second(f: DayFacts, visit: int) -> str:
    price = "<h3>Solgt</h3>" if f.price is None else f"<h3>Kontantpris: kr. {_group(f.price, '.', ',', 0)},-</h3>"
    more = _zip("<p>{}: kr. {},-</p>", _CARS, f.other_prices, "{:.0f}")
    return f"""<html lang="da-DK"><head><title>Toyota</title></head><body><div class="annonce"><h1>Toyota Yaris 1,3</h1>{price}<table><tbody>{_each("<tr><th>{k}</th><td>{v}</td></tr>", f)}<tr><th>Oprettet</th><td>{f.day:%d-%m-%Y}</td></tr></tbody></table><h3>Udstyr</h3><p>{", ".join(f'<span class="u">{one}</span>' for one in f.items)}</p></div><div class="andre"><h3>Lignende biler</h3>{more}</div><p>{visit}</p></body></html>"""


def _car_third(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="c-pay">Solgt</div>'
        if f.price is None
        else f'<div class="c-pay"><div>Pris</div><div>{_group(f.price, ".", ",", 0)} kr</div></div><div class="c-pay"><div>Afgift pr. år</div><div>1.140 kr</div></div>'
    )
    more = _zip('<li><div class="c-pay">{1} kr</div>{0}</li>', _CARS, f.other_prices, "{:.0f}")
    return f"""<html lang="da"><head><title>Bil til salg</title></head><body><ul class="c-top">{more}</ul><div class="c"><h1>Toyota Yaris 1,3</h1>{price}<div class="c-spec">{_each('<div class="c-s"><span>{k}</span><span>{v}</span></div>', f)}</div><h2>Udstyr</h2><div class="c-u">{_items("<div>{}</div>", f.items)}</div><footer>Oprettet <time>{f.day.isoformat()}</time> · {visit} visninger</footer></div></body></html>"""


MARKETS = (
    ValueTemplate("pl flat", Subject(3200, 50, _rows(Powierzchnia="42 m²|44 m²|41 m²", Piętro="2|3|4", Umeblowanie="tak|nie|częściowo"), ("Pralka", "Zmywarka", "Lodówka", "Balkon", "Winda", "Piwnica")), (_rent_first, _rent_second, _rent_third), _fields("css:.css-price", "table:Umeblowanie", "css:.css-row", "css:.css-eq li", "css:.css-date"), "Umeblowanie", "PLN"),
    ValueTemplate("hu fridge", Subject(149900, 500, _rows(Szín="fehér|ezüst|fekete", Zajszint="38 dB|40 dB|39 dB", Energiaosztály="D|E|F"), ("Jégkockatartó", "Tojástartó", "Rács", "Fiók", "Palacktartó", "Szűrő")), (_fridge_first, _fridge_second, _fridge_third), _fields("css:h1 + .product-price", "table:Szín", "css:table.attrs tr", "css:ul.acc li", "css:.when"), "Szín", "HUF"),
    ValueTemplate("tr flight", Subject(1899.9, 10, _rows(Süre="1 sa 30 dk|1 sa 35 dk|1 sa 40 dk", Bagaj="15 kg|20 kg|8 kg", Uçak="A320|B737|A321"), ("Koltuk seçimi", "Yemek", "Wi-Fi", "Öncelikli biniş", "Lounge", "Sigorta")), (_flight_first, _flight_second, _flight_third), _fields("css:.from .fare", "table:Bagaj", "css:#info tr", "css:#services li", "css:.dep time"), "Bagaj", "TRY"),
    ValueTemplate("id job", Subject(6500000, 50000, _rows(Lokasi="Bogor|Depok|Bekasi", Pengalaman="1 tahun|2 tahun|3 tahun", Jenis="Penuh waktu|Paruh waktu|Kontrak"), ("SIM C", "Ijazah SMA", "Bisa bekerja malam", "Jujur", "Sehat", "Bisa Excel")), (_kerja_first, _kerja_second, _kerja_third), _fields("css:h1 + .gaji", "table:Lokasi", "css:.rincian tr", "css:.syarat li", "css:.tutup"), "Lokasi", "IDR"),
    ValueTemplate("ko concert", Subject(88000, 1000, _rows(장소="예술의전당|세종문화회관|롯데콘서트홀", 관람시간="120분|150분|110분", 관람연령="8세 이상|12세 이상|15세 이상"), ("김민수", "이서연", "박지훈", "최유진", "정하늘", "한도윤")), (_show_first, _show_second, _show_third), _fields("css:.R .price", "label:장소", "css:ul.info li", "css:.cast .who", "css:.open span"), "장소", "KRW"),
    ValueTemplate("en fundraiser", Subject(41250, 250, _rows(Organizer="Ann Reed|Bo Lind|Cy Marsh", Category="Environment|Community|Education", Ends="in 9 days|in 8 days|in 7 days"), ("Dana K.", "The Smith family", "Anonymous", "Orchard Cafe", "J. Doyle", "Year 6")), (_fund_first, _fund_second, _fund_third), _fields("css:h1 + p .raised", "label:Category", "css:.m-facts p", "css:ul.sup li", "css:.upd"), "Category", "USD"),
    ValueTemplate("el ferry", Subject(38.5, 0.5, _rows(Πλοίο="Blue Star Naxos|Blue Star Delos|Superferry", Διάρκεια="3 ώρες 55 λεπτά|4 ώρες 10 λεπτά|3 ώρες 30 λεπτά", Αποβάθρα="E7|E6|E9"), ("Εστιατόριο", "Καμπίνες", "Wi-Fi", "Γκαράζ", "Κατοικίδια", "Κατάστημα")), (_ferry_first, _ferry_second, _ferry_third), _fields("css:.best .ticket-price", "table:Αποβάθρα", "css:.ship tr", "css:ul.fac li", "css:.when"), "Αποβάθρα", "EUR"),
    ValueTemplate("da car", Subject(64900, 100, _rows(Årgang="2012|2013|2014", Brændstof="Benzin|Diesel|Hybrid", Gear="Manuelt|Automatisk|6 gear"), ("Aircondition", "Fartpilot", "Anhængertræk", "Vinterhjul", "Bakkamera", "Sædevarme")), (_car_first, _car_second, _car_third), _fields("css:h1 + .bil-pris", "label:Gear", "css:ul.data li", "css:ul.udstyr li", "css:.opr"), "Gear", "DKK"),
)  # fmt: skip
