"""The link graph of the benchmark web: which of its pages links to which, read once and kept next to it."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.elements import Elements, parse_tree
from evercrawl.core.document.encoding import decode_body, detect_charset
from evercrawl.core.document.html import base_url
from evercrawl.core.document.links import extract_links
from evercrawl.core.document.reference import ReferenceResolver
from evercrawl.core.url import canonical_of_href, site_of
from evercrawl.model.settings import ParseSettings

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("CORPUS_ROOT", ROOT / "scratch" / "corpus"))
INDEX = "/__index.html"
LIMITS = ParseSettings()


class LinkGraph(NamedTuple):
    """Pages by number; the links of page p are `targets[starts[p]:starts[p + 1]]`, each once."""

    urls: list[str]
    hosts: array[int]
    """Number of each page's host."""
    starts: array[int]
    targets: array[int]
    seeds: list[int]
    """The page of each host that lists all its pages."""

    def links(self, page: int) -> array[int]:
        """The pages that a page links to."""
        return self.targets[self.starts[page] : self.starts[page + 1]]


def load_graph() -> LinkGraph:
    """The graph from its cache, which is built where it is missing (a few minutes)."""
    urls, seeds = _urls()
    numbers: dict[str, int] = {}
    hosts = array("i", (numbers.setdefault(site_of(url), len(numbers)) for url in urls))
    folder = CORPUS / "graph"
    if not (folder / "targets").exists():
        _build(urls, folder)
    return LinkGraph(urls, hosts, _read(folder / "starts"), _read(folder / "targets"), seeds)


def _urls() -> tuple[list[str], list[int]]:
    pages = (CORPUS / "nginx" / "urls.txt").read_text().split()
    listed = [url for line in pages if (url := canonical_of_href(line)) is not None]
    indexes = list(dict.fromkeys(site_of(url) + INDEX for url in listed))
    urls = indexes + [url for url in dict.fromkeys(listed) if not url.endswith(INDEX)]
    return urls, list(range(len(indexes)))


def _build(urls: list[str], folder: Path) -> None:
    number_of = {url: number for number, url in enumerate(urls)}
    number_of |= {
        url.removesuffix("index.html"): page for url, page in number_of.items() if url.endswith("/index.html")
    }
    starts, targets = array("I", [0]), array("I")
    folders = roots()
    pages_of: dict[str, list[int]] = {}
    for number, url in enumerate(urls):
        if not url.endswith(INDEX):
            pages_of.setdefault(site_of(url), []).append(number)
    for number, url in enumerate(urls):
        site = site_of(url)
        found = pages_of[site] if url.endswith(INDEX) else _targets(url, folders[site], number_of)
        targets.extend(sorted(set(found) - {number}))
        starts.append(len(targets))
    folder.mkdir(exist_ok=True)
    (folder / "starts").write_bytes(starts.tobytes())
    (folder / "targets").write_bytes(targets.tobytes())


def roots() -> dict[str, Path]:
    """The folder of each site's files."""
    hosts = json.loads((CORPUS / "nginx" / "hosts.json").read_text())
    return {f"http://{host['ip']}:8080": Path(host["root"]) for host in hosts.values()}


def _targets(url: str, root: Path, number_of: dict[str, int]) -> Iterator[int]:
    path = root / unquote(url[len(site_of(url)) + 1 :])
    if not path.exists():
        return
    body = path.read_bytes()
    encoding = detect_charset(body, None).encoding
    elements = Elements(parse_tree(decode_body(truncate_markup(body), encoding)))
    joiner = ReferenceResolver(url, base_url(url, elements.base), encoding)
    for link in extract_links(elements, joiner, LIMITS, with_text=False):
        target = canonical_of_href(link.url)
        if target in number_of:
            yield number_of[target]
    joiner.close()


def _read(path: Path) -> array[int]:
    values = array("I")
    values.frombytes(path.read_bytes())
    return values
