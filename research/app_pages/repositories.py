# ruff: noqa: E501  (prose and commands)
"""Views of files: cgit, gitweb, Fossil, a mail archive, and listings of folders by Apache, Python and lighttpd."""

from __future__ import annotations

import email.message
import email.utils
import mailbox
import os
import random
import subprocess
from pathlib import Path

from research.app_pages import texts
from research.app_pages.applications import application, get, server
from research.app_pages.generators import folder, run, slice_for
from research.app_pages.pages import Book
from research.app_pages.texts import to_markdown

CODE = '''"""Read the tide gauge at the old pier."""

LIMIT = 4.2  # metres above the zero of the map


def read_level(sensor: str, samples: int = 5) -> float:
    """Return the mean of a few samples, without the highest and the lowest."""
    values = sorted(measure(sensor) for _ in range(samples))
    return sum(values[1:-1]) / (samples - 2)


def is_flood(level: float) -> bool:
    return level > LIMIT
'''
README = "Tide gauge\n==========\n\nReads the water level and warns the harbour master by telephone.\n"


def _repository(base: Path) -> tuple[Path, list[str]]:
    """Return a repository with twelve commits, and their subjects."""
    work = base / "work"
    work.mkdir()
    env = {
        "GIT_AUTHOR_NAME": "Jan Helmer",
        "GIT_AUTHOR_EMAIL": "jan@example.org",
        "GIT_COMMITTER_NAME": "Jan Helmer",
        "GIT_COMMITTER_EMAIL": "jan@example.org",
    }
    run("git", "init", "-q", "-b", "main", work)
    subjects = [f"Fix: {ticket[0].lower()}{ticket[1:]}" for ticket in texts.TICKETS[:12]]
    for name, text in (
        ("README", README),
        ("gauge.py", CODE),
        ("notes.txt", "\n".join(texts.PROSE) + "\n"),
        ("Makefile", "check:\n\tpython3 -m gauge\n"),
    ):
        (work / name).write_text(text)
    for at, subject in enumerate(subjects):
        (work / "log.txt").write_text("\n".join(texts.POSTS[: at + 2]) + "\n")
        run("git", "add", "-A", cwd=work)
        date = f"2026-03-{10 + at}T10:00:00Z"
        run(
            "git",
            "commit",
            "-q",
            "-m",
            subject,
            "-m",
            texts.TICKET_TEXTS[at % 8],
            cwd=work,
            GIT_AUTHOR_DATE=date,
            GIT_COMMITTER_DATE=date,
            **env,
        )
    run("git", "tag", "v1.0", cwd=work)
    run("git", "clone", "-q", "--bare", work, base / "gauge.git")
    (base / "gauge.git/description").write_text("Reads the tide gauge at the old pier\n")
    return base / "gauge.git", subjects


def run_cgi(script: str, query: str, path: str, **env: str) -> str:
    """Return what a CGI program prints, without its headers."""
    whole = {
        **os.environ,
        "REQUEST_METHOD": "GET",
        "QUERY_STRING": query,
        "PATH_INFO": path,
        "SERVER_NAME": "git.example",
        "SERVER_PORT": "80",
        "HTTP_HOST": "git.example",
        "SCRIPT_NAME": "/",
        "REQUEST_URI": path + ("?" + query if query else ""),
        "SERVER_PROTOCOL": "HTTP/1.1",
        **env,
    }
    out = subprocess.run([script], env=whole, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    return out.split("\n\n", 1)[-1] if "\r\n\r\n" not in out[:600] else out.split("\r\n\r\n", 1)[1]


FILE_NAMES = ["Makefile", "README", "gauge.py", "log.txt", "notes.txt"]


@application
def cgit(book: Book) -> None:
    """The index, a summary, a log, a commit, a tree and files."""
    base = folder("cgit")
    repository, subjects = _repository(base)
    (base / "cgitrc").write_text(
        f"css=/cgit.css\nvirtual-root=/\ncache-size=0\nroot-title=Code of the harbour\nroot-desc=What runs on the quay\nrepo.url=gauge\nrepo.path={repository}\n"
        "repo.desc=Reads the tide gauge at the old pier\nrepo.owner=Jan Helmer\n"
    )
    env = {"CGIT_CONFIG": str(base / "cgitrc")}
    page = lambda path, query="": run_cgi("/usr/lib/cgit/cgit.cgi", query, path, **env)  # noqa: E731
    meta = (
        "td.main",  # the name of the repository and what it is, above the tabs, are its title
        "td.sub",
        "table.list td",
        "table.list th",
        "table.commit-info td",
        "table.commit-info th",
        ".commit-subject",
        "div.path",
        "div.content > a",
        "table.diffstat td",
        "div.diffstat-summary",
        "div.diffstat-header",
        "table.linenumbers",
        "td.linenumbers",
    )
    book.add(
        "cgit",
        "index",
        "code",
        "https://git.example/",
        page("/"),
        paragraphs=["Reads the tide gauge at the old pier"],
        optional_at=meta,
    )
    book.add(
        "cgit",
        "summary",
        "code",
        "https://git.example/gauge/",
        page("/gauge/"),
        paragraphs=list(reversed(subjects))[:10],
        optional_at=meta,
    )
    book.add(
        "cgit",
        "log",
        "code",
        "https://git.example/gauge/log/",
        page("/gauge/log/"),
        paragraphs=subjects[:11],
        optional=subjects,
        optional_at=meta,
    )
    book.add(
        "cgit",
        "tree",
        "listing",
        "https://git.example/gauge/tree/",
        page("/gauge/tree/"),
        paragraphs=FILE_NAMES,
        optional_at=meta,
    )
    blobs = {name: texts.re.findall(r"blob: (\w+)", page(f"/gauge/tree/{name}")) for name in ("gauge.py", "notes.txt")}
    book.add(
        "cgit",
        "file",
        "code",
        "https://git.example/gauge/tree/gauge.py",
        page("/gauge/tree/gauge.py"),
        optional=["blob", "plain", *blobs["gauge.py"]],
        paragraphs=[line for line in CODE.splitlines() if line.strip()],
        optional_at=meta,
    )
    book.add(
        "cgit",
        "notes",
        "code",
        "https://git.example/gauge/tree/notes.txt",
        page("/gauge/tree/notes.txt"),
        optional=["blob", "plain", *blobs["notes.txt"]],
        paragraphs=texts.PROSE,
        optional_at=meta,
    )
    book.add(
        "cgit",
        "commit",
        "code",
        "https://git.example/gauge/commit/",
        page("/gauge/commit/"),
        paragraphs=[texts.TICKET_TEXTS[11 % 8]],
        optional=[subjects[11]],
        optional_at=(*meta, "table.diff *"),
    )


@application
def gitweb(book: Book) -> None:
    """The list of projects, a summary, a log, a tree and files."""
    base = folder("gitweb")
    repository, subjects = _repository(base)
    (base / "gitweb.conf").write_text(
        f'$projectroot="{repository.parent}"; $site_name="Harbour code"; $projects_list_description_width=80;\n'
    )
    env = {"GITWEB_CONFIG": str(base / "gitweb.conf")}
    page = lambda query: run_cgi("/usr/share/gitweb/gitweb.cgi", query, "/", **env)  # noqa: E731
    meta = (
        ".age",
        "td.mode",
        "td.size",
        "table.tree td.link",
        "table.shortlog td.link",
        "table.shortlog td i",
        "table.project_list td",
        "table.project_list th",
        "table.projects_list td",
        "a.title",
        "div.title",
        "td.sha1",
        "div.log_link",
        "span.age",
        "i",
        ".author_date",
        "td.author",
        "span.refs span",
        ".linenr",
        "table.heads td",
        "table.tags td",
        ".page_path",
        "td.link",
    )
    where = "https://git.example/?"
    book.add(
        "gitweb",
        "projects",
        "code",
        where,
        page(""),
        paragraphs=["Reads the tide gauge at the old pier"],
        optional_at=meta,
    )
    book.add(
        "gitweb",
        "summary",
        "code",
        where + "p=gauge.git;a=summary",
        page("p=gauge.git;a=summary"),
        paragraphs=list(reversed(subjects)),
        optional_at=meta,
    )
    book.add(
        "gitweb",
        "shortlog",
        "code",
        where + "p=gauge.git;a=shortlog",
        page("p=gauge.git;a=shortlog"),
        paragraphs=subjects,
        optional_at=meta,
    )
    book.add(
        "gitweb",
        "log",
        "code",
        where + "p=gauge.git;a=log",
        page("p=gauge.git;a=log"),
        paragraphs=[texts.TICKET_TEXTS[at % 8] for at in range(12)],
        optional=subjects,
        optional_at=meta,
    )
    book.add(
        "gitweb",
        "tree",
        "listing",
        where + "p=gauge.git;a=tree",
        page("p=gauge.git;a=tree"),
        paragraphs=FILE_NAMES,
        optional_at=meta,
    )
    query = "p=gauge.git;a=blob;f=gauge.py;hb=HEAD"
    book.add(
        "gitweb",
        "file",
        "code",
        where + query,
        page(query),
        paragraphs=[line for line in CODE.splitlines() if line.strip()],
        optional_at=meta,
    )
    query = "p=gauge.git;a=blob;f=notes.txt;hb=HEAD"
    book.add("gitweb", "notes", "code", where + query, page(query), paragraphs=texts.PROSE, optional_at=meta)


@application
def fossil(book: Book) -> None:
    """Wiki pages, the list of them, tickets, the forum, a file and the folder."""
    base = folder("fossil")
    env = {"HOME": str(base), "USER": "ines"}
    repo = base / "quay.fossil"
    run("fossil", "init", repo, cwd=base, **env)
    docs = slice_for(79, docs=2, small=4)
    for doc in docs:
        (base / f"{doc.slug}.wiki").write_text(to_markdown(doc.blocks))
        run(
            "fossil",
            "wiki",
            "create",
            doc.title,
            base / f"{doc.slug}.wiki",
            "-M",
            "text/x-markdown",
            "-R",
            repo,
            cwd=base,
            **env,
        )
    for at, title in enumerate(texts.TICKETS[:8]):
        run(
            "fossil",
            "ticket",
            "add",
            "title",
            title,
            "icomment",
            texts.TICKET_TEXTS[at],
            "comment",
            texts.TICKET_TEXTS[at],
            "status",
            "Open",
            "type",
            "Code_Defect",
            "-R",
            repo,
            cwd=base,
            **env,
        )
    run("fossil", "settings", "default-perms", "u", "-R", repo, cwd=base, **env)
    run("fossil", "user", "capabilities", "nobody", "cghijknoprwz2", "-R", repo, cwd=base, **env)
    with server(8321, "fossil", "server", "--localhost", "--port", "8321", repo, cwd=base, **env) as url:
        for doc in docs:
            where = f"{url}/wiki?name={texts.re.sub(' ', '+', doc.title)}"
            if doc.kind in ("glossary",):
                continue
            book.add_doc("fossil", doc, where, get(where), kind="wiki" if doc.kind in ("docs", "article") else "")
        where = f"{url}/wcontent"
        book.add(
            "fossil",
            "wcontent",
            "list",
            where,
            get(where),
            title="Wiki Content",
            paragraphs=[doc.title for doc in docs],
            optional_at=("table td", "table th"),
        )
        where = f"{url}/rptview?rn=1"
        html = get(where)
        book.add(
            "fossil",
            "tickets",
            "tracker",
            where,
            html,
            title="All Tickets",
            paragraphs=[title for title in texts.TICKETS[:8] if title in html],
            optional_at=(
                "table.report td",
                "table.report th",
                "table.sortable td",
                "table.sortable th",
                "table.reportKey td",
                "table.reportKey",
            ),
        )


@application
def mhonarc(book: Book) -> None:
    """Messages of a mailing list, the index by thread and the index by date."""
    base = folder("mhonarc")
    rng = random.Random(5)
    box = mailbox.mbox(base / "list.mbox")
    sent: list[tuple[str, str, list[str]]] = []
    for at in range(24):
        message = email.message.Message()
        parent = rng.choice(sent) if sent and at % 3 else None
        subject = parent[1] if parent else texts.TOPICS[at % 16]
        paragraphs = [texts.POSTS[(at * 3 + k) % 16] for k in range(2)]
        for key, value in (
            ("From", f"{texts.PEOPLE[at % 12]} <p{at % 12}@example.org>"),
            ("To", "quay@example.org"),
            ("Subject", ("Re: " if parent else "") + subject),
            ("Message-Id", f"<m{at}@example.org>"),
            ("Date", email.utils.formatdate(1770000000 + at * 7000)),
        ):
            message[key] = value
        if parent:
            message["In-Reply-To"] = parent[0]
        message.set_payload("\n\n".join(paragraphs) + f"\n\n{texts.PEOPLE[at % 12]}\n", "utf-8")
        box.add(message)
        sent.append((f"<m{at}@example.org>", subject, paragraphs))
    box.flush()
    (base / "out").mkdir()
    run("mhonarc", "-quiet", "-outdir", base / "out", "-idxfname", "index.html", base / "list.mbox")
    for at in (0, 4, 9, 15):
        path = base / "out" / f"msg{at:05}.html"
        head = texts.re.search(r"(?s)<!--X-Head-of-Message-->(.*?)<!--X-Head-of-Message-End-->", path.read_text())
        book.add(
            "mhonarc",
            f"message-{at}",
            "forum",
            f"https://lists.example/msg{at:05}.html",
            path.read_text(),
            title=sent[at][1],
            paragraphs=sent[at][2],
            optional_at=("body > ul:first-of-type li",),
            optional=[
                texts.PEOPLE[at % 12],
                "Re " + sent[at][1],
                *([texts.re.sub(r"<[^>]+>", " ", head[1])] if head else []),
            ],
        )
    for file in ("index.html", "threads.html"):
        path = base / "out" / file
        if path.exists():
            book.add(
                "mhonarc",
                file.removesuffix(".html"),
                "forum",
                f"https://lists.example/{file}",
                path.read_text(),
                paragraphs=[("Re: " if at % 3 else "") + subject for at, (_, subject, _) in enumerate(sent)],
                optional=[f"{texts.PEOPLE[at % 12]} p{at % 12} example.org" for at in range(24)],
                optional_at=("h1", "ul li em", "h2"),
            )


def folder_of_files(base: Path) -> list[str]:
    names = [
        "tidetable-2026.pdf",
        "harbour_map.svg",
        "minutes-of-may.txt",
        "price list.csv",
        "songs.zip",
        "archive/",
        "photographs/",
        "readme.txt",
        "weir-levels.json",
        "fleet.xml",
    ]
    for name in names:
        if name.endswith("/"):
            (base / name).mkdir(parents=True)
        else:
            (base / name).write_text(texts.PROSE[len(name) % 8] * (1 + len(name)))
    return names


@application
def listings(book: Book) -> None:
    """Listings of a folder by Apache (two forms) and by Python."""
    base = folder("listings")
    (base / "files/pub").mkdir(parents=True)
    names = folder_of_files(base / "files/pub")
    truth = [name.rstrip("/") for name in names]
    modules = "/usr/lib/apache2/modules"
    for slug, options in (
        ("apache-fancy", "FancyIndexing HTMLTable VersionSort NameWidth=*"),
        ("apache-pre", "FancyIndexing NameWidth=*"),
        ("apache-plain", "-FancyIndexing"),
    ):
        (base / "httpd.conf").write_text(
            f"ServerRoot {base}\nServerName files.example\nPidFile {base}/pid\nListen 127.0.0.1:8322\nErrorLog {base}/error.log\nDocumentRoot {base}/files\n"
            + "".join(
                f"LoadModule {name}_module {modules}/mod_{name}.so\n"
                for name in ("mpm_prefork", "authz_core", "autoindex", "dir", "mime")
            )
            + f"TypesConfig /etc/mime.types\nMutex file:{base}\nServerSignature On\n<Directory {base}/files>\nOptions +Indexes\nRequire all granted\nIndexOptions {options}\n</Directory>\n"
        )
        with server(8322, "apache2", "-f", base / "httpd.conf", "-DFOREGROUND") as url:
            book.add(
                "apache-autoindex",
                slug,
                "listing",
                f"{url}/pub/",
                get(f"{url}/pub/"),
                title="Index of /pub",
                paragraphs=truth,
                optional_at=("table td", "table th", "pre"),
            )
    with server(8323, "python3", "-m", "http.server", "8323", "--bind", "127.0.0.1", "-d", base / "files") as url:
        book.add(
            "python-http-server",
            "pub",
            "listing",
            f"{url}/pub/",
            get(f"{url}/pub/"),
            title="Directory listing for /pub/",
            paragraphs=truth,
        )
