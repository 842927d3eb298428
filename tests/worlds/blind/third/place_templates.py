"""Sites of towns and their people in many languages: wiki, blog, forum, library, hotel, radio, news, classified ads."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Post
from tests.worlds.blind.third.third_edits import THIRD_EDITS
from tests.worlds.blind.third.third_prose import (
    CITY_UK,
    FINNISH,
    HEBREW,
    HINDI,
    LIBRARY_HE,
    MARKET_HI,
    NEWS_TH,
    THAI,
    TRAIL_FI,
    TRAVEL_TR,
    TURKISH,
    UKRAINIAN,
)
from tests.worlds.blind.view import View, esc, steady


def _moin_anchor(v: View, number: int) -> str:
    return f'<span class="anchor" id="line-{number + v.between(0, 1)}"></span>'


def moin(v: View) -> str:
    """Write a page of a MoinMoin wiki: anchors of source lines, classes of parser lines, the trail of the visitor."""
    page = v.page
    body = v.body(
        p=lambda b: (
            f'{_moin_anchor(v, 4)}<p class="line{v.pick((874, 862, 867))}">{v.text(b.items)} {_moin_anchor(v, 5)}</p>'
        ),
        h2=lambda b: f'<p class="line867">\n<h2 id="{esc(b.text)}">{esc(b.text)}</h2>{_moin_anchor(v, 7)}',
        table=lambda b: (
            "<div><table><tbody>"
            + "".join(
                f"<tr>{_moin_anchor(v, 8)}{''.join(f'<td><p class=line862>{esc(c)}</p></td>' for c in row)}</tr>"
                for row in b.rows
            )
            + "</tbody></table></div>"
        ),
        ul=lambda b: (
            "<ul>"
            + "".join(
                f'<li>{_moin_anchor(v, 11)}<p class="line862">{v.inline(i)} {_moin_anchor(v, 12)}</p></li>'
                for i in b.items
            )
            + "</ul>"
        ),
        file=lambda b: (
            f'<p class="line867"><a class="attachment" href="/{page.number}?action=AttachFile&amp;do=view&amp;target={b.href}" title="{esc(b.text)}">{esc(b.text)}</a></p>'
        ),
    )
    nav = "".join(f'<li class="wikilink"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    trail = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.others(v.between(0, 4)))
    note = (
        f'<div id="message"><div class="message-text"><p class="info">{v.notice()}</p></div></div>'
        if v.notice()
        else ""
    )
    lock = (
        v.noise(
            f'<p class="warning">Сторінку зараз редагує {esc(v.pick(v.tongue.names))}, блокування ще {v.between(1, 10)} хв.</p>'
        )
        if v.maybe(0.15)
        else ""
    )
    info = f"{esc(page.title)} (востаннє редагував(ла) {esc(v.tongue.names[page.revision % 8])}, {v.when(page.modified, '%Y-%m-%d %H:%M:%S')})"
    hits = v.noise(f" | Переглядів: {v.count('hits', start=4000, per_day=9)}")
    return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
<html><head><meta http-equiv="Content-Type" content="text/html;charset=utf-8"><meta name="robots" content="index,follow"><title>{esc(page.title)} - Краєзнавча вікі</title><script type="text/javascript" src="/moin_static1911/common/js/common.js"></script></head>
<body lang="uk" dir="ltr"><div id="header"><form id="searchform" method="get" action="/"><div><input type="hidden" name="action" value="fullsearch"><input type="hidden" name="ticket" value="{v.token(20)}"><input id="searchinput" type="text" name="value" size="20"></div></form><div id="logo"><a href="/">Краєзнавча вікі</a></div><div id="username"><a href="?action=login" id="login">Увійти</a></div><h1 id="locationline"><span id="pagelocation"><a class="backlink" href="?action=fullsearch&amp;context=180">{esc(page.title)}</a></span></h1><ul id="pagetrail">{trail}</ul><ul id="navibar">{nav}</ul><div id="pageline"><hr style="display:none;"></div></div>
{note}{lock}<div id="page" lang="uk" dir="ltr"><div dir="ltr" id="content" lang="uk"><span class="anchor" id="top"></span>
{_moin_anchor(v, 1)}{body}<span class="anchor" id="bottom"></span></div><p id="pageinfo" class="info" lang="uk" dir="ltr">{v.noise(info)}{hits}</p></div>
<div id="footer"><ul class="editbar"><li><a href="?action=edit" rel="nofollow">{v.button("Редагувати", "Змінити сторінку")}</a></li><li><a href="?action=info">Інформація</a></li></ul><ul id="credits"><li>{v.footer()}</li></ul><ul id="timings"><li>init {v.noise(f"0.00{v.between(1, 9)}s")}</li><li>send_page {v.noise(f"0.{v.between(10, 99)}s")}</li></ul></div></body></html>"""


def _card(v: View, title: str, href: str, text: str, when: str, minutes: int) -> str:
    c = v.cls
    return f"""<article class="post-card post {c("PostCard")}"><a class="post-card-image-link {c("image")}" href="{href}"><div class="post-card-image" style="background-image: url(/content/images/size/w{v.pick((300, 600, 1000))}/{steady(title) % 99999}.jpg)"></div></a><div class="post-card-content {c("content")}"><a class="post-card-content-link {c("link")}" href="{href}"><header class="post-card-header"><h2 class="post-card-title {c("title")}">{esc(title)}</h2></header><section class="post-card-excerpt {c("excerpt")}"><p>{esc(text)}</p></section></a><footer class="post-card-meta {c("meta")}"><time>{when}</time> <span class="reading-time">{minutes} min</span></footer></div></article>"""


def casper(v: View) -> str:
    """Write a post or the front page of a Ghost blog with the Casper theme built by Gatsby."""
    page, c = v.page, v.cls
    nav = "".join(f'<li role="menuitem"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="gh-announcement-bar {c("bar")}">{v.notice()}</div>' if v.notice() else ""
    members = v.noise(
        f'<p class="{c("proof")}">Liity {v.grouped(v.count("members", start=9000, per_day=6))} tilaajan joukkoon</p>'
    )
    if page.shape == "list":
        cards = "".join(
            _card(v, e.title, f"/{steady(e.key, e.title) % 9999}/", e.summary, v.age(e.born), 2 + steady(e.key) % 9)
            for e in page.entries
        )
        main = f'<header class="site-home-header {c("header")}"><h1 class="site-title">{esc(page.title)}</h1></header><div class="post-feed {c("PostFeed")}">{cards}</div>'
        hot = "".join(
            f'<li><a href="{p.path}">{esc(p.title)}</a> <small>{v.between(20, 900)} lukijaa nyt</small></li>'
            for p in v.others(3)
        )
        after = v.noise(f'<aside class="{c("hot")}"><h4>Luetuimmat tänään</h4><ol>{hot}</ol></aside>')
    else:
        body = v.body(
            img=lambda b: (
                f'<figure class="kg-card kg-image-card kg-card-hascaption"><img src="/content/images/{b.href}.jpg" class="kg-image" alt="{esc(b.text)}" loading="lazy" srcset="/content/images/size/w600/{b.href}.jpg 600w"><figcaption>{esc(b.text)}</figcaption></figure>'
            ),
            file=lambda b: (
                f'<div class="kg-card kg-file-card"><a class="kg-file-card-container" href="/content/files/{b.href}" title="Lataa"><div class="kg-file-card-title">{esc(b.text)}</div></a></div>'
            ),
            quote=lambda b: f'<blockquote class="kg-blockquote-alt">{v.text(b.items)}</blockquote>',
        )
        author = v.tongue.names[page.number % 7]
        main = f"""<article class="post-full post {c("PostFull")}"><header class="post-full-header {c("header")}"><section class="post-full-meta {c("PostFullMeta")}"><time class="post-full-meta-date {c("date")}">{v.when(page.born, "%-d. %B %Y")}</time><span class="date-divider">/</span> <a href="/tags/retket/">retket</a></section><h1 class="post-full-title {c("title")}">{esc(page.title)}</h1></header><section class="post-full-content {c("PostContent")}"><div class="post-content">
{body}
</div></section><section class="subscribe-form {c("SubscribeForm")}"><h3>Tilaa retkikirje</h3>{members}<form method="post" action="/subscribe/"><input type="hidden" name="confirm" value="{v.token(16)}"><input class="subscribe-email" type="email" name="email"><button id="mc-{v.between(1000, 9999)}">{v.button("Tilaa", "Tilaa ilmaiseksi")}</button></form></section><footer class="post-full-footer {c("footer")}"><section class="author-card {c("AuthorCard")}"><img class="author-profile-image" src="/content/images/{steady(author) % 999}.jpg" alt="{esc(author)}"><h4 class="author-card-name">{esc(author)}</h4><p>{v.count("posts", start=60, per_day=0.2)} juttua · 👏 {v.count("claps", start=300, per_day=5)}</p></section></footer></article>"""
        cards = "".join(_card(v, p.title, p.path, v.prose.title(v.rng), v.age(p.born), 3) for p in v.others(3))
        after = f'<aside class="read-next outer {c("readnext")}"><div class="read-next-feed {c("feed")}">{cards}</div></aside>'
    return f"""<!DOCTYPE html><html lang="fi"><head><meta charSet="utf-8"/><meta name="generator" content="Gatsby 2.18.{v.noise(str(v.deploy))}"/><style data-emotion-css="{c("a")[4:]} {c("b")[4:]}">.x{{margin:0}}</style><title data-react-helmet="true">{esc(page.title)}</title><link as="script" rel="preload" href="/webpack-runtime-{v.noise(f"{steady(v.host, v.deploy):012x}")}.js"/></head>
<body class="{v.pick(("post-template", "post-template gh-light"))}"><div id="___gatsby"><div tabindex="-1" role="group" id="gatsby-focus-wrapper"><div class="{c("Wrapper")}"><header class="site-header {c("SiteHeader")}"><nav class="site-nav {c("SiteNav")}"><a class="site-nav-logo" href="/">Polku</a><ul role="menu" class="{c("nav")}">{nav}</ul><a class="subscribe-button {c("sub")}" href="#subscribe">{v.button("Tilaa", "Tilaa ilmaiseksi")}</a></nav></header>{note}
<main id="site-main" class="site-main outer {c("main")}"><div class="inner {c("inner")}">{main}</div></main>{after}<footer class="site-footer outer {c("SiteFooter")}"><div class="inner"><section class="copyright">{v.footer()}</section></div></footer></div></div></div><script id="gatsby-script-loader">/*<![CDATA[*/window.pagePath="{page.path}";window.___webpackCompilationHash="{v.token(20)}";/*]]>*/</script></body></html>"""


def _nodebb_stat(v: View, component: str, icon: str, value: int, label: str) -> str:
    return f'<span class="badge text-body border border-gray-300 stats text-xs"><i class="fa fa-fw fa-{icon} visible-xs-inline" title="{label}"></i> <span component="topic/{component}" title="{value}" class="fw-bold">{v.brief(value)}</span> <span class="hidden-xs text-lowercase fw-normal">{label}</span></span>'


def _nodebb_post(v: View, at: int, post: Post) -> str:
    who = steady(post.author, v.host)
    state = v.pick(("online", "away", "offline"))
    words = {"online": "Çevrimiçi", "away": "Dışarıda", "offline": "Çevrimdışı"}[state]
    badge = (
        '<a href="/groups/rehber" class="badge rounded-1 text-uppercase text-truncate">Rehber</a>'
        if who % 5 == 0
        else ""
    )
    replies = (
        v.noise(
            f'<a component="post/reply-count" href="#" class="d-flex gap-2 btn btn-ghost"><span class="replies-count">{v.count(f"re{post.key}", start=5, per_day=0.2)} yanıt</span> <span class="replies-last hidden-xs">Son yanıt <span class="timeago" title="{v.when(v.now - 9, "%Y-%m-%dT%H:%M:%S.000Z")}">{v.age(v.now - v.between(1, 90))}</span></span></a>'
        )
        if who % 3 == 0
        else ""
    )
    edited = (
        v.noise('<i component="post/edit-indicator" class="fa fa-edit text-muted edit-icon"></i>')
        if v.page.revision > 9
        else ""
    )
    return f"""<li component="post" class="pt-4 {"topic-owner-post" if at == 0 else ""}" data-index="{at}" data-pid="{post.key}" data-uid="{who % 900}" data-timestamp="{int(post.born * 3600)}" data-username="{esc(post.author)}"><a component="post/anchor" data-index="{at}" id="{at}"></a>
<div class="d-flex align-items-start gap-3 post-container-parent"><div class="bg-body d-none d-sm-block rounded-circle"><a class="d-inline-block position-relative" href="/user/{who % 900}" aria-label="Profil: {esc(post.author)}"><span title="{esc(post.author)}" data-uid="{who % 900}" class="avatar avatar-rounded" style="--avatar-size: 48px; background-color: #{who % 16**6:06x}">{esc(post.author[0].upper())}</span>
<span component="user/status" class="position-absolute {state}"><span class="visually-hidden">{v.noise(words)}</span></span></a></div>
<div class="post-container d-flex gap-2 flex-grow-1 flex-column w-100"><div class="d-flex align-items-start justify-content-between post-header"><div class="d-flex gap-1 flex-wrap align-items-center text-truncate"><a class="fw-bold text-nowrap text-truncate" href="/user/{who % 900}">{esc(post.author)}</a>
{badge}
<div class="d-flex gap-1 align-items-center"><span class="text-muted"><a href="/post/{post.key}" class="timeago text-muted" title="{v.when(post.born, "%Y-%m-%dT%H:%M:%S.000Z")}">{v.age(post.born)} yazdı</a></span>
{edited}</div></div>
<a href="/post/{post.key}" class="post-index text-muted">#{at + 1}</a></div>
<div class="content text-break" component="post/content" itemprop="text"><p dir="auto">{v.text(post.sentences)}</p>
</div><div component="post/footer" class="post-footer border-bottom pb-2"><div class="d-flex flex-wrap-reverse gap-2">{replies}
<div component="post/actions" class="d-flex"><a component="post/upvote" href="#" class="btn btn-ghost btn-sm"><i class="fa fa-fw fa-chevron-up"></i></a><a href="#" class="px-2 mx-1 fw-bold" component="post/vote-count" data-votes="{v.count(f"v{post.key}", start=9, per_day=0.4)}">{v.count(f"v{post.key}", start=9, per_day=0.4)}</a></div></div></div></div></div></li>"""


def _nodebb_topic(v: View, at: int, entry: Entry) -> str:
    f = entry.fields
    teaser = v.noise(
        f'<div component="topic/teaser" class="lastpost border-start"><a class="timeago" href="#">{v.age(v.now - v.between(1, 400) / 7)}</a><div class="post-content text-xs">{esc(v.prose.title(v.rng))}</div> {esc(v.pick(v.tongue.names))}</div>'
    )
    stats = "".join(
        f'<div class="stats-{name} card card-header border-0 p-2"><span class="fs-5 ff-secondary lh-1" title="{n}">{v.brief(n)}</span>\n<span class="d-none d-xl-flex text-lowercase text-xs">{label}</span></div>'
        for name, n, label in (
            ("votes", v.count(f"v{entry.key}", start=20, per_day=0.5), "Oy"),
            ("postcount", v.count(f"p{entry.key}", start=60, per_day=1), "İleti"),
            ("viewcount", v.count(f"w{entry.key}", start=4000, per_day=40), "Bakış"),
        )
    )
    return f"""<li component="category/topic" class="category-item hover-parent border-bottom py-3 {v.pick(("", "unread"))}" data-tid="{entry.key}" data-index="{at}"><div class="d-flex p-0 col-12 col-lg-7 gap-2"><div class="flex-grow-1 d-flex flex-wrap gap-1 position-relative"><h3 component="topic/header" class="title text-break fs-5 fw-semibold m-0 tracking-tight w-100"><a class="text-reset" href="/topic/{entry.key}/x">{esc(entry.title)}</a></h3><span component="topic/labels" class="d-flex flex-wrap gap-1 w-100"><span class="badge border border-gray-300 fw-normal tag">{esc(f["etiket"])}</span>
<a href="/topic/{entry.key}" class="d-none d-lg-block badge bg-transparent text-muted fw-normal timeago">{v.age(entry.born)}</a></span></div></div><div class="d-flex p-0 col-lg-5 col-12 align-content-stretch"><div class="meta stats d-none d-lg-grid col-6 gap-1 pe-2 text-muted">{stats}</div>{teaser}</div></li>"""


def nodebb(v: View) -> str:
    """Write a topic or a category as NodeBB's Harmony theme does."""
    page = v.page
    nav = "".join(
        f'<li class="nav-item mx-2"><a class="nav-link navigation-link d-flex gap-2" href="{h}"><span class="nav-text small px-2 fw-semibold">{m}</span></a></li>'
        for m, h in v.menu()
    )
    if page.shape == "list":
        rows = "\n".join(_nodebb_topic(v, i, e) for i, e in enumerate(page.entries))
        main = f'<h1 class="tracking-tight fs-2 fw-semibold mb-0">{esc(page.title)}</h1><div class="d-flex flex-wrap gap-2">{_nodebb_stat(v, "topics", "list", v.count("topics", start=900, per_day=3), "Konu")}{_nodebb_stat(v, "posts", "message", v.count("posts", start=9000, per_day=20), "İleti")}</div><ul component="category" class="topics-list list-unstyled">{rows}</ul>'
    else:
        posts = "\n".join(_nodebb_post(v, i, p) for i, p in enumerate(page.posts))
        also = "".join(
            f'<li class="category-item"><a href="{p.path}">{esc(p.title)}</a> <span class="stats">{v.between(2, 90)} ileti</span> <span class="timeago">{v.age(p.born)}</span></li>'
            for p in v.others(4)
        )
        here = v.noise(
            f'<div component="topic/browsing-users">{v.between(1, 14)} kullanıcı bu konuyu okuyor: {", ".join(esc(n) for n in v.some(v.tongue.names, 3))}</div>'
        )
        stats = _nodebb_stat(v, "post-count", "message", len(page.posts), "İleti") + _nodebb_stat(
            v, "views", "eye", v.count("views", start=4000, per_day=30), "Bakış"
        )
        main = f"""<h1 component="post/header" class="tracking-tight fw-semibold fs-3 mb-0 text-break"><span class="topic-title" component="topic/title">{esc(page.title)}</span></h1><div class="topic-info d-flex gap-2"><a class="badge px-1" href="/category/{page.number % 5}">{esc(page.fields["bölüm"])}</a><div class="d-flex gap-2">{stats}</div></div>{here}<ul component="topic" class="posts timeline list-unstyled p-0 py-3" data-tid="{page.number}">
{posts}</ul><div class="topic-reply"><button class="btn btn-sm btn-primary">{v.button("Yanıtla", "Cevap yaz")}</button></div><div class="suggested-topics"><h5>Önerilen konular</h5><ul>{also}</ul></div>"""
    online = v.noise(
        f'<div class="card" data-widget-area="sidebar"><h5>Kimler çevrimiçi</h5><p>{v.between(3, 40)} üye, {v.between(20, 900)} misafir</p></div>'
    )
    note = f'<div class="alert alert-info" data-widget="announcement">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html>
<html lang="tr" data-dir="ltr" style="direction: ltr;"><head><title>{esc(page.title)} | Gezgin Forum</title><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/assets/client.css?v={v.noise(f"{steady(v.host, v.deploy) % 16**10:010x}")}"><script>var config = JSON.parse('{{"csrf_token":"{v.token(64)}","cache-buster":"v={v.word(11)}"}}');</script></head>
<body class="page-topic skin-noskin"><a class="visually-hidden-focusable" href="#content">İçeriğe geç</a><div class="layout-container d-flex justify-content-between pb-4"><nav component="sidebar/left" class="text-dark bg-light sidebar sidebar-left"><ul id="main-nav" class="list-unstyled d-flex flex-column w-100 gap-2 mt-2">{nav}</ul></nav>
<main id="panel" class="d-flex flex-column gap-3 flex-grow-1 mt-3"><div class="container-lg px-md-4 d-flex flex-column gap-3 h-100 mb-5"><div data-widget-area="header">{note}</div><div class="flex-fill" id="content">{main}</div>{online}<div data-widget-area="footer">{v.footer()}</div></div></main></div></body></html>"""


def _month(v: View) -> str:
    """Write a calendar of the month with today marked."""
    today = int(v.when(v.now, "%d")) if not v.quiet else 0
    days = "".join(
        f'<td class="mini {"today" if d == today else "has-events" if (d * 7 + steady(v.host)) % 5 == 0 else "empty"}"><div class="day"><a href="/calendar/{v.noise(v.when(v.now, "%Y-%m"))}-{d:02}">{d}</a></div></td>'
        for d in range(1, 29)
    )
    return f'<div class="calendar-calendar"><h3>{v.when(v.now, "%B %Y")}</h3><table class="mini"><tbody><tr>{days}</tr></tbody></table></div>'


def drupal(v: View) -> str:
    """Write a page of a library as Drupal's Olivero theme does, from right to left."""
    page, f = v.page, v.page.fields
    nav = "".join(
        f'<li class="primary-nav__menu-item primary-nav__menu-item--link primary-nav__menu-item--level-1"><a href="{h}" class="primary-nav__menu-link"><span class="primary-nav__menu-link-inner">{m}</span></a></li>'
        for m, h in v.menu()
    )
    body = v.body(
        table=lambda b: f'<table class="views-table responsive-enabled">{v.rows(b)}</table>',
        file=lambda b: (
            f'<div class="field field--name-field-file field--type-file"><span class="file file--mime-application-pdf file--application-pdf"><a href="/sites/default/files/{b.href}" type="application/pdf">{esc(b.text)}</a></span></div>'
        ),
    )
    facts = "".join(
        f'<div class="field field--name-field-{i} field--label-inline clearfix"><div class="field__label">{k}</div><div class="field__item">{esc(x)}</div></div>'
        for i, (k, x) in enumerate(f.items())
    )
    hour = v.now % 24
    state = v.noise(
        f'<div class="oh-status {"open" if hour < 10 else "closed"}">{"פתוח עכשיו" if hour < 10 else "סגור כעת"} · {"נסגר" if hour < 10 else "נפתח"} בעוד {v.between(1, 9)} שעות</div>'
    )
    books = "".join(
        f'<div class="slick-slide"><img src="/covers/{v.between(100, 999)}.jpg" alt=""><a href="{p.path}">{esc(p.title)}</a></div>'
        for p in v.others(3)
    )
    guests = v.noise(
        f'<div id="block-whosonline" class="block block-user"><h2>מחוברים</h2><p>כרגע מחוברים {v.between(0, 6)} משתמשים ו-{v.between(3, 80)} אורחים.</p></div>'
    )
    poll = "".join(
        f'<div class="poll-item"><dt class="choice-title">{w}</dt><dd class="choice-result">{v.between(5, 60)}% ({v.count(w, start=300, per_day=3)} קולות)</dd></div>'
        for w in ("כן", "לא", "אין דעה")
    )
    note = (
        f'<div class="messages-list__item messages messages--warning" role="alert">{v.notice()}</div>'
        if v.notice()
        else ""
    )
    weather = v.noise(
        f'<span class="weather">{v.between(9, 31)}°C, {v.pick(("בהיר", "מעונן", "גשם קל", "רוח"))}</span>'
    )
    reads = v.noise(f'<li class="statistics-counter">{v.grouped(v.count("reads", start=9000, per_day=14))} קריאות</li>')
    return f"""<!DOCTYPE html>
<html lang="he" dir="rtl" style="--color--primary-hue:202"><head><meta charset="utf-8" /><meta name="Generator" content="Drupal 10 (https://www.drupal.org)" /><title>{esc(page.title)} | רשת הספריות</title><link rel="stylesheet" media="all" href="/sites/default/files/css/css_{v.noise(f"{steady(v.host, v.deploy):012x}")}.css?delta=0&amp;theme=olivero" /></head>
<body class="page-node-type-page path-node"><a href="#main-content" class="visually-hidden focusable skip-link">דילוג לתוכן העיקרי</a><div class="dialog-off-canvas-main-canvas" data-off-canvas-main-canvas><div id="page-wrapper" class="page-wrapper"><header id="header" class="site-header" role="banner"><a href="/" class="site-branding__text">רשת הספריות</a>{weather}<nav class="primary-nav" id="block-olivero-main-menu"><ul class="menu primary-nav__menu">{nav}</ul></nav><form action="/search/node" method="get" id="search-block-form"><input type="hidden" name="form_build_id" value="form-{v.word(43)}" /><input type="submit" value="{v.button("חיפוש", "חפשו באתר")}" /></form></header>
<div id="main-wrapper" class="layout-main-wrapper layout-container"><div class="region region--highlighted">{note}{state}</div><main role="main"><div class="region region--content-above"><h1 class="title page-title"><span class="field field--name-title field--type-string field--label-hidden">{esc(page.title)}</span></h1></div><div class="region region--content grid-full" id="content"><article data-history-node-id="{page.number}" class="node node--type-page node--view-mode-full"><div class="node__content"><div class="text-content clearfix field field--name-body">
{body}
</div>{facts}</div><ul class="links inline">{reads}</ul></article></div></main><div class="social-bar"></div><aside class="region region--sidebar grid-full layout--sidebar"><div class="block block-views"><h2>ספרים מומלצים</h2><div class="slick">{books}</div></div>{v.noise(_month(v))}<div class="block block-poll"><h2>סקר</h2><dl class="poll">{poll}</dl></div>{guests}</aside></div><footer class="site-footer"><div class="region region--footer-bottom">{v.footer()} <span class="print">הודפס {v.clock("%d.%m.%Y %H:%M")}</span></div></footer></div></div></body></html>"""


def _room(v: View, row: list[str]) -> str:
    left = v.noise(f'<div class="bui-urgency">Bu fiyata son {v.between(1, 6)} oda!</div>') if v.maybe(0.4) else ""
    return f'<tr class="js-rt-block-row e2e-hprt-table-row" data-block-id="{steady(*row) % 10**8}_{v.between(10**6, 10**7)}"><td class="hprt-table-cell-roomtype"><span class="hprt-roomtype-icon-link">{esc(row[0])}</span>{left}</td><td class="hprt-table-cell-occupancy">{esc(row[1])}</td><td class="hprt-table-cell-price"><span class="prco-valign-middle-helper">{esc(row[2])}</span></td><td><select name="nr_rooms_{v.between(1000, 9999)}"><option>0</option><option>1</option></select></td></tr>'


def _review(v: View, post: Post) -> str:
    likes = v.count(f"h{post.key}", start=12, per_day=0.3)
    return f'<li class="review_list_new_item_block" data-review-url="{v.noise(v.word(16))}"><div class="c-review-block"><span class="bui-avatar-block__title">{esc(post.author)}</span> <span class="c-review-block__date">Yorum tarihi: {v.age(post.born)}</span><div class="c-review"><span class="c-review__body">{v.text(post.sentences)}</span></div><p class="review-helpful__vote-others-helpful">{likes} kişi bu yorumu faydalı buldu</p></div></li>'


def _facilities(v: View, block: Block) -> str:
    css = v.cls("fac")
    return "".join(f'<div class="{css}"><svg></svg><span>{v.inline(i)}</span></div>' for i in block.items)


def hotel(v: View) -> str:
    """Write a hotel as a large booking site does, with all the urgency that it can invent."""
    page, f, c = v.page, v.page.fields, v.cls
    nav = "".join(
        f'<li class="bui-tab__item"><a class="{c("nav")}" href="{h}?aid={v.between(10**5, 10**6)}&amp;sid={v.token(32)}">{m}</a></li>'
        for m, h in v.menu()
    )
    body = v.body(
        table=lambda b: (
            f'<table class="hprt-table" id="hprt-table"><thead><tr>{"".join(f"<th>{esc(x)}</th>" for x in b.rows[0])}<th></th></tr></thead><tbody>{"".join(_room(v, r) for r in b.rows[1:])}</tbody></table>'
        ),
        img=lambda b: (
            f'<a class="bh-photo-grid-item" href="#"><img class="hide" src="/images/hotel/max{v.pick((500, 750, 1024))}/{b.href}.jpg?k={v.token(32)}&amp;o=" alt="{esc(b.text)}"></a>'
        ),
        ul=lambda b: f'<div class="{c("facilities")}">{_facilities(v, b)}</div>',
    )
    facts = "".join(
        f'<div class="{c("policy")}"><div class="{c("policy-k")}">{k}</div><div class="{c("policy-v")}">{esc(x)}</div></div>'
        for k, x in f.items()
    )
    urgent = v.noise(
        v.pick(
            (
                f'<div class="{c("urg")}">Son 24 saatte {v.between(2, 19)} kez rezerve edildi</div>',
                f'<div class="{c("urg")}">Şu anda {v.between(3, 40)} kişi bu tesise bakıyor</div>',
                f'<div class="{c("urg")}">Son rezervasyon: {v.between(2, 59)} dk önce, {esc(v.pick(v.tongue.names))}</div>',
                "",
            )
        )
    )
    timer = (
        v.noise(
            f'<div class="{c("deal")}">Fırsatın bitmesine {v.between(0, 23):02}:{v.between(0, 59):02}:{v.between(0, 59):02}</div>'
        )
        if v.maybe(0.5)
        else ""
    )
    also = "".join(
        f'<div class="{c("alike")}"><a href="{p.path}?sid={v.token(32)}">{esc(p.title)}</a> <span>{v.between(700, 9900)} TL’den</span> <span>{v.between(60, 98) / 10} ({v.between(20, 900)} yorum)</span></div>'
        for p in v.others(4)
    )
    reviews = "".join(_review(v, p) for p in page.posts)
    rates = v.noise(f"<span>€ {v.between(3700, 3999) / 100}</span> <span>$ {v.between(3500, 3699) / 100}</span>")
    note = f'<div class="bui-alert bui-alert--info" role="status">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div id="onetrust-banner-sdk">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    asked = "".join(f"<li>{esc(v.prose.title(v.rng))}?</li>" for _ in range(v.between(1, 3)))
    call = v.pick(("Rezervasyon yap", "Hemen ayırt", "Yerinizi ayırtın")) if v.opt("ab") else "Rezervasyon yap"
    return f"""<!DOCTYPE html><html lang="tr" class="noJS b_chrome"><head><meta charset="utf-8"><title>{esc(page.title)} – Konak</title><script nonce="{v.word(15)}">window.ts="{v.clock("%s")}";</script><link rel="stylesheet" href="/static/css/main_{v.noise(f"{steady(v.host, v.deploy):012x}")}.css"></head>
<body id="b2hotelPage" class="{v.pick(("hp_is_split", "hp_desktop", "hp_exp_b"))}"><div id="bodyconstraint">{cookie}<header class="{c("Header")}"><a href="/">Konak</a> {rates}<ul class="bui-tab__nav">{nav}</ul><button>{v.button("Giriş yap", "Oturum aç")}</button></header>{note}
<div id="hotelTmpl"><div class="hp__hotel-title"><h1 class="{c("pp-header")}">{esc(page.title)}</h1></div><div class="{c("score")}"><span>{7 + steady(page.number) % 30 / 10}</span> <span>{v.grouped(v.count("ratings", start=2000, per_day=3))} değerlendirme</span></div>{urgent}{timer}<div id="property_description_content">
{body}
</div><section id="policies">{facts}<button class="{c("cta")}">{call}</button></section><section id="reviews"><ul class="review_list">{reviews}</ul></section><section class="{c("asked")}"><h3>Gezginler soruyor</h3><ul>{asked}</ul></section><section class="{c("carousel")}"><h3>Bu tesise bakanlar bunlara da baktı</h3>{also}</section></div><footer>{v.footer()} <span data-req="{v.token(16)}"></span></footer></div></body></html>"""


_SINGERS = ("Океан Гуцул", "Тінь Сонця", "Один в каное", "Pianoboy", "Жадан", "Вертеп", "Latexfauna", "Kurs Valüt")
_SONGS = ("Без бою", "Човен", "Мало", "Кульбаба", "Літак", "Поїзд", "Сурфер", "У мене немає дому", "Обійми", "Гроза")


def radio(v: View) -> str:
    """Write a page of a radio station: what is on now, the last songs, greetings of listeners, rates and weather."""
    page = v.page
    nav = "".join(f'<a class="menu__link" href="{h}">{m}</a>' for m, h in v.menu())
    body = v.body(
        table=lambda b: (
            '<div class="schedule">'
            + "".join(
                f'<div class="schedule__row"><span class="schedule__time">{esc(r[0])}</span><span class="schedule__show">{esc(r[1])}</span><span class="schedule__host">{esc(r[2])}</span></div>'
                for r in b.rows[1:]
            )
            + "</div>"
        ),
        dl=lambda b: "".join(
            f'<div class="faq"><div class="faq__q">{esc(q)}</div><div class="faq__a">{v.inline(a)}</div></div>'
            for q, a in b.rows
        ),
    )
    on_air = v.noise(
        f'<div class="player__now"><span class="player__artist">{v.pick(_SINGERS)}</span> – <span class="player__song">{v.pick(_SONGS)}</span></div>'
    )
    played = "".join(
        f"<li><time>{v.when(v.now - i * 0.07 - v.rng.random() * 0.02, '%H:%M')}</time> {v.pick(_SINGERS)} — {v.pick(_SONGS)}</li>"
        for i in range(5)
        if not v.quiet
    )
    greetings = "".join(
        f'<li class="shout"><b>{esc(n)}</b> <i>{v.when(v.now - v.rng.random() * 3, "%H:%M")}</i> {v.pick(("Привіт усім!", "Дякую за пісню", "Зіграйте ще!", "З днем народження, мамо", "Слухаю з Канади"))}</li>'
        for n in v.some(v.tongue.names, 4)
    )
    rates = v.noise(f'<div class="rates">USD {v.between(4100, 4250) / 100} ▲ EUR {v.between(4300, 4450) / 100} ▼</div>')
    weather = v.noise(
        f'<div class="weather">{v.between(-9, 12):+d}° {v.pick(("хмарно", "ясно", "сніг", "туман", "мряка"))}, вітер {v.between(1, 12)} м/с</div>'
    )
    facts = "".join(f'<p class="show__fact"><span>{k}:</span> {esc(x)}</p>' for k, x in page.fields.items())
    top = "".join(f'<li>{s} <span class="chart__votes">{v.between(10, 900)}</span></li>' for s in v.some(_SONGS, 5))
    advert = v.noise(
        f'<div class="banner" id="div-gpt-ad-{v.between(10**6, 10**7)}-0"><a href="//ads.example/{v.token(16)}">{v.advert()}</a></div>'
    )
    note = f'<div class="alert-line">{v.notice()}</div>' if v.notice() else ""
    return f"""<!doctype html><html lang="uk"><head><meta charset="utf-8"><title>{esc(page.title)} — Радіо Вежа</title><link rel="stylesheet" href="{v.asset("/build/app.css")}"></head>
<body><header class="header"><a class="header__logo" href="/">Радіо Вежа</a>{rates}{weather}<nav class="menu">{nav}</nav><div class="player"><button class="player__play">{v.button("Слухати", "Слухати наживо")}</button>{on_air}<span class="player__listeners">{v.noise(f"{v.between(90, 2900)} слухачів")}</span></div></header>{note}
<div class="layout"><main class="show"><h1 class="show__title">{esc(page.title)}</h1>{facts}{advert}<div class="show__text">
{body}
</div><div class="share"><span>{v.count("shares", start=200, per_day=2)}</span> поширень · <span>👁 {v.grouped(v.count("eyes", start=9000, per_day=50))}</span></div></main>
<aside class="side"><section><h3>Щойно звучало</h3><ul class="played">{played}</ul></section><section><h3>Хіт-парад</h3><ol class="chart">{top}</ol></section><section><h3>Вітання</h3><ul class="shouts">{greetings}</ul></section></aside></div><footer class="footer">{v.footer()} {v.clock("%H:%M:%S")}</footer></body></html>"""


def _thai_line(v: View, entry: Entry) -> str:
    f = entry.fields
    return f'<div class="card-news"><a href="/news/{entry.key}"><img data-src="/photo/{entry.key}.webp" src="data:image/gif;base64,R0lGOD" alt=""><h3 class="card-news__title">{esc(entry.title)}</h3></a><p class="card-news__intro">{esc(entry.summary)}</p><div class="card-news__meta"><span class="cat">{esc(f["หมวด"])}</span> <time>{v.age(entry.born)}</time> <span class="view">{v.brief(v.count(f"e{entry.key}", start=50000, per_day=900))} อ่าน</span></div></div>'


def thainews(v: View) -> str:
    """Write an article or a section of a Thai news site."""
    page = v.page
    nav = "".join(f'<li class="nav__item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    ticker = v.noise(
        f'<div class="ticker"><span>SET {v.between(13000, 14900) / 10} ({v.between(-90, 90) / 10:+})</span> <span>ทองคำ {v.grouped(v.between(39000, 44000))}</span> <span>น้ำมัน {v.between(300, 400) / 10}</span></div>'
    )
    hot = "".join(
        f'<li><em>{i}</em><a href="{p.path}">{esc(p.title)}</a><span>{v.brief(v.between(900, 90000))} ครั้ง</span></li>'
        for i, p in enumerate(v.others(5), 1)
    )
    fresh = "".join(
        f'<li><time>{v.age(v.now - v.rng.random() * 9)}</time><a href="{p.path}">{esc(p.title)}</a></li>'
        for p in v.recent(4)
    )
    advert = f'<div class="ads" data-slot="{v.token(8)}"><small>โฆษณา</small>{v.advert()}</div>'
    if page.shape == "list":
        main = f'<h1 class="section-title">{esc(page.title)}</h1><div class="grid-news">{"".join(_thai_line(v, e) for e in page.entries)}</div>'
    else:

        def paragraph(b: Block) -> str:
            return f"<p>{v.text(b.items)}</p>" + (advert if v.maybe(0.3) else "")

        body = v.body(p=paragraph)
        year = v.when(page.born, "%-d %B ") + str(int(v.when(page.born, "%Y")) + 543)
        reactions = "".join(
            f'<button class="react">{face} {v.count(face, start=400, per_day=8)}</button>'
            for face in ("👍", "😮", "😢")
        )
        main = f"""<article class="article"><h1 class="article__title">{esc(page.title)}</h1><p class="article__deck">{esc(page.fields["พาดหัวรอง"])}</p><div class="article__meta"><time>{year}</time> <span>{esc(page.fields["ผู้สื่อข่าว"])}</span> <span>อ่าน {v.grouped(v.count("read", start=90000, per_day=2000))} ครั้ง</span> <span>อัปเดต {v.age(page.modified)}</span></div><div class="article__share">แชร์ {v.count("share", start=900, per_day=12)}</div><div class="article__body">
{body}
</div><div class="article__react">{reactions}</div></article><section class="related"><h4>ข่าวที่เกี่ยวข้อง</h4>{"".join(f'<a href="{p.path}"><span>{esc(p.title)}</span></a>' for p in v.others(4))}</section>"""
    note = f'<div class="notify">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div class="pdpa">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.6) else ""
    horoscope = v.noise(
        f'<div class="horo">ราศี{v.pick(("เมษ", "พฤษภ", "กันย์", "ธนู", "มีน"))}วันนี้: {esc(v.prose.title(v.rng))}</div>'
    )
    return f"""<!DOCTYPE html><html lang="th"><head><meta charset="utf-8"><title>{esc(page.title)} - ข่าวเช้า</title><script>window.__INITIAL_STATE__={{"uid":"{v.token(32)}"}}</script><link rel="stylesheet" href="{v.asset("/dist/site.css")}"></head>
<body class="{v.pick(("", "bg-black-ribbon"))}">{cookie}<div class="top">{ticker}<span class="date">{v.clock("%-d %B %H:%M")} น.</span></div><header><a class="logo" href="/">ข่าวเช้า</a><ul class="nav">{nav}</ul><button class="btn-follow">{v.button("ติดตาม", "กดติดตาม")}</button></header>{note}{advert}
<div class="container"><main>{main}</main><aside><h4>ข่าวยอดนิยม</h4><ol class="popular">{hot}</ol><h4>ล่าสุด</h4><ul class="latest">{fresh}</ul>{horoscope}</aside></div><footer>{v.footer()}</footer></body></html>"""


_TIPS = (
    "पहले सामान देखें, फिर पैसे दें।",
    "अनजान व्यक्ति को अग्रिम भुगतान न करें।",
    "सार्वजनिक स्थान पर मिलें।",
    "बहुत सस्ते दाम से सावधान रहें।",
    "ओटीपी किसी को न बताएँ।",
)


def _ad_line(v: View, title: str, href: str, text: str, price: str, place: str, when: str, *, paid: bool) -> str:
    mark = '<span class="premium-label">प्रायोजित</span>' if paid else ""
    return f'<li class="listing-card {"premium" if paid else ""}"><div class="listing-detail"><div class="listing-data"><div class="listing-basicinfo"><a href="{href}" class="title" title="{esc(title)}">{esc(title)}</a> {mark} <div class="listing-attributes"><span class="location">{esc(place)}</span> <span class="g-hide">-</span> {when} <span class="currency-value">{esc(price)}</span></div><p>{esc(text)}</p></div></div></div></li>'


def osclass(v: View) -> str:
    """Write an ad or a list of ads as Osclass's Bender theme does; paid ads are mixed into the list at random."""
    page = v.page
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())

    def paid() -> str:
        other = v.elsewhere()
        return _ad_line(
            v,
            other.title,
            other.path,
            v.prose.title(v.rng),
            f"₹{v.between(400, 90000)}",
            v.pick(v.prose.slots["city"]),
            v.age(other.born),
            paid=True,
        )

    if page.shape == "list":
        lines = [
            _ad_line(
                v, e.title, f"/item/{e.key}", e.summary, e.fields["दाम"], e.fields["शहर"], v.age(e.born), paid=False
            )
            for e in page.entries
        ]
        for _ in range(v.between(1, 3)):
            lines.insert(v.between(0, len(lines)), paid())
        main = f'<h1>{esc(page.title)}</h1><div class="actions"><span class="counter-search">{v.grouped(v.count("found", start=900, per_day=5))} में से 1 - {len(page.entries)} विज्ञापन</span></div><ul class="listing-card-list" id="listing-card-list">{"".join(lines)}</ul>'
    else:
        f = page.fields
        meta = "".join(
            f'<div class="meta"><strong>{k}:</strong> {esc(x)}</div>' for k, x in f.items() if k not in ("दाम", "फ़ोन")
        )
        alike = "".join(paid() for _ in range(v.between(2, 4)))
        body = v.body(
            img=lambda b: (
                f'<div class="item-photos"><a href="/oc-content/uploads/{b.href}.jpg" class="main-photo" title="{esc(b.text)}"><img src="/oc-content/uploads/{b.href}_preview.jpg" alt="{esc(b.text)}" title="{esc(b.text)}" /></a></div>'
            )
        )
        main = f"""<div id="item-content"><h1><span class="price">{esc(f["दाम"])}</span> <strong>{esc(page.title)}</strong></h1><div class="item-header"><div>छपने की तारीख: {v.when(page.born, "%d/%m/%Y")}</div><div>{v.noise(f"बदलाव: {v.age(page.modified)}")}</div><ul id="item_location"><li>देखा गया: <strong>{v.count("seen", start=600, per_day=8)}</strong></li><li>{v.noise(f"{v.between(1, 12)} लोग अभी देख रहे हैं")}</li></ul></div><div id="description">
{body}
<div id="custom_fields"><div class="meta_list">{meta}</div></div></div></div><div id="sidebar"><div id="contact" class="widget-box form-container"><h2>विक्रेता से संपर्क</h2><p class="name">{esc(v.tongue.names[page.number % 7])}</p><p class="seen">{v.noise(f"आख़िरी बार {v.age(v.now - v.between(1, 900) / 20)} ऑनलाइन")}</p><p class="phone">{esc(f["फ़ोन"])}</p><form action="/index.php" method="post" id="contact_form"><input type="hidden" name="CSRFName" value="CSRF{v.between(10**8, 10**9)}_{v.between(10**8, 10**9)}" /><input type="hidden" name="CSRFToken" value="{v.token(64)}" /><button type="submit">{v.button("भेजें", "संदेश भेजें")}</button></form></div></div><div class="similar_ads"><h2>मिलते-जुलते विज्ञापन</h2><ul class="listing-card-list">{alike}</ul></div>"""
    tip = v.noise(
        f'<div id="useful_info"><h2>सुझाव</h2><ul>{"".join(f"<li>{t}</li>" for t in v.some(_TIPS, 2))}</ul></div>'
    )
    flash = (
        f'<div id="flashmessage" class="flashmessage flashmessage-info"><a class="btn ico">x</a>{v.notice()}</div>'
        if v.notice()
        else ""
    )
    now = v.noise(f'<p class="searches">लोग अभी खोज रहे हैं: {", ".join(v.some(v.prose.slots["thing"], 4))}</p>')
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" dir="ltr" lang="hi-IN"><head><meta http-equiv="Content-type" content="text/html; charset=utf-8" /><title>{esc(page.title)} - बाज़ार चौक</title><link href="{v.asset("/oc-content/themes/bender/css/main.css")}" rel="stylesheet" type="text/css" /></head>
<body class="has-searchbox item"><div id="header"><div class="wrapper"><div id="logo"><a href="/">बाज़ार चौक</a></div><ul class="nav">{nav}</ul></div></div>{flash}<div class="wrapper wrapper-flash"></div><div class="wrapper" id="content"><div id="main">{main}</div>{tip}</div>
<div id="footer"><div class="wrapper">{now}<ul class="resp-toggle"><li>{v.footer()}</li></ul></div></div></body></html>"""


def _hours(rng: Random) -> str:
    return f"{rng.randint(8, 10)}:{rng.choice(('00', '30'))}–{rng.randint(13, 20)}:{rng.choice(('00', '15', '30'))}"


def _rupees(rng: Random) -> str:
    return f"₹{rng.randint(1, 90)},{rng.randint(0, 9)}00"


KINDS = (
    Kind(
        "moin",
        moin,
        CITY_UK,
        UKRAINIAN,
        "/{slug}",
        Layout("p h2 p ul h2 table p img p file", header=("Об'єкт", "Опис", "Стан")),
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "casper",
        casper,
        TRAIL_FI,
        FINNISH,
        "/{slug}/",
        Layout("img p p h2 p quote p ul img p h2 p file"),
        Layout(entries=(6, 12)),
        4,
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "nodebb",
        nodebb,
        TRAVEL_TR,
        TURKISH,
        "/topic/{n}/{slug}",
        Layout(fields=("bölüm",), posts=(1, 9)),
        Layout(entries=(8, 15)),
        5,
        makers={"bölüm": lambda r: r.choice(("Ege", "Karadeniz", "Akdeniz", "Kamp", "Ulaşım", "Sohbet"))},
        entry_makers={"etiket": lambda r: r.choice(("soru", "rota", "fiyat", "öneri", "uyarı", "çözüldü"))},
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "drupal",
        drupal,
        LIBRARY_HE,
        HEBREW,
        "/node/{n}",
        Layout("img p h2 p table h2 ul p file p", fields=("שעות", "טלפון", "כתובת"), header=("יום", "בוקר", "ערב")),
        makers={
            "שעות": _hours,
            "טלפון": lambda r: f"0{r.randint(2, 9)}-{r.randint(1000000, 9999999)}",
            "כתובת": lambda r: f"רחוב {r.choice(('הגפן', 'הדקל', 'הנביאים', 'האלון'))} {r.randint(1, 90)}",
            "row": lambda r: f"{r.choice(('ראשון', 'שני', 'שלישי', 'רביעי', 'חמישי', 'שישי'))}|{_hours(r)}|{_hours(r)}",
        },
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "hotel",
        hotel,
        TRAVEL_TR,
        TURKISH,
        "/hotel/{slug}.tr.html",
        Layout(
            "img img p p ul h2 table p",
            fields=("Giriş saati", "Çıkış saati", "İptal", "Kahvaltı"),
            posts=(1, 5),
            header=("Oda", "Kişi", "Fiyat"),
        ),
        makers={
            "Giriş saati": lambda r: f"{r.randint(12, 16)}:00 sonrası",
            "Çıkış saati": lambda r: f"{r.randint(9, 12)}:{r.choice(('00', '30'))} öncesi",
            "İptal": lambda r: f"{r.randint(1, 21)} gün öncesine kadar ücretsiz",
            "Kahvaltı": lambda r: f"kişi başı {r.randint(90, 480)} TL",
            "row": lambda r: (
                f"{r.choice(('Tek kişilik', 'Çift kişilik', 'Aile odası', 'Teras süit', 'Deniz manzaralı'))} {r.randint(1, 40)}|{r.randint(1, 5)} kişi|{r.randint(1, 9)}.{r.randint(100, 999)} TL"
            ),
        },
        untidy=True,
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "radio",
        radio,
        CITY_UK,
        UKRAINIAN,
        "/program/{slug}",
        Layout(
            "p p h2 table p img p dl",
            fields=("Ефір", "Ведучий", "Телефон студії"),
            header=("Час", "Програма", "Ведучий"),
        ),
        makers={
            "Ефір": lambda r: (
                f"{r.choice(('понеділок', 'вівторок', 'середа', 'субота'))}, {r.randint(6, 23)}:{r.choice(('00', '10', '30'))}"
            ),
            "Ведучий": lambda r: r.choice(UKRAINIAN.names),
            "Телефон студії": lambda r: (
                f"0{r.randint(32, 68)} {r.randint(200, 799)}-{r.randint(10, 99)}-{r.randint(10, 99)}"
            ),
            "row": lambda r: (
                f"{r.randint(6, 23):02}:{r.choice(('00', '15', '40'))}|{CITY_UK.title(r)}|{r.choice(UKRAINIAN.names)}"
            ),
        },
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "thainews",
        thainews,
        NEWS_TH,
        THAI,
        "/news/{n}",
        Layout("img p p h2 p p quote p ul", fields=("พาดหัวรอง", "ผู้สื่อข่าว")),
        Layout(entries=(7, 14)),
        5,
        makers={"พาดหัวรอง": lambda r: NEWS_TH.sentence(r), "ผู้สื่อข่าว": lambda r: r.choice(THAI.names)},
        entry_makers={"หมวด": lambda r: r.choice(("การเมือง", "เศรษฐกิจ", "กีฬา", "ภูมิภาค", "บันเทิง"))},
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "osclass",
        osclass,
        MARKET_HI,
        HINDI,
        "/item/{n}",
        Layout("img p p ul p", fields=("दाम", "फ़ोन", "शहर", "हालत", "साल")),
        Layout(entries=(6, 12)),
        5,
        makers={
            "दाम": _rupees,
            "फ़ोन": lambda r: f"9{r.randint(100000000, 999999999)}",
            "शहर": lambda r: r.choice(MARKET_HI.slots["city"]),
            "हालत": lambda r: r.choice(("नया जैसा", "अच्छा", "ठीक-ठाक", "मरम्मत चाहिए")),
            "साल": lambda r: str(r.randint(1998, 2024)),
        },
        entry_makers={"दाम": _rupees, "शहर": lambda r: r.choice(MARKET_HI.slots["city"])},
        more_edits=THIRD_EDITS,
    ),
)
