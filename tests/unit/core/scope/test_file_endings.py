"""Endings of URLs mean files, unless the folder answers with pages."""

from __future__ import annotations

import pytest

from evercrawl.core.scope.scope import (
    MAX_FOLDERS,
    MAX_TRIES,
    NO_ANSWERS,
    Answers,
    Meaning,
    admits_more,
    after_answer,
    after_refusal,
    is_unsure_ending,
    meaning_of,
)

SITE = "https://example.org"


def answers_of(*pages: str, files: tuple[str, ...] = ()) -> Answers:
    answers = NO_ANSWERS
    for path in pages:
        answers = after_answer(answers, SITE + path, is_page=True)
    for path in files:
        answers = after_answer(answers, SITE + path, is_page=False)
    return answers


@pytest.mark.parametrize(
    ("answers", "path", "meaning"),
    [
        (NO_ANSWERS, "/img/logo.svg", Meaning.FILE),
        (answers_of("/code/tree/src/main.py"), "/code/tree/img/logo.svg", Meaning.PAGE),
        (answers_of("/code/tree/src/main.py"), "/code/plain/img/logo.svg", Meaning.FILE),
        (answers_of(files=("/code/plain/src/main.py",)), "/code/plain/img/logo.svg", Meaning.FILE),
        (answers_of("/wiki/Tea", "/wiki/Pot", "/wiki/Cup"), "/wiki/Node.js", Meaning.UNSURE),
        (answers_of("/wiki/Tea", "/wiki/Pot"), "/wiki/Node.js", Meaning.FILE),
        (answers_of("/wiki/Tea", "/wiki/Vue.js"), "/wiki/Node.js", Meaning.PAGE),
        (answers_of("/a", "/b", "/c", files=("/d.js",)), "/e.js", Meaning.FILE),
        (answers_of("/a", "/b", "/c", files=("/d.png",)), "/e.js", Meaning.UNSURE),
        (answers_of("/index.php", "/a.html", "/b.html"), "/e.js", Meaning.FILE),
    ],
)
def test_what_an_ending_means(answers: Answers, path: str, meaning: Meaning) -> None:
    kind = "script" if path.endswith("js") else "image"
    assert meaning_of(answers, SITE + path, kind) is meaning
    assert is_unsure_ending(answers, SITE + path) is (meaning is Meaning.UNSURE)


def test_files_are_not_tried_in_every_folder() -> None:
    answers = answers_of("/x/a", "/x/b", "/x/c", files=tuple(f"/f{n}/a.png" for n in range(MAX_TRIES)))
    assert meaning_of(answers, f"{SITE}/x/d.png", "image") is Meaning.FILE


def test_refused_urls_are_admitted_when_their_folder_turns_out_to_hold_pages() -> None:
    before = after_refusal(NO_ANSWERS, f"{SITE}/tree/logo.svg")
    assert after_refusal(before, f"{SITE}/tree/b.svg") is before
    after = after_answer(before, f"{SITE}/tree/main.py", is_page=True)
    assert admits_more(before, after, f"{SITE}/tree/main.py")
    assert not admits_more(after, after_answer(after, f"{SITE}/tree/b.py", is_page=True), f"{SITE}/tree/b.py")
    other = after_answer(before, f"{SITE}/raw/main.py", is_page=True)
    assert not admits_more(before, other, f"{SITE}/raw/main.py")


def test_only_so_many_folders_are_remembered() -> None:
    answers = answers_of(*(f"/f{n}/a.py" for n in range(3 * MAX_FOLDERS)))
    assert len(answers) <= MAX_FOLDERS
    assert meaning_of(answers, f"{SITE}/f{3 * MAX_FOLDERS - 1}/a.svg", "image") is Meaning.PAGE


def test_a_refused_link_of_a_page_that_teaches_nothing_admits_nothing() -> None:
    page = "https://example.org/doc/manual/index.html"
    after = after_refusal(NO_ANSWERS, "https://example.org/doc/manual/picture.png")
    assert after is not NO_ANSWERS
    assert not admits_more(NO_ANSWERS, after, page)
