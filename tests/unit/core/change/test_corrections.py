"""What the user calls content is content, although it looks like noise."""

from __future__ import annotations

from evercrawl.core.change.review import correct_change
from evercrawl.core.change.text_diff import make_edit
from evercrawl.model.change import Change, ChangeClass, Mute, PartVerdict

URL = "https://a.test/booking"
SEATS = make_edit(1, "Seats left: 12", "Seats left: 11", is_template=True)
VIEWS = make_edit(2, "12 views", "13 views", is_template=True)
MENU = make_edit(3, "Contact Help", "Contact Help Shop", is_template=True)
TEXT = make_edit(4, "The shop is open.", "The shop is closed.", is_template=False)


def rule(pattern: str, place: str = "https://a.test") -> Mute:
    return Mute(1, 0, "me", place, pattern, PartVerdict.CONTENT)


def test_noise_becomes_content_where_a_rule_says_so() -> None:
    change = Change(ChangeClass.NOISE, noise=(SEATS, VIEWS))
    found = correct_change(change, URL, [rule("Seats left: *")])
    assert found.kind is ChangeClass.CONTENT
    assert found.size > 0
    assert found.edits == (SEATS._replace(is_template=False),)
    assert found.noise == (VIEWS,)
    assert found.edit_key is not None


def test_an_edit_of_the_template_becomes_content_too() -> None:
    found = correct_change(Change(ChangeClass.NOISE, edits=(MENU,)), URL, [rule("Contact Help *", URL)])
    assert found.kind is ChangeClass.CONTENT
    assert found.edits == (MENU._replace(is_template=False),)


def test_other_edits_stay_as_they_are() -> None:
    change = Change(ChangeClass.CONTENT, 0.3, (TEXT, MENU), noise=(SEATS,))
    found = correct_change(change, URL, [rule("Seats left: *")])
    assert found.size == 0.3
    assert set(found.edits) == {SEATS._replace(is_template=False), TEXT, MENU}


def test_nothing_changes_without_a_matching_rule() -> None:
    change = Change(ChangeClass.NOISE, noise=(SEATS,))
    assert correct_change(change, URL, []) is change
    assert correct_change(change, URL, [rule("Seats left: *", "https://b.test")]) is change
    assert correct_change(change, URL, [rule("Rooms left: *")]) is change
    assert correct_change(Change(ChangeClass.NOISE), URL, [rule("Seats left: *")]).kind is ChangeClass.NOISE
