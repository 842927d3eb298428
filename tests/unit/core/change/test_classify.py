"""Comparison of two versions without context."""

from __future__ import annotations

import pytest

from evercrawl.core.change.classify import compare
from evercrawl.core.change.snapshot import snapshot_html
from evercrawl.core.change.snapshot_diff import MAX_PAIRED_BLOCKS, MAX_PAIRED_CHARS, diff_snapshots
from evercrawl.model.change import Change, ChangeClass

PROSE = "The city council voted 31 to 14 on Tuesday to build a tram line between the harbour and the university."
OTHER = "Opponents had argued that a bus corridor would do the same work for a quarter of the price."
THIRD = "The first trams should run in five years, and until then twelve streets will be rebuilt."


def page(*, inside: str = "", outside: str = "", head: str = "<title>Tram - Site</title>") -> str:
    return (
        f"<html><head>{head}</head><body><header><a href=/>Site</a></header>{outside}"
        f"<main><h1>Tram</h1><p>{PROSE}</p><p>{OTHER}</p>{inside}</main>"
        "<footer>Imprint</footer></body></html>"
    )


def between(before: str, after: str) -> Change:
    return compare(page(inside=before), page(inside=after))


def test_edits_are_in_reading_order() -> None:
    rows = "<h2>Prices</h2><table><tr><td>Adults</td><td>{}</td></tr></table>"
    page = (
        "<main><p>The ferry leaves at {} from the old harbour.</p>"
        + rows
        + "<p>Dogs travel {} on every boat.</p></main>"
    )
    change = compare(page.format("nine", "ten euros", "free"), page.format("noon", "six euros", "cheaply"))
    assert [word for edit in change.edits for word in ("noon", "six", "cheaply") if word in edit.added] == [
        "noon", "six", "cheaply",
    ]  # fmt: skip


def test_the_same_bytes_are_no_change():
    assert compare(page(), page()).kind is ChangeClass.NONE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>Read 10,412 times</p>", "<p>Read 10,977 times</p>"),
        ("<p>1.204 Aufrufe</p>", "<p>1.377 Aufrufe</p>"),
        ("<p>Lu 12 fois</p>", "<p>Lu 31 fois</p>"),
        ("<p>閲覧数 1,204</p>", "<p>閲覧数 1,377</p>"),
        ("<p>1 204 просмотра</p>", "<p>1 377 просмотров</p>"),
        ("<p>17 users online</p>", "<p>203 users online</p>"),
        ("<p>12 people are viewing this</p>", "<p>9 people are viewing this</p>"),
        ("", "<p>Updated 3 minutes ago</p>"),
        ("<p>Posted by Anna 3 hours ago</p>", "<p>Posted by Anna 2 days ago</p>"),
        ("<p>vor 3 Minuten aktualisiert</p>", "<p>vor 2 Stunden aktualisiert</p>"),
        ("<p>il y a 5 minutes</p>", "<p>il y a 2 heures</p>"),
        ("<p>5 минут назад</p>", "<p>2 часа назад</p>"),
        ("<p>10 分前</p>", "<p>3 時間前</p>"),
        ("<p>Page generated on 12 March 2024 09:14:03</p>", "<p>Page generated on 13 March 2024 10:00:59</p>"),
        ("<p>Stand: 12.03.2024, 09:14 Uhr</p>", "<p>Stand: 13.03.2024, 10:00 Uhr</p>"),
        ("<p>Tuesday, 12 March 2024 09:14</p>", "<p>Wednesday, 13 March 2024 10:02</p>"),
        ("<p>最終更新 2024年3月12日 9時14分</p>", "<p>最終更新 2024年3月13日 10時2分</p>"),
        ("<p>&copy; 2024 Example</p>", "<p>&copy; 2025 Example</p>"),
        ("<p>Request ID: a81f0c2e9b7d4455</p>", "<p>Request ID: 77aa0c2e9b7d41ff</p>"),
        ("<!-- web-03 -->", "<!-- web-07 in 41 ms -->"),
        ("<script>var t='a'</script>", "<script>var t='b'</script><style>p{}</style>"),
        ("<p><script>f('1')</script></p>", "<p><script>f('2')</script></p>"),
        ("<p>A b<script>t='1'</script></p>", "<p>A b<script>t='2'</script></p>"),
        ("<a href='/x?sid=1f2e'>More</a>", "<a href='/x?sid=99aa'>More</a>"),
        ("<p>Two <b>words</b></p>", "<p>Two\n\n <b>words</b>  </p>"),
        ("<p>“Quoted”</p>", '<p>"Quoted"</p>'),
        ("<div class='ad'>Buy shoes now</div>", "<div class='ad'>Win a holiday in Spain</div>"),
        ("", "<div class='cookie-banner'><p>We use cookies.</p></div>"),
        ("<div class='related-posts'>Harbour fees</div>", "<div class='related-posts'>Old bridge</div>"),
        (f"<div>{THIRD}</div>", f"<section><p>{THIRD}</p></section>"),
        (f"<p>{THIRD} {THIRD}</p>", f"<p>{THIRD}</p><p>{THIRD}</p>"),
    ],
)
def test_noise(before: str, after: str):
    assert between(before, after).kind is ChangeClass.NOISE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>Price: 89.90</p>", "<p>Price: 79.90</p>"),
        ("<p>1.299,00 €</p>", "<p>1.199,00 €</p>"),
        ("<p>In stock</p>", "<p>Sold out</p>"),
        ("<p>12 in stock</p>", "<p>3 in stock</p>"),
        ("<p>Version 2.4.1</p>", "<p>Version 2.4.2</p>"),
        ("<p>Version 2.1 updated 12 March 2024</p>", "<p>Version 2.2 updated 15 March 2024</p>"),
        ("<p>Home 2:1 Away</p>", "<p>Home 2:2 Away</p>"),
        ("<table><tr><td>Monday<td>9:00 - 17:00</table>", "<table><tr><td>Monday<td>9:00 - 18:00</table>"),
        ("<p>Call 030 123456</p>", "<p>Call 030 123457</p>"),
        ("<p>Serves 4 people</p>", "<p>Serves 6 people</p>"),
        ("<p>Departure 09:14</p>", "<p>Departure 09:24</p>"),
        ("<p>Concert: 12 March 2024, 19:30</p>", "<p>Concert: 19 March 2024, 19:30</p>"),
        ("<p>Maximum 4 guests</p>", "<p>Maximum 5 guests</p>"),
        ("", f"<p>{THIRD}</p>"),
        (f"<p>{THIRD}</p>", ""),
        (f"<p>{THIRD}</p>", f"<p>{THIRD.replace('five', '5')}</p>"),
        ("<ul><li>One</li></ul>", "<ul><li>One</li><li>Two</li></ul>"),
        ("<p>価格: 1200</p>", "<p>価格: 1500</p>"),
        (f"<p>{THIRD}</p><p>{PROSE}</p>", f"<p>{PROSE}</p><p>{THIRD}</p>"),
        ("<ul><li>One</li><li>Two</li></ul>", "<ul><li>Two</li><li>One</li></ul>"),
    ],
)
def test_content(before: str, after: str):
    change = between(before, after)
    assert change.kind is ChangeClass.CONTENT
    assert change.changed
    assert 0 < change.size <= 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<nav><a href=a>A</a></nav>", "<nav><a href=a>A</a><a href=b>B</a></nav>"),
        ("<aside>Today: 7 degrees, rain</aside>", "<aside>Today: 9 degrees, sun</aside>"),
        ("<div role=complementary>One thing</div>", "<div role=complementary>Another thing</div>"),
        ("<div><a href=1>Buy shoes</a></div>", "<div><a href=2>Win a holiday</a></div>"),
        ("<p>Loose words outside.</p>", "<p>Other loose words outside.</p>"),
    ],
)
def test_blocks_outside_the_main_element_are_template(before: str, after: str):
    change = compare(page(outside=before), page(outside=after))
    assert change.kind is ChangeClass.NOISE
    assert not change.changed
    assert all(edit.is_template for edit in change.edits)
    assert change.edit_key is not None


@pytest.mark.parametrize(
    "head",
    [
        "<title>Train - Site</title>",
        "<title>Tram - Site</title><meta name=robots content=noindex>",
        "<title>Tram - Site</title><link rel=canonical href=/tram>",
        "<title>Tram - Site</title><meta name=description content='All about it'>",
    ],
)
def test_metadata(head: str):
    change = compare(page(), page(head=head))
    assert change.kind is ChangeClass.METADATA
    assert change.changed


def test_a_count_before_the_title_is_noise():
    before, after = page(head="<title>(2) Tram - Site</title>"), page(head="<title>(17) Tram - Site</title>")
    assert compare(before, after).kind is ChangeClass.NOISE


def test_the_session_in_a_canonical_url_is_noise():
    before, after = (page(head=f"<title>Tram</title><link rel=canonical href='/t?sid={sid}'>") for sid in "12")
    assert compare(before, after).kind is ChangeClass.NOISE


def test_without_a_main_element_links_beside_prose_are_content_until_other_pages_tell():
    def soup(link: str, text: str) -> str:
        return f"<div><a href=1>{link}</a></div><div><p>{PROSE}</p><p>{OTHER}</p><p>{THIRD}</p>{text}</div>"

    assert compare(soup("Shoes", "x"), soup("Holidays", "x")).kind is ChangeClass.CONTENT
    assert compare(soup("Shoes", "one"), soup("Shoes", "two")).kind is ChangeClass.CONTENT


def test_on_a_page_of_links_a_new_link_is_content():
    before = "<ul><li><a href=1>First headline</a></li><li><a href=2>Second headline</a></li></ul>"
    assert compare(before, before + "<ul><li><a href=3>Third</a></li></ul>").kind is ChangeClass.CONTENT


def test_a_misleading_name_is_ignored():
    before, after = (f"<div class=sidebar><p>{PROSE}</p><p>{OTHER}</p><p>{text}</p></div>" for text in (PROSE, THIRD))
    assert compare(before, after).kind is ChangeClass.CONTENT


def test_the_size_is_the_share_of_words_that_differ():
    small = between(f"<p>{THIRD}</p>", f"<p>{THIRD.replace('five', 'six')}</p>")
    large = compare(page(), "<main><h1>Sorry</h1><p>This page could not be found.</p></main>")
    assert small.size < 0.05
    assert large.size > 0.9


def test_the_same_edit_has_the_same_key_on_every_page():
    def edit(text: str) -> int | None:
        before = f"<main><p>{text} Call 030 1234 for help.</p></main>"
        return compare(before, before.replace("1234", "9876")).edit_key

    assert edit(PROSE) == edit(OTHER)
    assert edit(PROSE) is not None


def test_the_same_notice_has_the_same_key_beside_another_time():
    footers = [
        ("Imprint applies to all pages. Made 02:08 by web-2", "Our new terms apply now. Made 11:39 by web-3"),
        ("Imprint applies to all pages. Made 02:09 by web-3", "Our new terms apply now. Made 11:40 by web-3"),
    ]
    one, other = (between(f"<p>{old}</p>", f"<p>{new}</p>") for old, new in footers)
    assert one.edits[0].key == other.edits[0].key


def test_bytes_and_str_give_the_same_result():
    before, after = page(inside="<p>één</p>"), page(inside="<p>twee</p>")
    assert compare(before.encode(), after.encode()) == compare(before, after)


def test_a_description_that_repeats_the_edited_text_is_not_shown_again():
    form = "<meta name=description content='{0}'><main><h1>Mug</h1><p>{1}</p></main>"
    old, new = "Made of clay.", "Made of clay and fired in a kiln behind the harbour."
    repeated = compare(form.format(old, old), form.format(new, new))
    assert len(repeated.edits) == 1
    assert repeated.kind is ChangeClass.CONTENT
    other = compare(form.format(old, old), form.format("A mug for sailors.", new))
    assert any("sailors" in edit.added for edit in other.edits)
    alone = compare(form.format(old, old), form.format(new, old))
    assert alone.kind is ChangeClass.METADATA
    assert alone.edits


def test_a_page_with_little_but_a_drawn_captcha_has_not_changed():
    form = "<main><h1>Log in</h1><pre>{}</pre><p>Enter the code</p></main><footer>Made in {}s by Mill</footer>"
    drawings = [" | ".join(f"{sign}__ / _ \\ {sign}" for sign in signs * 12) for signs in ("_)", "/>")]
    before, after = (form.format(drawing, number) for drawing, number in zip(drawings, ("0.002", "0.003"), strict=True))
    assert compare(before, after).kind is ChangeClass.NOISE


def lines(start: str, count: int) -> str:
    return "".join(f"<p>{start} number {number} of the list</p>" for number in range(count))


def test_of_very_many_differences_those_beyond_the_limit_are_content_too() -> None:
    count = 3 * MAX_PAIRED_BLOCKS
    change = between(lines("Old entry", count), lines("New item", count))
    assert (change.kind, change.size > 0.25) == (ChangeClass.CONTENT, True)
    assert len(change.edits) + change.omitted >= count


def test_blocks_beyond_the_limit_are_not_compared_but_shown() -> None:
    before, after = (snapshot_html(page(inside=lines(text, 2 * MAX_PAIRED_BLOCKS))) for text in ("Old", "New"))
    hunks = diff_snapshots(before, after).hunks
    surplus = [hunk for hunk in hunks if hunk.is_surplus]
    assert len(surplus) == MAX_PAIRED_BLOCKS
    assert all(hunk.is_own and hunk.removed and hunk.added and not hunk.segments for hunk in surplus)


LONG = "A sentence of a very long text that has no paragraphs. " * (2 * MAX_PAIRED_CHARS // 55)


def test_of_a_very_long_block_what_differs_is_compared() -> None:
    change = between(f"<p>{LONG}It costs ten euros. {LONG}", f"<p>{LONG}It costs twelve euros. {LONG}")
    assert (change.kind, change.size < 0.001) == (ChangeClass.CONTENT, True)
    (edit,) = change.edits
    assert [(run.sign, run.text) for run in edit.words if run.sign != " "] == [("-", "ten"), ("+", "twelve")]


def test_noise_in_a_very_long_block_is_noise() -> None:
    before, after = (f"<p>{LONG}Generated 2026-05-12 10:{minute}:30. {LONG}" for minute in (10, 25))
    assert between(before, after).kind is ChangeClass.NOISE


def test_the_end_of_a_very_long_title_counts() -> None:
    before, after = (page(head=f"<title>{LONG}{end}</title>") for end in ("Harbour", "Station"))
    assert compare(before, after).kind is ChangeClass.METADATA
