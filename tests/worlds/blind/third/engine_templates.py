"""Tools of people who make software and data: a ticket queue, a repository browser, documentation, a registry, records."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Post
from tests.worlds.blind.third.third_edits import THIRD_EDITS, commit_file
from tests.worlds.blind.third.third_prose import GUIDE, HELPDESK, PAPERS
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc, steady

_STAMP = "%a %b %d %H:%M:%S %Y"


def _transaction(v: View, at: int, post: Post) -> str:
    number = 80000 + post.key * 3
    body = v.body() if at == 0 else ""
    kind = "Ticket created" if at == 0 else "Correspondence added" if steady(post.key) % 3 else "Comments added"
    files = f'<div class="attachment-list"><span class="downloadcontenttype">text/plain {1 + steady(post.key, "size") % 90 / 10:.1f}KiB</span></div>'
    return f"""<div class="transaction Ticket-transaction {"message" if at else "create"} {("odd", "even")[at % 2]}" data-transaction-id="{number}">
<div class="metadata"><span class="actions"><a class="reply-link" href="/Ticket/Update.html?id={v.page.number}&amp;QuoteTransaction={number}&amp;Action=Respond&amp;CSRF_Token={v.token()}">Reply</a></span><span class="type"><a name="txn-{number}" href="/Ticket/Display.html?id={v.page.number}#txn-{number}"><span class="fas fa-link" alt="Show transaction link"></span></a></span>
<span class="date" data-toggle="tooltip" data-original-title="{v.age(post.born)}">{v.when(post.born, _STAMP)} ({v.age(post.born)})</span>
<span class="description"><span class="user" data-user-id="{steady(post.author) % 400}">{esc(post.author)}</span> - {kind}</span><span class="time-taken"></span></div>
<div class="content"><div class="messagebody"><div class="message-stanza-depth-0"><div class="message-stanza closed">{v.text(post.sentences)}</div>{body}</div></div>{files}</div></div>"""


def _rt_pair(css: str, label: str, value: str) -> str:
    return f'<div class="form-row {css}"><div class="label col-3">{label}:</div><div class="value col-9"><span class="current-value">{value}</span></div></div>'


def _rt_box(css: str, title: str, inside: str, ident: str) -> str:
    return f'<div class="titlebox card {css}" id="TitleBox--_{css}-{ident}"><div class="titlebox-title card-header"><span class="widget"><a href="#" data-toggle="collapse" data-target="#{css}{ident}"></a></span><span class="left">{title}</span></div><div class="titlebox-content collapse show card-body" id="{css}{ident}">{inside}<hr class="clear"></div></div>'


def requesttracker(v: View) -> str:
    """Write a ticket as Request Tracker does, with ages beside all dates and the time it took at the bottom."""
    page = v.page
    ident = v.token(12)
    basics = "".join(_rt_pair(k.lower(), k, esc(x)) for k, x in page.fields.items())
    last = page.posts[-1].born
    dates = _rt_pair("date created", "Created", f"{v.when(page.born, _STAMP)} ({v.age(page.born)})")
    dates += _rt_pair("date told", "Last Contact", f"{v.noise(v.when(last, _STAMP))} ({v.age(last)})")
    dates += _rt_pair(
        "date updated",
        "Updated",
        f"{v.noise(v.when(page.modified, _STAMP))} ({v.age(page.modified)}) by {v.noise(esc(page.posts[-1].author))}",
    )
    more = "".join(
        f'<li class="inactive"><a href="/Ticket/Display.html?id={p.number}">{1000 + p.number}: {esc(p.title)}</a> ({v.pick(("open", "new", "resolved"))})</li>'
        for p in v.others(4)
    )
    quick = "".join(
        f'<tr class="{("odd", "even")[i % 2]}line"><td><a href="/Search/Results.html?Query=Queue%3D{q}">{q}</a></td><td align="right">{v.count(f"new{q}", start=30, per_day=0.6)}</td><td align="right">{v.count(f"open{q}", start=90, per_day=1.5)}</td></tr>'
        for i, q in enumerate(("General", "Network", "Purchases"))
    )
    nav = "".join(
        f'<li id="li-m{i}" class="has-children"><a id="m{i}" class="menu-item" href="{h}">{m}</a></li>'
        for i, (m, h) in enumerate(v.menu())
    )
    note = f'<div class="system-message alert alert-warning">{v.notice()}</div>' if v.notice() else ""
    lock = (
        v.noise(
            f'<div class="results lock">{esc(v.pick(v.tongue.names))} has been viewing this ticket for {v.between(2, 50)} minutes</div>'
        )
        if v.maybe(0.25)
        else ""
    )
    history = "\n".join(_transaction(v, i, p) for i, p in enumerate(page.posts))
    return f"""<!DOCTYPE html>
<html lang="en"><head><title>#{1000 + page.number}: {esc(page.title)}</title><link rel="stylesheet" href="/NoAuth/css/elevator-light/squished-{v.token(32)}.css" type="text/css" media="all" /><script type="text/javascript" src="/NoAuth/js/squished-{v.noise(f"{steady(v.host, v.deploy):012x}")}.js"></script></head>
<body class="elevator-light sidebyside"><div class="main-container"><div id="logo"><a href="/">Campus help desk</a><div class="rtname">RT for campus.test</div></div><div id="quick-personal"><span class="hide"></span><span id="topactions"><form action="/index.html" id="simple-search"><input name="q" size="20" placeholder="Search..."><input type="hidden" name="CSRF_Token" value="{v.token()}"></form></span></div><div id="main-navigation"><ul id="app-nav" class="toplevel sf-menu">{nav}</ul></div>
<div id="header"><h1>#{1000 + page.number}: {esc(page.title)}</h1><div id="page-navigation"><ul id="page-menu"><li><a href="/Ticket/Update.html?Action=Respond;id={page.number}">{v.button("Reply", "Answer")}</a></li></ul></div></div>
<div id="body">{note}{lock}<div class="titlebox ticket-summary"><div class="row ticket-summary"><div class="boxcontainer col-md-6">{_rt_box("ticket-info-basics", "The Basics", basics, ident)}{_rt_box("ticket-info-requestor", "More about the requestors", f'<div class="ticket-requestor">Their 10 highest priority active tickets<ul>{more}</ul></div>', ident)}</div>
<div class="boxcontainer col-md-6">{_rt_box("ticket-info-dates", "Dates", dates, ident)}{_rt_box("queue-summary", "Queue list", f'<table border="0" class="queue-summary"><tr><th>Queue</th><th>new</th><th>open</th></tr>{quick}</table>', ident)}</div></div></div>
<div class="history ticket" data-oldest-transaction-at-top="1" id="delayed_history-{ident}"><div class="titlebox-title"><span class="left">History</span></div><div class="history-container">
{history}
</div></div><hr class="clear" /></div>
<div id="footer" class="row"><p id="version"><span id="time">Time to display: {v.noise(f"{v.between(10, 99) / 100}{v.between(1000, 9999)}")} -</span> <span>RT Version 5.0.{v.noise(str(3 + v.deploy))} (Debian)</span></p><p id="bpscredits">{v.footer()}</p></div></div></body></html>"""


def _log_age(v: View, born: float) -> str:
    """Write an age in two units, as ViewVC does."""
    hours = int(v.now - born)
    if v.quiet or hours < 1:
        return v.noise("very little time")
    for unit, size, smaller, part in (
        ("year", 8766, "month", 730),
        ("month", 730, "week", 168),
        ("week", 168, "day", 24),
        ("day", 24, "hour", 1),
    ):
        if hours >= size:
            first, second = hours // size, hours % size // part
            tail = f", {second} {smaller}{'s' * (second > 1)}" if second else ""
            return f"{first} {unit}{'s' * (first > 1)}{tail}"
    return f"{hours} hour{'s' * (hours > 1)}"


def _vc_row(v: View, at: int, entry: Entry) -> str:
    name = entry.title.lower().replace(" ", "_")[:30] + f"_{entry.key}.c"
    commit = steady(entry.summary)
    return f"""<tr class="vc_row_{("even", "odd")[at % 2]}"><td style="width: 1%;"><a name="{esc(name)}" href="/viewvc/trunk/{esc(name)}?view=log" title="View file revision log"><img src="/docroot/images/text.png" alt="" class="vc_icon" />&nbsp;{esc(name)}</a></td><td style="width: 1%; text-align: right;"><a href="/viewvc/trunk/{esc(name)}?view=markup&amp;pathrev={v.noise(str(41000 + int(v.now)))}" title="View file contents"><strong>{3000 + commit % 37000}</strong></a></td><td>&nbsp;{_log_age(v, entry.born)}</td><td>&nbsp;{esc(v.tongue.names[commit % 9])}</td><td class="vc_log">&nbsp;{esc(entry.title)}. {esc(entry.summary)}</td></tr>"""


def _vc_revision(v: View, post: Post, *, first: bool) -> str:
    rev = 4000 + post.key * 2
    before = "" if first else f'<br />Diff to <a href="/viewvc/?r1={rev - 31}&amp;r2={rev}">previous {rev - 31}</a>'
    return f"""<div><hr /><a name="rev{rev}"></a> Revision <a href="/viewvc?revision={rev}"><strong>{rev}</strong></a> - (<a href="/viewvc?view=markup&amp;revision={rev}">view</a>) (<a href="/viewvc?revision={rev}">download</a>) (<a href="/viewvc?annotate={rev}">annotate</a>) - <a href="/viewvc?r1={rev}">[select for diffs]</a>
<br /> {"Added" if first else "Modified"} <em>{v.when(post.born, "%a %b %d %H:%M:%S %Y")} UTC</em> ({_log_age(v, post.born)} ago) by <em>{esc(post.author)}</em>
<br />File length: {900 + steady(post.key) % 90000} byte(s){before}
<pre class="vc_log">{v.text(post.sentences)}</pre></div>"""


def viewvc(v: View) -> str:
    """Write a directory or the log of a file as ViewVC does."""
    page = v.page
    nav = " | ".join(f'<a href="{h}">{m}</a>' for m, h in v.menu())
    head = int(41000 + v.now) if not v.quiet else 0
    if page.shape == "list":
        rows = "\n".join(_vc_row(v, i, e) for i, e in enumerate(page.entries))
        inside = f"""<table class="auto"><tr><td>Files shown:</td><td><strong>{len(page.entries)}</strong></td></tr><tr><td>Directory revision:</td><td><a href="/viewvc?view=revision&amp;revision={head}" title="Revision {head}">{head - v.between(1, 9)}</a> (of <a href="/viewvc?view=revision">{head}</a>)</td></tr><tr><td>Sticky Revision:</td><td><form method="get" action="/viewvc/" style="display: inline"><input type="text" name="pathrev" value="" size="6"/><input type="submit" value="{v.button("Set", "Stick")}" /></form></td></tr></table>
<table style="table-layout: auto;" class="vc_table"><thead><tr><th class="vc_header_sort">File</th><th>Rev.</th><th>Age</th><th>Author</th><th>Last log entry</th></tr></thead><tbody>
{rows}
</tbody></table>"""
    else:
        log = "\n".join(_vc_revision(v, p, first=p is page.posts[0]) for p in reversed(page.posts))
        inside = f"""<table class="auto"><tr><td>Links to HEAD:</td><td>(<a href="/viewvc?view=markup&amp;pathrev={head}">view</a>) (<a href="/viewvc?annotate={head}">annotate</a>)</td></tr><tr><td>Sticky Revision:</td><td><form method="get"><input type="submit" value="{v.button("Set", "Stick")}" /></form></td></tr></table>
{log}"""
    note = f'<p class="vc_note"><em>{v.notice()}</em></p>' if v.notice() else ""
    return f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>[base] {esc(page.title)}</title><meta name="generator" content="ViewVC 1.1.26" /><link rel="stylesheet" href="/docroot/styles.css" type="text/css" /></head>
<body><div class="vc_navheader"><table><tr><td><strong><a href="/viewvc/"><span class="pathdiv">/</span></a><a href="/viewvc/trunk/">[base]</a><span class="pathdiv">/</span>trunk</strong></td><td style="text-align: right;">{nav}</td></tr></table></div>
<div style="float: right; padding: 5px;"><a href="http://www.viewvc.org/"><img src="/docroot/images/viewvc-logo.png" alt="ViewVC logotype" width="240" height="70" /></a></div>
<h1>{esc(page.title)}</h1>{note}
{inside}
<hr /><table><tr><td><address>{v.footer()}</address></td><td style="text-align: right;"><strong><a href="/docroot/help_dirview.html">ViewVC Help</a></strong></td></tr><tr><td>Powered by <a href="http://viewvc.tigris.org/">ViewVC 1.1.26</a></td><td style="text-align: right;">Generated on {v.clock("%Y-%m-%d %H:%M:%S")} in {v.noise(f"0.{v.between(100, 999)}")} s</td></tr></table></body></html>"""


def _code(v: View, block: Block) -> str:
    lines = "".join(
        f'<span class="token-line" style="color:#393A34"><span class="token plain">{esc(x)}</span><br></span>'
        for x in block.items
    )
    return f'<div class="language-bash {v.cls("codeBlockContainer")} theme-code-block"><div class="{v.cls("codeBlockContent")}"><pre tabindex="0" class="prism-code language-bash thin-scrollbar"><code class="{v.cls("codeBlockLines")}">{lines}</code></pre><div class="{v.cls("buttonGroup")}"><button type="button" aria-label="Copy code to clipboard" title="Copy" class="clean-btn"></button></div></div></div>'


def docusaurus(v: View) -> str:
    """Write a page of documentation as Docusaurus does, with module classes of the last build and feedback counts."""
    page, c = v.page, v.cls
    heads = [b.text for b in page.blocks if b.kind == "h2"]
    toc = "".join(
        f'<li><a href="#h-{steady(t) % 9999}" class="table-of-contents__link toc-highlight">{esc(t)}</a></li>'
        for t in heads
    )
    nav = "".join(f'<a class="navbar__item navbar__link" href="{h}">{m}</a>' for m, h in v.menu())
    side = "".join(
        f'<li class="theme-doc-sidebar-item-link menu__list-item"><a class="menu__link{" menu__link--active" if p is page else ""}" href="{p.path}">{esc(p.title)}</a></li>'
        for p in v.pages
        if not v.quiet
    )
    body = v.body(
        h2=lambda b: (
            f'<h2 class="anchor {c("anchorWithStickyNavbar")}" id="h-{steady(b.text) % 9999}">{esc(b.text)}<a href="#h-{steady(b.text) % 9999}" class="hash-link" aria-label="Direct link to {esc(b.text)}" title="Direct link to {esc(b.text)}">\u200b</a></h2>'
        ),
        pre=lambda b: _code(v, b),
        quote=lambda b: (
            f'<div class="theme-admonition theme-admonition-tip {c("admonition")} alert alert--success"><div class="{c("admonitionHeading")}"><span class="{c("admonitionIcon")}"><svg viewBox="0 0 12 16"></svg></span>tip</div><div class="{c("admonitionContent")}"><p>{v.text(b.items)}</p></div></div>'
        ),
    )
    before, after = v.neighbour(-1), v.neighbour(1)
    steps = "".join(
        f'<a class="pagination-nav__link pagination-nav__link--{css}" href="{p.path}"><div class="pagination-nav__sublabel">{word}</div><div class="pagination-nav__label">{esc(p.title)}</div></a>'
        for p, css, word in ((before, "prev", "Previous"), (after, "next", "Next"))
        if p
    )
    bar = (
        f'<div class="theme-announcement-bar {c("announcementBar")}" role="banner"><div class="content_{c("bar")[4:]}">{v.notice()}</div><button type="button" aria-label="Close" class="clean-btn close">×</button></div>'
        if v.notice()
        else ""
    )
    votes = (
        v.noise(
            f'<div class="{c("feedback")}"><span>Was this page helpful?</span> <button>👍 {v.count("up", start=80, per_day=1)}</button><button>👎 {v.count("down", start=9, per_day=0.3)}</button></div>'
        )
        if v.opt("feedback", 0.7)
        else ""
    )
    stars = v.noise(
        f'<a href="https://git.example/relay" class="navbar__item">★ {v.brief(v.count("stars", start=9000, per_day=30))}</a>'
    )
    updated = f'<span class="theme-last-updated">Last updated on <b><time datetime="{v.when(page.modified, "%Y-%m-%dT%H:%M:%S.000Z")}">{v.when(page.modified, "%B %-d, %Y")}</time></b> by <b>{esc(v.tongue.names[page.revision % 9])}</b></span>'
    return f"""<!doctype html>
<html lang="en" dir="ltr" class="docs-wrapper plugin-docs plugin-id-default docs-version-current" data-has-hydrated="false"><head><meta charset="UTF-8"><meta name="generator" content="Docusaurus v3.1{v.noise(str(v.deploy))}.2"><title data-rh="true">{esc(page.title)} | Relay</title><link rel="stylesheet" href="/assets/css/styles.{v.noise(f"{steady(v.host, v.deploy) % 16**8:08x}")}.css"><script src="/assets/js/main.{v.noise(f"{steady(v.host, v.deploy, 1) % 16**8:08x}")}.js" defer="defer"></script></head>
<body class="navigation-with-keyboard"><div id="__docusaurus"><div role="region" aria-label="Skip to main content"><a class="skipToContent_{c("skip")[4:]}" href="#__docusaurus_skipToContent_fallback">Skip to main content</a></div>{bar}<nav aria-label="Main" class="navbar navbar--fixed-top"><div class="navbar__inner"><a class="navbar__brand" href="/"><b class="navbar__title text--truncate">Relay</b></a>{nav}<div class="navbar__item dropdown"><a class="navbar__link" href="/docs">4.{v.noise(str(v.deploy))}</a></div>{stars}<div class="navbarSearchContainer"><button type="button" class="DocSearch DocSearch-Button"><span class="DocSearch-Button-Placeholder">{v.button("Search", "Search docs")}</span></button></div></div></nav>
<div id="__docusaurus_skipToContent_fallback" class="main-wrapper {c("mainWrapper")}"><div class="{c("docsWrapper")}"><div class="{c("docRoot")}"><aside class="theme-doc-sidebar-container {c("docSidebarContainer")}"><nav aria-label="Docs sidebar" class="menu thin-scrollbar {c("menu")}"><ul class="theme-doc-sidebar-menu menu__list">{side}</ul></nav></aside>
<main class="{c("docMainContainer")}"><div class="container padding-top--md"><div class="row"><div class="col {c("docItemCol")}"><div class="{c("docItemContainer")}"><article><nav class="theme-doc-breadcrumbs" aria-label="Breadcrumbs"><ul class="breadcrumbs"><li class="breadcrumbs__item"><a aria-label="Home page" class="breadcrumbs__link" href="/"></a></li><li class="breadcrumbs__item breadcrumbs__item--active"><span class="breadcrumbs__link">{esc(page.title)}</span></li></ul></nav><div class="theme-doc-markdown markdown"><header><h1>{esc(page.title)}</h1></header>
{body}
</div><footer class="theme-doc-footer docusaurus-mt-lg"><div class="row margin-top--sm theme-doc-footer-edit-meta-row"><div class="col"><a href="https://git.example/edit/main/docs/{page.number}.md" class="theme-edit-this-page">Edit this page</a></div><div class="col {c("lastUpdated")}">{v.noise(updated)}</div></div></footer></article>{votes}<nav class="pagination-nav docusaurus-mt-lg" aria-label="Docs pages">{steps}</nav></div></div><div class="col col--3"><div class="{c("tableOfContents")} thin-scrollbar theme-doc-toc-desktop"><ul class="table-of-contents table-of-contents__left-border">{toc}</ul></div></div></div></div></main></div></div></div>
<footer class="theme-layout-footer footer footer--dark"><div class="container container-fluid"><div class="footer__bottom text--center"><div class="footer__copyright">{v.footer()}</div></div></div></footer></div></body></html>"""


def _crate_line(v: View, entry: Entry) -> str:
    f, name = entry.fields, f"relay-{entry.title.lower().replace(' ', '-').replace(',', '')[:24]}"
    recent, total = (
        v.count(f"r{entry.key}", start=90000, per_day=700),
        v.count(f"t{entry.key}", start=4000000, per_day=9000),
    )
    return f"""<li class="{v.cls("row")}"><div class="{v.cls("description-box")}"><div><a class="{v.cls("name")} ember-view" href="/crates/{name}">{esc(entry.title)}</a> <span class="{v.cls("version")}">{f["version"]}</span></div><div class="{v.cls("description")}">{esc(entry.summary)}</div></div><div class="{v.cls("stats")}"><div class="{v.cls("downloads")}"><span>All-Time: <span>{v.grouped(total)}</span></span></div><div><span>Recent: {v.grouped(recent)}</span></div><div><span title="Last updated: {v.when(entry.born, "%Y-%m-%dT%H:%M:%SZ")}">Updated: <time>{v.age(entry.born)}</time></span></div></div><ul class="{v.cls("quick-links")}"><li><a href="https://docs.example/{name}">{f["licence"]}</a></li></ul></li>"""


def crates(v: View) -> str:
    """Write a package or a search result as a registry made with Ember does: downloads everywhere."""
    page, c = v.page, v.cls
    nav = "".join(f'<li><a href="{h}" class="{c("menu-item")}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="{c("banner")}" role="alert">{v.notice()}</div>' if v.notice() else ""
    if page.shape == "list":
        lines = "".join(_crate_line(v, e) for e in page.entries)
        main = f'<h1 class="{c("heading")}">{esc(page.title)}</h1><div class="{c("results-meta")}"><span>Displaying <b>1-{len(page.entries)}</b> of <b>{v.grouped(v.count("total", start=900, per_day=3))}</b> total results</span><div>Sort by <button>Relevance</button></div></div><ol class="{c("list")}">{lines}</ol>'
    else:
        f = page.fields
        bars = "".join(
            f'<rect x="{i * 9}" y="{v.between(1, 60)}" width="8" height="{v.between(5, 90)}"></rect>' for i in range(20)
        )
        rank = "".join(
            f'<li><a href="{p.path}">{esc(p.title)}</a> <span>{v.grouped(v.between(900, 90000))}</span></li>'
            for p in v.others(5)
        )
        body = v.body(
            pre=lambda b: (
                '<pre><code class="language-toml hljs">'
                + "\n".join(f'<span class="hljs-attr">{esc(x)}</span>' for x in b.items)
                + "</code></pre>"
            )
        )
        main = f"""<div class="{c("header")}"><h1 class="{c("heading")}"><span>{esc(page.title)}</span> <small>v{f["version"]}</small></h1><div class="{c("description")}">{esc(f["about"])}</div></div><ul class="{c("nav")}"><li><a href="#readme">Readme</a></li><li><a href="versions">{v.count("versions", start=40, per_day=0.05)} Versions</a></li><li><a href="deps">Dependencies</a></li><li><a href="rev">Dependents</a></li></ul>
<div class="{c("crate-info")}"><article class="{c("readme")}"><div class="{c("text-content")}">
{body}
</div></article><section aria-label="Crate metadata" class="{c("sidebar")}"><div class="{c("metadata")}"><h2>Metadata</h2><time title="{v.when(page.born, "%B %d, %Y")}" class="{c("date")}"><svg></svg><span>{v.age(page.born)}</span></time><div class="{c("msrv")}"><span>v{f["minimum version"]}</span></div><div class="{c("license")}"><span>{f["licence"]}</span></div><div class="{c("bytes")}"><span>{f["size"]}</span></div></div><div><h2>Install</h2><p>Run the following command in your project directory:</p><button class="{c("copy")}">relay add {page.path.rsplit("/", 1)[-1]}</button></div><div><h2>Owners</h2><ul class="{c("owners")}"><li><a href="/users/{steady(page.number) % 99}"><img src="https://avatars.example/{steady(page.number) % 9999}?s=64" alt="">{esc(f["owner"])}</a></li></ul></div></section></div>
<div class="{c("stats-container")}"><h3>Stats Overview</h3><div><span class="{c("num")}">{v.grouped(v.count("all", start=9000000, per_day=5000))}</span><span>Downloads all time</span></div><div><span class="{c("num")}">{v.count("uses", start=400, per_day=2)}</span><span>Dependents</span></div><svg viewBox="0 0 200 100">{bars}</svg><h3>Most downloaded this week</h3><ol>{rank}</ol></div>"""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} - packs: Relay Package Registry</title><link integrity="" rel="stylesheet" href="/assets/packs-{v.noise(f"{steady(v.host, v.deploy):012x}")}.css"><meta name="packs/config/environment" content="{v.word(40)}"></head>
<body class="ember-application"><div id="ember{v.between(100, 999)}" class="ember-view"><header class="{c("site-header")}"><a href="/" class="{c("index-link")}">packs</a><form action="/search" role="search" class="{c("search-form")}"><input type="text" placeholder="Type 'S' or '/' to search" name="q" id="cargo-desktop-search"></form><nav class="{c("nav")}"><ul>{nav}</ul><button>{v.button("Log in", "Sign in with Git")}</button></nav></header>{note}
<main class="{c("main")}"><div class="{c("inner-main")}">{main}</div></main><footer class="{c("footer")}">{v.footer()}</footer></div></body></html>"""


def _record_stats(v: View) -> str:
    views, loads = v.count("views", start=5000, per_day=11), v.count("downloads", start=3000, per_day=6)
    rows = "".join(
        f'<tr><td>{name}</td><td data-label="All versions">{v.grouped(n + n // 3)}</td><td data-label="This version">{v.grouped(n)}</td></tr>'
        for name, n in (("Views", views), ("Downloads", loads))
    )
    volume = v.noise(f"<tr><td>Data volume</td><td>{loads * 1.7:.1f} GB</td><td>{loads * 1.3:.1f} GB</td></tr>")
    return f"""<section id="metrics" aria-label="Metrics" class="ui segment rdm-sidebar sidebar-container"><div class="ui tiny two statistics rel-mt-1"><div class="ui statistic"><div class="value">{v.brief(views)}</div><div class="label"><i aria-hidden="true" class="eye icon"></i>Views</div></div><div class="ui statistic"><div class="value">{v.brief(loads)}</div><div class="label"><i aria-hidden="true" class="download icon"></i>Downloads</div></div></div><div class="ui accordion rel-mt-1 centered"><div class="title trigger" tabindex="0"><span data-open-text="Show more details">Show more details</span></div><div class="content"><table id="record-statistics" class="ui definition table fluid"><thead><tr><th></th><th>All versions</th><th>This version</th></tr></thead><tbody>{rows}{volume}</tbody></table></div></div></section>"""


def _record_files(v: View, block: Block) -> str:
    rows = "".join(
        f'<tr><td class="ten wide"><div><a href="/records/{v.page.number}/files/{esc(row[0])}?download=1">{esc(row[0])}</a></div><small class="ui text-muted">md5:{steady(*row):012x}</small></td><td class="single line">{esc(row[1])}</td><td class="right aligned"><span><a role="button" class="ui compact mini button" href="/records/{v.page.number}/files/{esc(row[0])}"><i class="download icon"></i>Download</a></span></td></tr>'
        for row in block.rows[1:]
    )
    return f'<div id="files-list-accordion-panel" class="active content"><table class="ui striped table files fluid"><thead><tr><th>Name</th><th>Size</th><th class="no-border"><a role="button" href="?zip">Download all</a></th></tr></thead><tbody>{rows}</tbody></table></div>'


def invenio(v: View) -> str:
    """Write a record of a research repository as InvenioRDM does."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<div class="item"><a href="{h}">{m}</a></div>' for m, h in v.menu())
    note = f'<div class="ui warning flashed bottom attached manage message">{v.notice()}</div>' if v.notice() else ""
    body = v.body(
        table=lambda b: _record_files(v, b),
        ol=lambda b: f'<ol class="ui ordered list" id="references">{v.items(b)}</ol>',
    )
    alike = "".join(
        f'<div class="item"><div class="content"><a href="{p.path}" class="header">{esc(p.title)}</a><div class="meta">{v.between(10, 900)} views</div></div></div>'
        for p in v.others(3)
    )
    cites = "".join(f"<li>{esc(p.title)} ({v.when(p.born, '%Y')})</li>" for p in v.others(v.between(1, 3)))
    details = "".join(f'<dt class="ui tiny header">{k}</dt><dd>{esc(x)}</dd>' for k, x in f.items() if k != "version")
    return f"""<!DOCTYPE html>
<html lang="en" dir="ltr" class="no-js"><head><meta charset="utf-8"/><meta name="csrf-token" content="{v.word(48)}"/><title>{esc(page.title)} | Delta Repository</title><link rel="stylesheet" type="text/css" href="/static/dist/css/theme.{v.noise(f"{steady(v.host, v.deploy):012x}")}.css"/><meta name="citation_title" content="{esc(page.title)}"/></head>
<body data-invenio-config='{{"isMathJax": false, "token": "{v.token(20)}"}}'><a id="skip-to-main" class="ui button primary ml-5 mt-5 skip-link" href="#main">Skip to main</a><header class="theme header"><div class="outer-navbar"><div class="ui container invenio-header-container"><nav id="invenio-nav" class="ui menu borderless p-0"><div id="invenio-menu" aria-labelledby="mobile-menu-heading">{nav}<div class="item"><a href="/login/?next=%2Frecords%2F{page.number}" class="ui button auth-button"><i class="sign-in icon"></i>{v.button("Log in", "Log in or sign up")}</a></div></div></nav></div></div></header>{note}
<main id="main"><div class="invenio-page-body"><section class="banner"><div class="ui container"><a href="/communities/delta"><b>Delta monitoring</b></a></div></section><div class="ui container"><div class="ui relaxed grid mt-5"><div class="two column row top-padded"><article class="sixteen wide tablet eleven wide computer column main-record-content"><section id="record-info" aria-label="Publication date and version number"><div class="ui grid middle aligned"><div class="left floated column"><span class="ui" title="Publication date">Published {v.when(page.born, "%B %-d, %Y")}</span><span class="label text-muted"> | Version {esc(f["version"])}</span></div><div class="right floated right aligned column"><span class="ui label horizontal small neutral mb-5">{esc(f["resource type"])}</span><span class="ui label horizontal small access-status open mb-5"><i class="icon unlock"></i><span>Open</span></span></div></div></section>
<div class="ui divider hidden"></div><section id="record-title-section"><h1 id="record-title" class="wrap-overflowing-text">{esc(page.title)}</h1></section>
<section id="creatibutors"><div class="ui grid"><ul class="creatibutors"><li class="creatibutor-wrap separated">{esc(v.tongue.names[page.number % 20])}; {esc(v.tongue.names[(page.number * 7 + 3) % 20])}</li></ul></div></section>
<section id="description" class="rel-mt-2 rich-input-content" aria-label="Record description"><div style="word-wrap: break-word;">
{body}
</div></section><section id="citations-search" data-record-pids="{v.token(10)}" class="rel-mt-1"><h2>Citations ({v.count("cited", start=30, per_day=0.3)})</h2><ul>{cites}</ul></section></article>
<aside class="sixteen wide tablet five wide computer column sidebar" aria-label="Record details">{_record_stats(v)}<div class="sidebar-container"><h2 class="ui medium top attached header mt-0">Details</h2><div id="record-details" class="ui segment bottom attached rdm-sidebar"><dl class="details-list">{details}</dl></div></div><div class="sidebar-container"><h2 class="ui medium header">Similar records</h2><div class="ui items">{alike}</div></div><div class="ui segment text-muted">Technical metadata: created {v.when(page.born)}, modified {v.noise(v.when(page.modified, "%B %-d, %Y %H:%M"))}. <a href="#top">Jump up</a></div></aside></div></div></div></div></main>
<footer id="rdm-footer-element"><div class="footer-top"><div class="ui container">{v.footer()}</div></div></footer></body></html>"""


def _size(rng: Random) -> str:
    return f"{rng.randint(1, 990)}.{rng.randint(1, 9)} {rng.choice(('kB', 'MB', 'GB'))}"


def _version(rng: Random) -> str:
    return f"{rng.randint(0, 9)}.{rng.randint(0, 40)}.{rng.randint(0, 19)}"


_LICENCES = ("MIT", "Apache-2.0", "MPL-2.0", "BSD-3-Clause", "MIT OR Apache-2.0")

KINDS = (
    Kind(
        "requesttracker",
        requesttracker,
        HELPDESK,
        ENGLISH,
        "/Ticket/Display.html/{n}",
        Layout("p pre p ul file", fields=("Status", "Priority", "Queue", "Owner", "Due"), posts=(1, 6)),
        makers={
            "Status": lambda r: r.choice(("new", "open", "stalled", "resolved", "rejected")),
            "Priority": lambda r: f"{r.randint(0, 100)}/{r.choice((50, 100))}",
            "Queue": lambda r: r.choice(("General", "Network", "Purchases", "Accounts")),
            "Owner": lambda r: r.choice(ENGLISH.names),
            "Due": lambda r: f"2025-{r.randint(3, 12):02}-{r.randint(1, 28):02}",
        },
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "viewvc",
        viewvc,
        HELPDESK,
        ENGLISH,
        "/viewvc/trunk/{slug}.c",
        Layout(posts=(3, 9)),
        Layout(entries=(8, 20)),
        8,
        more_edits=(*THIRD_EDITS, *(commit_file,) * 6),
    ),
    Kind(
        "docusaurus",
        docusaurus,
        GUIDE,
        ENGLISH,
        "/docs/{slug}",
        Layout("p h2 p pre p quote h2 ol p pre h2 table p ul", header=("Option", "Meaning", "Default")),
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "crates",
        crates,
        GUIDE,
        ENGLISH,
        "/crates/{slug}",
        Layout("p h2 ul p pre h2 p p", fields=("version", "about", "minimum version", "licence", "size", "owner")),
        Layout(entries=(6, 12)),
        5,
        makers={
            "version": _version,
            "about": lambda r: GUIDE.sentence(r),
            "minimum version": lambda r: f"1.{r.randint(40, 90)}.0",
            "licence": lambda r: r.choice(_LICENCES),
            "size": _size,
            "owner": lambda r: r.choice(ENGLISH.names),
        },
        entry_makers={"version": _version, "licence": lambda r: r.choice(_LICENCES)},
        untidy=True,
        more_edits=THIRD_EDITS,
    ),
    Kind(
        "invenio",
        invenio,
        PAPERS,
        ENGLISH,
        "/records/{n}",
        Layout("p p table p ol", fields=("version", "resource type", "DOI", "Licence"), header=("Name", "Size")),
        makers={
            "version": lambda r: f"v{r.randint(1, 9)}.{r.randint(0, 9)}",
            "resource type": lambda r: r.choice(("Dataset", "Software", "Preprint", "Poster", "Report")),
            "DOI": lambda r: f"10.5072/delta.{r.randint(10000, 99999)}",
            "Licence": lambda r: r.choice(("CC BY 4.0", "CC BY-SA 4.0", "CC0 1.0", "MIT License")),
            "row": lambda r: (
                f"{r.choice(('station', 'raw', 'clean', 'codebook', 'plots'))}_{r.randint(1, 60)}.{r.choice(('csv', 'nc', 'zip', 'pdf'))}|{_size(r)}"
            ),
        },
        more_edits=THIRD_EDITS,
    ),
)
