# ruff: noqa: E501  (prose and commands)
"""References made from comments in source code (rustdoc, RDoc, javadoc), manual pages and notebooks (pod2html, groff, Zim),
Docusaurus, listings by nginx and lighttpd, and a mail archive by public-inbox. `APP_PAGES_DOCUSAURUS`: its npm folder."""

from __future__ import annotations

import email.message
import email.utils
import json
import os
import re
import subprocess
import textwrap
from pathlib import Path

from research.app_pages import texts
from research.app_pages.applications import application, get, server
from research.app_pages.generators import folder, markdown_of, run, slice_for
from research.app_pages.pages import Book, pandoc
from research.app_pages.repositories import folder_of_files
from research.app_pages.texts import to_markdown

DOCUSAURUS = Path(os.environ.get("APP_PAGES_DOCUSAURUS", "/usr/share/nodejs"))
SENTENCES = texts.PROSE + texts.PRODUCT_TEXTS


@application
def rustdoc(book: Book) -> None:
    """The pages of a crate, a struct and a function."""
    base = folder("rustdoc")
    p = SENTENCES[2:9]
    (base / "gauge.rs").write_text(
        f"//! {p[0]}\n//!\n//! {p[1]}\n//!\n//! # Errors\n//!\n//! - {p[2]}\n//! - None of the pumps is known.\n\n/// {p[3]}\npub struct Gauge {{\n    /// {p[4]}\n    pub depth: f64,\n}}\n\n"
        f"impl Gauge {{\n    /// {p[5]}\n    pub fn read(&self) -> f64 {{ self.depth }}\n}}\n\n/// {p[6]}\npub fn average(values: &[f64]) -> f64 {{ values.iter().sum() }}\n"
    )
    run("rustdoc", base / "gauge.rs", "--crate-type", "lib", "-o", base / "out")
    names = (
        "main h1",
        "main .item-decl",
        "main .code-header",
        "main pre",
        "main .item-name",
        "main dt",
        "main h2.section-header",
        "main .item-table a",
        "main .structfield code",
        "main h2",
        "main h3",
    )
    for path, slug, truth in (
        ("index.html", "crate", [p[0], p[1], p[2], "None of the pumps is known.", "Errors", p[3], p[6]]),
        ("struct.Gauge.html", "struct", [p[3], p[4], p[5]]),
        ("fn.average.html", "function", [p[6]]),
    ):
        html = (base / "out/gauge" / path).read_text()
        # the automatic and blanket implementations of a struct are its own reference, but not of this source
        book.add(
            "rustdoc",
            slug,
            "code",
            f"https://crates.example/gauge/{path}",
            html,
            paragraphs=truth,
            optional_at=(
                *names,
                "#synthetic-implementations-list",
                "#blanket-implementations-list",
                "#trait-implementations-list",
            ),
        )


@application
def rdoc(book: Book) -> None:
    """A class and a page of RDoc (Darkfish)."""
    base = folder("rdoc")
    p = SENTENCES[5:12]
    doc = slice_for(81, docs=1, small=2)[-1]
    (base / "gauge.rb").write_text(
        f"# {p[0]}\n#\n# {p[1]}\n#\n# * {p[2]}\n# * Wind from the north\nclass Gauge\n  # {p[3]}\n  def read(depth)\n    depth\n  end\n\n  # {p[4]}\n  def reset\n  end\nend\n"
    )
    (base / "NOTES.md").write_text(markdown_of(doc))
    run("rdoc", "-q", "-o", base / "out", "gauge.rb", "NOTES.md", cwd=base)
    book.add(
        "rdoc",
        "gauge",
        "code",
        "https://ruby.example/Gauge.html",
        (base / "out/Gauge.html").read_text(),
        title="class Gauge",
        paragraphs=[*p[:3], "Wind from the north", p[3], p[4]],
        optional_at=(
            "main .method-heading",
            "main .method-source-code",
            "main .documentation-section-title",
            "main header",
            "main h1",
        ),
    )
    book.add_doc("rdoc", doc, "https://ruby.example/NOTES_md.html", (base / "out/NOTES_md.html").read_text())


@application
def javadoc(book: Book) -> None:
    """A class of javadoc and the package with its table of classes."""
    base = folder("javadoc")
    p = SENTENCES[8:15]
    source = base / "quay"
    source.mkdir()
    (source / "Gauge.java").write_text(
        f"package quay;\n/** {p[0]}\n * <p>{p[1]}</p>\n * <ul><li>{p[2]}</li><li>Calm water only</li></ul>\n */\npublic class Gauge {{\n  /** {p[3]} */\n  public Gauge() {{}}\n  /** {p[4]}\n   * @param depth metres below the zero of the map\n   * @return the level in metres */\n  public double read(double depth) {{ return depth; }}\n}}\n"
    )
    (source / "package-info.java").write_text(f"/** {p[5]} */\npackage quay;\n")
    run("javadoc", "-quiet", "-Xdoclint:none", "-d", base / "out", "-notimestamp", *source.glob("*.java"))
    names = (
        "main h1",
        "main h2",
        "main h3",
        "main .summary-table *",
        "main .member-signature",
        "main dt",
        "main .notes *",
        "main .inheritance",
        "main .type-signature",
        "main .caption *",
        "main .sub-title",
        "main .title",
        "main .package-signature",
        "main code",
        "main #method-summary *",
        "main .col-first",
    )
    book.add(
        "javadoc",
        "class",
        "code",
        "https://java.example/quay/Gauge.html",
        (base / "out/quay/Gauge.html").read_text(),
        title="Class Gauge",
        paragraphs=[*p[:3], "Calm water only", p[3], p[4], "metres below the zero of the map", "the level in metres"],
        optional_at=names,
    )
    book.add(
        "javadoc",
        "package",
        "code",
        "https://java.example/quay/package-summary.html",
        (base / "out/quay/package-summary.html").read_text(),
        title="Package quay",
        paragraphs=[p[5], p[0]],
        optional_at=names,
    )


@application
def manuals(book: Book) -> None:
    """Perl documentation by pod2html and manual pages by groff."""
    base = folder("manuals")
    for at, doc in enumerate(slice_for(84, docs=2, small=6)):
        if doc.lang not in ("en", "fr") or any(block[0] == "table" for block in doc.blocks):
            continue
        if at % 2:
            parts = [f"=encoding utf8\n\n=head1 {doc.title}\n"]
            for block in doc.blocks:
                if block[0] == "h":
                    parts.append(f"=head2 {texts.plain(block[2])}\n")
                elif block[0] in ("ul", "ol"):
                    parts.append(
                        "=over\n\n" + "".join(f"=item *\n\n{texts.plain(entry)}\n\n" for entry in block[1]) + "=back\n"
                    )
                elif block[0] == "dl":
                    parts.append(
                        "=over\n\n" + "".join(f"=item {term}\n\n{text}\n\n" for term, text in block[1]) + "=back\n"
                    )
                elif block[0] == "code":
                    parts.append("\n".join("  " + line for line in block[1].split("\n")) + "\n")
                else:
                    parts.append(texts.plain(block[1]) + "\n")
            (base / f"{doc.slug}.pod").write_text("\n".join(parts))
            run(
                "pod2html",
                f"--infile={base / doc.slug}.pod",
                f"--outfile={base / doc.slug}.html",
                f"--title={doc.title}",
                f"--cachedir={base}",
            )
            book.add_doc(
                "pod2html", doc, f"https://perl.example/{doc.slug}.html", (base / f"{doc.slug}.html").read_text()
            )
        else:
            (base / f"{doc.slug}.man").write_text(
                pandoc(
                    to_markdown(doc.blocks, shift=-1),
                    "man",
                    "-s",
                    "--metadata",
                    f"title={doc.title}",
                    "--metadata",
                    "section=7",
                )
            )
            html = run("groff", "-Thtml", "-man", "-K", "utf8", base / f"{doc.slug}.man")
            book.add_doc("groff", doc, f"https://man.example/{doc.slug}.7.html", html)


@application
def zim(book: Book) -> None:
    """A notebook of Zim, exported with its default template."""
    base = folder("zim")
    docs = [doc for doc in slice_for(86, docs=2, small=4) if doc.kind != "glossary" and doc.lang != "de"]
    (base / "book").mkdir()
    (base / "book/notebook.zim").write_text("[Notebook]\nname=Quay\nversion=0.4\nhome=Home\n")
    for doc in docs:
        (base / "book" / f"{doc.slug.replace('-', '_')}.txt").write_text(
            "Content-Type: text/x-zim-wiki\nWiki-Format: zim 0.6\n\n====== "
            + doc.title
            + " ======\n\n"
            + pandoc(to_markdown(doc.blocks), "zimwiki")
        )
    run("zim", "--export", "--format=html", "--template=Default", "-o", base / "out", base / "book")
    for doc in docs:
        book.add_doc(
            "zim",
            doc,
            f"https://zim.example/{doc.slug}.html",
            (base / "out" / f"{doc.slug.replace('-', '_')}.html").read_text(),
            kind="wiki" if doc.kind == "docs" else "",
        )


@application
def docusaurus(book: Book) -> None:
    """Documentation with sidebar, table of contents, breadcrumbs; a blog with its index and archive."""
    base = folder("docusaurus")
    docs = [doc for doc in slice_for(88, docs=2, small=5) if doc.kind != "glossary" and doc.lang != "de"]
    news = [texts.news_article(at + 7) for at in range(5)]
    (base / "node_modules").symlink_to(DOCUSAURUS / "node_modules")
    (base / "package.json").write_text('{"name": "quay", "private": true}')
    config = {
        "title": "Quay manual",
        "url": "https://docu.example",
        "baseUrl": "/",
        "onBrokenLinks": "ignore",
        "onBrokenMarkdownLinks": "ignore",
        "presets": [
            [
                "classic",
                {
                    "docs": {"routeBasePath": "docs", "editUrl": "https://code.example/edit/"},
                    "blog": {"showReadingTime": True, "blogSidebarCount": 5},
                },
            ]
        ],
        "themeConfig": {
            "navbar": {
                "title": "Quay manual",
                "items": [{"to": "/docs/", "label": "Manual"}, {"to": "/blog", "label": "News"}],
            },
            "footer": {
                "style": "dark",
                "links": [{"title": "More", "items": [{"label": "Harbour radio", "href": "https://radio.example"}]}],
                "copyright": "Copyright 2026 harbour office",
            },
        },
    }
    (base / "docusaurus.config.js").write_text("module.exports = " + json.dumps(config))
    (base / "docs").mkdir()
    (base / "blog").mkdir()
    escape = lambda text: text.replace("{", "\\{").replace("<", "&lt;")  # noqa: E731
    for at, doc in enumerate(docs):
        slug = "slug: /\n" if at == 0 else ""
        (base / "docs" / f"{doc.slug}.md").write_text(
            f"---\ntitle: {json.dumps(doc.title, ensure_ascii=False)}\n{slug}---\n\n" + escape(to_markdown(doc.blocks))
        )
    for at, doc in enumerate(news):
        body = to_markdown(doc.blocks).replace("\n\n", "\n\n<!--truncate-->\n\n", 1)
        (base / "blog" / f"2026-02-1{at}-{doc.slug}.md").write_text(
            f"---\ntitle: {json.dumps(doc.title)}\nauthors: [{{name: Mina Castell}}]\ntags: [harbour]\n---\n\n" + body
        )
    run(DOCUSAURUS / "node_modules/.bin/docusaurus", "build", base, cwd=base, NODE_OPTIONS="--openssl-legacy-provider")
    meta = (
        "time",
        "[class*=blogPostDate]",
        "[class*=blogPostData]",
        ".avatar",
        ".margin-vert--md",
        "article footer",
        ".theme-edit-this-page",
        "[class*=container_mt6G]",
        "header > div",
    )
    for at, doc in enumerate(docs):
        path = base / "build/docs" / ("index.html" if at == 0 else f"{doc.slug}/index.html")
        book.add_doc(
            "docusaurus",
            doc,
            f"https://docu.example/docs/{'' if at == 0 else doc.slug}",
            path.read_text(),
            optional_at=(),
        )
    book.add(
        "docusaurus",
        "blog",
        "news-index",
        "https://docu.example/blog",
        (base / "build/blog/index.html").read_text(),
        paragraphs=[part for doc in news for part in (doc.title, doc.summary)],
        optional_at=meta,
    )
    path = next((base / "build/blog").rglob(f"{news[1].slug}/index.html"))
    book.add_doc("docusaurus", news[1], "https://docu.example/blog/" + news[1].slug, path.read_text(), optional_at=meta)
    if (base / "build/blog/archive/index.html").exists():
        book.add(
            "docusaurus",
            "archive",
            "list",
            "https://docu.example/blog/archive",
            (base / "build/blog/archive/index.html").read_text(),
            title="Archive",
            paragraphs=[doc.title for doc in news],
            optional_at=("main time", "main h2", "main h3", "main li", "header p", "main p"),
        )


@application
def web_servers(book: Book) -> None:
    """Listings of a folder by nginx and lighttpd."""
    base = folder("web_servers")
    (base / "files/pub").mkdir(parents=True)
    truth = [name.rstrip("/") for name in folder_of_files(base / "files/pub")]
    (base / "nginx.conf").write_text(
        f"daemon off; pid {base}/pid; error_log {base}/error.log; events {{}} http {{ access_log off; client_body_temp_path {base}/t; server {{ listen 127.0.0.1:8324; root {base}/files; autoindex on; }} }}"
    )
    with server(8324, "nginx", "-c", base / "nginx.conf", "-p", base) as url:
        html = get(f"{url}/pub/")
        book.add(
            "nginx-autoindex",
            "pub",
            "listing",
            f"{url}/pub/",
            html,
            title="Index of /pub/",
            paragraphs=truth,
            optional=re.findall(r"\d\d-\w+-\d{4} \d\d:\d\d +\S+", html),
        )
    (base / "lighttpd.conf").write_text(
        f'server.document-root="{base}/files"\nserver.bind="127.0.0.1"\nserver.port=8325\nserver.modules=("mod_dirlisting")\ndir-listing.activate="enable"\n'
    )
    with server(8325, "lighttpd", "-D", "-f", base / "lighttpd.conf") as url:
        book.add(
            "lighttpd-dirlisting",
            "pub",
            "listing",
            f"{url}/pub/",
            get(f"{url}/pub/"),
            title="Index of /pub/",
            paragraphs=truth,
            optional_at=("table td", "table th"),
        )


@application
def public_inbox(book: Book) -> None:
    """Messages, a thread and the front page of a mailing list archive."""
    base = folder("public_inbox")
    env = {"HOME": str(base), "PI_CONFIG": str(base / "config")}
    run("public-inbox-init", "-V2", "quay", base / "quay", "http://127.0.0.1:8326/quay/", "quay@example.org", **env)
    run("git", "config", "-f", base / "config", "publicinboxmda.spamcheck", "none")
    sent: list[tuple[str, list[str]]] = []
    for at in range(8):
        message = email.message.Message()
        paragraphs = [texts.POSTS[(at * 2 + k) % 16] for k in range(2)]
        subject = texts.TOPICS[at // 3]
        for key, value in (
            ("From", f"{texts.PEOPLE[at % 12]} <p{at}@example.org>"),
            ("To", "quay@example.org"),
            ("Subject", ("Re: " if at % 3 else "") + subject),
            ("Message-Id", f"<m{at}@example.org>"),
            ("Date", email.utils.formatdate(1770000000 + at * 7000)),
        ):
            message[key] = value
        if at % 3:
            message["In-Reply-To"] = f"<m{at - at % 3}@example.org>"
        message.set_payload("\n\n".join(textwrap.fill(part, 70) for part in paragraphs) + "\n", "utf-8")
        subprocess.run(
            ["public-inbox-mda", "--no-precheck"],
            input=message.as_bytes(),
            env={**os.environ, **env, "ORIGINAL_RECIPIENT": "quay@example.org"},
            check=False,
            capture_output=True,
        )
        sent.append((subject, paragraphs))
    with server(8326, "public-inbox-httpd", "-l", "http://127.0.0.1:8326", **env) as url:
        for at in (1, 3):
            where = f"{url}/quay/m{at}@example.org/"
            html = get(where)
            head = re.search(r"(?s)<pre\s+id=b>(.*?)\n\n", html)
            book.add(
                "public-inbox",
                f"message-{at}",
                "forum",
                where,
                html,
                title=sent[at][0],
                paragraphs=sent[at][1],
                optional=["Re", *([re.sub(r"<[^>]+>", " ", head[1])] if head else [])],
            )
        where = f"{url}/quay/"
        html = get(where)
        book.add(
            "public-inbox",
            "index",
            "forum",
            where,
            html,
            paragraphs=list(dict.fromkeys(subject for subject, _ in sent)),
            optional=[*re.findall(r"\d{4}-\d\d-\d\d +\d?\d:\d\d", html), *re.findall(r"(?m)- \d+\+? messages", html)],
        )
