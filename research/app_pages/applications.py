# ruff: noqa: E501  (prose and commands)
"""Applications, each in a folder of its own and answering on a port of its own, filled through their scripts or APIs.

Needs from Debian: php-cli, mediawiki, dokuwiki, wordpress, mariadb-server, cgit, gitweb, mhonarc, apache2, redmine with
redmine-sqlite and puma, fossil; from PyPI: Trac and roundup (`APP_PAGES_TRAC`), django-spirit (`APP_PAGES_SPIRIT`),
django-oscar (`APP_PAGES_PYTHON`), django-machina (`APP_PAGES_MACHINA`)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from research.app_pages import texts
from research.app_pages.generators import WORK, folder, markdown_of, run, slice_for
from research.app_pages.pages import Book, pandoc
from research.app_pages.texts import Block, Doc, plain, to_markdown

TRAC = Path(os.environ.get("APP_PAGES_TRAC", "/usr")) / "bin"
APPLICATIONS: dict[str, Callable[[Book], None]] = {}


def application(build: Callable[[Book], None]) -> Callable[[Book], None]:
    APPLICATIONS[build.__name__] = build
    return build


def get(url: str) -> str:
    """Return a page, also one with an error status."""
    url = urllib.request.quote(url, safe=":/?&=;,@+%!~*'()[]#")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.read().decode("utf-8", "replace")


@contextmanager
def server(port: int, *command: object, cwd: Path | None = None, **env: str) -> Iterator[str]:
    """Run a server until it answers, and stop it afterwards."""
    log = (WORK / f"server-{port}.log").open("w")
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).close()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # also its workers
        process.wait(20)
        log.close()


def wiki_kind(doc: Doc) -> str:
    return "wiki" if doc.kind in ("docs", "article") else ""


MW_NAMES = {
    "vector": "Heron",
    "vector-2022": "Plover",
    "monobook": "Curlew",
    "timeless": "Avocet",
    "minerva": "Godwit",
}  # first word of the titles
MW_SKINS = {"vector": 60, "vector-2022": 61, "monobook": 62, "timeless": 63, "minerva": 64}


@application
def mediawiki(book: Book) -> None:
    """Five skins over one wiki: articles, lists, a category, all pages, a search, a talk page, a list of changes."""
    base = folder("mediawiki")
    root = base / "www"
    shutil.copytree(
        "/usr/share/mediawiki",
        root,
        ignore=shutil.ignore_patterns("LocalSettings.php", "images"),
        ignore_dangling_symlinks=True,
    )
    run(
        "php",
        root / "maintenance/install.php",
        "--confpath",
        base,
        "--dbtype",
        "sqlite",
        "--dbpath",
        base,
        "--dbname",
        "wiki",
        "--server",
        "http://127.0.0.1:8301",
        "--scriptpath",
        "",
        "--pass",
        "adminpass12345",
        "--skins",
        "Vector,MonoBook,Timeless,MinervaNeue",
        "Marsh Wiki",
        "Admin",
    )
    conf = base / "LocalSettings.php"
    conf.write_text(conf.read_text() + '\n$wgArticlePath = "/index.php/$1";\n$wgUsePathInfo = true;\n')
    docs = {skin: slice_for(number, docs=2, small=4) for skin, number in MW_SKINS.items()}

    def edit(title: str, text: str) -> object:
        return subprocess.run(
            ["php", str(root / "maintenance/edit.php"), "--conf", str(conf), "-u", "Admin", title],
            input=text,
            text=True,
            check=True,
            capture_output=True,
        )

    for skin, members in docs.items():
        for doc in members:
            edit(
                f"{MW_NAMES[skin]} {doc.title}",
                pandoc(to_markdown(doc.blocks), "mediawiki") + f"\n[[Category:{MW_NAMES[skin]} pages]]\n",
            )
        edit(f"Category:{MW_NAMES[skin]} pages", texts.PROSE[MW_SKINS[skin] % 8])
        posts = texts.POSTS[MW_SKINS[skin] % 8 :][:4]
        edit(
            f"Talk:{MW_NAMES[skin]} {members[0].title}",
            f"== {texts.TOPICS[MW_SKINS[skin] % 16]} ==\n"
            + "\n".join(":" * at + post for at, post in enumerate(posts)),
        )
    run("php", root / "maintenance/rebuildall.php", "--conf", conf)
    run("php", root / "maintenance/runJobs.php", "--conf", conf)
    with server(8301, "php", "-S", "127.0.0.1:8301", "-t", root, MW_CONFIG_FILE=str(conf)) as url:
        for skin, members in docs.items():
            _mediawiki_skin(book, url, skin, members)


def _mediawiki_skin(book: Book, url: str, skin: str, members: list[Doc]) -> None:
    name = f"mediawiki-{skin}"

    def address(title: str, more: str = "") -> str:
        title = title[0].upper() + title[1:]
        return f"{url}/index.php/{urllib.request.quote(title.replace(' ', '_'))}?useskin={skin}{more}"

    titles = [f"{MW_NAMES[skin]} {doc.title}" for doc in members]
    for doc, title in zip(members, titles, strict=True):
        page = doc._replace(title=title)
        book.add_doc(
            name,
            page,
            address(title),
            get(address(title)),
            kind=wiki_kind(doc),
            optional=["From Marsh Wiki"],
            optional_at=("#catlinks",),
        )
    category = f"Category:{MW_NAMES[skin]} pages"
    book.add(
        name,
        "category",
        "list",
        address(category),
        get(address(category)),
        title=category,
        paragraphs=[texts.PROSE[MW_SKINS[skin] % 8], *titles],
        optional=["From Marsh Wiki"],
        optional_at=("#mw-pages > h2", "#mw-pages > p", ".mw-category-group h3", ".mw-content-ltr h3"),
    )
    where = address("Special:AllPages", f"&from={MW_NAMES[skin]}&to={MW_NAMES[skin]}zz")
    book.add(
        name, "allpages", "list", where, get(where), title="All pages", paragraphs=titles, optional=["From Marsh Wiki"]
    )
    talk = f"Talk:{titles[0]}"
    if skin != "minerva":  # shows the list of topics only
        book.add(
            name,
            "talk",
            "forum",
            address(talk),
            get(address(talk)),
            title=talk,
            optional=["From Marsh Wiki"],
            paragraphs=[texts.TOPICS[MW_SKINS[skin] % 16], *texts.POSTS[MW_SKINS[skin] % 8 :][:4]],
        )
    where = address("Special:Search", f"&fulltext=1&search={MW_NAMES[skin]}&ns0=1&limit=20").replace("intitle:", "")
    html = get(where)
    found = [title for title in titles if f'title="{title}"' in html]
    if len(found) > 2:
        book.add(
            name,
            "search",
            "search",
            where,
            html,
            title="Search results",
            paragraphs=found,
            optional_at=(".searchresult", ".mw-search-result-data"),
        )


@application
def dokuwiki(book: Book) -> None:
    """Wiki pages, the index of a namespace, a search, old revisions, the list of recent changes."""
    base = folder("dokuwiki")
    shutil.copytree("/usr/share/dokuwiki", base / "www", symlinks=False)
    shutil.copytree(
        "/etc/dokuwiki", base / "conf", symlinks=False, ignore=shutil.ignore_patterns("*.apache*", "*.conf.apache")
    )
    for part in (
        "pages/harbour",
        "attic",
        "cache",
        "index",
        "locks",
        "media",
        "media_attic",
        "media_meta",
        "meta",
        "tmp",
        "log",
    ):
        (base / "data" / part).mkdir(parents=True)
    (base / "conf" / "local.php").write_text(
        "<?php\n$conf['title']='Quay wiki'; $conf['lang']='en'; $conf['useacl']=0; $conf['recent']=20; $conf['license']='cc-by-sa';"
        f" $conf['userewrite']=0; $conf['savedir']='{base}/data'; $conf['baseurl']='http://127.0.0.1:8302'; $conf['basedir']='/';\n"
    )
    for file in ("local.protected.php", "plugins.local.php"):
        (base / "conf" / file).unlink(missing_ok=True)
    (base / "www/inc/preload.php").write_text(
        f"<?php\nif(!defined('DOKU_CONF')) define('DOKU_CONF','{base}/conf/');\n"
        f"if(!defined('DOKU_E_LEVEL')) define('DOKU_E_LEVEL', E_ERROR);\n"
    )
    docs = slice_for(66, docs=4, small=6)
    for doc in docs:
        # a definition list has no markup here; bold terms as pandoc writes them are kept
        (base / "data/pages/harbour" / f"{doc.slug.replace('-', '_')}.txt").write_text(
            pandoc(markdown_of(doc), "dokuwiki")
        )
    (base / "data/pages/start.txt").write_text(
        "====== Start ======\n\nWelcome on board.\n\n"
        + "".join(f"  * [[harbour:{doc.slug.replace('-', '_')}|{doc.title}]]\n" for doc in docs)
    )
    run("php", base / "www/bin/indexer.php", "-q")
    with server(8302, "php", "-S", "127.0.0.1:8302", "-t", base / "www") as url:
        meta = (".docInfo", ".pageId")
        for doc in docs:
            where = f"{url}/doku.php?id=harbour:{doc.slug.replace('-', '_')}"
            book.add_doc("dokuwiki", doc, where, get(where), kind=wiki_kind(doc), optional_at=meta)
        book.add(
            "dokuwiki",
            "start",
            "list",
            f"{url}/doku.php?id=start",
            get(f"{url}/doku.php?id=start"),
            title="Start",
            optional_at=meta,
            paragraphs=["Welcome on board.", *(doc.title for doc in docs)],
        )
        where = f"{url}/doku.php?do=search&id=start&q=harbour"
        html = get(where)
        names = [f"{doc.slug.replace('-', '_')}" for doc in docs]
        book.add(
            "dokuwiki",
            "search",
            "search",
            where,
            html,
            title="Search",
            paragraphs=[name for name in names if f"id=harbour:{name}" in html.split('id="dokuwiki__content"')[1]],
            optional_at=(
                ".search_fullpage_result dd",
                ".search_results dd",
                ".search_fullpage_result .meta",
                ".search_results dl dt",
            ),
        )


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
