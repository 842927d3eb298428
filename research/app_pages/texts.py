# ruff: noqa: E501  (prose and commands)
"""Documents to fill real software with: this repository's own docs, and jobs, products, tickets and posts made here.

A document is a list of blocks. Markdown is the common form; pandoc turns it into the markup of each program. The truth
of a page is what `truth_of` returns for the blocks that were put into it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
Block = tuple[
    Any, ...
]  # ("h", level, text), ("p", text), ("ul"|"ol", [text]), ("dl", [(term, text)]), ("table", [row]), …


class Doc(NamedTuple):
    """A page's own content."""

    slug: str
    title: str
    kind: str
    blocks: list[Block]
    summary: str = ""
    lang: str = "en"


def plain(text: str) -> str:
    """Return inline Markdown as a reader sees it."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`([^`]*)`", r"\1", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\1", text)
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"\1", text).replace("\\|", "|")


def truth_of(blocks: Iterable[Block]) -> list[str]:
    """Return the paragraphs, headings, entries, rows and pieces of code of some blocks."""
    found: list[str] = []
    for block in blocks:
        match block[0]:
            case "h":
                found.append(plain(block[2]))
            case "p" | "quote":
                found.append(plain(block[1]))
            case "code":
                found.append(block[1])
            case "ul" | "ol":
                found += [plain(entry) for entry in block[1]]
            case "dl":
                found += [plain(part) for entry in block[1] for part in entry]
            case "table":
                found += [" ".join(plain(cell) for cell in row) for row in block[1]]
    return [text for text in found if re.search(r"\w", text)]


def to_markdown(blocks: Iterable[Block], *, shift: int = 0) -> str:
    """Return blocks as Markdown with pipe tables and definition lists."""
    parts = []
    for block in blocks:
        match block[0]:
            case "h":
                parts.append("#" * (block[1] + shift) + " " + block[2])
            case "p":
                parts.append(block[1])
            case "quote":
                parts.append("> " + block[1])
            case "code":
                parts.append(f"```\n{block[1]}\n```")
            case "ul":
                parts.append("\n".join("- " + entry for entry in block[1]))
            case "ol":
                parts.append("\n".join(f"{at}. {entry}" for at, entry in enumerate(block[1], 1)))
            case "dl":
                parts.append("\n\n".join(f"{term}\n:   {text}" for term, text in block[1]))
            case "table":
                head, *rows = block[1]
                lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
                parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def to_html(blocks: Iterable[Block]) -> str:
    """Return blocks as HTML, for programs that are filled with it."""
    from html import escape

    def inline(text: str) -> str:
        text = escape(text, quote=False)
        text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
        text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
        return re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r'<a href="\2">\1</a>', text)

    parts = []
    for block in blocks:
        match block[0]:
            case "h":
                parts.append(f"<h{block[1]}>{inline(block[2])}</h{block[1]}>")
            case "p":
                parts.append(f"<p>{inline(block[1])}</p>")
            case "quote":
                parts.append(f"<blockquote><p>{inline(block[1])}</p></blockquote>")
            case "code":
                parts.append(f"<pre><code>{escape(block[1], quote=False)}</code></pre>")
            case "ul" | "ol":
                entries = "".join(f"<li>{inline(entry)}</li>\n" for entry in block[1])
                parts.append(f"<{block[0]}>\n{entries}</{block[0]}>")
            case "dl":
                entries = "".join(f"<dt>{inline(term)}</dt>\n<dd>{inline(text)}</dd>\n" for term, text in block[1])
                parts.append(f"<dl>\n{entries}</dl>")
            case "table":
                head, *rows = block[1]
                lines = ["<tr>" + "".join(f"<th>{inline(cell)}</th>" for cell in head) + "</tr>"]
                lines += ["<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>" for row in rows]
                parts.append("<table>\n" + "\n".join(lines) + "\n</table>")
    return "\n".join(parts) + "\n"


_ENTRY = re.compile(r"^(\s*)([-*]|\d+\.) (.*)")


def from_markdown(text: str) -> list[Block]:
    """Return the blocks of one of our own Markdown files."""
    blocks: list[Block] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        entry = _ENTRY.match(line)
        if line.startswith("```"):
            end = next(to for to in range(at + 1, len(lines)) if lines[to].startswith("```"))
            blocks.append(("code", "\n".join(lines[at + 1 : end])))
            at = end + 1
        elif line.startswith("#"):
            marks, title = line.split(" ", 1)
            blocks.append(("h", len(marks), title))
            at += 1
        elif line.startswith("|"):
            rows = []
            while at < len(lines) and lines[at].startswith("|"):
                rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", lines[at].strip().strip("|"))])
                at += 1
            blocks.append(("table", [rows[0], *rows[2:]]))
        elif entry:
            kind = "ul" if entry[2] in "-*" else "ol"
            entries: list[str] = []
            while at < len(lines) and lines[at].strip():
                again = _ENTRY.match(lines[at])
                if again:
                    entries.append(again[3])
                else:
                    entries[-1] += " " + lines[at].strip()
                at += 1
            blocks.append((kind, entries))
        elif line.startswith(("<", "!", "[!", ">")) or not line.strip():
            at += 1
        else:
            words = []
            while at < len(lines) and lines[at].strip() and not lines[at].startswith(("|", "```", "#")):
                if words and _ENTRY.match(lines[at]):
                    break
                words.append(lines[at].strip())
                at += 1
            blocks.append(("p", " ".join(words)))
    return blocks


def _tidy(block: Block) -> Block:
    """Keep link texts but not their targets, which lead nowhere in the programs; no inline HTML."""

    def tidy(text: str) -> str:
        text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
        return re.sub(r"\[([^\]]*)\]\((?!http)[^)]*\)", r"\1", text).replace("<", "").replace(">", "")

    match block[0]:
        case "h":
            return ("h", block[1], tidy(block[2]))
        case "ul" | "ol":
            return (block[0], [tidy(entry) for entry in block[1]])
        case "table":
            return ("table", [[tidy(cell).replace("\\|", "/").replace("|", "/") for cell in row] for row in block[1]])
        case "p":
            return ("p", tidy(block[1]))
    return block


def repository_docs(*, most_blocks: int = 28) -> list[Doc]:
    """Return this repository's own documentation, cut where a document is long."""
    found = []
    for folder in ("concepts", "guides", "operations", "decisions", "formats", "tutorial"):
        for path in sorted((ROOT / "docs" / folder).glob("*.md")):
            found.append(_document(path, f"{folder}-{path.stem}", most_blocks))  # noqa: PERF401
    notes = sorted((ROOT / "research" / "notes").glob("*.md"))
    found += [_document(path, f"notes-{path.stem}", most_blocks) for path in notes]
    return [doc for doc in found if len(doc.blocks) > 4]


def _document(path: Path, slug: str, most_blocks: int) -> Doc:
    head, *blocks = from_markdown(path.read_text("utf-8"))
    blocks = [_tidy(block) for block in blocks]
    blocks = [block for block in blocks if block[0] != "p" or re.search(r"\w", plain(block[1]))]
    if len(blocks) > most_blocks:
        blocks = blocks[:most_blocks]
    while blocks and blocks[-1][0] == "h":
        blocks.pop()
    return Doc(slug, plain(head[2]), "docs", blocks, summary=next((plain(b[1]) for b in blocks if b[0] == "p"), ""))


PLACES = [
    "Aldburgh",
    "Brennfeld",
    "Carrow Bay",
    "Dunmere",
    "Estervik",
    "Fallowtown",
    "Gravenau",
    "Holmsund",
    "Kestrel Hill",
    "Lindhaven",
    "Marrowby",
    "Norderfleet",
    "Oakmarsh",
    "Pellworth",
    "Quarrydale",
    "Rosslyn Ferry",
]
PEOPLE = [
    "Ines Albrecht",
    "Tomas Varga",
    "Ruth Okafor",
    "Jan Helmer",
    "Mina Castell",
    "Olu Brandt",
    "Petra Lind",
    "Samir Noor",
    "Greta Holloway",
    "Yuki Tanabe",
    "Leon Marchetti",
    "Dora Pike",
]
JOBS = [
    "Nurse for the night shift",
    "Ferry captain",
    "Primary school teacher",
    "Archivist, part time",
    "Bus driver, line 7",
    "Accountant for the harbour office",
    "Gardener",
    "Data engineer",
    "Cook for the school kitchen",
    "Librarian",
    "Electrician, street lighting",
    "Social worker",
    "Lifeguard (summer only)",
    "Translator for Finnish",
    "Carpenter",
    "Water quality inspector",
    "Receptionist",
    "Deputy head of planning",
    "Bicycle mechanic",
    "Apprentice surveyor",
    "Museum guide",
    "Payroll clerk",
    "Tram inspector",
    "Speech therapist",
    "Forestry worker",
]
JOB_TEXTS = [
    "You will work in a team of six and share the weekend duty fairly with everybody else.",
    "The post is permanent after a trial period of six months, and training is paid for.",
    "Experience in a public office helps but is not required; patience with visitors is.",
    "Applications are read every Friday until the position is filled.",
    "A driving licence is needed because the two sites lie eleven kilometres apart.",
    "Please send your papers in one file and leave out photographs and dates of birth.",
]
PRODUCTS = [
    "Enamel mug, blue rim",
    "Folding bicycle basket",
    "Linen apron",
    "Oak bread board",
    "Cast-iron pan 24 cm",
    "Wool blanket",
    "Desk lamp Petrel",
    "Rain cape",
    "Garden shears",
    "Tea kettle Marsh",
    "Canvas rucksack",
    "Beeswax candles, set of six",
    "Stoneware bowl",
    "Pocket notebook",
    "Copper watering can",
    "Felt slippers",
    "Kitchen scale",
    "Ash wood stool",
    "Bamboo toothbrush",
    "Brass door hook",
    "Hand-woven rug",
    "Picnic flask",
    "Paper kite",
    "Cherry jam, 340 g",
]
PRODUCT_TEXTS = [
    "Made in a small workshop from material that can be repaired and, in the end, recycled.",
    "The surface is treated with oil only, so it may darken during the first weeks of use.",
    "Wash it by hand in warm water and let it dry in the open air, never in the machine.",
    "Spare parts are available for at least ten years, and the drawing comes with the parcel.",
    "Our customers use it daily in kitchens, boats and allotments without complaint.",
    "Each piece differs a little in colour because the glaze is mixed in small amounts.",
    "The handle stays cool on gas and induction, but not over an open fire.",
    "Weighs less than a bag of sugar and fits into every drawer we have measured.",
    "We deliver it without plastic, in a box that you are welcome to send back to us.",
    "If it breaks within three years we replace it and pay the postage both ways.",
]
HEADLINES = [
    (
        "Council delays the vote on the harbour bridge",
        "The vote was moved to spring after two engineers doubted the figures for the northern pier.",
    ),
    (
        "Ferry line to run through the winter",
        "For the first time in nine years boats will leave every two hours until the end of March.",
    ),
    (
        "School kitchen wins prize for its soup",
        "The cooks buy from eleven farms nearby and throw away less than four per cent of the food.",
    ),
    (
        "Library opens on Sundays",
        "A trial of six months showed that Sunday was the busiest day of the week for families.",
    ),
    (
        "Storm damages forty roofs",
        "Nobody was hurt, but the sports hall stays closed until the beams have been checked.",
    ),
    (
        "Tram strike ends after five days",
        "Drivers accepted an offer that adds a second break to shifts of more than seven hours.",
    ),
    (
        "Museum shows letters from the lighthouse",
        "The keeper wrote to his sister every week for thirty years; she kept every letter.",
    ),
    (
        "New path along the river is finished",
        "Walkers and cyclists share four kilometres from the old mill to the weir.",
    ),
    ("Rents rise more slowly than last year", "The statistics office counted an increase of one point eight per cent."),
    ("Volunteers count swifts", "More than two hundred people reported nests under roofs and bridges in June."),
    (
        "Hospital gets a second helicopter pad",
        "Night flights will be limited to emergencies, the regional health board promised.",
    ),
    (
        "Market hall to be rebuilt in wood",
        "Architects chose local spruce after the price of steel had doubled within a year.",
    ),
    ("Heat pumps for the town hall", "The old boiler will be kept in the cellar as an exhibit for school classes."),
    (
        "Choir looks for low voices",
        "Rehearsals take place on Tuesdays, and nobody has to sing alone on the first evening.",
    ),
    ("Record harvest of late apples", "The press works in three shifts, and juice is sold from the yard."),
    (
        "Police find stolen bicycles in a barn",
        "Owners can look at photographs of one hundred and twelve bicycles from Monday on.",
    ),
    (
        "Bus tickets become cheaper for apprentices",
        "A monthly ticket costs nineteen crowns instead of thirty-one from September.",
    ),
    (
        "Swimming pool reopens with new filters",
        "The water now needs a third less chlorine, says the engineer in charge.",
    ),
]
POSTS = [
    "I have the same problem since the last update, but only when the second disk is mounted before the network is up.",
    "Thanks, that was it! After deleting the lock file the queue started again and all eleven jobs went through.",
    "Could you tell us which version you run, and whether the log has anything between the two timestamps?",
    "Not on my machine.",
    "We use two of these in the workshop. They get warm but have never stopped in three years.",
    "Please do not post screenshots of text, because nobody can search them and some of us read with a braille line.",
    "My guess is the cable. Swap it with a shorter one and measure again before you buy anything.",
    "The manual says that the valve must be open while you fill it, which is the opposite of what the sticker says.",
    "Works now.",
    "I wrote a small script for this; it renames the files by date and leaves the originals alone.",
    "Has anybody tried the wooden frame outdoors? Mine started to bend after a wet autumn.",
    "I would wait for the next release, since the person who maintains that part is away until the ninth.",
    "Same here, with the older model from Estervik and a brand-new battery.",
    "There is a table in the first post that lists all the sizes; look at the row for thin walls.",
    "Moved to the right section. Please choose a title that says what the question is.",
    "Is it normal that the meter shows more in the morning than in the evening?",
]
TOPICS = [
    "Printer stops after forty pages",
    "Which glue for wet wood?",
    "Boat engine will not start when cold",
    "Good bread without an oven",
    "Backup fails at night",
    "Heating curve for old radiators",
    "Lost key for the garden shed",
    "Reading lists for winter",
    "Tomatoes split after rain",
    "Clock runs three minutes fast",
    "Bicycle lamp flickers",
    "How do you store seed potatoes?",
    "Translation of an old letter",
    "Scanner shows green stripes",
    "Noise from the attic fan",
    "First marathon, what to eat?",
]
TICKETS = [
    "Export stops at the first empty row",
    "Dates before 1970 are shown as tomorrow",
    "Search ignores words with an apostrophe",
    "Print view cuts the last column",
    "Login loops when cookies are blocked",
    "Wrong plural in the Polish interface",
    "Memory grows during long imports",
    "Dark theme hides the error message",
    "Sort order of umlauts",
    "Crash on an empty folder",
    "Upload of large files times out",
    "Add a button to copy the address",
    "Undo forgets the cursor position",
    "Totals differ between list and chart",
    "Keyboard cannot reach the menu",
    "Time zone of reminders is ignored",
]
TICKET_TEXTS = [
    "It happens every time with the attached file, and never when I remove the third line from it.",
    "Expected: the list stays sorted. Instead, the newest entry jumps to the end until the page is loaded again.",
    "I can reproduce this with the development branch from yesterday evening.",
    "The cause is a comparison of a string with a number, which silently returns false.",
    "A test for the empty case is missing; I will add one together with the fix.",
    "Workaround: open the settings once and close them again without a change.",
    "Fixed in the branch for the next minor version, please try it with your data.",
    "Lowering the priority because only the old importer is affected.",
]
EVENTS = [
    "Concert of the wind orchestra",
    "Flea market at the old station",
    "Lecture: how tides are predicted",
    "Night of open workshops",
    "Reading for children",
    "Repair café",
    "Guided walk through the salt marsh",
    "Chess for beginners",
    "Blood donation",
    "Film and soup",
    "Choir rehearsal, open to all",
    "Council meeting",
    "Seed exchange",
    "First-aid course",
]
FAQ = [
    (
        "How do I change my address?",
        "Write the new address on the form at the counter or send it by post; it takes effect on the next working day.",
    ),
    ("Can somebody else collect my parcel?", "Yes, with a signed note and a copy of your identity card."),
    (
        "Why was my card refused?",
        "Cards are refused after three wrong codes. Wait an hour, or ask at the counter to have it released at once.",
    ),
    (
        "Do you lend tools?",
        "We lend drills, saws and ladders for up to four days. Sharp tools are handed out to adults only.",
    ),
    ("What does a replacement cost?", "A lost card costs five crowns, a worn one nothing."),
    (
        "Are dogs allowed?",
        "Only guide dogs are allowed inside the building, all other dogs may wait in the shaded yard.",
    ),
    (
        "When is the reading room quiet?",
        "Mornings before ten and Thursday evenings are quiet; the room is full when schools close early.",
    ),
    ("May I take photographs?", "Without flash, for yourself, and not of other visitors."),
    (
        "How long are lost things kept?",
        "Six months in the cellar, then they are sold in the yard for the benefit of the youth group.",
    ),
]
TERMS = [
    ("Bollard", "A short post on a quay to which ships are moored."),
    ("Draught", "The depth of water that a ship needs in order to float."),
    ("Ebb", "The movement of the tide out to sea."),
    ("Fairway", "The part of a river or harbour in which ships may safely travel."),
    ("Gangway", "A movable bridge between ship and shore, usually with a handrail on both sides."),
    ("Hawser", "A thick rope for towing or mooring."),
    ("Lee", "The side that is sheltered from the wind."),
    ("Neap tide", "A tide with a small range, a little after the first and third quarters of the moon."),
    ("Pilot", "A person who knows the local waters and guides ships through them."),
    ("Slipway", "A slope on which boats are let into the water."),
    ("Sounding", "A measurement of depth."),
    ("Windlass", "A winch with a horizontal barrel that lifts the anchor."),
]
PROSE = [
    "The harbour office answers letters within ten working days, and usually much sooner when a telephone number is given.",
    "All prices include tax. Children under six travel free, and so do guide dogs and folded bicycles.",
    "This list is updated every Monday morning; entries that are older than a year move to the archive in the cellar.",
    "If you cannot find what you look for, ask at the counter or write a short note with your name and address.",
    "The figures come from our own measurements at the weir, taken twice a day at a depth of one metre.",
    "We thank everybody who helped last year, with hands, cakes, trailers or plain good advice.",
    "Opening hours differ on public holidays and during the two weeks of the summer fair.",
    "What follows was agreed in the meeting of the third of May and holds until the next meeting decides otherwise.",
]
GERMAN = [
    ("p", "Der Fahrplan gilt ab dem ersten März. An Feiertagen fahren die Boote wie am Sonntag, bei Sturm gar nicht."),
    ("h", 2, "Preise"),
    (
        "table",
        [
            ["Strecke", "Einfach", "Hin und zurück"],
            ["Gravenau – Holmsund", "4,50 €", "8,00 €"],
            ["Gravenau – Brennfeld", "6,20 €", "11,50 €"],
            ["Holmsund – Brennfeld", "3,10 €", "5,80 €"],
        ],
    ),
    ("h", 2, "Häufige Fragen"),
    (
        "dl",
        [
            ("Darf mein Hund mit?", "Ja, an der Leine und auf dem hinteren Deck."),
            ("Muss ich reservieren?", "Nur für Gruppen ab zwölf Personen und für Anhänger."),
            ("Wo steht der Automat?", "Neben dem Kiosk am Anleger; er nimmt Münzen und Karten."),
        ],
    ),
    ("h", 2, "Bitte mitbringen"),
    ("ul", ["warme Jacke", "Fahrkarte oder Ausweis", "Fernglas, wenn vorhanden"]),
]
FRENCH = [
    ("p", "Le marché a lieu chaque samedi sur la place de l'ancienne gare, de sept heures à midi et demi."),
    ("h", 2, "Ce que l'on y trouve"),
    ("ul", ["fruits et légumes de saison", "pain au levain", "miel, confitures et fromages", "outils d'occasion"]),
    ("h", 2, "Règlement"),
    (
        "ol",
        [
            "Les véhicules quittent la place avant sept heures.",
            "Chaque stand affiche ses prix.",
            "Les déchets sont repris par les marchands.",
        ],
    ),
    ("p", "Pour réserver un emplacement, écrivez à la mairie au moins deux semaines à l'avance."),
]
JAPANESE = [
    ("p", "図書館は月曜日を除いて毎日開いています。閲覧室は午前九時から午後八時まで利用できます。"),
    ("h", 2, "利用案内"),
    (
        "ul",
        [
            "貸出は一人十冊まで、期間は二週間です。",
            "予約した本は受付で受け取ってください。",
            "飲み物はふた付きのものだけ持ち込めます。",
        ],
    ),
    ("h", 2, "休館日"),
    ("table", [["月", "日"], ["四月", "六日、十三日"], ["五月", "四日、十八日"]]),
    ("p", "わからないことがあれば、受付の係員に声をかけてください。"),
]
RUSSIAN = [
    ("p", "Мастерская принимает велосипеды по вторникам и пятницам. Мелкий ремонт делаем сразу, крупный за три дня."),
    ("h", 2, "Цены"),
    (
        "table",
        [["Работа", "Цена"], ["Замена камеры", "300"], ["Регулировка тормозов", "450"], ["Полная чистка", "1200"]],
    ),
    ("h", 2, "Вопросы"),
    (
        "dl",
        [
            ("Есть ли запасные части?", "Да, для большинства моделей последних двадцати лет."),
            ("Можно ли ждать?", "Можно, чай за счёт мастерской."),
        ],
    ),
]


def _date(rng: random.Random) -> str:
    return f"{rng.randint(1, 28)} {rng.choice(['March', 'April', 'May', 'June', 'September', 'October'])} 2026"


def job_list(seed: int) -> Doc:
    """A page that is a list of links under a heading, with or without a line before it."""
    rng = random.Random(f"jobs {seed}")
    entries = [f"[{job}, {rng.choice(PLACES)}](/jobs/{at})" for at, job in enumerate(rng.sample(JOBS, 9 + seed % 7))]
    blocks: list[Block] = [("ul", entries)]
    if seed % 3 == 1:
        blocks.insert(0, ("p", "We are looking for people."))
    if seed % 3 == 2:
        blocks.append(("p", rng.choice(JOB_TEXTS)))
    return Doc(f"jobs-{seed}", f"Open positions in {rng.choice(PLACES)}", "list", blocks, "Vacancies of this week.")


def job_ad(seed: int) -> Doc:
    """A job advertisement with short sections."""
    rng = random.Random(f"ad {seed}")
    texts = rng.sample(JOB_TEXTS, 5)
    blocks: list[Block] = [
        ("p", f"Full time, from {_date(rng)}."),
        ("p", texts[0]),
        ("h", 2, "What you do"),
        ("ul", [*rng.sample(JOB_TEXTS, 2), "Keep the log book", "Answer letters"]),
        ("h", 2, "What we offer"),
        ("p", texts[1]),
        (
            "table",
            [
                ["Step", "Monthly pay"],
                ["first year", f"{rng.randint(21, 30)}00 crowns"],
                ["third year", f"{rng.randint(31, 40)}00 crowns"],
            ],
        ),
        ("h", 2, "How to apply"),
        ("p", texts[2]),
        ("p", f"Contact: {rng.choice(PEOPLE)}, room {rng.randint(1, 40)}."),
    ]
    return Doc(f"ad-{seed}", rng.choice(JOBS), "article", blocks, texts[0])


def price_table(seed: int) -> Doc:
    """A page with one or two tables and little else."""
    rng = random.Random(f"prices {seed}")
    rows = [["Article", "Size", "Price", "In stock"]]
    rows += [
        [
            name,
            rng.choice(["small", "medium", "large"]),
            f"{rng.randint(3, 90)}.{rng.choice(['00', '50', '90'])}",
            rng.choice(["yes", "no", "from May"]),
        ]
        for name in rng.sample(PRODUCTS, 10 + seed % 8)
    ]
    hours = [["Day", "Open", "Closed"]] + [
        [day, f"{rng.randint(7, 10)}:00", f"{rng.randint(15, 20)}:30"] for day in ("Monday", "Wednesday", "Friday")
    ]
    blocks: list[Block] = [("table", rows)]
    if seed % 2:
        blocks = [("p", rng.choice(PROSE)), ("table", rows), ("h", 2, "Opening hours"), ("table", hours)]
    return Doc(f"prices-{seed}", f"Prices of the shop in {rng.choice(PLACES)}", "table", blocks, "What things cost.")


def downloads(seed: int) -> Doc:
    """A table of files with links."""
    rng = random.Random(f"downloads {seed}")
    rows = [["File", "Version", "Date", "Size"]]
    for name in rng.sample(
        [
            "tidetable",
            "harbourmap",
            "pricelist",
            "timetable",
            "minutes",
            "catalogue",
            "leaflet",
            "budget",
            "atlas",
            "songbook",
        ],
        8,
    ):
        version = f"{rng.randint(1, 4)}.{rng.randint(0, 12)}"
        rows.append(
            [
                f"[{name}-{version}.pdf](/files/{name}-{version}.pdf)",
                version,
                f"2026-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
                f"{rng.randint(40, 900)} kB",
            ]
        )
    return Doc(
        f"downloads-{seed}",
        "Downloads",
        "table",
        [("p", "All files are free to use."), ("table", rows), ("p", rng.choice(PROSE))],
        "Files to take home.",
    )


def events(seed: int) -> Doc:
    """A calendar as headings with one short line each, or as a list."""
    rng = random.Random(f"events {seed}")
    names = rng.sample(EVENTS, 8)
    if seed % 2:
        blocks: list[Block] = [("ul", [f"{_date(rng)}: {name}, {rng.choice(PLACES)}" for name in names])]
    else:
        blocks = [
            block
            for name in names
            for block in (("h", 2, name), ("p", f"{_date(rng)}, {rng.randint(9, 20)}:00, {rng.choice(PLACES)}."))
        ]
    return Doc(f"events-{seed}", "What is on", "list", blocks, "Dates of the next weeks.")


def glossary(seed: int) -> Doc:
    """Terms and what they mean."""
    rng = random.Random(f"terms {seed}")
    return Doc(
        f"glossary-{seed}",
        "Words of the harbour",
        "glossary",
        [("dl", sorted(rng.sample(TERMS, 8 + seed % 4)))],
        "Terms explained.",
    )


def faq(seed: int) -> Doc:
    """Questions as headings and short answers."""
    rng = random.Random(f"faq {seed}")
    pairs = rng.sample(FAQ, 6)
    blocks = [block for question, answer in pairs for block in (("h", 2, question), ("p", answer))]
    return Doc(f"faq-{seed}", "Questions and answers", "faq", blocks, "What people ask.")


def changelog(seed: int) -> Doc:
    """Versions as headings, changes as lists."""
    rng = random.Random(f"changes {seed}")
    blocks: list[Block] = []
    for minor in range(5, 0, -1):
        blocks.append(("h", 2, f"{seed}.{minor}.0 ({_date(rng)})"))
        blocks.append(
            (
                "ul",
                [
                    f"{rng.choice(['Fix', 'Repair', 'Close'])}: {ticket[0].lower()}{ticket[1:]}"
                    for ticket in rng.sample(TICKETS, rng.randint(1, 4))
                ],
            )
        )
    return Doc(f"changelog-{seed}", "Release notes", "changelog", blocks, "What is new.")


def contents(seed: int) -> Doc:
    """A table of contents: nothing but headings and links."""
    rng = random.Random(f"contents {seed}")
    chapters = rng.sample([title for title, _ in HEADLINES], 12)
    blocks: list[Block] = []
    for at in range(3):
        blocks.append(("h", 2, ["Beginnings", "The middle years", "Since the war", "Today"][at]))
        blocks.append(
            ("ul", [f"[{title}](/chapter/{at}/{number})" for number, title in enumerate(chapters[at * 4 : at * 4 + 4])])
        )
    return Doc(f"contents-{seed}", f"A history of {rng.choice(PLACES)}", "list", blocks, "Contents of the book.")


def news_article(seed: int) -> Doc:
    """A news article with a short first paragraph."""
    title, lead = HEADLINES[seed % len(HEADLINES)]
    rng = random.Random(f"news {seed}")
    voice = rng.choice(PEOPLE)
    blocks: list[Block] = [
        ("p", lead),
        (
            "p",
            f"“We did not expect this so early,” said {voice} on the steps of the town hall. “But the work was well prepared.”",
        ),
        ("p", rng.choice(PROSE)),
        ("h", 2, "What happens next"),
        ("p", f"The next meeting is on {_date(rng)}."),
        ("p", rng.choice(PROSE)),
        ("quote", rng.choice(POSTS)),
        (
            "p",
            f"{rng.choice(PLACES)} and {rng.choice(PLACES)} plan the same for next year, though with less money and more volunteers.",
        ),
    ]
    return Doc(f"news-{seed}", title, "article", blocks, lead)


def foreign_language(seed: int) -> Doc:
    """A page in another language."""
    return [
        Doc("fahrplan", "Fahrplan und Preise der Fähre", "table", GERMAN, "Abfahrten und Preise.", "de"),
        Doc("marche", "Le marché du samedi", "list", FRENCH, "Tout sur le marché.", "fr"),
        Doc("toshokan", "図書館の案内", "article", JAPANESE, "開館時間と利用案内。", "ja"),
        Doc("masterskaya", "Ремонт велосипедов", "faq", RUSSIAN, "Цены и вопросы.", "ru"),
    ][seed % 4]


def form_labels(seed: int) -> tuple[Doc, list[tuple[str, str, str]]]:
    """A contact form: the document around it and (name, label, type of field)."""
    rng = random.Random(f"form {seed}")
    fields = [
        ("name", "Your name", "text"),
        ("email", "Address for our answer", "email"),
        ("berth", "Number of your berth", "number"),
        ("message", "What is it about?", "textarea"),
    ]
    return Doc(
        f"contact-{seed}", "Write to the harbour office", "form", [("p", rng.choice(PROSE))], "How to reach us."
    ), fields


def small_docs(seed: int) -> list[Doc]:
    """Return one page of every short kind."""
    return [
        job_list(seed),
        price_table(seed),
        downloads(seed),
        events(seed),
        glossary(seed),
        faq(seed),
        changelog(seed),
        contents(seed),
        job_ad(seed),
        news_article(seed),
        foreign_language(seed),
    ]
