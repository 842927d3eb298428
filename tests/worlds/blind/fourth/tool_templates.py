"""Tools and reference: an issue tracker, releases of a project, a mobile wiki, a profile, a catalogue, a collection."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from tests.worlds.blind.fourth.fourth_edits import FOURTH_EDITS
from tests.worlds.blind.fourth.fourth_prose import (
    CODE_ZH,
    COURSES,
    DUTCH,
    LAKES_SV,
    MUSEUM,
    RADIO_NL,
    SWEDISH,
    TAIWANESE,
)
from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block, Entry, Post
from tests.worlds.blind.prose import SOFTWARE
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc, steady


def _livestamp(v: View, hours: float) -> str:
    """Write a date as Jira does: near ones as an age, older ones as a date that says the weekday for a week."""
    exact = v.when(hours, "%Y-%m-%dT%H:%M:%S+0000")
    shown = v.age(hours) if v.now - hours < 24 * 7 else v.when(hours, "%d/%b/%y %H:%M")
    return f'<span title="{v.noise(exact)}"><time class="livestamp" datetime="{v.noise(exact)}">{v.noise(shown)}</time></span>'


def _jira_comment(v: View, post: Post) -> str:
    ident = 140000 + post.key
    return f"""<div id="comment-{ident}" class="issue-data-block activity-comment twixi-block expanded"><div class="twixi-wrap verbose actionContainer"><div class="action-head"><button class="twixi icon-default aui-icon"></button><div class="action-details"><a class="user-hover user-avatar" rel="{esc(post.author)}" href="/secure/ViewProfile.jspa?name={steady(post.author) % 900}"><span class="aui-avatar-inner"><img src="/secure/useravatar?avatarId={10300 + steady(post.author) % 40}" alt="{esc(post.author)}"></span> {esc(post.author)}</a> added a comment - <span class="commentdate_{ident}_verbose subText">{_livestamp(v, post.born)}</span></div></div><div class="action-body flooded">{v.text(post.sentences)}</div></div></div>"""


def jira(v: View) -> str:
    """Write an issue as Jira Server does: fields with ids, livestamps, votes, watchers and gadgets of other issues."""
    page, f = v.page, v.page.fields
    nav = "".join(
        f'<li><a href="{h}" class="aui-nav-link" id="link{i}">{m}</a></li>' for i, (m, h) in enumerate(v.menu())
    )
    pairs = "".join(
        f'<li class="item"><div class="wrap"><strong class="name" title="{k}">{k}:</strong> <span id="{k.lower()}-val" class="value editable-field inactive" title="Click to edit"><span class="jira-issue-status-lozenge aui-lozenge">{esc(x)}</span></span></div></li>'
        for k, x in f.items()
    )
    comments = "".join(_jira_comment(v, p) for p in page.posts[1:])
    token = v.noise(f"B{v.token(3)}-{v.token(4)}_{v.token(40)}_lout")
    people = f'<dl><dt>Votes:</dt><dd><aui-badge id="vote-data">{v.count("votes", start=8, per_day=0.2)}</aui-badge> Vote for this issue</dd></dl><dl><dt>Watchers:</dt><dd><aui-badge id="watcher-data">{v.count("watch", start=14, per_day=0.3)}</aui-badge> Start watching this issue</dd></dl>'
    alike = "".join(
        f'<dd id="internal-{p.number}"><span title="PIP-{100 + p.number}"><a href="{p.path}" class="issue-link">PIP-{100 + p.number}</a> <span class="link-summary">{esc(p.title)}</span></span> <span class="status">{v.pick(("OPEN", "DONE", "IN PROGRESS"))}</span></dd>'
        for p in v.others(3)
    )
    note = f'<div id="announcement-banner" class="alertHeader">{v.notice()}</div>' if v.notice() else ""
    body = v.body(
        pre=lambda b: (
            f'<div class="code panel" style="border-width: 1px;"><div class="codeContent panelContent"><pre class="code-java">{esc(chr(10).join(b.items))}</pre></div></div>'
        ),
        table=lambda b: (
            f"<div class='table-wrap'><table class='confluenceTable'><tbody>{v.rows(b)}</tbody></table></div>"
        ),
    )
    sprint = v.noise(
        f'<div class="agile-sprint">{v.between(1, 13)} days remaining · {v.between(3, 40)} of {v.between(41, 80)} issues done</div>'
    )
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="ajs-build-date" content="2024-11-05"><title>[PIP-{100 + page.number}] {esc(page.title)} - Issues</title><meta id="atlassian-token" name="atlassian-token" content="{token}"><link type="text/css" rel="stylesheet" href="/s/{v.noise(f"{steady(v.host, v.deploy):x}")}-CDN/-/_/download/batch.css" data-wrm-batch-type="context"><script>window.WRM=window.WRM||{{}};WRM._unparsedData["user-key"]="{v.token(16)}";</script></head>
<body id="jira" class="aui-layout aui-style-default page-type-split" data-version="8.20.10"><div id="page"><header id="header" role="banner">{note}<nav class="aui-header aui-dropdown2-trigger-group"><ul class="aui-nav">{nav}</ul><form action="/secure/QuickSearch.jspa" id="quicksearch"><input type="hidden" name="atl_token" value="{token}"><input type="text" placeholder="Search"></form></nav></header>
<section id="content" role="main"><div id="issue-content" class="issue-edit-form"><header id="stalker" class="issue-header"><ol class="aui-nav aui-nav-breadcrumbs"><li><a id="project-name-val" href="/browse/PIP">Pipeline</a></li><li><a class="issue-link" id="key-val" href="{page.path}">PIP-{100 + page.number}</a></li></ol><h1 id="summary-val">{esc(page.title)}</h1><div class="command-bar"><a class="aui-button toolbar-trigger" href="/secure/AddComment!default.jspa?id={page.number}&amp;atl_token={token}">{v.button("Add comment", "Comment")}</a></div></header>
<div class="issue-body-content"><div class="aui-group issue-body"><div class="aui-item issue-main-column"><div id="details-module" class="module toggle-wrap"><h4 class="toggle-title">Details</h4><ul id="issuedetails" class="property-list two-cols">{pairs}</ul></div><div id="descriptionmodule" class="module toggle-wrap"><h4 class="toggle-title">Description</h4><div id="description-val" class="field-ignore-highlight editable-field inactive"><div class="user-content-block">
{body}
</div></div></div><div id="activitymodule" class="module"><h4 class="toggle-title">Activity</h4><div class="tabwrap"><ul class="tabs"><li>All</li><li class="active">Comments</li><li>History</li></ul></div><div id="issue_actions_container">{_jira_comment(v, page.posts[0])}{comments}</div></div></div>
<div class="aui-item issue-side-column"><div id="peoplemodule" class="module"><h4>People</h4>{people}</div><div id="datesmodule" class="module"><h4>Dates</h4><dl class="dates"><dt>Created:</dt><dd class="date user-tz">{_livestamp(v, page.born)}</dd></dl><dl class="dates"><dt>Updated:</dt><dd class="date user-tz">{_livestamp(v, page.modified)}</dd></dl></div><div id="linkingmodule" class="module"><h4>Suggested issues</h4><dl class="links-list">{alike}</dl></div><div class="module">{sprint}</div></div></div></div></div></section>
<footer id="footer" role="contentinfo"><section class="footer-body"><ul><li>{v.footer()}</li><li id="footer-build-information">(v8.20.10#820010-sha1:{steady(v.host) % 16**7:07x})</li></ul><p id="jira-request">{v.noise(f"{v.between(100, 999)}x{v.between(10**5, 10**6)}x{v.between(1, 4)}")}</p></section></footer></div></body></html>"""


def _asset_row(v: View, block: Block) -> str:
    size = 1 + steady(block.href, "size") % 900 / 10
    got = v.count("dl" + block.href, start=9000, per_day=60)
    return f'<li class="item"><a class="tw-flex-1 flex-text-inline tw-font-bold" target="_blank" href="/attachments/{block.href}" rel="nofollow"><svg class="svg octicon-package" width="16" height="16"></svg> <strong>{esc(block.text)}</strong></a> <div class="attachment-right-info"><span class="ui text grey" data-tooltip-content="{v.grouped(got)} 次下載">{size:.1f} MiB</span></div></li>'


def _release_line(v: View, entry: Entry) -> str:
    tag = f"v{entry.key // 1000}.{entry.key % 1000}"
    return f"""<li class="ui grid"><div class="ui four wide column meta"><a class="muted" href="/tea/pot/src/tag/{tag}" rel="nofollow"><svg class="svg octicon-tag"></svg> {tag}</a> <a class="ui label blue">{esc(entry.fields["狀態"])}</a></div><div class="ui twelve wide column detail"><h4 class="release-list-title"><a href="/tea/pot/releases/tag/{tag}">{esc(entry.title)}</a></h4><p class="text grey"><span class="author">{esc(v.tongue.names[entry.key % 6])}</span> 發布於 <relative-time class="time-since" prefix="" tense="past" datetime="{v.when(entry.born, "%Y-%m-%dT%H:%MZ")}">{v.noise(v.age(entry.born))}</relative-time> | <span class="ahead"><a href="/tea/pot/compare/{tag}...main">{v.count("ahead" + tag, start=400, per_day=4)} 次提交</a> 自此版本到 main</span></p><div class="markup desc"><p>{esc(entry.summary)}</p></div></div></li>"""


def gitea(v: View) -> str:
    """Write the releases of a project as Gitea does: commits since the release, downloads, stars, times of rendering."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<a class="item" href="{h}">{m}</a>' for m, h in v.menu())
    csrf = v.word(43)
    if page.shape == "list":
        main = f'<h1 class="ui header">{esc(page.title)}</h1><ul id="release-list">{"".join(_release_line(v, e) for e in page.entries)}</ul>'
    else:
        body = v.body(
            file=lambda b: f'<ul class="list attachment-list">{_asset_row(v, b)}</ul>',
            h2=lambda b: f'<h2 id="user-content-{steady(b.text) % 9999}">{esc(b.text)}</h2>',
            pre=lambda b: (
                f'<div class="code-block-container"><pre class="code-block"><code class="chroma language-toml">{esc(chr(10).join(b.items))}</code></pre></div>'
            ),
        )
        facts = "".join(f'<span class="ui label" title="{k}">{k}：{esc(x)}</span>' for k, x in f.items())
        faces = "".join(
            f'<a class="ui label basic" data-reaction-content="{n}"><span class="reaction">{e}</span> <span class="reaction-count">{v.count(n, start=9, per_day=0.3)}</span></a>'
            for n, e in (("+1", "👍"), ("rocket", "🚀"), ("eyes", "👀"))
        )
        main = f"""<div class="release-entry"><h1 class="release-list-title">{esc(page.title)}</h1><div class="release-meta">{facts}</div><p class="text grey">發布於 <relative-time datetime="{v.when(page.born, "%Y-%m-%dT%H:%MZ")}">{v.age(page.born)}</relative-time>，之後 main 上有 <a href="/compare">{v.count("ahead", start=400, per_day=4)} 次提交</a></p><div class="markup desc">
{body}
</div><div class="bottom-reactions">{faces}</div></div>"""
    flash = f'<div class="ui info message flash-message"><p>{v.notice()}</p></div>' if v.notice() else ""
    feed = "".join(
        f'<div class="flex-item"><a href="{p.path}">{esc(p.title)}</a> <span class="time-since">{v.age(p.born)}</span></div>'
        for p in v.recent(3)
    )
    return f"""<!DOCTYPE html><html lang="zh-TW" data-theme="gitea-auto"><head><meta charset="utf-8"><title>{esc(page.title)} - tea/pot</title><link rel="stylesheet" href="{v.asset("/assets/css/index.css")}"><script>window.config={{csrfToken:'{csrf}',runModeIsProd:true}};</script></head>
<body hx-headers='{{"x-csrf-token":"{csrf}"}}'><div class="full height"><nav id="navbar" aria-label="導覽列"><div class="navbar-left">{nav}</div></nav><div role="main" class="page-content repository releases"><div class="secondary-nav"><div class="ui container"><div class="repo-header"><div class="flex-item-title"><a class="muted" href="/tea">tea</a>/<a class="muted" href="/tea/pot">pot</a></div><form class="flex-text-block" action="/tea/pot/action/star" method="post"><input type="hidden" name="_csrf" value="{csrf}"><button class="ui compact small basic button">{v.button("星標", "加星標")}</button><a class="ui basic label" href="/tea/pot/stars">{v.brief(v.count("stars", start=2000, per_day=3))}</a><a class="ui basic label" href="/tea/pot/forks">{v.count("forks", start=300, per_day=0.5)}</a></form></div></div></div>
<div class="ui container">{flash}{main}</div><div class="ui container feeds">{feed}</div></div></div><footer class="page-footer" role="group"><div class="left-links">{v.footer()} 版本：1.21.{3 + (0 if v.quiet else v.deploy)} 頁面：<strong>{v.between(3, 90)}ms</strong> 模板：<strong>{v.between(1, 20)}ms</strong></div></footer><script src="{v.asset("/assets/js/index.js")}"></script></body></html>"""


def minerva(v: View) -> str:
    """Write an article as MediaWiki's mobile skin does: collapsible sections and a bar that names the last editor."""
    page = v.page
    nav = "".join(
        f'<li class="toggle-list-item"><a class="toggle-list-item__anchor menu__item--{i}" href="{h}"><span class="minerva-icon"></span><span class="toggle-list-item__label">{m}</span></a></li>'
        for i, (m, h) in enumerate(v.menu())
    )
    section = iter(range(1, 99))

    def heading(block: Block) -> str:
        at = next(section)
        return f'</section><div class="mw-heading mw-heading2 section-heading" onclick="mfTempOpenSection({at})"><span class="indicator mf-icon mf-icon-expand mf-icon--small"></span><h2 id="{esc(block.text)}">{esc(block.text)}</h2><span class="mw-editsection"><a role="button" href="/w/index.php?title=x&amp;action=edit&amp;section={at}" title="Redigera avsnitt: {esc(block.text)}" class="cdx-button cdx-button--weight-quiet"><span class="minerva-icon minerva-icon--edit"></span><span>redigera</span></a></span></div><section class="mf-section-{at} collapsible-block" id="mf-section-{at}">'

    body = v.body(
        h2=heading,
        img=lambda b: (
            f'<figure class="mw-default-size" typeof="mw:File/Thumb"><a href="/wiki/Fil:{b.href}.jpg" class="mw-file-description"><img src="//upload.test/thumb/{b.href}.jpg/220px-{b.href}.jpg" decoding="async" width="220" height="147" class="mw-file-element"></a><figcaption>{esc(b.text)}</figcaption></figure>'
        ),
        table=lambda b: f'<table class="wikitable sortable"><tbody>{v.rows(b)}</tbody></table>',
    )
    facts = "".join(
        f'<tr><th scope="row" class="infobox-label">{k}</th><td class="infobox-data">{esc(x)}</td></tr>'
        for k, x in page.fields.items()
    )
    banner = v.noise(
        f'<div id="siteNotice"><div id="centralNotice" class="cn-campaign-{v.between(1, 9)}">{v.pick(v.tongue.adverts)} <a href="//donate.test/?utm_key={v.between(1, 9)}">Visa</a></div></div>'
        if v.maybe(0.35)
        else ""
    )
    note = f'<div class="cdx-message cdx-message--notice">{v.notice()}</div>' if v.notice() else ""
    edited = v.noise(
        f'<a class="last-modified-bar" href="/wiki/Special:Historik/x"><span class="last-modified-bar__text modified-enhancement" data-user-name="{esc(v.pick(v.tongue.names))}" data-timestamp="{int(1738569600 + page.modified * 3600)}"><span>Senast redigerad {v.age(page.modified)} av {esc(v.tongue.names[page.revision % 7])}</span></span></a>'
    )
    read_more = "".join(
        f'<li class="ext-related-articles-card"><a href="{p.path}"><h3>{esc(p.title)}</h3><p class="extract">{esc(v.prose.phrase(v.rng))}</p></a></li>'
        for p in v.others(3)
    )
    return f"""<!DOCTYPE html><html class="client-nojs mf-expand-sections-clientpref-0" lang="sv" dir="ltr"><head><meta charset="UTF-8"><title>{esc(page.title)} – Wiki</title><script>RLCONF={{"wgRequestId":"{v.token(8)}-{v.token(4)}","wgRevisionId":{v.noise(str(900000 + page.revision)) or 0},"wgBackendResponseTime":{v.between(80, 900)}}};</script><link rel="stylesheet" href="/w/load.php?lang=sv&amp;modules=skins.minerva.styles&amp;version={v.noise(f"{steady(v.host, v.deploy):x}")}"></head>
<body class="mediawiki ltr skin-minerva stable"><div id="mw-mf-viewport"><div id="mw-mf-page-center"><header class="header-container header-chrome"><form class="header" action="/w/index.php" method="get"><nav class="navigation-drawer"><ul class="toggle-list__list">{nav}</ul></nav><button class="search-toggle">{v.button("Sök", "Sök på webbplatsen")}</button></form></header><main id="content" class="mw-body">{banner}{note}<div class="pre-content heading-holder"><div class="page-heading"><h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{esc(page.title)}</span></h1><div class="tagline"></div></div></div>
<div id="bodyContent" class="content"><div id="mw-content-text" class="mw-body-content"><div class="mw-content-ltr mw-parser-output" lang="sv" dir="ltr"><section class="mf-section-0" id="mf-section-0"><table class="infobox"><tbody>{facts}</tbody></table>
{body}
</section></div><!-- Saved in parser cache with key wiki:pcache:idhash:{page.number} and timestamp {v.clock("%Y%m%d%H%M%S")} --></div></div><div class="post-content"><div class="read-more-container"><ul>{read_more}</ul></div></div></main><footer class="mw-footer minerva-footer">{edited}<div class="post-content footer-content"><p>{v.footer()}</p><ul id="footer-info"><li>Sidan lästes in {v.clock("%H.%M")}.</li></ul></div></footer></div></div></body></html>"""


def _toot(v: View, post: Post, *, top: bool) -> str:
    ident = 109500000000000000 + post.key * 7919
    bar = f'<div class="status__action-bar"><a class="status__action-bar-button icon-button modal-button" href="/interact/{ident}?type=reply"><span class="status__action-bar__counter__label">{v.between(0, 4)}</span></a><a class="icon-button" href="/interact/{ident}?type=reblog">{v.count(f"b{post.key}", start=30, per_day=0.7)}</a><a class="icon-button" href="/interact/{ident}?type=favourite">{v.count(f"f{post.key}", start=70, per_day=1.4)}</a></div>'
    pinned = (
        '<div class="status__prepend"><i class="fa fa-thumb-tack fa-fw"></i> Vastgemaakt bericht</div>' if top else ""
    )
    return f"""<div class="entry h-entry"><div class="status">{pinned}<div class="status__info"><a class="status__relative-time u-url u-uid" rel="noopener" href="/@x/{ident}"><time class="time-ago" datetime="{v.when(post.born, "%Y-%m-%dT%H:%M:%SZ")}" title="{v.when(post.born, "%d %B %Y, %H:%M")}">{v.noise(v.short_age(post.born))}</time></a><a class="status__display-name u-author h-card" href="/{esc(post.author)}"><span class="display-name"><bdi><strong class="display-name__html p-name emojify">{esc(post.author)}</strong></bdi></span></a></div><div class="status__content emojify"><div class="e-content" lang="nl"><p>{v.text(post.sentences)}</p></div></div>{bar}</div></div>"""


def mastodon(v: View) -> str:
    """Write a public profile as Mastodon's server-rendered pages do; counters of followers, boosts and replies move."""
    page = v.page
    nav = "".join(f'<a class="column-link" href="{h}">{m}</a>' for m, h in v.menu())
    fields = "".join(
        f'<dl><dt class="emojify">{k}</dt><dd class="emojify" title="{esc(x)}">{esc(x)}</dd></dl>'
        for k, x in page.fields.items()
    )
    stats = "".join(
        f'<div class="counter" title="{v.grouped(v.count(k, start=3000, per_day=d))}"><span class="counter-number">{v.brief(v.count(k, start=3000, per_day=d))}</span> <span class="counter-label">{k}</span></div>'
        for k, d in (("Berichten", 3), ("Volgend", 0.4), ("Volgers", 6))
    )
    tags = "".join(
        f'<div class="directory__tag"><a href="/tags/{t}"><h4>#{t}<small>{v.between(2, 90)} mensen praten hierover</small></h4></a></div>'
        for t in v.some(v.prose.slots["thing"], 3)
    )
    who = "".join(
        f'<li class="account"><a href="/{esc(n)}">{esc(n)}</a> <span>{v.pick(("nu actief", "vandaag actief", "3 d geleden actief"))}</span></li>'
        for n in v.some(v.tongue.names, 3)
    )
    toots = "".join(_toot(v, p, top=i == 0) for i, p in enumerate(page.posts))
    note = f'<div class="flash-message notice">{v.notice()}</div>' if v.notice() else ""
    bio = v.body()
    return f"""<!DOCTYPE html><html lang="nl"><head><meta charset="utf-8"><meta name="csrf-token" content="{v.word(86)}"><title>{esc(page.title)} - buurt.test</title><link rel="stylesheet" media="all" href="/packs/css/common-{v.noise(f"{steady(v.host, v.deploy):08x}")}.css"><script id="initial-state" type="application/json">{{"meta":{{"streaming_api_base_url":"wss://buurt.test","version":"3.5.{0 if v.quiet else v.deploy}"}}}}</script><style nonce="{v.word(22)}">:root{{--x:1}}</style></head>
<body class="theme-default no-reduce-motion"><div class="public-layout"><div class="container"><nav class="header"><div class="nav-left">{nav}</div><div class="nav-right"><a class="webapp-btn nav-link" href="/auth/sign_in">{v.button("Inloggen", "Aanmelden")}</a></div></nav></div><div class="container">{note}<div class="grid"><div class="column-0"><div class="h-feed"><div class="public-account-header"><div class="public-account-header__bar"><h1 class="public-account-header__tabs__name">{esc(page.title)}</h1><div class="details-counters">{stats}</div></div></div><div class="public-account-bio"><div class="account__header__fields">{fields}</div><div class="account__header__content emojify">
{bio}
</div></div><div class="activity-stream activity-stream--under-tabs">{toots}</div></div></div><div class="column-1"><div class="endorsements-widget"><h4>Trending nu</h4>{tags}<h4>Misschien ken je</h4><ul>{who}</ul></div></div></div></div><div class="container"><div class="footer"><p>{v.footer()}</p></div></div></div></body></html>"""


def courseleaf(v: View) -> str:
    """Write a course as an online catalogue of a university does; on the side, the live state of seats elsewhere."""
    page, f = v.page, v.page.fields
    nav = "".join(f'<li class="isparent"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    facts = "".join(f'<p class="courseblockextra noindent"><strong>{k}:</strong> {esc(x)}</p>' for k, x in f.items())
    body = v.body(
        table=lambda b: f'<table class="sc_courselist sc_plangrid" width="100%"><tbody>{v.rows(b)}</tbody></table>',
        dl=lambda b: "".join(
            f'<div class="courseblock"><p class="courseblocktitle noindent"><strong>{esc(t)}</strong></p><p class="courseblockdesc noindent">{v.inline(d)}</p></div>'
            for t, d in b.rows
        ),
    )
    term = v.noise(
        f'<div class="term-clock">Registration week {1 + int(v.now / 168) % 12}: closes in {v.between(0, 6)} days {v.between(0, 23)} hours</div>'
    )
    shuttle = v.noise(
        f'<div class="shuttle">Next shuttle: {v.clock("%H")}:{v.between(10, 59)} · Library: {v.between(5, 98)}% full</div>'
    )
    seen = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.others(4))
    note = f'<div class="emergency-banner" role="alert">{v.notice()}</div>' if v.notice() else ""
    return f"""<!doctype html><html class="no-js" xml:lang="en" lang="en" dir="ltr"><head><meta http-equiv="X-UA-Compatible" content="IE=Edge" /><title>{esc(page.title)} &lt; Catalogue 2025-2026</title><link href="{v.asset("/css/courseleaf.css")}" rel="stylesheet" type="text/css" /></head>
<body>{note}<header id="header"><a href="/" class="logo">Catalogue 2025-2026</a><form action="/search/" role="search"><input name="search" placeholder="Search catalogue"><button>{v.button("Search", "Find a course")}</button></form>{term}</header><div id="content-container"><nav id="cl-menu"><ul class="nav levelzero">{nav}</ul></nav><main id="contentarea"><div class="page-content"><h1 class="page-title">{esc(page.title)}</h1><div id="textcontainer" class="page_content">
{facts}{body}
</div></div></main><aside class="rail">{shuttle}<h3>Students also viewed</h3><ul>{seen}</ul></aside></div><footer id="footer"><p>{v.footer()}</p><p class="print">Print Options: generated {v.clock("%m/%d/%Y %I:%M %p")}</p></footer></body></html>"""


def museum(v: View) -> str:
    """Write an object of a collection: hardly any noise but the object of the day, a shuffled shelf and session ids."""
    page = v.page
    sid = v.noise(f";jsessionid={v.token(32).upper()}")
    nav = "".join(f'<li><a href="{h}{sid}">{m}</a></li>' for m, h in v.menu())
    facts = "".join(
        f'<div class="detailField {k.lower().replace(" ", "")}Field"><span class="detailFieldLabel">{k}: </span><span class="detailFieldValue">{esc(x)}</span></div>'
        for k, x in page.fields.items()
    )
    body = v.body(
        p=lambda b: f'<div class="detailField toggleField"><span class="toggleContent">{v.text(b.items)}</span></div>',
        h2=lambda b: f'<span class="toggleLabel detailFieldLabel">{esc(b.text)}</span>',
        img=lambda b: (
            f'<div class="emuseum-img-wrap"><img src="/internal/media/dispatcher/{b.href}/preview" alt="{esc(b.text)}"><div class="caption">{esc(b.text)}</div></div>'
        ),
    )
    shelf = "".join(
        f'<div class="grid-item"><a href="{p.path}{sid}" title="{esc(p.title)}">{esc(p.title)}</a></div>'
        for p in v.others(4)
    )
    today = (
        v.noise(f'<div class="ootd"><h4>Object of the day</h4><p>{esc(v.prose.title(v.rng))}</p></div>')
        if v.maybe(0.8)
        else ""
    )
    note = f'<div class="alertBar">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} – Objects – Collection</title><link rel="stylesheet" href="/static/css/emuseum{v.noise(f"-{v.deploy}")}.css"></head>
<body class="emuseum-detail"><header><nav><ul>{nav}</ul></nav><form action="/search/"><input type="search"><button>{v.button("Go", "Search the collection")}</button></form></header>{note}<main id="emuseum-detail-container"><div class="emuseum-detail-data"><h1 class="titleField">{esc(page.title)}</h1>{facts}
{body}
</div></main><section class="related"><h3>Also in the collection</h3>{shelf}</section>{today}<footer>{v.footer()}</footer></body></html>"""


def _code(rng: Random) -> str:
    return f"{rng.choice(('GEO', 'LAW', 'MUS', 'BIO', 'CSC'))} {rng.randint(101, 499)}"


KINDS = (
    Kind(
        "jira",
        jira,
        SOFTWARE,
        ENGLISH,
        "/browse/PIP-{n}",
        Layout(
            "p p pre p ul",
            fields=("Status", "Priority", "Resolution", "Assignee", "Fix Version", "Labels"),
            posts=(1, 7),
        ),
        makers={
            "Status": lambda r: r.choice(("Open", "In Progress", "Resolved", "Closed", "Reopened", "Patch Available")),
            "Priority": lambda r: r.choice(("Blocker", "Critical", "Major", "Minor", "Trivial")),
            "Resolution": lambda r: r.choice(("Unresolved", "Fixed", "Won't Fix", "Duplicate", "Cannot Reproduce")),
            "Assignee": lambda r: r.choice(ENGLISH.names),
            "Fix Version": lambda r: f"{r.randint(1, 4)}.{r.randint(0, 19)}.{r.randint(0, 9)}",
            "Labels": lambda r: r.choice(("newbie", "performance", "docs", "regression", "security")),
        },
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "gitea",
        gitea,
        CODE_ZH,
        TAIWANESE,
        "/tea/pot/releases/tag/{slug}",
        Layout("p h2 ul p h2 ul pre file file file", fields=("狀態", "提交")),
        Layout(entries=(5, 10)),
        4,
        makers={
            "狀態": lambda r: r.choice(("穩定版", "預發布", "草稿", "已撤回")),
            "提交": lambda r: f"{r.getrandbits(40):010x}",
        },
        entry_makers={"狀態": lambda r: r.choice(("穩定版", "預發布", "已撤回"))},
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "minerva",
        minerva,
        LAKES_SV,
        SWEDISH,
        "/wiki/{slug}",
        Layout(
            "p img p h2 p ul h2 p table p h2 ul",
            fields=("Folkmängd", "Areal", "Län"),
            header=("År", "Händelse", "Antal"),
        ),
        makers={
            "Folkmängd": lambda r: f"{r.randint(1, 90)} {r.randint(100, 999)}",
            "Areal": lambda r: f"{r.randint(2, 900)},{r.randint(1, 9)} km²",
            "Län": lambda r: r.choice(("Dalarna", "Skåne", "Jämtland", "Blekinge", "Halland", "Uppsala")),
            "row": lambda r: f"{r.randint(1650, 2020)}|{LAKES_SV.title(r)}|{r.randint(2, 9000)}",
        },
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "mastodon",
        mastodon,
        RADIO_NL,
        DUTCH,
        "/@u{n}",
        Layout("p", fields=("Website", "Woonplaats", "Voornaamwoorden"), posts=(3, 9)),
        makers={
            "Website": lambda r: f"https://{r.choice(('dijk', 'haring', 'sloot', 'carillon'))}{r.randint(2, 99)}.test",
            "Woonplaats": lambda r: r.choice(RADIO_NL.slots["place"]),
            "Voornaamwoorden": lambda r: r.choice(("zij/haar", "hij/hem", "die/diens", "maakt niet uit")),
        },
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "courseleaf",
        courseleaf,
        COURSES,
        ENGLISH,
        "/courses/{slug}/",
        Layout(
            "p p h2 ul p h2 table p dl file",
            fields=("Course code", "Credits", "Prerequisite", "Offered", "Instructor"),
            header=("Week", "Subject", "Reading"),
        ),
        makers={
            "Course code": _code,
            "Credits": lambda r: f"{r.randint(1, 12)} credits",
            "Prerequisite": lambda r: f"{_code(r)} or {_code(r)}",
            "Offered": lambda r: r.choice(("Autumn", "Spring", "Autumn and Spring", "Every other year", "On demand")),
            "Instructor": lambda r: r.choice(("P. Osei", "G. Lindgren", "C. Marchetti", "To be announced", "A. Roy")),
        },
        more_edits=FOURTH_EDITS,
    ),
    Kind(
        "museum",
        museum,
        MUSEUM,
        ENGLISH,
        "/objects/{n}/{slug}",
        Layout("img p h2 p h2 p", fields=("Maker", "Date", "Medium", "Dimensions", "On view", "Accession number")),
        makers={
            "Maker": lambda r: r.choice(("Unknown", "Attributed to Elias Holl", "Workshop of J. Pirk", "A. Benedetti")),
            "Date": lambda r: f"{r.choice(('about', 'before', 'after'))} {r.randint(1480, 1890)}",
            "Medium": lambda r: f"{r.choice(MUSEUM.slots['stuff'])}, {r.choice(MUSEUM.slots['stuff'])}",
            "Dimensions": lambda r: f"{r.randint(3, 90)}.{r.randint(1, 9)} × {r.randint(3, 90)}.{r.randint(1, 9)} cm",
            "On view": lambda r: r.choice(("Not on view", "Gallery 12", "Gallery 7", "On loan", "In conservation")),
            "Accession number": lambda r: f"{r.randint(1870, 2020)}.{r.randint(1, 400)}",
        },
        rate=0.15,
        more_edits=FOURTH_EDITS,
    ),
)
