# ruff: noqa: E501  (prose and commands)
"""Pages of real software with their truth: cleaned HTML, what must be kept, what may be, and all the rest as foreign."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from lxml import html as lxml_html

from research.app_pages.texts import Doc, plain, truth_of

UNSEEN = re.compile(
    r"<(script|style|svg|template)\b[^>]*>.*?</\1\s*>|<!--.*?-->|<link\b[^>]*>|<input[^>]*type=.hidden.[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
INLINE = {
    "a",
    "abbr",
    "b",
    "bdi",
    "bdo",
    "cite",
    "code",
    "del",
    "em",
    "font",
    "i",
    "ins",
    "kbd",
    "label",
    "mark",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "time",
    "tt",
    "u",
    "var",
    "wbr",
    "math",
    "button",
    "img",
}


GENERATED = (
    "sphinx",
    "mkdocs",
    "hugo",
    "pelican",
    "nikola",
    "jekyll",
    "asciidoctor",
    "pandoc",
    "docutils",
    "texinfo",
    "org-mode",
    "docbook",
    "hexo",
    "vitepress",
    "honkit",
    "doxygen",
    "ikiwiki",
)


def words_of(text: str) -> list[str]:
    """Return the words of a text as compared: case and punctuation do not count."""
    return re.findall(r"\w+", text.casefold())


def padded(text: str) -> str:
    return " " + " ".join(words_of(text)) + " "


def clean_html(html: str) -> str:
    """Return a page without scripts, styles, pictures in markup and comments; lines that become empty are dropped."""
    html = re.sub(r"data:[a-z]+/[^\"')\s]{200,}", "data:,", UNSEEN.sub("", html))
    return (
        re.sub(r"\n[ \t]*(?:\n[ \t]*)+", "\n", html).strip() + "\n"
        if "<pre" not in html
        else re.sub(r"\n(?:[ \t]*\n){3,}", "\n\n", html)
    )


def visible_strings(html: str) -> list[str]:
    """Return the text of the page, one string per run of inline content."""
    tree = lxml_html.document_fromstring(html.encode(), parser=lxml_html.HTMLParser(encoding="utf-8"))
    runs: list[str] = [""]

    def walk(node: lxml_html.HtmlElement) -> None:
        if not isinstance(node.tag, str) or node.tag in (
            "head",
            "script",
            "style",
            "noscript",
            "template",
            "textarea",
            "option",
        ):
            return
        block = node.tag not in INLINE
        if block:
            runs.append("")
        runs[-1] += node.text or ""
        for child in node:
            walk(child)
            runs[-1] += child.tail or ""
        if block:
            runs.append("")

    walk(tree)
    return [" ".join(run.split()) for run in runs if re.search(r"\w", run)]


def select_texts(html: str, selectors: Iterable[str]) -> list[str]:
    """Return the texts of the elements that the selectors name."""
    tree = lxml_html.document_fromstring(html.encode(), parser=lxml_html.HTMLParser(encoding="utf-8"))
    return [" ".join(node.text_content().split()) for selector in selectors for node in tree.cssselect(selector)]


class Book:
    """Collects pages and complains about a truth that the page does not contain."""

    def __init__(self) -> None:
        self.pages: list[dict[str, object]] = []
        self.complaints: list[str] = []

    def add(
        self,
        software: str,
        slug: str,
        kind: str,
        url: str,
        html: str,
        *,
        paragraphs: list[str],
        title: str = "",
        optional: Iterable[str] = (),
        optional_at: Iterable[str] = (),
    ) -> None:
        """Add a page; `optional_at` are selectors of what counts neither way."""
        html = clean_html(html)
        every = "".join(padded(run) for run in visible_strings(html))
        whole = padded(" ".join(visible_strings(html)))
        allowed = [
            text
            for text in ([title] if title else []) + [*optional, *select_texts(html, optional_at)]
            if words_of(text)
        ]
        for text in paragraphs:
            if padded(text) not in every and padded(text) not in whole:
                self.complaints.append(f"{software} {slug}: not on the page: {text[:90]!r}")
        known = [padded(text) for text in [*paragraphs, *allowed]]
        foreign = [
            run
            for run in visible_strings(html)
            if not any(padded(run) in text or text in padded(run) for text in known)
        ]
        self.pages.append(
            {
                "id": f"{software}/{slug}",
                "software": software,
                "kind": kind,
                "url": url,
                "html": html,
                "paragraphs": paragraphs,
                "optional": allowed,
                "foreign": sorted(set(foreign)),
            }
        )

    def add_doc(
        self,
        software: str,
        doc: Doc,
        url: str,
        html: str,
        *,
        optional: Iterable[str] = (),
        optional_at: Iterable[str] = (),
        more: Iterable[str] = (),
        kind: str = "",
    ) -> None:
        """Add a page whose truth is one document; its title is optional since the text may leave it out."""
        self.add(
            software,
            doc.slug,
            kind or doc.kind,
            url,
            html,
            paragraphs=[*truth_of(doc.blocks), *more],
            title=plain(doc.title),
            optional=optional,
            optional_at=optional_at,
        )


def trim(pages: list[dict[str, object]], *, most: int = 4) -> list[dict[str, object]]:
    """Keep one article and a few lists, tables and indexes of each generator: its other pages are alike."""
    kept = []
    for software in dict.fromkeys(str(page["software"]) for page in pages):
        own = [page for page in pages if page["software"] == software]
        articles = [page for page in own if page["kind"] in ("docs", "wiki", "article")]
        others = [page for page in own if page["kind"] not in ("docs", "wiki")]
        others.sort(key=lambda page: (page["kind"] != "news-index", not str(page["id"]).endswith("/index")))
        if software.startswith(GENERATED):
            own = articles[:1] + [page for page in others if page not in articles[:1]][: most - 1]
        kept += own
    return kept


def save(pages: list[dict[str, object]], path: Path) -> None:
    """Write pages as JSON lines, the same bytes for the same pages."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(page, ensure_ascii=False, sort_keys=True) + "\n" for page in pages)
    path.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))


def load(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def pandoc(markdown: str, target: str, *options: str) -> str:
    """Return Markdown in another markup."""
    source = "markdown-smart-tex_math_dollars-raw_html-raw_tex-citations-subscript-superscript-strikeout-implicit_figures-auto_identifiers"
    return subprocess.run(
        ["pandoc", "-f", source, "-t", target, "--wrap=none", *options],
        input=markdown,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
