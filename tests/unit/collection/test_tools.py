from __future__ import annotations

import io
import json
from typing import Any

from evercrawl.collection.tools import answer_lines, tool_named


def answers(name: str, *lines: str | dict[str, Any]) -> list[dict[str, Any]]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    sink = io.BytesIO()
    answer_lines(tool_named(name), io.BytesIO(text.encode()), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_robots():
    body = "User-agent: *\nDisallow: /a\nCrawl-delay: 2\nSitemap: /s.xml"
    row = {"id": 7, "robots_txt": body, "user_agent": "bot", "url": "https://x.org/a/b"}
    assert answers("robots", row) == [
        {"id": 7, "allowed": False, "line": 2, "crawl_delay": 2.0, "sitemaps": ["https://x.org/s.xml"]}
    ]


def test_robots_without_url_or_from_base64():
    (answer,) = answers("robots", {"id": "a", "robots_txt_b64": "U2l0ZW1hcDogL3MueG1s"})
    assert answer == {"id": "a", "allowed": None, "line": None, "crawl_delay": None, "sitemaps": ["/s.xml"]}


def test_url():
    joined, opaque, failed, spelled = answers(
        "url",
        {"id": 1, "input": "../b?x#y", "base": "http://Example.org:80/a/c"},
        {"id": 2, "input": "mailto:me@x.org"},
        {"id": 3, "input": "//", "base": "http://x.org/"},
        {"id": 4, "input": "http://example.org/%62?x"},
    )
    assert joined["href"] == "http://example.org/b?x#y"
    assert joined["canonical"] == spelled["canonical"] == "http://example.org/b?x"
    assert joined["key"] == spelled["key"]
    assert len(joined["key"]) == 32
    assert opaque == {"id": 2, "href": "mailto:me@x.org", "canonical": None, "key": None}
    assert failed == {"id": 3, "href": None, "canonical": None, "key": None}


def test_a_lone_surrogate_becomes_the_replacement_character():
    (answer,) = answers("url", '{"id": "\\ud800", "input": "http://x.org/\\ud800"}')
    assert answer["href"] == "http://x.org/%EF%BF%BD"
    assert answer["id"] == "\ud800"


def test_bad_lines_give_an_error_and_the_stream_goes_on():
    good = {"id": 9, "input": "http://x.org/"}
    found = answers("url", "{broken", "[1]", {"id": 3}, {"id": 4, "input": 5}, "", "nonsense \x00", good)
    assert [answer["id"] for answer in found] == [None, None, 3, 4, None, 9]
    assert [("error" in answer) for answer in found] == [True] * 5 + [False]
    assert found[2]["error"] == "input is missing"


def test_a_field_of_the_wrong_type_is_named():
    found = answers("similar", {"id": 1, "a": 5, "b": "x"}, {"id": 2, "a": "x", "b": None})
    assert found == [{"id": 1, "error": "a is not a string"}, {"id": 2, "error": "b is not a string"}]
    nothing_given = {"html": 5, "page_url": None}
    assert answers("extract", nothing_given)[0]["error"] == "html is not a string"


def test_other_faults_are_not_blamed_on_a_field_without_value():
    found = answers("robots", {"robots_txt_b64": "?", "url": None})
    assert "is not a string" not in found[0]["error"]


def test_deep_nesting_and_bad_base64_are_errors():
    found = answers("robots", "[" * 100_000, {"id": 1, "robots_txt_b64": "?"}, {"id": 2})
    assert ["error" in answer for answer in found] == [True, True, True]


def test_thousands_of_lines_are_answered():
    body = "User-agent: *\n" + "\n".join(f"Disallow: /folder{number}/" for number in range(100))
    rows = [{"id": n, "robots_txt": body, "user_agent": "bot", "url": f"https://x.org/{n}"} for n in range(2000)]
    assert len(answers("robots", *rows)) == 2000
