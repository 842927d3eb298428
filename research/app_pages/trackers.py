# ruff: noqa: E501  (prose and commands)
"""Trackers and project sites: Trac, Roundup, Redmine. `APP_PAGES_TRAC`: an environment with Trac and roundup."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from research.app_pages import texts
from research.app_pages.applications import application, get, server, wiki_kind
from research.app_pages.generators import folder, run, slice_for
from research.app_pages.pages import Book, pandoc, select_texts
from research.app_pages.texts import Block, plain, to_markdown

HELPDESK = Path(os.environ.get("APP_PAGES_HELPDESK", "/usr")) / "bin"
TRAC = Path(os.environ.get("APP_PAGES_TRAC", "/usr")) / "bin"


def trac_markup(blocks: list[Block]) -> str:
    """Return blocks in the markup of Trac."""
    parts = []
    inline = lambda text: re.sub(r"\*\*([^*]+)\*\*", r"'''\1'''", re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r"[\2 \1]", text))  # noqa: E731
    for block in blocks:
        match block[0]:
            case "h":
                parts.append("=" * block[1] + f" {plain(block[2])} " + "=" * block[1])
            case "p" | "quote":
                parts.append(("> " if block[0] == "quote" else "") + inline(block[1]))
            case "code":
                parts.append("{{{\n" + block[1] + "\n}}}")
            case "ul":
                parts.append("\n".join(f" * {inline(entry)}" for entry in block[1]))
            case "ol":
                parts.append("\n".join(f" 1. {inline(entry)}" for entry in block[1]))
            case "dl":
                parts.append("\n".join(f" {plain(term)}:: {inline(text)}" for term, text in block[1]))
            case "table":
                head, *rows = block[1]
                lines = ["||=" + "=||=".join(plain(cell) for cell in head) + "=||"]
                parts.append(
                    "\n".join(lines + ["||" + "||".join(plain(cell) or " " for cell in row) + "||" for row in rows])
                )
    return "\n\n".join(parts) + "\n"


@application
def trac(book: Book) -> None:
    """Wiki pages, tickets with comments, the report that lists tickets, the roadmap, the timeline, a search."""
    base = folder("trac")
    run(TRAC / "trac-admin", base / "env", "initenv", "Quay tracker", "sqlite:db/trac.db")
    docs = [doc for doc in slice_for(68, docs=3, small=6) if doc.kind != "faq"]
    (base / "pages").mkdir()
    for doc in docs:
        (base / "pages" / f"Marsh{doc.slug.replace('-', '')}").write_text(
            f"= {doc.title} =\n\n" + trac_markup(doc.blocks)
        )
    run(TRAC / "trac-admin", base / "env", "wiki", "load", base / "pages")
    tickets = [
        (texts.TICKETS[at], texts.TICKET_TEXTS[at % 8], [texts.POSTS[(at * 3 + k) % 16] for k in range(at % 4)])
        for at in range(12)
    ]
    milestones = [("Spring tide", texts.PROSE[0]), ("Neap tide", texts.PROSE[4])]
    (base / "fill.py").write_text(f"""
from trac.env import Environment
from trac.ticket.model import Milestone, Ticket
env = Environment({str(base / "env")!r})
for name in ('milestone1', 'milestone2', 'milestone3', 'milestone4'):
    Milestone(env, name).delete()
for name, text in {milestones!r}:
    one = Milestone(env); one.name = name; one.description = text; one.insert()
for at, (summary, text, comments) in enumerate({tickets!r}):
    one = Ticket(env)
    for key, value in dict(summary=summary, description=text, reporter='ines', component='component1', priority='major', milestone='Spring tide', status='new', type='defect', owner='tomas').items():
        one[key] = value
    one.insert()
    for comment in comments:
        one.save_changes('ruth', comment)
""")
    run(TRAC / "python", base / "fill.py")
    with server(8303, TRAC / "tracd", "-s", "--hostname", "127.0.0.1", "-p", "8303", base / "env") as url:
        for doc in docs:
            where = f"{url}/wiki/Marsh{doc.slug.replace('-', '')}"
            book.add_doc(
                "trac", doc, where, get(where), kind=wiki_kind(doc), optional_at=(".trac-modifiedby", "#attachments")
            )
        for at in (1, 3, 6, 11):
            summary, text, comments = tickets[at]
            where = f"{url}/ticket/{at + 1}"
            book.add(
                "trac",
                f"ticket-{at + 1}",
                "tracker",
                where,
                get(where),
                paragraphs=[text, *comments],
                title=summary,
                optional_at=(
                    "#ticket .date",
                    "#trac-ticket-title",
                    "#ticket table.properties",
                    ".trac-change-heading",
                    "h3.change",
                    "#ticket .description > h3",
                    ".changes",
                    "h3#comment\\:description",
                    "#ticket h3",
                    "#attachments",
                    ".foldable",
                    "#changelog h3",
                    "#ticket .trac-properties",
                    "#ticket h1",
                    "#ticket h2",
                    "h1#trac-ticket-title",
                    ".trac-id",
                    ".trac-status",
                    ".trac-type",
                ),
            )
        for path, slug in (
            ("/report/1", "report"),
            ("/query?status=new&col=id&col=summary&col=owner&order=id", "query"),
        ):
            book.add(
                "trac",
                slug,
                "tracker",
                url + path,
                get(url + path),
                paragraphs=[summary for summary, _, _ in tickets],
                title="Active Tickets",
                optional=["List all active tickets by priority.", "Color each row based on priority."],
                optional_at=(
                    "table.listing td",
                    "table.listing th",
                    "h1",
                    "h2",
                    "table.listing caption",
                    "#content .numrows",
                    ".numresults",
                    "#description p",
                    ".description p",
                    ".description",
                ),
            )
        book.add(
            "trac",
            "roadmap",
            "tracker",
            f"{url}/roadmap",
            get(f"{url}/roadmap"),
            title="Roadmap",
            paragraphs=[part for one in milestones for part in one],
            optional_at=(".milestone .info", ".milestone h2", ".milestone h3"),
        )


@application
def roundup(book: Book) -> None:
    """Issues with messages and the list of issues."""
    base = folder("roundup") / "t"
    run(
        TRAC / "roundup-admin",
        "-i",
        base,
        "install",
        "classic",
        "sqlite",
        "tracker_web=http://127.0.0.1:8304/t/,admin_email=a@example.org,mail_domain=example.org,mail_host=127.0.0.1",
        PATH=f"{TRAC}:{os.environ['PATH']}",
    )
    conf = (base / "config.ini").read_text()
    for key, value in (
        ("web", "http://127.0.0.1:8304/t/"),
        ("domain", "example.org"),
        ("host", "127.0.0.1"),
        ("backend", "sqlite"),
    ):
        conf = re.sub(rf"(?m)^{key} = .*", f"{key} = {value}", conf)
    (base / "config.ini").write_text(conf)
    subprocess.run(
        [TRAC / "roundup-admin", "-i", base, "initialise", "adminpw"],
        input="y\n",
        text=True,
        check=True,
        capture_output=True,
    )
    issues = [
        (texts.TICKETS[-at - 1], [texts.TICKET_TEXTS[(at + k) % 8] for k in range(1 + at % 3)]) for at in range(14)
    ]
    (base.parent / "fill.py").write_text(f"""
import roundup.instance
from roundup import date
db = roundup.instance.open({str(base)!r}).open('admin')
for at, (title, messages) in enumerate({issues!r}):
    ids = [db.msg.create(author='1', date=date.Date('2026-01-01') + date.Interval('%dd' % at), summary=text[:60], content=text) for text in messages]
    db.issue.create(title=title, messages=ids, priority=str(1 + at % 5), status=str(1 + at % 7))
db.commit()
""")
    run(TRAC / "python", base.parent / "fill.py")
    run("chown", "-R", "www-data", base.parent)
    with server(
        8304,
        "setpriv",
        "--reuid=www-data",
        "--regid=www-data",
        "--clear-groups",
        TRAC / "roundup-server",
        "-n",
        "127.0.0.1",
        "-p",
        "8304",
        f"t={base}",
    ) as url:
        for at in (0, 4, 8):
            title, messages = issues[at]
            where = f"{url}/t/issue{at + 1}"
            book.add(
                "roundup",
                f"issue-{at + 1}",
                "tracker",
                where,
                get(where),
                title=title,
                paragraphs=messages,
                optional=[f"Issue {at + 1}"],
                optional_at=(
                    "table.form td",
                    "table.form th",
                    "table.messages th",
                    "table.files",
                    "p",
                    "table.history th",
                    "table.history td",
                    ".content > p",
                    "td.date",
                    "table.messages tr:first-child",
                ),
            )
        where = f"{url}/t/issue?@sort=-id&@columns=title,id,status&@pagesize=50"
        html = get(where)
        book.add(
            "roundup",
            "issues",
            "tracker",
            where,
            html,
            title="List of issues",
            paragraphs=[title for title, _ in issues if title in html],
            optional_at=("table.list td", "table.list th", "form.list-form-controls label", "table.list-sort-group"),
        )


REDMINE_FILL = r"""
require 'json'
d=JSON.parse(File.read(ENV['FILL']))
Redmine::DefaultData::Loader.load('en') if Tracker.count==0
ActionMailer::Base.perform_deliveries=false
u=User.find_by_login('admin'); u.update_columns(must_change_passwd: false); User.current=u
p=Project.new(name: 'Breakwater', identifier: 'breakwater', is_public: true, description: d['about']); p.enabled_module_names=%w(issue_tracking wiki news boards); p.trackers=Tracker.all; p.save!
d['issues'].each_with_index{|(s,t,notes),i| is=Issue.new(project: p, tracker: Tracker.all[i%3], author: u, subject: s, description: t, priority: IssuePriority.all[i%4]); is.status=IssueStatus.first; is.save!
 notes.each{|n| Journal.create!(journalized: is, user: u, notes: n)} }
w=Wiki.find_or_create_by(project: p){|q| q.start_page='Wiki'}
d['wiki'].each{|t,b| pg=WikiPage.new(wiki: w,title: t); ct=WikiContent.new(page: pg,text: b,author: u); pg.content=ct; pg.save_with_content(ct)}
d['news'].each{|t,s,b| News.create!(project: p,title: t[0,60],summary: s,description: b,author: u)}
bo=Board.create!(project: p,name: 'Talk',description: 'Anything about the wall')
d['threads'].each{|t,posts| m=Message.create!(board: bo,subject: t,content: posts[0],author: u); posts[1..-1].each{|c| Message.create!(board: bo,subject: 'RE: '+t,content: c,author: u,parent: m)}}
"""


def _textile(blocks: list[Block]) -> str:
    """Return blocks as Redmine reads them; tables by hand, since pandoc writes them as HTML."""
    parts = []
    for block in blocks:
        if block[0] == "table":
            head, *rows = block[1]
            lines = ["|_. " + " |_. ".join(plain(cell) for cell in head) + " |"]
            parts.append("\n".join(lines + ["| " + " | ".join(plain(cell) for cell in row) + " |" for row in rows]))
        elif block[0] == "code":
            parts.append(f"<pre>\n{block[1]}\n</pre>")
        elif block[0] == "dl":
            parts += [part for term, text in block[1] for part in (f"*{plain(term)}*", plain(text))]
        else:
            parts.append(pandoc(to_markdown([block]), "textile").strip())
    return "\n\n".join(parts) + "\n"


@application
def redmine(book: Book) -> None:
    """Issues, their list, wiki pages, news and a forum, in an instance of its own."""
    base = folder("redmine")
    site = Path("/var/lib/redmine/suite")
    shutil.rmtree(site, ignore_errors=True)
    for part in ("config", "files", "public", "tmp/cache", "log"):
        (site / part).mkdir(parents=True)
    (site / "config/database.yml").write_text(
        f"production:\n  adapter: sqlite3\n  database: {base}/redmine.db\n  encoding: utf8\n"
    )
    (site / "config/secret_key.txt").write_text("0123456789abcdef" * 4)
    env = {
        "RAILS_ENV": "production",
        "X_DEBIAN_SITEID": "suite",
        "REDMINE_LANG": "en",
        "FILL": str(base / "data.json"),
        "SCHEMA": str(base / "schema.rb"),
    }
    # "--" in the text of one document is markup in Redmine
    docs = [doc for doc in slice_for(76, docs=2, small=4) if doc.slug != "operations-runbook"]
    issues = [
        (
            texts.TICKETS[(at + 5) % 16],
            texts.TICKET_TEXTS[(at + 3) % 8],
            [texts.POSTS[(at + 2 * k) % 16] for k in range(at % 3)],
        )
        for at in range(12)
    ]
    news = [texts.news_article(at + 4) for at in range(6)]
    threads = [(title, texts.POSTS[at : at + 3]) for at, title in enumerate(texts.TOPICS[:6])]
    wiki = [(doc.slug.capitalize().replace("-", "_"), f"h1. {doc.title}\n\n" + _textile(doc.blocks)) for doc in docs]
    bodies = [(doc.title, doc.summary, "\n\n".join(part[1] for part in doc.blocks if part[0] == "p")) for doc in news]
    (base / "data.json").write_text(
        json.dumps({"about": texts.PROSE[5], "issues": issues, "wiki": wiki, "news": bodies, "threads": threads})
    )
    (base / "fill.rb").write_text(REDMINE_FILL)
    root = Path("/usr/share/redmine")
    run("bundle", "exec", "rake", "db:migrate", cwd=root, **env)
    run("bundle", "exec", "rails", "runner", base / "fill.rb", cwd=root, **env)
    with server(
        8315, "puma", "-b", "tcp://127.0.0.1:8315", "-t", "2:4", "-e", "production", "config.ru", cwd=root, **env
    ) as url:
        meta = (
            ".author",
            "p.author",
            ".journal h4",
            ".attributes",
            ".subject",
            "#history h3",
            ".contextual",
            "h2",
            "h3",
            ".details",
            ".gravatar",
            ".description > p > strong",
            "#relations",
            ".badge",
            ".status",
            ".priority",
            ".issue .label",
            ".wiki-update-info",
            ".next-prev-links",
        )
        for doc, (title, _) in zip(docs, wiki, strict=True):
            where = f"{url}/projects/breakwater/wiki/{title}"
            book.add_doc(
                "redmine",
                doc,
                where,
                get(where),
                kind="wiki" if doc.kind in ("docs", "article") else "",
                optional_at=(".wiki-update-info", ".attachments"),
            )
        for at in (2, 5, 8):
            title, text, notes = issues[at]
            book.add(
                "redmine",
                f"issue-{at + 1}",
                "tracker",
                f"{url}/issues/{at + 1}",
                get(f"{url}/issues/{at + 1}"),
                title=title,
                paragraphs=[text, *notes],
                optional_at=meta,
            )
        where = f"{url}/projects/breakwater/issues"
        book.add(
            "redmine",
            "issues",
            "tracker",
            where,
            get(where),
            title="Issues",
            paragraphs=[title for title, _, _ in issues],
            optional_at=("table.issues td", "table.issues th"),
        )
        where = f"{url}/projects/breakwater/news"
        book.add(
            "redmine",
            "news",
            "news-index",
            where,
            get(where),
            title="News",
            paragraphs=[
                part for title, _, body in bodies for part in (title[:60], *(line for line in body.split("\n\n")))
            ],
            optional_at=(".author", "h3"),
        )
        where = f"{url}/news/2"
        book.add(
            "redmine",
            "news-2",
            "article",
            where,
            get(where),
            title=bodies[1][0],
            paragraphs=[bodies[1][1], *(line for line in bodies[1][2].split("\n\n"))],
            optional_at=(".author", "#comments h3"),
        )
        where = (
            f"{url}/boards/1/topics/"
            + (re.findall(r"/boards/1/topics/(\d+)", get(f"{url}/projects/breakwater/boards/1")) or ["1"])[-1]
        )
        html = get(where)
        title, posts = next(((title, posts) for title, posts in threads if title in html), threads[0])
        book.add(
            "redmine",
            "thread",
            "forum",
            where,
            html,
            title=title,
            paragraphs=posts,
            optional_at=(*meta, "h4", ".message h4", ".reply-header"),
        )
        where = f"{url}/projects/breakwater/boards/1"
        html = get(where)
        book.add(
            "redmine",
            "board",
            "forum",
            where,
            html,
            title="Talk",
            optional=["Anything about the wall"],
            paragraphs=[title for title, _ in threads],
            optional_at=("table.messages td", "table.messages th"),
        )


HELPDESK_SETTINGS = """
SECRET_KEY='x'; DEBUG=True; ALLOWED_HOSTS=['*']; ROOT_URLCONF='urls'; USE_TZ=True; STATIC_URL='/static/'; MEDIA_ROOT='media'; MEDIA_URL='/media/'; DEFAULT_AUTO_FIELD='django.db.models.AutoField'; SITE_ID=1; LOGIN_URL='/login/'
DATABASES={'default':{'ENGINE':'django.db.backends.sqlite3','NAME':'db.sqlite3'}}
INSTALLED_APPS=['django.contrib.auth','django.contrib.contenttypes','django.contrib.sessions','django.contrib.sites','django.contrib.messages','django.contrib.staticfiles','django.contrib.admin','django.contrib.humanize','rest_framework','helpdesk']
MIDDLEWARE=['django.contrib.sessions.middleware.SessionMiddleware','django.middleware.csrf.CsrfViewMiddleware','django.contrib.auth.middleware.AuthenticationMiddleware','django.contrib.messages.middleware.MessageMiddleware']
TEMPLATES=[{'BACKEND':'django.template.backends.django.DjangoTemplates','APP_DIRS':True,'OPTIONS':{'context_processors':['django.template.context_processors.request','django.contrib.auth.context_processors.auth','django.contrib.messages.context_processors.messages','django.template.context_processors.static']}}]
HELPDESK_TEAMS_MODE_ENABLED=False; HELPDESK_KB_ENABLED=True; HELPDESK_SUBMIT_A_TICKET_PUBLIC=True; HELPDESK_VIEW_A_TICKET_PUBLIC=True; HELPDESK_PUBLIC_ENABLED=True; HELPDESK_REDIRECT_TO_LOGIN_BY_DEFAULT=False
"""


@application
def helpdesk(book: Book) -> None:
    """The public side of a help desk: the list of categories, questions and answers, a ticket, the form for a new one."""
    base = folder("helpdesk")
    (base / "settings.py").write_text(HELPDESK_SETTINGS)
    (base / "urls.py").write_text(
        "from django.contrib import admin\nfrom django.urls import include, path\nurlpatterns=[path('', include('helpdesk.urls')), path('admin/', admin.site.urls)]\n"
    )
    env = {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(base)}
    run(HELPDESK / "python", "-m", "django", "migrate", cwd=base, **env)
    categories = [("Counter", texts.PROSE[3]), ("Parcels", texts.PROSE[0]), ("Reading room", texts.PROSE[6])]
    ticket = (texts.TICKETS[3], texts.TICKET_TEXTS[0], texts.TICKET_TEXTS[5:8])
    (base / "fill.py").write_text(f"""
import django; django.setup()
from helpdesk.models import FollowUp, KBCategory, KBItem, Queue, Ticket
queue = Queue.objects.create(title='Desk', slug='desk', allow_public_submission=True)
for at, (name, text) in enumerate({categories!r}):
    category = KBCategory.objects.create(name=name, title=name, slug=name.lower().replace(' ', '-'), description=text, public=True)
    for question, answer in {texts.FAQ!r}[at * 3 : at * 3 + 3]:
        KBItem.objects.create(category=category, title=question, question=question, answer=answer, enabled=True)
title, text, notes = {ticket!r}
one = Ticket.objects.create(queue=queue, title=title, description=text, submitter_email='ines@example.org', secret_key='s1')
for note in notes:
    FollowUp.objects.create(ticket=one, title='Comment', comment=note, public=True)
""")
    run(HELPDESK / "python", "fill.py", cwd=base, **env)
    with server(
        8319, HELPDESK / "python", "-m", "django", "runserver", "--noreload", "127.0.0.1:8319", cwd=base, **env
    ) as url:
        html = get(f"{url}/kb/")
        book.add(
            "helpdesk",
            "kb",
            "list",
            f"{url}/kb/",
            html,
            title="Knowledgebase",
            paragraphs=[part for category in categories for part in category],
            optional_at=("h2", "p"),
        )
        where = f"{url}/kb/parcels/"
        book.add(
            "helpdesk",
            "category",
            "faq",
            where,
            get(where),
            title="Parcels",
            optional=[texts.PROSE[0]],
            paragraphs=[part for pair in texts.FAQ[3:6] for part in pair],
            optional_at=("h2", "small"),
        )
        where = f"{url}/view/?ticket=desk-1&email=ines@example.org&key=s1"
        book.add(
            "helpdesk",
            "ticket",
            "tracker",
            where,
            get(where),
            title=ticket[0],
            paragraphs=[ticket[1], *ticket[2]],
            optional_at=(
                "table th",
                "table td",
                "h2",
                "h3",
                ".byline",
                "h5",
                ".title",
                "small",
                "caption",
                "p",
                "label",
            ),
        )
        where = f"{url}/tickets/submit/"
        html = get(where)
        labels = [label.rstrip(" *:") for label in select_texts(html, ("form label",)) if label.strip()]
        book.add(
            "helpdesk",
            "submit",
            "form",
            where,
            html,
            title="Submit a Ticket",
            paragraphs=labels,
            optional_at=(
                "form .form-text",
                "form .help-block",
                "form button",
                "p",
                "form small",
                "h2",
                "legend",
                "form dd",
            ),
        )
