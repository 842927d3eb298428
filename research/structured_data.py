"""Compare the structured data that evercrawl reads with what extruct reads on the same pages.

Run it twice, each time with the environment of one program, then compare:

    python research/structured_data.py read extruct PAGES > extruct.jsonl      # an environment with extruct
    python research/structured_data.py read evercrawl PAGES > evercrawl.jsonl
    python research/structured_data.py compare extruct.jsonl evercrawl.jsonl
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SYNTAXES = ("json-ld", "microdata", "rdfa", "opengraph")
BASE = "https://example.org/page"
Pairs = dict[str, list[tuple[str, str]]]  # Syntax -> properties and values of all items.


def pages_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the pages of a folder with their names."""
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.html.gz")]):
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield path.name, body.decode("utf-8", "replace")


def read_with_evercrawl(markup: str) -> Pairs:
    """Return what evercrawl reads."""
    from selectolax.lexbor import LexborHTMLParser

    from evercrawl.core.fields.structured import DataItem, structured_items

    found: Pairs = {syntax: [] for syntax in SYNTAXES}

    def walk(item: DataItem) -> None:
        for name, values in item.properties.items():
            for value in values:
                if isinstance(value, DataItem):
                    walk(value)
                else:
                    found[item.syntax].append((short(name), plain(value)))

    for item in structured_items(LexborHTMLParser(markup), BASE):
        walk(item)
    return found


def read_with_extruct(markup: str) -> Pairs:
    """Return what extruct reads."""
    import extruct  # type: ignore[import-not-found]

    data = extruct.extract(markup, base_url=BASE, syntaxes=list(SYNTAXES), errors="ignore")
    found: Pairs = {syntax: [] for syntax in SYNTAXES}

    def walk(syntax: str, name: str, value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                walk(syntax, name, one)
        elif isinstance(value, dict):
            if "@value" in value:
                found[syntax].append((short(name), plain(value["@value"])))
            elif set(value) == {"@id"} and syntax == "rdfa":
                found[syntax].append((short(name), plain(value["@id"])))
            elif syntax == "microdata" and "type" in value and "properties" not in value:
                pass  # An item without properties; extruct adds its text.
            elif "properties" in value:
                walk(syntax, name, value["properties"])
            else:
                for inner, one in value.items():
                    if not inner.startswith("@") or inner == "@graph":
                        walk(syntax, inner, one)
        elif value is not None:
            found[syntax].append((short(name), plain(value)))

    for syntax in ("json-ld", "microdata"):
        walk(syntax, "", data.get(syntax, []))
    for item in data.get("rdfa", []):
        if "@type" in item:
            walk("rdfa", "", item)
    for item in data.get("opengraph", []):
        found["opengraph"] += [(short(name), plain(value)) for name, value in item["properties"]]
    return found


def short(name: str) -> str:
    """Return the name of a property without its vocabulary."""
    return name if name.count(":") and "/" not in name else re.sub(r".*[/#]", "", name)


def plain(value: object) -> str:
    """Return a value as text with single spaces; a slash at the end of a URL does not count."""
    text = value if isinstance(value, str) else json.dumps(value)
    return " ".join(text.split())


READERS: dict[str, Callable[[str], Pairs]] = {"extruct": read_with_extruct, "evercrawl": read_with_evercrawl}


def read(program: str, folder: Path) -> None:
    """Print what a program reads on each page, and the CPU time of all pages."""
    pages = list(pages_in(folder))
    READERS[program]("<p>warm")
    began = time.process_time()
    rows = [(name, READERS[program](markup)) for name, markup in pages]
    spent = time.process_time() - began
    for name, found in rows:
        print(json.dumps({"page": name, **found}))
    print(f"{program}: {len(pages)} pages, {spent / max(1, len(pages)) * 1000:.2f} ms CPU per page", file=sys.stderr)


def compare(first: Path, second: Path, *, is_verbose: bool = False) -> None:
    """Print how many values of each syntax both have."""
    both = [[json.loads(line) for line in path.read_text().splitlines()] for path in (first, second)]
    for syntax in SYNTAXES:
        same = only_first = only_second = pages = 0
        for one, other in zip(*both, strict=True):
            left, right = (Counter(map(tuple, page[syntax])) for page in (one, other))
            pages += bool(left or right)
            same += (left & right).total()
            only_first += (left - right).total()
            only_second += (right - left).total()
            for pair in [*(left - right)][:3] if is_verbose else ():
                print(f"  {one['page']} {syntax} {pair}"[:200])
        both_have = f"{pages} pages, {same} values in both"
        print(f"{syntax}: {both_have}, {only_first} only in {first.stem}, {only_second} only in"
              f" {second.stem}")  # fmt: skip


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", program, folder]:
            read(program, Path(folder))
        case ["compare", first, second]:
            compare(Path(first), Path(second))
        case ["compare", first, second, "--verbose"]:
            compare(Path(first), Path(second), is_verbose=True)
        case _:
            print(__doc__)
