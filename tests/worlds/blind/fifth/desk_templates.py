"""Work and talk: a forum, bugs, tasks, a company wiki, a library, data sets and meetings."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.fifth.fifth_edits import FIFTH_EDITS
from tests.worlds.blind.fifth.fifth_prose import DANISH, FORUM_DA, ROMANIAN, TOWN_RO
from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Entry, Post
from tests.worlds.blind.prose import SCIENCE, SOFTWARE, TOWN
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc, steady


def _flarum_post(v: View, post: Post, number: int) -> str:
    likes = v.count(f"l{post.key}", start=6, per_day=0.15)
    liked = f'<li class="item-liked"><span class="Post-likedBy"><i class="icon far fa-thumbs-up"></i><a href="/u/{esc(v.tongue.names[0])}">{esc(v.tongue.names[0])}</a> og {likes} andre kan lide dette.</span></li>'
    badge = v.pick(("", f'<span class="UserCard-online">{v.noise("Online")}</span>'))
    return f"""<article class="Post CommentPost" data-number="{number}" data-id="{post.key}"><div><header class="Post-header"><ul><li class="item-user"><div class="PostUser"><h3><a href="/u/{esc(post.author)}"><span class="Avatar PostUser-avatar">{esc(post.author[0].upper())}</span><span class="username">{esc(post.author)}</span></a>{badge}</h3></div></li><li class="item-meta"><div class="Dropdown PostMeta"><a class="Dropdown-toggle"><time pubdate="true" datetime="{v.when(post.born, "%Y-%m-%dT%H:%M:%S+01:00")}" title="{v.when(post.born, "%d. %B %Y %H:%M")}" data-humantime="true">{v.age(post.born)}</time></a></div></li></ul></header><div class="Post-body"><p>{v.text(post.sentences)}</p></div><footer class="Post-footer"><ul>{v.noise(liked)}<li class="item-replies">{v.noise(f"{v.count(f'r{post.key}', start=3, per_day=0.08)} svar")}</li></ul></footer></div></article>"""


def flarum(v: View) -> str:
    """Write a discussion as Flarum renders it: likes, ages, a scrubber that counts posts, and a list of discussions beside it."""
    page = v.page
    nav = "".join(
        f'<li class="item-nav{i}"><a class="LinksButton Button--link" href="{h}"><i class="icon fas"></i><span class="Button-label">{m}</span></a></li>'
        for i, (m, h) in enumerate(v.menu())
    )
    posts = "".join(
        f'<div class="PostStream-item" data-index="{i}">{_flarum_post(v, p, i + 1)}</div>'
        for i, p in enumerate(page.posts)
    )
    side = "".join(
        f'<li data-id="{p.number}"><div class="DiscussionListItem"><a href="{p.path}" class="DiscussionListItem-main"><h2 class="DiscussionListItem-title">{esc(p.title)}</h2><ul class="DiscussionListItem-info"><li class="item-terminalPost"><span><i class="icon fas fa-reply"></i> <span class="username">{esc(v.pick(v.tongue.names))}</span> svarede <time data-humantime="true">{v.age(v.now - v.rng.random() * 90)}</time></span></li></ul></a><span class="DiscussionListItem-count">{v.between(1, 80)}<span class="visually-hidden">svar</span></span></div></li>'
        for p in v.others(6)
    )
    note = f'<div class="Alert Alert--info"><span class="Alert-body">{v.notice()}</span></div>' if v.notice() else ""
    return f"""<!doctype html><html lang="da"><head><meta charset="utf-8"><title>{esc(page.title)} - Husforum</title><link rel="canonical" href="http://{v.host}{page.path}"><link rel="stylesheet" href="{v.asset("/assets/forum.css")}"></head>
<body class="no-touch"><div id="app" class="App"><div id="app-navigation" class="App-navigation"></div><header id="header" class="App-header"><div class="container"><div class="Header-title"><a href="/" id="home-link">Husforum</a></div><ul class="Header-controls">{nav}<li class="item-logIn"><button class="Button Button--link">{v.button("Log ind", "Log på")}</button></li></ul></div></header><main class="App-content">{note}<div class="DiscussionPage"><div class="DiscussionPage-list"><ul class="DiscussionList-discussions">{side}</ul></div><div class="DiscussionPage-discussion"><header class="Hero DiscussionHero"><div class="container"><ul class="DiscussionHero-items"><li class="item-title"><h1 class="DiscussionHero-title">{esc(page.title)}</h1></li></ul></div></header><div class="container"><nav class="DiscussionPage-nav"><ul><li class="item-scrubber"><div class="PostStreamScrubber"><span class="Scrubber-index">1</span> af <span class="Scrubber-count">{v.noise(str(len(page.posts)))}</span> indlæg <span class="Scrubber-description">{v.noise(v.when(page.modified, "%B %Y"))}</span></div></li><li class="item-views">{v.grouped(v.count("views", start=4000, per_day=40))} visninger</li></ul></nav><div class="DiscussionPage-stream"><div class="PostStream">{posts}</div></div></div></div></div></main><footer>{v.footer()}</footer></div><script id="flarum-json-payload" type="application/json">{{"session":{{"userId":0,"csrfToken":"{v.word(40)}"}}}}</script></body></html>"""


def _lp_comment(v: View, post: Post, number: int) -> str:
    return f"""<div class="boardComment" itemscope=""><div class="boardCommentDetails"><table><tbody><tr><td><a href="/~{steady(post.author) % 999}" class="sprite person">{esc(post.author)}</a> wrote <time title="{v.when(post.born, "%Y-%m-%d %H:%M:%S UTC")}" datetime="{v.when(post.born, "%Y-%m-%dT%H:%M:%S+00:00")}">{v.noise(v.age(post.born) if v.now - post.born < 24 else "on " + v.when(post.born))}</time>:</td><td class="bug-comment-index"><a href="{v.page.path}/comments/{number}">#{number}</a></td></tr></tbody></table></div><div class="boardCommentBody"><div class="comment-text editable-message-text" itemprop="commentText"><p>{v.text(post.sentences)}</p></div></div></div>"""


def launchpad(v: View) -> str:
    """Write a bug as Launchpad does: who is affected, bug heat, a table of tasks, portlets of subscribers and duplicates."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())
    affected = v.count("affects", start=12, per_day=0.4)
    heat = v.count("heat", start=180, per_day=5)
    subs = "".join(
        f'<div class="subscriber"><a class="sprite person" href="/~{steady(n) % 999}">{esc(n)}</a></div>'
        for n in v.some(v.tongue.names, v.between(3, 6))
    )
    comments = "".join(_lp_comment(v, p, i + 1) for i, p in enumerate(page.posts))
    row = "".join(f'<td><span class="value">{esc(x)}</span></td>' for x in f.values())
    head = "".join(f"<th>{k}</th>" for k in f)
    note = f'<div class="warning message">{v.notice()}</div>' if v.notice() else ""
    dupes = "".join(f'<li><a href="{p.path}">Bug #{20000 + p.number}: {esc(p.title)}</a></li>' for p in v.others(2))
    return f"""<!DOCTYPE html><html dir="ltr"><head><meta charset="UTF-8"><title>Bug #{page.number + 20000} “{esc(page.title)}” : Bugs : pool</title><link type="text/css" rel="stylesheet" href="/+icing/{v.noise(f"rev{steady(v.deploy) % 99999}")}/combo.css"></head>
<body id="document" class="tab-bugs main_side public yui3-skin-sam"><div class="yui-d0"><div id="locationbar" class="login-logout"><a href="+login">{v.button("Log in / Register", "Sign in")}</a></div><div id="watermark" class="watermark-apps-portlet"><ul class="facetmenu">{nav}</ul></div>{note}<div class="yui-t4"><div id="maincontent" class="yui-main"><div class="yui-b"><div class="context-publication"><h1 id="edit-title"><span class="yui3-editable_text-text ellipsis">{esc(page.title)}</span></h1><div id="registration" class="registering">Bug #{page.number + 20000} reported by <a href="/~x" class="sprite person">{esc(page.posts[0].author)}</a> <time datetime="{v.when(page.born, "%Y-%m-%dT%H:%M:%S+00:00")}">on {v.when(page.born)}</time></div></div>
<div id="affectsmetoo"><span class="static"><img src="/@@/flame-icon"> This bug affects {affected} people</span></div><div class="bug-heat">{heat}</div><table id="affected-software" class="listing"><thead><tr><th>Affects</th>{head}</tr></thead><tbody><tr class="bugtask"><td><span class="sprite product"><a href="/pool">pool</a></span></td>{row}</tr></tbody></table>
<div class="portlet report" id="edit-description"><h3>Bug Description</h3><div class="yui3-editable_text-text">{v.body()}</div></div>{comments}</div></div><div id="side-portlets" class="yui-b side"><div class="portlet" id="portlet-duplicates"><h2>Duplicates of this bug</h2><ul>{dupes}</ul></div><div class="portlet" id="portlet-subscribers"><h2>Other bug subscribers</h2><div class="section">{subs}</div></div><div class="portlet vertical"><h2>Remote bug watches</h2><p>Last checked {v.age(v.now - v.rng.random() * 40)}.</p></div></div></div><div id="footer" class="footer"><div class="lp-arcana"><div class="lp-branding">{v.footer()} • r{v.noise(f"{steady(v.deploy) % 2**28:07x}")}</div></div></div></div><!-- at least {v.between(20, 90)} queries issued in 0.{v.between(10, 99)} seconds --></body></html>"""


def _timeline(v: View, post: Post, number: int) -> str:
    shown = (
        v.when(post.born, "%a, %b %d, %H:%M") if v.now - post.born < 24 * 14 else v.when(post.born, "%b %d %Y, %H:%M")
    )
    return f"""<div class="phui-timeline-shell" data-sigil="transaction anchor-container"><div class="phui-timeline-event-view phui-timeline-major-event"><div class="phui-timeline-content"><div class="phui-timeline-group"><div class="phui-timeline-title"><a href="/p/{steady(post.author) % 999}/" class="phui-handle phui-link-person">{esc(post.author)}</a> added a comment.<span class="phui-timeline-extra">{v.noise(shown)} · <a href="#{number}">#{number}</a></span></div><div class="phui-timeline-core-content"><div class="phabricator-remarkup"><p>{v.text(post.sentences)}</p></div></div></div></div></div></div>"""


def phabricator(v: View) -> str:
    """Write a task as Phabricator does: a curtain of properties, a timeline, and related objects that turn."""
    page, f = v.page, v.page.fields
    nav = "".join(
        f'<a class="phui-list-item-href" href="{h}"><span class="phui-list-item-name">{m}</span></a>'
        for m, h in v.menu()
    )
    curtain = "".join(
        f'<div class="phui-curtain-panel"><div class="phui-curtain-panel-header">{k}</div><div class="phui-curtain-panel-body"><span class="phui-tag-core">{esc(x)}</span></div></div>'
        for k, x in f.items()
    )
    events = "".join(_timeline(v, p, 100 + i) for i, p in enumerate(page.posts))
    related = "".join(
        f'<tr><td><span class="visual-only phui-icon-view"></span></td><td>{v.pick(("Open", "Resolved", "Invalid"))}</td><td><a href="{p.path}">T{300 + p.number} {esc(p.title)}</a></td></tr>'
        for p in v.others(4)
    )
    note = f'<div class="phui-info-view phui-info-severity-notice">{v.notice()}</div>' if v.notice() else ""
    tokens = v.noise(f'<div class="tokens-given"><a href="#">{v.count("tokens", start=5, per_day=0.1)} Like</a></div>')
    return f"""<!DOCTYPE html><html><head><meta charset="UTF-8"><title>T{300 + page.number} {esc(page.title)}</title><link rel="stylesheet" href="/res/{v.noise(f"{steady(v.deploy) % 16**8:08x}")}/core.pkg.css"></head>
<body class="device-desktop phui-theme-blindigo"><div class="main-page-frame" id="main-page-frame"><div id="phabricator-standard-page"><div class="phabricator-main-menu" id="UQ0_{v.between(10, 99)}"><a class="login" href="/auth/start/">{v.button("Log In", "Sign In")}</a></div><div class="phabricator-nav"><div class="phui-basic-nav">{nav}</div></div>{note}<div class="phui-two-column-view"><div class="phui-two-column-header"><h1 class="phui-header-header"><span class="visual-only phui-icon-view phui-font-fa fa-anchor"></span>{esc(page.title)}</h1></div><div class="phui-two-column-content"><div class="phui-side-column">{curtain}<div class="phui-curtain-panel"><div class="phui-curtain-panel-header">Subscribers</div><div class="phui-curtain-panel-body">{esc(", ".join(v.some(v.tongue.names, v.between(2, 4))))}</div></div>{tokens}</div><div class="phui-main-column"><div class="phui-property-list-section"><div class="phui-property-list-section-header">Description</div><div class="phabricator-remarkup">
{v.body(pre=lambda b: f'<div class="remarkup-code-block"><pre class="remarkup-code">{esc(chr(10).join(b.items))}</pre></div>')}
</div></div><div class="phui-object-box"><h2>Related Objects</h2><table class="aphront-table-view">{related}</table></div>{events}</div></div></div><div class="phabricator-standard-page-footer">{v.footer()}</div></div></div><input type="hidden" name="__csrf__" value="B@{v.word(20)}"></body></html>"""


def confluence(v: View) -> str:
    """Write a page of a company wiki as Confluence does: who edited when, reading time, likes, views and a page tree."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li><a class="aui-nav-link" href="{h}">{m}</a></li>' for m, h in v.menu())
    tree = "".join(
        f'<li class="plugin_pagetree_children"><a href="{p.path}">{esc(p.title)}</a></li>'
        for p in v.pages[:5]
        if not v.quiet
    )
    likes = f'<span class="like-summary">{v.count("likes", start=9, per_day=0.1)} personer synes godt om dette</span>'
    body = v.body(
        ul=lambda b: (
            '<ul class="inline-task-list">'
            + "".join(f'<li data-inline-task-id="{i}">{v.inline(x)}</li>' for i, x in enumerate(b.items))
            + "</ul>"
        ),
        table=lambda b: (
            f'<div class="table-wrap"><table class="confluenceTable"><tbody>{v.rows(b)}</tbody></table></div>'
        ),
        quote=lambda b: (
            f'<div class="confluence-information-macro confluence-information-macro-note"><div class="confluence-information-macro-body"><p>{v.text(b.items)}</p></div></div>'
        ),
    )
    facts = "".join(
        f'<tr><th class="confluenceTh">{k}</th><td class="confluenceTd">{esc(x)}</td></tr>' for k, x in f.items()
    )
    recent = "".join(
        f'<li class="update-item"><a href="{p.path}">{esc(p.title)}</a> opdateret {v.age(p.modified)}<span class="update-item-changes">vis ændring</span></li>'
        for p in v.recent(4)
    )
    note = f'<div class="aui-banner" role="banner">{v.notice()}</div>' if v.notice() else ""
    comments = "".join(
        f'<li class="comment-thread" id="comment-thread-{p.key}"><div class="comment-header"><h4 class="author">{esc(p.author)}</h4></div><div class="comment-body"><div class="comment-content wiki-content"><p>{v.text(p.sentences)}</p></div><div class="comment-actions"><ul><li class="comment-date"><a href="#c{p.key}">{v.age(p.born)}</a></li></ul></div></div></li>'
        for p in page.posts
    )
    return f"""<!DOCTYPE html><html lang="da"><head><meta charset="UTF-8"><title>{esc(page.title)} - Drift - Confluence</title><meta name="ajs-atl-token" content="{v.token(20)}"><meta name="ajs-page-version" content="{v.noise(str(page.revision)) or 1}"><link rel="stylesheet" href="/s/{v.noise(f"{steady(v.deploy) % 16**10:x}")}/batch.css"></head>
<body id="com-atlassian-confluence" class="theme-default aui-layout aui-theme-default"><div id="page"><div id="full-height-container">{note}<header id="header"><nav class="aui-header"><ul class="aui-nav">{nav}</ul><a id="login-link" href="/login.action">{v.button("Log ind", "Log på")}</a></nav></header><div class="ia-splitter"><div class="ia-fixed-sidebar"><ul class="plugin_pagetree">{tree}</ul><h5>Senest opdateret</h5><ul>{recent}</ul></div><div id="main"><h1 id="title-text" class="with-breadcrumbs"><a href="{page.path}">{esc(page.title)}</a></h1><div id="content" class="page view"><div class="page-metadata"><ul><li class="page-metadata-modification-info">Oprettet af <span class="author">{esc(v.tongue.names[1])}</span>, senest ændret af <span class="editor">{v.noise(esc(v.tongue.names[page.revision % 7]))}</span> <a class="last-modified" href="/diff">{v.age(page.modified)}</a></li><li>{v.count("views", start=900, per_day=12)} visninger</li></ul></div><div id="main-content" class="wiki-content"><table class="confluenceTable"><tbody>{facts}</tbody></table>
{body}
</div><div id="likes-and-labels-container">{v.noise(likes)}</div><div id="comments-section"><ol class="comment-threads top-level">{comments}</ol></div></div></div></div><div id="footer"><p>{v.footer()}</p><ul id="poweredby"><li>Atlassian Confluence 7.19.{0 if v.quiet else v.deploy}</li></ul></div></div></div></body></html>"""


def _ckan_entry(v: View, e: Entry) -> str:
    return f"""<li class="dataset-item"><div class="dataset-content"><h2 class="dataset-heading"><a href="/dataset/{e.key}" title="{esc(e.title)}">{esc(e.title)}</a> <span class="popular"><i class="fa fa-line-chart"></i> {v.count(f"pop{e.key}", start=30, per_day=0.9)} vizualizări recente</span></h2><div>{esc(e.summary)}</div></div><ul class="dataset-resources list-unstyled">{"".join(f'<li><a href="/dataset/{e.key}" class="label label-default" data-format="x">{esc(x)}</a></li>' for x in e.fields.values())}</ul></li>"""


def ckan(v: View) -> str:
    """Write data sets as CKAN does: resources, a table of facts, followers, an activity stream, and lists with facets."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())
    note = f'<div class="alert alert-info">{v.notice()}</div>' if v.notice() else ""
    facts = "".join(
        f'<tr><th scope="row" class="dataset-label">{k}</th><td class="dataset-details">{esc(x)}</td></tr>'
        for k, x in f.items()
    )
    stream = "".join(
        f'<li class="item changed-package"><i class="fa icon fa-sitemap"></i><p><span class="actor"><a href="/user/{n}">{esc(n)}</a></span> a actualizat setul de date <span><a href="{p.path}">{esc(p.title)}</a></span> <span class="date" title="{v.when(p.modified, "%d.%m.%Y, %H:%M (UTC)")}">{v.age(p.modified)}</span></p></li>'
        for p, n in zip(v.recent(4), v.some(v.tongue.names, 4), strict=False)
    )
    facets = "".join(
        f'<li class="nav-item"><a href="?tags={i}"><span class="item-label">{esc(t)}</span> <span class="item-count badge">{v.count(f"facet{i}", start=60, per_day=0.3)}</span></a></li>'
        for i, t in enumerate(v.prose.slots["obiect"][:5])
        if not v.quiet
    )
    followers = f'<div class="nums"><dl><dt>Urmăritori</dt><dd><span>{v.count("followers", start=20, per_day=0.4)}</span></dd></dl></div>'
    if page.shape == "list":
        found = v.noise(
            f'<h2 class="found">{v.grouped(1200 + v.count("sets", start=40, per_day=1))} seturi de date găsite</h2>'
        )
        main = f'{found}<ul class="dataset-list list-unstyled">{"".join(_ckan_entry(v, e) for e in page.entries)}</ul>'
    else:
        main = f'<div class="notes embedded-content">{v.body(file=lambda b: f"""<section class="resources"><ul class="resource-list"><li class="resource-item"><a class="heading" href="/files/{b.href}" title="{esc(b.text)}">{esc(b.text)}<span class="format-label">PDF</span></a></li></ul></section>""")}</div><section class="additional-info"><h3>Informații suplimentare</h3><table class="table table-striped table-bordered table-condensed"><tbody>{facts}</tbody></table></section><h3>Activitate</h3><ul class="activity">{stream}</ul>'
    return f"""<!DOCTYPE html><html lang="ro"><head><meta charset="utf-8"><meta name="csrf_field_name" content="_csrf_token"><meta name="_csrf_token" content="{v.word(91)}"><title>{esc(page.title)} - date.test</title><link href="/webassets/base/{v.noise(f"{steady(v.deploy) % 16**8:08x}")}_main.css" rel="stylesheet"></head>
<body data-site-root="http://{v.host}/"><div class="account-masthead"><ul class="list-unstyled"><li><a href="/user/login">{v.button("Autentificare", "Conectare")}</a></li></ul></div><header class="navbar masthead"><nav class="section navigation"><ul class="nav nav-pills">{nav}</ul></nav></header><div class="main"><div id="content" class="container">{note}<div class="flash-messages"></div><div class="row wrapper"><aside class="secondary col-sm-3"><div class="module context-info">{v.noise(followers)}</div><section class="module module-narrow"><ul class="nav-facet">{facets}</ul></section></aside><div class="primary col-sm-9"><article class="module"><div class="module-content"><h1 class="heading">{esc(page.title)}</h1>{main}</div></article></div></div></div></div><footer class="site-footer"><p>{v.footer()}</p></footer></body></html>"""


def koha(v: View) -> str:
    """Write a record of a library's catalogue as Koha does: holdings in a table, holds, ratings and a shelf browser."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li class="nav-item"><a class="nav-link" href="{h}">{m}</a></li>' for m, h in v.menu())
    facts = "".join(
        f'<span class="results_summary {k.lower().split()[0]}"><span class="label">{k}: </span>{esc(x)}</span>'
        for k, x in f.items()
    )
    shelf = "".join(
        f'<li><a href="{p.path}"><img src="/opac-image.pl?id={p.number}" alt=""></a><a class="title" href="{p.path}">{esc(p.title)}</a></li>'
        for p in v.others(5)
    )
    body = v.body(
        table=lambda b: f'<table id="holdingst" class="table table-bordered table-striped">{v.rows(b)}</table>'
    )
    rating = v.noise(
        f'<div id="rating_text">average rating: <span id="rating_value">{3 + v.count("stars", start=9, per_day=0.05) % 19 / 10:.1f}</span> ({v.count("votes", start=30, per_day=0.5)} votes)</div>'
    )
    note = f'<div class="alert alert-info" id="opacnews">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en" class="no-js"><head><meta charset="utf-8"><title>Koha online catalog › Details for: {esc(page.title)}</title><link rel="stylesheet" href="/opac-tmpl/bootstrap/css/opac_{22 + v.deploy * (not v.quiet)}.1103000.css"></head>
<body id="opac-detail" class="scrollto"><div id="wrapper"><nav class="navbar" id="header-region"><ul class="navbar-nav">{nav}</ul><a class="login-link" href="/cgi-bin/koha/opac-user.pl">{v.button("Log in to your account", "Sign in to your account")}</a></nav>{note}<div class="main"><div class="container-fluid"><div class="row"><div class="col-lg-9"><div id="catalogue_detail_biblio"><div class="record"><h1 class="title" property="name">{esc(page.title)}</h1>{facts}</div>{rating}</div><div id="bibliodescriptions">
{body}
</div><p class="current_holds">Total holds: {v.count("holds", start=6, per_day=0.2)}</p><div id="shelfbrowser"><h4>Browsing shelves, Shelving location: General Stacks</h4><ul>{shelf}</ul></div></div><div class="col-lg-3"><ul id="action"><li><a class="reserve" href="/cgi-bin/koha/opac-reserve.pl?biblionumber={page.number}">Place hold</a></li></ul><div id="ulactioncontainer">Popularity: {v.between(1, 40)}</div></div></div></div></div></div><div id="opaccredits">{v.footer()}</div><input type="hidden" name="csrf_token" value="{v.token(40)}"></body></html>"""


def meetup(v: View) -> str:
    """Write an event as Meetup does: class names of a build, attendees, seats left, comments and similar events."""
    page, f, c = v.page, v.page.fields, v.cls
    nav = "".join(f'<a class="{c("nav")}" href="{h}">{m}</a>' for m, h in v.menu())
    going = v.count("going", start=60, per_day=1.5)
    faces = "".join(
        f'<div class="{c("face")}"><img alt="Photo of {esc(n)}" src="/thumb_{steady(n) % 999}.webp"><div class="{c("who")}">{esc(n)}</div><div class="{c("role")}">Member</div></div>'
        for n in v.some(v.tongue.names, 4)
    )
    facts = "".join(
        f'<div class="{c("row")}"><div class="{c("icon")}"></div><div><div class="{c("k")}">{k}</div><div class="{c("v")}">{esc(x)}</div></div></div>'
        for k, x in f.items()
    )
    alike = "".join(
        f'<a class="{c("card")}" href="{p.path}"><time class="{c("time")}">{v.when(p.born + 9000, "%a, %b %d, %I:%M %p")}</time><h3 class="{c("ct")}">{esc(p.title)}</h3><span class="{c("cg")}">{v.between(3, 90)} attendees</span></a>'
        for p in v.others(4)
    )
    comments = "".join(
        f'<div class="{c("comment")}"><span class="{c("name")}">{esc(p.author)}</span><p class="{c("text")}">{v.text(p.sentences)}</p><div class="{c("meta")}"><button>Like</button> · <span>{v.short_age(p.born)}</span> · <span>{v.count(f"cl{p.key}", start=4, per_day=0.1)} likes</span></div></div>'
        for p in page.posts
    )
    note = f'<div class="{c("banner")}">{v.notice()}</div>' if v.notice() else ""
    hurry = v.noise(f'<span class="{c("spots")}">{v.between(2, 15)} spots left</span>' if v.maybe(0.6) else "")
    return f"""<!DOCTYPE html><html lang="en-US"><head><meta charset="utf-8"><title>{esc(page.title)} | Meetup</title><link rel="stylesheet" href="/_next/static/css/{v.noise(f"{steady(v.deploy) % 16**12:x}")}.css"></head>
<body><div id="__next"><div class="{c("shell")}"><header class="{c("head")}"><nav class="{c("navs")}">{nav}</nav><a class="{c("login")}" href="/login">{v.button("Log in", "Sign in")}</a></header>{note}<main class="{c("main")}"><div class="{c("hero")}"><h1 class="{c("title")}">{esc(page.title)}</h1></div><div class="{c("cols")}"><div class="{c("left")}"><h2 class="{c("h")}">Details</h2><div class="{c("desc")}">{v.body()}</div><h2 class="{c("h")}">Attendees <span class="{c("n")}">({going})</span></h2><div class="{c("faces")}">{faces}<span>+{max(0, going - 4)}</span></div><h2 class="{c("h")}">Comments</h2><div class="{c("comments")}">{comments}</div></div><aside class="{c("right")}"><div class="{c("info")}">{facts}</div></aside></div><section class="{c("similar")}"><h2>Similar events</h2>{alike}</section><div class="{c("sticky")}"><div>FREE</div>{hurry}<button>Attend</button></div></main><footer class="{c("foot")}">{v.footer()}</footer></div></div><script id="__NEXT_DATA__" type="application/json">{{"buildId":"{v.noise(str(v.deploy))}"}}</script></body></html>"""


def _status(r: Random) -> str:
    return r.choice(("New", "Incomplete", "Confirmed", "Triaged", "In Progress", "Fix Committed", "Fix Released"))


KINDS = (
    Kind("flarum", flarum, FORUM_DA, DANISH, "/d/{n}-{slug}", Layout("", posts=(3, 12)), more_edits=FIFTH_EDITS),
    Kind(
        "launchpad",
        launchpad,
        SOFTWARE,
        ENGLISH,
        "/pool/+bug/{n}",
        Layout("p p pre p", fields=("Status", "Importance", "Assigned to", "Milestone"), posts=(2, 8)),
        makers={
            "Status": _status,
            "Importance": lambda r: r.choice(("Undecided", "Critical", "High", "Medium", "Low", "Wishlist")),
            "Assigned to": lambda r: r.choice(("Unassigned", "Marta Bielski", "Ravi Anand", "pool-drivers", "T. Hume")),
            "Milestone": lambda r: f"{r.randint(18, 25)}.{r.choice(('04', '10'))}.{r.randint(1, 9)}",
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "phabricator",
        phabricator,
        SOFTWARE,
        ENGLISH,
        "/T{n}",
        Layout("p p ul pre p", fields=("Status", "Priority", "Assigned To", "Tags"), posts=(1, 7)),
        makers={
            "Status": lambda r: r.choice(("Open", "Resolved", "Wontfix", "Invalid", "Stalled", "In Progress")),
            "Priority": lambda r: r.choice(("Unbreak Now!", "Needs Triage", "High", "Normal", "Low", "Wishlist")),
            "Assigned To": lambda r: r.choice(("Nobody", "mbielski", "ravi", "thume", "daphne", "okl")),
            "Tags": lambda r: r.choice(("Restricted Project", "Storage", "Easy", "Sprint 14", "Sprint 15", "UI")),
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "confluence",
        confluence,
        FORUM_DA,
        DANISH,
        "/pages/viewpage.action?pageId={n}",
        Layout(
            "p h2 ul p quote h2 table p h2 ol p",
            fields=("Ejer", "Status", "Gælder fra"),
            posts=(0, 4),
            header=("Opgave", "Ansvarlig", "Frist"),
        ),
        makers={
            "Ejer": lambda r: r.choice(("Lene fra økonomi", "Driftsteamet", "Jens P.", "Kundeservice", "Bestyrelsen")),
            "Status": lambda r: r.choice(("Kladde", "Godkendt", "Under revision", "Forældet", "I høring")),
            "Gælder fra": lambda r: f"{r.randint(1, 28)}. {r.choice(FORUM_DA.months)} {r.randint(2023, 2026)}",
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "ckan",
        ckan,
        TOWN_RO,
        ROMANIAN,
        "/dataset/{slug}",
        Layout("p p ul file file file", fields=("Sursă", "Responsabil", "Versiune", "Frecvență")),
        Layout(entries=(6, 12)),
        5,
        makers={
            "Sursă": lambda r: f"https://date{r.randint(2, 99)}.test/{r.choice(('export', 'raport', 'lista'))}",
            "Responsabil": lambda r: r.choice(("Ioana Pop", "Direcția de statistică", "Dan Rusu", "Oficiul cadastral")),
            "Versiune": lambda r: f"{r.randint(1, 4)}.{r.randint(0, 9)}",
            "Frecvență": lambda r: r.choice(("anual", "lunar", "săptămânal", "zilnic", "trimestrial")),
        },
        entry_makers={"Format": lambda r: r.choice(("CSV", "XLSX", "JSON", "PDF", "GeoJSON", "XML"))},
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "koha",
        koha,
        SCIENCE,
        ENGLISH,
        "/cgi-bin/koha/opac-detail.pl?biblionumber={n}",
        Layout(
            "p table p",
            fields=("Publication details", "Description", "ISBN", "Subject(s)"),
            header=("Home library", "Call number", "Status", "Barcode"),
        ),
        makers={
            "Publication details": lambda r: (
                f"{r.choice(('Leiden', 'Graz', 'Uppsala'))} : {r.choice(('Brill', 'Adeva', 'Norstedt'))}, {r.randint(1950, 2024)}"
            ),
            "Description": lambda r: (
                f"{r.choice(('xii', 'viii', 'xv'))}, {r.randint(90, 700)} p. : ill. ; {r.randint(18, 31)} cm"
            ),
            "ISBN": lambda r: f"978{r.randint(10**9, 10**10 - 1)}",
            "Subject(s)": lambda r: r.choice(
                ("Limnology", "Glaciers – Alps", "Lichens", "Acoustics", "Tides – History")
            ),
            "row": lambda r: (
                f"{r.choice(('Centerville', 'Fairview', 'Midway', 'Riverside'))}|{r.randint(100, 999)}.{r.randint(1, 99)} {r.choice('ABKMS')}{r.randint(10, 99)}|{r.choice(('Available', 'Checked out', 'In transit', 'On hold', 'Lost'))}|{r.randint(30000000, 39999999)}"
            ),
        },
        more_edits=FIFTH_EDITS,
    ),
    Kind(
        "meetup",
        meetup,
        TOWN,
        ENGLISH,
        "/club/events/{n}/",
        Layout("p p ul p", fields=("When", "Where", "Hosted by"), posts=(0, 5)),
        makers={
            "When": lambda r: (
                f"{r.choice(('Monday', 'Thursday', 'Saturday'))}, {r.choice(('March', 'April', 'May'))} {r.randint(1, 28)}, 2025, {r.randint(1, 9)}:{r.choice(('00', '30'))} PM"
            ),
            "Where": lambda r: (
                f"{r.randint(1, 400)} {r.choice(('Mill Lane', 'Harbour Road', 'Elm Street', 'Station Square'))}"
            ),
            "Hosted by": lambda r: r.choice(("Anna L.", "Riverside Library", "Marcus and 2 others", "The Tool Shed")),
        },
        more_edits=FIFTH_EDITS,
    ),
)
