"""Held: property adverts, videos, status pages, an API reference, an Italian shop, Arabic news, a Polish town hall,
weather forecasts and an event calendar."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.held.held_prose import CLIPS, GOODS_IT, ITALIAN, POLISH, PRESS_AR, SERVICES, TOWN_PL
from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Page
from tests.worlds.blind.prose import HOMES, TOWN
from tests.worlds.blind.tongues import ARABIC, ENGLISH
from tests.worlds.blind.view import View, esc, steady


def _home_card(v: View, e: Entry) -> str:
    return f'<li class="result-list__listing" data-id="{e.key}"><article data-obid="{e.key}"><div class="gallery-container"><img data-lazy-src="https://pic{v.between(1, 9)}.test/{e.key}.jpg/ORIG/resize/{v.pick((400, 600))}"></div><a href="/expose/{e.key}?referrer=RESULT_LIST_LISTING&amp;searchId={v.token(32)}"><h5 class="result-list-entry__brand-title">{esc(e.title)}</h5></a><dl class="grid-item result-list-entry__primary-criterion"><dd>{esc(e.fields["rent"])}</dd><dt>Rent</dt></dl><dl class="result-list-entry__primary-criterion"><dd>{esc(e.fields["rooms"])}</dd><dt>Rooms</dt></dl><div class="result-list-entry__secondary">{v.noise(v.age(e.born))}{v.noise(" · premium") if e.key % 5 == 0 else ""}</div></article></li>'


def realestate(v: View) -> str:
    """Write a property advert or a list of results."""
    page = v.page
    if page.shape == "list":
        main = (
            f'<h1>{esc(page.title)}</h1><ul id="resultListItems" class="result-list">'
            + "\n".join(_home_card(v, e) for e in page.entries)
            + "</ul>"
        )
    else:
        facts = "".join(
            f'<dl class="grid"><dt class="is24qa-{k}-label">{k.capitalize()}</dt><dd class="is24qa-{k}">{esc(x)}</dd></dl>'
            for k, x in page.fields.items()
        )
        body = v.body(
            p=lambda b: f'<pre class="is24qa-text text-content">{v.text(b.items)}</pre>',
            h2=lambda b: f'<h4 class="is24qa-label margin-top-l">{esc(b.text)}</h4>',
            img=lambda b: (
                f'<div class="sp-slide"><img class="sp-image" data-src="https://pic{v.between(1, 9)}.test/{b.href}.jpg/ORIG/legacy_thumbnail/{v.pick((1106, 1200))}x830" alt="{esc(b.text)}"></div>'
            ),
        )
        main = f'<div class="expose"><h1 id="expose-title" class="font-semibold">{esc(page.title)}</h1><div class="stats">Online: {v.age(page.born)} · {v.count("views", start=900, per_day=30)} views · {v.count("saved", start=30, per_day=2)} times saved · {v.count("contacts", start=20, per_day=1)} requests</div><div class="criteriagroup">{facts}</div>\n{body}\n</div>'
    similar = "".join(
        f'<div class="similar"><a href="{p.path}#/recommendation">{esc(p.title)}</a></div>' for p in v.others(3)
    )
    nav = "".join(f'<li class="topnavigation__item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="status-message status-info">{v.notice()}</div>' if v.notice() else ""
    loan = f'<div class="mortgage">Finance from {v.between(400, 900)} € a month ({v.between(2, 4)}.{v.between(10, 99)} % p.a.)</div>'
    consent = f'<div id="usercentrics-cmp-ui">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"><title>{esc(page.title)} - Homefinder</title><script>var IS24 = {{"sid":"{v.token()}","abTests":["{v.pick("ABCD")}"]}};</script></head><body>{consent}<header class="topnavigation"><a href="/">Homefinder</a><ul>{nav}</ul></header>{note}<div class="viewport"><div class="page-wrapper">
{main}
<div class="contact-box"><form><input type="hidden" name="_csrf" value="{v.token(36)}"><button>{v.button("Send message", "Contact the provider")}</button></form></div>{v.noise(loan)}<h3>You may also like</h3>{similar}</div></div><footer>{v.footer()}</footer></body></html>"""


def video(v: View) -> str:
    """Write a video page: title, description and chapters are the content."""
    page = v.page
    views, likes = v.count("views", start=900000, per_day=5000), v.count("likes", start=9000, per_day=60)
    talk = "\n".join(
        f'<div class="comment" id="comment{p.key}"><strong class="author">{esc(p.author)}</strong> <a class="time" title="{v.noise(v.when(p.born))}">{v.age(p.born)}</a><div class="comment-html"><p>{v.text(p.sentences)}</p></div><span class="likes">{v.brief(v.count(f"l{p.key}", start=2000, per_day=12))}</span></div>'
        for p in page.posts
    )
    next_up = "".join(
        f'<div class="video-miniature"><a href="{p.path}" class="video-miniature-name">{esc(p.title)}</a><span class="video-info">{v.brief(v.between(100, 9 * 10**5))} views • {v.age(p.born)}</span></div>'
        for p in v.others(8)
    )
    nav = "".join(f'<a class="menu-link" href="{h}">{m}</a>' for m, h in v.menu())
    note = f'<div class="broadcast-message info">{v.notice()}</div>' if v.notice() else ""
    body = v.body(
        ul=lambda b: (
            '<div class="chapters">'
            + "<br>".join(f"{i * 2}:{i * 7 % 60:02} {esc(x)}" for i, x in enumerate(b.items))
            + "</div>"
        )
    )
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} - Tube</title><link rel="stylesheet" href="/client/en-US/styles.{v.noise(f"{steady(v.host, v.deploy):012x}")}.css"></head><body><my-app ng-version="16.2.{v.noise(str(v.deploy))}" _nghost-ng-c{v.between(10**8, 10**9)}=""><div class="peertube-container"><div class="header"><a href="/">Tube</a></div><my-menu><menu>{nav}</menu></my-menu>{note}<div id="content"><my-video-watch><div id="video-wrapper"><video poster="/lazy-static/previews/{page.number}.jpg" src="https://cdn{v.between(1, 6)}.test/{page.number}.mp4?token={v.word(30)}&amp;expires={v.between(10**9, 2 * 10**9)}"></video></div><div class="video-bottom"><h1 class="video-info-name">{esc(page.title)}</h1><div class="video-info-date-views">Published {v.noise(v.age(page.born))} • {v.grouped(views)} views</div><div class="video-actions"><button class="action-button-like">{v.brief(likes)}</button><button>{v.button("Share", "Share this video")}</button></div><div class="video-info-channel"><a href="/c/workshop">{esc(page.fields["channel"])}</a> <span>{v.brief(v.count("subs", start=90000, per_day=90))} subscribers</span></div><div class="video-info-description-html">
{body}
</div><div class="video-attribute"><span class="label">Category</span> {esc(page.fields["category"])}</div><div class="video-attribute"><span class="label">Licence</span> {esc(page.fields["licence"])}</div></div><my-video-comments>{talk}</my-video-comments></my-video-watch><div class="other-videos"><h2>Next up</h2>{next_up}</div></div><footer>{v.footer()} Watching now: {v.between(2, 900)}</footer></div></my-app></body></html>"""


def _incident(v: View, e: Entry) -> str:
    return f'<div class="incident-container" id="i{e.key}"><div class="incident-title impact-{e.key % 3} font-large"><a href="/incidents/{e.key:x}" class="whitespace-pre-wrap">{esc(e.title)}</a></div><div class="updates-container"><div class="update font-regular"><strong>{esc(e.fields["phase"])}</strong> - <span class="whitespace-pre-wrap">{esc(e.summary)}</span><br><small>{v.when(e.born, "%b %d, %H:%M UTC")} <var data-var="ago">({v.age(e.born)})</var></small></div></div></div>'


def status(v: View) -> str:
    """Write a status page; states of components and incidents are the content, uptime graphs are not."""
    page = v.page
    rows = next((b for b in page.blocks if b.kind == "table"), Block("table", rows=[[]])).rows[1:]
    parts = "".join(
        f'<div class="component-container border-color"><div class="component-inner-container" data-component-id="{steady(r[0]) % 999}"><span class="name">{esc(r[0])}</span><span class="component-status" title="">{esc(r[1])}</span><div class="shared-partial uptime-90-days-wrapper"><svg id="uptime-{v.unique("c")}" viewBox="0 0 448 34"><rect height="34" width="{v.between(2, 3)}" x="{v.between(0, 400)}" fill="#{v.pick(("76ad2a", "e0e0e0"))}"></rect></svg><div class="legend"><span class="legend-item">90 days ago</span><span class="uptime">99.{steady(r[0]) % 90 + 10} % uptime</span></div></div></div></div>'
        for r in rows
    )
    past = "\n".join(_incident(v, e) for e in page.entries)
    nav = "".join(f'<a href="{h}">{m}</a>' for m, h in v.menu())
    note = f'<div class="text-section">{v.notice()}</div>' if v.notice() else ""
    latency = f'<div class="metrics"><h4>Response time</h4><span class="last-value">{v.between(60, 240)} ms</span> <span>fetched {v.between(1, 59)} seconds ago</span></div>'
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} - Status</title><meta name="csrf-token" content="{v.word(88)}"></head><body class="status index status-none"><div class="masthead-container basic"><div class="masthead no-cover"><div class="logo-container"><a href="/"><img src="{v.asset("//dka.test/logo.png")}"></a></div><div class="subscribe-button-container"><a class="show-updates-dropdown">{v.button("Subscribe to updates", "Get notified")}</a></div></div><div class="nav">{nav}</div></div>{note}<div class="container"><h2>{esc(page.title)}</h2><div class="page-status"><span class="status font-large">{esc(page.fields["overall"])}</span></div>
<div class="components-section font-regular">{parts}</div>{v.noise(latency)}
{v.body(table=lambda b: "")}
<div class="incidents-list format-expanded"><h2 class="font-largest">Past incidents</h2>{past}</div><div class="page-footer border-color font-small">{v.footer()} Page generated {v.clock("%H:%M:%S")} by {v.pick(("web-1", "web-2", "web-3"))}</div></div></body></html>"""


def apidocs(v: View) -> str:
    """Write a reference of an HTTP API in three columns with styled-components classes."""
    page, c = v.page, v.cls

    def parameters(b: Block) -> str:
        return (
            f'<table class="{c("params")}"><tbody>'
            + "".join(
                f'<tr class="{c("tr")}"><td kind="field" title="{esc(r[0])}" class="{c("name")}"><span class="property-name">{esc(r[0])}</span></td><td class="{c("detail")}"><span class="{c("type")}">{esc(r[1])}</span><div class="{c("desc")}"><p>{esc(r[2])}</p></div></td></tr>'
                for r in b.rows[1:]
            )
            + "</tbody></table>"
        )

    def sample(b: Block) -> str:
        lang = v.pick(("curl", "Python", "Node"))
        return f'<div class="{c("right")}"><ul class="react-tabs__tab-list" role="tablist"><li class="react-tabs__tab" id="tab:R{v.between(1, 99)}">{v.noise(lang)}</li></ul><pre class="{c("pre")}">{esc(chr(10).join(b.items))}</pre></div>'

    body = v.body(
        table=parameters,
        pre=sample,
        h2=lambda b: (
            f'<h2 class="{c("h2")}"><a class="{c("share")}" href="#{steady(b.text) % 999}" aria-label="{esc(b.text)}"></a>{esc(b.text)}</h2>'
        ),
        p=lambda b: f'<div class="{c("md")}"><p>{v.text(b.items)}</p></div>',
    )
    side = "".join(
        f'<li data-item-id="s{p.number}" class="{c("li")}"><label class="{c("label")}"><span class="{c("span")}">{esc(p.title)}</span></label></li>'
        for p in v.pages
        if not v.quiet
    )
    nav = "".join(f'<a class="{c("nav")}" href="{h}">{m}</a>' for m, h in v.menu())
    note = f'<div class="{c("banner")}">{v.notice()}</div>' if v.notice() else ""
    key = f"sk_test_{v.word(24)}"
    vote = f'<div class="{c("vote")}">Was this page helpful? <button>Yes ({v.count("yes", start=90, per_day=2)})</button></div>'
    return f"""<!DOCTYPE html><html><head><meta charset="utf8"/><title>{esc(page.title)} – API reference</title><style data-styled="active" data-styled-version="5.3.{v.noise(str(v.deploy))}">.{c("h2")}{{color:#333}}</style></head><body><div id="redoc" data-role="redoc-container"><div class="{c("wrap")}"><div class="menu-content">{nav}<ul role="menu" class="{c("ul")}">{side}</ul></div><div class="api-content">{note}<div class="{c("section")}"><div class="{c("row")}"><div class="{c("mid")}"><h1 class="{c("h1")}">{esc(page.title)} <span>({esc(page.fields["version"])})</span></h1><p>{esc(page.fields["method"])} <code>{esc(page.fields["endpoint"])}</code></p>{v.noise(f'<p class="{c("hint")}">Your test key: <code>{key}</code></p>')}
{body}
{v.noise(vote)}</div></div></div></div><div class="{c("foot")}">{v.footer()} <button class="{c("dl")}">{v.button("Download", "Download OpenAPI")}</button></div></div></div><script nonce="{v.word(16)}">const __redoc_state = {{"build":"{v.token(12)}"}};</script></body></html>"""


def magento(v: View) -> str:
    """Write a product page of an Italian shop as Magento 2 does."""
    page, f = v.page, v.page.fields
    body = v.body(
        table=lambda b: (
            '<div class="additional-attributes-wrapper table-wrapper"><table class="data table additional-attributes"><tbody>'
            + "".join(
                f'<tr><th class="col label" scope="row">{esc(r[0])}</th><td class="col data" data-th="{esc(r[0])}">{esc(r[1])}</td></tr>'
                for r in b.rows[1:]
            )
            + "</tbody></table></div>"
        ),
        img=lambda b: (
            f'<div class="gallery-placeholder _block-content-loading" data-gallery-role="gallery-placeholder"><img alt="{esc(b.text)}" class="gallery-placeholder__image" src="/pub/media/catalog/product/cache/{v.noise(f"{steady(v.host, v.deploy // 2):012x}") or "x"}/{b.href}.jpg"/></div>'
        ),
    )
    opinions = "".join(
        f'<li class="item review-item"><div class="review-title">{esc(p.author)}</div><div class="review-content">{v.text(p.sentences)}</div><div class="review-date">{v.age(p.born)}</div></li>'
        for p in page.posts
    )
    upsell = "".join(
        f'<li class="item product product-item" id="product-item_{v.between(1, 10**6)}"><a class="product-item-link" href="{p.path}">{esc(p.title)}</a><form data-role="tocart-form" action="/checkout/cart/add/uenc/{v.word(40)}/product/{p.number}/"><input name="form_key" type="hidden" value="{v.word(16)}"/></form></li>'
        for p in v.others(4)
    )
    left = v.between(20, 700)
    countdown = (
        f'<div class="countdown">Ordina entro {left // 60} h {left % 60} min per la spedizione in giornata</div>'
    )
    nav = "".join(
        f'<li class="level0 nav-{i} level-top"><a href="{h}" class="level-top" id="ui-id-{v.between(2, 90)}"><span>{m}</span></a></li>'
        for i, (m, h) in enumerate(v.menu())
    )
    note = f'<div class="message global noscript">{v.notice()}</div>' if v.notice() else ""
    cookie = (
        f'<div role="alertdialog" class="message global cookie" id="notice-cookie-block">{v.pick(v.tongue.cookies)}</div>'
        if v.maybe(0.5)
        else ""
    )
    return f"""<!doctype html><html lang="it"><head><script>var BASE_URL='/';var require={{'baseUrl':'/static/version{v.noise(str(1738500000 + v.deploy * 90000))}/frontend/Casa/it_IT'}};</script><meta charset="utf-8"/><title>{esc(page.title)}</title></head><body data-container="body" class="catalog-product-view product-{page.number} page-layout-1column">{cookie}<div class="page-wrapper"><header class="page-header"><div class="panel header"><span class="greet welcome">{v.noise(v.pick(("Benvenuto!", "Buongiorno!", "Buonasera!")))}</span></div><nav class="navigation"><ul>{nav}</ul></nav></header>{note}<main id="maincontent" class="page-main"><div class="page messages"></div><div class="columns"><div class="column main"><div class="product-info-main"><div class="page-title-wrapper product"><h1 class="page-title"><span class="base" data-ui-id="page-title-wrapper" itemprop="name">{esc(page.title)}</span></h1></div><div class="product-reviews-summary short"><div class="reviews-actions"><a class="action view">{v.count("rec", start=200, per_day=1)} recensioni</a></div></div><div class="product-info-price"><div class="price-box price-final_price" data-role="priceBox" data-product-id="{page.number}"><span class="price-container"><span id="product-price-{page.number}" class="price-wrapper"><span class="price">{esc(f["prezzo"])}</span></span></span></div><div class="product-info-stock-sku"><div class="stock available"><span>{esc(f["disponibilità"])}</span></div><div class="product attribute sku"><strong class="type">SKU</strong><div class="value" itemprop="sku">{esc(f["codice"])}</div></div></div></div>{v.noise(countdown)}<form id="product_addtocart_form" method="post"><input name="form_key" type="hidden" value="{v.word(16)}"/><button type="submit" class="action primary tocart"><span>{v.button("Aggiungi al carrello", "Metti nel carrello")}</span></button></form><div class="social-proof">{v.noise(f"{v.between(2, 60)} acquistati nelle ultime 24 ore")}</div></div><div class="product info detailed"><div class="data item content" id="description">
{body}
</div><div id="reviews"><ol class="items review-items">{opinions}</ol></div></div><div class="block upsell" data-mage-init='{{"upsellProducts":{{}}}}'><div class="block-title">Potrebbe interessarti</div><ol class="products list items">{upsell}</ol></div></div></div></main><footer class="page-footer"><small class="copyright"><span>{v.footer()}</span></small></footer></div></body></html>"""


_EASTERN = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def akhbar(v: View) -> str:
    """Write an Arabic news article, right to left, with Eastern digits around the text."""
    page = v.page

    def link(p: Page) -> str:
        return f'<li class="post-item tie-standard"><a class="post-thumb" href="{p.path}"></a><div class="post-details"><h2 class="post-title"><a href="{p.path}">{esc(p.title)}</a></h2><span class="date meta-item tie-icon">{v.age(p.born).translate(_EASTERN)}</span></div></li>'

    body = v.body(
        p=lambda b: (
            f'<p style="text-align: right;">{v.text(b.items)}</p>'
            + (f'<div class="stream-item in-post">{v.advert()}</div>' if v.maybe(0.3) else "")
        ),
        img=lambda b: (
            f'<figure class="single-featured-image"><img width="780" height="470" src="/wp-content/uploads/2025/02/{b.href}-780x470.jpg" class="attachment-jannah-image-post" alt="{esc(b.text)}" data-lazy="{v.pick(("true", "false"))}"/></figure>'
        ),
        quote=lambda b: f'<blockquote class="quote-light"><p>{v.text(b.items)}</p></blockquote>',
    )
    talk = "".join(
        f'<li class="comment" id="li-comment-{p.key}"><div class="comment-author"><cite>{esc(p.author)}</cite></div><div class="comment-meta">{v.age(p.born).translate(_EASTERN)}</div><p>{v.text(p.sentences)}</p></li>'
        for p in page.posts
    )
    nav = "".join(f'<li class="menu-item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    breaking = "".join(f'<li class="news-item"><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.recent(4))
    note = f'<div class="tie-alert">{v.notice()}</div>' if v.notice() else ""
    views = v.grouped(v.count("views", start=9000, per_day=200)).translate(_EASTERN)
    return f"""<!DOCTYPE html><html dir="rtl" lang="ar"><head><meta charset="UTF-8" /><title>{esc(page.title)} - أخبار اليوم</title><script>var tie={{"nonce":"{v.token(10)}"}};</script></head><body class="rtl post-template-default single"><div id="theme-header" class="header"><div class="topbar-today-date">{v.clock("%d %B %Y").translate(_EASTERN)}</div><div class="breaking"><span>عاجل</span><ul class="breaking-news">{breaking}</ul></div><nav id="main-nav"><ul class="menu">{nav}</ul></nav></div>{note}<div id="content" class="site-content"><article id="the-post" class="container-wrapper post-content"><header class="entry-header-outer"><h1 class="post-title entry-title">{esc(page.title)}</h1><div class="post-meta"><span class="author-meta">{esc(page.fields["الكاتب"])}</span> <span class="date meta-item">{v.age(page.born).translate(_EASTERN)}</span> <span class="tie-icon-fire meta-item">{views}</span> <span class="meta-reading-time">أقل من دقيقة</span></div></header><div class="entry-content entry clearfix">
{body}
</div><div id="share-buttons-bottom"><a class="facebook-share-button">{v.button("مشاركة", "انشر")} <span>{v.count("fb", start=300, per_day=9)}</span></a></div></article><div id="related-posts"><h3>مقالات ذات صلة</h3><ul>{"".join(map(link, v.others(3)))}</ul></div><div id="comments"><ol class="comment-list">{talk}</ol></div></div><aside class="sidebar"><h3>الأكثر قراءة</h3><ul>{"".join(map(link, v.others(5)))}</ul></aside><footer id="footer">{v.footer()}</footer></body></html>"""


def _calendar(v: View) -> str:
    today = int(v.clock("%d") or 0)
    cells = "".join(
        f'<td class="{"today" if d == today else ""}">{d}</td>' + ("</tr><tr>" if d % 7 == 0 else "")
        for d in range(1, 29)
    )
    return f'<table class="minicalendar"><caption>{v.clock("%B %Y")}</caption><tr>{cells}</tr></table>'


def joomla(v: View) -> str:
    """Write an announcement of a Polish town hall as Joomla does."""
    page, f = v.page, v.page.fields
    body = v.body(
        file=lambda b: (
            f'<p><a class="wf_file" href="/images/pliki/{b.href}"><img class="wf_file_icon" src="/media/jce/pdf.png" alt="pdf" /><span class="wf_file_text">{esc(b.text)}</span></a></p>'
        )
    )
    nav = "".join(
        f'<li class="nav-item item-{100 + i}"><a href="{h}">{m}</a></li>' for i, (m, h) in enumerate(v.menu())
    )
    latest = "".join(
        f'<li><a href="{p.path}"><span itemprop="name">{esc(p.title)}</span></a></li>' for p in v.recent(5)
    )
    popular = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.others(4))
    air = f'<div class="air">Jakość powietrza: PM10 {v.between(8, 60)} µg/m³, {v.between(-8, 14)} °C</div>'
    note = f'<div class="alert alert-warning">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div class="cookieinfo">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.4) else ""
    name = ("Imieniny: ", v.pick(("Anny i Jana", "Marka", "Zofii", "Pawła i Ewy")))
    return f"""<!DOCTYPE html><html lang="pl-pl" dir="ltr"><head><meta charset="utf-8"><title>{esc(page.title)} - Urząd Gminy</title><script type="application/json" class="joomla-script-options new">{{"csrf.token":"{v.token()}","system.paths":{{"root":""}}}}</script><link href="{v.asset("/media/templates/site/cassiopeia/css/template.min.css")}" rel="stylesheet"></head><body class="site com_content wrapper-static view-article">{cookie}<header class="header container-header full-width"><div class="navbar-brand"><a class="brand-logo" href="/">Urząd Gminy</a></div><div class="date">{v.clock("%-d %B %Y")}, {v.noise("".join(name))}</div><nav><ul class="mod-menu mod-list nav">{nav}</ul></nav></header>{note}<div class="site-grid"><div class="grid-child container-component"><main><div class="com-content-article item-page" itemscope><div class="page-header"><h1 itemprop="headline">{esc(page.title)}</h1></div><dl class="article-info text-muted"><dd class="published">Opublikowano: <time datetime="{v.when(page.born)}">{v.when(page.born, "%d %B %Y")}</time></dd><dd class="modified">Poprawiono: {v.when(page.modified, "%d %B %Y")}</dd><dd class="hits">Odsłon: <meta itemprop="interactionCount" content="UserPageVisits:{v.count("hits", start=4000, per_day=25)}">{v.count("hits", start=4000, per_day=25)}</dd></dl><div itemprop="articleBody" class="com-content-article__body">
{body}
<p>Telefon: {esc(f["telefon"])}, godziny pracy: {esc(f["godziny"])}</p></div></div></main></div><div class="grid-child container-sidebar-right"><div class="card"><h3>Ostatnio dodane</h3><ul class="mod-articleslatest latestnews mod-list">{latest}</ul></div><div class="card"><h3>Najczęściej czytane</h3><ul>{popular}</ul></div><div class="card">{v.noise(_calendar(v))}</div><div class="card">{v.noise(air)}</div><div class="card">Odwiedza nas {v.between(3, 90)} gości oraz 0 użytkowników.</div><form action="/szukaj" method="post"><input type="hidden" name="{v.token()}" value="1"><button>{v.button("Szukaj", "Wyszukaj")}</button></form></div></div><footer class="container-footer footer">{v.footer()}</footer></body></html>"""


def weather(v: View) -> str:
    """Write the forecast for a place; the forecast is the content, the time of the request is not."""
    page = v.page

    def forecast(b: Block) -> str:
        days = "".join(
            f'<li class="wr-day wr-day-id-{i}"><a class="wr-day__body" id="daylink-{i}" href="?day={i}"><span class="wr-date__longish">{esc(r[0])}</span><span class="wr-day-temperature__high-value"><span class="wr-value--temperature--c">{esc(r[1])}</span></span><span class="wr-day-temperature__low-value">{esc(r[2])}</span><span class="wr-weather-type__text">{esc(r[3])}</span></a></li>'
            for i, r in enumerate(b.rows[1:])
        )
        return f'<ol class="wr-day-carousel__list">{days}</ol>'

    nav = "".join(f'<li class="orb-nav-{i}"><a href="{h}">{m}</a></li>' for i, (m, h) in enumerate(v.menu()))
    warn = f'<div class="wr-c-environmental">{v.notice()}</div>' if v.notice() else ""
    near = "".join(f'<li class="wr-c-location"><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.others(4))
    story = "".join(
        f'<a class="ssrcss-Promo" href="/news/{v.between(10**6, 10**7)}">{esc(TOWN.title(v.rng))}</a>'
        for _ in range(v.between(2, 3))
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8"><title>{esc(page.title)} - Weather</title><meta name="msapplication-TileImage" content="{v.asset("/tile.png")}"><script>window.INITIAL_DATA={{"requestTime":"{v.clock("%H:%M:%S")}","variant":{v.between(1, 4)}}}</script></head><body class="wr-body"><header id="orb-banner"><nav><ul class="orb-nav">{nav}</ul></nav></header>{warn}<main id="wr-page"><div id="wr-location-name"><h1 id="wr-location-name-id">{esc(page.title)} <small>Weather</small></h1></div><div class="wr-c-update">Last updated {v.noise(v.pick(("today", "now")))} at {v.clock("%H:%M")}</div>
{v.body(table=forecast)}
<div class="wr-c-astro-data">Sunrise {v.noise(f"07:{55 - int(v.now / 12) % 50:02}")} Sunset {v.noise(f"17:{10 + int(v.now / 12) % 50}")}</div><div class="wr-c-coast">Contact the station: {esc(page.fields["phone"])}, pollen {esc(page.fields["pollen"])}</div></main><aside><h2>Nearby</h2><ul>{near}</ul><h2>Top stories</h2>{v.noise(story)}<button>{v.button("Set as my location", "Remember this place")}</button></aside><footer>{v.footer()} {v.between(100, 900)}ms</footer></body></html>"""


def _event(v: View, e: Entry) -> str:
    return f'<article class="tribe-events-calendar-list__event post-{e.key} tribe_events"><header><div class="tribe-events-calendar-list__event-datetime-wrapper"><time class="tribe-events-calendar-list__event-datetime">{esc(e.fields["date"])} @ {esc(e.fields["time"])}</time></div><h3 class="tribe-events-calendar-list__event-title"><a href="/event/{e.key}/?ical=1&amp;nonce={v.token(10)}" rel="bookmark">{esc(e.title)}</a></h3><address class="tribe-events-calendar-list__event-venue">{esc(e.fields["venue"])}</address></header><div class="tribe-events-calendar-list__event-description"><p>{esc(e.summary)}</p></div><div class="tribe-events-c-small-cta"><span class="tribe-events-c-small-cta__price">{esc(e.fields["admission"])}</span> <span class="going">{v.noise(str(v.count(f"g{e.key}", start=80, per_day=3)))} going</span></div></article>'


def events(v: View) -> str:
    """Write a list of events as The Events Calendar does, with a small calendar that marks today."""
    page = v.page
    rows = "\n".join(_event(v, e) for e in page.entries)
    nav = "".join(f'<li class="menu-item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="tribe-events-header__messages">{v.notice()}</div>' if v.notice() else ""
    sponsor = f'<div class="sponsor"><img src="/sponsors/{v.between(1, 12)}.png" alt=""> {v.advert()}</div>'
    insta = "".join(
        f'<a href="https://insta.test/p/{v.word(11)}/"><img src="https://scontent.test/{v.between(1, 10**8)}.jpg" alt=""></a>'
        for _ in range(4)
    )
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"/><title>{esc(page.title)} – Events</title><script data-js="tribe-events-view-data" type="application/json">{{"rest_nonce":"{v.token(10)}","breakpoint_pointer":"{v.token(8)}-{v.token(4)}","now":"{v.clock("%Y-%m-%d %H:%M:%S")}"}}</script></head><body class="archive post-type-archive-tribe_events"><header><ul class="menu">{nav}</ul></header>{note}<div class="tribe-common tribe-events tribe-events-view tribe-events-view--list" data-view-breakpoint-pointer="{v.token(8)}"><h1 class="tribe-events-header__title-text">{esc(page.title)}</h1><p class="venue-info">Box office {esc(page.fields["box office"])}, phone {esc(page.fields["phone"])}</p>
<div class="tribe-events-calendar-list">{rows}</div>
{v.body()}
</div><aside>{v.noise(_calendar(v))}{v.noise(sponsor)}<div class="instagram">{v.noise(insta)}</div><button class="tribe-events-c-subscribe-dropdown__button">{v.button("Subscribe to calendar", "Add to calendar")}</button></aside><footer>{v.footer()}</footer></body></html>"""


def _number(rng: Random) -> str:
    return f"0{rng.randint(20, 99)} {rng.randint(100, 999)} {rng.randint(1000, 9999)}"


def _row_of_parameters(rng: Random) -> str:
    name = rng.choice(("limit", "cursor", "expand", "amount", "currency", "email", "status", "metadata"))
    return f"{name}|{rng.choice(SERVICES.slots['kind'])}|{SERVICES.sentence(rng)}"


_SKY = ("sunny intervals", "light rain", "heavy rain", "drizzle", "thick cloud", "snow showers")
_STATES = ("Operational", "Degraded performance", "Partial outage", "Major outage", "Under maintenance")

KINDS = (
    Kind(
        "realestate",
        realestate,
        HOMES,
        ENGLISH,
        "/expose/{n}",
        Layout("img img h2 p h2 p ul p", fields=("rent", "rooms", "area", "deposit", "available")),
        Layout(entries=(8, 14)),
        4,
        makers={
            "rent": lambda r: f"{r.randint(4, 29)}{r.choice(('20', '50', '80', '95'))} €",
            "rooms": lambda r: str(r.choice((1, 2, 2.5, 3, 4))),
            "area": lambda r: f"{r.randint(24, 160)} m²",
            "deposit": lambda r: f"{r.randint(1, 3)} months' rent",
            "available": lambda r: r.choice(("now", "1 March", "1 April", "15 April", "reserved")),
        },
        entry_makers={"rent": lambda r: f"{r.randint(400, 2900)} €", "rooms": lambda r: str(r.randint(1, 5))},
    ),
    Kind(
        "video",
        video,
        CLIPS,
        ENGLISH,
        "/w/{slug}",
        Layout("p p ul p", fields=("channel", "category", "licence"), posts=(2, 6)),
        makers={
            "channel": lambda r: r.choice(("Workshop Diaries", "Scrap & Co", "The Attic", "Slow Builds")),
            "category": lambda r: r.choice(("How To", "Science", "Films", "People")),
            "licence": lambda r: r.choice(("CC BY", "CC BY-SA", "Public domain")),
        },
        untidy=True,
    ),
    Kind(
        "statuspage",
        status,
        SERVICES,
        ENGLISH,
        "/service/{n}",
        Layout("table p", fields=("overall",), entries=(2, 6), header=("Component", "State")),
        makers={
            "overall": lambda r: r.choice(("All systems operational", "Partial outage", "Minor service disruption")),
            "row": lambda r: f"{r.choice(SERVICES.slots['part'])}|{r.choice(_STATES)}",
        },
        entry_makers={"phase": lambda r: r.choice(("Investigating", "Identified", "Monitoring", "Resolved"))},
    ),
    Kind(
        "apidocs",
        apidocs,
        SERVICES,
        ENGLISH,
        "/reference/{slug}",
        Layout(
            "p h2 table pre h2 p ul h2 p pre",
            fields=("version", "method", "endpoint"),
            header=("Name", "Type", "Description"),
        ),
        makers={
            "version": lambda r: f"2024-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
            "method": lambda r: r.choice(("GET", "POST", "DELETE", "PATCH")),
            "endpoint": lambda r: f"/v{r.randint(1, 3)}/{r.choice(SERVICES.slots['thing'])}s",
            "row": _row_of_parameters,
        },
    ),
    Kind(
        "magento",
        magento,
        GOODS_IT,
        ITALIAN,
        "/{slug}.html",
        Layout(
            "img p p h2 table ul p",
            fields=("prezzo", "disponibilità", "codice"),
            posts=(1, 4),
            header=("Voce", "Valore"),
        ),
        makers={
            "prezzo": lambda r: f"{r.randint(9, 320)},{r.choice(('00', '50', '90', '99'))} €",
            "disponibilità": lambda r: r.choice(("Disponibile", "Non disponibile", "In arrivo")),
            "codice": lambda r: f"MB-{r.randint(1000, 9999)}",
            "row": lambda r: f"{r.choice(('Peso', 'Altezza', 'Colore', 'Capacità'))}|{r.randint(2, 900)}",
        },
    ),
    Kind(
        "akhbar",
        akhbar,
        PRESS_AR,
        ARABIC,
        "/archives/{n}",
        Layout("img p p h2 p quote p p", fields=("الكاتب",), posts=(0, 4)),
        makers={"الكاتب": lambda r: r.choice(("سمير حداد", "منى عواد", "وكالات", "فريق التحرير"))},
    ),
    Kind(
        "joomla",
        joomla,
        TOWN_PL,
        POLISH,
        "/aktualnosci/{slug}",
        Layout("p p h2 ol p file h2 p table", fields=("telefon", "godziny"), header=("Opłata", "Kwota")),
        makers={
            "telefon": _number,
            "godziny": lambda r: f"{r.randint(7, 9)}:00–{r.randint(15, 17)}:30",
            "row": lambda r: f"{r.choice(TOWN_PL.slots['doc'])} {r.randint(1, 40)}|{r.randint(5, 400)} zł",
        },
    ),
    Kind(
        "weather",
        weather,
        TOWN,
        ENGLISH,
        "/weather/{n}",
        Layout("table p", fields=("phone", "pollen"), header=("Day", "High", "Low", "Sky")),
        rate=0.35,
        makers={
            "phone": _number,
            "pollen": lambda r: r.choice(("low", "moderate", "high", "very high")),
            "live values": str,
            "row": lambda r: (
                f"{r.choice(('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'))} {r.randint(1, 28)}|{r.randint(4, 19)}°|{r.randint(1, 9)}°|{r.choice(_SKY)}"
            ),
        },
    ),
    Kind(
        "eventcalendar",
        events,
        TOWN,
        ENGLISH,
        "/events/{slug}/",
        Layout("p", fields=("box office", "phone"), entries=(4, 9)),
        makers={"box office": lambda r: f"open {r.randint(9, 12)}am to {r.randint(3, 7)}pm", "phone": _number},
        entry_makers={
            "date": lambda r: f"{r.choice(('February', 'March', 'April'))} {r.randint(1, 28)}",
            "time": lambda r: f"{r.randint(10, 21)}:{r.choice(('00', '15', '30'))}",
            "venue": lambda r: f"{r.choice(TOWN.slots['place'])} {r.choice(('hall', 'church', 'theatre'))}",
            "admission": lambda r: r.choice(("free", "£5", "£8", "£12.50", "sold out")),
        },
    ),
)
