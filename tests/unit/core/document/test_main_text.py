"""Extraction of the main text."""

from __future__ import annotations

import pytest

from evercrawl.core.document.elements import parse_tree
from evercrawl.core.document.main_text import extract_main_text, main_text_blocks

SENTENCE = "The quick brown fox jumps over the lazy dog, again and again, until both of them are tired. "
ARTICLE = f"<h1>Foxes</h1><p>{SENTENCE}</p><p>{SENTENCE * 2}</p><pre>one\n  two</pre><ul><li>{SENTENCE}</li></ul>"


def text_of(markup: str) -> str:
    body = parse_tree(markup).body
    assert body is not None
    return extract_main_text(body, most_chars=100_000)


def test_navigation_is_left_out() -> None:
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


def test_blocks_separate_words_and_inline_elements_do_not() -> None:
    assert text_of("<div>Hel<b>lo</b> <i>w</i>orld<br>next</div><div>last</div>") == "Hello world next\nlast"


def test_a_layout_named_after_its_sidebar_is_kept() -> None:
    assert SENTENCE.strip() in text_of(
        f"<p>Cookies are used here, dear reader.</p><div class='l-sidebar-fixed'>{ARTICLE}</div>"
    )


def test_a_page_with_a_sidebar_is_not_a_sidebar() -> None:
    assert "Foxes" in text_of(f"<body><div class='with-sidebar'>{ARTICLE}</div>")


def test_short_pages_keep_all_their_text() -> None:
    assert text_of("<a href=x>only</a> <a href=y>links</a>") == "only links"
    assert text_of("£") == "£"
    assert text_of("") == ""
    assert text_of("<div class=author>Jane</div><p class=date>May 5</p>") == "Jane\nMay 5"


def test_rows_of_tables_stay_together() -> None:
    assert text_of("<table><tr><th>Name<th>Size<tr><td>a<td>1</table>") == "Name Size\na 1"


def test_the_repeated_title_and_loose_lines_are_left_out() -> None:
    body = parse_tree(
        "<div id=page><h1>Foxes</h1><p>12 May 2024</p><p>Jane Roe</p>"
        f"<p>{SENTENCE}</p><h2>Habitat</h2><p>{SENTENCE * 2}</p><p>Print</p><p>© 2024 The Fox Post</p></div>"
    ).body
    assert body is not None
    assert main_text_blocks(body, title="Foxes – The Fox Post") == [SENTENCE.strip(), "Habitat", (SENTENCE * 2).strip()]
    assert main_text_blocks(body)[0] == "Foxes"


def test_the_marked_body_is_taken_with_its_lead() -> None:
    text = text_of(
        f"<main><h1>Foxes</h1><p>A lead in one sentence that says what the foxes are about to do.</p>"
        f"<p>Photo: A. Nother</p><div class='c-article__body'>{f'<p>{SENTENCE * 3}</p>' * 2}</div>"
        "<p>Another paragraph of the site about itself, which stands behind the text.</p></main>"
    )
    assert text.startswith("A lead in one sentence")
    assert "Photo" not in text
    assert "about itself" not in text


def test_bylines_captions_and_share_bars_are_left_out_unless_large() -> None:
    parts = "<p class=byline>By Jane Roe and others of the staff.</p><div class=share>Share it!</div>"
    caption = "<figure><img src=x><figcaption class=media>A fox, seen from the side, in winter.</figcaption></figure>"
    assert text_of(f"<article>{parts}{caption}<p>{SENTENCE * 3}</p></article>") == (SENTENCE * 3).strip()
    assert SENTENCE.strip() in text_of(f"<div class=author-page><p>{SENTENCE * 8}</p></div>")


def test_plain_captions_are_kept() -> None:
    caption = "<figure><img src=x><figcaption>A fox, seen from the side, in winter.</figcaption></figure>"
    assert "A fox, seen" in text_of(f"<article>{caption}<p>{SENTENCE * 3}</p></article>")


def test_teasers_of_other_pages_are_left_out() -> None:
    teaser = "<div><h3><a href=/{0}>Story {0}</a></h3><p>What story {0} is about, told in a sentence.</p></div>"
    teasers = "".join(teaser.format(number) for number in range(6))
    text = text_of(f"<div>{ARTICLE * 3}{teasers}</div>")
    assert "Foxes" in text
    assert "story" not in text


def test_the_teasers_of_an_index_are_its_content() -> None:
    teaser = "<div><h3><a href=/{0}>Story {0}</a></h3><p>What story {0} is about, told in a sentence.</p></div>"
    text = text_of("<div>" + "".join(teaser.format(number) for number in range(20)) + "</div>")
    assert "What story 7 is about" in text


@pytest.mark.parametrize(
    "announcement",
    ["Related articles", "Das könnte Sie auch interessieren:", "À lire aussi", "関連記事", "Читайте также"],
)
def test_headings_of_dropped_links_are_dropped(announcement: str) -> None:
    links = "<ul><li><a href=1>Something about wolves</a></li><li><a href=2>And about bears</a></li></ul>"
    text = text_of(f"<div>{ARTICLE}<h2>{announcement}</h2>{links}</div>")
    assert announcement not in text
    assert "wolves" not in text


def test_a_comment_thread_is_the_text_of_a_page_with_nothing_else() -> None:
    names = ("comment", "comment-body", "comment-text")
    comment = "".join(f"<div class={name}>" for name in names) + f"<p>{SENTENCE}</p>" + "</div>" * 3
    text = text_of(f"<h1>Thread</h1><div id=comments><div class=comment-list>{comment * 9}</div></div>")
    assert text.count("The quick brown fox") == 9


def test_text_without_spaces_is_extracted() -> None:
    sentence = "素早い茶色の狐はのろまな犬を何度も飛び越え、両方とも疲れ果てるまで止めなかった。"
    text = text_of(
        f"<div class=menu><a href=a>ホーム</a><a href=b>会社案内</a></div><div><p>{sentence * 4}</p>"
        f"<p>{sentence * 3}</p></div><div><a href=c>次の記事</a></div>"
    )
    assert text == f"{sentence * 4}\n{sentence * 3}"


def test_hidden_text_is_left_out() -> None:
    text = text_of(f"<div>{ARTICLE}<div style='display: none'>Unseen.</div><div hidden>Unseen too.</div></div>")
    assert "Unseen" not in text


def test_an_unclosed_anchor_is_not_a_link() -> None:
    assert SENTENCE.strip() in text_of(f"<a name=top><p>{SENTENCE * 4}</p><p>{SENTENCE}</p>")


@pytest.mark.parametrize("name", ["left-sidebar", "comments", "share", "teaser"])
def test_nested_boilerplate_takes_limited_time(name: str) -> None:
    markup = f"<div class={name}>" * 1500 + f"<p>{SENTENCE}</p>" * 2000
    assert text_of(markup).count("The quick brown fox") >= 1000
