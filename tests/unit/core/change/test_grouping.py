"""Groups of changes: equal edits together, real edits first, lists after the pages that changed them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xxhash import xxh64_intdigest

from evercrawl.core.change.detectors import bytes_change
from evercrawl.core.change.grouping import CausePage, EditGroup, group_changes
from evercrawl.core.change.text_diff import make_edit
from evercrawl.model.change import Change, ChangeClass, Edit

HOST = "https://a.test"
SENTENCE = "The museum now opens on Mondays as well, from ten in the morning until six."
STORY = "A lynx was seen near the old mill on Sunday evening, and two more on Monday. Hikers filmed it from afar."
Changes = list[tuple[str, Change]]


def edit(removed: str, added: str, *, template: bool = False, linked: bool = False) -> Edit:
    key = xxh64_intdigest(f"{removed}\0{added}".encode())
    return make_edit(key, removed, added, is_template=template, is_entry=linked)


def came(text: str) -> Edit:
    return edit("", text, linked=True)


def went(text: str) -> Edit:
    return edit(text, "", linked=True)


def content(path: str, *edits: Edit, size: float = 0.3) -> tuple[str, Change]:
    return HOST + path, Change(ChangeClass.CONTENT, size, edits)


def paths(urls: Sequence[str]) -> list[str]:
    return [url.removeprefix(HOST) for url in urls]


def shown(changes: Changes, *causes: CausePage) -> list[tuple[list[str], int]]:
    """Return the pages of each group, and how many of them only list others."""
    return [(paths(group.pages), len(group.listings)) for group in group_changes(changes, causes=causes)]


MENU = make_edit(1, "News", "Stories", is_template=True)
FOOTER = make_edit(2, "2025", "", is_template=True)
PRICE = make_edit(3, "9 EUR", "8 EUR", is_template=False)
TEXT = make_edit(4, "", "More words", is_template=False)


def noise(path: str, *edits: Edit) -> tuple[str, Change]:
    return HOST + path, Change(ChangeClass.NOISE, 0.0, edits)


def test_edits_made_on_the_same_pages_are_one_group() -> None:
    (group,) = group_changes([noise(f"/{number}", MENU, FOOTER) for number in range(9)])
    assert group.is_template
    assert set(group.edits) == {MENU, FOOTER}
    assert len(group.pages) == 9


def test_content_comes_first_in_its_own_group() -> None:
    changes = [noise(f"/{number}", MENU) for number in range(9)]
    changes += [content("/3", TEXT), content("/4", PRICE, MENU), content("/5", PRICE)]
    groups = group_changes(changes)
    assert [(group.kind, len(group.pages)) for group in groups] == [
        (ChangeClass.CONTENT, 1),
        (ChangeClass.CONTENT, 2),
        (ChangeClass.NOISE, 9),
    ]


def test_a_template_edit_of_one_page_is_not_shown() -> None:
    assert group_changes([noise("/a", MENU), noise("/b")]) == []


def numbered_lists() -> Changes:
    """Two stories came, so the last two of each list move to the next one."""
    titles = [f"Story {chr(97 + number)}" for number in range(6)]
    return [
        content("/", came("Lynx"), came("Otter"), went(titles[0]), went(titles[1])),
        content("/page/2", came(titles[0]), came(titles[1]), went(titles[2]), went(titles[3]), edit("of 3", "of 4")),
        content("/page/3", came(titles[2]), came(titles[3])),
    ]


NEW = (CausePage(f"{HOST}/lynx", "Lynx | The Courier", STORY), CausePage(f"{HOST}/otter", "Otter | The Courier"))


def test_real_edits_come_before_moved_entries_of_lists() -> None:
    real = content("/museum", edit("", SENTENCE), size=0.02)
    assert shown([*numbered_lists(), real], *NEW) == [(["/museum"], 0), (["/", "/page/2", "/page/3"], 3)]


def test_every_changed_page_is_in_a_group() -> None:
    changes = [*numbered_lists(), content("/museum", edit("", SENTENCE))]
    for causes in ((), NEW):
        pages = {page for group in group_changes(changes, causes=causes) for page in group.pages}
        assert pages == {url for url, _ in changes}


def test_a_summary_moves_with_its_entry() -> None:
    changes = [
        content("/news", came("Lynx"), edit("", STORY)),
        content("/animals", came("Lynx"), edit("", STORY)),
        content("/museum", edit("", SENTENCE), size=0.01),
    ]
    assert shown(changes, *NEW) == [(["/museum"], 0), (["/news", "/animals"], 2)]


def shifting(size: float) -> Changes:
    """A page whose list moved, with a text that no other page shows."""
    moved = [content("/page/2", came("Story a"), went("Story b")), content("/page/4", came("Story c"))]
    return [*moved, content("/page/3", came("Story b"), went("Story c"), edit("", STORY), size=size)]


def test_a_list_that_moved_may_have_summaries() -> None:
    assert shown(shifting(0.3)) == [(["/page/2", "/page/4", "/page/3"], 3)]
    (group,) = group_changes(shifting(0.3))
    assert group.edits[0].added.startswith("A lynx"), "it may be more than a summary"


def test_a_sentence_beside_a_list_that_moved_is_an_edit() -> None:
    assert (["/page/3"], 0) in shown(shifting(0.04))


def test_texts_that_came_from_one_page_and_went_to_another_are_a_list() -> None:
    texts = [f"{number} {STORY}" for number in "abcd"]
    ends = [content("/page/1", edit(texts[0], "")), content("/page/5", edit("", texts[3]))]
    middle = [content(f"/page/{at + 2}", edit("", texts[at]), edit(texts[at + 1], "")) for at in range(3)]
    assert shown([*ends, *middle])[-1] == (["/page/2", "/page/3", "/page/4"], 3)
    swapped = [content("/a", edit(texts[0], texts[1])), content("/b", edit(texts[1], texts[0]))]
    assert [listings for _, listings in shown(swapped)] == [0, 0], "an editor exchanged them"


def test_a_link_to_a_removed_page_goes_with_it() -> None:
    gone = CausePage(f"{HOST}/wiki/Git_show_branch", "git show branch", is_gone=True)
    link = edit("Git show branch: /wiki/Git_show_branch", "Git show branch: /index.php?title=Git_show_branch&redlink=1")
    changes = [content(f"/{name}", link) for name in "abc"] + [content("/museum", edit("", SENTENCE), size=0.01)]
    assert shown(changes, gone) == [(["/museum"], 0), (["/a", "/b", "/c"], 3)]


def test_a_paragraph_that_moved_to_another_page_is_an_edit_of_both() -> None:
    changes = [content("/a", edit(SENTENCE, "")), content("/b", edit("", SENTENCE))]
    assert [listings for _, listings in shown(changes)] == [0, 0]


def test_a_label_that_moved_is_an_edit() -> None:
    changes = [content("/a", edit("Sold out", "")), content("/b", edit("", "Sold out"))]
    assert [listings for _, listings in shown(changes)] == [0, 0]


def test_entries_that_an_editor_added_to_one_page_are_an_edit() -> None:
    changes = [content("/start", came("Lynx"), came("Otter")), content("/museum", edit("", SENTENCE), size=0.1)]
    assert shown(changes, *NEW) == [(["/museum"], 0), (["/start"], 0)]


def test_a_list_follows_the_edited_page_that_it_names() -> None:
    cause = CausePage(f"{HOST}/museum", "Museum | The Courier", is_edited=True)
    changes = [
        content("/recent", came("Museum")),
        content("/updates", came("Museum")),
        content("/museum", edit("", SENTENCE)),
        content("/park", edit("", "Dogs must be kept on a lead in the whole park from March on.")),
    ]
    assert (["/museum", "/recent", "/updates"], 2) in shown(changes, cause)


def test_what_names_a_removed_page_goes_with_it() -> None:
    gone = CausePage(f"{HOST}/git_show_branch", "git show branch", is_gone=True)
    links = [edit("Git show branch (← links | edit)", "", template=True)]
    changes = [content(f"/links/{name}", edit("Displayed 3 items.", "Displayed 2 items."), *links) for name in "ab"]
    changes.append(content("/museum", edit("", SENTENCE), size=0.01))
    assert shown(changes, gone) == [(["/museum"], 0), (["/links/a", "/links/b"], 2)]


def test_a_page_that_repeats_a_part_of_an_edited_page_follows_it() -> None:
    stamp = edit("Last modified: 2026/02/18 by 127.0.0.1", "Last modified: 2026/11/16 by www")
    changes = [
        content("/pidof?do=index", stamp, came("Lynx"), size=0.4),
        content("/hosts?do=index", came("Lynx"), size=0.4),
        content("/pidof", stamp, edit("", SENTENCE), size=0.1),
    ]
    assert shown(changes, *NEW) == [(["/pidof", "/pidof?do=index"], 1), (["/hosts?do=index"], 1)]


def test_dates_of_an_edit_are_not_a_group_of_their_own() -> None:
    stamps = [edit(f"{name} · 2026/02/18 13:15", f"{name} · 2026/11/16 13:19") for name in "ab"]
    changes = [content(f"/{name}", edit("", SENTENCE), stamp) for name, stamp in zip("ab", stamps, strict=True)]
    (group,) = group_changes(changes)
    assert set(group.keys) == {edit.key for _, change in changes for edit in change.edits}


def test_ages_and_counts_of_a_list_that_moved_follow_it() -> None:
    stamps = [edit("1 Nov", "5s"), edit("", "6 Sep"), edit("4", "27"), edit("", "3 days ago")]
    changes = [content("/forum", came("Lynx"), *stamps), content("/forum/2", came("Lynx"), went("Story a"))]
    changes.append(content("/museum", edit("", SENTENCE), edit("", "7s"), size=0.01))
    assert shown(changes, *NEW) == [(["/museum"], 0), (["/forum", "/forum/2"], 2)]


def test_other_sites_explain_nothing() -> None:
    other = CausePage("https://b.test/lynx", "Lynx")
    changes = [content("/a", came("Lynx")), content("/b", came("Lynx"))]
    assert [listings for _, listings in shown(changes, other)] == [0]


def template_groups(changes: Changes, *causes: CausePage, with_noise: bool = False) -> list[EditGroup]:
    return [group for group in group_changes(changes, causes=causes, with_noise=with_noise) if group.is_template]


def test_a_list_of_the_newest_pages_beside_the_content_is_no_news() -> None:
    newest = [edit("Story a", "Lynx", template=True), edit("November (1)", "November (3)", template=True)]
    banner = edit("", "Order before noon", template=True)
    sidebars = [(f"{HOST}/{number}", Change(ChangeClass.NOISE, 0.0, tuple(newest))) for number in range(5)]
    assert template_groups(sidebars, *NEW) == []
    assert len(template_groups(sidebars, *NEW, with_noise=True)) == 1
    banners = [(f"{HOST}/{number}", Change(ChangeClass.NOISE, 0.0, (banner,))) for number in range(5)]
    (group,) = template_groups(banners, *NEW)
    assert len(group.pages) == 5


RANKED: list[tuple[str, Edit, ChangeClass, float]] = [
    ("prose", edit("", SENTENCE), ChangeClass.CONTENT, 0.01),
    ("revision", edit("", "Revision 2 . . November 16, 2026 14:46 by Ann"), ChangeClass.CONTENT, 0.7),
    ("number", edit("20 members", "19 members"), ChangeClass.CONTENT, 0.5),
    ("metadata", edit("Old title", "New title"), ChangeClass.METADATA, 0.9),
]


def test_prose_comes_before_numbers_and_metadata() -> None:
    changes = [(f"{HOST}/{name}", Change(kind, size, (one,))) for name, one, kind, size in reversed(RANKED)]
    assert [pages for pages, _ in shown(changes)] == [["/prose"], ["/revision"], ["/number"], ["/metadata"]]


def test_a_change_of_unknown_text_comes_after_readable_ones() -> None:
    changes = [(f"{HOST}/feed", bytes_change()), content("/number", edit("20 members", "19 members"), size=0.01)]
    assert [pages for pages, _ in shown(changes)] == [["/number"], ["/feed"]]


@pytest.mark.parametrize(("price", "is_list"), [("9 €", False), ("9.50", False), ("EUR 9", False), ("9", True)])
def test_a_price_is_more_than_a_count(price: str, is_list: bool) -> None:
    new = price.replace("9", "8")
    changes = [content("/shop", came("Lynx"), edit(f"Lamp {price}", f"Lamp {new}")), content("/shop/2", came("Lynx"))]
    assert any("/shop" in pages and listings for pages, listings in shown(changes, *NEW)) is is_list


def test_many_changes_are_grouped_quickly() -> None:
    changes = [
        content(f"/{number}", came(f"Story {number}"), edit("", f"{SENTENCE} {number}")) for number in range(3000)
    ]
    assert len(group_changes(changes, causes=NEW * 50)) == 3000


def test_an_edited_page_does_not_follow_from_the_new_page_that_shows_its_revision() -> None:
    menu = make_edit(7, "", "Quarry guild", is_template=True, is_entry=True)
    changes = [content("/tides", edit("", SENTENCE), menu), content("/recent", came("Quarry guild"))]
    guild = CausePage(f"{HOST}/quarry-guild", "Quarry guild", STORY)
    revision = CausePage(f"{HOST}/tides/revision/7", "Tides, revision 7", SENTENCE)
    assert (["/tides"], 0) in shown(changes, guild, revision)


def test_edits_come_before_lists_that_also_show_summaries_and_before_short_lines() -> None:
    summary = edit("", "The old mill burnt down in 1904 and was never built again by anybody.")
    changes = [
        content("/news/2", came("Old mill"), summary, edit("", "Edited by Ines Helmer", linked=False), size=0.9),
        content("/news", went("Old mill"), came("Lynx near the mill"), size=0.2),
        content("/blame", edit("", "edit museum notes"), size=0.5),
        content("/museum", edit("", SENTENCE), size=0.1),
        content("/museum.txt", edit("", SENTENCE), size=0.1),
    ]
    story = CausePage(f"{HOST}/lynx", "Lynx near the mill", STORY)
    assert [pages for pages, _ in shown(changes, story)][:2] == [["/museum", "/museum.txt"], ["/blame"]]


def test_labels_of_an_entry_that_moved_to_the_next_page_follow_it() -> None:
    changes = [
        content("/news/2", came("Old mill"), came("read more"), came("By Ines")),
        content("/news", went("Old mill"), came("Lynx near the mill")),
    ]
    story = CausePage(f"{HOST}/lynx", "Lynx near the mill", STORY)
    assert shown(changes, story) == [(["/news/2", "/news"], 2)]
    alone = [content("/prices", came("Old mill"), *(came(f"Entry {name}") for name in "abcd")), changes[1]]
    assert (["/prices"], 0) in shown(alone, story)


def test_rows_with_dates_move_like_other_entries() -> None:
    rows = [
        f"{number} Alpha feature new high Trouble with pump {number} 11/18/2026 05:14 PM Actions" for number in "1234"
    ]
    new = "82 Alpha bug new low Lynx near the mill 11/18/2026 06:17 PM Actions"
    changes = [
        content("/issues", edit("", new), edit(rows[0], "")),
        content("/issues?page=2", edit("", rows[0]), edit(rows[1], "")),
        content("/issues?page=3", edit("", rows[1]), edit(rows[2], "")),
    ]
    lists = CausePage(f"{HOST}/issues?page=4", "Issues", "\n".join([new, *rows]))
    assert shown(changes, lists) == [(["/issues", "/issues?page=2", "/issues?page=3"], 3)]


def test_a_log_of_changes_comes_after_the_changes() -> None:
    log = [edit("", f"06:17 PM Alpha: {title}") for title in ("Lynx near the mill", "Museum notes")]
    changes = [
        content("/users/1", *log, edit("", f"{SENTENCE} Soon."), size=1.0),
        content("/museum", edit("", SENTENCE)),
    ]
    causes = (
        CausePage(f"{HOST}/lynx", "Lynx near the mill"),
        CausePage(f"{HOST}/museum", "Museum notes", is_edited=True),
    )
    assert [pages for pages, _ in shown(changes, *causes)] == [["/museum"], ["/users/1"]]


def test_a_cell_comes_before_pages_of_lists_whose_excerpts_moved_on() -> None:
    titles = [f"The {word} of the old harbour" for word in ("walls", "cranes", "sheds", "boats")]
    excerpts = [f"{title} were repaired, which took all of the summer, and more than was planned." for title in titles]

    def shifted(page: int) -> tuple[str, Change]:
        new, old = titles[page], titles[page + 1]
        entries = came(new), went(old), came(f"{new}: 3 notes"), went(f"{old}: 3 notes")
        return content(f"/archive/{page}", *entries, edit("", excerpts[page]), edit(excerpts[page + 1], ""))

    prices = content("/prices", edit("Lamp, two flames 40", "Lamp, two flames 417.30"), size=0.02)
    found = [pages for pages, _ in shown([shifted(0), shifted(1), prices], CausePage(f"{HOST}/walls", titles[0]))]
    assert found[0] == ["/prices"]


def test_an_edited_sentence_on_a_page_with_a_list_of_changed_pages_comes_first() -> None:
    entries = [came(f"Notes of meeting {word}") for word in ("one", "two", "three")]
    causes = [CausePage(f"{HOST}/{at}", f"Notes of meeting {word}") for at, word in enumerate(("one", "two", "three"))]
    changes = [
        content("/stock", edit("Lamps left 40", "Lamps left 41")),
        content("/start", *entries, edit(SENTENCE, SENTENCE.replace("six", "seven"))),
    ]
    assert [pages for pages, _ in shown(changes, *causes)] == [["/start"], ["/stock"]]


def test_an_edited_line_is_no_entry_of_the_new_view_of_its_revision() -> None:
    old, new = (
        "Seed exchange 19 June 2026, 14:00, Rosslyn Ferry",
        "Seed exchange in winter months 19 June 2026, 14:00, Rosslyn Ferry",
    )
    names = ("events", "prices", "search", "traps")
    changes = [
        content(f"/view/head:/{name}.md", edit(f"at revision {at} 5", f"at revision {at} 6"), *[edit(old, new)][at:])
        for at, name in enumerate(names)
    ]
    causes = [CausePage(f"{HOST}/view/head:/{name}.md", name, is_edited=True) for name in names]
    causes.append(CausePage(f"{HOST}/view/6/events.md", "Revision 6", new))
    assert next(pages for pages, _ in shown(changes, *causes)) == ["/view/head:/events.md"]


def test_an_edited_heading_is_shown_although_a_table_of_contents_repeats_it() -> None:
    heading = "Seed exchange", "Seed exchange in winter months"
    copy = edit(*heading, template=True)
    page = content("/events", edit(*heading), copy, copy)
    assert shown([page]) == [(["/events"], 0)]
    others = [(f"{HOST}/{at}", Change(ChangeClass.NOISE, 0.0, (copy,))) for at in range(9)]
    title = CausePage(f"{HOST}/events", heading[1], is_edited=True)
    assert shown([*others, page], title)[0] == (["/events"], 0)


def test_a_notice_in_two_parts_of_all_pages_is_one_group() -> None:
    notice = "", "The library is closed on Friday"
    pages = [content(f"/{at}", edit(*notice), edit(*notice, template=True)) for at in range(9)]
    assert [len(found) for found, _ in shown(pages)] == [9]


def test_views_of_a_page_come_after_it() -> None:
    prose = edit("Open from nine to five on all days", "Open from nine to six on all days but Sunday")
    history, source = edit("", "Opening hours, changed by Ada on a rainy day"), edit("a | b", "a | b and | c of it")
    changes = [
        content("/+history/hours", history, size=0.5),
        content("/+source/hours", source, size=0.4),
        content("/+source/hours", prose, size=0.4),
        content("/hours", prose, size=0.01),
        content("/prices", edit("a lamp 40", "a lamp 417.30"), size=0.01),
    ]
    pages = [paths(group.pages) for group in group_changes(changes)]
    assert pages[:2] == [["/hours", "/+source/hours"], ["/prices"]]
    # The new view of a revision quotes the edited page; it does not explain its change.
    view = CausePage(f"{HOST}/+show/7/hours", "Hours", "Open from nine to six on all days but Sunday")
    assert paths(group_changes(changes, causes=[view])[0].pages) == ["/hours", "/+source/hours"]


def test_rows_that_name_new_pages_come_after_edits() -> None:
    causes = [CausePage(f"{HOST}/{name}", f"{name} of the harbour") for name in ("walls", "cranes")]
    rows = [edit("", f"4{at} {cause.title} by Ada Lovat some seconds ago") for at, cause in enumerate(causes)]
    moved = edit("34 Open positions in Rosslyn Ferry by Ada Lovat some minutes ago", "")
    changes = [content("/list", *rows, moved, size=0.5), content("/prices", came("Lamp 417.30"), size=0.01)]
    assert [paths(group.pages) for group in group_changes(changes, causes=causes)] == [["/prices"], ["/list"]]
