"""The content of a page in a blind world, and every way an editor changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.worlds.blind.prose import Prose

Maker = Callable[[Random], str]


@dataclass
class Block:
    """One block of content: p, h2, ul, ol, table, pre, img, file, dl or quote."""

    kind: str
    text: str = ""
    items: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    href: str = ""


@dataclass
class Post:
    """A post of a thread or a comment: who wrote what, and when (hours since the world began)."""

    key: int
    author: str
    born: float
    sentences: list[str]


@dataclass
class Entry:
    """An entry of a list that is the content of the page: a topic, a job, a product, a headline."""

    key: int
    title: str
    summary: str
    born: float
    fields: dict[str, str]


@dataclass
class Page:
    """What the editors of a site have written on one page; nothing in here is noise."""

    number: int
    path: str
    shape: str
    title: str
    born: float
    blocks: list[Block] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    modified: float = 0.0
    revision: int = 1


@dataclass(frozen=True)
class Desk:
    """What an editor needs to change a page: the language, makers of values, users, and the time."""

    prose: Prose
    makers: dict[str, Maker]
    entry_makers: dict[str, Maker]
    users: tuple[str, ...]
    rng: Random
    now: float
    more_edits: tuple[Edit, ...] = ()


Edit = Callable[[Page, Desk], str | None]


def _block(page: Page, rng: Random, *kinds: str) -> Block | None:
    found = [block for block in page.blocks if block.kind in kinds]
    return rng.choice(found) if found else None


def _paragraph(page: Page, desk: Desk) -> Block | None:
    return _block(page, desk.rng, "p")


def add_sentence(page: Page, desk: Desk) -> str | None:
    block = _paragraph(page, desk)
    if block is None:
        return None
    block.items.insert(desk.rng.randint(0, len(block.items)), desk.prose.sentence(desk.rng))
    return "sentence added"


def remove_sentence(page: Page, desk: Desk) -> str | None:
    block = _paragraph(page, desk)
    if block is None or len(block.items) < 3:
        return None
    block.items.pop(desk.rng.randrange(len(block.items)))
    return "sentence removed"


def reword_sentence(page: Page, desk: Desk) -> str | None:
    block = _paragraph(page, desk)
    if block is None:
        return None
    block.items[desk.rng.randrange(len(block.items))] = desk.prose.sentence(desk.rng)
    return "sentence reworded"


def change_word(page: Page, desk: Desk) -> str | None:
    block = _paragraph(page, desk)
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    new = desk.prose.swap_word(block.items[at], desk.rng)
    if new is None or new == block.items[at]:
        return None
    block.items[at] = new
    return "word changed"


def change_number(page: Page, desk: Desk) -> str | None:
    block = _paragraph(page, desk)
    if block is None:
        return None
    order = list(range(len(block.items)))
    desk.rng.shuffle(order)
    for at in order:
        if "[[" in block.items[at]:
            continue
        new = desk.prose.swap_number(block.items[at], desk.rng)
        if new is not None:
            block.items[at] = new
            return "number in prose changed"
    return None


def add_paragraph(page: Page, desk: Desk) -> str | None:
    places = [i for i, block in enumerate(page.blocks) if block.kind == "p"]
    if not places:
        return None
    page.blocks.insert(desk.rng.choice(places) + 1, Block("p", items=desk.prose.sentences(desk.rng, 2, 4)))
    return "paragraph added"


def add_section(page: Page, desk: Desk) -> str | None:
    places = [i for i, block in enumerate(page.blocks) if block.kind == "h2"]
    if not places:
        return None
    section = [
        Block("h2", text=desk.rng.choice(desk.prose.headings)),
        Block("p", items=desk.prose.sentences(desk.rng, 2, 4)),
    ]
    at = desk.rng.choice(places)
    page.blocks[at:at] = section
    return "section added"


def add_first_paragraph(page: Page, desk: Desk) -> str | None:
    places = [i for i, block in enumerate(page.blocks) if block.kind == "p"]
    if not places:
        return None
    page.blocks.insert(places[0], Block("p", items=desk.prose.sentences(desk.rng, 1, 3)))
    return "first paragraph added"


def remove_paragraph(page: Page, desk: Desk) -> str | None:
    places = [i for i, block in enumerate(page.blocks) if block.kind == "p"]
    if len(places) < 3:
        return None
    page.blocks.pop(desk.rng.choice(places))
    return "paragraph removed"


def rename_heading(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "h2")
    if block is None:
        return None
    used = {b.text for b in page.blocks}
    free = [h for h in desk.prose.headings if h not in used]
    if not free:
        return None
    block.text = desk.rng.choice(free)
    return "heading renamed"


def rename_page(page: Page, desk: Desk) -> str | None:
    page.title = desk.prose.title(desk.rng)
    return "title renamed"


def add_item(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "ul", "ol")
    if block is None:
        return None
    block.items.insert(desk.rng.randint(0, len(block.items)), desk.prose.phrase(desk.rng))
    return "list entry added"


def remove_item(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "ul", "ol")
    if block is None or len(block.items) < 3:
        return None
    block.items.pop(desk.rng.randrange(len(block.items)))
    return "list entry removed"


def reword_item(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "ul", "ol")
    if block is None:
        return None
    block.items[desk.rng.randrange(len(block.items))] = desk.prose.phrase(desk.rng)
    return "list entry reworded"


def reorder_steps(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "ol")
    if block is None or len(block.items) < 2:
        return None
    at = desk.rng.randrange(len(block.items) - 1)
    block.items[at], block.items[at + 1] = block.items[at + 1], block.items[at]
    return "order of steps changed"


def change_cell(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "table")
    if block is None:
        return None
    row = block.rows[desk.rng.randint(1, len(block.rows) - 1)]
    at = desk.rng.randint(1, len(row) - 1)
    row[at] = desk.prose.swap_number(row[at], desk.rng) or desk.prose.phrase(desk.rng)
    return "table cell changed"


def update_values(page: Page, desk: Desk) -> str | None:
    """Change the figures of most rows, as a table of rates or a forecast does."""
    block = _block(page, desk.rng, "table")
    if block is None or "live values" not in desk.makers:
        return None
    for row in block.rows[1:]:
        if desk.rng.random() < 0.8:
            row[1:] = [desk.prose.swap_number(cell, desk.rng) or cell for cell in row[1:]]
    return "table values updated"


def add_row(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "table")
    if block is None:
        return None
    maker = desk.makers.get("row")
    row = maker(desk.rng).split("|") if maker else [desk.prose.phrase(desk.rng) for _ in block.rows[0]]
    if len(row) != len(block.rows[0]):
        return None
    block.rows.insert(desk.rng.randint(1, len(block.rows)), row)
    return "table row added"


def remove_row(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "table")
    if block is None or len(block.rows) < 4:
        return None
    block.rows.pop(desk.rng.randint(1, len(block.rows) - 1))
    return "table row removed"


def change_link(page: Page, desk: Desk) -> str | None:
    for block in desk.rng.sample(page.blocks, len(page.blocks)):
        for at, text in enumerate(block.items):
            if "[[" in text:
                before, rest = text.split("[[", 1)
                inside, after = rest.split("]]", 1)
                anchor, target = inside.split("|", 1)
                new = f"/ref/{desk.rng.randint(1000, 9999)}"
                if new == target:
                    return None
                block.items[at] = f"{before}[[{anchor}|{new}]]{after}"
                return "link target changed"
    return None


def swap_image(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "img")
    if block is None:
        return None
    block.href = f"photo-{desk.rng.randint(1000, 9999)}"
    return "image swapped"


def change_caption(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "img")
    if block is None:
        return None
    block.text = desk.prose.phrase(desk.rng)
    return "caption changed"


def replace_download(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "file")
    if block is None:
        return None
    block.href = f"document-{desk.rng.randint(1000, 9999)}.pdf"
    return "download replaced"


def change_definition(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "dl")
    if block is None:
        return None
    row = desk.rng.choice(block.rows)
    row[1] = desk.prose.sentence(desk.rng)
    return "definition reworded"


def change_code(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "pre")
    if block is None:
        return None
    at = desk.rng.randrange(len(block.items))
    block.items[at] = code_line(desk.rng)
    return "code line changed"


def add_code(page: Page, desk: Desk) -> str | None:
    block = _block(page, desk.rng, "pre")
    if block is None:
        return None
    block.items.insert(desk.rng.randint(0, len(block.items)), code_line(desk.rng))
    return "code line added"


def change_field(page: Page, desk: Desk) -> str | None:
    names = [name for name in page.fields if name in desk.makers]
    if not names:
        return None
    name = desk.rng.choice(names)
    new = desk.makers[name](desk.rng)
    if new == page.fields[name]:
        return None
    page.fields[name] = new
    return f"{name} changed"


def add_post(page: Page, desk: Desk) -> str | None:
    if not page.posts:
        return None
    key = max(post.key for post in page.posts) + desk.rng.randint(1, 40)
    born = desk.now - desk.rng.random() * 5
    page.posts.append(Post(key, desk.rng.choice(desk.users), born, desk.prose.sentences(desk.rng, 1, 4)))
    return "post added"


def remove_post(page: Page, desk: Desk) -> str | None:
    if len(page.posts) < 3:
        return None
    page.posts.pop(desk.rng.randint(1, len(page.posts) - 1))
    return "post removed"


def edit_post(page: Page, desk: Desk) -> str | None:
    if not page.posts:
        return None
    post = desk.rng.choice(page.posts)
    at = desk.rng.randrange(len(post.sentences))
    if desk.rng.random() < 0.5:
        post.sentences[at] = desk.prose.swap_word(post.sentences[at], desk.rng) or desk.prose.sentence(desk.rng)
        return "word in a post changed"
    post.sentences[at] = desk.prose.sentence(desk.rng)
    return "post edited"


def make_entry(desk: Desk, key: int, born: float) -> Entry:
    """Return a new entry of a list."""
    fields = {name: maker(desk.rng) for name, maker in desk.entry_makers.items()}
    return Entry(key, desk.prose.title(desk.rng), desk.prose.sentence(desk.rng), born, fields)


def add_entry(page: Page, desk: Desk) -> str | None:
    if not page.entries:
        return None
    key = max(entry.key for entry in page.entries) + desk.rng.randint(1, 9)
    at = desk.rng.choice((0, 0, desk.rng.randint(0, len(page.entries))))
    page.entries.insert(at, make_entry(desk, key, desk.now - desk.rng.random() * 3))
    return "entry added"


def replace_first_entry(page: Page, desk: Desk) -> str | None:
    """Put a new entry on top and drop the last, as lists of a fixed length do."""
    if len(page.entries) < 3:
        return None
    key = max(entry.key for entry in page.entries) + 1
    page.entries.insert(0, make_entry(desk, key, desk.now - desk.rng.random() * 3))
    page.entries.pop()
    return "entry added on top"


def remove_entry(page: Page, desk: Desk) -> str | None:
    if len(page.entries) < 4:
        return None
    page.entries.pop(desk.rng.randrange(len(page.entries)))
    return "entry removed"


def rename_entry(page: Page, desk: Desk) -> str | None:
    if not page.entries:
        return None
    desk.rng.choice(page.entries).title = desk.prose.title(desk.rng)
    return "entry renamed"


def change_entry_field(page: Page, desk: Desk) -> str | None:
    if not page.entries or not desk.entry_makers:
        return None
    entry = desk.rng.choice(page.entries)
    name = desk.rng.choice(sorted(desk.entry_makers))
    new = desk.entry_makers[name](desk.rng)
    if new == entry.fields[name]:
        return None
    entry.fields[name] = new
    return f"{name} of an entry changed"


def code_line(rng: Random) -> str:
    """Return a line of a configuration file or a program."""
    name = rng.choice(("timeout", "pool.size", "retry", "listen", "cache.dir", "log.level", "user", "max_rows"))
    value = rng.choice((str(rng.randint(1, 900)), f'"/var/lib/app{rng.randint(1, 90)}"', "true", "None", "off"))
    return rng.choice((f"{name} = {value}", f"client.set({name!r}, {value})", f"export {name.upper()}={value}"))


BLOCK_EDITS: tuple[Edit, ...] = (
    add_sentence,
    remove_sentence,
    reword_sentence,
    change_word,
    change_number,
    add_paragraph,
    add_section,
    add_first_paragraph,
    remove_paragraph,
    rename_heading,
    rename_page,
    add_item,
    remove_item,
    reword_item,
    reorder_steps,
    change_cell,
    update_values,
    update_values,
    update_values,
    add_row,
    remove_row,
    change_link,
    swap_image,
    change_caption,
    replace_download,
    change_definition,
    change_code,
    add_code,
)
FIELD_EDITS: tuple[Edit, ...] = (change_field, change_field, change_field)
POST_EDITS: tuple[Edit, ...] = (add_post, add_post, add_post, remove_post, edit_post)
ENTRY_EDITS: tuple[Edit, ...] = (
    add_entry,
    replace_first_entry,
    remove_entry,
    rename_entry,
    change_entry_field,
    change_entry_field,
)
ALL_EDITS = BLOCK_EDITS + FIELD_EDITS * 2 + POST_EDITS * 2 + ENTRY_EDITS * 3


def edit_page(page: Page, desk: Desk) -> str:
    """Change the page in one way that fits it, and return the name of the edit."""
    while True:
        name = desk.rng.choice(ALL_EDITS + desk.more_edits)(page, desk)
        if name is not None:
            page.modified = desk.now - desk.rng.random() * 2
            page.revision += desk.rng.randint(1, 30)
            return name
