"""Main text."""

from __future__ import annotations

from evercrawl.core.document.element import tree_of
from evercrawl.core.document.text import main_text

SENTENCE = "The quick brown fox jumps over the lazy dog, again and again, until both of them are tired. "
ARTICLE = (
    f"<h1>Foxes</h1><p>{SENTENCE}</p><p>{SENTENCE * 2}</p><pre>one\n  two</pre><ul><li>{SENTENCE}</li></ul>"
)


def text_of(markup: str) -> str:
    body = tree_of(markup).body
    assert body is not None
    return main_text(body, most_chars=100_000)


def test_navigation_and_the_like_are_left_out() -> None:
    text = text_of(
        "<header>Site name</header><nav><a href=a>Nav</a></nav><aside>Aside words.</aside>"
        "<div class='left-sidebar'>Sidebar words that say something.</div><script>var x;</script>"
        f"<div id=content>{ARTICLE}</div>"
        "<ul><li><a href=1>One link</a></li><li><a href=2>Another link</a></li></ul>"
        "<div role=contentinfo>Imprint.</div><footer>Footer</footer><noscript>Enable it</noscript>"
    )
    assert text.split("\n")[0] == "Foxes"
    assert "one\n  two" in text
    for word in ("Site", "Nav", "Aside", "Sidebar", "var x", "link", "Imprint", "Footer", "Enable"):
        assert word not in text


def test_inline_elements_do_not_break_words_and_blocks_do() -> None:
    assert text_of("<div>Hel<b>lo</b> <i>w</i>orld<br>next</div><div>last</div>") == "Hello world next\nlast"


def test_a_layout_named_after_its_sidebar_is_not_lost() -> None:
    assert SENTENCE.strip() in text_of(
        f"<p>Cookies are used here, dear reader.</p><div class='l-sidebar-fixed'>{ARTICLE}</div>"
    )


def test_a_page_with_a_sidebar_is_not_a_sidebar() -> None:
    assert "Foxes" in text_of(f"<body><div class='with-sidebar'>{ARTICLE}</div>")


def test_short_pages_give_all_they_have() -> None:
    assert text_of("<a href=x>only</a> <a href=y>links</a>") == "only links"
    assert text_of("£") == "£"
    assert text_of("") == ""


def test_rows_of_tables_stay_together() -> None:
    assert text_of("<table><tr><th>Name<th>Size<tr><td>a<td>1</table>") == "Name Size\na 1"
