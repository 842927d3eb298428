"""Newspapers: an English one with a front page, and a Spanish one with blocks of adverts."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Page
from tests.worlds.blind.prose import TOWN
from tests.worlds.blind.prose_tongues import PRESS_ES
from tests.worlds.blind.tongues import ENGLISH, SPANISH
from tests.worlds.blind.view import View, esc


def _teaser(v: View, e: Entry, lead: bool) -> str:
    level = "h2" if lead else "h3"
    return f'<article class="c-card {"c-card--lead" if lead else ""}" data-id="{e.key}"><a class="c-card__link" href="/news/{e.key}"><span class="c-card__kicker">{esc(e.fields["section"])}</span><{level} class="c-card__headline">{esc(e.title)}</{level}></a><p class="c-card__standfirst">{esc(e.summary)}</p><div class="c-card__meta"><time class="c-card__time">{v.age(e.born)}</time> <a class="c-card__comments" href="/news/{e.key}#comments">{v.count(f"c{e.key}", start=90, per_day=6)} comments</a></div></article>'


def _front(v: View) -> str:
    cards = "\n".join(_teaser(v, e, i == 0) for i, e in enumerate(v.page.entries))
    ad = f'<div class="ad-slot ad-slot--billboard" id="{v.unique("div-gpt-ad-")}"><span class="ad-slot__label">Advertisement</span><a href="https://ads.test/{v.token(12)}">{v.advert()}</a></div>'
    return f'<h1 class="u-h">{esc(v.page.title)}</h1><section class="c-grid">{cards}</section>{v.noise(ad)}'


def _paragraph(v: View, block: Block) -> str:
    ad = f'<aside class="ad-slot ad-slot--inline" id="{v.unique("dfp-")}">{v.advert()}</aside>' if v.maybe(0.25) else ""
    more = ""
    if v.maybe(0.2):
        more = "".join(
            f'<aside class="c-readmore"><span>Read more</span><a href="{p.path}">{esc(p.title)}</a></aside>'
            for p in v.others(1)
        )
    return f'<p class="article__p">{v.text(block.items)}</p>{ad}{more}'


def _story(v: View) -> str:
    page = v.page
    body = v.body(
        p=lambda b: _paragraph(v, b),
        img=lambda b: (
            f'<figure class="article__figure"><img src="https://i.guim.test/img/media/{b.href}/master.jpg?width=620&amp;quality=85&amp;s={v.token(32)}" alt="{esc(b.text)}"><figcaption>{esc(b.text)}</figcaption></figure>'
        ),
        quote=lambda b: f'<blockquote class="pullquote"><p>{v.text(b.items)}</p></blockquote>',
    )
    more = "".join(f'<li class="c-most__item"><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.others(5))
    talk = "".join(
        f'<li class="d-comment" id="comment-{p.key}"><span class="d-comment__author">{esc(p.author)}</span> <time>{v.age(p.born)}</time><div class="d-comment__body"><p>{v.text(p.sentences)}</p></div><span class="d-comment__recommend">{v.count(f"r{p.key}", start=50, per_day=2)}</span></li>'
        for p in page.posts
    )
    return f"""<article class="article" itemscope itemtype="http://schema.org/NewsArticle"><h1 class="article__headline">{esc(page.title)}</h1><p class="article__standfirst">{esc(page.fields["standfirst"])}</p><div class="article__meta"><address class="byline">{esc(page.fields["byline"])}</address><time datetime="{v.when(page.born, "%Y-%m-%dT%H:%M")}">{v.when(page.born, "%a %-d %B %Y %H.%M")}</time> <span class="article__published">Published {v.age(page.born)}</span> <span class="article__shares">{v.grouped(v.count("shares", start=3000, per_day=40))} shares</span></div>
<div class="article__body">
{body}
</div><section id="comments" class="discussion"><h2>Comments</h2><ul>{talk}</ul></section></article>
<aside class="c-most"><h2>Most viewed</h2><ol>{more}</ol></aside>"""


def newspaper(v: View) -> str:
    """Write a front page or an article of an English newspaper."""
    main = _front(v) if v.page.shape == "list" else _story(v)
    nav = "".join(f'<li class="pillars__item"><a class="pillar-link" href="{h}">{m}</a></li>' for m, h in v.menu())
    ticker = "".join(f"<li>{esc(v.prose.title(v.rng))}</li>" for _ in range(v.between(2, 4)))
    weather = f'<div class="weather">{v.between(-3, 28)}° {v.pick(("cloudy", "rain", "sun"))}</div>'
    note = f'<div class="site-message">{v.notice()}</div>' if v.notice() else ""
    plea = (
        f'<div class="epic">You have read {v.between(2, 40)} articles in the last year. Support us from £{v.between(2, 5)}.</div>'
        if v.maybe(0.4)
        else ""
    )
    return f"""<!DOCTYPE html><html lang="en" class="js-off"><head><meta charset="utf-8"><title>{esc(v.page.title)} | The Ashcombe Courier</title><link rel="stylesheet" href="{v.asset("/assets/head.css")}"><script nonce="{v.word(20)}">window.guardian={{"pageViewId":"{v.word(20)}","ab":{{"t{v.between(1, 9)}":"variant"}}}};</script></head>
<body class="has-page-skin"><div class="top-banner">{v.noise(f'<div class="ad" data-google-query-id="{v.word(22)}">{v.advert()}</div>')}</div><header class="new-header"><a href="/">The Ashcombe Courier</a><p class="date">{v.clock("%A %-d %B %Y")}</p>{v.noise(weather)}<nav><ul class="pillars">{nav}</ul></nav><div class="ticker"><strong>Breaking</strong><ul>{ticker}</ul></div></header>{note}
<main>
{main}
</main>{v.noise(plea)}<footer class="l-footer"><p>{v.footer()}</p><button>{v.button("Sign up for our daily email", "Get the morning briefing")}</button></footer></body></html>"""


def diario(v: View) -> str:
    """Write an article of a Spanish newspaper, in nested divs with a column of teasers."""
    page = v.page

    def teaser(p: Page) -> str:
        return f'<div class="ue-l-cover"><a href="{p.path}"><h4>{esc(p.title)}</h4></a><span class="ue-time">{v.age(p.born)}</span></div>'

    body = v.body(
        p=lambda b: (
            f'<div class="ue-c-paragraph">{v.text(b.items)}</div>'
            + (f'<div class="robapaginas" data-ref="{v.token(8)}">{v.advert()}</div>' if v.maybe(0.3) else "")
        ),
        h2=lambda b: f'<div class="ladillo"><strong>{esc(b.text)}</strong></div>',
        img=lambda b: (
            f'<div class="foto"><img data-src="https://e{v.between(0, 9)}.cdn.test/{b.href}.jpg" src="data:image/gif;base64,R0lGOD" alt="{esc(b.text)}"><div class="pie">{esc(b.text)}</div></div>'
        ),
    )
    nav = " ".join(f'<a class="sec" href="{h}">{m}</a>' for m, h in v.menu())
    talk = "".join(
        f'<div class="comentario" id="c{p.key}"><b>{esc(p.author)}</b> <i>{v.age(p.born)}</i><div>{v.text(p.sentences)}</div><span class="votos">+{v.count(f"v{p.key}", start=40, per_day=3)}</span></div>'
        for p in page.posts
    )
    live = f'<div class="directo">En directo: {esc(v.prose.title(v.rng)) if not v.quiet else ""}</div>'
    note = f'<div class="aviso">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div class="cmp-aviso">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    return f"""<!DOCTYPE html><html lang="es"><head><meta charset="utf-8"><title>{esc(page.title)} - El Faro de Levante</title><meta name="cXenseParse:recs:articleid" content="{page.number}"><script>var utag_data={{"be_page_id":"{v.token(20)}","hora":"{v.clock("%H:%M:%S")}"}};</script></head><body>{cookie}<div id="contenedor"><div id="cab"><div class="fecha">{v.clock("%d %B %Y | Actualizado %H:%M")}</div><div class="logo"><a href="/">El Faro de Levante</a></div><div class="menu">{nav}</div>{v.noise(live)}</div>{note}
<div id="cuerpo"><div class="col1"><div class="antetitulo">{esc(page.fields["sección"])}</div><h1>{esc(page.title)}</h1><div class="entradilla">{esc(page.fields["entradilla"])}</div><div class="firma">{esc(page.fields["firma"])} · {v.when(page.born, "%d/%m/%Y %H:%M")} · {v.age(page.born)} · <span class="lecturas">{v.grouped(v.count("lecturas", start=30000, per_day=300))} lecturas</span></div>
<div class="texto">
{body}
</div><div class="compartir"><span>{v.count("fb", start=900, per_day=9)}</span> <a href="#">{v.button("Compartir", "Enviar a un amigo")}</a></div><div id="comentarios">{talk}</div></div>
<div class="col2"><div class="modulo"><h3>Lo más leído</h3>{"".join(map(teaser, v.others(5)))}</div><div class="modulo"><h3>Te puede interesar</h3>{"".join(map(teaser, v.others(3)))}</div><div class="modulo bolsa">Ibex 35: {v.noise(v.grouped(v.between(9000, 12000)))} ({v.pick("+-")}{v.between(0, 2)},{v.between(10, 99)} %)</div></div></div><div id="pie">{v.footer()} <!-- {v.pick(("web01", "web02", "web07"))} {v.between(20, 900)}ms --></div></div></body></html>"""


KINDS = (
    Kind(
        "newspaper",
        newspaper,
        TOWN,
        ENGLISH,
        "/news/{slug}",
        Layout("img p p h2 p quote p p ul p", fields=("standfirst", "byline"), posts=(1, 5)),
        Layout(entries=(9, 15)),
        4,
        makers={
            "standfirst": lambda r: TOWN.sentence(r),
            "byline": lambda r: r.choice(("Ruth Calder", "Tom Hale", "Ines Varga", "Ben Ashe")),
        },
        entry_makers={"section": lambda r: r.choice(("Politics", "Transport", "Culture", "Opinion", "Sport"))},
    ),
    Kind(
        "diario",
        diario,
        PRESS_ES,
        SPANISH,
        "/2025/02/{slug}.html",
        Layout("p img p h2 p p h2 p", fields=("entradilla", "firma", "sección"), posts=(1, 5)),
        makers={
            "entradilla": lambda r: PRESS_ES.sentence(r),
            "firma": lambda r: r.choice(("Lucía Ferrer", "Agencias", "M. Soler", "Redacción")),
            "sección": lambda r: r.choice(("Local", "Economía", "Sucesos", "Cultura")),
        },
        untidy=True,
    ),
)
