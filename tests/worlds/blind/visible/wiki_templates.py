"""Wikis: MediaWiki with the Vector skin, and DokuWiki with its default template."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

import re

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Block
from tests.worlds.blind.prose import SCIENCE, SOFTWARE
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc


def _anchor(text: str) -> str:
    return re.sub(r"\W+", "_", text)


def _wiki_heading(v: View, block: Block) -> str:
    name = esc(block.text)
    return (
        f'<h2><span class="mw-headline" id="{_anchor(block.text)}">{name}</span><span class="mw-editsection">'
        f'<span class="mw-editsection-bracket">[</span><a href="/index.php?title={v.page.number}&amp;action=edit" '
        f'title="Edit section: {name}">edit</a><span class="mw-editsection-bracket">]</span></span></h2>'
    )


def _thumb(v: View, block: Block) -> str:
    return (
        f'<div class="thumb tright"><div class="thumbinner" style="width:222px;"><a href="/wiki/File:{block.href}.jpg" '
        f'class="image"><img alt="" src="/images/thumb/{block.href}.jpg/220px-{block.href}.jpg" decoding="async" '
        f'class="thumbimage" /></a><div class="thumbcaption"><div class="magnify"><a href="/wiki/File:{block.href}.jpg" '
        f'class="internal" title="Enlarge"></a></div>{esc(block.text)}</div></div></div>'
    )


def _wiki_toc(v: View) -> str:
    heads = [b.text for b in v.page.blocks if b.kind == "h2"]
    lines = "\n".join(
        f'<li class="toclevel-1 tocsection-{i}"><a href="#{_anchor(h)}"><span class="tocnumber">{i}</span> '
        f'<span class="toctext">{esc(h)}</span></a></li>'
        for i, h in enumerate(heads, 1)
    )
    return f'<div id="toc" class="toc" role="navigation"><h2 id="mw-toc-heading">Contents</h2><ul>{lines}</ul></div>'


def _infobox(v: View) -> str:
    rows = "".join(f"<tr><th scope='row'>{esc(k.title())}</th><td>{esc(x)}</td></tr>" for k, x in v.page.fields.items())
    return (
        f'<table class="infobox vcard"><tbody><tr><th colspan="2">{esc(v.page.title)}</th></tr>{rows}</tbody></table>'
    )


def _portlets(v: View) -> str:
    nav = "".join(
        f'<li id="n-{i}" class="mw-list-item"><a href="{h}">{m}</a></li>' for i, (m, h) in enumerate(v.menu())
    )
    recent = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a> ({v.age(p.modified)})</li>' for p in v.recent(4))
    box = (
        f'<nav id="p-recent" class="vector-menu mw-portlet"><h3>Recently changed</h3><ul>{recent}</ul></nav>'
        if v.opt("recent box")
        else ""
    )
    return (
        '<div id="mw-panel"><div id="p-logo" role="banner"><a class="mw-wiki-logo" href="/wiki/Main_Page"></a></div>'
        f'<nav id="p-navigation" class="mw-portlet vector-menu"><h3><span>Navigation</span></h3><ul>{nav}</ul></nav>'
        f'{v.noise(box)}<nav id="p-tb" class="mw-portlet"><h3>Tools</h3><ul><li><a href="/wiki/Special:WhatLinksHere/'
        f'{v.page.number}">What links here</a></li><li><a href="/index.php?oldid={v.page.revision}">'
        f"{v.button('Permanent link', 'Permalink to this revision')}</a></li></ul></nav></div>"
    )


def mediawiki(v: View) -> str:
    """Write an article as MediaWiki does with Vector (2010)."""
    page, title = v.page, esc(v.page.title)
    cpu = f"0.{v.between(100, 999)}"
    edited = v.when(page.modified, "%-d %B %Y, at %H:%M")
    notice = f'<div id="localNotice"><p>{v.notice()}</p></div>' if v.notice() else ""
    banner = '<div id="centralNotice"><p>Dear readers, please donate today.</p></div>' if v.maybe(0.3) else ""
    seen = f'<li id="footer-info-viewcount">This page has been accessed {v.grouped(v.count("views", start=90000, per_day=150))} times.</li>'
    did = v.noise("".join(f"<li>... that {esc(v.prose.sentence(v.rng))[:-1].lower()}?</li>" for _ in range(2)))
    fact = f'<div class="mp-box noprint"><b>Did you know ...</b><ul>{did}</ul></div>' if v.opt("facts", 0.4) else ""
    body = v.body(
        h2=lambda b: _wiki_heading(v, b),
        img=lambda b: _thumb(v, b),
        table=lambda b: f'<table class="wikitable sortable"><tbody>{v.rows(b)}</tbody></table>',
    )
    return f"""<!DOCTYPE html>
<html class="client-nojs" lang="en" dir="ltr">
<head><meta charset="UTF-8"/><title>{title} - Fieldwiki</title>
<script>document.documentElement.className="client-js";RLCONF={{"wgBreakFrames":false,"wgRequestId":"{v.word(22)}","wgCurRevisionId":{page.revision},"wgArticleId":{page.number}}};RLSTATE={{"site.styles":"ready"}};</script>
<link rel="stylesheet" href="{v.asset("/load.php?modules=skins.vector.styles.legacy&amp;only=styles")}"/>
<meta name="generator" content="MediaWiki 1.39.4"/></head>
<body class="mediawiki ltr sitedir-ltr ns-0 ns-subject page-{page.number} skin-vector action-view skin-vector-legacy">
<div id="mw-page-base" class="noprint"></div><div id="mw-head-base" class="noprint"></div>
<div id="content" class="mw-body" role="main"><a id="top"></a><div id="siteNotice">{banner}{notice}</div>
<h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{title}</span></h1>
<div id="bodyContent" class="vector-body"><div id="siteSub" class="noprint">From Fieldwiki</div><div id="contentSub"></div>
<a class="mw-jump-link" href="#mw-head">Jump to navigation</a>
<div id="mw-content-text" class="mw-body-content mw-content-ltr" lang="en" dir="ltr"><div class="mw-parser-output">
{_infobox(v)}{_wiki_toc(v)}
{body}
{v.noise(fact)}
<!--
NewPP limit report
Cached time: {v.clock("%Y%m%d%H%M%S")}
CPU time usage: {cpu} seconds
Real time usage: {cpu} seconds
Preprocessor visited node count: {v.between(100, 900)}/1000000
-->
</div><div class="printfooter">Retrieved from "<a dir="ltr" href="http://{v.host}/index.php?title={page.number}&amp;oldid={page.revision}">http://{v.host}/index.php?title={page.number}&amp;oldid={page.revision}</a>"</div></div>
<div id="catlinks" class="catlinks"><div id="mw-normal-catlinks" class="mw-normal-catlinks"><a href="/wiki/Special:Categories">Category</a>: <ul><li><a href="/wiki/Category:Nature">Nature</a></li></ul></div></div></div></div>
<div id="mw-navigation"><h2>Navigation menu</h2><div id="mw-head"><nav id="p-personal"><ul><li id="pt-anontalk"><a href="/wiki/Special:MyTalk">Talk</a></li><li id="pt-login"><a href="/index.php?title=Special:UserLogin&amp;returnto={page.number}&amp;wpLoginToken={v.token()}">Log in</a></li></ul></nav></div>
{_portlets(v)}</div>
<footer id="footer" class="mw-footer" role="contentinfo"><ul id="footer-info"><li id="footer-info-lastmod"> This page was last edited on {edited}.</li>{seen}<li id="footer-info-copyright">{v.footer()}</li></ul></footer>
<script>(RLQ=window.RLQ||[]).push(function(){{mw.config.set({{"wgPageParseReport":{{"limitreport":{{"cputime":"{cpu}","walltime":"{cpu}"}},"cachereport":{{"origin":"mw{v.between(1, 40)}"}}}}}});mw.config.set({{"wgBackendResponseTime":{v.between(80, 900)},"wgHostname":"web-{v.between(1, 8)}"}});}});</script>
</body></html>"""


def _doku_sections(v: View) -> str:
    return v.body(
        h2=lambda b: (
            f'</div><h2 class="sectionedit2" id="{_anchor(b.text).lower()}">{esc(b.text)}</h2><div class="level2">'
        ),
        p=lambda b: f"<p>\n{v.text(b.items)}\n</p>",
        ul=lambda b: (
            "<ul>"
            + "\n".join(f'<li class="level1"><div class="li"> {v.inline(i)}</div>\n</li>' for i in b.items)
            + "</ul>"
        ),
        ol=lambda b: (
            "<ol>"
            + "\n".join(f'<li class="level1"><div class="li"> {v.inline(i)}</div>\n</li>' for i in b.items)
            + "</ol>"
        ),
        pre=lambda b: '<pre class="code">' + esc("\n".join(b.items)) + "</pre>",
        table=lambda b: f'<div class="table sectionedit3"><table class="inline">{v.rows(b)}</table></div>',
        file=lambda b: (
            f'<p><a href="/_media/{b.href}" class="media mediafile mf_pdf" title="{b.href}">{esc(b.text)}</a></p>'
        ),
        img=lambda b: (
            f'<p><a href="/_detail/{b.href}.png" class="media"><img src="/_media/{b.href}.png?w=300&amp;tok={b.href[-4:]}" class="media" alt="" /></a></p>'
        ),
    )


def dokuwiki(v: View) -> str:
    """Write a page as DokuWiki does with its default template."""
    page, title = v.page, esc(v.page.title)
    name = page.path.strip("/")
    trail = [*v.others(v.between(0, 4)), page]
    trace = " <span class='bcsep'>•</span> ".join(
        f'<bdi><a href="{p.path}" class="breadcrumbs">{esc(p.path[1:])}</a></bdi>' for p in trail
    )
    nav = "".join(
        f'<li class="level1"><div class="li"><a href="{h}" class="wikilink1">{m}</a></div></li>' for m, h in v.menu()
    )
    info = v.when(page.modified, "%Y/%m/%d %H:%M")
    note = f'<div class="notify">{v.notice()}</div>' if v.notice() else ""
    locked = f" · Currently locked by: {v.pick(v.tongue.names)}" if v.maybe(0.2) else ""
    return f"""<!DOCTYPE html>
<html lang="en" dir="ltr" class="no-js"><head><meta charset="utf-8" /><title>{name} [Admin notes]</title>
<meta name="generator" content="DokuWiki"/><link rel="stylesheet" type="text/css" href="/lib/exe/css.php?t=dokuwiki&amp;tseed={v.token(32)}"/>
<script>var NS='tools';var JSINFO = {{"id":"{name}","namespace":"tools","sectok":"{v.token(32)}"}};</script></head>
<body><div id="dokuwiki__site"><div id="dokuwiki__top" class="site dokuwiki mode_show tpl_dokuwiki showSidebar hasSidebar">{note}
<header id="dokuwiki__header"><div class="pad group"><div class="headings group"><ul class="a11y skip"><li><a href="#dokuwiki__content">skip to content</a></li></ul>
<h1 class="logo"><a href="/start" accesskey="h"><img src="/lib/tpl/dokuwiki/images/logo.png" width="64" height="64" alt="" /> <span>Admin notes</span></a></h1></div>
<div class="tools group"><div id="dokuwiki__usertools"><h3 class="a11y">User Tools</h3><ul><li class="action login"><a href="/{name}?do=login&amp;sectok={v.token()}" rel="nofollow"><span>Log In</span></a></li></ul></div>
<div id="dokuwiki__sitetools"><ul><li class="action recent"><a href="/{name}?do=recent">{v.button("Recent Changes", "What's new")}</a></li><li class="action media"><a href="/{name}?do=media&amp;ns=tools">Media Manager</a></li></ul></div></div>
<div class="breadcrumbs"><div class="trace"><span class="bchead">Trace:</span> {v.noise(trace)}</div></div><hr class="a11y" /></div></header>
<div class="wrapper group"><nav id="dokuwiki__aside" aria-label="Sidebar"><div class="pad aside include group"><h3 class="toggle">Sidebar</h3><div class="content"><div class="group"><ul>{nav}</ul></div></div></div></nav>
<main id="dokuwiki__content"><div class="pad group"><div class="pageId"><span>{name}</span></div><div class="page group">
<!-- wikipage start -->
<h1 class="sectionedit1" id="top">{title}</h1><div class="level1">
{_doku_sections(v)}
</div>
<!-- wikipage stop --></div><div class="docInfo"><bdi>{name}.txt</bdi> · Last modified: <time datetime="{info}">{info}</time> by <bdi>admin</bdi>{locked}</div><hr class="a11y" /></div></main></div>
<footer id="dokuwiki__footer"><div class="pad"><div class="license">{v.footer()}</div></div></footer></div></div>
<div class="no"><img src="/lib/exe/taskrunner.php?id={name}&amp;{v.between(10**9, 2 * 10**9)}" width="2" height="1" alt="" /></div></body></html>"""


KINDS = (
    Kind(
        "mediawiki",
        mediawiki,
        SCIENCE,
        ENGLISH,
        "/wiki/{slug}",
        Layout("p p h2 p img p h2 ul p h2 table", fields=("height", "status"), header=("Year", "Site", "Count")),
        makers={
            "height": lambda r: f"{r.randint(120, 3900)} m",
            "status": lambda r: r.choice(("endangered", "protected", "common", "unknown")),
            "row": lambda r: f"{r.randint(1890, 2023)}|{r.choice(SCIENCE.slots['place'])}|{r.randint(3, 800)}",
        },
    ),
    Kind(
        "dokuwiki",
        dokuwiki,
        SOFTWARE,
        ENGLISH,
        "/tools:{slug}",
        Layout("p h2 p ol pre h2 p table file h2 p ul img", header=("Option", "Default", "Since")),
        makers={
            "row": lambda r: (
                f"{r.choice(SOFTWARE.slots['value'])}|{r.randint(1, 600)}|{r.randint(1, 5)}.{r.randint(0, 12)}"
            )
        },
    ),
)
