# ruff: noqa: E501  (prose and commands)
"""Small programs of Debian: the wikis gitit and didiwiki, the blog chronicle, staticsite, and Halibut manuals."""

from __future__ import annotations

from research.app_pages import texts
from research.app_pages.applications import application, get, server
from research.app_pages.generators import folder, run, slice_for
from research.app_pages.pages import Book
from research.app_pages.texts import Block, plain, to_html, to_markdown


@application
def gitit(book: Book) -> None:
    """Wiki pages, the index of pages, the list of changes and a search."""
    base = folder("gitit")
    docs = [doc for doc in slice_for(93, docs=2, small=5) if doc.lang == "en"]
    wiki = base / "wikidata"
    wiki.mkdir()
    run("git", "init", "-q", wiki)
    for doc in docs:
        (wiki / f"{doc.slug}.page").write_text(f"---\ntitle: {doc.title}\n...\n\n" + to_markdown(doc.blocks))
    run("git", "add", "-A", cwd=wiki)
    run(
        "git",
        "-c",
        "user.name=Olu Brandt",
        "-c",
        "user.email=olu@example.org",
        "commit",
        "-q",
        "-m",
        "First pages",
        cwd=wiki,
    )
    conf = (
        run("gitit", "--print-default-config")
        .replace("address: 0.0.0.0", "address: 127.0.0.1")
        .replace("port: 5001", "port: 8331")
        .replace("wiki-title: Wiki", "wiki-title: Lock wiki")
    )
    (base / "gitit.conf").write_text(conf)
    with server(8331, "gitit", "-f", base / "gitit.conf", cwd=base, HOME=str(base)) as url:
        for doc in docs:
            book.add_doc(
                "gitit",
                doc,
                f"{url}/{doc.slug}",
                get(f"{url}/{doc.slug}"),
                kind="wiki" if doc.kind in ("docs", "article") else "",
                optional=[doc.slug],
            )
        book.add(
            "gitit",
            "index",
            "list",
            f"{url}/_index",
            get(f"{url}/_index"),
            title="Index",
            paragraphs=[doc.slug for doc in docs],
            optional=["Front Page", "Help", "Gitit User's Guide"],
        )


@application
def didiwiki(book: Book) -> None:
    """Pages of a tiny wiki and the list of them."""
    base = folder("didiwiki")
    docs = [doc for doc in slice_for(95, docs=0, small=9) if doc.lang == "en" and doc.kind not in ("glossary", "table")]
    for doc in docs:
        lines = [f"= {doc.title}", ""]
        for block in doc.blocks:
            if block[0] == "h":
                lines += [f"== {plain(block[2])}", ""]
            elif block[0] in ("ul", "ol"):
                lines += [f"* {plain(entry)}" for entry in block[1]] + [""]
            elif block[0] in ("p", "quote"):
                lines += [plain(block[1]), ""]
        name = "Quay" + doc.slug.title().replace("-", "")
        (base / name).write_text("\n".join(lines))
    shown = ("h", "ul", "ol", "p", "quote")
    with server(8332, "didiwiki", "-l", "127.0.0.1", "-p", "8332", "-h", base, cwd=base, DIDIWIKIHOME=str(base)) as url:
        for doc in docs:
            name = "Quay" + doc.slug.title().replace("-", "")
            own = doc._replace(blocks=[block for block in doc.blocks if block[0] in shown])
            book.add_doc(
                "didiwiki",
                own,
                f"{url}/{name}",
                get(f"{url}/{name}"),
                kind="wiki" if doc.kind in ("docs", "article") else "",
                optional=[name],
            )
        book.add(
            "didiwiki",
            "changes",
            "list",
            f"{url}/Changes",
            get(f"{url}/Changes"),
            title="Changes",
            paragraphs=["Quay" + doc.slug.title().replace("-", "") for doc in docs],
            optional=["WikiHelp", "WikiHome"],
            optional_at=("#wikidata",),
        )


@application
def chronicle(book: Book) -> None:
    """A blog: the front page, a post, the list of tags."""
    base = folder("chronicle")
    news = [texts.news_article(at + 5) for at in range(6)]
    (base / "posts").mkdir()
    for at, doc in enumerate(news):
        (base / "posts" / f"{doc.slug}.txt").write_text(
            f"Title: {doc.title}\nDate: {10 + at} March 2026 10:00:00\nTags: harbour\n\n{to_html(doc.blocks)}\n"
        )
    run(
        "chronicle",
        f"--input={base}/posts",
        f"--output={base}/out",
        "--url-prefix=https://chron.example/",
        "--theme-dir=/usr/share/chronicle/themes",
        "--theme=default",
        cwd=base,
    )
    files = list((base / "out").rglob("*.html"))
    meta = (".date", ".tags", ".title", "h2", ".footer", ".info", "p.tag")
    truth = [part for doc in news for part in (doc.title, *texts.truth_of(doc.blocks))]
    book.add(
        "chronicle",
        "index",
        "news-index",
        "https://chron.example/",
        (base / "out/index.html").read_text(),
        paragraphs=truth,
        optional_at=meta,
    )
    post = next(path for path in files if news[2].title.split()[0].lower() in path.name.lower())
    book.add_doc("chronicle", news[2], f"https://chron.example/{post.name}", post.read_text(), optional_at=meta)


@application
def staticsite(book: Book) -> None:
    """Pages, a blog and its archive with the default theme."""
    base = folder("staticsite")
    docs = slice_for(97, docs=1, small=4)
    news = [texts.news_article(at + 2) for at in range(5)]
    (base / "content/blog").mkdir(parents=True)
    (base / "content/index.md").write_text(
        "---\nsite_name: Lock letter\nsite_url: https://lock.example\nsite_author: Samir Noor\n---\n\n# Lock letter\n\nNews from the lock, twice a month.\n"
    )
    for doc in docs:
        (base / "content" / f"{doc.slug}.md").write_text(
            f"---\ndate: 2026-01-02 10:00:00+00:00\n---\n\n# {doc.title}\n\n" + to_markdown(doc.blocks)
        )
    for at, doc in enumerate(news):
        (base / "content/blog" / f"{doc.slug}.md").write_text(
            f"---\ndate: 2026-0{1 + at}-02 10:00:00+00:00\ntags: [harbour]\n---\n\n# {doc.title}\n\n"
            + to_markdown(doc.blocks)
        )
    run("ssite", "build", base, "-o", base / "out")
    meta = ("table td", "table th", ".post-date", "time", ".text-muted", ".post-content .small", ".published")
    for doc in docs:
        book.add_doc(
            "staticsite",
            doc,
            f"https://lock.example/{doc.slug}/",
            (base / "out/content" / doc.slug / "index.html").read_text(),
            optional_at=meta,
        )
    where = base / "out/content/blog" / news[1].slug / "index.html"
    book.add_doc(
        "staticsite", news[1], f"https://lock.example/blog/{news[1].slug}/", where.read_text(), optional_at=meta
    )
    if (base / "out/content/blog/index.html").exists():
        html = (base / "out/content/blog/index.html").read_text()
        book.add(
            "staticsite",
            "blog",
            "list",
            "https://lock.example/blog/",
            html,
            paragraphs=[doc.title for doc in news if doc.title in html],
            optional_at=meta,
        )


def _halibut(blocks: list[Block]) -> str:
    parts = []
    clean = lambda text: plain(text).replace("\\", "\\\\").replace("{", "\\{").replace("}", "\\}")  # noqa: E731
    for at, block in enumerate(blocks, 1):
        match block[0]:
            case "h":
                parts.append(f"\\H{{s{at}}} {clean(block[2])}")
            case "p" | "quote":
                parts.append(clean(block[1]))
            case "ul":
                parts += [f"\\b {clean(entry)}" for entry in block[1]]
            case "ol":
                parts += [f"\\n {clean(entry)}" for entry in block[1]]
            case "dl":
                parts += [part for term, text in block[1] for part in (f"\\dt {clean(term)}", f"\\dd {clean(text)}")]
            case "code":
                parts.append("\n".join(f"\\c {line}" for line in block[1].split("\n")))
    return "\n\n".join(parts) + "\n"


@application
def halibut(book: Book) -> None:
    """A manual in chapters with a contents page and links to the next chapter."""
    base = folder("halibut")
    docs = [
        doc
        for doc in slice_for(99, docs=3, small=5)
        if not any(block[0] == "table" for block in doc.blocks) and doc.lang == "en"
    ]
    source = "\\cfg{input-charset}{UTF-8}\\cfg{html-output-charset}{UTF-8}\\cfg{html-chapter-numeric}{false}\\cfg{html-leaf-level}{1}\n\n\\title Quay handbook\n\nThe rules of the quay, in one book.\n\n"
    for at, doc in enumerate(docs):
        source += f"\\C{{c{at}}} {plain(doc.title)}\n\n" + _halibut(doc.blocks).replace("\\H{s", f"\\H{{c{at}s") + "\n"
    (base / "book.but").write_text(source)
    run("halibut", "--html", "book.but", cwd=base)
    for at, doc in enumerate(docs):
        path = base / f"c{at}.html"
        path = path if path.exists() else base / f"Chapter{at + 1}.html"
        book.add_doc(
            "halibut",
            doc,
            f"https://handbook.example/{path.name}",
            path.read_text(),
            optional=[f"Chapter {at + 1}", f"{at + 1}", f"{at + 1}"],
        )
    path = base / "Contents.html"
    book.add(
        "halibut",
        "index",
        "list",
        "https://handbook.example/",
        path.read_text(),
        title="Quay handbook",
        paragraphs=["The rules of the quay, in one book.", *(doc.title for doc in docs)],
        optional=[plain(block[2]) for doc in docs for block in doc.blocks if block[0] == "h"],
        optional_at=("ul li",),
    )
