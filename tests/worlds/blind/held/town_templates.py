"""Held: a library catalogue in ASP.NET, a German town in TYPO3, a Portuguese shop in Shopify, and a football league."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.held.held_prose import GOODS_PT, PORTUGUESE
from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Page
from tests.worlds.blind.prose import SCIENCE, TOWN
from tests.worlds.blind.prose_tongues import CLUB
from tests.worlds.blind.tongues import ENGLISH, GERMAN
from tests.worlds.blind.view import View, esc, steady


def catalogue(v: View) -> str:
    """Write a title of a library as an ASP.NET catalogue does; the state of each copy is content."""
    page, f = v.page, v.page.fields

    def copies(b: Block) -> str:
        rows = "".join(
            f'<tr class="{"rgRow" if i % 2 else "rgAltRow"}" id="ctl00_Main_Grid_ctl00__{i}">'
            + "".join(f"<td>{esc(x)}</td>" for x in r)
            + "</tr>"
            for i, r in enumerate(b.rows[1:])
        )
        head = "".join(
            f'<th scope="col" class="rgHeader"><a href="javascript:__doPostBack(&#39;ctl00$Main$Grid$ctl0{i}&#39;,&#39;{v.token(6)}&#39;)">{esc(x)}</a></th>'
            for i, x in enumerate(b.rows[0])
        )
        return f'<table class="rgMasterTable" id="ctl00_Main_Grid_ctl00"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'

    facts = "".join(
        f'<tr><td class="label"><span id="ctl00_Main_lbl{i}">{k.title()}:</span></td><td><span id="ctl00_Main_val{i}">{esc(x)}</span></td></tr>'
        for i, (k, x) in enumerate(f.items())
    )
    nav = "".join(
        f'<td class="menuItem" id="ctl00_Menu1n{i}"><a href="{h}.aspx">{m}</a></td>'
        for i, (m, h) in enumerate(v.menu())
    )
    shelf = "".join(
        f'<td class="cover"><a href="{p.path}&amp;ctx={v.token(8)}"><img src="/covers/{p.number}.gif?rnd={v.between(1, 10**6)}" alt="" /><br />{esc(p.title)}</a></td>'
        for p in v.others(4)
    )
    note = f'<span id="ctl00_lblNotice" style="color:Red;">{v.notice()}</span>' if v.notice() else ""
    greeting = v.pick(("Good morning, guest", "Good afternoon, guest", "Good evening, guest"))
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head id="ctl00_Head1"><title>{esc(page.title)} - Catalogue</title><link href="/WebResource.axd?d={v.word(40)}&amp;t={v.between(10**17, 10**18)}" type="text/css" rel="stylesheet" /></head>
<body><form method="post" action="./Title.aspx?id={page.number}" id="aspnetForm"><div class="aspNetHidden"><input type="hidden" name="__VIEWSTATE" id="__VIEWSTATE" value="{v.word(180)}" /><input type="hidden" name="__VIEWSTATEGENERATOR" value="{v.token(8).upper()}" /><input type="hidden" name="__EVENTVALIDATION" value="{v.word(90)}" /></div>
<table class="top" width="100%"><tr><td><img src="/img/logo.gif" alt="Wexley Libraries" /></td><td align="right"><span id="ctl00_lblUser">{v.noise(greeting)}</span> | <span id="ctl00_lblDate">{v.clock("%d/%m/%Y %H:%M:%S")}</span></td></tr><tr>{nav}</tr></table>{note}
<table class="body" width="100%"><tr><td valign="top"><h1 id="ctl00_Main_title">{esc(page.title)}</h1><table class="facts">{facts}</table>
{v.body(table=copies)}
<p class="usage">Borrowed {v.count("loans", start=400, per_day=1)} times, rated by {v.count("ratings", start=80, per_day=0.6)}.</p><input type="submit" name="ctl00$Main$btn" value="{v.button("Reserve", "Place a hold")}" /></td></tr></table><table class="shelf"><tr>{shelf}</tr></table><div class="foot">{v.footer()} Session {v.token(24)}, server LIB0{v.between(1, 4)}</div></form></body></html>"""


def typo3(v: View) -> str:
    """Write a page of a German town as TYPO3 does, with frames around every content element."""
    page, f = v.page, v.page.fields

    def frame(kind: str, inner: str, at: object) -> str:
        return f'<div id="c{steady(page.number, at) % 90000}" class="frame frame-default frame-type-{kind} frame-layout-0">{inner}</div>'

    body = v.body(
        p=lambda b: frame("text", f'<div class="ce-bodytext"><p>{v.text(b.items)}</p></div>', "p"),
        h2=lambda b: f'<header><h2 class="ce-headline-left">{esc(b.text)}</h2></header>',
        table=lambda b: frame("table", f'<table class="ce-table contenttable">{v.rows(b)}</table>', "t"),
        file=lambda b: frame(
            "uploads",
            f'<ul class="ce-uploads"><li><a href="/fileadmin/{b.href}" target="_blank"><span class="ce-uploads-fileName">{esc(b.text)}</span></a></li></ul>',
            "f",
        ),
        img=lambda b: frame(
            "textpic",
            f'<div class="ce-gallery"><img class="image-embed-item" src="/fileadmin/_processed_/a/b/csm_{b.href}_{v.noise(f"{steady(v.host, v.deploy):012x}"[:10])}.jpg" alt="{esc(b.text)}" loading="lazy" /></div>',
            "i",
        ),
    )

    def news(p: Page) -> str:
        return f'<div class="article articletype-0" itemscope="itemscope"><a title="{esc(p.title)}" href="{p.path}?tx_news_pi1%5Bnews%5D={p.number}&amp;cHash={v.token()}">{esc(p.title)}</a> <time>{v.when(p.modified, "%d.%m.%Y")}</time></div>'

    nav = "".join(f'<li class="nav-item"><a class="nav-link" href="{h}/" title="{m}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="alert alert-info" role="alert">{v.notice()}</div>' if v.notice() else ""
    opened = v.pick(("Jetzt geöffnet", "Zur Zeit geschlossen", "Schließt in Kürze"))
    cookie = f'<div id="cookieman-modal">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    return f"""<!DOCTYPE html><html dir="ltr" lang="de-DE"><head><meta charset="utf-8"><!-- This website is powered by TYPO3 --><title>Stadt Altenried: {esc(page.title)}</title><link rel="stylesheet" href="/typo3temp/assets/compressed/merged-{v.noise(f"{steady(v.host, v.deploy):012x}")}.css?{v.between(10**9, 2 * 10**9)}" media="all"></head>
<body id="p{page.number}" class="page-{page.number} pagelevel-2 language-0">{cookie}<a class="visually-hidden-focusable" href="#page-content">Zum Inhalt</a><div id="page-top"><header id="page-header"><div class="header-bild"><img src="/fileadmin/kopf/kopf{v.between(1, 12)}.jpg" alt=""></div><nav><ul class="navbar-nav">{nav}</ul></nav><div class="wetter">{v.noise(f"{v.between(-6, 24)} °C, {v.clock('%H:%M')} Uhr")}</div></header>{note}
<nav class="breadcrumb-section"><p>Sie befinden sich hier:</p><ol class="breadcrumb"><li><a href="/">Stadt Altenried</a></li><li class="active">{esc(page.title)}</li></ol></nav>
<main id="page-content" class="bp-page-content main-section"><!--TYPO3SEARCH_begin--><h1>{esc(page.title)}</h1>
{body}
<div class="frame amt"><p>Zuständig: {esc(f["Amt"])}<br>Telefon {esc(f["Telefon"])}<br>Sprechzeiten {esc(f["Sprechzeiten"])} <span class="jetzt">{v.noise(opened)}</span></p></div><!--TYPO3SEARCH_end--></main>
<aside><div class="news-list-view"><h3>Aktuelle Meldungen</h3>{"".join(map(news, v.recent(4)))}</div><div class="veranstaltungen"><h3>Häufig gesucht</h3>{"".join(map(news, v.others(3)))}</div></aside><footer id="page-footer"><p>{v.footer()}</p><a href="mailto:x" data-mailto-token="{v.token(20)}">{v.button("Feedback geben", "Seite bewerten")}</a></footer></div></body></html>"""


def shopify(v: View) -> str:
    """Write a product of a Portuguese shop as Shopify does with Dawn."""
    page, f = v.page, v.page.fields
    section = f"template--{14_000_000_000 + steady(v.host) % 10**9}{v.noise(str(v.deploy))}"
    body = v.body(
        img=lambda b: (
            f'<li class="product__media-item grid__item" data-media-id="{section}__main"><div class="product__media media"><img srcset="//cdn.shop.test/s/files/1/{b.href}.jpg?v={v.noise(str(1738000000 + v.deploy))}&amp;width=246 246w" src="//cdn.shop.test/s/files/1/{b.href}.jpg?v={v.noise(str(1738000000 + v.deploy))}" alt="{esc(b.text)}"></div></li>'
        ),
        ul=lambda b: f'<div class="accordion__content rte"><ul>{v.items(b)}</ul></div>',
    )
    reviews = "".join(
        f'<div class="spr-review" id="spr-review-{p.key}"><span class="spr-review-header-byline"><strong>{esc(p.author)}</strong> {v.age(p.born)}</span><div class="spr-review-content"><p class="spr-review-content-body">{v.text(p.sentences)}</p></div><span>{v.count(f"u{p.key}", start=20, per_day=0.8)} pessoas acharam útil</span></div>'
        for p in page.posts
    )
    recommended = "".join(
        f'<li class="grid__item"><a href="{p.path}?pr_prod_strat={v.pick(("e5_desc", "collection_fallback"))}&amp;pr_rec_id={v.token(9)}&amp;pr_rec_pid={p.number}" class="full-unstyled-link">{esc(p.title)}</a></li>'
        for p in v.others(4)
    )
    nav = "".join(
        f'<li><a href="{h}" class="header__menu-item list-menu__item link"><span>{m}</span></a></li>'
        for m, h in v.menu()
    )
    note = (
        f'<div class="announcement-bar" role="region"><p class="announcement-bar__message h5"><span>{v.notice()}</span></p></div>'
        if v.notice()
        else ""
    )
    hours = v.between(0, 23)
    hurry = (
        f'<div class="timer">A promoção termina em {hours:02}:{v.between(0, 59):02}:{v.between(0, 59):02}</div>'
        if v.opt("timer", 0.6)
        else ""
    )
    popup = (
        f'<div class="popup">{esc(v.pick(v.tongue.names))} comprou este artigo há {v.between(2, 50)} minutos</div>'
        if v.maybe(0.5)
        else ""
    )
    return f"""<!doctype html><html class="no-js" lang="pt-PT"><head><meta charset="utf-8"><title>{esc(page.title)} &ndash; Oficina do Lar</title><script>window.ShopifyAnalytics={{"meta":{{"page":{{"requestId":"{v.token(8)}-{v.between(10**9, 2 * 10**9)}"}}}}}};var Shopify={{"theme":{{"id":{v.between(10**9, 2 * 10**9)}}}}};</script></head><body class="gradient">{note}<div id="shopify-section-header" class="shopify-section"><header class="header"><ul class="list-menu list-menu--inline">{nav}</ul><a href="/cart" class="header__icon" id="cart-icon-bubble"><span>{v.between(0, 3)}</span></a></header></div>
<main id="MainContent" class="content-for-layout focus-none"><section id="MainProduct-{section}" class="page-width section-{section}-padding"><div class="product product--medium"><div class="product__info-wrapper grid__item"><div class="product__title"><h1>{esc(page.title)}</h1></div><div class="no-js-hidden" id="price-{section}"><div class="price price--large"><span class="price-item price-item--regular">{esc(f["preço"])}</span></div></div><p class="product__inventory">{esc(f["disponibilidade"])}</p><p class="product__sku">REF {esc(f["referência"])}</p>{v.noise(hurry)}<form method="post" action="/cart/add" id="product-form-{section}"><input type="hidden" name="section-id" value="{section}"><button type="submit" name="add" class="product-form__submit button"><span>{v.button("Adicionar ao carrinho", "Pôr no cesto")}</span></button></form><div class="product__description rte quick-add-hidden">
{body}
</div></div></div></section><div id="shopify-product-reviews"><div class="spr-summary">{v.count("av", start=300, per_day=1)} avaliações</div>{reviews}</div><section class="related-products"><h2>Também pode gostar</h2><ul class="grid product-grid">{recommended}</ul></section></main>{v.noise(popup)}<footer class="footer"><small class="copyright__content">{v.footer()}</small></footer></body></html>"""


def _match(v: View, e: Entry) -> str:
    return f'<div class="match-row" data-id="{e.key}"><span class="match-date">{esc(e.fields["date"])}</span><span class="match-name">{esc(e.title)}</span><span class="match-score">{esc(e.fields["result"])}</span><span class="match-fans">{v.noise(v.grouped(v.count(f"f{e.key}", start=900, per_day=15)))} predictions</span></div>'


def league(v: View) -> str:
    """Write the table and the fixtures of a league; points and results are the content, odds and polls are not."""
    page = v.page
    body = v.body(
        table=lambda b: (
            f'<div class="standings"><table class="Table" data-reactid="{v.between(10, 900)}">{v.rows(b)}</table></div>'
        )
    )
    games = "\n".join(_match(v, e) for e in page.entries)
    nav = "".join(f'<li class="tab"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    odds = " ".join(f"{v.between(1, 9)}.{v.between(10, 99)}" for _ in range(3))
    poll = f'<div class="poll">Who will win? Home {v.between(20, 60)} % · Draw {v.between(10, 30)} % · {v.grouped(v.between(900, 90000))} votes</div>'
    other = "".join(f'<a class="headline" href="{p.path}">{esc(p.title)}</a>' for p in v.others(4))
    note = f'<div class="site-alert">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} | Scoreboard</title><script>window.__state={{"build":"{v.token(8)}","ts":{v.clock("%s") or 0}}}</script></head><body class="{v.pick(("light", "light promo", "light ab2"))}"><header><ul class="tabs">{nav}</ul><span class="tz">Times in GMT · {v.clock("%H:%M")}</span></header>{note}<div class="betting">Odds now: {v.noise(odds)} <a href="https://bet.test/?aff={v.token(10)}">{v.advert()}</a></div><div class="page"><h1>{esc(page.title)}</h1>
{body}
<div class="matches">{games}</div>{v.noise(poll)}</div><aside>{other}<p class="tv">{v.between(1000, 9000)} fans online</p><button>{v.button("Follow", "Add to favourites")}</button></aside><footer>{v.footer()}</footer></body></html>"""


def _copy(rng: Random) -> str:
    state = rng.choice(("Available", f"Due {rng.randint(1, 28)}/03/2025", "On order", "Reference only", "In transit"))
    return f"{rng.choice(TOWN.slots['place'])} branch|{rng.randint(100, 990)}.{rng.randint(10, 99)} {rng.choice('ABCDEFGH')}|{state}"


def _club(rng: Random) -> str:
    return f"{rng.choice(TOWN.slots['place'])} {rng.choice(('FC', 'United', 'Rovers', 'Town'))}|{rng.randint(10, 30)}|{rng.randint(10, 70)}"


KINDS = (
    Kind(
        "catalogue",
        catalogue,
        SCIENCE,
        ENGLISH,
        "/Title.aspx?id={n}",
        Layout(
            "p table p ul", fields=("author", "published", "shelf mark", "pages"), header=("Branch", "Shelf", "State")
        ),
        makers={
            "author": lambda r: r.choice(SCIENCE.slots["person"]),
            "published": lambda r: str(r.randint(1950, 2024)),
            "shelf mark": lambda r: f"{r.randint(100, 990)}.{r.randint(1, 99)}",
            "pages": lambda r: f"{r.randint(80, 900)} p.",
            "row": _copy,
        },
    ),
    Kind(
        "typo3",
        typo3,
        CLUB,
        GERMAN,
        "/rathaus/{slug}/",
        Layout(
            "img p h2 p table h2 ul p file", fields=("Amt", "Telefon", "Sprechzeiten"), header=("Leistung", "Gebühr")
        ),
        makers={
            "Amt": lambda r: r.choice(("Bürgerbüro", "Standesamt", "Bauamt", "Ordnungsamt")),
            "Telefon": lambda r: f"0{r.randint(2000, 9999)} {r.randint(10, 99)}-{r.randint(100, 999)}",
            "Sprechzeiten": lambda r: f"Mo–Fr {r.randint(7, 9)}–{r.randint(12, 16)} Uhr",
            "row": lambda r: (
                f"{r.choice(('Reisepass', 'Ausweis', 'Meldung', 'Urkunde', 'Parkausweis'))} {r.choice('ABC')}|{r.randint(3, 90)},00 Euro"
            ),
        },
    ),
    Kind(
        "shopify",
        shopify,
        GOODS_PT,
        PORTUGUESE,
        "/products/{slug}",
        Layout("img p p h2 ul p", fields=("preço", "disponibilidade", "referência"), posts=(1, 4)),
        makers={
            "preço": lambda r: f"€{r.randint(8, 290)},{r.choice(('00', '50', '95'))}",
            "disponibilidade": lambda r: r.choice(("Em stock", "Esgotado", "Por encomenda")),
            "referência": lambda r: f"OL{r.randint(1000, 9999)}",
        },
        untidy=True,
    ),
    Kind(
        "league",
        league,
        TOWN,
        ENGLISH,
        "/league/{n}",
        Layout("table p", entries=(4, 9), header=("Club", "Played", "Points")),
        makers={"live values": str, "row": _club},
        entry_makers={
            "date": lambda r: f"{r.choice(('Sat', 'Sun', 'Wed'))} {r.randint(1, 28)} Feb",
            "result": lambda r: r.choice(("–", f"{r.randint(0, 4)} : {r.randint(0, 4)}")),
        },
    ),
)
