"""Targets of links and images, counters, notices with numbers, and held changes that turn out to be noise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.classify import compare
from evercrawl.core.change.held_changes import add_held, has_to_wait, settle_held
from evercrawl.core.change.hunk import edits_in
from evercrawl.core.change.learning import classify_visit, learn_page
from evercrawl.core.change.reference_diff import stable_target
from evercrawl.core.change.segments import SegmentChange, split_segments
from evercrawl.core.change.snapshot import snapshot_html
from evercrawl.core.change.snapshot_diff import diff_snapshots
from evercrawl.model.page import Reschedule
from evercrawl.model.time import to_us

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
PROSE = "<p>The harbour was closed for the whole day because of the storm from the west.</p>"


def page(body: str) -> str:
    return f"<html><body><main><h1>Harbour</h1>{PROSE}{body}</main></body></html>"


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("/img/photo-7602_hu3cf14e8841c7_800x0_resize_q75.jpg", "/img/photo-7602_hub20242da087b_80x0_q7.jpg", True),
        ("/img/photo-7602_hu3cf14e8841c7_800x0_resize_q75.jpg", "/img/photo-8961_hu3cf14e8841c7_800x0_q75.jpg", False),
        ("/a/csm_photo-8125_deadbeef12.jpg", "/a/csm_photo-8125_a1b2c3d4e5f6a7b8c9.jpg", True),
        ("/_next/image?url=%2Fmedia%2Fa.webp&w=640", "/_next/image?url=%2Fmedia%2Fa.webp&w=828", True),
        ("/_next/image?url=%2Fmedia%2Fa.webp&w=640", "/_next/image?url=%2Fmedia%2Fb.webp&w=640", False),
        ("/photo-9219.jpg/thumbnail/1106x830", "/photo-9219.jpg/thumbnail/1200x830", True),
        ("/uploads/pier-300x200.jpg", "/uploads/pier-1024x683.jpg", True),
        ("/uploads/mod-0x16-relay.jpg", "/uploads/mod-0x17-relay.jpg", False),
    ],
)
def test_what_an_image_shows(one: str, other: str, is_same: bool):
    assert (stable_target(one, is_image=True) == stable_target(other, is_image=True)) is is_same


def test_a_token_in_a_query_is_generated():
    token = "YdEESIW_ozwzOGSjz_RN5KSL4_g__t"
    assert stable_target(f"/watch?id=3&auth={token}", is_image=False) == "/watch?id=3"


def test_the_target_of_a_link_that_is_there_twice_is_content():
    before = page('<p>See <a href="/a">the notes</a> and again <a href="/b">the notes</a> on this harbour.</p>')
    assert compare(before, before.replace('"/b"', '"/c"')).changed


def test_an_icon_that_shows_a_state_is_noise():
    on, off = '<li><img src="/on.gif"> tom</li>', '<li><img src="/off.gif"> tom</li>'
    rest = '<li><img src="/on.gif"> ann</li><li><img src="/off.gif"> bob</li>'
    assert not compare(page(f"<ul>{on}{rest}</ul>"), page(f"<ul>{off}{rest}</ul>")).changed


@pytest.mark.parametrize(
    ("before", "after", "grew"),
    [
        ("Borrowed 211 times, rated by 55", "Borrowed 212 times, rated by 55", True),
        ("Borrowed 211 times, rated by 55", "Borrowed 212 times, rated by 54", False),
        ("from 13:00", "from 17:00", False),
        ("1.2k views", "1.3k views", True),
    ],
)
def test_counters_only_grow(before: str, after: str, grew: bool):
    assert SegmentChange(0, before, after, is_statement=False).is_increase is grew


def test_a_notice_has_one_key_whatever_its_numbers():
    def key(minutes: int) -> set[int]:
        before, after = snapshot_html(page("")), snapshot_html(page(f"<div>Reading time: {minutes} min</div>"))
        return {edit.key for hunk in diff_snapshots(before, after).hunks for edit in edits_in(hunk)}

    assert key(4) == key(11)


def test_numbers_alone_are_other_edits():
    def key(price: int) -> set[int]:
        before, after = (
            snapshot_html(page("<div>now 5 euros</div>")),
            snapshot_html(page(f"<div>now {price} euros</div>")),
        )
        return {edit.key for hunk in diff_snapshots(before, after).hunks for edit in edits_in(hunk)}

    assert key(7) != key(8)


def test_a_change_that_was_noise_is_forgotten_by_the_schedule():
    pages = {f"http://a.test/{number}": page(f"<div>Wetter: {number} Grad</div>") for number in range(8)}
    site = SiteChangeHistory()
    for url, markup in pages.items():
        site = learn_page(snapshot_html(markup), site, page_url=url)
    schedules = []
    for number, (url, markup) in enumerate(pages.items()):
        after = markup.replace(f"{number} Grad", f"{number + 9 - 3 * (number % 2)} Grad")
        found = classify_visit(
            snapshot_html(markup), snapshot_html(after), PageChangeHistory(), site, now=NOON, page_url=url, visit=2
        )
        site = found.site
        if has_to_wait(found.change, found.held, site):
            held = found.held._replace(url=url, page_id=number, at_us=to_us(NOON))
            site = add_held(site, held, Reschedule(number, 77, b"\x01"))
    site, settled = settle_held(site, now=NOON + timedelta(minutes=3))
    schedules = [verdict.schedule for verdict in settled]
    assert not site.held
    assert settled
    assert not any(verdict.change.changed for verdict in settled)
    assert schedules[0] == Reschedule(0, 77, b"\x01")


def settled_changes(pages: dict[str, tuple[str, str]]) -> list[bool]:
    """Visit each page twice, and return which changes remain when all pages were seen."""
    site, changed = SiteChangeHistory(), {}
    for url, (before, _) in pages.items():
        site = learn_page(snapshot_html(before), site, page_url=url)
    for number, (url, (before, after)) in enumerate(pages.items()):
        found = classify_visit(
            snapshot_html(before), snapshot_html(after), PageChangeHistory(), site, now=NOON, page_url=url, visit=2
        )
        site, changed[number] = found.site, found.change.changed
        if has_to_wait(found.change, found.held, site):
            site = add_held(site, found.held._replace(url=url, page_id=number, at_us=to_us(NOON)))
    _, settled = settle_held(site, now=NOON, everything=True)
    return list((changed | {verdict.page_id: verdict.change.changed for verdict in settled}).values())


def test_what_stands_beside_a_label_is_judged_by_the_label():
    words = ("calm", "windy", "sunny", "foggy", "icy", "mild", "dull", "hazy", "wet")
    rows = "".join(f"<tr><td>Quay {number}</td><td>ship {number} of the line</td></tr>" for number in range(9))

    def table(word: str) -> str:
        return page(f"<table>{rows}<tr><td>Motto</td><td>{word}</td></tr></table>")

    pages = {f"http://a.test/{at}": (table(words[at]), table(words[at + 1])) for at in range(8)}
    assert settled_changes(pages) == [False] * 8


def test_a_value_in_the_sidebar_that_one_page_changed_is_content():
    def issue(number: int, owner: str) -> str:
        return page(f"<p>Report number {number}.</p>") + f"<aside><div class='owner'>{owner}</div></aside>"

    pages = {f"http://a.test/{number}": (issue(number, f"owner{number % 9}"),) * 2 for number in range(30)}
    pages["http://a.test/29"] = issue(29, "mrs hudson"), issue(29, "sable")
    assert settled_changes(pages) == [False] * 29 + [True]


@pytest.mark.parametrize(
    ("before", "after", "is_changed"),
    [
        ("April 4 2026 21:15", "April 4 2026 12:30", True),
        ("January 4 2026 21:15", "January 5 2026 12:30", False),
        ("January 1 2026 21:15", "January 1 2026 12:30", True),
        ("Tue, 4 Nov 2025 08:12:33 +0000", "Thu, 6 Nov 2025 21:40:02 +0000", True),
        ("Sun, 4 Jan 2026 08:12:33 +0000", "Mon, 5 Jan 2026 11:40:02 +0000", False),
        ("<b>12</b> <i>days old</i>", "<b>13</b> <i>days old</i>", False),
        ("<b>1</b><i>days old</i>", "<b>2</b><i>days old</i>", False),
    ],
)
def test_times_of_events_are_content_and_those_of_today_are_not(before: str, after: str, is_changed: bool):
    found = classify_visit(
        snapshot_html(page(f"<div>{before}</div>")),
        snapshot_html(page(f"<div>{after}</div>")),
        PageChangeHistory(),
        SiteChangeHistory(),
        now=NOON,
        page_url="http://a.test/",
        visit=2,
    )
    assert found.change.changed is is_changed


def test_a_count_beside_a_linked_sentence_is_a_segment():
    sentence = "The council has decided to keep the old harbour open all winter."
    marked = snapshot_html(f"<ul><li><a href='/a'>{sentence}</a><span>166 downloads</span></li></ul>").marked[0]
    assert [segment.text for segment in split_segments(marked)] == [sentence, "166 downloads"]


NAMES = ("Old Quay", "North Pier", "Mill Lane", "Green Hill", "Long Reach", "West Wharf", "Salt Yard", "Tar Barrel")


def test_a_telephone_number_in_a_line_of_counters_is_content():
    def line(number: int, phone: str, views: int) -> str:
        return page(f"<p>{NAMES[number]}</p><div>{NAMES[number]} | {phone} | {views} calls so far</div>")

    def phone(number: int, at: int) -> str:
        return f"03{number}-{400 + 7 * at}-{2000 + 31 * at + number}"

    pages = {
        f"http://a.test/{number}": (line(number, phone(number, 1), 100), line(number, phone(number, 1), 160 + number))
        for number in range(8)
    }
    edited = {f"http://b.test/{number}": (line(number, phone(number, 1), 200), line(number, phone(number, 2), 290))
              for number in range(6)}  # fmt: skip
    quiet = {url.replace("a.test", "c.test"): visits for url, visits in pages.items()}
    assert settled_changes(pages | quiet | edited) == [False] * 16 + [True] * 6


def test_the_number_of_an_article_is_no_counter_because_others_of_the_page_grew():
    def shop(code: str, *counts: int) -> str:
        boxes = "".join(f"<div class='{name}'>{count}</div>" for name, count in zip("abc", counts, strict=True))
        return page(f"{3 * PROSE}<div class='code'>{code}</div>{boxes}")

    assert compare(shop("MB-5623", 15, 27, 33), shop("MB-7455", 16, 28, 34)).changed


def test_ages_in_another_order_are_no_moved_paragraphs():
    def reviews(*ages: str) -> str:
        return page("<ol>" + "".join(f"<li><p>{age}</p></li>" for age in ages) + "</ol>")

    assert not compare(reviews("6 giorni fa", "1 settimana fa"), reviews("1 settimana fa", "6 giorni fa")).changed


def test_an_entry_of_the_page_is_content_beside_links_that_take_turns():
    def listing(number: int, at: int, entry: str) -> str:
        links = "".join(f"<li><a href='/{name}'>{name} and {number + at}</a></li>" for name in NAMES[at : at + 3])
        return page(f"{3 * PROSE}<ul>{links}</ul><ul><li>{entry}</li><li>open all day</li></ul>")

    def visits(number: int, entry: str) -> tuple[str, str]:
        return listing(number, 0, f"dogs of berth {number}"), listing(number, 4, entry)

    pages = {f"http://a.test/{number}": visits(number, f"dogs of berth {number}") for number in range(12)}
    pages["http://a.test/12"] = visits(12, "cats welcome")
    assert settled_changes(pages) == [False] * 12 + [True]


def test_sentences_that_all_pages_replace_are_noise_at_the_second_visit():
    def facts(number: int, at: int) -> str:
        items = "".join(
            f"<li>It is said that {name} had {10 * number + at} boats in the year of the great storm.</li>"
            for name in NAMES[at : at + 3]
        )
        return page(f"<p>This page is about berth {number} and nothing else at all.</p><ul class='facts'>{items}</ul>")

    pages = {f"http://a.test/{number}": (facts(number, 0), facts(number, 4)) for number in range(12)}
    assert settled_changes(pages) == [False] * 12


def test_what_a_line_says_that_comes_and_goes_is_noise():
    def line(number: int, user: str) -> str:
        lock = f" · Currently locked by: {user}" if user else ""
        return page(f"<div>page{number}.txt · by <i>admin</i>{lock}</div>")

    pages = {f"http://a.test/{number}": (line(number, "tom"), line(number, "")) for number in range(3)}
    pages |= {f"http://a.test/{number}": (line(number, ""), line(number, "")) for number in range(3, 8)}
    pages["http://a.test/8"] = line(8, "tom"), line(8, "sable")
    assert settled_changes(pages)[8] is False


def test_a_renamed_entry_beside_a_count_is_content_also_with_a_colon():
    def fixtures(number: int, name: str, shift: int) -> str:
        names = (name, "The south lock", "The mill race", "The old ferry")
        lines = (f"<span>Sat {number} Feb</span><span>{one}</span>" for one in names)
        guesses = (f"<span>{500 + number + at + shift} guesses</span>" for at in range(4))
        return page("".join(f"<div>{line}{count}</div>" for line, count in zip(lines, guesses, strict=True)))

    name = "Commuters object to the tram line"
    pages = {f"http://a.test/{at}": (fixtures(at, name, 0), fixtures(at, name, 9 + at)) for at in range(10, 26)}
    pages["http://a.test/26"] = fixtures(26, name, 0), fixtures(26, "Kirk Hadley tram line: what we know", 9)
    assert settled_changes(pages) == [False] * 16 + [True]


def test_a_footer_with_a_session_waits_for_other_pages_when_it_is_edited():
    def footer(number: int, terms: str, at: int) -> str:
        token = f"{number + 3}a8985e413eac9b{at}ef7c5e{number}"
        return page(
            f"<p>Berth {number} is free.</p><div>All rights reserved. {terms} Session {token}, served now.</div>"
        )

    pages = {
        f"http://a.test/{number}": (
            footer(number, "Imprint and privacy policy apply.", 1),
            footer(number, "By using this site you accept our new terms.", 2),
        )
        for number in range(12)
    }
    assert settled_changes(pages) == [False] * 12


def thread(line: str, *, row: str = "table", cell: str = "td") -> str:
    facts = "".join(f"<{cell}>{fact}</{cell}>" for fact in line.split(" | "))
    return page(f"{PROSE * 5}<{row}>{facts}</{row}>")


def test_another_thread_beside_the_text_is_noise_but_the_author_of_the_page_is_content():
    before, after = "Pump in the north | fox | 86 | 1 day ago", "Which boiler? | Olga M. | 44 | 1 week ago"
    assert not compare(thread(before), thread(after)).changed
    by = "By Ann Rook | North | 86 | 1 day ago"
    line, other = (thread(text, row="div", cell="span") for text in (by, by.replace("Ann Rook", "Bo Teal")))
    assert compare(line, other).changed


def test_large_numbers_in_tables_that_tick_are_counters():
    def poster(number: int) -> str:
        numbers = "".join(f"<tr><td>{value}</td></tr>" for value in (number, 31, 17, 53, 64, 12, 90, 28))
        return page(f"<table>{numbers}</table>")

    def settled(first: int, step: int) -> int:
        numbers = [first + 9 * at for at in range(16)]
        steps = [step * (at % 3 == 0) for at in range(16)]
        pages = (map(poster, (number, number + more)) for number, more in zip(numbers, steps, strict=True))
        return sum(settled_changes({f"http://a.test/{at}": (one, other) for at, (one, other) in enumerate(pages)}))

    assert (settled(4500, 1), settled(40, 7)) == (0, 6)


def test_a_moment_that_all_pages_share_is_that_of_a_rebuilt_site():
    def message(number: int, made: str) -> str:
        return page(f"<p>Message {number} was sent to the list.</p><div>{terms} Made by Pipe, {made}</div>")

    terms = "Whoever uses this site has to accept our new terms of service."
    old, new = "Thu Feb 06 16:00:00 2025", "Sat Feb 08 08:00:00 2025"
    pages = {f"http://a.test/{at}": (message(at, old), message(at, new)) for at in range(12)}
    assert settled_changes(pages) == [False] * 12
    own = {url: (f"{old[:17]}{at:02} 2025", f"{new[:17]}{at:02} 2025") for at, url in enumerate(pages)}
    alone = {url: (message(at, own[url][0]), message(at, own[url][at == 3])) for at, url in enumerate(pages)}
    assert settled_changes(alone) == [at == 3 for at in range(12)]


def facts(number: int, owner: str, watchers: str) -> str:
    rows = (("Owner", owner), ("Watchers", watchers), ("Berth", f"berth {number}"))
    return page(3 * PROSE + "".join(f"<div>{label}</div><div class='value'>{value}</div>" for label, value in rows))


def test_a_fact_is_judged_by_the_label_above_it_not_by_others_of_its_kind():
    pages = {
        f"http://a.test/{at}": (facts(at, "nobody", f"{NAMES[at % 8]}"), facts(at, "nobody", f"{NAMES[(at + 1) % 8]}"))
        for at in range(30)
    }
    pages["http://b.test/1"] = facts(31, "nobody", "Old Quay"), facts(31, "mrs hudson", "Old Quay")
    assert settled_changes(pages)[-1]


def test_a_fact_with_a_calm_label_in_a_side_part_is_content_beside_facts_that_move():
    def side(number: int, phone: str, weather: str) -> str:
        return page(f"<p>Report {number}.</p>") + f"<aside><p>Phone: {phone}</p><p>Weather: {weather}</p></aside>"

    pages = {
        f"http://a.test/{at}": (side(at, f"0251 88{at:02} 93", f"{at} degrees"), side(at, f"0251 88{at:02} 93", "rain"))
        for at in range(30)
    }
    pages["http://a.test/30"] = side(30, "0251 8830 93", "rain"), side(30, "0264 2624 31", "rain")
    assert settled_changes(pages) == [False] * 30 + [True]


def test_what_stands_beside_a_name_that_another_replaced_goes_with_it():
    def tile(at: int) -> str:
        return f"<div class='tile'><a href='/{at}'>the boat {NAMES[at % 8]}</a><b>{17 * at + 100} euros</b></div>"

    def advert(number: int, at: int) -> str:
        tiles = "".join(tile(number + at + step) for step in range(0, 9, 3))
        return page(f"{3 * PROSE}<h2>Berth {number}</h2><p>Owner {number}.</p><h2>Similar boats</h2>{tiles}")

    pages = {f"http://a.test/{at}": (advert(at, 0), advert(at, 10)) for at in range(16)}
    assert not any(settled_changes(pages)[8:])


def listing(*entries: str) -> str:
    return page("<ul>" + "".join(f"<li>{entry}</li>" for entry in entries) + "</ul>")


def test_an_entry_that_was_moved_is_a_change():
    assert compare(listing(*NAMES), listing(NAMES[5], *NAMES[:5], *NAMES[6:])).changed


def test_links_in_another_order_are_a_change_only_where_nothing_else_differs():
    def links(*names: str) -> list[str]:
        return [f"<a href='/{name}'>{name}</a>" for name in names]

    before, after = links(*NAMES), links(NAMES[5], *NAMES[:5], *NAMES[6:])
    assert compare(listing(*before), listing(*after)).changed
    counted = [listing(*entries, f"<b>{count} boats</b>") for entries, count in ((before, 3), (after, 4))]
    assert [edit.is_entry for edit in compare(*counted).edits] == [False]


def test_entries_that_are_always_in_another_order_are_noise():
    def shuffled(at: int) -> str:
        return listing(*NAMES[at % 8 :], *NAMES[: at % 8])

    pages = {f"http://a.test/{at}": (shuffled(at), shuffled(at + 1)) for at in range(8)}
    assert settled_changes(pages) == [False] * 8


def test_how_long_something_takes_is_no_age():
    def episode(number: int, minutes: int, others: tuple[int, ...]) -> str:
        names = [f"Talk about {NAMES[one % 8]} and {NAMES[one % 5]}" for one in others]
        rest = "".join(f"<li><a>{name}</a> <b>{one} min</b></li>" for name, one in zip(names, others, strict=True))
        return page(f"{3 * PROSE}<ul><li><b>Length</b> <i>{minutes} min</i></li></ul><ul>{rest}</ul>")

    assert compare(episode(1, 63, (20, 30, 40)), episode(1, 28, (21, 33, 47))).changed
