"""Held: GitLab, Trac, Reddit, HyperKitty, Discuz in Chinese and a Korean board."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from tests.worlds.blind.held.held_prose import BOARD_KO, KOREAN, TALK_ZH
from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Post
from tests.worlds.blind.prose import COOKING, SOFTWARE, TOWN
from tests.worlds.blind.tongues import CHINESE, ENGLISH
from tests.worlds.blind.view import View, esc, steady


def _note(v: View, p: Post) -> str:
    thumbs = v.count(f"t{p.key}", start=12, per_day=0.5)
    award = (
        f'<button class="btn award-control"><gl-emoji data-name="thumbsup">👍</gl-emoji><span class="js-counter">{thumbs}</span></button>'
        if thumbs
        else ""
    )
    return f'<li id="note_{p.key}" class="timeline-entry note note-wrapper note-comment" data-note-id="{p.key}"><div class="timeline-avatar"><img src="/uploads/-/system/user/avatar/{steady(p.author) % 900}/avatar.png?width=48" alt="" class="gl-avatar"></div><div class="timeline-content"><div class="note-header"><a href="/{esc(p.author)}" class="author-name-link js-user-link"><span class="note-header-author-name">{esc(p.author)}</span></a> <span class="user-status">{v.noise(v.pick(("", "🌴", "🏠")))}</span> <a class="note-timestamp system-note-separator" href="#note_{p.key}"><time title="{v.when(p.born, "%B %-d, %Y %-I:%M%p")}" datetime="{v.when(p.born, "%Y-%m-%dT%H:%M:%SZ")}">{v.age(p.born)}</time></a></div><div class="note-body"><div class="note-text md"><p dir="auto">{v.text(p.sentences)}</p></div><div class="awards">{v.noise(award)}</div></div></div></li>'


def gitlab(v: View) -> str:
    """Write an issue as GitLab does."""
    page, f = v.page, v.page.fields
    notes = "\n".join(_note(v, p) for p in page.posts)
    nav = "".join(
        f'<li><a class="super-sidebar-nav-item gl-rounded-base" href="{h}"><span class="gl-truncate-end">{m}</span></a></li>'
        for m, h in v.menu()
    )
    note = (
        f'<div class="gl-broadcast-message broadcast-banner-message banner js-broadcast-notification-{v.between(1, 99)}"><div class="gl-broadcast-message-text">{v.notice()}</div></div>'
        if v.notice()
        else ""
    )
    body = v.body(
        p=lambda b: f'<p data-sourcepos="{v.between(1, 90)}:1-9:1" dir="auto">{v.text(b.items)}</p>',
        pre=lambda b: (
            '<div class="gl-relative markdown-code-block js-markdown-code"><pre class="code highlight js-syntax-highlight language-plaintext"><code>'
            + "\n".join(
                f'<span id="LC{i}" class="line" lang="plaintext">{esc(x)}</span>' for i, x in enumerate(b.items, 1)
            )
            + "</code></pre><copy-code></copy-code></div>"
        ),
        ul=lambda b: f'<ul class="task-list">{v.items(b)}</ul>',
        file=lambda b: (
            f'<p><a href="/uploads/{steady(b.href):012x}/{b.href}" data-link="true" class="gfm">{esc(b.text)}</a></p>'
        ),
    )
    side = "".join(
        f'<div class="block {k}"><div class="title">{k.title()}</div><div class="value">{esc(x)}</div></div>'
        for k, x in f.items()
        if k != "state"
    )
    return f"""<!DOCTYPE html><html class="gl-light ui-neutral with-top-bar" lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} (#{page.number}) · Issues · infra / courier · GitLab</title><meta name="csrf-param" content="authenticity_token"/><meta name="csrf-token" content="{v.word(86)}"/><meta name="csp-nonce" content="{v.word(24)}"/><link rel="stylesheet" href="/assets/application-{v.noise(f"{steady(v.host, v.deploy):012x}")}.css"/></head><body class="tab-width-8 gl-browser-generic" data-page="projects:issues:show" data-correlation-id="{v.word(26)}"><aside class="super-sidebar js-super-sidebar"><ul>{nav}</ul></aside>{note}<div class="layout-page"><div class="content-wrapper"><main class="content" id="content-body" itemscope><div class="issue-details issuable-details js-issue-details" data-noteable-count="{len(page.posts)}"><div class="detail-page-header"><span class="gl-badge badge badge-pill issuable-status-badge">{esc(f["state"])}</span> Issue created <time>{v.age(page.born)}</time> by <a href="/{esc(page.posts[0].author)}">{esc(page.posts[0].author)}</a> <button class="btn">{v.button("Edit title and description", "Edit issue")}</button></div><div class="detail-page-description content-block"><h1 class="title gl-heading-1">{esc(page.title)}</h1><div class="description md">
{body}
</div><small class="edited-text">Edited <time>{v.age(page.modified)}</time> by {esc(v.tongue.names[page.revision % 5])}</small></div></div><ul id="notes-list" class="notes main-notes-list timeline">{notes}</ul></main></div></div><aside class="right-sidebar right-sidebar-expanded issuable-sidebar">{side}<div class="block participants"><div class="title">{v.count("participants", start=9, per_day=0.2)} Participants</div></div></aside><footer>{v.footer()}</footer></body></html>"""


def _trac_comment(v: View, at: int, p: Post) -> str:
    return f'<div class="change" id="trac-change-{at}-{p.key}"><h3 class="change" id="comment:{at}"><span class="threading">comment:{at}</span> by <span class="trac-author">{esc(p.author)}</span>, <a class="timeline" href="/timeline?from={v.when(p.born, "%Y-%m-%dT%H%%3A%M%%3A%SZ")}&amp;precision=second" title="See timeline at {v.when(p.born, "%m/%d/%y %H:%M:%S")}">{v.age(p.born)}</a></h3><div class="trac-change-panel"></div><div class="comment searchable"><p>\n{v.text(p.sentences)}<br />\n</p></div></div>'


def trac(v: View) -> str:
    """Write a ticket as Trac does."""
    page = v.page
    names = list(page.fields)
    cells = [
        f'<th id="h_{n}">{n.title()}:</th><td headers="h_{n}" class="searchable">{esc(page.fields[n])}</td>'
        for n in names
        if n not in ("status", "type")
    ]
    props = "".join(f"<tr>{''.join(cells[i : i + 2])}</tr>" for i in range(0, len(cells), 2))
    talk = "\n".join(_trac_comment(v, i, p) for i, p in enumerate(page.posts, 1))
    nav = "".join(
        f'<li class="{"active" if i == 3 else ""}"><a href="{h}">{m}</a></li>' for i, (m, h) in enumerate(v.menu())
    )
    note = f'<div id="warning" class="system-message notice">{v.notice()}</div>' if v.notice() else ""
    modified = (
        f'<p>Last modified <a class="timeline" title="{v.when(page.modified, "%m/%d/%y %H:%M:%S")}">{v.age(page.modified)}</a></p>'
        if page.revision > 1
        else ""
    )
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><head><title>#{page.number} ({esc(page.title)}) – Courier</title><script>var form_token="{v.token(24)}";</script></head><body><div id="banner"><div id="header"><a id="logo" href="/"><img alt="Courier" src="/chrome/site/logo.png" /></a></div><form id="search" action="/search" method="get"><input type="text" id="proj-search" name="q" size="18" /><input type="hidden" name="__FORM_TOKEN" value="{v.token(24)}" /></form><div id="metanav" class="nav"><ul><li class="first"><a href="/login">Login</a></li></ul></div></div><div id="mainnav" class="nav"><ul>{nav}</ul></div><div id="main">{note}<div id="ctxtnav" class="nav"><h2>Context Navigation</h2><ul><li class="first"><a class="prev" href="/ticket/{page.number - 1}">{v.button("Previous Ticket", "Older Ticket")}</a></li></ul><hr /></div><div id="content" class="ticket"><div id="ticket"><div id="ticketbox" class="trac-content"><div class="date"><p>Opened <a class="timeline" title="{v.when(page.born, "%m/%d/%y %H:%M:%S")}">{v.age(page.born)}</a></p>{modified}</div><h2><a href="/ticket/{page.number}" class="trac-id">#{page.number}</a> <span class="trac-status"><a href="/query?status={page.fields["status"]}">{esc(page.fields["status"])}</a></span> <span class="trac-type"><a href="/query">{esc(page.fields["type"])}</a></span></h2><h1 id="trac-ticket-title" class="searchable"><span class="summary">{esc(page.title)}</span></h1><table class="properties">{props}</table><div class="description"><h2 id="comment:description">Description</h2><div class="searchable">
{v.body(pre=lambda b: '<pre class="wiki">' + esc(chr(10).join(b.items)) + "</pre>")}
</div></div></div></div><div id="changelog"><h2>Change History <span class="trac-count">({len(page.posts)})</span></h2>{talk}</div></div></div><div id="footer"><hr/><a id="tracpowered" href="http://trac.edgewall.org/"><img src="/chrome/common/trac_logo_mini.png" alt="Trac Powered" /></a><p class="left">Powered by <strong>Trac 1.4</strong></p><p class="right">{v.footer()}</p></div></body></html>"""


def _reddit_comment(v: View, p: Post) -> str:
    votes = v.count(f"v{p.key}", start=400, per_day=6)
    return f'<shreddit-comment author="{esc(p.author)}" thingid="t1_{p.key:x}" depth="0" permalink="/r/food/comments/{v.page.number}/comment/{p.key:x}" score="{votes}" award-count="{v.between(0, 2)}" created="{v.noise(v.when(p.born, "%Y-%m-%dT%H:%M:%S"))}"><div slot="commentMeta"><faceplate-tracker source="post_detail" noun="comment_author"><a href="/user/{esc(p.author)}/">{esc(p.author)}</a></faceplate-tracker> <span>•</span> <faceplate-timeago ts="{v.noise(v.when(p.born, "%Y-%m-%dT%H:%M:%S"))}"><time>{v.noise(v.short_age(p.born) + ". ago")}</time></faceplate-timeago></div><div id="t1_{p.key:x}-comment-rtjson-content" slot="comment" class="md text-14"><div id="-post-rtjson-content" class="py-0"><p>{v.text(p.sentences)}</p></div></div><shreddit-comment-action-row slot="actionRow" score="{votes}"><span>{v.brief(votes)}</span> <button>{v.button("Reply", "Add reply")}</button></shreddit-comment-action-row></shreddit-comment>'


def reddit(v: View) -> str:
    """Write a post with comments as Reddit does; comments are sorted by votes, so neighbours swap places."""
    page = v.page
    posts = list(page.posts)
    if v.maybe(0.25) and len(posts) > 2:
        at = v.between(0, len(posts) - 2)
        posts[at], posts[at + 1] = posts[at + 1], posts[at]
    talk = "\n".join(_reddit_comment(v, p) for p in posts)
    nav = "".join(
        f'<li role="presentation"><a href="{h}"><span class="text-14">{m}</span></a></li>' for m, h in v.menu()
    )
    more = "".join(
        f'<li class="recommended"><a href="{p.path}?rdt={v.between(10**4, 10**5)}">{esc(p.title)}</a><span>{v.brief(v.between(10, 9000))} upvotes · {v.between(2, 900)} comments</span></li>'
        for p in v.others(5)
    )
    promoted = f'<shreddit-ad-post promoted post-title="{v.advert()}"><a href="https://alb.test/{v.word(40)}">{v.advert()}</a><span>Promoted</span></shreddit-ad-post>'
    note = f'<div class="bg-warning">{v.notice()}</div>' if v.notice() else ""
    return f"""<!DOCTYPE html><html lang="en" class="theme-beta theme-light"><head><title>{esc(page.title)} : r/food</title><script nonce="{v.word(22)}">window.__csp="{v.token(16)}"</script></head><body class="{v.pick(("v2", "v2 exp-a", "v2 exp-b"))}"><shreddit-app routename="post_page" csrf="{v.token()}"><reddit-header-large><nav><ul>{nav}</ul></nav></reddit-header-large>{note}<div class="grid-container"><main id="main-content"><shreddit-post id="t3_{page.number}" post-title="{esc(page.title)}" score="{v.count("score", start=4000, per_day=30)}" comment-count="{len(page.posts)}"><h1 slot="title" class="font-semibold">{esc(page.title)}</h1><span slot="credit-bar">r/food · <faceplate-timeago><time>{v.noise(v.short_age(page.born) + ". ago")}</time></faceplate-timeago></span><div class="text-neutral-content" slot="text-body"><div class="md">
{v.body()}
</div></div><shreddit-post-action-row>{v.brief(v.count("score", start=4000, per_day=30))}</shreddit-post-action-row></shreddit-post>{v.noise(promoted)}<shreddit-comment-tree totalcomments="{len(page.posts)}">
{talk}
</shreddit-comment-tree></main><aside><h2>r/food</h2><p><faceplate-number number="{v.count("members", start=10**6, per_day=300)}">{v.grouped(v.count("members", start=10**6, per_day=300))}</faceplate-number> members, {v.between(200, 4000)} online</p><h3>More posts you may like</h3><ul>{more}</ul></aside></div><footer>{v.footer()}</footer></shreddit-app></body></html>"""


def _mail(v: View, p: Post) -> str:
    return f'<div class="even"><div class="email" id="m{p.key}"><div class="email-header"><div class="gravatar-wrapper d-flex"><div class="gravatar"><img class="gravatar" src="https://secure.gravatar.com/avatar/{steady(p.author):012x}.jpg?s=120&amp;d=mm" width="120" height="120" alt="" /></div><div class="email-author d-flex"><span class="name"><a href="/users/{steady(p.author):x}/" title="See the profile for {esc(p.author)}">{esc(p.author)}</a></span></div></div><div class="email-date right d-flex"><span class="time"><span title="Sender\'s time: {v.when(p.born, "%B %-d, %Y, %-I:%M %p")}">{v.when(p.born, "%-I:%M %p")}</span></span></div></div><div class="email-body"><p>{v.text(p.sentences)}</p></div><div class="email-info"><ul class="list-unstyled"><li><a class="reply-mailto" href="mailto:list@{v.host}?In-Reply-To={p.key}">{v.button("Reply", "Answer by mail")}</a></li><li class="like-block"><form method="post" action="/vote"><a class="youlike vote" title="You must be logged-in to vote."><i class="icomoon"></i> {v.noise(str(v.count(f"l{p.key}", start=5, per_day=0.3)))}</a><input type="hidden" name="csrfmiddlewaretoken" value="{v.word(64)}" /></form></li></ul></div></div></div>'


def hyperkitty(v: View) -> str:
    """Write a thread of a mailing list as HyperKitty does."""
    page = v.page
    mails = "\n".join(_mail(v, p) for p in page.posts)
    nav = "".join(f'<li class="nav-item"><a class="nav-link" href="{h}">{m}</a></li>' for m, h in v.menu())
    days = int((v.now - page.posts[-1].born) / 24) if not v.quiet else 0
    people = len({p.author for p in page.posts})
    note = f'<div class="alert alert-warning">{v.notice()}</div>' if v.notice() else ""
    side = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.recent(3))
    recent = f"<h3>Recently active</h3><ul>{side}</ul>"
    return f"""<!DOCTYPE HTML><html lang="en"><head><meta charset="utf-8"/><title>{esc(page.title)} - courier-users - lists</title></head><body><nav class="navbar sticky-top navbar-expand-md" id="navbar-main"><ul class="navbar-nav">{nav}</ul><a href="/accounts/login/?next={page.path}">Sign In</a></nav>{note}<div class="container"><div class="row"><div class="d-none d-lg-block col-lg-3"><div class="col" id="thread-overview-info"><div class="d-flex"><div class="days-ago"><i class="fa fa-calendar"></i> {v.noise(str(days))}<small>days inactive</small></div><div><i class="fa fa-calendar"></i> {v.noise(str(int((v.now - page.born) / 24)))}<small>days old</small></div></div><p><i class="fa fa-tags"></i></p><p id="participants">participants ({people})</p><form name="tagform" method="post"><input type="hidden" name="csrfmiddlewaretoken" value="{v.word(64)}"></form>{v.noise(recent) if v.opt("recent") else ""}</div></div><div class="col-12 col-lg-9"><div class="thread-header"><h3><span id="thread-title">{esc(page.title)}</span></h3></div><section id="thread-content">
{mails}
</section></div></div></div><footer class="footer"><p class="text-muted">{v.footer()} Powered by HyperKitty version 1.3.{4 + v.deploy if not v.quiet else 4}.</p></footer></body></html>"""


def _floor(v: View, at: int, p: Post) -> str:
    names = ("楼主", "沙发", "板凳", "地板")
    return f'<div id="post_{p.key}"><table id="pid{p.key}" class="plhin" cellspacing="0" cellpadding="0"><tr><td class="pls" rowspan="2"><div class="pls favatar"><div class="pi"><div class="authi"><a href="home.php?mod=space&amp;uid={steady(p.author) % 9999}" class="xw1">{esc(p.author)}</a></div></div><div class="tns xg2"><table><tr><th><p>{v.count("t" + p.author, start=90, per_day=0.4)}</p>主题</th><th><p>{v.count("f" + p.author, start=900, per_day=3)}</p>帖子</th><td><p>{v.count("j" + p.author, start=9000, per_day=9)}</p>积分</td></tr></table></div><p><em>{v.noise(v.pick(("在线", "离线", "当前离线")))}</em></p></div></td><td class="plc"><div class="pi"><strong><a href="forum.php?mod=redirect&amp;pid={p.key}">{names[at] if at < 4 else f"{at + 1}#"}</a></strong><div class="pti"><div class="authi"><em id="authorposton{p.key}">发表于 <span title="{v.when(p.born, "%Y-%m-%d %H:%M:%S")}">{v.age(p.born)}</span></em><span class="pipe">|</span><a href="forum.php?authorid={steady(p.author) % 9999}" rel="nofollow">{v.button("只看该作者", "只看他")}</a></div></div></div><div class="pct"><div class="pcb"><div class="t_fsz"><table cellspacing="0" cellpadding="0"><tr><td class="t_f" id="postmessage_{p.key}">{v.text(p.sentences)}</td></tr></table></div></div></div></td></tr></table></div>'


def discuz(v: View) -> str:
    """Write a thread of a Chinese board as Discuz! does."""
    page = v.page
    floors = "\n".join(_floor(v, i, p) for i, p in enumerate(page.posts))
    nav = "".join(f'<li><a href="{h}" hidefocus="true">{m}</a></li>' for m, h in v.menu())
    hot = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a> <em>{v.between(3, 900)}</em></li>' for p in v.others(5))
    note = f'<div class="bm bml"><div class="bm_c">{v.notice()}</div></div>' if v.notice() else ""
    sign = f'<div class="sign">今日: {v.between(10, 90)} | 昨日: {v.between(10, 90)} | 帖子: {v.count("posts", start=10**5, per_day=60)} | 欢迎新会员: {v.pick(v.tongue.names)}</div>'
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8" /><title>{esc(page.title)} - 数码论坛</title><script type="text/javascript">var STYLEID = '1', VERHASH = '{v.token(3)}', discuz_uid = '0', formhash = '{v.token(8)}';</script></head><body id="nv_forum" class="pg_viewthread"><div id="hd"><div class="wp"><div id="nv"><ul>{nav}</ul></div><form id="scbar_form" method="post" action="search.php?searchsubmit=yes"><input type="hidden" name="formhash" value="{v.token(8)}" /></form></div></div><div id="wp" class="wp">{note}{v.noise(sign)}<div id="ct" class="wp cl"><div id="postlist" class="pl bm"><table cellspacing="0" cellpadding="0"><tr><td class="pls ptn pbn"><div class="hm"><span class="xg1">查看:</span> <span class="xi1">{v.count("views", start=9000, per_day=50)}</span><span class="pipe">|</span><span class="xg1">回复:</span> <span class="xi1">{len(page.posts) - 1}</span></div></td><td class="plc ptm pbn vwthd"><h1 class="ts"><span id="thread_subject">{esc(page.title)}</span></h1></td></tr></table>
{floors}
</div></div><div class="bm"><h2>热门主题</h2><ul>{hot}</ul></div><div class="a_f">{v.noise(v.advert())}</div></div><div id="ft" class="wp cl"><p>{v.footer()}</p><p class="xs0">GMT+8, {v.clock("%Y-%m-%d %H:%M")}, Processed in 0.{v.between(10000, 99999)} second(s), {v.between(5, 30)} queries.</p></div></body></html>"""


def gnuboard(v: View) -> str:
    """Write an article with replies of a Korean board as Gnuboard does."""
    page = v.page
    talk = "\n".join(
        f'<article id="c_{p.key}"><header><h2>{esc(p.author)}님의 댓글</h2><span class="sv_member">{esc(p.author)}</span> <span class="bo_vc_hdinfo"><i class="fa fa-clock-o"></i> <time datetime="{v.when(p.born, "%Y-%m-%dT%H:%M:%S+09:00")}">{v.age(p.born)}</time></span></header><div class="cmt_contents"><p>{v.text(p.sentences)}</p></div></article>'
        for p in page.posts
    )
    nav = "".join(f'<li class="gnb_1dli"><a href="{h}" class="gnb_1da">{m}</a></li>' for m, h in v.menu())
    latest = "".join(
        f'<li><a href="{p.path}">{esc(p.title)}</a><span class="lt_date">{v.when(p.modified, "%m-%d")}</span></li>'
        for p in v.recent(5)
    )
    note = f'<div id="hd_pop"><div class="hd_pops">{v.notice()}</div></div>' if v.notice() else ""
    body = v.body(
        file=lambda b: (
            f'<section id="bo_v_file"><ul><li><a href="/bbs/download.php?f={b.href}&amp;nonce={v.word(12)}" class="view_file_download"><strong>{esc(b.text)}</strong></a><span class="bo_v_file_cnt">{v.noise(str(v.count("dl", start=300, per_day=4)))}회 다운로드</span></li></ul></section>'
        )
    )
    return f"""<!doctype html><html lang="ko"><head><meta charset="utf-8"><title>{esc(page.title)} &gt; 공지사항 | 열린마을</title><script>var g5_cookie_domain="";var token="{v.token()}";</script></head><body><div id="hd"><div id="hd_wrapper"><a href="/">열린마을</a></div><nav id="gnb"><ul id="gnb_1dul">{nav}</ul></nav></div>{note}<div id="wrapper"><div id="container"><article id="bo_v"><header><h2 id="bo_v_title"><span class="bo_v_tit">{esc(page.title)}</span></h2></header><section id="bo_v_info"><div class="profile_info_ct"><span class="sv_guest">{esc(page.fields["담당"])}</span> <strong>전화</strong> {esc(page.fields["전화"])} <strong class="if_date"><i class="fa fa-clock-o"></i> {v.when(page.born, "%y-%m-%d %H:%M")}</strong> 조회 {v.grouped(v.count("views", start=2000, per_day=30))}회 추천 {v.count("good", start=40, per_day=1)}</div></section><section id="bo_v_atc"><div id="bo_v_con">
{body}
</div></section><button type="button" class="cmt_btn">{v.button("댓글", "의견")} {len(page.posts)}</button><section id="bo_vc">{talk}</section></article></div><div id="aside"><h2>최신글</h2><ul>{latest}</ul><section id="visit"><h2>접속자집계</h2><dl><dt>오늘</dt><dd>{v.between(100, 900)}</dd><dt>어제</dt><dd>{v.between(100, 900)}</dd><dt>최대</dt><dd>2,817</dd><dt>전체</dt><dd>{v.grouped(v.count("visits", start=10**6, per_day=400))}</dd></dl></section><p>현재접속자 {v.between(3, 60)}</p></div></div><div id="ft">{v.footer()}</div><!-- {v.between(10, 90)} queries 0.0{v.between(10, 99)} --></body></html>"""


KINDS = (
    Kind(
        "gitlab",
        gitlab,
        SOFTWARE,
        ENGLISH,
        "/infra/courier/-/issues/{n}",
        Layout("p p pre ul p file", fields=("state", "milestone", "assignee", "labels", "due date"), posts=(1, 6)),
        makers={
            "state": lambda r: r.choice(("Open", "Closed")),
            "milestone": lambda r: f"{r.randint(1, 9)}.{r.randint(0, 9)}",
            "assignee": lambda r: r.choice(ENGLISH.names),
            "labels": lambda r: ", ".join(sorted(r.sample(("bug", "backend", "docs", "urgent", "regression"), 2))),
            "due date": lambda r: f"{r.choice(('Mar', 'Apr', 'May'))} {r.randint(1, 28)}, 2025",
        },
    ),
    Kind(
        "trac",
        trac,
        SOFTWARE,
        ENGLISH,
        "/ticket/{n}",
        Layout("p p pre ol p", fields=("status", "type", "priority", "milestone", "owner", "keywords"), posts=(1, 5)),
        makers={
            "status": lambda r: r.choice(("new", "accepted", "closed", "reopened")),
            "type": lambda r: r.choice(("defect", "enhancement", "task")),
            "priority": lambda r: r.choice(("minor", "major", "critical", "blocker")),
            "milestone": lambda r: f"milestone{r.randint(1, 9)}",
            "owner": lambda r: r.choice(ENGLISH.names),
            "keywords": lambda r: r.choice(SOFTWARE.slots["value"]),
        },
    ),
    Kind("reddit", reddit, COOKING, ENGLISH, "/r/food/comments/{n}/{slug}/", Layout("p p", posts=(4, 10))),
    Kind("hyperkitty", hyperkitty, TOWN, ENGLISH, "/thread/{n}/", Layout(posts=(2, 7))),
    Kind("discuz", discuz, TALK_ZH, CHINESE, "/thread-{n}-1-1.html", Layout(posts=(3, 9)), untidy=True),
    Kind(
        "gnuboard",
        gnuboard,
        BOARD_KO,
        KOREAN,
        "/bbs/notice/{n}",
        Layout("p p h2 ul p file", fields=("담당", "전화"), posts=(0, 4)),
        makers={
            "담당": lambda r: r.choice(("총무과", "문화과", "시설팀", "복지팀")),
            "전화": lambda r: f"0{r.randint(31, 64)}-{r.randint(200, 999)}-{r.randint(1000, 9999)}",
        },
    ),
)
