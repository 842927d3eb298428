"""Build the documentation as a site: `make docs-site`, or `mkdocs build` without the list of versions.

The functions `on_…` are hooks of MkDocs: the order of the pages, and links to files outside of docs/.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SITE = ROOT / "build" / "site"
SECTIONS = (
    ("Start", ("tutorial", "operations/install.md")),
    ("How do I…", ("recipes/watch.md", "recipes/crawl.md", "recipes/use-data.md", "recipes/operate.md", "recipes")),
    ("Guides", ("guides",)),
    ("Operations", ("operations",)),
    ("Concepts", ("concepts", "glossary.md", "decisions")),
    ("Reference", ("reference", "stability.md", "formats")),
)  # By need: first what a newcomer looks for.
_LINK = re.compile(r"(\]\()((?:\.\./)+[^)\s]+)(\))")
_COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)  # Before the heading it would hide the page's title.
_LOADED = re.compile(r'<(?:script|img|link rel="(?:stylesheet|icon)")[^>]*(?:src|href)="((?:https?:)?//[^"]+)"')
_LOCAL = re.compile(r'(?:href|src)="([^":?#][^":?#]*)(?:[?#][^"]*)?"')


def page_order() -> list[dict[str, Any]]:
    """Return the pages in the order of the site, those of a folder as the index names them; each page once."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed: set[Path] = set()
    order: list[dict[str, Any]] = [{"Home": "index.md"}]
    for title, names in SECTIONS:
        pages = []
        for name in names:
            place = DOCS / name
            pages += [
                page
                for page in (
                    [place] if place.is_file() else sorted(place.glob("*.md"), key=lambda one: _rank(one, index))
                )
                if page not in listed
            ]
            listed.update(pages)
        order.append({title: [str(page.relative_to(DOCS)) for page in pages]})
    return order


def _rank(page: Path, index: str) -> tuple[int, str]:
    """Return where the index names a page; pages that it does not name come last."""
    found = index.find(f"({page.relative_to(DOCS)})")
    return (found if found >= 0 else len(index), page.name)


def on_config(config: Any) -> Any:
    """Set the order of the pages."""
    config["nav"] = page_order()
    return config


def outside_links(text: str, page: Path) -> str:
    """Let links to files outside of docs/ lead to the project's source."""
    source = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"].rstrip("/")

    def replaced(found: re.Match[str]) -> str:
        target = (page.parent / found[2]).resolve()
        if target.is_relative_to(DOCS):
            return found[0]
        return f"{found[1]}{source}/{target.relative_to(ROOT)}{found[3]}"

    return _LINK.sub(replaced, text)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page."""
    folders = re.sub(
        r"\]\((?:\.\./)?decisions/\)", "](decisions/0001-shards-and-layers.md)", _COMMENT.sub("", markdown)
    )
    return outside_links(folders, DOCS / page.file.src_path)


def broken_links(site: Path) -> list[str]:
    """Return the links of the built pages that lead to no file of the site."""
    return [
        f"{page.relative_to(site)}: {target}"
        for page in sorted(site.rglob("*.html"))
        for target in _LOCAL.findall(page.read_text(encoding="utf-8"))
        if page.name != "404.html" and not (page.parent / target).exists()
    ]


def foreign_loads(site: Path) -> list[str]:
    """Return what pages would load from other hosts."""
    return sorted({url for page in site.rglob("*.html") for url in _LOADED.findall(page.read_text(encoding="utf-8"))})


def main() -> None:
    """Build this version beside those that are there, check its links and list all versions."""
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/evercrawl/model/__init__.py").read_text())
    assert version is not None
    name = ".".join(version[1].split(".")[:2])
    folder = SITE / name
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)], cwd=ROOT, check=True
    )
    if broken := broken_links(folder):
        raise SystemExit("links that lead nowhere:\n" + "\n".join(broken))
    if foreign := foreign_loads(folder):
        raise SystemExit(f"loaded from other hosts: {foreign}")
    versions = sorted((path.name for path in SITE.iterdir() if path.is_dir()), reverse=True)
    listed = [{"version": one, "title": one, "aliases": ["latest"] if one == versions[0] else []} for one in versions]
    (SITE / "versions.json").write_text(json.dumps(listed))
    (SITE / "index.html").write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={versions[0]}/index.html">'
    )
    pages = sum(1 for _ in folder.rglob("*.html"))
    print(f"{pages} pages in {folder}; read them with: python3 -m http.server -d {SITE}")


if __name__ == "__main__":
    main()
