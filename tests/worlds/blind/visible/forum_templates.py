"""Places where people talk: Discourse, phpBB, Hacker News, Stack Overflow and WordPress with comments."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Entry, Post
from tests.worlds.blind.prose import COOKING, SCIENCE, SOFTWARE, TOWN
from tests.worlds.blind.tongues import ENGLISH
from tests.worlds.blind.view import View, esc, steady


def _discourse_date(v: View, born: float) -> str:
    """Write an age for a few days, then a date, as Discourse does."""
    return v.short_age(born) if v.now - born < 24 * 14 else v.noise(v.when(born, "%B %-d"))


def _discourse_post(v: View, at: int, post: Post) -> str:
    likes = v.count(f"likes{post.key}", start=9, per_day=0.6)
    return f"""<article id="post_{at}" data-post-id="{post.key}" class="boxed onscreen-post{" via-email" if v.maybe(0.1) else ""}">
<div class="row"><div class="topic-avatar"><div class="post-avatar"><a class="trigger-user-card main-avatar" href="/u/{esc(post.author)}" data-user-card="{esc(post.author)}"><img width="45" height="45" src="/user_avatar/{v.host}/{steady(post.author) % 99}/45/{steady(post.author) % 99}_2.png" class="avatar" alt="" loading="lazy"></a></div></div>
<div class="topic-body clearfix"><div class="topic-meta-data"><div class="names trigger-user-card"><span class="first username"><a href="/u/{esc(post.author)}">{esc(post.author)}</a></span></div><div class="post-infos"><div class="post-info post-date"><a class="post-date" href="/t/{v.page.number}/{at}"><span class="relative-date" data-time="{v.noise(str(int(1738569600000 + post.born * 3600000)))}">{_discourse_date(v, post.born)}</span></a></div></div></div>
<div class="regular contents"><div class="cooked"><p>{v.text(post.sentences)}</p></div></div>
<section class="post-menu-area clearfix"><nav class="post-controls"><div class="actions">{v.noise(f'<button class="widget-button btn-flat button-count like-count" title="{likes} people liked this post">{likes}</button>' if likes else "")}<button class="widget-button btn-flat share no-text btn-icon" title="share a link to this post"></button><button class="widget-button btn-flat reply create fade-out btn-icon-text"><span class="d-button-label">{v.button("Reply", "Respond")}</span></button></div></nav></section></div></div></article>"""


def _discourse_suggested(v: View) -> str:
    rows = "".join(
        f'<tr class="topic-list-item"><td class="main-link"><a href="{p.path}" class="title raw-link raw-topic-link">{esc(p.title)}</a></td>'
        f'<td class="num posts">{v.between(1, 90)}</td><td class="num views"><span class="number">{v.brief(v.between(20, 9000))}</span></td>'
        f'<td class="num age activity"><a class="post-activity"><span class="relative-date">{v.short_age(p.modified)}</span></a></td></tr>'
        for p in v.others(5)
    )
    return f'<div class="suggested-topics"><h3 class="suggested-topics-title">Suggested Topics</h3><table class="topic-list"><thead><tr><th>Topic</th><th>Replies</th><th>Views</th><th>Activity</th></tr></thead><tbody>{rows}</tbody></table></div>'


def _discourse_topic(v: View) -> str:
    page = v.page
    posts = "\n".join(_discourse_post(v, at, post) for at, post in enumerate(page.posts, 1))
    views = v.brief(v.count("views", start=4000, per_day=60))
    people = len({p.author for p in page.posts})
    return f"""<div id="topic-title"><div class="title-wrapper"><h1 data-topic-id="{page.number}"><a href="{page.path}" class="fancy-title">{esc(page.title)}</a></h1><div class="topic-category"><a class="badge-category__wrapper" href="/c/support/6"><span class="badge-category__name">Support</span></a></div></div></div>
<div class="post-stream">{posts}</div>
<div class="topic-map"><section class="map map-collapsed"><ul class="clearfix"><li class="created-at"><h4>created</h4><span class="relative-date">{_discourse_date(v, page.born)}</span></li><li class="last-reply"><h4>last reply</h4><span class="relative-date">{_discourse_date(v, page.posts[-1].born)}</span></li><li class="replies"><span class="number">{len(page.posts) - 1}</span> replies</li><li class="secondary views"><span class="number">{views}</span> views</li><li class="secondary"><span class="number">{people}</span> users</li></ul></section></div>
{v.noise(_discourse_suggested(v))}"""


def _discourse_row(v: View, e: Entry) -> str:
    return f"""<tr data-topic-id="{e.key}" class="topic-list-item category-support"><td class="main-link clearfix"><span class="link-top-line"><a href="/t/{e.key}" class="title raw-link raw-topic-link">{esc(e.title)}</a></span><div class="link-bottom-line"><span class="badge-category__name">{esc(e.fields["category"])}</span></div></td>
<td class="posters topic-list-data">{v.noise("".join(f'<a href="/u/{u}"><img class="avatar" src="/a/{steady(u) % 99}.png" title="{esc(u)}"></a>' for u in v.some(v.tongue.names, 3)))}</td><td class="num posts-map posts topic-list-data"><span class="number">{v.count(f"r{e.key}", start=40, per_day=2)}</span></td><td class="num views topic-list-data"><span class="number">{v.brief(v.count(f"v{e.key}", start=2000, per_day=40))}</span></td><td class="num topic-list-data age activity"><span class="relative-date">{v.short_age(e.born + v.between(0, int(max(0, v.now - e.born))))}</span></td></tr>"""


def discourse(v: View) -> str:
    """Write a topic or a list of topics as Discourse serves them."""
    if v.page.shape == "list":
        rows = "\n".join(_discourse_row(v, e) for e in v.page.entries)
        main = f'<div class="contents"><table class="topic-list"><thead><tr><th>Topic</th><th>Replies</th><th>Views</th><th>Activity</th></tr></thead><tbody class="topic-list-body">{rows}</tbody></table></div>'
    else:
        main = _discourse_topic(v)
    nav = "".join(
        f'<li class="sidebar-section-link-wrapper"><a class="sidebar-section-link" href="{h}">{m}</a></li>'
        for m, h in v.menu()
    )
    note = (
        f'<div class="row"><div id="global-notice-alert-global-notice" class="alert alert-info alert-global-notice">{v.notice()}</div></div>'
        if v.notice()
        else ""
    )
    title = esc(v.page.title) if v.page.shape == "page" else "Latest topics"
    return f"""<!DOCTYPE html>
<html lang="en" class="desktop-view not-mobile-device anon"><head><meta charset="utf-8"><title>{title} - Support - Workshop Forum</title>
<meta name="discourse_theme_id" content="4"><meta name="csrf-token" content="{v.word(88)}"><link rel="preload" href="{v.asset("/assets/start-discourse.js")}" as="script" nonce="{v.word(20)}">
<meta id="data-discourse-setup" data-cdn="https://cdn{v.between(1, 4)}.{v.host}" data-session="{v.token(32)}"></head>
<body class="docked navigation-topics"><div id="main"><div class="ember-view" id="ember{v.between(3, 90)}"><header class="d-header clearfix"><div class="wrap"><div class="contents"><div class="title"><a href="/"><img id="site-logo" src="/logo.png" alt="Workshop Forum"></a></div><div class="panel"><span class="header-buttons"><button class="btn btn-primary btn-small sign-up-button">Sign Up</button><button class="btn btn-primary btn-small login-button">Log In</button></span></div></div></div></header>
<div id="main-outlet-wrapper" class="wrap"><div class="sidebar-wrapper"><ul class="sidebar-section-content">{nav}</ul></div><div id="main-outlet">{note}
{main}
</div></div></div></div><footer class="about">{v.footer()} Powered by Discourse</footer>
<div class="hidden" id="data-preloaded" data-preloaded="{v.noise("{&quot;currentTime&quot;:" + v.clock("%s") + "}")}"></div></body></html>"""


def _phpbb_post(v: View, at: int, post: Post, sid: str) -> str:
    online = '<li class="online">Online</li>' if v.maybe(0.3) else ""
    joined = v.when(-steady(post.author) % 40000 - 42000, "%a %b %d, %Y %-I:%M %p")
    return f"""<div id="p{post.key}" class="post has-profile bg{1 + at % 2} {"online" if online else ""}"><div class="inner">
<dl class="postprofile" id="profile{post.key}"><dt class="no-profile-rank no-avatar"><div class="avatar-container"></div><a href="./memberlist.php?mode=viewprofile&amp;u={steady(post.author) % 900}&amp;sid={sid}" class="username">{esc(post.author)}</a></dt><dd class="profile-posts"><strong>Posts:</strong> <a href="./search.php?author_id={steady(post.author) % 900}&amp;sid={sid}">{v.count("p" + post.author, start=800, per_day=1.5)}</a></dd><dd class="profile-joined"><strong>Joined:</strong> {joined}</dd></dl>
<div class="postbody"><div id="post_content{post.key}"><h3 {'class="first"' if at == 0 else ""}><a href="./viewtopic.php?p={post.key}&amp;sid={sid}#p{post.key}">{"Re: " if at else ""}{esc(v.page.title)}</a></h3><ul class="post-buttons">{online}<li><a href="./posting.php?mode=quote&amp;p={post.key}&amp;sid={sid}" title="Reply with quote" class="button button-icon-only"><span>Quote</span></a></li></ul>
<p class="author"><a class="unread" href="./viewtopic.php?p={post.key}&amp;sid={sid}#p{post.key}"><span class="sr-only">Post</span></a><span class="responsive-hide">by <strong><a href="./memberlist.php?mode=viewprofile&amp;sid={sid}" class="username">{esc(post.author)}</a></strong> &raquo; </span><time>{v.when(post.born, "%a %b %d, %Y %-I:%M %p")}</time></p>
<div class="content">{v.inline(v.prose.glue.join(post.sentences), suffix="?sid=" + sid)}</div></div></div><div class="back2top"><a href="#top" class="top" title="Top">Top</a></div></div></div><hr class="divider" />"""


def _phpbb_online(v: View) -> str:
    guests, users = v.between(3, 80), v.some(v.tongue.names, 3)
    total = guests + len(users)
    names = ", ".join(f'<a href="./memberlist.php?u={steady(u) % 900}" class="username">{esc(u)}</a>' for u in users)
    return f'<div class="stat-block online-list"><h3>Who is online</h3><p>In total there are <strong>{total}</strong> users online :: {len(users)} registered, 0 hidden and {guests} guests (based on users active over the past 5 minutes)<br />Users browsing this forum: {names} and {guests} guests</p></div>'


def phpbb(v: View) -> str:
    """Write a topic as phpBB does with prosilver, with a session id in every link."""
    sid = v.token(32)
    page = v.page
    posts = "\n".join(_phpbb_post(v, at, post, sid) for at, post in enumerate(page.posts))
    nav = "".join(
        f'<li data-skip-responsive="true"><a href=".{h}?sid={sid}" role="menuitem"><span>{m}</span></a></li>'
        for m, h in v.menu()
    )
    note = (
        f'<div class="panel bg3 announcement"><div class="inner"><p>{v.notice()}</p></div></div>' if v.notice() else ""
    )
    clock = v.clock("%a %b %d, %Y %-I:%M %p")
    return f"""<!DOCTYPE html>
<html dir="ltr" lang="en-gb"><head><meta charset="utf-8" /><title>{esc(page.title)} - Model Builders Board</title>
<link href="{v.asset("./styles/prosilver/theme/stylesheet.css")}" rel="stylesheet"></head>
<body id="phpbb" class="nojs notouch section-viewtopic ltr"><div id="wrap" class="wrap"><a id="top" class="top-anchor" accesskey="t"></a>
<div id="page-header"><div class="headerbar" role="banner"><div class="inner"><div id="site-description" class="site-description"><a id="logo" class="logo" href="./index.php?sid={sid}" title="Board index"><span class="site_logo"></span></a><h1>Model Builders Board</h1><p>For everybody who builds things</p></div>
<div id="search-box" class="search-box search-header"><form action="./search.php?sid={sid}" method="get"><fieldset><input name="keywords" type="search" /><input type="hidden" name="sid" value="{sid}" /></fieldset></form></div></div></div>
<div class="navbar"><div class="inner"><ul id="nav-main" class="nav-main linklist" role="menubar">{nav}<li class="rightside"><a href="./ucp.php?mode=login&amp;sid={sid}"><span>Login</span></a></li></ul><ul id="nav-breadcrumbs" class="nav-breadcrumbs linklist navlinks"><li class="breadcrumbs"><span class="crumb"><a href="./index.php?sid={sid}"><span>Board index</span></a></span><span class="crumb"><a href="./viewforum.php?f=3&amp;sid={sid}"><span>Workshop</span></a></span></li></ul></div></div></div>
<div id="page-body" class="page-body" role="main">{note}
<p class="right responsive-center time">It is currently {clock}</p>
<h2 class="topic-title"><a href="./viewtopic.php?t={page.number}&amp;sid={sid}">{esc(page.title)}</a></h2>
<div class="action-bar bar-top"><a href="./posting.php?mode=reply&amp;t={page.number}&amp;sid={sid}" class="button" title="Post a reply"><span>{v.button("Post Reply", "Write an answer")}</span></a><div class="pagination">{len(page.posts)} posts &bull; Page <strong>1</strong> of <strong>1</strong> &bull; {v.grouped(v.count("views", start=9000, per_day=45))} views</div></div>
{posts}
{v.noise(_phpbb_online(v))}
<div class="stat-block statistics"><h3>Statistics</h3><p>Total posts <strong>{v.between(61000, 64000)}</strong> &bull; Our newest member <strong>{v.pick(v.tongue.names)}</strong></p></div></div>
<div id="page-footer" class="page-footer"><div class="copyright"><p class="footer-row">{v.footer()}</p><p class="footer-row">Time: 0.{v.between(100, 900)}s | Peak Memory Usage: {v.between(3, 9)}.{v.between(10, 99)} MiB | GZIP: Off</p></div><div id="darkenwrapper"></div></div>
<img class="sr-only" aria-hidden="true" src="./cron.php?cron_type=cron.task.core.tidy_sessions&amp;sid={sid}" width="1" height="1" alt=""></div></body></html>"""


def _hn_comment(v: View, post: Post, depth: int) -> str:
    key = 43000000 + post.key
    return f"""<tr class="athing comtr" id="{key}"><td><table border="0"><tr><td class="ind" indent="{depth}"><img src="s.gif" height="1" width="{depth * 40}"></td><td valign="top" class="votelinks"><center><a id="up_{key}" href="vote?id={key}&amp;how=up&amp;auth={v.token(40)}&amp;goto=item"><div class="votearrow" title="upvote"></div></a></center></td><td class="default"><div style="margin-top:2px; margin-bottom:-10px;"><span class="comhead"><a href="user?id={esc(post.author)}" class="hnuser">{esc(post.author)}</a> <span class="age" title="{v.when(post.born, "%Y-%m-%dT%H:%M:%S")}"><a href="item?id={key}">{v.age(post.born)}</a></span> <span class="navs"> | <a href="#{key}" class="clicky">next</a> <a class="togg clicky" id="{key}" n="1" href="javascript:void(0)">[&ndash;]</a></span></span></div><br><div class="comment"><div class="commtext c{v.pick(("00", "00", "5A"))}">{v.text(post.sentences)}</div><div class="reply"><p><font size="1"><u><a href="reply?id={key}">{v.button("reply", "answer")}</a></u></font></div></div></td></tr></table></td></tr>"""


def _hn_row(v: View, rank: int, e: Entry) -> str:
    points, comments = v.count(f"pt{e.key}", start=300, per_day=9), v.count(f"c{e.key}", start=90, per_day=3)
    return f"""<tr class="athing submission" id="{e.key}"><td align="right" valign="top" class="title"><span class="rank">{rank}.</span></td><td valign="top" class="votelinks"><center><a id="up_{e.key}" href="vote?id={e.key}&amp;how=up&amp;auth={v.token(40)}"><div class="votearrow"></div></a></center></td><td class="title"><span class="titleline"><a href="https://{esc(e.fields["source"])}/{e.key}">{esc(e.title)}</a><span class="sitebit comhead"> (<a href="from?site={esc(e.fields["source"])}"><span class="sitestr">{esc(e.fields["source"])}</span></a>)</span></span></td></tr>
<tr><td colspan="2"></td><td class="subtext"><span class="subline"><span class="score" id="score_{e.key}">{points} points</span> by <a href="user?id=u{e.key}" class="hnuser">user{e.key}</a> <span class="age"><a href="item?id={e.key}">{v.age(e.born)}</a></span> <span id="unv_{e.key}"></span> | <a href="hide?id={e.key}&amp;auth={v.token(40)}">hide</a> | <a href="item?id={e.key}">{comments}&nbsp;comments</a></span></td></tr><tr class="spacer" style="height:5px"></tr>"""


def hackernews(v: View) -> str:
    """Write a list of links or one discussion in the table layout of Hacker News."""
    page = v.page
    if page.shape == "list":
        rows = "\n".join(_hn_row(v, i, e) for i, e in enumerate(page.entries, 1))
        main = f'<table border="0" cellpadding="0" cellspacing="0">{rows}<tr class="morespace" style="height:10px"></tr><tr><td colspan="2"></td><td class="title"><a href="?p=2" class="morelink" rel="next">More</a></td></tr></table>'
    else:
        comments = "\n".join(_hn_comment(v, p, at % 3) for at, p in enumerate(page.posts))
        main = f"""<table class="fatitem" border="0"><tr class="athing submission" id="{page.number}"><td class="title"><span class="titleline"><a href="https://paper.example/{page.number}">{esc(page.title)}</a></span></td></tr><tr><td class="subtext"><span class="subline"><span class="score">{v.count("points", start=400, per_day=8)} points</span> by <a href="user?id=x" class="hnuser">{esc(page.posts[0].author)}</a> <span class="age"><a href="item?id={page.number}">{v.age(page.born)}</a></span> | <a href="hide?id={page.number}&amp;auth={v.token(40)}">hide</a> | <a href="item">{len(page.posts)}&nbsp;comments</a></span></td></tr><tr style="height:10px"></tr><tr><td><form action="comment" method="post"><input type="hidden" name="hmac" value="{v.token(40)}"><textarea name="text" rows="8" cols="80"></textarea><br><br><input type="submit" value="add comment"></form></td></tr></table><br><br><table border="0" class="comment-tree">{comments}</table>"""
    nav = " | ".join(f'<a href="{h}">{m.lower()}</a>' for m, h in v.menu())
    note = f'<tr><td bgcolor="#ffffaa">{v.notice()}</td></tr>' if v.notice() else ""
    title = esc(page.title) if page.shape == "page" else "Maker News"
    return f"""<html lang="en" op="item"><head><meta name="referrer" content="origin"><link rel="stylesheet" type="text/css" href="news.css?{v.token(20)}"><title>{title} | Maker News</title></head><body><center><table id="hnmain" border="0" cellpadding="0" cellspacing="0" width="85%" bgcolor="#f6f6ef"><tr><td bgcolor="#ff6600"><table border="0" width="100%"><tr><td style="width:18px"><a href="/"><img src="y18.svg" width="18" height="18"></a></td><td style="line-height:12pt"><span class="pagetop"><b class="hnname"><a href="news">Maker News</a></b> {nav}</span></td><td style="text-align:right"><span class="pagetop"><a href="login?goto=item">login</a></span></td></tr></table></td></tr>{note}<tr style="height:10px"></tr><tr><td>
{main}
</td></tr><tr><td><img src="s.gif" height="10" width="0"><center><span class="yclinks">{v.footer()}</span><br><br><form method="get" action="//search.example/">Search: <input type="text" name="q" size="17"></form></center></td></tr></table></center><script src="hn.js?{v.token(20)}"></script></body></html>"""


def _so_answer(v: View, post: Post, question: bool) -> str:
    kind = "question" if question else "answer"
    rep = v.brief(v.count("rep" + post.author, start=90000, per_day=30))
    return f"""<div id="{kind}-{post.key}" class="{kind} js-{kind}" data-{kind}id="{post.key}" data-score="{v.noise(str(v.count(f"s{post.key}", start=60, per_day=0.5)))}"><div class="post-layout"><div class="votecell post-layout--left"><div class="js-voting-container d-flex" data-post-id="{post.key}"><button class="js-vote-up-btn s-btn" data-selected-classes="fc-theme-primary"></button><div class="js-vote-count" data-value="{v.count(f"s{post.key}", start=60, per_day=0.5)}">{v.count(f"s{post.key}", start=60, per_day=0.5)}</div><button class="js-vote-down-btn s-btn"></button></div></div>
<div class="{kind}cell post-layout--right"><div class="s-prose js-post-body" itemprop="text"><p>{v.text(post.sentences)}</p></div><div class="mt24"><div class="d-flex"><div class="js-post-menu pt2"><a href="/a/{post.key}" class="js-share-link" title="Short permalink">{v.button("Share", "Share link")}</a> <button class="js-follow-post">Follow</button></div><div class="post-signature"><div class="user-info"><div class="user-action-time">{"asked" if question else "answered"} <span title="{v.when(post.born, "%Y-%m-%d %H:%M:%SZ")}" class="relativetime">{v.age(post.born)}</span></div><div class="user-gravatar32"><img src="https://i.example/{steady(post.author) % 9999}?s=64" class="bar-sm" alt=""></div><div class="user-details"><a href="/users/{steady(post.author) % 9999}">{esc(post.author)}</a><div class="-flair"><span class="reputation-score" title="reputation score">{rep}</span><span title="{v.between(1, 9)} gold badges"><span class="badge1"></span><span class="badgecount">{v.count("g" + post.author, start=9, per_day=0.05)}</span></span></div></div></div></div></div></div></div></div></div>"""


def stackoverflow(v: View) -> str:
    """Write a question with answers as Stack Overflow does."""
    page = v.page
    answers = "\n".join(_so_answer(v, p, False) for p in page.posts[1:])
    related = "".join(
        f'<div class="spacer js-gps-track"><a href="{p.path}"><div class="answer-votes">{v.between(0, 300)}</div></a><a href="{p.path}" class="question-hyperlink">{esc(p.title)}</a></div>'
        for p in v.others(5)
    )
    hot = "".join(
        f'<li><a href="https://other{v.between(1, 90)}.example" class="js-gps-track question-hyperlink">{esc(TOWN.title(v.rng))}</a></li>'
        for _ in range(v.between(3, 4))
    )
    nav = "".join(
        f'<li class="ps-relative"><a href="{h}" class="s-block-link nav-links--link">{m}</a></li>' for m, h in v.menu()
    )
    note = f'<div class="s-banner s-banner__info">{v.notice()}</div>' if v.notice() else ""
    tags = "".join(f'<a href="/questions/tagged/{t}" class="s-tag post-tag">{t}</a>' for t in page.fields.values())
    cookie = f'<div class="js-consent-banner">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    return f"""<!DOCTYPE html>
<html itemscope itemtype="https://schema.org/QAPage" class="html__responsive" lang="en"><head><title>{esc(page.title)} - Ask Engineers</title><link rel="stylesheet" href="{v.asset("https://cdn.example/primary.css")}"><meta property="og:title" content="{esc(page.title)}">
<script>StackExchange.init({{"serverTime":{v.clock("%s") or 0},"routeName":"Questions/Show","requestTraceId":"{v.token()}","user":{{"fkey":"{v.token(64)}","isAnonymous":true}}}});</script></head>
<body class="question-page unified-theme"><header class="s-topbar js-top-bar"><a href="/" class="s-topbar--logo"><span>Ask Engineers</span></a></header>{note}
<div class="container"><div id="left-sidebar" class="left-sidebar"><nav><ol class="nav-links">{nav}</ol></nav></div><div id="content"><div itemprop="mainEntity">
<div id="question-header" class="d-flex"><h1 itemprop="name" class="fs-headline1"><a href="{page.path}" class="question-hyperlink">{esc(page.title)}</a></h1><div class="ml12 aside-cta"><a href="/questions/ask" class="s-btn">{v.pick(("Ask Question", "Ask a question", "Ask Question"))}</a></div></div>
<div class="d-flex fw-wrap pb8"><div class="flex--item" title="{v.when(page.born)}"><span class="fc-light">Asked</span> <time itemprop="dateCreated">{v.age(page.born)}</time></div><div class="flex--item"><span class="fc-light">Modified</span> <a href="?lastactivity" class="s-link">{v.age(page.modified)}</a></div><div class="flex--item" title="Viewed"><span class="fc-light">Viewed</span> {v.brief(v.count("views", start=20000, per_day=60))} times</div></div>
<div id="mainbar">{_so_answer(v, page.posts[0], True)}<div class="post-taglist">{tags}</div>{v.noise(f'<div class="js-zone-container zone-container-main">Advertisement: {v.advert()}</div>') if v.opt("ads", 0.7) else ""}
<div id="answers"><div id="answers-header"><h2 class="mb0" data-answercount="{len(page.posts) - 1}">{len(page.posts) - 1} Answers</h2><select id="answer-sort-dropdown-select-menu"><option>Highest score (default)</option><option>Trending</option></select></div>
{answers}</div></div>
<div id="sidebar" class="show-votes"><div class="s-sidebarwidget"><div class="s-sidebarwidget--header">The Overflow Blog</div>{v.noise(esc(v.pick(("Podcast: the end of the queue", "How we moved to Kubernetes", "Developers are tired"))))}</div><div class="module sidebar-related"><h4 id="h-related">Related</h4><div class="related">{related}</div></div><div id="hot-network-questions" class="module tex2jax_ignore"><h4>Hot Network Questions</h4><ul>{hot}</ul></div></div></div></div></div>
<footer id="footer" class="site-footer">{v.footer()} <span>Rev: {v.when(v.deploy * 20, "%Y.%m.%d") if not v.quiet else ""}</span></footer>{cookie}</body></html>"""


def _wp_comment(v: View, at: int, post: Post) -> str:
    return f"""<li id="comment-{post.key}" class="comment {"even" if at % 2 == 0 else "odd alt"} thread-even depth-1"><article id="div-comment-{post.key}" class="comment-body"><footer class="comment-meta"><div class="comment-author vcard"><img alt="" src="https://secure.gravatar.com/avatar/{steady(post.author):012x}?s=60&amp;d={v.pick(("mm", "mm", "identicon"))}" class="avatar avatar-60 photo" height="60" width="60" loading="lazy"/><b class="fn">{esc(post.author)}</b> <span class="says">says:</span></div><div class="comment-metadata"><a href="{v.page.path}#comment-{post.key}"><time datetime="{v.when(post.born, "%Y-%m-%dT%H:%M:%S")}">{v.when(post.born, "%B %-d, %Y at %-I:%M %p")}</time></a></div></footer><div class="comment-content"><p>{v.text(post.sentences)}</p></div><div class="reply"><a rel="nofollow" class="comment-reply-link" href="{v.page.path}?replytocom={post.key}#respond">{v.button("Reply", "Answer")}</a></div></article></li>"""


def _wp_widgets(v: View) -> str:
    recent = "".join(f'<li><a href="{p.path}">{esc(p.title)}</a></li>' for p in v.recent(5))
    talk = "".join(
        f'<li class="recentcomments"><span class="comment-author-link">{esc(p.posts[-1].author)}</span> on <a href="{p.path}">{esc(p.title)}</a></li>'
        for p in v.recent(4)
        if p.posts
    )
    popular = "".join(
        f'<li class="wpp-item"><a href="{p.path}" class="wpp-post-title">{esc(p.title)}</a> <span class="wpp-meta">{v.between(20, 900)} views</span></li>'
        for p in v.others(4)
    )
    quote = v.pick(("“Measure twice, cut once.”", "“Hunger is the best sauce.”", "“Salt comes first.”"))
    return f"""<aside class="widget-area"><section id="block-2" class="widget widget_block widget_search"><form role="search" method="get" class="wp-block-search"><input type="search" name="s"><button type="submit">Search</button></form></section><section class="widget widget_recent_entries"><h2 class="widget-title">Recent Posts</h2><ul>{recent}</ul></section><section class="widget widget_recent_comments"><h2 class="widget-title">Recent Comments</h2><ul id="recentcomments">{talk}</ul></section><section class="widget popular-posts"><h2 class="widget-title">Popular now</h2><ul class="wpp-list">{popular}</ul></section><section class="widget widget_text"><div class="textwidget">{v.noise(quote)}</div></section></aside>"""


def wordpress(v: View) -> str:
    """Write a post with comments as a WordPress block theme does."""
    page = v.page
    comments = "\n".join(_wp_comment(v, i, p) for i, p in enumerate(page.posts))
    body = v.body(
        p=lambda b: f'<p class="wp-block-paragraph">{v.text(b.items)}</p>',
        h2=lambda b: f'<h2 class="wp-block-heading">{esc(b.text)}</h2>',
        ul=lambda b: f'<ul class="wp-block-list">{v.items(b)}</ul>',
        ol=lambda b: f'<ol class="wp-block-list">{v.items(b)}</ol>',
        img=lambda b: (
            f'<figure class="wp-block-image size-large"><img loading="lazy" decoding="async" width="1024" src="http://i{v.between(0, 2)}.wp.test/wp-content/uploads/{b.href}.jpg?resize=1024%2C683&amp;ssl=1" alt="{esc(b.text)}" class="wp-image-{v.page.number}"/><figcaption class="wp-element-caption">{esc(b.text)}</figcaption></figure>'
        ),
    )
    before, after = v.neighbour(-1), v.neighbour(1)
    links = "".join(
        f'<div class="nav-previous"><a href="{p.path}" rel="prev"><p class="post-title">{esc(p.title)}</p></a></div>'
        for p in (before, after)
        if p
    )
    related = "".join(
        f'<div class="jp-relatedposts-post"><a class="jp-relatedposts-post-a" href="{p.path}?relatedposts_hit=1&amp;relatedposts_origin={page.number}">{esc(p.title)}</a><p>{v.age(p.born)}</p></div>'
        for p in v.others(3)
    )
    nav = "".join(
        f'<li class="wp-block-navigation-item"><a class="wp-block-navigation-item__content" href="{h}"><span class="wp-block-navigation-item__label">{m}</span></a></li>'
        for m, h in v.menu()
    )
    note = f'<div class="wp-block-group store-notice"><p>{v.notice()}</p></div>' if v.notice() else ""
    likes = f'<div class="sharedaddy sd-like-enabled" id="like-post-wrapper-{v.between(100, 900)}"><span class="sd-text-color">{v.count("likes", start=40, per_day=2)} bloggers like this.</span></div>'
    cookie = (
        f'<div id="cookie-notice" class="cookie-notice-hidden">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.6) else ""
    )
    return f"""<!DOCTYPE html>
<html lang="en-US"><head><meta charset="UTF-8" /><title>{esc(page.title)} &#8211; The Slow Kitchen</title><link rel="stylesheet" id="wp-block-library-css" href="/wp-includes/css/style.min.css?ver=6.{4 + v.between(0, 1)}" media="all" /><script>var wpApi={{"nonce":"{v.token(10)}"}};</script></head>
<body class="post-template-default single single-post postid-{page.number} wp-embed-responsive"><div class="wp-site-blocks"><header class="wp-block-template-part"><p class="wp-block-site-title"><a href="/">The Slow Kitchen</a></p><nav class="wp-block-navigation"><ul class="wp-block-navigation__container">{nav}</ul></nav></header>{note}
<main class="wp-block-group"><h1 class="wp-block-post-title">{esc(page.title)}</h1><div class="wp-block-group post-meta"><div class="wp-block-post-date"><time datetime="{v.when(page.born)}">{v.when(page.born, "%B %-d, %Y")}</time></div> <span class="post-views">{v.grouped(v.count("views", start=5000, per_day=33))} views</span> <span class="rt-reading-time">{v.noise("4 min read")}</span></div>
<div class="entry-content wp-block-post-content">
{body}
{v.noise(likes)}<div id="jp-relatedposts" class="jp-relatedposts"><h3 class="jp-relatedposts-headline"><em>Related</em></h3>{related}</div></div>
<nav class="navigation post-navigation">{links}</nav>
<div id="comments" class="wp-block-comments"><h2 class="wp-block-comments-title">{len(page.posts)} responses to &#8220;{esc(page.title)}&#8221;</h2><ol class="wp-block-comment-template">{comments}</ol><form action="/wp-comments-post.php" method="post" id="commentform"><input type="hidden" name="akismet_comment_nonce" value="{v.token(10)}" /><input type="hidden" id="ak_js_{v.between(1, 90)}" name="ak_js" value="{v.between(10**11, 10**12)}"/><textarea name="comment"></textarea></form></div></main>
{_wp_widgets(v)}
<footer class="wp-block-template-part"><p>{v.footer()}</p></footer></div>{cookie}<!-- Page cached by W3TC on {v.clock("%Y-%m-%d %H:%M:%S")}; {v.between(20, 90)} queries --></body></html>"""


KINDS = (
    Kind(
        "discourse",
        discourse,
        SOFTWARE,
        ENGLISH,
        "/t/{slug}/{n}",
        Layout(posts=(3, 9)),
        Layout(entries=(10, 16)),
        2,
        entry_makers={"category": lambda r: r.choice(("Support", "Feature", "Installation", "Lounge"))},
    ),
    Kind("phpbb", phpbb, SCIENCE, ENGLISH, "/viewtopic.php?t={n}", Layout(posts=(3, 8)), untidy=True),
    Kind(
        "hackernews",
        hackernews,
        SOFTWARE,
        ENGLISH,
        "/item?id={n}",
        Layout(posts=(4, 12)),
        Layout(entries=(15, 24)),
        5,
        entry_makers={
            "source": lambda r: r.choice(("arxiv.test", "kernel.test", "blog.test", "paper.test", "osm.test"))
        },
    ),
    Kind(
        "stackoverflow",
        stackoverflow,
        SOFTWARE,
        ENGLISH,
        "/questions/{n}/{slug}",
        Layout(posts=(2, 6), fields=("tag", "second tag")),
        makers={
            "tag": lambda r: r.choice(("python", "nginx", "sql", "bash", "java")),
            "second tag": lambda r: r.choice(("performance", "unicode", "ssl", "regex")),
        },
    ),
    Kind("wordpress", wordpress, COOKING, ENGLISH, "/2025/01/{slug}/", Layout("p img p h2 ul p h2 ol p", posts=(2, 7))),
)
