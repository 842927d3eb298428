"""Shops, press and towns: records, books, films, used cars, a stock market paper, a town hall and a news portal."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.fifth.fifth_edits import FIFTH_EDITS
from tests.worlds.blind.fifth.fifth_prose import (
    CARS_HU,
    FILMS,
    HUNGARIAN,
    INDONESIAN,
    NEWS_ID,
    PRESS_HU,
    ROMANIAN,
    TOWN_RO,
)
from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Post
from tests.worlds.blind.prose import GOODS, SCIENCE
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc, steady


def _length(r: Random) -> str:
    return f"{r.randint(1, 9)}:{r.randint(0, 59):02}"


def discogs(v: View) -> str:
    """Write a release as Discogs does: facts, a tracklist, how many have and want it, prices of copies for sale, other releases."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li class="nav_{steady(v.deploy) % 999}"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    facts = "".join(f'<tr><th scope="row"><h2>{k}:</h2></th><td>{esc(x)}</td></tr>' for k, x in f.items())
    tracks = v.body(
        table=lambda b: (
            '<section id="release-tracklist"><h2>Tracklist</h2><table class="tracklist_x"><tbody>'
            + "".join(
                f'<tr data-track-position="{esc(r[0])}"><td class="trackPos">{esc(r[0])}</td><td class="trackTitle"><span>{esc(r[1])}</span></td><td class="duration"><span>{esc(r[2])}</span></td></tr>'
                for r in b.rows[1:]
            )
            + "</tbody></table></section>"
        )
    )
    low = 4 + v.count("low", start=20, per_day=0.2) + v.between(0, 99) / 100
    stats = v.noise(
        f'<section id="release-stats"><h2>Statistics</h2><ul><li><span>Have:</span> <a href="/have">{v.grouped(v.count("have", start=3000, per_day=2))}</a></li><li><span>Want:</span> <a href="/want">{v.grouped(v.count("want", start=900, per_day=1))}</a></li><li><span>Avg Rating:</span> <span>{3.5 + v.count("r", start=140, per_day=0.4) % 150 / 100:.2f} / 5</span></li><li><span>Ratings:</span> <a href="/r">{v.count("ratings", start=300, per_day=0.4)}</a></li><li><span>Last Sold:</span> <time>{v.when(v.now - 30 - v.rng.random() * 400, "%b %d, %Y")}</time></li><li><span>Low:</span> <span>€{low:.2f}</span></li><li><span>Median:</span> <span>€{low * 1.4:.2f}</span></li></ul></section>'
    )
    sale = v.noise(
        f'<section id="release-marketplace"><h2>For sale on Discogs</h2><a href="/sell/release/{page.number}">{v.between(1, 30)} copies from €{low:.2f}</a></section>'
    )
    others = "".join(
        f'<li class="card"><a href="{p.path}"><img src="/i/{p.number}.jpeg" alt=""><span>{esc(p.title)}</span></a><span>{1960 + p.number % 60} · {v.pick(("Vinyl", "CD", "Cassette"))}</span></li>'
        for p in v.others(5)
    )
    reviews = "".join(
        f'<div class="review" id="r{p.key}"><a href="/user/x">{esc(p.author)}</a> <time datetime="{v.when(p.born)}">{v.age(p.born)}</time><div class="markup">{v.text(p.sentences)}</div><div>Reply <span>{v.count(f"h{p.key}", start=5, per_day=0.1)}</span> Helpful</div></div>'
        for p in page.posts
    )
    note = f'<div class="messages info">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} – Vinyl | Discogs</title><link rel="stylesheet" href="{v.asset("/release.css")}"></head>
<body><div id="page"><header id="site_header"><ul>{nav}</ul><a href="/login">{v.button("Log In", "Sign In")}</a></header>{note}<div id="app"><div class="hero"><h1>{esc(page.title)}</h1><table class="table_x"><tbody>{facts}</tbody></table></div><div class="content"><div class="left">{tracks}<section id="release-reviews"><h2>Reviews</h2>{reviews}</section></div><div class="right">{sale}{stats}<section id="release-other-versions"><h2>Recommendations</h2><ul>{others}</ul></section></div></div></div><footer id="site_footer">{v.footer()}</footer></div></body></html>"""


def openlibrary(v: View) -> str:
    """Write a book as Open Library does: readers' shelves, ratings, editions in a list, and a revision history with ages."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())
    stats = v.noise(
        f'<ul class="readers-stats"><li class="avg-ratings"><span class="readers-stats__stat">{2 + v.count("s", start=25, per_day=0.1) % 30 / 10:.1f}</span> <span class="readers-stats__label">({v.count("rn", start=60, per_day=0.5)} ratings)</span></li><li><span class="readers-stats__stat">{v.count("want", start=800, per_day=2)}</span> <span class="readers-stats__label">Want to read</span></li><li><span class="readers-stats__stat">{v.count("cur", start=60, per_day=0.2)}</span> <span class="readers-stats__label">Currently reading</span></li><li><span class="readers-stats__stat">{v.count("have", start=90, per_day=0.3)}</span> <span class="readers-stats__label">Have read</span></li></ul>'
    )
    facts = "".join(
        f'<div class="edition-omniline-item"><div class="language">{k}</div><span>{esc(x)}</span></div>'
        for k, x in f.items()
    )
    carousel = "".join(
        f'<div class="book carousel__item"><a href="{p.path}"><img class="bookcover" src="/b/{p.number}-M.jpg" alt="{esc(p.title)}" title="{esc(p.title)}"></a><a class="cta-btn" href="/borrow/{p.number}">{v.pick(("Borrow", "Preview", "Locate", "Checked Out"))}</a></div>'
        for p in v.others(6)
    )
    history = "".join(
        f'<tr><td class="timestamp">{v.when(v.now - 24 * 30 * (i + 1) * (1 + page.number % 3), "%B %d, %Y")}</td><td>Edited by <a href="/people/x">{esc(v.pick(v.tongue.names))}</a></td></tr>'
        for i in range(0 if v.quiet else 3)
    )
    note = f'<div class="page-banner page-banner-body page-banner-center">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} | Open Library</title><link href="{v.asset("/static/build/page-book.css")}" rel="stylesheet"></head>
<body class="client-js" id="book"><div id="offline-banner">It looks like you're offline.</div><header id="header-bar" class="header-bar"><ul class="navigation-component">{nav}</ul><a class="btn" href="/account/login">{v.button("Log In", "Sign In")}</a></header>{note}<div id="contentBody" role="main"><div class="workDetails"><div class="editionCover"><div class="SRPCover"></div><div class="Tools"><div class="btn-notice"><p>{v.between(0, 12)} people waiting for this book.</p></div></div></div><div class="editionAbout"><div class="work-title-and-author"><h1 class="work-title" itemprop="name">{esc(page.title)}</h1>{stats}</div><div class="edition-omniline">{facts}</div><div class="book-description read-more"><div class="read-more__content">{v.body()}</div></div></div></div><div class="carousel-section"><h2>You might also like</h2><div class="carousel">{carousel}</div></div><div id="pageHistory"><h3>History</h3><ul class="statPop"><li>Created {v.when(page.born, "%B %d, %Y")}</li><li>{v.noise(str(page.revision + 3))} revisions</li></ul><table class="history"><tbody>{history}</tbody></table></div></div><footer id="footer"><div id="footer-content">{v.footer()} <span>Version {v.noise(f"{steady(v.deploy) % 16**7:07x}")}</span></div></footer></body></html>"""


def _review(v: View, p: Post) -> str:
    stars = "★" * (1 + steady(p.key) % 5)
    return f'<li class="film-detail"><div class="film-detail-content"><p class="attribution"><span class="rating">{stars}</span> Review by <strong class="name"><a href="/{steady(p.author) % 999}/">{esc(p.author)}</a></strong> <span class="content-metadata"><a class="comment-count" href="#c">{v.count(f"c{p.key}", start=20, per_day=0.4)}</a></span></p><div class="body-text collapsible-text"><p>{v.text(p.sentences)}</p></div><p class="like-link-target"><span class="like-link">Like review</span> <a href="/likes">{v.grouped(v.count(f"l{p.key}", start=4000, per_day=9))} likes</a></p></div></li>'


def letterboxd(v: View) -> str:
    """Write a film as Letterboxd does: watches, lists and likes, a histogram of ratings, reviews, and similar films."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li class="main-nav-{i}"><a href="{h}">{m}</a></li>' for i, (m, h) in enumerate(v.menu()))
    watched = v.count("w", start=90000, per_day=300)
    stats = v.noise(
        f'<ul class="film-stats"><li><a class="icon-watched" title="Watched by {v.grouped(watched)} members">{v.brief(watched)}</a></li><li><a class="icon-list">{v.brief(watched // 4)}</a></li><li><a class="icon-liked">{v.brief(watched // 3)}</a></li></ul>'
    )
    bars = "".join(
        f'<li class="rating-histogram-bar"><a title="{v.grouped(v.count(f"b{i}", start=9000, per_day=30))} {i / 2} ratings ({v.between(1, 30)}%)">{v.grouped(v.count(f"b{i}", start=9000, per_day=30))} {i / 2} ratings</a></li>'
        for i in range(1, 0 if v.quiet else 11)
    )
    facts = "".join(
        f'<h3><span>{k}</span></h3><div class="text-sluglist"><p><a href="/x/{k.lower()}">{esc(x)}</a></p></div>'
        for k, x in f.items()
    )
    reviews = "".join(_review(v, p) for p in page.posts)
    alike = "".join(
        f'<li class="poster-container"><a href="{p.path}"><span class="frame-title">{esc(p.title)}</span></a></li>'
        for p in v.others(6)
    )
    news = f'<section class="film-news"><h2>From the journal</h2><p>{v.advert()}</p></section>' if v.maybe(0.4) else ""
    note = f'<div class="banner-notice">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en" class="no-mobile"><head><meta charset="utf-8"><title>‎{esc(page.title)} • Reviews • Letterboxd</title><link rel="stylesheet" href="{v.asset("/static/css/main.min.css")}"></head>
<body class="film backdropped"><header id="header" class="site-header"><nav class="main-nav"><ul class="navitems">{nav}<li class="sign-in-menu"><a href="/sign-in/">{v.button("Sign in", "Log in")}</a></li></ul></nav></header>{note}<div id="content" class="site-body"><div class="content-wrap"><div id="film-page-wrapper"><div class="col-17"><section id="featured-film-header"><h1 class="headline-1 filmtitle"><span class="name">{esc(page.title)}</span></h1></section><section class="section col-10"><div class="review body-text">{v.body()}</div><div id="tabbed-content">{facts}</div></section><section class="film-recent-reviews"><h2><a href="/reviews">Popular reviews</a></h2><ul class="film-popular-review">{reviews}</ul></section><section class="related-films"><h2>Similar films</h2><ul class="poster-list">{alike}</ul></section></div><aside class="sidebar">{stats}<section class="ratings-histogram-chart"><h2>Ratings</h2><a href="/fans" class="all-link">{v.brief(v.count("fans", start=900, per_day=3))} fans</a><ul>{bars}</ul></section>{news}</aside></div></div></div><footer id="footer"><p>{v.footer()}</p></footer><script>supermodelCSRF="{v.token(20)}";</script></body></html>"""


def _forint(r: Random) -> str:
    return f"{r.randint(1, 19)} {r.randint(100, 999)} 000 Ft"


def _car(v: View, e: Entry) -> str:
    marks = "".join(f'<span class="info">{esc(x)}</span>' for k, x in list(e.fields.items())[1:])
    parked = v.noise(f'<div class="parkolo">{v.count(f"p{e.key}", start=40, per_day=1)} hirdetésparkolóban</div>')
    return f'<div class="row talalati-sor"><div class="cim-kontener"><h3><a href="/szemelyauto/{e.key}">{esc(e.title)}</a></h3></div><div class="talalatisor-adatok">{marks}</div><div class="pricefield-primary">{esc(e.fields["Ár"])}</div><div class="talalatisor-hitel">{esc(e.summary)}</div>{parked}<div class="talalatisor-kod">(Kód: {e.key})</div></div>'


def hasznaltauto(v: View) -> str:
    """Write adverts of used cars as a Hungarian market does: facts in a table, price, visits, the seller's other cars and similar cars in tiles."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="uzenet">{v.notice()}</div>' if v.notice() else ""
    tiles = "".join(
        f'<div class="hirdetes-ajanlo-kartya"><a href="{p.path}"><img src="/kep/{p.number}.jpg" alt=""><div class="cim">{esc(p.title)}</div><div class="ar">{_forint(v.rng)}</div><div class="adat">{v.between(2004, 2023)}/{v.between(1, 12)}, {v.between(20, 290)} 000 km</div></a></div>'
        for p in v.others(4)
    )
    if page.shape == "list":
        main = v.noise(
            f'<div class="talalat-szam">{v.grouped(3000 + v.count("n", start=900, per_day=14))} találat</div>'
        ) + "".join(_car(v, e) for e in page.entries)
    else:
        facts = "".join(
            f'<tr><td class="bal pontos">{k}:</td><td><strong>{esc(x)}</strong></td></tr>' for k, x in f.items()
        )
        main = f'<table class="hirdetesadatok">{facts}</table><div class="leiras">{v.body()}</div><div class="statisztika">Megtekintve: {v.grouped(v.count("visits", start=4000, per_day=30))} alkalommal, feladva: {v.age(page.born)}</div><section class="ajanlo"><h2>Hasonló autók</h2>{tiles}</section>'
    return f"""<!DOCTYPE html><html lang="hu"><head><meta charset="utf-8"><title>{esc(page.title)} - Használt autó</title><link rel="stylesheet" href="{v.asset("/css/app.css")}"></head>
<body class="{v.pick(("a", "b"))}-teszt"><header><ul class="fomenu">{nav}</ul><a class="belepes" href="/belepes">{v.button("Belépés", "Fiókom")}</a></header>{note}<div class="banner-top">{v.advert()}</div><main class="container"><div class="adview"><h1 class="adview-title">{esc(page.title)}</h1>{main}</div></main><footer>{v.footer()}<div class="online">{v.between(400, 4000)} felhasználó böngészi az oldalt</div></footer></body></html>"""


def portfolio(v: View) -> str:
    """Write an article of a stock market paper: a ticker, live rates inside the text column, most read, and a quotation box that turns."""
    page = v.page
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())
    ticker = "".join(
        f'<li class="ticker-item {v.pick(("up", "down"))}"><a href="/arfolyam/{n}"><span class="name">{n}</span><span class="value">{v.between(300, 45000)},{v.between(10, 99)}</span><span class="change">{v.pick("+-")}{v.between(0, 3)},{v.between(10, 99)}%</span></a></li>'
        for n in ("EUR/HUF", "USD/HUF", "BUX", "OTP", "MOL", "DAX")
        if not v.quiet
    )
    popular = "".join(
        f'<li><span class="rank">{i + 1}</span><a href="{p.path}">{esc(p.title)}</a></li>'
        for i, p in enumerate(v.others(5))
    )
    note = f'<div class="kozlemeny">{v.notice()}</div>' if v.notice() else ""
    rate = v.noise(
        f'<div class="pcard"><a href="/arfolyam/OTP">OTP részvény</a> <strong>{v.between(14000, 19000)} Ft</strong> <em>{v.pick("+-")}{v.between(0, 2)},{v.between(1, 9)}%</em> <span>frissítve: {v.clock()}</span></div>'
    )
    parts = v.body().split("</p>")
    promo = v.noise(f'<div class="promo-in-text"><a href="/konferencia">{v.advert()}</a></div>') if v.maybe(0.5) else ""
    body = parts[0] + "</p>" + rate + promo + "</p>".join(parts[1:]) if len(parts) > 1 else parts[0] + rate
    tags = "".join(f'<a href="/cimke/{i}">{esc(t)}</a>' for i, t in enumerate(page.fields.values()))
    more = "".join(
        f'<article class="kapcsolodo"><time>{v.when(p.born, "%Y. %B %d. %H:%M")}</time><h3><a href="{p.path}">{esc(p.title)}</a></h3><p>{esc(v.prose.phrase(v.rng))}</p></article>'
        for p in v.others(3)
    )
    live = "".join(
        f'<div class="pp-list-item" id="p{p.key}"><time>{v.when(p.born, "%H:%M")}</time><div class="text"><p>{v.text(p.sentences)}</p></div><div class="share">Megosztás <span>{v.count(f"sh{p.key}", start=9, per_day=0.2)}</span></div></div>'
        for p in page.posts
    )
    return f"""<!DOCTYPE html><html lang="hu"><head><meta charset="utf-8"><title>{esc(page.title)} - Portfolio</title><link rel="stylesheet" href="{v.asset("/css/main.css")}"></head>
<body><div class="ticker"><ul>{ticker}</ul></div><header><nav><ul>{nav}</ul></nav><a href="/belepes">{v.button("Belépés", "Előfizetek")}</a></header>{note}<div class="wrapper"><div class="pfarticle"><h1>{esc(page.title)}</h1><div class="pfarticle-meta"><span class="author">{esc(v.tongue.names[page.number % 6])}</span> <time>{v.when(page.born, "%Y. %B %d. %H:%M")}</time> <span class="comments">{v.count("comments", start=40, per_day=2)} hozzászólás</span></div><div class="pfarticle-section-content">{body}</div><div class="elo">{live}</div><div class="cimkek">{tags}</div>{more}</div><aside class="sidebar"><section class="most-read"><h2>Legolvasottabb</h2><ol>{popular}</ol></section><section class="ad"><p>{v.advert()}</p></section><section class="penzcentrum"><h2>Kalkulátor</h2><p>{v.between(50, 190)} ezer Ft törlesztő, THM {v.between(6, 13)},{v.between(10, 99)}%</p></section></aside></div><footer>{v.footer()}</footer></body></html>"""


def primarie(v: View) -> str:
    """Write a page of a town hall as WordPress sites of small towns do: visitors, today's date and name-day, weather, downloads."""
    page, f = v.page, v.page.fields
    nav = "".join(
        f'<li class="menu-item menu-item-{i}"><a href="{h}">{m}</a></li>' for i, (m, h) in enumerate(v.menu())
    )
    note = f'<div class="anunt-important">{v.notice()}</div>' if v.notice() else ""

    def files(b: Block) -> str:
        loads = v.count(b.href, start=60, per_day=0.8)
        return f'<div class="wpdm-link-tpl"><h3 class="package-title"><a href="/download/{b.href}">{esc(b.text)}</a></h3><div class="small text-muted">{loads} descărcări</div></div>'

    facts = "".join(f"<p><strong>{k}:</strong> {esc(x)}</p>" for k, x in f.items())
    if page.shape == "list":
        main = "".join(
            f'<article id="post-{e.key}" class="post-{e.key} post type-post"><header class="entry-header"><h2 class="entry-title"><a href="/?p={e.key}">{esc(e.title)}</a></h2><div class="entry-meta">Postat pe {v.when(e.born, "%d %B %Y")} în {esc(e.fields["Categorie"])} | {v.count(f"v{e.key}", start=90, per_day=2)} vizualizări</div></header><div class="entry-summary"><p>{esc(e.summary)}</p></div></article>'
            for e in page.entries
        )
    else:
        main = f'<div class="entry-content">{v.body(file=files)}</div>'
    saint = v.pick(("Sf. Haralambie", "Sf. Teodor", "Sf. Vasile", "Sf. Ana", "Cuv. Parascheva"))
    day = v.noise(
        f'<aside class="widget"><h3>Astăzi</h3><p>{v.when(v.now, "%d %B %Y")}</p><p>Calendar ortodox: {saint}</p></aside><aside class="widget meteo"><h3>Meteo</h3><div>{v.between(-9, 30)}°C, {v.pick(("senin", "ploaie", "cer noros", "vânt slab"))}</div></aside><aside class="widget"><h3>Vizitatori</h3><ul><li>Online: {v.between(1, 14)}</li><li>Azi: {v.between(20, 300)}</li><li>Total: {v.grouped(90000 + v.count("total", start=9000, per_day=120))}</li></ul></aside>'
    )
    latest = "".join(
        f'<li><a href="{p.path}">{esc(p.title)}</a> <span class="post-date">{v.when(p.modified, "%d.%m.%Y")}</span></li>'
        for p in v.recent(4)
    )
    return f"""<!DOCTYPE html><html lang="ro-RO"><head><meta charset="UTF-8"><title>{esc(page.title)} – Primăria</title><link rel="stylesheet" href="/wp-content/themes/primarie/style.css?ver={v.noise(f"1.{v.deploy}")}"></head>
<body class="post-template-default single wp-embed-responsive"><div id="page" class="hfeed site"><header id="masthead"><nav id="site-navigation"><ul id="primary-menu">{nav}</ul></nav><form role="search"><input type="submit" value="{v.button("Caută", "Căutare")}"><button>{v.button("Caută", "Căutare")}</button></form></header>{note}<div id="content" class="site-content"><div id="primary" class="content-area"><main id="main" class="site-main"><article><h1 class="entry-title">{esc(page.title)}</h1>{main}</article></main></div><div id="secondary" class="widget-area"><aside class="widget contact">{facts}</aside>{day}<aside class="widget widget_recent_entries"><h3>Noutăți</h3><ul>{latest}</ul></aside></div></div><footer id="colophon"><div class="site-info">{v.footer()}</div></footer></div></body></html>"""


def detik(v: View) -> str:
    """Write an article of an Indonesian portal: links to other articles between the paragraphs, an advert that says to scroll, lists of popular ones."""
    page = v.page
    nav = "".join(f'<li><a href="{h}" dtr-evt="header">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="pengumuman">{v.notice()}</div>' if v.notice() else ""
    parts = v.body().split("</p>\n")
    out = []
    for i, part in enumerate(parts):
        out.append(part + ("</p>\n" if i < len(parts) - 1 else ""))
        if i == 0:
            out.append(
                v.noise(
                    f'<div class="paradetail"><p class="para_caption">ADVERTISEMENT</p><p class="para_caption2">SCROLL TO CONTINUE WITH CONTENT</p><div class="ads">{v.advert()}</div></div>'
                )
            )
        if i == 1:
            out += [
                f'<table class="linksisip"><tbody><tr><td><div class="lihatjg"><strong>Baca juga: </strong><a href="{p.path}" class="embed">{esc(p.title)}</a></div></td></tr></tbody></table>'
                for p in v.others(1)
            ]
    popular = "".join(
        f'<article class="list-content__item"><span class="text__number">#{i + 1}</span><h3 class="media__title"><a href="{p.path}">{esc(p.title)}</a></h3><div class="media__date">{v.between(2, 300)} komentar</div></article>'
        for i, p in enumerate(v.others(5))
    )
    latest = "".join(
        f'<article class="list-content__item"><h3 class="media__title"><a href="{p.path}">{esc(p.title)}</a></h3><div class="media__date"><span title="{v.when(p.modified, "%d %B %Y %H:%M")} WIB">{v.age(p.modified)}</span></div></article>'
        for p in v.recent(5)
    )
    comments = "".join(
        f'<div class="komentar-list"><div class="komentar-user">{esc(p.author)} <span class="time">{v.age(p.born)}</span></div><div class="komentar-text">{v.text(p.sentences)}</div><div class="komentar-aksi"><a>Balas</a> <a>{v.count(f"k{p.key}", start=9, per_day=0.3)}</a> <a>Laporkan</a></div></div>'
        for p in page.posts
    )
    tags = "".join(f'<a class="nav__item" href="/tag/{i}">{esc(t)}</a>' for i, t in enumerate(page.fields.values()))
    return f"""<!DOCTYPE html><html lang="id-ID"><head><meta charset="utf-8"><title>{esc(page.title)}</title><meta name="dtk:createddateunix" content="{int(1738569600 + page.born * 3600)}"><link rel="stylesheet" href="{v.asset("/assets/css/detik.css")}"></head>
<body><header class="header-ex"><ul class="nav nav--head">{nav}</ul><a class="btn-login" href="/login">{v.button("Masuk", "Daftar")}</a></header>{note}<div class="container"><div class="grid-row"><div class="column-8"><article class="detail"><div class="detail__header"><h1 class="detail__title">{esc(page.title)}</h1><div class="detail__author">{esc(v.tongue.names[page.number % 6])} - <span>detikNusantara</span></div><div class="detail__date">{v.when(page.born, "%d %B %Y %H:%M")} WIB</div></div><div class="detail__share">{v.between(0, 90)} <span>komentar</span> BAGIKAN</div><div class="detail__body itp_bodycontent_wrapper"><div class="detail__body-text itp_bodycontent">{"".join(out)}</div></div><div class="detail__body-tag"><div class="nav">{tags}</div></div></article><div class="komentar-box"><h3>Komentar Terbanyak</h3>{comments}</div></div><div class="column-4"><div class="box cb-mostpop"><h2>Berita Terpopuler</h2>{popular}</div><div class="box cb-terkini"><h2>Berita Terbaru</h2>{latest}</div></div></div></div><footer class="footer">{v.footer()}</footer></body></html>"""


KINDS = (
    Kind(
        "discogs",
        discogs,
        GOODS,
        ENGLISH,
        "/release/{n}-{slug}",
        Layout(
            "table p", fields=("Label", "Format", "Country", "Released"), posts=(0, 4), header=("Pos", "Title", "Time")
        ),
        makers={
            "Label": lambda r: (
                f"{r.choice(('Harvest', 'Sugar Hill', 'Amiga', 'Supraphon'))} – {r.choice('ABXS')}{r.choice('LTP')} {r.randint(100, 9999)}"
            ),
            "Format": lambda r: (
                f"{r.choice(('Vinyl, LP', 'CD', 'Cassette', 'Vinyl, single'))}, {r.choice(('Album', 'Single', 'Reissue', 'Compilation'))}"
            ),
            "Country": lambda r: r.choice(("UK", "Germany", "US", "Czechoslovakia", "Japan")),
            "Released": lambda r: str(r.randint(1964, 2022)),
            "row": lambda r: f"{r.choice('AB')}{r.randint(1, 9)}|{FILMS.title(r)}|{_length(r)}",
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "openlibrary",
        openlibrary,
        SCIENCE,
        ENGLISH,
        "/works/OL{n}W/{slug}",
        Layout("p p h2 ul p", fields=("Publish Date", "Publisher", "Language", "Pages")),
        makers={
            "Publish Date": lambda r: str(r.randint(1900, 2024)),
            "Publisher": lambda r: r.choice(("Dover Publications", "Springer", "Heffer", "Reclam", "Penguin")),
            "Language": lambda r: r.choice(("English", "German", "French", "Norwegian")),
            "Pages": lambda r: str(r.randint(60, 900)),
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "letterboxd",
        letterboxd,
        FILMS,
        ENGLISH,
        "/film/{slug}/",
        Layout("p p", fields=("Director", "Studio", "Country", "Genre"), posts=(2, 8)),
        makers={
            "Director": lambda r: r.choice(("Ilse Brandt", "Marco Dell'Era", "Anna Szabo", "Hugh Penrose")),
            "Studio": lambda r: r.choice(("Nordfilm", "Titanus", "Lenfilm", "Gainsborough")),
            "Country": lambda r: r.choice(("Italy", "Norway", "Argentina", "Ireland")),
            "Genre": lambda r: r.choice(("Drama", "Thriller", "Comedy", "Documentary")),
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "hasznaltauto",
        hasznaltauto,
        CARS_HU,
        HUNGARIAN,
        "/szemelyauto/{slug}",
        Layout("p img ul p", fields=("Vételár", "Évjárat", "Kilométeróra állása", "Üzemanyag", "Állapot")),
        Layout(entries=(6, 12)),
        6,
        makers={
            "Vételár": _forint,
            "Évjárat": lambda r: f"{r.randint(2001, 2024)}/{r.randint(1, 12)}",
            "Kilométeróra állása": lambda r: f"{r.randint(9, 320)} {r.randint(100, 999)} km",
            "Üzemanyag": lambda r: r.choice(("Benzin", "Dízel", "Hibrid", "LPG", "Elektromos")),
            "Állapot": lambda r: r.choice(("Normál", "Kitűnő", "Megkímélt", "Sérült", "Hiányos")),
        },
        entry_makers={
            "Ár": _forint,
            "Üzemanyag": lambda r: r.choice(("Benzin", "Dízel", "Hibrid", "LPG")),
            "Évjárat": lambda r: f"{r.randint(2001, 2024)}/{r.randint(1, 12)}",
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "portfolio",
        portfolio,
        PRESS_HU,
        HUNGARIAN,
        "/uzlet/{slug}",
        Layout("p img p h2 p ul p", fields=("Téma", "Cég"), posts=(0, 4)),
        makers={"Téma": lambda r: r.choice(PRESS_HU.slots["tárgy"]), "Cég": lambda r: r.choice(PRESS_HU.slots["cég"])},
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "primarie",
        primarie,
        TOWN_RO,
        ROMANIAN,
        "/{slug}/",
        Layout("p h2 ul p h2 ol p file file", fields=("Telefon", "Program", "Adresa")),
        Layout(entries=(5, 10)),
        5,
        makers={
            "Telefon": lambda r: f"0{r.randint(230, 269)} {r.randint(100, 999)} {r.randint(100, 999)}",
            "Program": lambda r: f"Luni–Vineri {r.randint(7, 9)}:00–{r.randint(14, 17)}:{r.choice(('00', '30'))}",
            "Adresa": lambda r: f"Str. {r.choice(('Teiului', 'Gării', 'Morii'))} nr. {r.randint(1, 90)}",
        },
        entry_makers={"Categorie": lambda r: r.choice(("Anunțuri", "Achiziții", "Evenimente", "Urbanism"))},
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "detik",
        detik,
        NEWS_ID,
        INDONESIAN,
        "/berita/d-{n}/{slug}",
        Layout("p p img p p p", fields=("Tag 1", "Tag 2"), posts=(0, 5)),
        makers={
            "Tag 1": lambda r: r.choice(NEWS_ID.slots["barang"]),
            "Tag 2": lambda r: r.choice(NEWS_ID.slots["tempat"]),
        },
        more_edits=FIFTH_EDITS,
    ),
)
