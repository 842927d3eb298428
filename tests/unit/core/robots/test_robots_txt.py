from __future__ import annotations

import time
from datetime import time as clock

import pytest

from evercrawl.core.robots.robots_txt import (
    MAX_SITEMAPS,
    RequestRate,
    VisitTime,
    is_product_token,
    parse_crawl_delay,
    parse_request_rate,
    parse_robots,
    parse_visit_time,
    path_and_query,
    robots_url,
    sitemap_urls,
    verdict_for,
)


def allowed(text: str, target: str, agent: str = "evercrawl") -> bool:
    return parse_robots(text.encode(), agent=agent).verdict(target).allowed


def test_the_deciding_line_is_named():
    robots = parse_robots(b"# hello\r\n\r\nUser-agent: *\r\nAllow: /a\rDisallow: /a/b\nDisallow: /*.pdf$", agent="x")
    assert robots.verdict("/a/b/c") == (False, 5, "Disallow: /a/b")
    assert robots.verdict("/a/c") == (True, 4, "Allow: /a")
    assert robots.verdict("/x.pdf") == (False, 6, "Disallow: /*.pdf$")
    assert robots.verdict("/other") == (True, None, None)


def test_own_groups_are_merged_and_hide_the_group_for_all():
    ours, others = "User-agent: EverCrawl/2.0\nDisallow: /a\n", "User-agent: *\nDisallow: /\n"
    text = ours + others + "User-agent: evercrawl\nDisallow: /b\n"
    assert [allowed(text, path) for path in ("/a", "/b", "/c")] == [False, False, True]
    assert not allowed(text, "/c", agent="other")


def test_an_empty_own_group_still_hides_the_group_for_all():
    assert allowed("User-agent: *\nDisallow: /\nUser-agent: evercrawl\nDisallow:\n", "/x")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/a*b*c", "/aXbYc", True),
        ("/a*b*c", "/abc/more", True),
        ("/a*b*c", "/acb", False),
        ("/a*bc$", "/abcbc", True),
        ("/a*bc$", "/abcb", False),
        ("/ab*b$", "/ab", False),
        ("/a**", "/a", True),
        ("*", "/anything", True),
        ("/a$b", "/a$b/c", True),
        ("/a$", "/a", True),
        ("/a$", "/a?x", False),
        ("a", "/a", False),
        ("/%7Ejoe", "/~joe", True),
        ("/~joe", "/%7ejoe", True),
        ("/a%2fb", "/a/b", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2Ab", "/aXb", False),
        ("/a%2Ab", "/a*b", True),
        ("/ü", "/%C3%BC", True),
        ("/a b", "/a%20b", True),
        ("/100%", "/100%", True),
        ("/a;b", "/a%3Bb", True),
        ("/q?u=https://x.org", "/q?u=https%3A%2F%2Fx.org", True),
        ("/q?u=https%3A%2F%2Fx.org", "/q?u=https://x.org", True),
        ("/*u=a%2Fb", "/q?u=a%2Fb", True),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool):
    assert allowed(f"User-agent: *\nDisallow: {pattern}", path) is not matches


def test_octets_that_are_no_utf8_match_their_escapes():
    robots = parse_robots(b"User-agent: *\nDisallow: /caf\xe9", agent="x")
    assert not robots.verdict("/caf%E9").allowed
    assert robots.verdict("/caf").allowed


def test_the_file_itself_is_always_allowed():
    robots = parse_robots(b"User-agent: *\nDisallow: /", agent="x")
    assert robots.verdict("/robots.txt").allowed
    assert robots.verdict("/robots.txt?v=2").allowed
    assert not robots.verdict("/robots.txt.bak").allowed


def test_an_allowed_index_page_allows_its_folder_and_nothing_else():
    text = "User-agent: *\nDisallow: /\nAllow: /docs/index.html"
    assert [allowed(text, path) for path in ("/docs/", "/docs/index.html", "/docs/x")] == [True, True, False]


@pytest.mark.parametrize(
    "line", ["Disalow: /x", "disallow /x", "DISALLOW : /x", " \tDisallow:/x # why", "Disallow: /x<br>"]
)
def test_common_mistakes_are_read_as_intended(line: str):
    assert not allowed(f"User agent: *\n{line}", "/x")


@pytest.mark.parametrize(
    "line", ["DisallowAITraining: /", "Disallowed-by: /", "Disallow", ": /", "Disallow = /", "<p>Disallow</p>"]
)
def test_other_records_are_not_taken_for_rules(line: str):
    assert allowed(f"User-agent: *\n{line}\n", "/x")


def test_other_records_do_not_end_a_group():
    text = "User-agent: a\nSitemap: https://x.org/s.xml\nCrawl-delay: 3\nUser-agent: b\nHost: x\nDisallow: /x\n"
    assert [allowed(text, "/x", agent=agent) for agent in ("a", "b", "c")] == [False, False, True]
    delays = [parse_robots(text.encode(), agent=agent).crawl_delay for agent in ("a", "b", "c")]
    assert delays == [3.0, None, None]


def test_the_longest_of_several_delays_counts():
    text = b"User-agent: x\nCrawl-delay: 5\nDisallow: /a\nUser-agent: x\nCrawl-delay: 2\nCrawl-delay: nan\n"
    assert parse_robots(text, agent="x").crawl_delay == 5.0


@pytest.mark.parametrize("agent", ["evercrawl/1.0 (+https://x.org/bot)", "Mozilla/5.0 (compatible; EverCrawl/1.0)"])
def test_a_whole_user_agent_is_recognised(agent: str):
    assert not allowed("User-agent: evercrawl\nDisallow: /", "/x", agent=agent)


def test_names_are_whole_tokens():
    text = "User-agent: ever\nDisallow: /a\nUser-agent: evercrawl-news\nDisallow: /b\n"
    text += "User-agent: One, Two\nDisallow: /c"
    assert [allowed(text, path) for path in ("/a", "/b")] == [True, True]
    assert not allowed(text, "/c", agent="two")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbf"])
def test_a_byte_order_mark_is_skipped(mark: bytes):
    assert not parse_robots(mark + b"User-agent: *\nDisallow: /", agent="x").verdict("/x").allowed


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_tolerated(encoding: str):
    text = ("\ufeff" if encoding == "utf-16-be" else "") + "User-agent: *\nDisallow: /ü"
    assert not parse_robots(text.encode(encoding), agent="x").verdict("/%C3%BC").allowed


def test_a_line_that_the_limit_cuts_is_not_read():
    body = b"User-agent: *\nDisallow: /a\nDisallow: /private\n"
    robots = parse_robots(body, agent="x", limit=len(body) - len(b"private\n"))
    assert robots.verdict("/b").allowed
    assert not robots.verdict("/a").allowed


def test_sitemaps_are_kept_once_in_order_and_up_to_a_limit():
    robots = parse_robots(b"Sitemap: /b.xml\nSitemap: https://x.org/a.xml\nsite-map: /b.xml\nSitemap:\n", agent="x")
    assert robots.sitemaps == ("/b.xml", "https://x.org/a.xml")
    assert sitemap_urls(robots, "https://x.org/robots.txt") == ("https://x.org/b.xml", "https://x.org/a.xml")
    many = b"".join(b"Sitemap: /%d\n" % number for number in range(MAX_SITEMAPS + 5))
    assert len(parse_robots(many, agent="x").sitemaps) == MAX_SITEMAPS


def test_min_delay_is_the_larger_of_delay_and_rate():
    def gap(text: str) -> float | None:
        return parse_robots(f"User-agent: *\n{text}".encode(), agent="x").min_delay

    assert gap("") is None
    assert gap("Crawl-delay: 2") == 2.0
    assert gap("Request-rate: 1/10m") == 600.0
    assert gap("Request-rate: 1/5\nCrawl-delay: 7") == 7.0


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "", "1e400", "9" * 400, "1_0", "ten", "１"])
def test_invalid_delays_are_ignored(value: str):
    assert parse_crawl_delay(value) is None


def test_delays():
    assert [parse_crawl_delay(value) for value in ("0", "1.5", ".5", "3.")] == [0.0, 1.5, 0.5, 3.0]


def test_request_rates():
    assert parse_request_rate("10/1m") == RequestRate(10, 60)
    assert parse_request_rate("1/5s 0600-0845") == RequestRate(1, 5, clock(6), clock(8, 45))
    assert [parse_request_rate(value) for value in ("0/5", "1/0", "1/5x", "1/5 noon", "1", "")] == [None] * 6


def test_visit_times():
    assert parse_visit_time("0200-0630") == VisitTime(clock(2), clock(6, 30))
    assert parse_visit_time("2200 2400") == VisitTime(clock(22), clock(23, 59, 59))
    assert [parse_visit_time(value) for value in ("2500-0600", "0260-0300", "night", "")] == [None] * 4


def test_verdict_for_takes_any_url():
    robots = parse_robots(b"User-agent: *\nDisallow: /?q\nDisallow: /x", agent="x")
    assert not verdict_for(robots, "http://example.org?q=1#top").allowed
    assert not verdict_for(robots, "https://user@EXAMPLE.org:8080/y/../x").allowed
    assert [verdict_for(robots, odd).allowed for odd in ("", "mailto:me@x.org", "http://[", "\ud800")] == [True] * 4


def test_path_and_query_and_robots_url():
    assert path_and_query("http://example.org/a/b?c=d#e") == "/a/b?c=d"
    assert path_and_query("http://example.org") == "/"
    assert robots_url("HTTP://me@example.org:80/a?b") == "http://example.org/robots.txt"
    assert robots_url("mailto:me@example.org") is None


def test_product_tokens():
    assert is_product_token("Ever_crawl-bot")
    assert not any(map(is_product_token, ("", "a b", "bot2", "*", "ü")))


def test_no_pattern_makes_a_verdict_slow():
    patterns = [b"/" + b"*a" * 500 + b"b%d$" % number for number in range(400)]
    robots = parse_robots(b"User-agent: *\n" + b"".join(b"Disallow: %s\n" % one for one in patterns), agent="x")
    began = time.process_time()
    for _ in range(20):
        robots.verdict("/" + "a" * 2000)
    assert time.process_time() - began < 1.0


def test_tens_of_thousands_of_wildcards_still_let_allowed_pages_through():
    lines = [f"Disallow: /*products*color{number}$" for number in range(14_000)]
    robots = parse_robots(("User-agent: *\nAllow: /*products*color7$\n" + "\n".join(lines)).encode(), agent="x")
    began = time.process_time()
    for path in ("/", "/about", "/products/list", "/products/color", "/products/color7", "/products/color77/x"):
        assert robots.verdict(path).allowed, path
    for number in range(0, 14_000, 500):
        assert not robots.verdict(f"/en/products/color{number}").allowed
    assert time.process_time() - began < 1.0


def test_a_file_made_to_be_slow_forbids_only_the_paths_it_fits():
    lines = [f"Disallow: /{'*a' * 50}*b{number:04d}*c" for number in range(4000)]
    robots = parse_robots(("User-agent: *\n" + "\n".join(lines)).encode(), agent="x")
    assert robots.verdict("/page").allowed
    began = time.process_time()
    verdict = robots.verdict("/" + "a" * 200 + "".join(f"b{number:04d}" for number in range(2000)))
    assert time.process_time() - began < 0.5
    assert not verdict.allowed
    assert "too many" in (verdict.rule or "")


def test_the_lecture_example_lets_only_its_robot_in():
    """Source document E: no robot may visit /yoursite/temp/, except the one called searchengine."""
    text = b"User-agent: *\nDisallow: /yoursite/temp/\n\nUser-agent: searchengine\nDisallow:\n"
    for agent, is_allowed in (("searchengine", True), ("evercrawl", False), ("SearchEngine/2.0 (+mailto:x@y)", True)):
        robots = parse_robots(text, agent=agent)
        assert robots.verdict("/yoursite/temp/page").allowed is is_allowed
        assert robots.verdict("/yoursite/").allowed


def test_every_one_of_a_thousand_rules_applies():
    lines = [f"Disallow: /folder{number}/{'*' * (number % 7 == 0)}page" for number in range(1000)]
    robots = parse_robots(("User-agent: *\n" + "\n".join(lines)).encode(), agent="x")
    assert robots.verdict("/some/page/of/the/site?with=query").allowed
    for number in range(1000):
        assert not robots.verdict(f"/folder{number}/page").allowed
        assert robots.verdict(f"/folder{number}/a/page").allowed is (number % 7 != 0)
