"""Edits that only the fifth part has: swaps, cuts, replacements and several small things at once."""

from __future__ import annotations

from tests.worlds.blind.pages import Block, Desk, Edit, Page, change_entry_field, change_field


def _choose(page: Page, desk: Desk, *kinds: str) -> Block | None:
    found = [block for block in page.blocks if block.kind in kinds]
    return desk.rng.choice(found) if found else None


def replace_paragraph(page: Page, desk: Desk) -> str | None:
    """Put new text in the place of a paragraph."""
    block = _choose(page, desk, "p")
    if block is None:
        return None
    block.items = desk.prose.sentences(desk.rng, 2, 5)
    return "paragraph replaced"


def cut_text(page: Page, desk: Desk) -> str | None:
    """Leave only the first half of the page."""
    if len([block for block in page.blocks if block.kind == "p"]) < 4:
        return None
    places = [i for i, block in enumerate(page.blocks) if block.kind == "p"]
    del page.blocks[places[2] + 1 :]
    return "text cut"


def swap_cells(page: Page, desk: Desk) -> str | None:
    """Exchange the last cells of two rows."""
    block = _choose(page, desk, "table")
    if block is None or len(block.rows) < 4:
        return None
    one, other = desk.rng.sample(block.rows[1:], 2)
    one[-1], other[-1] = other[-1], one[-1]
    return "cells of two rows swapped"


def double_digit(page: Page, desk: Desk) -> str | None:
    """Change a number in the title, or in the first sentence."""
    new = desk.prose.swap_number(page.title, desk.rng)
    if new is None:
        return None
    page.title = new
    return "number in the title changed"


def shout(page: Page, desk: Desk) -> str | None:
    """Put a short sentence on top, as authors do who write "Update"."""
    places = [i for i, block in enumerate(page.blocks) if block.kind == "p"]
    if not places:
        return None
    page.blocks[places[0]].items.insert(0, desk.prose.phrase(desk.rng) + "!")
    return "short call put on top"


def remove_picture(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "img", "file")
    if block is None:
        return None
    page.blocks.remove(block)
    return "picture or download removed"


def add_picture(page: Page, desk: Desk) -> str | None:
    places = [i for i, block in enumerate(page.blocks) if block.kind in ("img", "file")]
    if not places:
        return None
    kind = page.blocks[places[0]].kind
    name = f"photo-{desk.rng.randint(1000, 9999)}" if kind == "img" else f"document-{desk.rng.randint(1000, 9999)}.pdf"
    page.blocks.insert(places[0], Block(kind, text=desk.prose.phrase(desk.rng), href=name))
    return "picture or download added"


def two_fields(page: Page, desk: Desk) -> str | None:
    """Change two facts at once."""
    first, second = change_field(page, desk), change_field(page, desk)
    return f"{first}; {second}" if first and second else first or second


def reword_summary(page: Page, desk: Desk) -> str | None:
    if not page.entries:
        return None
    desk.rng.choice(page.entries).summary = desk.prose.sentence(desk.rng)
    return "summary of an entry reworded"


def several_entries(page: Page, desk: Desk) -> str | None:
    """Change facts of several entries, as one who goes through a list does."""
    found = [change_entry_field(page, desk) for _ in range(3)]
    return "; ".join(name for name in found if name) or None


def word_in_post(page: Page, desk: Desk) -> str | None:
    if not page.posts:
        return None
    post = desk.rng.choice(page.posts)
    at = desk.rng.randrange(len(post.sentences))
    new = desk.prose.swap_word(post.sentences[at], desk.rng)
    if new is None or new == post.sentences[at]:
        return None
    post.sentences[at] = new
    return "word in a post changed"


def link_in_text(page: Page, desk: Desk) -> str | None:
    """Put a link on a word of a paragraph."""
    block = _choose(page, desk, "p")
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    new = desk.prose.with_link(block.items[at], desk.rng)
    if new == block.items[at]:
        return None
    block.items[at] = new
    return "link put on a word"


FIFTH_EDITS: tuple[Edit, ...] = (
    *(replace_paragraph, cut_text, swap_cells, double_digit, shout, remove_picture, add_picture, two_fields),
    *(change_field, change_field, change_field, change_field, change_entry_field, change_entry_field),
    *(reword_summary, several_entries, word_in_post, word_in_post, link_in_text),
)
