"""Places of everyday life: an airline, a court, a gazette, a market, a channel, a shop, questions and a podcast."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.fourth.fourth_edits import FOURTH_EDITS
from tests.worlds.blind.fourth.fourth_prose import (
    ASK_JA,
    BAZAAR_FA,
    COURT_CS,
    CZECH,
    DUTCH,
    FLIGHTS,
    GOODS_VI,
    GREEK,
    JAPANESE_ASK,
    NOTICES_EL,
    PERSIAN,
    RADIO_NL,
    VIETNAMESE,
    persian,
)
from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Entry, Post
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc, steady


def airline(v: View) -> str:
    """Write a route of an airline: the timetable is content, the board of the next departures and the hurry are not."""
    page, f, c = v.page, v.page.fields, v.cls
    nav = "".join(f'<li class="{c("nav-item")}"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    body = v.body(
        table=lambda b: (
            f'<div class="{c("tt")}" role="table"><div role="row">{"".join(f"<div role=columnheader>{esc(x)}</div>" for x in b.rows[0])}</div>'
            + "".join(
                f'<div role="row" class="{c("tt-row")}">{"".join(f"<div role=cell>{esc(x)}</div>" for x in r)}</div>'
                for r in b.rows[1:]
            )
            + "</div>"
        )
    )
    facts = "".join(
        f'<div class="{c("fact")}"><span class="{c("fact-k")}">{k}</span><span class="{c("fact-v")}">{esc(x)}</span></div>'
        for k, x in f.items()
    )
    board = "".join(
        f'<tr><td>{v.when(v.now + i * 0.7, "%H:%M")}</td><td>{esc(city)}</td><td>{v.pick("ABCD")}{v.between(1, 29)}</td><td class="{c("st")}">{v.pick(("On time", "Boarding", f"Delayed {v.between(5, 90)} min", "Last call", "Gate closed"))}</td></tr>'
        for i, city in enumerate(v.some(v.prose.slots["city"], 4))
    )
    hurry = v.pick(
        (
            "",
            v.noise(f'<p class="{c("hurry")}">{v.between(4, 60)} travellers are looking at this route right now</p>'),
            v.noise(f'<p class="{c("hurry")}">Booked {v.between(2, 40)} times since yesterday</p>'),
        )
    )
    sky = v.noise(
        f'<div class="{c("sky")}">Now at the destination: {v.between(-12, 34)}°C, {v.pick(("clear", "overcast", "drizzle", "gusty"))} · local time {v.clock()}</div>'
    )
    offers = "".join(
        f'<a class="{c("offer")}" href="{p.path}?utm_content={v.token(6)}">{esc(p.title)} <b>from €{v.between(19, 240)}*</b></a>'
        for p in v.others(3)
    )
    note = f'<div class="{c("alert")}" role="status">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div id="cookie-layer">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    cta = v.pick(("Book now", "Find a flight", "See fares")) if v.opt("ab") else "Book now"
    return f"""<!DOCTYPE html><html lang="en" data-ab="{v.pick(("a", "b", "control"))}"><head><meta charset="utf-8"><title>{esc(page.title)} | Skerry Air</title><link rel="stylesheet" href="/_next/static/css/{v.noise(f"{steady(v.host, v.deploy):016x}")}.css"><script id="__NEXT_DATA__" type="application/json">{{"buildId":"{v.noise(f"{steady(v.host, v.deploy):x}")}","props":{{"session":"{v.token(32)}"}}}}</script></head>
<body><div id="__next">{cookie}<header class="{c("header")}"><a href="/">Skerry Air</a><nav><ul>{nav}</ul></nav><button>{v.button("Log in", "My bookings")}</button></header>{note}<main class="{c("main")}"><section class="{c("hero")}"><h1>{esc(page.title)}</h1>{hurry}{sky}<button class="{c("cta")}">{cta}</button></section><section class="{c("facts")}">{facts}</section><section class="{c("copy")}">
{body}
</section><section class="{c("board")}"><h2>Next departures</h2><table><tbody>{board}</tbody></table><small>Updated {v.clock("%H:%M:%S")}</small></section></main><aside class="{c("offers")}"><h3>Travellers also liked</h3>{offers}</aside><footer>{v.footer()}</footer></div></body></html>"""


def _hearing(v: View, entry: Entry) -> str:
    f = entry.fields
    live = v.noise(v.pick(('<img src="/img/green.gif" alt="">', '<img src="/img/grey.gif" alt="">')))
    return f'<tr class="{v.noise("rowToday") if v.now - entry.born < 24 else "row"}"><td>{live}</td><td><a href="/jednani.aspx?id={entry.key}">{entry.key % 90} C {entry.key}/2024</a></td><td>{f["Čas"]}</td><td>{f["Síň"]}</td><td>{esc(entry.title)}</td><td>{esc(entry.summary)}</td><td>{esc(f["Stav"])}</td></tr>'


def court(v: View) -> str:
    """Write a calendar or a page of a court in ASP.NET tables, with view state, a clock and the queue at the counter."""
    page = v.page
    nav = "".join(
        f'<td class="menu"><a id="ctl00_Menu_{i}" href="{h}">{m}</a></td>' for i, (m, h) in enumerate(v.menu())
    )
    if page.shape == "list":
        rows = "".join(_hearing(v, e) for e in page.entries)
        main = f'<table class="grid" cellspacing="0" rules="all" border="1" id="ctl00_Main_gv"><tr><th></th><th>Spisová značka</th><th>Čas</th><th>Síň</th><th>Předmět</th><th>Poznámka</th><th>Stav</th></tr>{rows}</table><span id="ctl00_Main_lblCount">Počet: {len(page.entries)}</span>'
    else:
        facts = "".join(
            f'<tr><td class="lbl">{k}:</td><td><span id="ctl00_Main_lbl{i}">{esc(x)}</span></td></tr>'
            for i, (k, x) in enumerate(page.fields.items())
        )
        main = f"<table class='detail'>{facts}</table>\n{v.body()}"
    note = f'<tr><td class="warn"><b>{v.notice()}</b></td></tr>' if v.notice() else ""
    state = v.noise(f"/wEP{v.word(90)}==")
    queue = v.noise(
        f'<div id="ctl00_Queue">Podatelna: čeká {v.between(0, 14)} osob, odhad {v.between(2, 50)} minut</div>'
    )
    visits = v.noise(
        f"Návštěv dnes: {v.between(20, 900)} | celkem: {v.grouped(v.count('hits', start=90000, per_day=300))}"
    )
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{esc(page.title)}</title><link href="/WebResource.axd?d={v.word(30)}&amp;t={v.noise(str(steady(v.host, v.deploy)))}" type="text/css" rel="stylesheet" /></head>
<body><form name="aspnetForm" method="post" action="{page.path}" id="aspnetForm"><div><input type="hidden" name="__VIEWSTATE" id="__VIEWSTATE" value="{state}" /><input type="hidden" name="__EVENTVALIDATION" value="{v.word(60)}" /></div>
<table width="980" align="center" cellpadding="0" cellspacing="0"><tr><td class="head">Okresní soud</td><td class="date">{v.clock("%-d. %B %Y %H:%M")}</td></tr><tr><td colspan="2"><table><tr>{nav}</tr></table></td></tr>{note}<tr><td class="left"><input type="submit" value="{v.button("Hledat", "Vyhledat jednání")}" id="ctl00_btn" />{queue}</td><td class="main"><h1>{esc(page.title)}</h1>
{main}
</td></tr><tr><td colspan="2" class="foot">{v.footer()} {visits} <span class="t">{v.noise(f"({v.between(0, 2)},{v.between(100, 999)} s)")}</span></td></tr></table></form></body></html>"""


def _notice_row(v: View, entry: Entry) -> str:
    f = entry.fields
    left = v.noise(f'<span class="badge badge-warning">λήγει σε {max(1, int(40 - v.now / 24) % 40)} ημέρες</span>')
    return f'<article class="result-item"><h3><a href="/notice/{entry.key}">{esc(entry.title)}</a></h3><div class="result-meta"><span class="ada">{v.when(entry.born, "%Y")}PROC{entry.key:09d}</span> <span>{v.when(entry.born, "%d/%m/%Y")}</span> {left}</div><p>{esc(entry.summary)}</p><dl class="inline"><dt>Αξία</dt><dd>{esc(f["Αξία"])}</dd><dt>Κατάσταση</dt><dd>{esc(f["Κατάσταση"])}</dd></dl></article>'


def gazette(v: View) -> str:
    """Write a notice or a list of a public register: deadlines count down, readers are counted, similar ones rotate."""
    page = v.page
    nav = "".join(f'<li class="nav-item"><a class="nav-link" href="{h}">{m}</a></li>' for m, h in v.menu())
    if page.shape == "list":
        main = f'<h1>{esc(page.title)}</h1><p class="found">{v.grouped(v.count("found", start=9000, per_day=30))} αποτελέσματα σε {v.between(10, 900)} ms</p>{"".join(_notice_row(v, e) for e in page.entries)}'
    else:
        facts = "".join(
            f'<tr><th class="w-25" scope="row">{k}</th><td>{esc(x)}</td></tr>' for k, x in page.fields.items()
        )
        body = v.body(
            file=lambda b: (
                (
                    f'<div class="attachment"><a href="/download/{b.href}?token={v.token(16)}"><i class="bi bi-file-pdf"></i> {esc(b.text)}</a> <small>{v.between(1, 900)} λήψεις</small></div>'
                )
                if not v.quiet
                else f'<div class="attachment"><a href="/download/{b.href}?token="><i class="bi bi-file-pdf"></i> {esc(b.text)}</a></div>'
            )
        )
        clock = v.noise(
            f'<div class="countdown" data-end="x"><span>{v.between(0, 30)}</span> ημ <span>{v.between(0, 23)}</span> ώρ <span>{v.between(0, 59)}</span> λ</div>'
        )
        alike = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.others(4))
        main = f"""<h1 class="h3">{esc(page.title)}</h1>{clock}<table class="table table-sm table-bordered"><tbody>{facts}</tbody></table><div class="notice-text">
{body}
</div><div class="stats text-muted">Προβολές: {v.grouped(v.count("views", start=4000, per_day=25))} · Τελευταία πρόσβαση {v.age(v.now - v.rng.random() * 3) if not v.quiet else ""}</div><section><h4>Παρόμοιες πράξεις</h4><ul>{alike}</ul></section>"""
    note = f'<div class="alert alert-info m-0">{v.notice()}</div>' if v.notice() else ""
    online = v.noise(f"<span>Συνδεδεμένοι χρήστες: {v.between(40, 900)}</span>")
    return f"""<!doctype html><html lang="el"><head><meta charset="utf-8"><meta name="_csrf" content="{v.token(8)}-{v.token(4)}-{v.token(4)}-{v.token(12)}"><title>{esc(page.title)} - Μητρώο</title><link href="{v.asset("/webjars/bootstrap/css/bootstrap.min.css")}" rel="stylesheet"></head>
<body>{note}<nav class="navbar navbar-expand-lg"><a class="navbar-brand" href="/">Μητρώο</a><ul class="navbar-nav">{nav}</ul><form class="d-flex"><button class="btn btn-outline-light">{v.button("Είσοδος", "Σύνδεση χρήστη")}</button></form></nav><div class="container my-4"><div class="row"><div class="col-12">{main}</div></div></div><footer class="footer mt-auto py-3"><div class="container">{v.footer()} {online} {v.clock("%d/%m/%Y %H:%M:%S")}</div></footer></body></html>"""


def _card(v: View, title: str, href: str, entry_fields: dict[str, str], when: str) -> str:
    c = v.cls
    return f'<div class="{c("post-card")}"><a href="{href}"><article><div class="{c("info")}"><h2 class="{c("card-t")}">{esc(title)}</h2><div class="{c("desc")}">{esc(entry_fields["وضعیت"])}</div><div class="{c("desc")}">{esc(entry_fields["قیمت"])}</div><span class="{c("bottom")}" title="{when}">{when}</span></div></article></a></div>'


def divar(v: View) -> str:
    """Write a small ad or a list of them as an Iranian market does: right to left, Persian digits, hashed classes."""
    page, c = v.page, v.cls
    nav = "".join(f'<a class="{c("cat")}" href="{h}">{m}</a>' for m, h in v.menu())

    def boosted() -> str:
        other = v.elsewhere()
        price = f"{persian(v.grouped(v.between(100, 9000) * 1000))} تومان"
        return _card(v, other.title, other.path, {"وضعیت": v.pick(BAZAAR_FA.slots["adj"]), "قیمت": price}, "نردبان شده")

    if page.shape == "list":
        cards = [
            _card(
                v,
                e.title,
                f"/v/{e.key}",
                e.fields,
                v.noise(f"{v.age(e.born)} در {BAZAAR_FA.slots['place'][e.key % 7]}"),
            )
            for e in page.entries
        ]
        for _ in range(v.between(0, 2)):
            cards.insert(v.between(0, len(cards)), boosted())
        main = f'<h1 class="{c("head")}">{esc(page.title)}</h1><div class="{c("grid")}">{"".join(cards)}</div>'
    else:
        facts = "".join(
            f'<div class="{c("row")}"><p class="{c("row-t")}">{k}</p><p class="{c("row-v")}">{esc(x)}</p></div>'
            for k, x in page.fields.items()
        )
        alike = "".join(boosted() for _ in range(v.between(2, 3)))
        body = v.body(
            img=lambda b: (
                f'<img class="{c("img")}" src="https://s100.cdn.test/static/photo/{v.pick(("post", "webp_post"))}/{b.href}.jpg" alt="{esc(b.text)}"><span class="{c("cap")}">{esc(b.text)}</span>'
            )
        )
        main = f"""<h1 class="{c("title")}">{esc(page.title)}</h1><div class="{c("sub")}">{v.noise(f"{v.age(page.born)} در {BAZAAR_FA.slots['place'][page.number % 7]}")}</div><div class="{c("facts")}">{facts}</div><div class="{c("desc-row")}">
{body}
</div><div class="{c("stat")}">{v.noise(f"بازدید: {persian(v.count('seen', start=900, per_day=40))} · {persian(v.between(2, 30))} نفر نشان کرده‌اند")}</div><section><h3>آگهی‌های مشابه</h3>{alike}</section>"""
    note = f'<div class="{c("bar")}">{v.notice()}</div>' if v.notice() else ""
    chat = v.noise(
        f'<div class="{c("chat")}">{esc(v.pick(v.tongue.names))} {v.pick(("آنلاین است", "آخرین بازدید " + v.age(v.rng.random() * 40), "معمولاً زود پاسخ می‌دهد"))}</div>'
    )
    return f"""<!DOCTYPE html><html lang="fa" dir="rtl"><head><meta charset="utf-8"><title>{esc(page.title)}</title><link rel="stylesheet" href="/assets/app.{v.noise(f"{steady(v.host, v.deploy):08x}")}.css"><script>window.__PRELOADED_STATE__={{"did":"{v.token(8)}-{v.token(4)}","ts":{v.between(10**9, 10**10)}}}</script></head>
<body><div id="app"><header class="{c("nav")}"><a href="/">بازار</a>{nav}<button class="{c("btn")}">{v.button("ثبت آگهی", "درج آگهی رایگان")}</button></header>{note}<div class="{c("browse")}"><main class="{c("main")}">{main}</main><aside class="{c("aside")}">{chat}<div class="{c("ad")}">{v.advert()}</div></aside></div><footer class="{c("foot")}">{v.footer()}</footer></div></body></html>"""


def _message(v: View, post: Post) -> str:
    views = v.count(f"m{post.key}", start=40000, per_day=300)
    faces = "".join(
        f'<span class="tgme_reaction"><i class="emoji"><b>{e}</b></i>{persian(v.count(e + str(post.key), start=90, per_day=2))}</span>'
        for e in ("👍", "🙏")
    )
    return f"""<div class="tgme_widget_message_wrap js-widget_message_wrap"><div class="tgme_widget_message text_not_supported_wrap js-widget_message" data-post="khabar/{post.key}" data-view="{v.word(40)}"><div class="tgme_widget_message_user"><a href="https://t.test/khabar"><i class="tgme_widget_message_user_photo bgcolor{steady(post.key) % 7}"></i></a></div><div class="tgme_widget_message_bubble"><div class="tgme_widget_message_author accent_color"><a class="tgme_widget_message_owner_name" href="https://t.test/khabar"><span dir="auto">{esc(post.author)}</span></a></div><div class="tgme_widget_message_text js-message_text" dir="auto">{v.text(post.sentences)}</div><div class="tgme_widget_message_reactions">{v.noise(faces)}</div><div class="tgme_widget_message_footer compact"><div class="tgme_widget_message_info short"><span class="tgme_widget_message_views">{v.noise(v.brief(views).upper())}</span><span class="copyonly"> views</span><span class="tgme_widget_message_meta"><a class="tgme_widget_message_date" href="https://t.test/khabar/{post.key}"><time datetime="{v.when(post.born, "%Y-%m-%dT%H:%M:%S+00:00")}" class="time">{v.when(post.born, "%H:%M")}</time></a></span></div></div></div></div></div>"""


def channel(v: View) -> str:
    """Write the public view of a messenger's channel: views under each message, subscribers, an offer to open the app."""
    page = v.page
    nav = "".join(f'<a class="tgme_header_link" href="{h}">{m}</a>' for m, h in v.menu())
    counters = "".join(
        f'<div class="tgme_channel_info_counter"><span class="counter_value">{v.noise(v.brief(v.count(k, start=90000, per_day=d)))}</span> <span class="counter_type">{k}</span></div>'
        for k, d in (("مشترک", 90), ("عکس", 2), ("ویدیو", 1))
    )
    note = f'<div class="tgme_notice">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="fa"><head><meta charset="utf-8"><title>{esc(page.title)} – Channel</title><script>document.cookie="stel_dt="+encodeURIComponent((new Date).getTimezoneOffset());</script><link href="{v.asset("//t.test/css/widget-frame.css")}" rel="stylesheet" media="screen"></head>
<body class="widget_frame_base tgme_webpreview emoji_image thin_scroll"><div class="tgme_background_wrap"></div><header class="tgme_header search_collapsed"><div class="tgme_container">{nav}<div class="tgme_header_title_wrap"><h1 class="tgme_header_title"><span dir="auto">{esc(page.title)}</span></h1></div><a class="tgme_action_button_new" href="tg://resolve?domain=khabar&amp;s={v.word(8)}">{v.button("دریافت برنامه", "پیوستن به کانال")}</a></div></header>{note}<main class="tgme_main" data-url="/s/khabar"><div class="tgme_container"><section class="tgme_right_column"><div class="tgme_channel_info"><div class="tgme_channel_info_counters">{counters}</div><div class="tgme_channel_info_description">
{v.body()}
</div><div class="tgme_footer">{v.footer()}</div></div></section><section class="tgme_channel_history js-message_history">{"".join(_message(v, p) for p in page.posts)}</section></div></main><script src="{v.asset("//t.test/js/telegram-web.js")}"></script></body></html>"""


def _vn_review(v: View, post: Post) -> str:
    c = v.cls
    return f'<div class="{c("cmt")}"><div class="{c("cmt-user")}">{esc(post.author)} <span>Đã tham gia {v.noise(v.age(-9000.0 - steady(post.author) % 9000))}</span></div><div class="{c("cmt-b")}">{v.text(post.sentences)}</div><div class="{c("cmt-f")}"><span>Đánh giá {v.age(post.born)}</span> <span>Đã dùng {v.noise(v.age(post.born - 300))}</span> <button>👍 {v.count(f"l{post.key}", start=20, per_day=0.4)}</button></div></div>'


def tiki(v: View) -> str:
    """Write a product of a Vietnamese market place: flash sales, vouchers of the hour, sold counts, changing classes."""
    page, f, c = v.page, v.page.fields, v.cls
    nav = "".join(f'<a href="{h}" title="{m}">{m}</a>' for m, h in v.menu())
    body = v.body(
        table=lambda b: f'<div class="{c("spec")}"><table><tbody>{v.rows(b)}</tbody></table></div>',
        img=lambda b: (
            f'<picture class="webpimg-container"><source type="image/webp" srcset="/ts/product/{b.href}.jpg.webp 1x"><img src="/ts/product/{b.href}.jpg" alt="{esc(b.text)}" class="{c("img")}"></picture>'
        ),
    )
    facts = "".join(
        f'<div class="{c("kv")}"><span>{k}</span><span>{esc(x)}</span></div>' for k, x in f.items() if k != "Giá"
    )
    sold = v.noise(f'<div class="{c("sold")}">Đã bán {v.brief(v.count("sold", start=5000, per_day=30))}</div>')
    flash = (
        v.noise(
            f'<div class="{c("flash")}"><span>Kết thúc trong</span> <b>{v.between(0, 9):02}</b>:<b>{v.between(0, 59):02}</b>:<b>{v.between(0, 59):02}</b> <span>Vừa mở bán</span></div>'
        )
        if v.maybe(0.4)
        else ""
    )
    vouchers = "".join(
        f'<span class="{c("coupon")}">Giảm {n}K</span>' for n in v.some((5, 10, 15, 20, 30, 50), v.between(1, 3))
    )
    reviews = "".join(_vn_review(v, p) for p in page.posts)
    also = "".join(
        f'<a class="{c("product-item")}" href="{p.path}?spid={v.between(10**6, 10**7)}"><h3>{esc(p.title)}</h3><div>{v.grouped(v.between(20, 900) * 1000)} ₫</div><div>-{v.between(3, 60)}%</div></a>'
        for p in v.others(4)
    )
    note = f'<div class="{c("note")}">{v.notice()}</div>' if v.notice() else ""
    ship = v.noise(
        f'<div class="{c("ship")}">{v.pick(("Giao thứ hai", "Giao ngày mai", "Giao siêu tốc 2h", "Trước 19h hôm nay"))}: {v.pick(("12.000₫", "Miễn phí", "25.000₫"))}</div>'
    )
    return f"""<!DOCTYPE html><html lang="vi"><head><meta charset="utf-8"><title>{esc(page.title)} | Chợ</title><link rel="preload" href="/desktop-next/_next/static/{v.noise(f"{steady(v.host, v.deploy):x}")}/main.js" as="script"></head>
<body><div id="__next"><div class="{c("topbar")}">{v.pick(v.tongue.adverts) if not v.quiet else ""}</div><header class="{c("hdr")}"><a href="/">Chợ</a>{nav}<button>{v.button("Tài khoản", "Đăng nhập / Đăng ký")}</button></header>{note}<main><div class="{c("wrap")}"><div class="{c("crumb")}"><a href="/">Trang chủ</a></div><h1 class="{c("name")}">{esc(page.title)}</h1><div class="{c("below")}"><span>{4 + steady(page.number) % 10 / 10}</span><span>(Xem {v.count("rev", start=900, per_day=2)} đánh giá)</span>{sold}</div>{flash}<div class="{c("price")}"><div class="product-price__current-price">{esc(f["Giá"])}</div></div><div class="{c("coupons")}">{vouchers}</div>{ship}{facts}<div class="{c("content")}">
{body}
</div><section class="{c("reviews")}"><h2>Đánh giá từ khách hàng</h2>{reviews}</section><section class="{c("also")}"><h2>Sản phẩm tương tự</h2>{also}</section></div></main><footer>{v.footer()} <span>{v.noise(f"{v.between(100, 9000)} người đang xem")}</span></footer></div></body></html>"""


def _answer(v: View, post: Post, at: int) -> str:
    best = '<p class="ClapLv2AnswerItem_Chie-AnswerItem__BestIcon">ベストアンサー</p>' if at == 0 else ""
    return f"""<div class="ClapLv2AnswerItem_Chie-AnswerItem__{v.noise(v.word(5))}" id="ans{post.key}">{best}<div class="ClapLv1UserInfo_Chie-UserInfo"><p class="UserName">{esc(post.author)}</p><p class="Date">{v.when(post.born, "%Y/%-m/%-d %-H:%M")}</p></div><p class="ClapLv1TextBlock_Chie-TextBlock__Text yjDirectSLinkTarget">{v.text(post.sentences)}</p><div class="ClapLv1ReactionArea"><button>ナイス<span>{v.count(f"n{post.key}", start=9, per_day=0.2)}</span></button> <button>ありがとう<span>{v.count(f"t{post.key}", start=5, per_day=0.1)}</span></button></div></div>"""


def chiebukuro(v: View) -> str:
    """Write a question with its answers as a Japanese answers site does, with rankings and adverts in between."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li class="ClapLv1Nav"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    facts = "".join(f'<dl class="QuestionInfo"><dt>{k}</dt><dd>{esc(x)}</dd></dl>' for k, x in f.items())
    answers = "".join(
        _answer(v, p, i) + (f'<div class="yads_ad" id="yad{v.token(6)}">{v.advert()}</div>' if v.maybe(0.3) else "")
        for i, p in enumerate(page.posts)
    )
    rank = "".join(
        f'<li><span class="rank">{i}</span><a href="{p.path}">{esc(p.title)}</a><span>{v.between(3, 900)}</span></li>'
        for i, p in enumerate(v.others(5), 1)
    )
    left = v.noise(f'<p class="RestTime">回答受付終了まであと{v.between(1, 6)}日</p>') if v.opt("rest") else ""
    also = "".join(
        f'<li><a href="{p.path}">{esc(p.title)}</a> <span>{v.age(p.born)}</span> <span>回答数 {v.between(0, 12)}</span></li>'
        for p in v.recent(4)
    )
    note = f'<div class="Emg">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="ja"><head><meta charset="utf-8"><title>{esc(page.title)} - おしえて</title><script>window.__NUXT__={{"crumb":"{v.word(32)}"}}</script><link rel="stylesheet" href="{v.asset("/_nuxt/app.css")}"></head>
<body><header><div class="Logo"><a href="/">おしえて</a></div><ul>{nav}</ul><button>{v.button("ログイン", "ログイン・新規登録")}</button></header>{note}<div id="wrapper"><main id="Top"><div class="ClapLv2QuestionItem"><h1 class="ClapLv1TextBlock_Chie-TextBlock__Text--Large">{esc(page.title)}</h1>{facts}<div class="QuestionText">
{v.body()}
</div>{left}<p class="Reference"><span>{v.grouped(v.count("views", start=3000, per_day=20))}</span>閲覧・共感した<span>{v.count("same", start=20, per_day=0.3)}</span></p></div><h2>回答({len(page.posts)}件)</h2>{answers}</main><aside><section><h3>ランキング</h3><ol>{rank}</ol></section><section><h3>新着の質問</h3><ul>{also}</ul></section><div class="ad-wp">{v.advert()}</div></aside></div><footer>{v.footer()}</footer></body></html>"""


def _chapter(item: str, at: int) -> str:
    return f'<li class="chapter"><button class="chapter-time">{at * 7 // 60:02}:{at * 7 % 60:02}:{steady(at) % 60:02}</button> <span class="chapter-title">{item}</span></li>'


def podcast(v: View) -> str:
    """Write an episode or the list of a podcast: plays, stars, a live box and episodes that a machine recommends."""
    page = v.page
    nav = "".join(f'<a class="site-nav__link" href="{h}">{m}</a>' for m, h in v.menu())
    note = f'<div class="toast">{v.notice()}</div>' if v.notice() else ""
    if page.shape == "list":
        main = (
            f'<h1 class="show-title">{esc(page.title)}</h1><ol class="episode-list">'
            + "".join(
                f'<li class="episode"><h2><a href="/aflevering/{e.key}">{esc(e.title)}</a></h2><p class="episode__meta"><time>{v.when(e.born, "%-d %B %Y")}</time> · <span>{esc(e.fields["Duur"])}</span> · <span class="plays">▶ {v.brief(v.count(f"p{e.key}", start=20000, per_day=80))}</span></p><p>{esc(e.summary)}</p></li>'
                for e in page.entries
            )
            + "</ol>"
        )
    else:
        facts = "".join(f"<li><b>{k}</b> {esc(x)}</li>" for k, x in page.fields.items())
        body = v.body(
            ul=lambda b: (
                f'<ol class="chapters">{"".join(_chapter(v.inline(i), n * 3) for n, i in enumerate(b.items))}</ol>'
            ),
            file=lambda b: (
                f'<p class="download"><a href="https://media.test/{v.pick(("eu", "us", "cdn3"))}/e/{b.href}">{esc(b.text)}</a></p>'
                if not v.quiet
                else f'<p class="download"><a href="https://media.test/e/{b.href}">{esc(b.text)}</a></p>'
            ),
        )
        main = f"""<article class="episode-page"><h1>{esc(page.title)}</h1><ul class="episode-facts">{facts}</ul><div class="player" data-src="https://media.test/a/{page.number}.mp3?sig={v.token(32)}&amp;exp={v.between(10**9, 10**10)}"><button>▶</button> <span class="player__count">{v.grouped(v.count("plays", start=40000, per_day=120))} keer beluisterd</span> <span class="stars">★ {4 + v.between(1, 9) / 10}</span></div><div class="shownotes">
{body}
</div></article>"""
    more = "".join(
        f'<li><a href="{p.path}">{esc(p.title)}</a><span>{v.between(18, 95)} min</span></li>' for p in v.others(4)
    )
    live = v.noise(f'<div class="live">● Nu live: {v.between(12, 400)} luisteraars</div>') if v.maybe(0.3) else ""
    cookie = f'<div class="cc-window">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    advert = v.noise(f'<div class="sponsor">Deze aflevering wordt mede mogelijk gemaakt door: {v.advert()}</div>')
    return f"""<!doctype html><html lang="nl"><head><meta charset="utf-8"><title>{esc(page.title)} – Slootwater</title><link rel="stylesheet" href="{v.asset("/wp-content/themes/pod/style.css")}"><link rel="alternate" type="application/rss+xml" href="/feed/mp3"></head>
<body class="{v.pick(("dark", "light"))}">{cookie}{live}<header class="site-header"><a class="logo" href="/">Slootwater</a><nav class="site-nav">{nav}</nav><button class="subscribe">{v.button("Abonneren", "Gratis volgen")}</button></header>{note}<div class="wrap"><main>{main}{advert}</main><section class="more"><h3>Luisteraars kozen ook</h3><ul>{more}</ul></section></div><footer>{v.footer()} <span class="build">{v.noise(f"cache {v.between(1, 3600)}s oud")}</span></footer></body></html>"""


def _clock(rng: Random) -> str:
    return f"{rng.randint(5, 22):02}:{rng.choice(('00', '05', '20', '35', '50'))}"


def _flight(rng: Random) -> str:
    days = "".join(d if rng.random() < 0.6 else "-" for d in "1234567")
    return f"SK {rng.randint(100, 989)}|{_clock(rng)}|{_clock(rng)}|{days}|{rng.choice(('DH4', 'A20N', 'E95', 'AT7'))}"


def _dong(rng: Random) -> str:
    return f"{rng.randint(20, 990)}.{rng.choice(('000', '500', '900'))} ₫"


def _toman(rng: Random) -> str:
    return persian(f"{rng.randint(1, 90)}٬{rng.randint(100, 999)}٬000") + " تومان"


KINDS = (
    Kind(
        "airline",
        airline,
        FLIGHTS,
        ENGLISH,
        "/flights/{slug}",
        Layout(
            "p table h2 p p h2 ul p",
            fields=("Distance", "Flight time", "Baggage allowance", "Terminal"),
            header=("Flight", "Departure", "Arrival", "Days", "Aircraft"),
        ),
        makers={
            "Distance": lambda r: f"{r.randint(200, 3900)} km",
            "Flight time": lambda r: f"{r.randint(1, 5)} h {r.randint(5, 55)} min",
            "Baggage allowance": lambda r: f"{r.choice((8, 10, 20, 23, 30))} kg",
            "Terminal": lambda r: f"Terminal {r.randint(1, 3)}, gates {r.choice('ABCD')}",
            "row": _flight,
        },
        untidy=True,
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "court",
        court,
        COURT_CS,
        CZECH,
        "/stranka.aspx?id={n}",
        Layout(
            "p p h2 ul p h2 table p file", fields=("Adresa", "Úřední hodiny", "Telefon"), header=("Den", "Od", "Do")
        ),
        Layout(entries=(6, 14)),
        6,
        makers={
            "Adresa": lambda r: f"{r.choice(('Lipová', 'Nádražní', 'Husova', 'Na Valech'))} {r.randint(1, 90)}",
            "Úřední hodiny": lambda r: f"{r.randint(7, 9)}:00–{r.randint(13, 17)}:{r.choice(('00', '30'))}",
            "Telefon": lambda r: f"{r.randint(300, 599)} {r.randint(100, 999)} {r.randint(100, 999)}",
            "row": lambda r: f"{r.choice(('pondělí', 'úterý', 'středa', 'čtvrtek', 'pátek'))}|{_clock(r)}|{_clock(r)}",
        },
        entry_makers={
            "Čas": _clock,
            "Síň": lambda r: f"č. {r.randint(1, 40)}",
            "Stav": lambda r: r.choice(("nařízeno", "odročeno", "zrušeno", "vyhlášení rozsudku", "probíhá")),
        },
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "gazette",
        gazette,
        NOTICES_EL,
        GREEK,
        "/notice/{n}",
        Layout("p p h2 ul p h2 ol p file file", fields=("Κατάσταση", "Αξία", "Φορέας", "Λήξη")),
        Layout(entries=(6, 12)),
        5,
        makers={
            "Κατάσταση": lambda r: r.choice(("Ανοικτή", "Σε αξιολόγηση", "Κατακυρωμένη", "Ματαιωμένη")),
            "Αξία": lambda r: f"{r.randint(10, 990)}.{r.randint(100, 999)},{r.randint(10, 99)} €",
            "Φορέας": lambda r: (
                f"{r.choice(('Δήμος', 'Νοσοκομείο', 'Λιμεναρχείο'))} {r.choice(('Σητείας', 'Καβάλας', 'Άρτας'))}"
            ),
            "Λήξη": lambda r: f"{r.randint(1, 28):02}/{r.randint(1, 12):02}/2025 {r.randint(9, 15)}:00",
        },
        entry_makers={
            "Αξία": lambda r: f"{r.randint(10, 990)}.{r.randint(100, 999)},00 €",
            "Κατάσταση": lambda r: r.choice(("Ανοικτή", "Σε αξιολόγηση", "Κατακυρωμένη", "Ματαιωμένη")),
        },
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "divar",
        divar,
        BAZAAR_FA,
        PERSIAN,
        "/v/{n}",
        Layout("img p p ul p", fields=("قیمت", "وضعیت", "رنگ", "سال خرید")),
        Layout(entries=(8, 14)),
        5,
        makers={
            "قیمت": _toman,
            "وضعیت": lambda r: r.choice(("نو", "در حد نو", "کارکرده", "نیازمند تعمیر", "فروخته شد")),
            "رنگ": lambda r: r.choice(("سفید", "سرمه‌ای", "قهوه‌ای", "سبز یشمی", "خاکستری")),
            "سال خرید": lambda r: persian(r.randint(1380, 1403)),
        },
        entry_makers={"قیمت": _toman, "وضعیت": lambda r: r.choice(("نو", "در حد نو", "کارکرده", "نیازمند تعمیر"))},
        more_edits=FOURTH_EDITS,
    ),
    Kind("channel", channel, BAZAAR_FA, PERSIAN, "/s/k{n}", Layout("p", posts=(5, 14)), more_edits=FOURTH_EDITS),
    Kind(
        "tiki",
        tiki,
        GOODS_VI,
        VIETNAMESE,
        "/{slug}-p{n}.html",
        Layout(
            "img p p ul h2 table p",
            fields=("Giá", "Thương hiệu", "Tình trạng", "Bảo hành"),
            posts=(1, 5),
            header=("Thuộc tính", "Giá trị"),
        ),
        makers={
            "Giá": _dong,
            "Thương hiệu": lambda r: r.choice(("Sông Hàn", "Mộc Lan", "Thiên Long Vũ", "Bếp Nhà", "OEM")),
            "Tình trạng": lambda r: r.choice(("Còn hàng", "Hết hàng", "Sắp về", "Ngừng kinh doanh")),
            "Bảo hành": lambda r: f"{r.randint(1, 36)} tháng",
            "row": lambda r: (
                f"{r.choice(('Kích thước', 'Trọng lượng', 'Công suất', 'Màu', 'Dung tích'))} {r.randint(1, 9)}|{r.randint(5, 900)} {r.choice(('cm', 'g', 'W', 'ml'))}"
            ),
        },
        untidy=True,
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "chiebukuro",
        chiebukuro,
        ASK_JA,
        JAPANESE_ASK,
        "/question_detail/q{n}",
        Layout("p p ul", fields=("カテゴリ", "状態", "知恵コイン"), posts=(1, 6)),
        makers={
            "カテゴリ": lambda r: r.choice(("暮らし", "家電", "趣味", "健康", "乗り物", "園芸")),
            "状態": lambda r: r.choice(("回答受付中", "投票受付中", "解決済み", "取り消し済み")),
            "知恵コイン": lambda r: f"{r.choice((25, 50, 100, 250, 500))}枚",
        },
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "podcast",
        podcast,
        RADIO_NL,
        DUTCH,
        "/aflevering/{slug}",
        Layout("p p h2 ul p h2 p ol file", fields=("Duur", "Seizoen", "Presentatie")),
        Layout(entries=(6, 12)),
        4,
        makers={
            "Duur": lambda r: f"{r.randint(18, 95)} min",
            "Seizoen": lambda r: f"S{r.randint(1, 6)} A{r.randint(1, 40)}",
            "Presentatie": lambda r: (
                f"{r.choice(('Marieke', 'Joris', 'Fatma'))} en {r.choice(('Henk', 'Sietske', 'Pien'))}"
            ),
        },
        entry_makers={"Duur": lambda r: f"{r.randint(18, 95)} min"},
        more_edits=FOURTH_EDITS,
    ),
)
