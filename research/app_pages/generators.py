# ruff: noqa: E501  (prose and commands)
"""Static site generators, each filled with its own slice of the documents.

Needs: a virtual environment with Sphinx, MkDocs, Pelican, Nikola, pdoc3 and the themes named below
(`APP_PAGES_PYTHON`), an npm folder with hexo, vitepress and honkit (`APP_PAGES_NPM`), and from Debian: pandoc, hugo,
jekyll with the theme minima, asciidoctor, texinfo, emacs-nox, docbook-xsl, xsltproc, ikiwiki, doxygen."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from research.app_pages import texts
from research.app_pages.pages import Book, pandoc
from research.app_pages.texts import Doc, repository_docs, small_docs, to_markdown

WORK = Path(os.environ.get("APP_PAGES_WORK", "/tmp/app_pages"))
BIN = Path(os.environ.get("APP_PAGES_PYTHON", "/usr")) / "bin"
NPM = Path(os.environ.get("APP_PAGES_NPM", "/usr/share/nodejs"))
FILES = repository_docs()
GENERATORS: dict[str, Callable[[Book, str, int], None]] = {}


def slice_for(number: int, *, docs: int = 2, small: int = 5) -> list[Doc]:
    """Return the documents for one program: others than its neighbours get."""
    start = number * docs
    chosen = [FILES[(start + at) % len(FILES)] for at in range(docs)]
    every = small_docs(number)
    return chosen + [every[(number * small + at) % len(every)] for at in range(small)]


def run(*command: object, cwd: Path | None = None, **env: str) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, env={**os.environ, **env}, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-1500:]} {done.stderr[-2500:]}")
    return done.stdout


def folder(name: str) -> Path:
    path = WORK / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def generator(*names: str) -> Callable[[Callable[[Book, str, int], None]], Callable[[Book, str, int], None]]:
    def register(build: Callable[[Book, str, int], None]) -> Callable[[Book, str, int], None]:
        for name in names:
            GENERATORS[name] = build
        return build

    return register


def markdown_of(doc: Doc) -> str:
    return f"# {doc.title}\n\n{to_markdown(doc.blocks)}"


def index_doc(docs: list[Doc], title: str, intro: str) -> Doc:
    return Doc("index", title, "list", [("p", intro), ("ul", [f"[{doc.title}]({doc.slug}.html)" for doc in docs])])


SPHINX = {
    "sphinx-alabaster": "alabaster",
    "sphinx-rtd": "sphinx_rtd_theme",
    "sphinx-furo": "furo",
    "sphinx-pydata": "pydata_sphinx_theme",
    "sphinx-book": "sphinx_book_theme",
    "sphinx-python": "python_docs_theme",
    "sphinx-piccolo": "piccolo_theme",
    "sphinx-classic": "classic",
}


@generator(*SPHINX)
def sphinx(book: Book, name: str, number: int) -> None:
    """Build reStructuredText pages and a contents page; the contents are the documents' titles."""
    base, docs = folder(name), slice_for(number, docs=3, small=4)
    (base / "conf.py").write_text(
        f"project='Harbour handbook'\nauthor='The harbour office'\ncopyright='2026, The harbour office'\nrelease='3.2'\n"
        f"html_theme='{SPHINX[name]}'\n"
    )
    for doc in docs:
        (base / f"{doc.slug}.rst").write_text(pandoc(markdown_of(doc), "rst"))
    (base / "index.rst").write_text(
        "Harbour handbook\n================\n\nEverything that people on the quay ask for.\n\n.. toctree::\n   :maxdepth: 1\n\n"
        + "".join(f"   {doc.slug}\n" for doc in docs)
    )
    run(BIN / "sphinx-build", "-q", "-b", "html", base, base / "out")
    for doc in docs:
        book.add_doc(
            name, doc, f"https://handbook.example/{doc.slug}.html", (base / "out" / f"{doc.slug}.html").read_text()
        )
    book.add(
        name,
        "index",
        "list",
        "https://handbook.example/",
        (base / "out" / "index.html").read_text(),
        title="Harbour handbook",
        paragraphs=["Everything that people on the quay ask for.", *(doc.title for doc in docs)],
    )


MKDOCS = {
    "mkdocs-default": "mkdocs",
    "mkdocs-material": "material",
    "mkdocs-readthedocs": "readthedocs",
    "mkdocs-cinder": "cinder",
    "mkdocs-terminal": "terminal",
}


@generator(*MKDOCS)
def mkdocs(book: Book, name: str, number: int) -> None:
    """Build Markdown pages and a start page with links."""
    base, docs = folder(name), slice_for(number)
    (base / "docs").mkdir()
    for doc in docs:
        (base / "docs" / f"{doc.slug}.md").write_text(markdown_of(doc))
    start = index_doc(docs, "Harbour notes", "Short notes for members and guests.")
    (base / "docs" / "index.md").write_text(markdown_of(start).replace(".html)", ".md)"))
    (base / "mkdocs.yml").write_text(
        "site_name: Harbour notes\nsite_url: https://notes.example/\nrepo_url: https://code.example/harbour/notes\n"
        f"copyright: Copyright 2026 the harbour office\ntheme:\n  name: {MKDOCS[name]}\nmarkdown_extensions: [def_list, tables, "
        "fenced_code, {toc: {permalink: true}}]\n"
    )
    run(BIN / "mkdocs", "build", "-q", cwd=base)
    for doc in docs:
        book.add_doc(
            name, doc, f"https://notes.example/{doc.slug}/", (base / "site" / doc.slug / "index.html").read_text()
        )
    book.add_doc(name, start, "https://notes.example/", (base / "site" / "index.html").read_text())


HUGO_BASE = {
    "hugo-plain": '<!doctype html><html lang="{{ .Lang }}"><head><meta charset="utf-8"><title>{{ .Title }} · {{ .Site.Title }}</title></head><body>'
    '<header><a href="/">{{ .Site.Title }}</a><nav><ul>{{ range .Site.Sections }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}'
    '</ul></nav></header><main>{{ block "main" . }}{{ end }}</main><footer><p>© 2026 Harbour office. Built with Hugo.</p></footer></body></html>',
    "hugo-columns": '<!doctype html><html><head><meta charset="utf-8"><title>{{ .Title }}</title></head><body><div id="wrap"><div id="top"><div class="logo">'
    '{{ .Site.Title }}</div><div class="sub">News from the quay</div></div><div id="cols"><div id="left"><h3>Sections</h3><ul>{{ range .Site.Sections }}'
    '<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}</ul><h3>Recent</h3><ul>{{ range first 5 .Site.RegularPages }}<li><a href="'
    '{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}</ul></div><div id="right">{{ block "main" . }}{{ end }}</div></div><div id="bottom">'
    '<a href="/imprint/">Imprint</a> | <a href="/privacy/">Privacy</a> | All rights reserved</div></div></body></html>',
}
HUGO_LIST = {
    "hugo-plain": '{{ define "main" }}<h1>{{ .Title }}</h1>{{ .Content }}<ul>{{ range .Pages }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}</ul>{{ end }}',
    "hugo-columns": '{{ define "main" }}<h1>{{ .Title }}</h1>{{ .Content }}{{ $p := .Paginate .Pages }}{{ range $p.Pages }}<div class="item"><h2><a href="{{ .RelPermalink }}">'
    '{{ .Title }}</a></h2><p>{{ .Description }}</p><a href="{{ .RelPermalink }}">Read more</a></div>{{ end }}{{ template "_internal/pagination.html" . }}{{ end }}',
}
HUGO_SINGLE = {
    "hugo-plain": '{{ define "main" }}<article><h1>{{ .Title }}</h1><time>{{ .Date.Format "2 January 2006" }}</time>{{ .Content }}<nav>{{ with .PrevInSection }}'
    '<a href="{{ .RelPermalink }}">older</a>{{ end }}{{ with .NextInSection }}<a href="{{ .RelPermalink }}">newer</a>{{ end }}</nav></article>{{ end }}',
    "hugo-columns": '{{ define "main" }}<div class="crumbs"><a href="/">Home</a> » <a href="{{ .CurrentSection.RelPermalink }}">{{ .CurrentSection.Title }}</a></div>'
    '<h1>{{ .Title }}</h1><div class="when">{{ .Date.Format "2 January 2006" }}</div><div class="body">{{ .Content }}</div>{{ end }}',
}


@generator(*HUGO_BASE)
def hugo(book: Book, name: str, number: int) -> None:
    """Build a site with small layouts like those in Hugo's own documentation: pages, section lists, a paged news index."""
    base, docs = folder(name), slice_for(number)
    (base / "config.toml").write_text(
        'baseURL="https://hugo.example/"\ntitle="Quay letter"\npaginate=8\n[markup.goldmark.renderer]\nunsafe=true\n'
    )
    (base / "layouts" / "_default").mkdir(parents=True)
    for file, text in (("baseof", HUGO_BASE), ("list", HUGO_LIST), ("single", HUGO_SINGLE)):
        (base / "layouts" / "_default" / f"{file}.html").write_text(text[name])
    news = [texts.news_article(number * 5 + at) for at in range(14)]
    for section, members in (("pages", docs), ("news", news)):
        (base / "content" / section).mkdir(parents=True)
        (base / "content" / section / "_index.md").write_text(
            f"---\ntitle: {section.capitalize()}\n---\n" + ("What happened lately.\n" if section == "news" else "")
        )
        for at, doc in enumerate(members):
            front = f"---\ntitle: {json.dumps(doc.title, ensure_ascii=False)}\ndate: 2026-0{1 + at % 9}-1{at % 9}\ndescription: {json.dumps(doc.summary, ensure_ascii=False)}\n---\n"
            (base / "content" / section / f"{doc.slug}.md").write_text(front + to_markdown(doc.blocks))
    run("hugo", "-s", base, "-d", base / "out", "--quiet")
    dates = ("time", ".when")
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://hugo.example/pages/{doc.slug}/",
            (base / "out" / "pages" / doc.slug / "index.html").read_text(),
            optional_at=dates,
        )
    book.add_doc(
        name,
        news[3],
        f"https://hugo.example/news/{news[3].slug}/",
        (base / "out" / "news" / news[3].slug / "index.html").read_text(),
        optional_at=dates,
    )
    paths = ["news/index.html", "pages/index.html"] + (["news/page/2/index.html"] if name == "hugo-columns" else [])
    for path in paths:
        html = (base / "out" / path).read_text()
        here = [
            doc
            for doc in news + docs
            if f"/{path.split('/')[0]}/{doc.slug}/" in html.split("<main>" if name == "hugo-plain" else 'id="right"')[1]
        ]
        truth = ["What happened lately."] if path.startswith("news") else []
        for doc in here:
            truth += [doc.title, doc.summary] if name == "hugo-columns" else [doc.title]
        book.add(
            name,
            path.removesuffix("/index.html").replace("/", "-"),
            "news-index" if path.startswith("news") else "list",
            f"https://hugo.example/{path.removesuffix('index.html')}",
            html,
            title=path.split("/")[0].capitalize(),
            paragraphs=[text for text in truth if text],
        )


@generator("pelican-notmyidea", "pelican-simple")
def pelican(book: Book, name: str, number: int) -> None:
    """Build articles, a front page with summaries and a category page."""
    base, docs = folder(name), slice_for(number)
    (base / "content" / "pages").mkdir(parents=True)
    news = [texts.news_article(number * 3 + at) for at in range(7)]
    for section, members in (("pages/", docs), ("", news)):
        for at, doc in enumerate(members):
            head = f"Title: {doc.title}\nDate: 2026-0{1 + at % 9}-11 10:20\nCategory: Quay\nTags: harbour, town\nSlug: {doc.slug}\nSummary: {doc.summary}\n\n"
            (base / "content" / f"{section}{doc.slug}.md").write_text(head + to_markdown(doc.blocks))
    theme = name.removeprefix("pelican-")
    (base / "conf.py").write_text(
        f"AUTHOR='Ines Albrecht'\nSITENAME='Quay notes'\nSITEURL=''\nPATH='content'\nTIMEZONE='UTC'\nDEFAULT_LANG='en'\nTHEME='{theme}'\n"
        "FEED_ALL_ATOM=None\nCATEGORY_FEED_ATOM=None\nLINKS=(('Tide tables','https://tides.example/'),)\nSOCIAL=(('Radio','https://radio.example/'),)\n"
        "DEFAULT_PAGINATION=10\nMARKDOWN={'extension_configs':{'markdown.extensions.extra':{},'markdown.extensions.meta':{}},'output_format':'html5'}\n"
    )
    run(BIN / "pelican", "-q", "-s", base / "conf.py", "-o", base / "out", base / "content")
    optional_at = (
        ".post-info",
        "footer.post-info",
        ".byline",
        "time",
        "abbr.published",
        "address",
        ".category",
        ".tags",
    )
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://quay.example/pages/{doc.slug}.html",
            (base / "out" / "pages" / f"{doc.slug}.html").read_text(),
            optional_at=optional_at,
        )
    book.add_doc(
        name,
        news[2],
        f"https://quay.example/{news[2].slug}.html",
        (base / "out" / f"{news[2].slug}.html").read_text(),
        optional_at=optional_at,
    )
    html = (base / "out" / "index.html").read_text()
    first = max(news, key=lambda doc: news.index(doc))
    truth = [part for doc in news for part in (doc.title, doc.summary)]
    if theme == "notmyidea":
        truth = [part for doc in news if doc != first for part in (doc.title, doc.summary)] + [
            first.title,
            *texts.truth_of(first.blocks),
        ]
    book.add(name, "index", "news-index", "https://quay.example/", html, paragraphs=truth, optional_at=optional_at)


@generator("nikola")
def nikola(book: Book, name: str, number: int) -> None:
    """Build pages, posts and the index with teasers."""
    base, docs = WORK / name, slice_for(number)
    shutil.rmtree(base, ignore_errors=True)
    run(BIN / "nikola", "init", "-q", base)
    news = [texts.news_article(number * 3 + at) for at in range(6)]
    conf = (
        (base / "conf.py")
        .read_text()
        .replace('("posts/*.rst", "posts", "post.tmpl"),', '("posts/*.md", "posts", "post.tmpl"),')
    )
    conf = conf.replace('("pages/*.rst", "pages", "page.tmpl"),', '("pages/*.md", "pages", "page.tmpl"),')
    (base / "conf.py").write_text(
        conf
        + "\nINDEX_TEASERS=True\nMARKDOWN_EXTENSIONS=['markdown.extensions.extra','markdown.extensions.fenced_code']\n"
    )
    for section, members in (("pages", docs), ("posts", news)):
        (base / section).mkdir(exist_ok=True)
        for at, doc in enumerate(members):
            head = f".. title: {doc.title}\n.. slug: {doc.slug}\n.. date: 2026-0{1 + at % 9}-12 10:00:00 UTC\n.. tags: harbour\n\n"
            body = to_markdown(doc.blocks)
            if section == "posts":
                body = body.replace("\n\n", "\n\n<!-- TEASER_END -->\n\n", 1)
            (base / section / f"{doc.slug}.md").write_text(head + body)
    run(BIN / "nikola", "build", cwd=base)
    optional_at = (".metadata", ".byline", "time", ".dateline", ".tags")
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://nikola.example/pages/{doc.slug}/",
            (base / "output" / "pages" / doc.slug / "index.html").read_text(),
            optional_at=optional_at,
        )
    book.add_doc(
        name,
        news[1],
        f"https://nikola.example/posts/{news[1].slug}/",
        (base / "output" / "posts" / news[1].slug / "index.html").read_text(),
        optional_at=optional_at,
    )
    book.add(
        name,
        "index",
        "news-index",
        "https://nikola.example/",
        (base / "output" / "index.html").read_text(),
        paragraphs=[part for doc in news for part in (doc.title, texts.plain(doc.blocks[0][1]))],
        optional_at=optional_at,
    )


@generator("jekyll-minima")
def jekyll(book: Book, name: str, number: int) -> None:
    """Build pages, posts and the home page with excerpts."""
    base, docs = folder(name), slice_for(number)
    (base / "_posts").mkdir()
    news = [texts.news_article(number * 3 + at) for at in range(8)]
    (base / "_config.yml").write_text(
        "title: Ferry times\nemail: office@example.org\ndescription: Notes from the ferry landing\ntheme: minima\nshow_excerpts: true\ntwitter_username: ferry\n"
        "permalink: /news/:title/\nmarkdown: kramdown\nkramdown: {input: kramdown, smart_quotes: 'apos,apos,quot,quot'}\n"
    )
    (base / "index.md").write_text("---\nlayout: home\n---\n")
    for doc in docs:
        (base / f"{doc.slug}.md").write_text(
            f"---\nlayout: page\ntitle: {json.dumps(doc.title, ensure_ascii=False)}\npermalink: /{doc.slug}/\n---\n"
            + to_markdown(doc.blocks)
        )
    for at, doc in enumerate(news):
        (base / "_posts" / f"2026-0{1 + at}-11-{doc.slug}.md").write_text(
            f"---\nlayout: post\ntitle: {json.dumps(doc.title)}\n---\n" + to_markdown(doc.blocks)
        )
    run("jekyll", "build", "-q", "-s", base, "-d", base / "out")
    optional_at = (".post-meta",)
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://ferry.example/{doc.slug}/",
            (base / "out" / doc.slug / "index.html").read_text(),
            optional_at=optional_at,
        )
    book.add_doc(
        name,
        news[4],
        f"https://ferry.example/news/{news[4].slug}/",
        (base / "out" / "news" / news[4].slug / "index.html").read_text(),
        optional_at=optional_at,
    )
    book.add(
        name,
        "index",
        "news-index",
        "https://ferry.example/",
        (base / "out" / "index.html").read_text(),
        title="Posts",
        paragraphs=[part for doc in news for part in (doc.title, texts.plain(doc.blocks[0][1]))],
        optional_at=optional_at,
    )


@generator("asciidoctor", "pandoc", "docutils", "texinfo", "org-mode", "docbook-xsl")
def converters(book: Book, name: str, number: int) -> None:
    """Convert single documents with a table of contents, as manuals are published."""
    base, docs = folder(name), slice_for(number)
    for doc in docs:
        source, target = base / doc.slug, base / f"{doc.slug}.html"
        if name == "asciidoctor":
            source.with_suffix(".adoc").write_text(
                f"= {doc.title}\n:toc: left\n:sectanchors:\n\n" + pandoc(to_markdown(doc.blocks), "asciidoctor")
            )
            run("asciidoctor", "-o", target, source.with_suffix(".adoc"))
        elif name == "pandoc":
            source.with_suffix(".md").write_text(to_markdown(doc.blocks))
            run(
                "pandoc",
                "-s",
                "--toc",
                "--metadata",
                f"title={doc.title}",
                "-f",
                "markdown-smart-tex_math_dollars",
                "-t",
                "html5",
                "-o",
                target,
                source.with_suffix(".md"),
            )
        elif name == "docutils":
            source.with_suffix(".rst").write_text(
                f"{'=' * 80}\n{doc.title}\n{'=' * 80}\n\n.. contents:: Table of contents\n\n"
                + pandoc(to_markdown(doc.blocks, shift=-1), "rst")
            )
            run(BIN / "docutils", "--generator", "--source-link", source.with_suffix(".rst"), target)
        elif name == "texinfo":
            unlinked = re.sub(r"\[([^\]]*)\]\(/[^)]*\)", r"\1", to_markdown(doc.blocks, shift=-1))
            body = pandoc(unlinked, "texinfo", "-s", "--metadata", f"title={doc.title}")
            source.with_suffix(".texi").write_text(body)
            run("makeinfo", "--html", "--no-split", "--force", "-o", target, source.with_suffix(".texi"))
        elif name == "org-mode":
            source.with_suffix(".org").write_text(
                f"#+TITLE: {doc.title}\n#+AUTHOR: Petra Lind\n#+OPTIONS: ^:nil toc:t num:nil\n\n"
                + pandoc(to_markdown(doc.blocks, shift=-1), "org")
            )
            run("emacs", "--batch", source.with_suffix(".org"), "-f", "org-html-export-to-html")
        else:
            source.with_suffix(".xml").write_text(
                pandoc(to_markdown(doc.blocks, shift=-1), "docbook4", "-s", "--metadata", f"title={doc.title}")
            )
            run(
                "xsltproc",
                "--nonet",
                "-o",
                target,
                "/usr/share/xml/docbook/stylesheet/docbook-xsl/html/docbook.xsl",
                source.with_suffix(".xml"),
            )
        book.add_doc(
            name,
            doc,
            f"https://manual.example/{doc.slug}.html",
            _decoded(target.read_bytes()),
            optional_at=(".author", ".date", "#postamble"),
        )


def _decoded(body: bytes) -> str:
    return body.decode("latin-1" if b"ISO-8859-1" in body[:2000] else "utf-8")


@generator("ikiwiki")
def ikiwiki(book: Book, name: str, number: int) -> None:
    """Build wiki pages and a blog that inlines the newest posts."""
    base, docs = folder(name), slice_for(number)
    source = base / "src"
    (source / "posts").mkdir(parents=True)
    for doc in docs:
        (source / f"{doc.slug}.html").write_text(f'[[!meta title="{doc.title}"]]\n' + texts.to_html(doc.blocks))
    news = [texts.news_article(number + at) for at in range(5)]
    for doc in news:
        (source / "posts" / f"{doc.slug}.html").write_text(
            f'[[!meta title="{doc.title}"]]\n' + texts.to_html(doc.blocks[:3])
        )
    (source / "blog.mdwn").write_text('All that is new.\n\n[[!inline pages="posts/*" feeds=no]]\n')
    run(
        "ikiwiki",
        "--plugin",
        "inline",
        "--plugin",
        "html",
        "--plugin",
        "meta",
        "--wikiname",
        "Marsh wiki",
        "--set",
        "usedirs=1",
        "--url",
        "https://iki.example/",
        source,
        base / "out",
    )
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://iki.example/{doc.slug}/",
            (base / "out" / doc.slug / "index.html").read_text(),
            kind="wiki" if doc.kind == "docs" else "",
            optional_at=("div.pagedate", ".posted", "span.date", ".inlinefooter"),
        )
    book.add(
        name,
        "blog",
        "news-index",
        "https://iki.example/blog/",
        (base / "out" / "blog" / "index.html").read_text(),
        title="blog",
        paragraphs=[
            "All that is new.",
            *(part for doc in news for part in (doc.title, *texts.truth_of(doc.blocks[:3]))),
        ],
        optional_at=("div.pagedate", ".posted", "span.date", ".inlinefooter"),
    )


@generator("hexo-landscape")
def hexo(book: Book, name: str, number: int) -> None:
    """Build posts, pages, the front page with excerpts and the archive."""
    base, docs = folder(name), slice_for(number)
    theme = name.removeprefix("hexo-")
    docs = [doc for doc in docs if doc.kind != "glossary" and doc.lang != "de"]
    news = [texts.news_article(number * 3 + at) for at in range(6)]
    (base / "_config.yml").write_text(
        "title: Marsh diary\nsubtitle: Written on the quay\nauthor: Ruth Okafor\nlanguage: en\nurl: https://hexo.example\nroot: /\npermalink: news/:title/\n"
        f"theme: {theme}\nper_page: 10\nmarked: {{smartypants: false}}\nindex_generator: {{per_page: 10}}\n"
    )
    (base / "package.json").write_text(
        json.dumps(
            {
                "name": "x",
                "private": True,
                "hexo": {"version": ""},
                "dependencies": dict.fromkeys(
                    (
                        "hexo",
                        f"hexo-theme-{theme}",
                        "hexo-renderer-marked",
                        "hexo-renderer-ejs",
                        "hexo-renderer-stylus",
                        "hexo-renderer-pug",
                        "hexo-renderer-nunjucks",
                        "hexo-generator-index",
                        "hexo-generator-archive",
                        "hexo-generator-category",
                        "hexo-generator-tag",
                    ),
                    "*",
                ),
            }
        )
    )
    (base / "node_modules").symlink_to(NPM / "node_modules")
    (base / "source" / "_posts").mkdir(parents=True)
    for doc in docs:
        (base / "source" / doc.slug).mkdir()
        (base / "source" / doc.slug / "index.md").write_text(
            f"---\ntitle: {json.dumps(doc.title, ensure_ascii=False)}\ndate: 2026-03-04\n---\n"
            + to_markdown(doc.blocks)
        )
    for at, doc in enumerate(news):
        body = to_markdown(doc.blocks).replace("\n\n", "\n\n<!-- more -->\n\n", 1)
        (base / "source" / "_posts" / f"{doc.slug}.md").write_text(
            f"---\ntitle: {json.dumps(doc.title)}\ndate: 2026-0{1 + at}-04\ntags: [harbour]\ncategories: [Town]\n---\n"
            + body
        )
    run(NPM / "node_modules/.bin/hexo", "generate", cwd=base)
    optional_at = (
        *(
            ".article-meta",
            "time",
            ".article-date",
            ".article-category",
            ".article-tag-list",
            ".post-meta",
            ".post-meta-container",
        ),
        *(
            ".article-meta-wrap",
            ".post-tags",
            ".post-tags-box",
            ".article-info",
            ".post-info",
            ".home-article-meta-info-container",
            ".index-btm",
            ".post-date",
            ".archive-year",
            ".archive-item-header",
            "p.h5",
            "p.h4",
            ".year",
            ".article-sort-item.year",
            ".recent-post-info .content",
        ),
    )
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://hexo.example/{doc.slug}/",
            (base / "public" / doc.slug / "index.html").read_text(),
            optional_at=optional_at,
        )
    book.add_doc(
        name,
        news[2],
        f"https://hexo.example/news/{news[2].slug}/",
        (base / "public" / "news" / news[2].slug / "index.html").read_text(),
        optional_at=optional_at,
    )
    book.add(
        name,
        "index",
        "news-index",
        "https://hexo.example/",
        (base / "public" / "index.html").read_text(),
        paragraphs=[part for doc in news for part in (doc.title, texts.plain(doc.blocks[0][1]))],
        optional_at=optional_at,
    )
    book.add(
        name,
        "archives",
        "list",
        "https://hexo.example/archives/",
        (base / "public" / "archives" / "index.html").read_text(),
        paragraphs=[doc.title for doc in news],
        optional_at=(*optional_at, ".archive-year-wrap"),
    )


@generator("vitepress")
def vitepress(book: Book, name: str, number: int) -> None:
    """Build documentation with a sidebar and an outline."""
    base, docs = folder(name), [doc for doc in slice_for(number) if doc.kind != "glossary" and doc.lang != "de"]
    (base / "docs" / ".vitepress").mkdir(parents=True)
    (base / "node_modules").symlink_to(NPM / "node_modules")
    side = [{"text": doc.title, "link": f"/{doc.slug}"} for doc in docs]
    config = {
        "title": "Lock keeper",
        "description": "Handbook",
        "ignoreDeadLinks": True,
        "themeConfig": {
            "nav": [{"text": "Home", "link": "/"}, {"text": "Guide", "link": f"/{docs[0].slug}"}],
            "sidebar": [{"text": "Handbook", "items": side}],
            "footer": {"message": "Free to copy.", "copyright": "Copyright 2026 lock keepers"},
            "outline": "deep",
            "editLink": {"pattern": "https://code.example/edit/:path"},
        },
    }
    (base / "docs" / ".vitepress" / "config.mjs").write_text("export default " + json.dumps(config, ensure_ascii=False))
    for doc in docs:
        (base / "docs" / f"{doc.slug}.md").write_text(markdown_of(doc).replace("{{", "{ {"))
    run(NPM / "node_modules/.bin/vitepress", "build", "docs", cwd=base)
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://vite.example/{doc.slug}.html",
            (base / "docs/.vitepress/dist" / f"{doc.slug}.html").read_text(),
        )


@generator("honkit")
def honkit(book: Book, name: str, number: int) -> None:
    """Build a book with a summary at the side (the successor of GitBook)."""
    base, docs = folder(name), [doc for doc in slice_for(number) if doc.kind != "glossary" and doc.lang != "de"]
    for doc in docs:
        (base / f"{doc.slug}.md").write_text(markdown_of(doc).replace("{{", "{ {").replace("{%", "{ %"))
    (base / "README.md").write_text(
        markdown_of(index_doc(docs, "Book of the marsh", "A small book.")).replace(".html)", ".md)")
    )
    (base / "SUMMARY.md").write_text(
        "# Summary\n\n" + "\n".join(f"* [{doc.title}]({doc.slug}.md)" for doc in docs) + "\n"
    )
    run(NPM / "node_modules/.bin/honkit", "build", ".", "out", cwd=base)
    for doc in docs:
        book.add_doc(
            name, doc, f"https://book.example/{doc.slug}.html", (base / "out" / f"{doc.slug}.html").read_text()
        )
    book.add_doc(
        name,
        index_doc(docs, "Book of the marsh", "A small book."),
        "https://book.example/",
        (base / "out" / "index.html").read_text(),
    )


@generator("doxygen")
def doxygen(book: Book, name: str, number: int) -> None:
    """Build Markdown pages as related pages of a C project."""
    base, docs = folder(name), [doc for doc in slice_for(number) if doc.kind != "glossary" and doc.lang != "de"]
    for doc in docs:
        (base / f"{doc.slug}.md").write_text(
            f"# {doc.title} {{#{doc.slug.replace('-', '_')}}}\n\n" + to_markdown(doc.blocks)
        )
    (base / "Doxyfile").write_text(
        'PROJECT_NAME="Tide library"\nINPUT=.\nFILE_PATTERNS=*.md\nGENERATE_LATEX=NO\nGENERATE_TREEVIEW=NO\nAUTOLINK_SUPPORT=NO\nHTML_OUTPUT=out\nQUIET=YES\nWARNINGS=NO\nMARKDOWN_SUPPORT=YES\nTOC_INCLUDE_HEADINGS=0\nHTML_TIMESTAMP=NO\n'
    )
    run("doxygen", "Doxyfile", cwd=base)
    for doc in docs:
        book.add_doc(
            name,
            doc,
            f"https://tide.example/{doc.slug}.html",
            (base / "out" / f"{doc.slug.replace('-', '_')}.html").read_text(),
        )


MODULE = '''"""{lead}

{more}
"""


class Gauge:
    """{lead2}"""

    def read(self, depth: float) -> float:
        """{one}

        {two}
        """
        return depth

    def reset(self) -> None:
        """{three}"""


def average(values: list[float], *, weight: float = 1.0) -> float:
    """{four}"""
    return sum(values) * weight / len(values)


def report(gauge: Gauge, path: str) -> None:
    """{five}"""
'''


@generator("pdoc3")
def api_docs(book: Book, name: str, number: int) -> None:
    """Build the reference of a small module; the docstrings are the truth, names and signatures are optional."""
    base = folder(name)
    keys = ("lead", "more", "lead2", "one", "two", "three", "four", "five")
    pool = texts.PROSE + texts.PRODUCT_TEXTS + texts.JOB_TEXTS
    values = dict(zip(keys, pool[number % 9 : number % 9 + 8], strict=True))
    (base / "tidegauge").mkdir()
    (base / "tidegauge" / "__init__.py").write_text(MODULE.format(**values))
    run(BIN / "pdoc3", "--html", "-o", base / "out", "tidegauge", cwd=base, PYTHONPATH=str(base))
    html = (base / "out" / "tidegauge" / "index.html").read_text()
    book.add(
        name,
        "tidegauge",
        "code",
        "https://api.example/tidegauge.html",
        html,
        title="tidegauge",
        paragraphs=list(values.values()),
        optional_at=(
            "main pre",
            "main .attr",
            "main .signature",
            "article pre",
            "article code",
            "article h1",
            "article h2",
            "dt",
            ".functionHeader",
            "h1",
        ),
    )


GENERATORS.update(
    dict.fromkeys(("hexo-fluid", "hexo-butterfly", "hexo-keep"), hexo)
)  # after the others: the number of each chooses its texts


@generator("mkdocs-blog")
def mkdocs_blog(book: Book, name: str, number: int) -> None:
    """Build a blog with the plugin of the theme Material: index, post, archive of a year."""
    base = folder(name)
    news = [texts.news_article(number + at) for at in range(6)]
    (base / "docs/blog/posts").mkdir(parents=True)
    (base / "docs/index.md").write_text("# Weir\n\nWelcome.\n")
    (base / "docs/blog/index.md").write_text("# News of the weir\n")
    for at, doc in enumerate(news):
        body = to_markdown(doc.blocks).replace("\n\n", "\n\n<!-- more -->\n\n", 1)
        front = f"---\ndate: 2026-0{1 + at}-07\ncategories: [Town]\n---\n\n# {doc.title}\n\n"
        (base / "docs/blog/posts" / f"{doc.slug}.md").write_text(front + body)
    (base / "mkdocs.yml").write_text(
        "site_name: Weir\nsite_url: https://weir.example/\ntheme:\n  name: material\nplugins: [search, blog]\n"
    )
    run(BIN / "mkdocs", "build", "-q", cwd=base)
    meta = (".md-post__meta", ".md-post__action", "time")
    truth = [part for doc in news for part in (doc.title, texts.plain(doc.blocks[0][1]))]
    html = (base / "site/blog/index.html").read_text()
    book.add(
        name,
        "index",
        "news-index",
        "https://weir.example/blog/",
        html,
        title="News of the weir",
        paragraphs=truth,
        optional_at=meta,
    )
    html = (base / "site/blog/archive/2026/index.html").read_text()
    book.add(
        name,
        "archive",
        "news-index",
        "https://weir.example/blog/archive/2026/",
        html,
        title="2026",
        paragraphs=truth,
        optional_at=meta,
    )
    path = next(
        path
        for path in (base / "site/blog/2026").rglob("index.html")
        if news[3].title in path.read_text().split("</title>")[0]
    )
    book.add_doc(
        name,
        news[3],
        f"https://weir.example/{path.parent.name}/",
        path.read_text(),
        optional_at=(*meta, ".md-sidebar--post"),
    )


@generator("lektor")
def lektor(book: Book, name: str, number: int) -> None:
    """Build the site that `lektor quickstart` makes: pages and a blog that shows whole posts."""
    base, docs = (
        folder(name),
        [doc for doc in slice_for(number, docs=1, small=4) if doc.kind != "glossary" and doc.lang == "en"],
    )
    site = base / "site"
    answers = f"Quay\nDora Pike\n{site}\nY\nY\n"
    subprocess.run(
        [str(BIN / "lektor"), "quickstart", "--path", str(site)],
        input=answers,
        text=True,
        capture_output=True,
        check=False,
    )
    news = [texts.news_article(number + at) for at in range(5)]
    shutil.rmtree(site / "content/blog/first-post")
    for doc in docs:
        (site / "content" / doc.slug).mkdir()
        (site / "content" / doc.slug / "contents.lr").write_text(
            f"_model: page\n---\ntitle: {doc.title}\n---\nbody:\n\n"
            + texts.to_html(doc.blocks).replace("\n---", "\n----")
        )
    for at, doc in enumerate(news):
        (site / "content/blog" / doc.slug).mkdir()
        (site / "content/blog" / doc.slug / "contents.lr").write_text(
            f"title: {doc.title}\n---\npub_date: 2026-0{1 + at}-09\n---\nauthor: Dora Pike\n---\nbody:\n\n"
            + to_markdown(doc.blocks)
        )
    run(BIN / "lektor", "build", "-O", base / "out", cwd=site)
    meta = (".meta", "p.meta")
    for doc in docs:
        book.add_doc(
            name, doc, f"https://lektor.example/{doc.slug}/", (base / "out" / doc.slug / "index.html").read_text()
        )
    book.add_doc(
        name,
        news[1],
        f"https://lektor.example/blog/{news[1].slug}/",
        (base / "out/blog" / news[1].slug / "index.html").read_text(),
        optional_at=meta,
    )
    truth = [part for doc in news for part in (doc.title, *texts.truth_of(doc.blocks))]
    book.add(
        name,
        "blog",
        "news-index",
        "https://lektor.example/blog/",
        (base / "out/blog/index.html").read_text(),
        paragraphs=truth,
        optional_at=meta,
    )
