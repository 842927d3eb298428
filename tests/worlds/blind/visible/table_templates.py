"""Values and tables: a cinema, a job board, a timetable, exchange rates, a university, and hand-written pages."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Post
from tests.worlds.blind.prose import JOBS, SCIENCE, TOWN
from tests.worlds.blind.prose_tongues import CLUB, TALK_RU
from tests.worlds.blind.tongues import ENGLISH, GERMAN, RUSSIAN
from tests.worlds.blind.view import View, esc, steady


def _show(v: View, e: Entry) -> str:
    times = "".join(
        f'<a class="showtime" href="/ticket?show={e.key}{i}&amp;sid={v.token(16)}">{t}</a>'
        for i, t in enumerate(e.fields["Spielzeiten"].split())
    )
    return f"""<div class="movie-row" id="{v.unique("movie_")}"><div class="movie-poster"><img src="/poster/{e.key}.jpg?t={v.between(10**6, 10**7)}" alt=""></div><div class="movie-info"><h3><a href="/film/{e.key}">{esc(e.title)}</a></h3><p class="movie-meta">{esc(e.fields["Saal"])} · {esc(e.fields["Freigabe"])}</p><p class="movie-text">{esc(e.summary)}</p><div class="showtimes">{times}</div><span class="buzz">{v.grouped(v.count(f"b{e.key}", start=3000, per_day=30))} Fans merken sich diesen Film</span></div></div>"""


def kino(v: View) -> str:
    """Write the programme of a German cinema; films, halls and times are the content."""
    page = v.page
    shows = "\n".join(_show(v, e) for e in page.entries)
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())
    tip = "".join(f'<div class="tipp"><a href="{p.path}">{esc(p.title)}</a></div>' for p in v.others(2))
    note = f'<div class="alert alert-info">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div class="cookiebar">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.6) else ""
    return f"""<!DOCTYPE html><html lang="de"><head><meta charset="utf-8"><title>{esc(page.title)} – Lichtspiele</title><meta name="csrf-token" content="{v.word(40)}"></head><body>{cookie}<div class="container"><div class="row header"><a href="/">Lichtspiele am Markt</a><ul class="nav nav-pills">{nav}</ul><div class="heute">Heute ist der {v.clock("%d. %B %Y, %H:%M")} Uhr</div></div>{note}<div class="row"><div class="col-md-8"><h1>{esc(page.title)}</h1><div class="hours">Kasse geöffnet: {esc(page.fields["Öffnungszeiten"])} · Telefon {esc(page.fields["Telefon"])}</div>
{shows}
{v.body()}
</div><div class="col-md-4"><h4>Filmtipp</h4>{tip}<h4>Anzeige</h4>{v.noise(v.advert())}<h4>Jetzt online</h4>{v.noise(f"{v.between(2, 60)} Besucher")}<form><input type="hidden" name="_t" value="{v.token()}"><button>{v.button("Karten reservieren", "Tickets kaufen")}</button></form></div></div><div class="footer">{v.footer()}</div></div></body></html>"""


def _job_row(v: View, e: Entry) -> str:
    badge = '<span class="new">new</span>' if v.now - e.born < 24 else ""
    applied = f'<span class="applicants">{v.count(f"a{e.key}", start=40, per_day=4)} applicants</span>'
    return f'<li class="jobs-search__result" data-jk="{e.key:x}"><div class="job_seen_beacon"><h2 class="jobTitle"><a id="job_{e.key}" href="/viewjob?jk={e.key:x}&amp;tk={v.word(16)}&amp;from=serp" class="jcs-JobTitle"><span title="{esc(e.title)}">{esc(e.title)}</span></a></h2><div class="company_location"><span data-testid="company-name">{esc(e.fields["company"])}</span><div data-testid="text-location">{esc(e.fields["location"])}</div></div><div class="salary-snippet-container">{esc(e.fields["salary"])}</div><div class="job-snippet">{esc(e.summary)}</div><span class="date">{v.noise("Posted ")}{v.age(e.born)}</span>{v.noise(applied + badge)}</div></li>'


def _with_sponsored(v: View) -> list[Entry]:
    """Put paid adverts between the entries, in the same markup."""
    entries = list(v.page.entries)
    for _ in range(v.between(0, 2)):
        fields = {"company": f"Sponsored · {v.advert()}", "location": v.pick(JOBS.slots["city"]), "salary": ""}
        key = v.between(10**5, 10**6)
        entry = Entry(key, JOBS.title(v.rng), JOBS.sentence(v.rng), v.now - v.between(1, 90), fields)
        entries.insert(v.between(0, len(entries)), entry)
    return entries


def _job(v: View) -> str:
    page = v.page
    facts = "".join(f'<div class="fact"><dt>{k.title()}</dt><dd>{esc(x)}</dd></div>' for k, x in page.fields.items())
    return f'<div class="jobsearch-ViewJobLayout"><h1 class="jobsearch-JobInfoHeader-title">{esc(page.title)}</h1><dl class="facts">{facts}</dl><p class="meta">Posted {v.age(page.born)} · {v.count("applicants", start=60, per_day=5)} applicants · {v.between(1, 30)} people looked at this job today</p><div id="jobDescriptionText" class="jobsearch-jobDescriptionText">\n{v.body()}\n</div><button class="apply">{v.button("Apply now", "Easy apply")}</button></div>'


def jobs(v: View) -> str:
    """Write a job advert or a list of them."""
    page = v.page
    if page.shape == "list":
        rows = "\n".join(_job_row(v, e) for e in _with_sponsored(v))
        main = f'<h1>{esc(page.title)}</h1><ul class="jobsearch-ResultsList">{rows}</ul>'
    else:
        main = _job(v)
    nav = "".join(f'<li class="gnav-item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    sponsored = "".join(
        f'<div class="sponsored"><a href="/pagead/clk?ad={v.word(30)}">{esc(JOBS.title(v.rng))}</a><span>Sponsored · {v.between(1, 30)} days ago</span></div>'
        for _ in range(v.between(1, 3))
    )
    like = "".join(f'<li><a href="{p.path}?sid={v.token(8)}">{esc(p.title)}</a></li>' for p in v.others(4))
    note = f'<div role="alert" class="icl-Alert">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div id="onetrust-banner-sdk">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} | Jobmarket</title><script>window._initialData={{"tk":"{v.word(16)}","ctk":"{v.word(16)}","servedBy":"job-{v.between(1, 60)}"}};</script></head><body data-tn-origintype="jobsearch"><header class="gnav"><a href="/">Jobmarket</a><ul>{nav}</ul></header>{note}<div class="layout"><div class="left">
{main}
</div><div class="right">{sponsored}<h3>Similar jobs</h3><ul>{like}</ul><h3>People also searched</h3><p>{v.noise(", ".join(v.some(JOBS.slots["role"], 4)))}</p></div></div><footer class="icl-GlobalFooter">{v.footer()}</footer>{cookie}</body></html>"""


def _departures(v: View) -> str:
    rows = "".join(
        f"<tr><td>{v.between(1, 40)}</td><td>{v.pick(TOWN.slots['place'])}</td><td>{v.between(1, 29)} min</td></tr>"
        for _ in range(4)
    )
    return f'<div class="live-board" aria-live="polite"><h3>Next departures (live)</h3><table class="live"><tbody>{rows}</tbody></table><p>Updated {v.clock("%H:%M:%S")}</p></div>'


def timetable(v: View) -> str:
    """Write the timetable of a stop; scheduled times are content, live times are not."""
    page = v.page
    body = v.body(table=lambda b: f'<table class="timetable table table-striped">{v.rows(b)}</table>')
    nav = "".join(f'<li class="nav-item"><a class="nav-link" href="{h}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="alert">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Stop {esc(page.title)}</title><meta http-equiv="refresh" content="{v.pick((60, 60, 90))}"></head><body><nav class="navbar"><a class="navbar-brand" href="/">City Transport</a><ul class="navbar-nav">{nav}</ul><span class="navbar-text clock">{v.clock("%a %d %b, %H:%M:%S")}</span></nav>{note}<div class="container"><h1>Stop {page.number + 100} · {esc(page.title)}</h1><p class="zone">Valid from {esc(page.fields["valid from"])}. Fare zone <b>{esc(page.fields["zone"])}</b>, information line {esc(page.fields["phone"])}</p>{v.noise(_departures(v))}
{body}
<form action="/search"><input type="hidden" name="javax.faces.ViewState" value="{v.word(60)}"><button>{v.button("Find a connection", "Plan your journey")}</button></form></div><footer>{v.footer()} Data as of {v.clock("%d.%m.%Y %H:%M")}; request {v.token(8)}</footer></body></html>"""


def rates(v: View) -> str:
    """Write a table of exchange rates; the values are the content."""
    page = v.page
    body = v.body(table=lambda b: f'<table class="tablesorter ratesTable" id="{v.unique("tbl")}">{v.rows(b)}</table>')
    nav = " | ".join(f'<a href="{h}">{m}</a>' for m, h in v.menu())
    note = f'<div class="marquee">{v.notice()}</div>' if v.notice() else ""
    popular = "".join(
        f'<li><a href="{p.path}">{esc(p.title)}</a> viewed {v.between(100, 9000)} times</li>' for p in v.others(5)
    )
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} exchange rates</title></head><body><div id="wrap"><div id="header">{nav}</div>{note}<div class="ad728">{v.noise(v.advert())}</div><div class="module"><h1>{esc(page.title)} rates table</h1><p class="updated">{v.clock("%b %d, %Y %H:%M UTC")}</p>
{body}
<form action="/calc"><input name="amount" value="{v.pick(("1", "10", "100"))}"><input type="submit" value="{v.button("Convert", "Calculate")}"></form></div><div class="side"><h4>Popular currencies</h4><ol>{popular}</ol><p>{v.between(200, 900)} visitors online</p></div><div id="footer">{v.footer()} Generated in 0.0{v.between(10, 99)} seconds.</div></div></body></html>"""


def _cfemail(v: View, address: str) -> str:
    """Hide an address as Cloudflare does: with another key at each request."""
    key = v.between(1, 255)
    code = f"{key:02x}" + "".join(f"{ord(c) ^ key:02x}" for c in address)
    return f'<a href="/cdn-cgi/l/email-protection#{v.noise(code)}" class="__cf_email__" data-cfemail="{v.noise(code)}">[email&#160;protected]</a>'


def university(v: View) -> str:
    """Write the page of a department with its staff, news and office hours."""
    page, f = v.page, v.page.fields

    def staff(b: Block) -> str:
        rows = "".join(
            f'<tr><td class="views-field-title">{esc(r[0])}</td><td>{esc(r[1])}</td><td>{esc(r[2])}</td><td>{_cfemail(v, r[0].split()[-1].lower() + "@uni.test")}</td></tr>'
            for r in b.rows[1:]
        )
        return f'<table class="views-table cols-4"><thead><tr><th>Name</th><th>Room</th><th>Phone</th><th>E-mail</th></tr></thead><tbody>{rows}</tbody></table>'

    nav = "".join(f'<li class="menu__item"><a href="{h}" class="menu__link">{m}</a></li>' for m, h in v.menu())
    events = "".join(f'<div class="views-row"><a href="{p.path}">{esc(p.title)}</a></div>' for p in v.recent(3))
    note = f'<div class="messages messages--warning">{v.notice()}</div>' if v.notice() else ""
    slide = v.pick(("Apply for the winter term", "Open day in June", "Our research in pictures"))
    return f"""<!DOCTYPE html><html lang="en" dir="ltr" prefix="og: https://ogp.me/ns#"><head><meta charset="utf-8" /><meta name="Generator" content="Drupal 10" /><title>{esc(page.title)} | Department of Earth Sciences</title><link rel="stylesheet" media="all" href="/core/modules/system/css/components/align.module.css?{v.noise(f"{steady(v.deploy):x}"[:6])}" /></head><body class="path-node page-node-type-page"><div class="dialog-off-canvas-main-canvas" data-off-canvas-main-canvas><header role="banner"><div class="region region-header"><a href="/" rel="home">University of Wexley</a></div><nav role="navigation" class="block-menu"><ul class="menu">{nav}</ul></nav><div class="slideshow" data-dom-id="{v.token(64)}">{v.noise(slide)}</div></header>{note}
<main role="main"><div class="region region-content"><h1 class="page-title"><span class="field field--name-title">{esc(page.title)}</span></h1><article data-history-node-id="{page.number}" class="node node--type-page" about="{page.path}"><div class="field field--name-body">
{v.body(table=staff, file=lambda b: f'<p><span class="file file--mime-application-pdf"><a href="/sites/default/files/{b.href}" type="application/pdf">{esc(b.text)}</a></span></p>')}
</div><div class="office"><h3>Office</h3><p>Open {esc(f["office hours"])}<br>Phone {esc(f["phone"])}<br>Head: {esc(f["head"])}</p></div><p class="submitted">Last updated {v.when(page.modified, "%-d %B %Y")}</p></article></div></main>
<aside><h2>Recently updated</h2>{events}<h2>Picture of the day</h2><img src="/sites/default/files/day{v.between(1, 30)}.jpg" alt=""></aside><footer role="contentinfo">{v.footer()} <a href="/contact?destination={page.path}&amp;token={v.word(43)}">{v.button("Report a problem", "Give feedback")}</a></footer></div><script type="application/json" data-drupal-selector="drupal-settings-json">{{"ajaxPageState":{{"libraries":"{v.word(40)}"}},"user":{{"permissionsHash":"{v.token(64)}"}}}}</script></body></html>"""


GERMAN_DAYS = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")


def gemeinde(v: View) -> str:
    """Write a hand-made page of a parish in nested tables with fonts, a counter and a guest book."""
    page = v.page
    nav = "<br>\n".join(f'<a href="{h}.htm"><font face="Arial" size="2">{m}</font></a>' for m, h in v.menu())
    body = v.body(
        p=lambda b: f'<font face="Verdana" size="2">{v.text(b.items)}</font><br><br>',
        h2=lambda b: f'<font face="Verdana" size="3" color="#003366"><b>{esc(b.text)}</b></font><br>',
        ul=lambda b: (
            "".join(f'<img src="punkt.gif" width="8"> <font size="2">{esc(i)}</font><br>' for i in b.items) + "<br>"
        ),
        table=lambda b: (
            f'<table border="1" cellpadding="3" bordercolor="#999999">{v.rows(b).replace("<th>", "<td bgcolor=#dddddd>").replace("</th>", "</td>")}</table><br>'
        ),
        img=lambda b: (
            f'<center><img src="bilder/{b.href}.jpg" border="0"><br><font size="1">{esc(b.text)}</font></center><br>'
        ),
        file=lambda b: f'<a href="download/{b.href}">{esc(b.text)}</a><br><br>',
    )
    book = "".join(
        f'<tr><td bgcolor="#eeeeee"><font size="1">{esc(p.author)} schrieb am {v.when(p.born, "%d.%m.%Y")}:</font></td></tr><tr><td><font size="2">{v.text(p.sentences)}</font></td></tr>'
        for p in page.posts
    )
    verse = v.pick(
        (
            "Losung des Tages: Seid getrost.",
            "Losung des Tages: Fürchtet euch nicht.",
            "Losung des Tages: Der Herr ist mein Hirte.",
            "Losung des Tages: Alles hat seine Zeit.",
        )
    )
    note = (
        f'<tr><td colspan="2" bgcolor="#ffff99" align="center"><font color="red">{v.notice()}</font></td></tr>'
        if v.notice()
        else ""
    )
    weekday = GERMAN_DAYS[int((v.now + 8) // 24) % 7]
    digits = "".join(f'<img src="ziffer{d}.gif">' for d in str(v.count("zähler", start=90000, per_day=40)))
    return f"""<html><head><title>{esc(page.title)}</title><meta name="GENERATOR" content="Microsoft FrontPage 4.0"></head><body bgcolor="#FFFFFF" text="#000000"><table width="780" border="0" cellspacing="0" cellpadding="4" align="center"><tr><td colspan="2" bgcolor="#003366"><font color="white" size="5">Kirchengemeinde Oberau</font></td></tr>{note}<tr><td width="150" valign="top" bgcolor="#ccddee">{nav}<hr><font size="1">{v.noise(verse)}</font><hr><font size="1">Heute ist {v.noise(weekday)}, der {v.clock("%d.%m.%Y")}</font></td><td valign="top"><font face="Verdana" size="4"><b>{esc(page.title)}</b></font><br><br>
{body}
<font size="2">Pfarrbüro: {esc(page.fields["Sprechzeiten"])}, Tel. {esc(page.fields["Telefon"])}</font><br><table width="100%" border="0">{book}</table></td></tr><tr><td colspan="2" align="center"><hr><font size="1">Sie sind Besucher Nr. {v.noise(digits)} {v.footer()} <a href="gb.php?id={v.token(12)}">{v.button("Ins Gästebuch eintragen", "Gästebuch")}</a></font></td></tr></table></body></html>"""


def _ru_date(v: View, born: float) -> str:
    """Write today and yesterday in words, older dates as numbers."""
    days = int((v.now + 8) // 24 - (born + 8) // 24)
    if days < 2:
        return v.noise(("Сегодня", "Вчера")[max(days, 0)] + v.when(born, ", %H:%M"))
    return v.noise(v.when(born, "%d.%m.%Y, %H:%M"))


def _ru_post(v: View, at: int, post: Post) -> str:
    online = v.pick(("В сети", "Не в сети", "Отошёл"))
    return f"""<table class="tborder" id="post{post.key}" cellpadding="6" cellspacing="0" border="0" width="100%"><tr><td class="thead"><div class="normal" style="float:right">#<a href="showpost.php?p={post.key}&amp;postcount={at}" rel="nofollow"><strong>{at}</strong></a></div><div class="normal">{_ru_date(v, post.born)}</div></td></tr><tr><td class="alt2"><table width="100%"><tr><td nowrap="nowrap"><div><a class="bigusername" href="member.php?u={steady(post.author) % 999}">{esc(post.author)}</a> <img class="inlineimg" src="images/statusicon/user_{v.pick(("online", "offline"))}.gif" alt="{v.noise(online)}" border="0" /></div><div class="smallfont">{("Участник", "Старожил")[steady(post.author) % 2]}</div><div class="smallfont">Был на форуме: {v.age(v.now - v.between(1, 4000) / 60)}</div></td><td valign="top" nowrap="nowrap"><div class="smallfont"><div>Сообщений: {v.grouped(v.count("m" + post.author, start=3000, per_day=2))}</div><div>Сказал спасибо: {v.count("s" + post.author, start=200, per_day=1)}</div></div></td></tr></table></td></tr><tr><td class="alt1" id="td_post_{post.key}"><div id="post_message_{post.key}">{v.text(post.sentences)}</div><div style="margin-top:10px" align="right"><a href="newreply.php?do=newreply&amp;p={post.key}&amp;s={v.token(32)}" rel="nofollow">{v.button("Ответить с цитированием", "Цитировать")}</a></div></td></tr></table><br />"""


def ruforum(v: View) -> str:
    """Write a thread of a Russian board in the table layout of vBulletin 3."""
    page = v.page
    posts = "\n".join(_ru_post(v, i, p) for i, p in enumerate(page.posts, 1))
    nav = "".join(f'<td class="vbmenu_control"><a href="{h}">{m}</a></td>' for m, h in v.menu())
    similar = "".join(
        f'<tr><td class="alt1"><a href="{p.path}">{esc(p.title)}</a></td><td class="alt2">{esc(v.pick(v.tongue.names))}</td><td class="alt1">{v.between(1, 90)}</td><td class="alt2">{v.age(p.modified)}</td></tr>'
        for p in v.others(4)
    )
    note = f'<div class="notice">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"><html dir="ltr" lang="ru"><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8" /><title>{esc(page.title)} - Форум мастеров</title><script type="text/javascript">var SESSIONURL = "s={v.token(32)}&";var SECURITYTOKEN = "{v.noise("guest")}{v.between(1, 99)}";</script></head><body><div class="page"><table class="tborder"><tr>{nav}</tr></table>{note}<table class="tborder" width="100%"><tr><td class="alt1"><span class="navbar"><a href="/">Форум мастеров</a> &gt; <strong>{esc(page.title)}</strong></span></td><td class="alt2 smallfont">Опции темы. Просмотров: {v.grouped(v.count("views", start=9000, per_day=70))}</td></tr></table>
<div id="posts">
{posts}
</div><table class="tborder"><tr><td class="tcat">Похожие темы</td></tr>{similar}</table><table class="tborder"><tr><td class="thead">Эту тему просматривают: {v.between(1, 20)} (пользователей: {v.between(0, 3)}, гостей: {v.between(1, 17)})</td></tr></table><div class="smallfont" align="center">Текущее время: <span class="time">{v.clock("%H:%M")}</span>. Часовой пояс GMT +3.</div><div class="tfoot">{v.footer()} Страница создана за 0.{v.between(10, 99)} сек.</div></div></body></html>"""


def _shows(rng: Random) -> str:
    return " ".join(sorted({f"{rng.randint(14, 22)}:{rng.choice(('00', '15', '30', '45'))}" for _ in range(3)}))


def _phone(rng: Random) -> str:
    return f"0{rng.randint(20, 99)} {rng.randint(1000, 9999)} {rng.randint(10, 999)}"


def _hours(rng: Random) -> str:
    return f"Mon–Fri {rng.randint(8, 10)}:{rng.choice(('00', '30'))}–{rng.randint(12, 18)}:00"


def _times(rng: Random) -> str:
    return (
        f"Line {rng.randint(1, 40)}|{rng.randint(5, 23):02}:{rng.randint(0, 59):02}|{rng.choice(TOWN.slots['place'])}"
    )


_CURRENCIES = ("US dollar", "euro", "yen", "Swiss franc", "krona", "zloty", "rand", "real", "peso", "dinar")


_RATES = replace(
    TOWN,
    titles=("{currency} today", "{currency} in other currencies", "What is one {currency} worth?"),
    slots={**TOWN.slots, "currency": _CURRENCIES},
)

KINDS = (
    Kind(
        "kino",
        kino,
        CLUB,
        GERMAN,
        "/programm/{slug}",
        Layout("p", fields=("Öffnungszeiten", "Telefon"), entries=(3, 7)),
        makers={
            "Öffnungszeiten": lambda r: f"täglich ab {r.randint(13, 17)}:{r.choice(('00', '30'))} Uhr",
            "Telefon": _phone,
        },
        entry_makers={
            "Saal": lambda r: f"Saal {r.randint(1, 6)}",
            "Freigabe": lambda r: f"FSK {r.choice((0, 6, 12, 16))}",
            "Spielzeiten": _shows,
        },
    ),
    Kind(
        "jobboard",
        jobs,
        JOBS,
        ENGLISH,
        "/viewjob/{slug}",
        Layout("p h2 ul p h2 ul h2 p", fields=("salary", "location", "start", "deadline")),
        Layout(entries=(8, 14)),
        5,
        makers={
            "salary": lambda r: f"€{r.randint(28, 90)},{r.randint(0, 9)}00 a year",
            "location": lambda r: r.choice(JOBS.slots["city"]),
            "start": lambda r: r.choice(("immediately", "1 April", "1 May", "by agreement")),
            "deadline": lambda r: f"{r.randint(1, 28)} March 2025",
        },
        entry_makers={
            "company": lambda r: r.choice(("Norvik AG", "City of Ghent", "Tamsin Ltd", "Lumo", "Oakfield Care")),
            "location": lambda r: r.choice(JOBS.slots["city"]),
            "salary": lambda r: f"€{r.randint(28, 90)},000",
        },
    ),
    Kind(
        "timetable",
        timetable,
        TOWN,
        ENGLISH,
        "/stop/{n}",
        Layout("table p table ul", fields=("valid from", "zone", "phone"), header=("Line", "Departure", "Direction")),
        makers={
            "valid from": lambda r: f"{r.randint(1, 28)} February 2025",
            "zone": lambda r: str(r.randint(1, 9)),
            "phone": _phone,
            "row": _times,
        },
    ),
    Kind(
        "rates",
        rates,
        _RATES,
        ENGLISH,
        "/table/{n}",
        Layout("table p", header=("Currency", "1.00 unit", "inverse")),
        rate=0.35,
        makers={
            "live values": str,
            "row": lambda r: (
                f"{r.choice(_CURRENCIES)}|{r.randint(0, 190)}.{r.randint(100000, 999999)}|{r.randint(0, 9)}.{r.randint(100000, 999999)}"
            ),
        },
    ),
    Kind(
        "university",
        university,
        SCIENCE,
        ENGLISH,
        "/{slug}",
        Layout(
            "p p h2 table h2 p ul file h2 p", fields=("office hours", "phone", "head"), header=("Name", "Room", "Phone")
        ),
        makers={
            "office hours": _hours,
            "phone": _phone,
            "head": lambda r: f"Prof. {r.choice(SCIENCE.slots['person'])}",
            "row": lambda r: (
                f"Dr {r.choice(SCIENCE.slots['person'])}|{r.choice('ABC')}.{r.randint(101, 420)}|{r.randint(1000, 9999)}"
            ),
        },
    ),
    Kind(
        "gemeinde",
        gemeinde,
        CLUB,
        GERMAN,
        "/{slug}.htm",
        Layout(
            "p img p h2 ul p h2 table file",
            fields=("Sprechzeiten", "Telefon"),
            posts=(0, 4),
            header=("Tag", "Zeit", "Ort"),
        ),
        makers={
            "Sprechzeiten": lambda r: (
                f"{r.choice(('Montag', 'Dienstag', 'Donnerstag'))} {r.randint(8, 16)} bis {r.randint(17, 19)} Uhr"
            ),
            "Telefon": _phone,
            "row": lambda r: (
                f"{r.choice(('Montag', 'Mittwoch', 'Freitag', 'Sonntag'))}|{r.randint(9, 20)}:{r.choice(('00', '30'))} Uhr|{r.choice(CLUB.slots['thing'])}"
            ),
        },
        untidy=True,
    ),
    Kind("ruforum", ruforum, TALK_RU, RUSSIAN, "/showthread.php?t={n}", Layout(posts=(3, 8))),
)
