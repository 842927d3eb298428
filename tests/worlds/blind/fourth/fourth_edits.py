"""Edits that only the fourth part has: order, status, corrections and other small things that authors do."""

from __future__ import annotations

from tests.worlds.blind.pages import Block, Desk, Edit, Page, change_entry_field, change_field


def _choose(page: Page, desk: Desk, *kinds: str) -> Block | None:
    found = [block for block in page.blocks if block.kind in kinds]
    return desk.rng.choice(found) if found else None


def move_paragraph(page: Page, desk: Desk) -> str | None:
    places = [i for i, block in enumerate(page.blocks) if block.kind == "p"]
    if len(places) < 3:
        return None
    block = page.blocks.pop(desk.rng.choice(places[1:]))
    page.blocks.insert(places[0], block)
    return "paragraph moved up"


def move_item(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "ul")
    if block is None or len(block.items) < 3:
        return None
    block.items.insert(0, block.items.pop(desk.rng.randrange(1, len(block.items))))
    return "list entry moved to the top"


def move_row(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "table")
    if block is None or len(block.rows) < 4:
        return None
    block.rows.insert(1, block.rows.pop(desk.rng.randrange(2, len(block.rows))))
    return "table row moved to the top"


def rename_column(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "table")
    if block is None or "row" in desk.makers:
        return None
    block.rows[0][desk.rng.randrange(len(block.rows[0]))] = desk.prose.phrase(desk.rng)
    return "table column renamed"


def correct_cell(page: Page, desk: Desk) -> str | None:
    """Change one digit of one cell."""
    block = _choose(page, desk, "table")
    if block is None:
        return None
    row = desk.rng.choice(block.rows[1:])
    at = desk.rng.randrange(len(row))
    new = desk.prose.swap_number(row[at], desk.rng)
    if new is None:
        return None
    row[at] = new
    return "one digit of a table cell changed"


def add_correction(page: Page, desk: Desk) -> str | None:
    """Put a note of correction below the text, as newspapers and bloggers do."""
    if len([block for block in page.blocks if block.kind == "p"]) < 2:
        return None
    page.blocks.append(Block("p", items=[desk.prose.sentence(desk.rng)]))
    return "correction note added at the end"


def split_paragraph(page: Page, desk: Desk) -> str | None:
    """Put a heading into the middle of a paragraph, which makes two of it."""
    block = _choose(page, desk, "p")
    if block is None or len(block.items) < 4:
        return None
    at = page.blocks.index(block)
    rest = Block("p", items=block.items[2:])
    block.items[2:] = []
    page.blocks[at + 1 : at + 1] = [Block("h2", text=desk.rng.choice(desk.prose.headings)), rest]
    return "heading put into a paragraph"


def remove_heading(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "h2")
    if block is None:
        return None
    page.blocks.remove(block)
    return "heading removed"


def unlink(page: Page, desk: Desk) -> str | None:
    """Take a link away and leave its words; where it led is all that a reader misses."""
    block = _choose(page, desk, "p", "quote")
    if block is None:
        return None
    for at, text in enumerate(block.items):
        if "[[" in text:
            before, rest = text.split("[[", 1)
            inside, after = rest.split("]]", 1)
            block.items[at] = before + inside.split("|")[0] + after
            return "link taken away"
    return None


def append_to_post(page: Page, desk: Desk) -> str | None:
    """Add a line to a post of one's own, as people do who write "Edit:"."""
    if not page.posts:
        return None
    desk.rng.choice(page.posts).sentences.append(desk.prose.sentence(desk.rng))
    return "sentence appended to a post"


def answer_late(page: Page, desk: Desk) -> str | None:
    """Change a number in a post."""
    if not page.posts:
        return None
    post = desk.rng.choice(page.posts)
    at = desk.rng.randrange(len(post.sentences))
    new = desk.prose.swap_number(post.sentences[at], desk.rng)
    if new is None:
        return None
    post.sentences[at] = new
    return "number in a post changed"


def pin_entry(page: Page, desk: Desk) -> str | None:
    if len(page.entries) < 4:
        return None
    page.entries.insert(0, page.entries.pop(desk.rng.randrange(2, len(page.entries))))
    return "entry moved to the top"


def word_in_title(page: Page, desk: Desk) -> str | None:
    """Change one word of the title of an entry, or of the page if it has none."""
    holder = desk.rng.choice(page.entries) if page.entries else page
    new = desk.prose.swap_word(holder.title, desk.rng)
    if new is None or new == holder.title:
        return None
    holder.title = new
    return "word of a title changed"


def reword_in_item(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "ul", "ol")
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    if "[[" in block.items[at]:
        return None
    new = desk.prose.swap_word(block.items[at], desk.rng) or desk.prose.swap_number(block.items[at], desk.rng)
    if new is None or new == block.items[at]:
        return None
    block.items[at] = new
    return "word of a list entry changed"


def reword_in_definition(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "dl")
    if block is None:
        return None
    row = desk.rng.choice(block.rows)
    new = desk.prose.swap_word(row[1], desk.rng)
    if new is None or new == row[1]:
        return None
    row[1] = new
    return "word of a definition changed"


FOURTH_EDITS: tuple[Edit, ...] = (
    *(move_paragraph, move_item, move_row, pin_entry, pin_entry),
    *(rename_column, correct_cell, correct_cell, add_correction, split_paragraph, remove_heading, unlink),
    *(change_field, change_field, change_field, change_field, change_entry_field, change_entry_field),
    *(append_to_post, answer_late, word_in_title, word_in_title, reword_in_item, reword_in_definition),
)
