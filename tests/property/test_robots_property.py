"""Invariants of the robots.txt parser, and agreement with an independent one."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from evercrawl.core.robots.robots_txt import normalise_escapes, parse_robots, verdict_for

paths = st.text("ab/.?=%2Fz*$", max_size=8).map(lambda text: "/" + text)
plain_paths = st.text("ab/.-", max_size=8).map(lambda text: "/" + text.replace("//", "/").lstrip("/"))
ends = st.sampled_from(["", "$"])
patterns = st.builds(lambda path, end: path + end, st.text("ab/.*", max_size=8).map("/".__add__), ends)
rules = st.tuples(st.sampled_from(["Allow", "Disallow"]), patterns)
names = st.sampled_from(["*", "bot", "other"])
groups = st.lists(st.tuples(names, st.lists(rules, min_size=1, max_size=6)), max_size=4)


def file_of(found: list[tuple[str, list[tuple[str, str]]]]) -> str:
    return "".join(
        f"User-agent: {agent}\n" + "".join(f"{kind}: {pattern}\n" for kind, pattern in lines) for agent, lines in found
    )


@given(st.binary(max_size=400), st.text(max_size=10), st.text(max_size=20))
def test_no_bytes_and_no_url_make_it_fail(body: bytes, agent: str, url: str):
    robots = parse_robots(body, agent=agent)
    assert verdict_for(robots, url).allowed in (True, False)
    assert robots.min_delay is None or robots.min_delay >= 0


fragments = st.sampled_from([b"User-agent: *", b"Disallow: /", b"\xff", b"\r", b"\n", b"Crawl-delay: ", b"9", b"#"])


@given(st.lists(fragments))
def test_no_mixture_of_fragments_makes_it_fail(pieces: list[bytes]):
    body = b"".join(pieces)
    robots = parse_robots(body, agent="bot")
    _, line, rule = robots.verdict("/x")
    assert (line is None) == (rule is None)
    assert line is None or 1 <= line <= len(re.split(rb"\r\n|\r|\n", body))


@given(groups, plain_paths)
@settings(max_examples=300)
def test_it_agrees_with_protego(found: list[tuple[str, list[tuple[str, str]]]], path: str):
    text = file_of(found)
    ours = parse_robots(text.encode(), agent="bot").verdict(path).allowed
    assert ours == Protego.parse(text).can_fetch("http://x.test" + path, "bot")


@given(patterns, st.text("ab/.", max_size=10).map("/".__add__))
def test_patterns_match_as_their_definition_says(pattern: str, path: str):
    body, anchor = (pattern[:-1], r"\Z") if pattern.endswith("$") else (pattern, "")
    meaning = re.compile(".*".join(map(re.escape, body.split("*"))) + anchor, re.DOTALL)
    robots = parse_robots(f"User-agent: *\nDisallow: {pattern}".encode(), agent="bot")
    assert robots.verdict(path).allowed == (meaning.match(path) is None)


@given(paths)
def test_the_normal_form_is_final(path: str):
    once = normalise_escapes(path)
    assert normalise_escapes(once) == once or "%25" in once


@given(groups, plain_paths)
def test_the_deciding_line_says_what_was_decided(found: list[tuple[str, list[tuple[str, str]]]], path: str):
    text = file_of(found)
    allowed, line, rule = parse_robots(text.encode(), agent="bot").verdict(path)
    if line is not None:
        assert text.split("\n")[line - 1] == rule
        assert rule.startswith("Allow") is allowed
