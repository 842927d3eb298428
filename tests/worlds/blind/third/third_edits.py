"""Edits that only the third part has: smaller ones, and in places where the other parts never edit."""

from __future__ import annotations

from tests.worlds.blind.pages import Block, Desk, Edit, Page


def _places(page: Page, *kinds: str) -> list[Block]:
    return [block for block in page.blocks if block.kind in kinds]


def _choose(page: Page, desk: Desk, *kinds: str) -> Block | None:
    found = _places(page, *kinds)
    return desk.rng.choice(found) if found else None


def correct_letter(page: Page, desk: Desk) -> str | None:
    """Correct a slip of the pen: swap two neighbouring letters of a long word."""
    block = _choose(page, desk, "p")
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    words = block.items[at].split(" ")
    fit = [i for i, word in enumerate(words) if len(word) > 5 and word.isalpha() and word[2] != word[3]]
    if not fit or "[[" in block.items[at]:
        return None
    i = desk.rng.choice(fit)
    word = words[i]
    words[i] = word[:2] + word[3] + word[2] + word[4:]
    block.items[at] = " ".join(words)
    return "typing error corrected"


def move_sentence(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "p")
    if block is None or len(block.items) < 3:
        return None
    block.items.append(block.items.pop(0))
    return "sentence moved"


def add_link(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "p")
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    new = desk.prose.with_link(block.items[at], desk.rng)
    if new == block.items[at]:
        return None
    block.items[at] = new
    return "link added"


def correct_field(page: Page, desk: Desk) -> str | None:
    """Change one digit of a field: a price, a telephone number, an opening hour."""
    names = [name for name in page.fields if name in desk.makers]
    if not names:
        return None
    name = desk.rng.choice(names)
    new = desk.prose.swap_number(page.fields[name], desk.rng)
    if new is None:
        return None
    page.fields[name] = new
    return f"one digit of {name} changed"


def correct_entry(page: Page, desk: Desk) -> str | None:
    """Change one digit in a field of an entry."""
    if not page.entries or not desk.entry_makers:
        return None
    entry = desk.rng.choice(page.entries)
    name = desk.rng.choice(sorted(desk.entry_makers))
    new = desk.prose.swap_number(entry.fields[name], desk.rng)
    if new is None:
        return None
    entry.fields[name] = new
    return f"one digit of {name} of an entry changed"


def reword_summary(page: Page, desk: Desk) -> str | None:
    if not page.entries:
        return None
    desk.rng.choice(page.entries).summary = desk.prose.sentence(desk.rng)
    return "summary of an entry reworded"


def commit_file(page: Page, desk: Desk) -> str | None:
    """Change a file of a directory: its line gets a new message, and with it another revision and author."""
    if not page.entries:
        return None
    entry = desk.rng.choice(page.entries)
    entry.summary, entry.born = desk.prose.sentence(desk.rng), desk.now - desk.rng.random()
    return "file committed"


def add_column(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "table")
    if block is None or "row" in desk.makers or len(block.rows[0]) > 4:
        return None
    block.rows[0] = [*block.rows[0], desk.rng.choice(desk.prose.headings)]
    block.rows[1:] = [[*row, desk.prose.phrase(desk.rng)] for row in block.rows[1:]]
    return "table column added"


def add_image(page: Page, desk: Desk) -> str | None:
    if len(_places(page, "img")) not in (1, 2):
        return None
    at = desk.rng.randint(1, len(page.blocks))
    page.blocks.insert(at, Block("img", text=desk.prose.phrase(desk.rng), href=f"photo-{desk.rng.randint(1000, 9999)}"))
    return "image added"


def remove_image(page: Page, desk: Desk) -> str | None:
    if len(_places(page, "img")) < 2:
        return None
    page.blocks.remove(_places(page, "img")[-1])
    return "image removed"


def add_download(page: Page, desk: Desk) -> str | None:
    found = _places(page, "file")
    if not found or len(found) > 4:
        return None
    new = Block("file", text=desk.prose.phrase(desk.rng), href=f"document-{desk.rng.randint(1000, 9999)}.pdf")
    page.blocks.insert(page.blocks.index(found[-1]) + 1, new)
    return "download added"


def rename_download(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "file")
    if block is None:
        return None
    block.text = desk.prose.phrase(desk.rng)
    return "download renamed"


def rename_term(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "dl")
    if block is None:
        return None
    desk.rng.choice(block.rows)[0] = desk.prose.phrase(desk.rng)
    return "term renamed"


def link_item(page: Page, desk: Desk) -> str | None:
    """Let an entry of a list lead somewhere, or somewhere else."""
    block = _choose(page, desk, "ul", "ol")
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    words = block.items[at].replace("[[", "").split("|")[0].split("]]")[0]
    block.items[at] = f"[[{words}|/ref/{desk.rng.randint(1000, 9999)}]]"
    return "link of a list entry changed"


def retract(page: Page, desk: Desk) -> str | None:
    """Replace most of a paragraph by a short correction."""
    block = _choose(page, desk, "p")
    if block is None or len(block.items) < 4:
        return None
    block.items[1:-1] = [desk.prose.sentence(desk.rng)]
    return "middle of a paragraph replaced"


def change_code_value(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "pre")
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    new = desk.prose.swap_number(block.items[at], desk.rng)
    if new is None:
        return None
    block.items[at] = new
    return "one digit in a code line changed"


def remove_code(page: Page, desk: Desk) -> str | None:
    block = _choose(page, desk, "pre")
    if block is None or len(block.items) < 4:
        return None
    block.items.pop(desk.rng.randrange(len(block.items)))
    return "code line removed"


THIRD_EDITS: tuple[Edit, ...] = (
    *(correct_letter, move_sentence, add_link, retract),
    *(correct_field, correct_field, correct_entry, correct_entry, reword_summary),
    *(add_column, add_image, remove_image, add_download, rename_download, rename_term, link_item),
    *(change_code_value, remove_code),
)
