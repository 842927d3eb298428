"""Software projects: Redmine, GitHub, Hugo, Sphinx, and an application with generated class names."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Post
from tests.worlds.blind.prose import GOODS, SCIENCE, SOFTWARE
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc, steady


def _when_link(v: View, born: float) -> str:
    return f'<a title="{v.when(born, "%m/%d/%Y %I:%M %p")}" href="/projects/alpha/activity?from={v.when(born)}">{v.age(born).removesuffix(" ago")}</a> {v.noise("ago")}'


def _journal(v: View, at: int, post: Post) -> str:
    return f"""<div id="change-{post.key}" class="journal has-notes" data-user-id="{steady(post.author) % 90}"><div id="note-{at}"><div class="contextual"><span class="journal-actions"></span><a href="#note-{at}" class="journal-link">#{at}</a></div><h4><img alt="" class="gravatar" src="//www.gravatar.com/avatar/{steady(post.author):012x}?rating=PG&amp;size=48&amp;default=" /> Updated by <a class="user active" href="/users/{steady(post.author) % 90}">{esc(post.author)}</a> {_when_link(v, post.born)}</h4><div id="journal-{post.key}-notes" class="wiki"><p>{v.text(post.sentences)}</p></div></div></div>"""


def _issue_attributes(v: View) -> str:
    cells = [
        f'<div class="{k} attribute"><div class="label">{k.capitalize()}:</div><div class="value">{esc(x)}</div></div>'
        for k, x in v.page.fields.items()
    ]
    half = (len(cells) + 1) // 2
    return f'<div class="attributes"><div class="splitcontent"><div class="splitcontentleft">{"".join(cells[:half])}</div><div class="splitcontentleft">{"".join(cells[half:])}</div></div></div>'


def redmine(v: View) -> str:
    """Write an issue as Redmine does."""
    page = v.page
    nav = "".join(f'<li><a class="m{i}" href="{h}">{m}</a></li>' for i, (m, h) in enumerate(v.menu()))
    notes = "\n".join(_journal(v, i, p) for i, p in enumerate(page.posts, 1))
    note = f'<div class="flash warning">{v.notice()}</div>' if v.notice() else ""
    status = page.fields["status"]
    updated = f" Updated {_when_link(v, page.modified)}." if page.revision > 1 or v.quiet else ""
    progress = v.noise(f'<p class="progress-note">{v.between(2, 30)} watchers</p>') if v.opt("watchers") else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8" /><title>Bug #{page.number}: {esc(page.title)} - Alpha - Redmine</title><meta name="csrf-param" content="authenticity_token" /><meta name="csrf-token" content="{v.word(86)}==" /><link rel="stylesheet" media="all" href="{v.asset("/stylesheets/application.css")}" /></head>
<body class="project-alpha has-main-menu controller-issues action-show avatars-on"><div id="wrapper"><div id="top-menu"><div id="account"><ul><li><a class="login" href="/login">Sign in</a></li></ul></div><ul><li><a class="home" href="/">Home</a></li></ul></div>
<div id="header"><div id="quick-search"><form action="/projects/alpha/search" accept-charset="UTF-8" name="form-{v.token(8)}" method="get"><input name="utf8" type="hidden" value="&#x2713;" /><input type="text" name="q" id="q" size="20" class="small" /></form></div><h1><span class="current-project">Alpha</span></h1><div id="main-menu" class="tabs"><ul>{nav}</ul></div></div>
<div id="main"><div id="sidebar"><h3>Custom queries</h3><ul class="queries"><li><a class="query" href="/projects/alpha/issues?query_id=1">Issues assigned to me</a></li></ul>{progress}</div>
<div id="content">{note}<div class="contextual"><a href="/issues/{page.number}/edit" class="icon icon-edit">{v.button("Edit", "Modify")}</a> <a class="icon icon-fav-off" rel="nofollow" href="/watchers/watch?object_id={page.number}&amp;authenticity_token={v.word(30)}">Watch</a></div>
<h2 class="inline-flex">Bug #{page.number}</h2><div class="issue tracker-1 status-{steady(status) % 5} priority-2 details"><div class="gravatar-with-child"></div><div class="subject"><div><h3>{esc(page.title)}</h3></div></div><p class="author">Added by <a class="user active" href="/users/4">{esc(page.posts[0].author)}</a> {_when_link(v, page.born)}.{updated}</p>
{_issue_attributes(v)}<hr /><div class="description"><p><strong>Description</strong></p><div class="wiki">
{v.body()}
</div></div></div>
<div id="history"><div class="tabs"><ul><li><a class="selected" href="?tab=history">History</a></li><li><a href="?tab=notes">Notes</a></li></ul></div><div id="tab-content-history" class="tab-content">{notes}</div></div>
<p class="other-formats">Also available in: <span><a class="atom" rel="nofollow" href="/issues/{page.number}.atom">Atom</a></span></p></div></div>
<div id="footer">{v.footer()} Powered by Redmine</div><div id="ajax-indicator" style="display:none;"><span>Loading...</span></div></div></body></html>"""


def _file_rows(v: View) -> str:
    table = next((b for b in v.page.blocks if b.kind == "table"), None)
    if table is None:
        return ""
    rows = "".join(
        f'<tr class="react-directory-row undefined" id="folder-row-{i}"><td class="react-directory-row-name-cell-large-screen"><a title="{esc(name)}" class="Link--primary" href="/o/r/blob/main/{esc(name)}">{esc(name)}</a></td><td class="react-directory-row-commit-cell"><div class="react-directory-commit-message"><a class="Link--secondary" href="/commit/{steady(name, message):012x}">{esc(message)}</a></div></td><td><div class="react-directory-commit-age"><relative-time class="sc-aXZVg" tense="past" datetime="{v.when(-steady(name) % 5000 - 5000, "%Y-%m-%dT%H:%M:%SZ")}">{v.age(-steady(name) % 5000 - 5000.0)}</relative-time></div></td></tr>'
        for i, (name, message) in enumerate(table.rows[1:])
    )
    return f'<table aria-labelledby="folders-and-files" class="Table__StyledTable"><thead><tr><th>Name</th><th>Last commit message</th><th>Last commit date</th></tr></thead><tbody>{rows}</tbody></table>'


def github(v: View) -> str:
    """Write the front page of a repository as GitHub does, with its README."""
    page = v.page
    readme = v.body(
        table=lambda b: "",
        h2=lambda b: (
            f'<div class="markdown-heading" dir="auto"><h2 tabindex="-1" class="heading-element">{esc(b.text)}</h2><a id="user-content-{steady(b.text) % 9999}" class="anchor" href="#x"></a></div>'
        ),
        p=lambda b: f'<p dir="auto">{v.text(b.items)}</p>',
        pre=lambda b: (
            '<div class="highlight highlight-source-shell notranslate" dir="auto"><pre>'
            + esc("\n".join(b.items))
            + "</pre></div>"
        ),
    )
    nav = "".join(
        f'<li data-view-component="true" class="d-inline-flex"><a id="i{i}-tab" href="{h}" class="UnderlineNav-item no-wrap"><span data-content="{m}">{m}</span>{v.noise(f"<span class=Counter title={v.between(2, 90)}>{v.between(2, 90)}</span>") if i == 1 else ""}</a></li>'
        for i, (m, h) in enumerate(v.menu())
    )
    stars, forks = v.count("stars", start=9000, per_day=12), v.count("forks", start=900, per_day=2)
    note = f'<div class="flash flash-warn flash-full">{v.notice()}</div>' if v.notice() else ""
    faces = "".join(
        f'<li class="mb-2"><a href="/{esc(u)}"><img src="https://avatars.example/u/{steady(u) % 99999}?s=64&amp;v=4" alt="@{esc(u)}" class="avatar circle" height="32" width="32"></a></li>'
        for u in v.some(v.tongue.names, 6)
    )
    commits = 400 + page.revision
    return f"""<!DOCTYPE html>
<html lang="en" data-color-mode="auto" data-light-theme="light"><head><meta charset="utf-8"><link crossorigin="anonymous" media="all" rel="stylesheet" href="https://assets.example/primer-{v.noise(f"{steady(v.host, v.deploy):012x}")}.css" /><title>o/{esc(page.path.rsplit("/", 1)[-1])}: {esc(page.title)}</title><meta name="request-id" content="{v.token(24).upper()}" data-turbo-transient="true" /><meta name="html-safe-nonce" content="{v.token(64)}" /><meta name="visitor-payload" content="{v.word(60)}" /></head>
<body class="logged-out env-production page-responsive" style="word-wrap: break-word;"><div data-turbo-body class="logged-out"><header class="HeaderMktg" role="banner"><a href="/login?return_to=%2Fo" class="HeaderMenu-link">Sign in</a><form action="/search" method="get"><input type="hidden" name="authenticity_token" value="{v.word(86)}" /></form></header>{note}
<main id="js-repo-pjax-container"><div id="repository-container-header"><div class="d-flex flex-nowrap"><strong itemprop="name" class="mr-2 flex-self-stretch"><a href="{page.path}">{esc(page.path.rsplit("/", 1)[-1])}</a></strong><span class="Label Label--secondary">Public</span></div><ul class="pagehead-actions flex-shrink-0"><li><a href="/login" class="btn-sm btn tooltipped">{v.button("Fork", "Copy")} <span id="repo-network-counter" title="{forks}" class="Counter">{v.brief(forks)}</span></a></li><li><a href="/login" class="btn-sm btn">Star <span id="repo-stars-counter-star" aria-label="{stars} users starred this repository" title="{v.grouped(stars)}" class="Counter js-social-count">{v.brief(stars)}</span></a></li></ul><nav class="js-repo-nav UnderlineNav"><ul class="UnderlineNav-body">{nav}</ul></nav></div>
<div class="Layout Layout--sidebarPosition-end"><div class="Layout-main"><div class="LatestCommit-module"><span>{esc(v.tongue.names[page.revision % 7])}</span> <a class="Link--secondary" href="/commit/{page.revision:07x}">Update</a> <relative-time tense="past">{v.age(page.modified)}</relative-time> <a href="/commits">{commits} Commits</a></div>
{_file_rows(v)}
<article class="markdown-body entry-content container-lg" itemprop="text"><div class="markdown-heading"><h1 tabindex="-1" class="heading-element" dir="auto">{esc(page.title)}</h1></div>
{readme}
</article></div>
<div class="Layout-sidebar"><div class="BorderGrid about-margin"><h2 class="mb-3 h4">About</h2><p class="f4 my-3">{esc(page.fields["about"])}</p><div class="mt-2"><a class="Link--muted" href="/stargazers"><strong>{v.brief(stars)}</strong> stars</a></div><div class="mt-2"><a class="Link--muted" href="/watchers"><strong>{v.count("watchers", start=90, per_day=0.5)}</strong> watching</a></div><h2 class="h4 mb-3"><a href="/releases">Releases</a></h2><div><span class="css-truncate css-truncate-target text-bold mr-2">{esc(page.fields["release"])}</span><span class="Label Label--success">Latest</span></div><h2 class="h4 mb-3">Contributors</h2><ul class="list-style-none d-flex flex-wrap mb-n2">{faces}</ul></div></div></div></main>
<footer class="footer pt-8 pb-6 f6"><span>{v.footer()}</span></footer><div id="ajax-error-message" class="ajax-error-message flash flash-error" hidden>You can't perform that action at this time.</div></div></body></html>"""


def hugo(v: View) -> str:
    """Write a blog post of a static site: hardly any noise but builds and links to other posts."""
    page = v.page
    nav = "".join(f'<a class="nav-link" href="{h}">{m}</a>' for m, h in v.menu())
    recent = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.recent(5))
    before, after = v.neighbour(-1), v.neighbour(1)
    links = "".join(
        f'<a class="post-nav-link" href="{p.path}"><span>{esc(p.title)}</span></a>' for p in (before, after) if p
    )
    toc = "".join(f'<li><a href="#h{i}">{esc(b.text)}</a></li>' for i, b in enumerate(page.blocks) if b.kind == "h2")
    note = f'<div class="banner">{v.notice()}</div>' if v.notice() else ""
    aside = f'<aside class="sidebar"><h3>Recently updated</h3><ul>{recent}</ul></aside>' if v.opt("recent") else ""
    mentions = (
        f'<section class="webmentions"><h3>{v.count("mentions", start=30, per_day=1)} mentions</h3></section>'
        if v.opt("mentions")
        else ""
    )
    words = sum(len(s.split()) for b in page.blocks for s in b.items)
    css = f"{steady(v.host, v.deploy):012x}" if not v.quiet else "x"
    body = v.body(
        pre=lambda b: (
            '<div class="highlight"><pre tabindex="0" class="chroma"><code class="language-sh" data-lang="sh">'
            + "\n".join(f'<span class="line"><span class="cl">{esc(x)}</span></span>' for x in b.items)
            + "</code></pre></div>"
        ),
        img=lambda b: (
            f'<figure><img loading="lazy" src="/img/{b.href}_hu{steady(b.href):012x}_800x0_resize_q75.jpg" alt="{esc(b.text)}"/><figcaption><p>{esc(b.text)}</p></figcaption></figure>'
        ),
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} · Bench notes</title><meta name="generator" content="Hugo 0.12{v.noise(str(v.deploy))}.0"><link rel="stylesheet" href="/css/main.min.{css}.css" integrity="sha256-{css}" crossorigin="anonymous"><meta property="article:modified_time" content="{v.when(page.modified, "%Y-%m-%dT%H:%M:%S")}"></head>
<body><header class="site-header"><a class="site-title" href="/">Bench notes</a><nav class="site-nav">{nav}</nav></header>{note}
<div class="container"><article class="post h-entry"><header class="post-header"><h1 class="post-title p-name">{esc(page.title)}</h1><p class="post-meta"><time class="dt-published" datetime="{v.when(page.born)}">{v.when(page.born, "%B %-d, %Y")}</time> · {max(1, words // 200)} min · {words} words</p></header><nav id="TableOfContents"><ul>{toc}</ul></nav><div class="post-content e-content">
{body}
</div><footer class="post-footer"><ul class="post-tags"><li><a href="/tags/notes/">notes</a></li></ul>{links}</footer></article>
{v.noise(mentions)}
{v.noise(aside)}</div>
<footer class="site-footer"><p>{v.footer()} <button>{v.button("Subscribe", "Follow by mail")}</button> Built {v.noise(v.when(v.deploy * 31, "%Y-%m-%d %H:%M"))} from commit {css[:7]}.</p></footer></body></html>"""


def sphinx(v: View) -> str:
    """Write a page of documentation as Sphinx does with the Read the Docs theme."""
    page = v.page
    nav = "".join(
        f'<li class="toctree-l1"><a class="reference internal" href="{p.path}">{esc(p.title)}</a></li>'
        for p in v.pages
        if not v.quiet
    )
    body = v.body(
        h2=lambda b: (
            f'<h2>{esc(b.text)}<a class="headerlink" href="#{steady(b.text) % 999}" title="Link to this heading">¶</a></h2>'
        ),
        pre=lambda b: (
            '<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>'
            + "\n".join(f'<span class="n">{esc(x)}</span>' for x in b.items)
            + "\n</pre></div></div>"
        ),
        dl=lambda b: "".join(
            f'<dl class="py function"><dt class="sig sig-object py" id="f{i}"><span class="sig-name descname"><span class="pre">{esc(a)}</span></span><a class="headerlink" href="#f{i}">¶</a></dt><dd><p>{v.inline(d)}</p></dd></dl>'
            for i, (a, d) in enumerate(b.rows)
        ),
        table=lambda b: f'<table class="docutils align-default"><tbody>{v.rows(b)}</tbody></table>',
        ul=lambda b: f'<ul class="simple">{"".join(f"<li><p>{v.inline(i)}</p></li>" for i in b.items)}</ul>',
    )
    ad = f'<div class="ethical-rtd ethical-sidebar"><a href="https://ads.example/click/{v.token(12)}">{v.advert()}</a><small>Ads by EthicalAds</small></div>'
    note = f'<div class="admonition attention site-note"><p>{v.notice()}</p></div>' if v.notice() else ""
    menu = "".join(f'<dd><a href="{h}">{m}</a></dd>' for m, h in v.menu())
    before, after = v.neighbour(-1), v.neighbour(1)
    buttons = "".join(
        f'<a href="{p.path}" class="btn btn-neutral" title="{esc(p.title)}">{word}</a>'
        for p, word in ((before, "Previous"), (after, "Next"))
        if p
    )
    return f"""<!DOCTYPE html>
<html class="writer-html5" lang="en" data-content_root="./"><head><meta charset="utf-8" /><title>{esc(page.title)} &mdash; courier documentation</title><link rel="stylesheet" type="text/css" href="{v.asset("_static/css/theme.css")}" /><script src="{v.asset("_static/documentation_options.js")}"></script></head>
<body class="wy-body-for-nav"><div class="wy-grid-for-nav"><nav data-toggle="wy-nav-shift" class="wy-nav-side"><div class="wy-side-scroll"><div class="wy-side-nav-search"><a href="index.html" class="icon icon-home">courier</a><div role="search"><form id="rtd-search-form" class="wy-form" action="search.html"><input type="text" name="q" /></form></div></div><div class="wy-menu wy-menu-vertical" role="navigation"><ul>{nav}</ul></div>{v.noise(ad)}</div></nav>
<section data-toggle="wy-nav-shift" class="wy-nav-content-wrap"><div class="wy-nav-content"><div class="rst-content"><div role="navigation" aria-label="Page navigation"><ul class="wy-breadcrumbs"><li><a href="index.html" class="icon icon-home"></a></li><li class="breadcrumb-item active">{esc(page.title)}</li><li class="wy-breadcrumbs-aside"><a href="_sources/{page.number}.rst.txt">{v.button("View page source", "Show source")}</a></li></ul><hr/></div>{note}
<div role="main" class="document" itemscope="itemscope"><div itemprop="articleBody"><section id="s{page.number}"><h1>{esc(page.title)}<a class="headerlink" href="#s{page.number}">¶</a></h1>
{body}
</section></div></div><footer><div class="rst-footer-buttons" role="navigation">{buttons}</div><hr/><div role="contentinfo"><p>{v.footer()} <span class="lastupdated">Last updated on {v.noise(v.when(v.deploy * 30, "%B %d, %Y"))}.</span> <span class="build">Build {v.token(8)}.</span></p></div></footer></div></div></section></div><div class="rst-versions"><span class="rst-current-version">v: latest</span><dl>{menu}</dl></div></body></html>"""


def _card(v: View, key: str, text: str) -> str:
    return f'<div class="{v.cls("card")} {v.cls(key)}"><span class="{v.cls("label")}">{key.title()}</span><span class="{v.cls("value")}">{esc(text)}</span></div>'


def spa(v: View) -> str:
    """Write a server-rendered React page whose class names change with each deployment."""
    page, c = v.page, v.cls
    body = v.body(
        p=lambda b: f'<div class="{c("text")} {c("mb")}" data-testid="text-block">{v.text(b.items)}</div>',
        h2=lambda b: f'<div class="{c("heading")}" role="heading" aria-level="2">{esc(b.text)}</div>',
        ul=lambda b: "".join(
            f'<div class="{c("row")}"><svg class="{c("icon")}"><use href="#tick"></use></svg><span class="{c("row-text")}">{esc(i)}</span></div>'
            for i in b.items
        ),
        table=lambda b: (
            f'<div class="{c("grid")}">'
            + "".join(f'<div class="{c("cell")}">{esc(x)}</div>' for r in b.rows for x in r)
            + "</div>"
        ),
        img=lambda b: (
            f'<div class="{c("picture")}"><img class="{c("img")}" alt="{esc(b.text)}" src="/_next/image?url=%2Fmedia%2F{b.href}.webp&amp;w={v.pick((640, 828, 1080))}&amp;q=75"/></div>'
        ),
    )
    cards = "".join(_card(v, k, x) for k, x in page.fields.items())
    nav = "".join(
        f'<a class="{c("nav-item")}" href="{h}"><span class="{c("nav-text")}">{m}</span></a>' for m, h in v.menu()
    )
    viewers = f'<div class="{c("viewers")}"><span>{v.between(3, 60)}</span> people are viewing this right now</div>'
    also = "".join(
        f'<a class="{c("tile")}" href="{p.path}?ref=carousel_{v.token(6)}"><div class="{c("tile-title")}">{esc(p.title)}</div><div class="{c("tile-sub")}">{v.between(3, 90)} bookings today</div></a>'
        for p in v.others(4)
    )
    toast = (
        f'<div class="{c("toast")}">{esc(v.pick(v.tongue.names))} from {v.pick(("Leeds", "Ghent", "Porto"))} booked this {v.between(2, 59)} minutes ago</div>'
        if v.maybe(0.5)
        else ""
    )
    note = f'<div class="{c("notice")}">{v.notice()}</div>' if v.notice() else ""
    cta = v.pick(("Book now", "Reserve", "Book now – free cancellation")) if v.opt("ab") else "Book now"
    return f"""<!DOCTYPE html><html lang="en"><head><meta charSet="utf-8"/><title>{esc(page.title)} | Roam</title><style data-emotion="css {c("text")[4:]}">.{c("text")}{{margin:0}}.{c("card")}{{display:flex}}</style><link rel="preload" as="script" href="/_next/static/chunks/main-{c("main")[4:]}.js"/></head>
<body><div id="__next" data-reactroot=""><div class="{c("shell")}"><div class="{c("topbar")}"><a class="{c("logo")}" href="/">Roam</a><div class="{c("nav")}">{nav}</div><button class="{c("btn")}" id="headlessui-menu-button-:r{v.between(1, 40)}:">{v.button("Sign in", "My account")}</button></div>{note}
<div class="{c("hero")}"><div class="{c("title")}" role="heading" aria-level="1">{esc(page.title)}</div><div class="{c("score")}">★ {4 + steady(page.number) % 10 / 10} <span class="{c("muted")}">({v.grouped(v.count("ratings", start=4000, per_day=9))} reviews)</span></div></div>
<div class="{c("layout")}"><div class="{c("content")}">
{body}
</div><div class="{c("aside")}">{cards}<button class="{c("cta")}">{cta}</button>{v.noise(viewers)}</div></div>
<div class="{c("carousel")}"><div class="{c("carousel-title")}">You might also like</div>{also}</div>{v.noise(toast)}<div class="{c("foot")}">{v.footer()}</div></div></div>
<script id="__NEXT_DATA__" type="application/json">{{"props":{{"pageProps":{{"ts":"{v.clock("%s")}","trace":"{v.token()}"}}}},"buildId":"{c("build")[4:]}","query":{{}}}}</script></body></html>"""


def _file(rng: Random) -> str:
    name = rng.choice(("src", "docs", "tests", "setup.cfg", "Makefile", "LICENSE", "CHANGES.md", "ci.yml", "tools"))
    return f"{name}|{SOFTWARE.phrase(rng)}"


KINDS = (
    Kind(
        "redmine",
        redmine,
        SOFTWARE,
        ENGLISH,
        "/issues/{n}",
        Layout("p p pre p ul", fields=("status", "priority", "assignee", "target version"), posts=(1, 6)),
        makers={
            "status": lambda r: r.choice(("New", "In Progress", "Resolved", "Closed", "Feedback")),
            "priority": lambda r: r.choice(("Low", "Normal", "High", "Urgent")),
            "assignee": lambda r: r.choice(ENGLISH.names),
            "target version": lambda r: f"{r.randint(1, 6)}.{r.randint(0, 9)}",
        },
    ),
    Kind(
        "github",
        github,
        SOFTWARE,
        ENGLISH,
        "/o/{slug}",
        Layout("table p p h2 pre p h2 ul p h2 ol", fields=("about", "release"), header=("Name", "Message")),
        makers={
            "about": lambda r: SOFTWARE.sentence(r),
            "release": lambda r: f"v{r.randint(0, 9)}.{r.randint(0, 30)}.{r.randint(0, 9)}",
            "row": _file,
        },
    ),
    Kind("hugo", hugo, SCIENCE, ENGLISH, "/post/{slug}/", Layout("p p h2 p img p pre h2 ul p quote p")),
    Kind(
        "sphinx",
        sphinx,
        SOFTWARE,
        ENGLISH,
        "/en/latest/{slug}.html",
        Layout("p h2 p pre dl h2 p table h2 p ul", header=("Key", "Type", "Default")),
        makers={"row": lambda r: f"{r.choice(SOFTWARE.slots['value'])}|{r.choice(('int', 'str'))}|{r.randint(0, 99)}"},
    ),
    Kind(
        "spa",
        spa,
        GOODS,
        ENGLISH,
        "/stay/{slug}",
        Layout("img p h2 ul p h2 table p", fields=("price", "check-in", "cancellation"), header=("Season", "Nights")),
        makers={
            "price": lambda r: f"€{r.randint(39, 420)} per night",
            "check-in": lambda r: f"from {r.randint(13, 17)}:00",
            "cancellation": lambda r: f"free until {r.randint(1, 21)} days before",
            "row": lambda r: f"{r.choice(('Spring', 'Summer', 'Autumn', 'Winter', 'Easter'))}|{r.randint(2, 9)} nights",
        },
        untidy=True,
    ),
)
