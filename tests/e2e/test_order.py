"""Paper D through the command: its order, credit and Lambda, and its naive Bayes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.worlds.hostile.command import Command
from tests.worlds.hostile.sites import Web, bytes_for, html, web

TEN = tuple(f"/p{number}" for number in range(10))
TEXT = "This is a wonderful film. The plot was dull and the acting is bad. We all loved the music of it."


def page_of(path: str) -> str:
    links = {"/": TEN, "/p3": ("/p7",), "/p7": ()}.get(path, ("/",))
    leads = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<!doctype html><html lang=en><title>{path}</title><main><p>{TEXT} See {path}.</p></main>{leads}"


def small_site(sites: Web) -> str:
    return sites.add("paper", bytes_for(lambda asked: html(page_of(asked.path)))).url()


def test_the_papers_order_credit_and_sentiment(tmp_path: Path) -> None:
    with web() as sites:
        home = small_site(sites)
        settings = {"dns.servers": sites.name_server, "sitemaps.enabled": "false"}
        command = Command(tmp_path, settings | {"analysis.analysers": "paper-sentiment"})
        ran = command.crawl(home, "--pace", "own", "--order", "paper-credit", "--max-pages", "1")
        assert "Traceback" not in ran.err
        found = json.loads(command.call("credit", "--json").out)
        assert (found["minted"], found["lambda_page"], found["held"]) == (1_000_000, 100_000, 900_000)
        assert {page["credit"] for page in found["richest"][:10]} == {90_000}, "a tenth is taxed, the rest is shared"
        page = json.loads(command.call("credit", home, "--json").out)
        assert (page["credit"], page["visits"]) == (0, 1)
        listed = command.call("credit").out
        assert "Lambda   100,000" in listed
        history = json.loads(command.call("history", home, "--json").out.splitlines()[0])
        assert (
            history["analysis"]["sentiment_sentences"]
            == history["analysis"]["sentiment_positive"] + (history["analysis"]["sentiment_negative"])
        )
