"""The blind worlds tell the truth about themselves: seeded, labelled exactly, and noisy where nothing changed."""

from __future__ import annotations

import itertools
import re
from functools import cache
from html import unescape

import pytest

from tests.worlds.blind.__main__ import kinds_of, site_records
from tests.worlds.blind.living_site import Kind, LivingSite, Visit
from tests.worlds.blind.view import reader_view

PARTS = ("visible", "held", "third", "fourth", "fifth")
KINDS = [kind for part in PARTS for kind in kinds_of(part)]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@cache
def _played(name: str) -> tuple[LivingSite, list[list[Visit]]]:
    site = LivingSite(next(kind for kind in KINDS if kind.name == name), 3)
    return site, list(site.visits())


def _visits(name: str) -> list[list[Visit]]:
    return _played(name)[1]


def test_kinds_have_their_own_names() -> None:
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    assert len(kinds_of("held")) * 2 >= len(kinds_of("visible"))


@pytest.mark.parametrize("kind", KINDS[::9], ids=lambda kind: kind.name)
def test_same_seed_gives_the_same_records(kind: Kind) -> None:
    assert list(site_records(LivingSite(kind, 1))) == list(site_records(LivingSite(kind, 1)))


@every_kind
def test_labels_say_exactly_what_a_quiet_page_shows(kind: Kind) -> None:
    for visits in _visits(kind.name):
        assert visits[0].content_changed is None
        for before, after in itertools.pairwise(visits):
            assert after.content_changed == (before.quiet != after.quiet), after.change
            if after.content_changed:
                assert reader_view(before.quiet) != reader_view(after.quiet), after.change
            assert (after.change is not None) == after.content_changed


@every_kind
def test_flips_return_to_the_same_content(kind: Kind) -> None:
    for visits in _visits(kind.name):
        before = None
        for at, visit in enumerate(visits):
            if (visit.change or "").startswith("flip: "):
                before = visits[at - 1].quiet
            elif (visit.change or "").startswith("flip back: "):
                assert visit.quiet == before


@every_kind
def test_template_edits_show_on_every_page_and_are_no_content(kind: Kind) -> None:
    site = LivingSite(kind, 3)
    for edit in site.template_plan.values():
        flag = frozenset({"notice put up" if edit == "notice taken down" else edit})
        for page in site.pages:
            plain = site.render(site.view(page, 0, 0.0, frozenset(), 0))
            edited = site.render(site.view(page, 0, 0.0, flag, 0))
            assert plain != edited, edit
            assert site.render(site.view(page, 0, 0.0, flag, 0, quiet=True)) == site.render(
                site.view(page, 0, 0.0, frozenset(), 0, quiet=True)
            )


@every_kind
def test_sites_move_by_themselves(kind: Kind) -> None:
    pairs = [(a, b) for visits in _visits(kind.name) for a, b in itertools.pairwise(visits)]
    still = [pair for pair in pairs if not pair[1].content_changed]
    moved = sum(before.html != after.html for before, after in still)
    assert moved > len(still) / 10  # static sites hardly move
    edited = len(pairs) - len(still)
    assert 0.08 < edited / len(pairs) < 0.4
    assert len(_visits(kind.name)) >= 15
    assert all(len(visits) >= 12 for visits in _visits(kind.name))


@every_kind
def test_pages_hold_no_leftovers_of_the_generator(kind: Kind) -> None:
    for visits in _visits(kind.name):
        for visit in visits:
            assert "[[" not in visit.html
            assert ">None<" not in visit.html
            assert "lambda" not in visit.html


@every_kind
def test_noise_leaves_the_content_readable(kind: Kind) -> None:
    site, played = _played(kind.name)
    for page, visits in zip(site.pages, played, strict=True):
        seen = _plain(visits[-1].html)
        sentences = [s for b in page.blocks if b.kind == "p" for s in b.items] + [
            s for p in page.posts for s in p.sentences
        ]
        words = [e.title for e in page.entries] + list(page.fields.values())
        for text in sentences + words:
            assert _plain(text) in seen, text


def _plain(text: str) -> str:
    text = re.sub(r"\[\[([^|]*)\|[^\]]*\]\]", r"\1", text)
    return "".join(unescape(re.sub(r"</?[a-zA-Z][^>]*>", "", text)).split())
