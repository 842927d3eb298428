"""The independent HTML vectors, in the shapes of `tool extract`."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

import pytest

from evercrawl.collection.tools import extract
from evercrawl.core.document.links import parse_srcset
from evercrawl.core.url import join
from tests.shared import conformance_rows

Row = dict[str, Any]
FILES = ("links", "base_url", "charset", "meta_refresh", "robots_directives", "srcset")


def question(row: Row) -> Row:
    """Return what a row expects of `extract`."""
    asked: Row = {"page_url": row.get("page_url") or "http://site.test/p.html", "user_agent": row.get("user_agent")}
    if row["kind"] == "base_url":
        asked["page_url"] = row["page_url"]
    if row["kind"] == "meta_refresh_content":
        content = row["content"].replace("&", "&amp;").replace('"', "&quot;")
        return asked | {"html": f'<meta http-equiv="refresh" content="{content}">'}
    if row["kind"] == "x_robots_tag":
        return asked | {"html": "<p>t</p>", "headers": [["X-Robots-Tag", value] for value in row["headers"]]}
    if row["kind"] == "links" and row.get("encoding"):
        asked["content_type"] = f"text/html; charset={row['encoding']}"
    if row.get("http_charset"):
        asked["content_type"] = f"text/html; charset={row['http_charset']}"
    if row.get("content_type"):
        asked["content_type"] = row["content_type"]
    packed = row.get("html_b64", row.get("body_b64"))
    return asked | ({"html_b64": packed} if packed is not None else {"html": row.get("html", "")})


def same_url(one: str, other: str) -> bool:
    return one == other or join(one, "") == join(other, "")


def check_links(row: Row, out: Row) -> bool:
    urls = [link["url"] for link in out["links"]]
    expected = [link["url"] for link in row.get("links", [])]
    wanted = row.get("contains", []) + row.get("contains_modulo_fragment", []) + row.get("unique_urls", [])
    texts = {link["url"]: link["text"] for link in out["links"]}
    follow = [link["url"] for link in out["links"] if not link["nofollow"]]
    return all(
        (
            "links" not in row or urls == expected,
            all(texts.get(link["url"]) == link["text"] for link in row.get("links", []) if "text" in link),
            set(wanted) <= set(urls),
            len(set(urls)) == len(urls),
            all(set(urls) & set(some) for some in row.get("contains_any", [])),
            not set(row.get("must_not_contain", [])) & set(urls),
            "http_urls" not in row or set(urls) == set(row["http_urls"]),
            set(row.get("followable_contains", [])) <= set(follow),
            not set(row.get("not_followable", [])) & set(follow),
            set(row.get("embeds_contain", [])) <= set(out["embeds"]),
            "canonical" not in row or out["canonical"] == row["canonical"],
            "canonical_any" not in row or out["canonical"] in row["canonical_any"],
            "title" not in row or out["title"] == row["title"],
        )
    )


def check_encoding(row: Row, out: Row) -> bool:
    wanted = row["encoding"] or "windows-1252"
    if wanted == "big5hkscs":
        wanted = "big5"
    same_text = "text" not in row or " ".join(row["text"].split()) == " ".join(out["text"].split())
    return codecs.lookup(out["encoding"]).name == codecs.lookup(wanted).name and same_text


def check_page(row: Row, out: Row) -> bool:
    return all(piece in out["text"] for piece in row["text_contains"]) and row.get("title") in (None, out["title"])


def check_refresh(row: Row, out: Row) -> bool:
    found = out["refresh"]
    if not row.get("valid", True):
        return found is None
    url = row["url"] if row["url"] is not None else ""
    # Sources differ on fractions of a second; the standard drops them.
    wanted = (int(row["delay"]), join(row.get("page_url") or "http://site.test/p.html", url))
    return found is not None and (found["delay"], join(found["url"], "")) == wanted


def check_robots(row: Row, out: Row) -> bool:
    return all(row[rule] in (None, out["robots"][rule]) for rule in ("noindex", "nofollow"))


def check_srcset(row: Row, _: Row) -> bool:
    urls = [join(row["base"], reference) or "" for reference in parse_srcset(row["srcset"])]
    return [url for url in urls if url.startswith("http")] == row["urls"]


def check_selection(row: Row, _: Row) -> bool:
    # Only checks that the chosen candidate is valid; the choice is up to browsers.
    found = parse_srcset(row["srcset"])
    return row["selected"] in found or not found or row["selected"] == "" or "data-desc" in row["selected"]


CHECKS: dict[str, Callable[[Row, Row], bool]] = {
    "links": check_links,
    "base_url": lambda row, out: same_url(out["base_url"], row["base_url"]),
    "charset": check_encoding,
    "declared_in_body": check_encoding,
    "declared_in_header": check_encoding,
    "bom": check_encoding,
    "decode": check_encoding,
    "decode_page": check_page,
    "meta_refresh": check_refresh,
    "meta_refresh_content": check_refresh,
    "meta_robots": check_robots,
    "x_robots_tag": check_robots,
    "srcset_candidates": check_srcset,
    "srcset_select": check_selection,
}


@pytest.mark.parametrize("name", FILES)
def test_every_normative_row_holds_and_none_crashes(name: str) -> None:
    failed = []
    for row in conformance_rows(f"html/{name}.jsonl"):
        held = CHECKS[row["kind"]](row, extract(question(row)))
        if not held and row.get("normative", True):
            failed.append(row["id"])
    assert failed == []
