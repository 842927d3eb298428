"""Extraction of the main text."""

from __future__ import annotations

from math import inf
from time import process_time

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


LINKS = "".join(f"<li><a href=/{number}>Entry number {number} of the list</a></li>" for number in range(30))


def test_a_list_of_links_is_the_text_of_a_page_that_has_nothing_else() -> None:
    text = text_of(f"<nav><a href=a>Nav</a></nav><main><h1>Jobs</h1><ul>{LINKS}</ul></main><footer>Imprint</footer>")
    assert text.split("\n") == ["Jobs", *(f"Entry number {number} of the list" for number in range(30))]


def test_a_list_below_a_short_introduction_is_kept() -> None:
    text = text_of(f"<main><h1>Jobs</h1><div class=intro><p>{SENTENCE * 3}</p></div><div><ul>{LINKS}</ul></div></main>")
    assert SENTENCE.strip() in text
    assert text.count("Entry number") == 30


def test_a_list_of_links_in_the_middle_of_a_text_is_kept() -> None:
    text = text_of(f"<div>{ARTICLE}<h2>See also</h2><ul><li><a href=/w>Wolves</a><li><a href=/b>Bears</a></ul></div>")
    assert text.endswith("See also\nWolves\nBears")


def test_a_few_headlines_between_sentences_are_left_out() -> None:
    headlines = "<ul><li><a href=/1>Another story of the same day</a><li><a href=/2>What else has happened</a></ul>"
    text = text_of(f"<div><p>{SENTENCE * 12}</p>{headlines}<p>{SENTENCE * 12}</p></div>")
    assert "Another story" not in text


def test_short_paragraphs_below_headings_are_kept() -> None:
    text = text_of(
        f"<main><h1>Xfont</h1><h2>Name</h2><p>xfont - select fonts</p><h2>Description</h2><p>{SENTENCE * 4}</p>"
        "<h2>Authors</h2><p>Jane Roe, Example Corp</p></main>"
    )
    assert "Name\nxfont - select fonts\nDescription" in text
    assert text.endswith("Authors\nJane Roe, Example Corp")


@pytest.mark.parametrize(
    "heading",
    [
        "Habitat<a class=headerlink href=#habitat>¶</a>",
        "<a class=anchor href=#habitat>#</a> Habitat",
        "<span>Habitat</span><span>[<a href=/?title=x&amp;action=edit>edit</a> | <a href=/y>source</a>]</span>",
        "Habitat <button>Copy</button>",
        "Habitat <a href=/wiki/x/edit>edit</a>",
        "<a href=#habitat>Habitat</a>",
        "Habitat<a href=#habitat>\u200b</a>",
    ],
)
def test_headings_lose_permalinks_and_edit_links(heading: str) -> None:
    assert "\nHabitat\n" in text_of(f"<main><p>{SENTENCE * 3}</p><h2 id=habitat>{heading}</h2><p>{SENTENCE}</p></main>")


def test_a_comment_in_a_heading_is_no_text() -> None:
    heading = "<a href='#habitat'>¶</a>Habitat<!-- generated -->"
    text = text_of(f"<main><p>{SENTENCE * 3}</p><h2>{heading}</h2><p>{SENTENCE}</p></main>")
    assert "\nHabitat\n" in text


def test_a_sign_that_belongs_to_the_heading_is_kept() -> None:
    assert "C#" in text_of(f"<main><h2>C#</h2><p>{SENTENCE * 4}</p></main>")


def test_a_section_is_not_named_but_after_its_heading() -> None:
    sections = "".join(
        f"<section id={name}><h2>{name.title()}</h2><p>{SENTENCE}</p></section>"
        for name in ("comments", "images", "ads")
    )
    assert text_of(f"<article><h1>Site</h1><p>{SENTENCE}</p>{sections}</article>").count("quick brown") == 4


def test_the_contents_of_the_page_are_left_out() -> None:
    contents = "<ul><li><a href=#a>First part</a><li><a href=#b>Second part</a></ul>"
    text = text_of(
        f"<main>{contents}<h2 id=a>First part</h2><p>{SENTENCE * 4}</p><h2 id=b>Second part</h2><p>x.</p></main>"
    )
    assert text.count("First part") == 1


def test_commands_are_no_entries_but_pages_to_be_written_are() -> None:
    entries = (
        "<li><a href=/index.php?title=Fox&amp;action=edit&amp;redlink=1>Fox</a>"
        "<li>Wolf <a href=/wolf?action=edit>edit</a><li><a href=/login>Log in</a><li><a href=/bear>Bear</a>"
    )
    assert text_of(f"<main><h1>Animals</h1><ul>{entries}</ul></main>") == "Animals\nFox\nWolf\nBear"


def test_a_row_is_one_line_whatever_its_cells_hold() -> None:
    row = (
        "<tr><td><a href=/1>#1</a><td><p>The print view cuts the last column of a table</p><td><a href=/u>Jane</a></tr>"
    )
    assert text_of(f"<main><table>{row}</table></main>").split("\n") == [
        "#1",
        "The print view cuts the last column of a table",
        "Jane",
    ]
    assert text_of(f"<main><table>{row.replace('<p>', '').replace('</p>', '')}</table></main>").split("\n") == [
        "#1 The print view cuts the last column of a table Jane"
    ]


def test_footnote_marks_and_line_numbers_are_left_out() -> None:
    listing = "<pre>1\n2\n3</pre><pre>a<br>b</pre>"
    text = text_of(f"<main><p>{SENTENCE * 3}It rains<sup><a href=#f1>1</a></sup> often.</p>{listing}</main>")
    assert text.endswith("It rains often.\na\nb")


def test_the_comments_of_a_ticket_are_its_text() -> None:
    fields = "".join(
        f"<tr><th>{name}:</th><td>x</td></tr>" for name in ("Owner", "Status", "Type", "Version", "Component")
    )
    comment = "<div class=comment><p>It happens on my machine too.</p></div>"
    ticket = f"<div id=content><h1>#7</h1><table>{fields}</table><p>{SENTENCE * 4}</p>{comment}</div>"
    assert "Status: x" in text_of(ticket)
    assert "on my machine too" in text_of(ticket)
    assert "on my machine too" not in text_of(ticket.replace(fields, ""))


def test_labels_are_the_text_of_a_form() -> None:
    form = "<form><label>Your name</label><input><label>Your message</label><textarea></textarea></form>"
    assert text_of(f"<main><h1>Contact</h1>{form}</main>") == "Contact\nYour name\nYour message"
    assert "Your name" not in text_of(f"<main><h1>Contact</h1><p>{SENTENCE * 4}</p>{form}</main>")


def test_words_before_a_field_are_its_name() -> None:
    form = "<form>Order by: <select><option>age</select><table><tr><td>context:</td><td><input></td></table></form>"
    page = text_of(
        f"<main><h1>Ships</h1><p>{SENTENCE * 3}</p>{form}<p>Colours: <label>Red<input></label></p>{ARTICLE}</main>"
    )
    assert "Order by" not in page
    assert "context" not in page
    assert "Colours" not in page
    assert "at noon:" in text_of(
        f"<main><h1>Ships</h1><p>{SENTENCE * 3}</p><p>at noon:<input type=hidden></p><p>{SENTENCE * 3}</p>"
    )


def test_a_link_to_the_rest_of_an_excerpt_is_left_out() -> None:
    page = text_of(
        f"<main><h1>Ships</h1><p>{SENTENCE * 3} <a href=/ships>Read more »</a> </p><p>{SENTENCE * 3}</p></main>"
    )
    assert "Read more" not in page
    assert "They read more here" in text_of(f"<main><p>They <a href=/b>read more</a> here. {SENTENCE * 3}</p></main>")


def test_links_to_pages_of_an_application_are_entries() -> None:
    entries = "".join(f"<li><a href='#/posts/{at}'>Bus tickets {at} become cheaper</a></li>" for at in range(12))
    assert "Bus tickets 11" in text_of(f"<main><h1>Posts</h1><p>{SENTENCE}</p><ul>{entries}</ul></main>")


def test_components_are_known_by_their_slot() -> None:
    links = "".join(f"<li><a class='text-sm' href='/{at}'>Item {at}</a></li>" for at in range(9))
    side = f"<div data-slot='sidebar' class='w-64 flex'><ul>{links}</ul></div>"
    assert "Item" not in text_of(f"<div class='flex'>{side}<div class='grow'>{ARTICLE}</div></div>")
    index = "".join(f"<li><a href='/b/{at}'>Boat {at} of the harbour</a></li>" for at in range(9))
    wrapper = "<div data-slot='sidebar-wrapper' class='flex [--sidebar-width:220px]'>"
    page = f"{wrapper}{side}<main data-slot='sidebar-inset'><ul>{index}</ul></main>"
    assert text_of(page).splitlines()[0] == "Boat 0 of the harbour"


def test_entries_of_an_index_are_kept_whatever_their_length() -> None:
    entry = "<article><h3><a href=/{0}>Story {0}</a></h3><p>Told in short {0}.</p></article>"
    long = entry.format(9).replace("Told", SENTENCE * 9)
    text = text_of(f"<div id=content><h2>News</h2>{''.join(map(entry.format, range(5)))}{long}</div>")
    assert text.count("Story") == 6
    assert "Told in short 3." in text


def test_pagers_and_links_to_the_next_page_are_left_out() -> None:
    pager = "<ul><li>« Previous<li>1<li><a href=?p=2>2</a><li><a href=?p=2>Next »</a></ul>"
    step = "<p>Next: <a href=/b rel=next>Bears</a>, Up: <a href=/ rel=up>Animals</a></p>"
    text = text_of(f"<main>{step}<h1>Animals</h1><ul>{LINKS}</ul>{pager}{step}</main>")
    assert "Next" not in text
    assert "Previous" not in text
    assert text.count("\n") == 30


def test_a_line_that_says_when_the_page_changed_is_left_out() -> None:
    text = text_of(
        f"<main><p>{SENTENCE * 4}</p><div>wiki/fox.txt · Last modified: 2026/01/20 13:15 by jane</div></main>"
    )
    assert "modified" not in text


def test_links_side_by_side_are_words_of_their_own() -> None:
    assert text_of("<main><p>Tags of this page: <a href=/a>oak</a><a href=/b>ash</a> and more to come.</p></main>") == (
        "Tags of this page: oak ash and more to come."
    )


def test_footnotes_in_asides_are_kept() -> None:
    note = "<aside class=footnote role=doc-footnote><p>This is so that mails can be sorted.</p></aside>"
    assert "can be sorted" in text_of(
        f"<main><p>{SENTENCE * 4}</p>{note}<aside><p>Buy our book today!</p></aside></main>"
    )
    assert "our book" not in text_of(
        f"<main><p>{SENTENCE * 4}</p>{note}<aside><p>Buy our book today!</p></aside></main>"
    )


def test_cards_named_after_their_pictures_are_entries() -> None:
    card = "<div class=product-thumb><a href=/{0}><div class=caption><h6>Item {0}</h6>EUR {0}.00</div></a></div>"
    text = text_of(
        f"<div id=content><h1>Shop</h1><p>All prices include tax.</p>{''.join(map(card.format, range(12)))}</div>"
    )
    assert text.count("EUR") == 12
    short = f"<main><h1>Fox</h1><p class=byline>By Jane Roe</p><p>{SENTENCE}</p></main>"
    assert "Jane" not in text_of(short)


def test_a_table_of_contents_is_the_text_of_a_page_that_has_nothing_else() -> None:
    entries = "<dt><a href=ch1.html>Install</a><dt><a href=ch2.html>Run</a>"
    contents = f"<div class=toc><b>Contents</b><dl class=toc>{entries}</dl></div>"
    assert text_of(f"<h1>Manual</h1>{contents}") == "Manual\nContents\nInstall\nRun"
    assert "Install" not in text_of(f"<div><h1>Manual</h1>{contents}<p>{SENTENCE * 4}</p></div>")


def test_lines_of_code_with_numbers_that_are_links_are_kept() -> None:
    lines = ("LIMIT = 4.2", "", "def is_flood(level):", "    return level > LIMIT")
    rows = "".join(
        f"<div class=pre><a href=?f=x#l{at} class=linenr>{at}</a> {line}</div>" for at, line in enumerate(lines, 1)
    )
    text = text_of(f"<div class=page_body>{rows}</div>")
    assert [line.split(" ", 1)[1].strip() for line in text.split("\n")] == [line.strip() for line in lines if line]


def test_a_heading_of_nothing_but_links_into_the_page_is_left_out() -> None:
    contents = "<h2>Table of Contents</h2><ul><li><a href=#a>First part</a><li><a href=#b>Second part</a></ul>"
    assert "Contents" not in text_of(f"<main>{contents}<h2 id=a>First part</h2><p>{SENTENCE * 4}</p></main>")


@pytest.mark.parametrize(
    "opening",
    [
        "<div><a href=/x>link</a>",
        "<aside><article>",
        "<div id=related><h2>Related</h2>",
        "<div id=content>",
        "<table><tr><td>",
        "<article><h2><a href=/x>Linked title</a></h2>",
        "<section><h2>Part</h2>",
        "<ul><li>",
        "<div class=comment>",
    ],
)
def test_nesting_takes_linear_time(opening: str) -> None:
    """Four times the size takes about four times as long."""

    def measure(times: int) -> float:
        body = parse_tree(opening * times + f"<p>{SENTENCE}</p>" * times).body
        assert body is not None
        best = inf
        for _ in range(3):
            start = process_time()
            main_text_blocks(body)
            best = min(best, process_time() - start)
        return best

    assert measure(1600) < 10 * measure(400) + 0.02


def test_a_text_that_a_button_shows_is_kept_without_its_cut_form() -> None:
    whole = "Politeness applies per site: scheme, host and port. Each site has its own pace."
    short = f'<span>{whole[:50]}</span> <span style="display:none">{whole}</span><a href="#">...</a>'
    others = "<p>The harbour office of Rosslyn Ferry<br>The harbour office of Rosslyn Ferry, north gate</p>"
    cells = f"<tr><td>{whole[:50]}</td><td>{whole}</td></tr>"
    text = text_of(f"<main><table><tr><td>1</td><td>{short}</td></tr>{cells}</table>{others}</main>")
    assert text.split("\n")[0] == f"1 {whole}..."
    assert f"{whole[:50]} {whole}" in text
    assert text.count("Rosslyn Ferry") == 2


def test_short_answers_to_a_long_question_are_kept() -> None:
    question = "".join(f"<p>{SENTENCE} It is the {number}th of the questions that I have.</p>" for number in range(9))
    tools = "<div class='tools'><span>flag offensive</span><div>close</div><div>merge</div><div>delete</div></div>" * 4
    posts = [question, "<p>We keep it in the barn until spring.</p>", "<p>So do we, but in the cellar of the mill.</p>"]
    markup = "".join(f"<div class='post'><div class='post-body'>{post}</div>{tools}</div>" for post in posts)
    text = text_of(f"<main><div>{markup}</div></main>")
    assert "in the barn until spring" in text
    assert text.index("8th of the questions") < text.index("barn") < text.index("cellar of the mill")
    assert "offensive" not in text
    apart = "<div class='post-body'><p>Some words of an author.</p></div>"
    assert "Some words" not in text_of(f"<main><div class='post-body'>{question}</div>{apart}</main>")
