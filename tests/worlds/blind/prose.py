"""Prose for the blind worlds: seeded sentences, titles and small edits in several languages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

_SLOT = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(frozen=True)
class Prose:
    """One language and topic: sentence patterns, the words that fill them, titles and headings."""

    patterns: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    titles: tuple[str, ...]
    headings: tuple[str, ...]
    glue: str = " "
    months: tuple[str, ...] = field(default=())
    openers: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()

    def fill(self, pattern: str, rng: Random) -> str:
        """Replace the slots of a pattern by words, numbers and dates."""
        return _SLOT.sub(lambda slot: self._word(slot[1], rng), pattern)

    def _word(self, slot: str, rng: Random) -> str:
        if slot == "n":
            return str(rng.choice((rng.randint(2, 19), rng.randint(20, 99), rng.randint(100, 980))))
        if slot == "year":
            return str(rng.randint(1968, 2024))
        if slot == "date":
            month = rng.randint(1, 12)
            name = self.months[month - 1] if self.months else f"{month:02}"
            return f"{rng.randint(1, 28)}{' ' if self.glue else '日'}{name}"
        return rng.choice(self.slots[slot])

    def sentence(self, rng: Random) -> str:
        """Return one sentence, often with an opening phrase or an aside at its end."""
        pattern = rng.choice(self.patterns)
        if self.openers and rng.random() < 0.4:
            start = pattern if pattern[0] == "{" else pattern[0].lower() + pattern[1:]
            pattern = f"{rng.choice(self.openers)}{self.glue}{start}"
        if self.tails and pattern[-1] in ".。" and rng.random() < 0.5:
            pattern = f"{pattern[:-1]}{rng.choice(self.tails)}{pattern[-1]}"
        text = self.fill(pattern, rng)
        return text[:1].upper() + text[1:]

    def sentences(self, rng: Random, least: int, most: int) -> list[str]:
        """Return several different sentences."""
        found: list[str] = []
        wanted = rng.randint(least, most)
        while len(found) < wanted:
            text = self.sentence(rng)
            if text not in found:
                found.append(text)
        return found

    def title(self, rng: Random) -> str:
        """Return a title of a page, an entry or a headline."""
        text = self.fill(rng.choice(self.titles), rng)
        return text[:1].upper() + text[1:]

    def phrase(self, rng: Random) -> str:
        """Return some words of a sentence, as in a list or a table cell."""
        text = self.sentence(rng).rstrip(".。!?؟")
        if not self.glue:
            return re.split("[、,，]", text)[0]
        words = text.split(" ")
        return " ".join(words[: rng.randint(4, 8)]).rstrip(",;:")

    def with_link(self, text: str, rng: Random) -> str:
        """Turn one word of a sentence into a link."""
        found = [word for words in self.slots.values() for word in words if word in text]
        if not found or "[[" in text:
            return text
        word = rng.choice(found)
        return text.replace(word, f"[[{word}|/ref/{rng.randint(100, 999)}]]", 1)

    def swap_word(self, text: str, rng: Random) -> str | None:
        """Replace one word by another that fits the same place, or return None."""
        found = [
            (word, words)
            for words in self.slots.values()
            for word in words
            if len(word) > (1 if not self.glue else 3) and word in text
        ]
        if not found:
            return None
        word, words = rng.choice(found)
        other = rng.choice([w for w in words if w != word])
        return text.replace(word, other, 1)

    def swap_number(self, text: str, rng: Random) -> str | None:
        """Change one number of a text, or return None."""
        found = list(_NUMBER.finditer(text))
        if not found:
            return None
        place = rng.choice(found)
        digits = [i for i in range(place.start(), place.end()) if text[i].isdigit()]
        at = rng.choice(digits)
        new = rng.choice([d for d in "123456789" if d != text[at]])
        return text[:at] + new + text[at + 1 :]


@dataclass(frozen=True)
class FreshProse(Prose):
    """Prose that does not say the same thing twice, as pages of one site hardly ever do."""

    used: set[str] = field(default_factory=set)

    def sentence(self, rng: Random) -> str:
        """Return a sentence that was not used before, not even with other numbers; in the end by joining two."""
        for _ in range(20):
            text = super().sentence(rng)
            shape = _NUMBER.sub("#", text)
            if shape not in self.used:
                self.used.add(shape)
                return text
        return f"{super().sentence(rng)}{self.glue}{super().sentence(rng)}"

    def title(self, rng: Random) -> str:
        """Return a title that was not used before, in the end with a number."""
        for _ in range(20):
            text = super().title(rng)
            if text not in self.used:
                break
        else:
            text = f"{text} ({rng.randint(2, 99)})"
        self.used.add(text)
        return text


EN_MONTHS = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)

EN_OPENERS = (
    "In the meantime,",
    "As far as we know,",
    "To be fair,",
    "Oddly enough,",
    "For the time being,",
    "In most cases",
    "After some discussion,",
    "Strictly speaking,",
    "On second thoughts,",
    "Contrary to earlier reports,",
    "At first sight",
    "Every now and then",
    "Without further notice,",
    "As a rule,",
    "By the way,",
    "Against all advice,",
    "Sooner or later",
    "Compared with others,",
    "Since last spring",
    "From what we hear,",
)
EN_TAILS = (
    ", which came as a surprise",
    ", at least on paper",
    " in spite of the weather",
    ", and nobody minds",
    ", although opinions differ",
    " for reasons of cost",
    ", as the older ones remember",
    " unless stated otherwise",
    ", to put it mildly",
    " with hardly any exception",
    ", though not everywhere",
    " thanks to a generous gift",
    ", for better or worse",
    ", as a quick look confirms",
    " during the colder months",
    ", if memory serves",
    ", and that is only the beginning",
    " under certain conditions",
    ", with mixed success",
    " from one day to the next",
    ", however small it may seem",
    " by popular demand",
)

TOWN = Prose(
    months=EN_MONTHS,
    openers=EN_OPENERS,
    tails=EN_TAILS,
    titles=(
        "{place} plans a new {thing}",
        "Council votes on the {thing} in {place}",
        "How {place} rebuilt its {thing}",
        "{who} object to the {thing}",
        "Delay for the {thing} near {place}",
        "A {adj} year for {place}",
        "{place} {thing}: what we know",
        "Why the {adj} {thing} matters",
    ),
    headings=("Background", "What happens next", "The costs", "Reactions", "How to take part", "History", "Timetable"),
    slots={
        "place": (
            "Ashcombe",
            "Port Ellery",
            "Millbrook",
            "Kirk Hadley",
            "Tarrow",
            "the harbour district",
            "Upper Denby",
            "Saltmarsh",
            "Wexley",
            "the northern suburbs",
            "Glenrowan",
            "Harrow Fen",
        ),
        "thing": (
            "library",
            "footbridge",
            "swimming pool",
            "tram line",
            "flood barrier",
            "bus station",
            "school kitchen",
            "market hall",
            "cycle path",
            "fire station",
            "sports hall",
            "museum",
            "water tower",
        ),
        "adj": ("difficult", "costly", "popular", "unusual", "long", "quiet", "temporary", "controversial"),
        "who": (
            "Residents",
            "Shopkeepers",
            "Parents",
            "Engineers",
            "Local historians",
            "Two councillors",
            "Volunteers",
            "Commuters",
        ),
        "verb": ("approved", "rejected", "postponed", "reviewed", "cancelled", "extended", "welcomed"),
        "person": (
            "Mayor Ruth Calder",
            "the planning officer",
            "Dr Anselm Pryce",
            "council leader Tom Hale",
            "a spokeswoman",
            "the contractor",
            "site manager Ines Varga",
        ),
    },
    patterns=(
        "The council {verb} the {thing} in {place} by {n} votes to 9.",
        "{person} said the {thing} would cost {n},000 pounds more than expected.",
        "Work on the {adj} {thing} began in {year} and was meant to last two summers.",
        "{who} from {place} handed over a petition with {n} signatures.",
        "Nobody had asked the people of {place} before the {thing} was {verb}.",
        "According to {person}, the {thing} opens on {date}.",
        "The old {thing} stood empty for {n} months, and its roof leaks.",
        "In {place}, the {thing} is used by about {n} people a day.",
        "A second hearing takes place on {date} at the town hall.",
        "{person} did not want to comment on the {adj} decision.",
        "The money comes from a fund that was {verb} in {year}.",
        "{who} fear that the {thing} will bring more traffic to {place}.",
        "Until then, buses stop {n} metres further down the road.",
        "It is not the first {thing} that was {verb} in {place}.",
        "The report lists {n} defects, most of them in the {thing}.",
    ),
)

SOFTWARE = Prose(
    months=EN_MONTHS,
    openers=EN_OPENERS,
    tails=EN_TAILS,
    titles=(
        "{part} {fails} after upgrade",
        "How to configure the {part}?",
        "{part}: wrong {value} when {cond}",
        "Slow {part} with {n} clients",
        "Support {format} in the {part}",
        "Crash in {part} while {cond}",
        "{part} ignores the {value} setting",
        "Document the {value} of the {part}",
        "{format} export loses the {value}",
    ),
    headings=("Synopsis", "Options", "Installation", "Known problems", "Example", "Notes", "Return value", "See also"),
    slots={
        "part": (
            "scheduler",
            "import filter",
            "connection pool",
            "session cache",
            "parser",
            "mail gateway",
            "search index",
            "backup job",
            "template engine",
            "thumbnail worker",
            "login form",
            "queue",
        ),
        "fails": (
            "hangs",
            "returns an empty list",
            "crashes",
            "times out",
            "loops",
            "leaks memory",
            "refuses to start",
        ),
        "value": ("timeout", "charset", "locale", "buffer size", "retry count", "time zone", "port", "prefix"),
        "cond": (
            "the disk is full",
            "two users log in at once",
            "the file is empty",
            "running behind a proxy",
            "the clock jumps",
            "reading from a pipe",
            "IPv6 is disabled",
        ),
        "format": ("CSV", "YAML", "JSON", "SVG", "iCalendar", "Markdown", "TOML", "XLSX"),
        "os": ("Debian", "Fedora", "FreeBSD", "Windows Server", "Alpine", "macOS", "openSUSE"),
    },
    patterns=(
        "The {part} {fails} when {cond}.",
        "Set the {value} to {n} and restart the {part}.",
        "On {os} the {value} is read from the environment first.",
        "I see this with version 4.{n} on {os}, but not on {os}.",
        "The log shows {n} warnings from the {part} and then nothing.",
        "By default the {value} of the {part} is {n}.",
        "If {cond}, the {part} falls back to {format}.",
        "Files in {format} larger than {n} MB are skipped without a message.",
        "This has been so since {year}, as far as I can tell.",
        "The {part} reads {format} and writes {format}.",
        "Removing the {value} from the configuration helps, but then the {part} {fails}.",
        "A workaround is to start the {part} before the {part}.",
        "Does the {part} respect the {value} at all?",
        "The patch changes {n} lines in the {part} and adds a test.",
        "After {n} requests the {part} closes the connection.",
        "Unless {cond}, no {value} is needed.",
    ),
)

COOKING = Prose(
    months=EN_MONTHS,
    openers=EN_OPENERS,
    tails=EN_TAILS,
    titles=(
        "{style} {dish} with {item}",
        "Grandmother's {dish}",
        "{item} and {item} {dish}",
        "Quick {style} {dish}",
        "{dish} from {region}",
    ),
    headings=("Ingredients", "Method", "Tips", "Storing", "What goes with it"),
    slots={
        "dish": ("stew", "gratin", "soup", "flatbread", "tart", "dumplings", "salad", "pilaf", "casserole", "pancakes"),
        "item": (
            "leeks",
            "chickpeas",
            "smoked trout",
            "pumpkin",
            "barley",
            "walnuts",
            "goat cheese",
            "fennel",
            "red lentils",
            "mushrooms",
            "black beans",
        ),
        "style": ("creamy", "spicy", "rustic", "light", "baked", "winter", "crispy"),
        "region": ("the Jura", "Galicia", "the Black Forest", "Anatolia", "the Highlands", "Puglia"),
        "tool": ("heavy pan", "oven dish", "large bowl", "sieve", "saucepan", "blender"),
        "unit": ("g", "ml", "tablespoons", "handfuls", "slices"),
    },
    patterns=(
        "Cut the {item} into pieces and leave them in a {tool} for {n} minutes.",
        "In {region} the {dish} is eaten with {item}.",
        "Heat the oil in a {tool} and fry the {item} until golden.",
        "Bake at 190 °C for about {n} minutes.",
        "The {style} version needs twice as much {item}.",
        "Use {n} {unit} of {item} if you can get it fresh.",
        "My aunt from {region} never added {item} to a {dish}.",
        "Season well, then stir in the {item}.",
        "The {dish} keeps for three days in the fridge.",
        "Serve the {dish} in the {tool}, with {item} on top.",
        "If the {dish} is too dry, add {n} ml of stock.",
        "A {tool} works better here than a {tool}.",
    ),
)

GOODS = Prose(
    months=EN_MONTHS,
    openers=EN_OPENERS,
    tails=EN_TAILS,
    titles=(
        "{brand} {item} {n}",
        "{adj} {item} by {brand}",
        "{brand} {adj} {item}",
        "{item} {brand} No. {n}",
        "{brand} {item}, {colour}",
    ),
    headings=("Description", "Technical data", "In the box", "Care", "Warranty"),
    slots={
        "brand": ("Norvik", "Tamsin", "Oakfield", "Lumo", "Karst", "Pelikane", "Brightwater", "Hedda", "Ostrom"),
        "item": (
            "kettle",
            "desk lamp",
            "rucksack",
            "office chair",
            "bread knife",
            "rain jacket",
            "headphones",
            "garden hose",
            "espresso machine",
            "sleeping bag",
            "cordless drill",
        ),
        "adj": ("foldable", "lightweight", "classic", "waterproof", "compact", "professional", "quiet"),
        "colour": ("slate", "forest green", "ivory", "navy", "brick red", "graphite"),
        "material": ("steel", "birch", "recycled nylon", "aluminium", "cotton", "ceramic", "brass"),
        "use": ("small kitchens", "daily commuting", "weekend trips", "workshops", "long winters", "home offices"),
    },
    patterns=(
        "The {item} is made of {material} and weighs {n} g.",
        "{brand} designed this {adj} {item} for {use}.",
        "Its {material} handle stays cool and is easy to clean.",
        "The {colour} finish is resistant to scratches.",
        "With a capacity of {n} ml it suits {use}.",
        "Comes with a warranty of {n} months.",
        "A spare part made of {material} is included.",
        "The {adj} design saves space and fits into a drawer.",
        "{brand} has built its {item} in the same workshop since {year}.",
        "Not suitable for {use} without the extra {material} base.",
        "You can combine it with the {adj} {item} of the same series.",
        "The cable is {n} cm long and can be replaced.",
    ),
)

SCIENCE = Prose(
    months=EN_MONTHS,
    openers=EN_OPENERS,
    tails=EN_TAILS,
    titles=("{thing}", "{adj} {thing}", "{thing} of {place}", "List of {thing} types", "{person} and the {thing}"),
    headings=("History", "Description", "Distribution", "Use", "Naming", "Research", "Conservation", "Geology"),
    slots={
        "thing": (
            "lichen",
            "salt mine",
            "moraine",
            "heath butterfly",
            "sundial",
            "peat bog",
            "granite",
            "river otter",
            "windmill",
            "alder beetle",
            "limestone cave",
            "meteorite",
        ),
        "adj": ("northern", "lesser", "spotted", "medieval", "coastal", "alpine", "striped"),
        "place": ("Karelia", "the Ardennes", "Lake Orsa", "the Tatra range", "Wallachia", "Bornholm", "the Vosges"),
        "person": ("Ada Brennecke", "Lars Holm", "Jan Kubelik", "Maria Ferrante", "Edwin Pell", "Otto Wessel"),
        "verb": ("described", "measured", "named", "collected", "drawn", "classified"),
        "field": ("botany", "geology", "zoology", "astronomy", "archaeology", "hydrology"),
    },
    patterns=(
        "The {adj} {thing} was first {verb} by {person} in {year}.",
        "It occurs in {place} at heights of up to {n} metres.",
        "In {field}, the {thing} is known for its {adj} form.",
        "Around {n} specimens are kept in a collection in {place}.",
        "{person} {verb} it again in {year}, after a journey through {place}.",
        "The name goes back to a village in {place}.",
        "Only {n} sites are known today, most of them in {place}.",
        "Its surface is {adj} and usually {n} mm thick.",
        "The {thing} is often confused with the {adj} {thing}.",
        "Until {year} it was believed to be extinct in {place}.",
        "A study of {year} counted {n} of them near {place}.",
        "Unlike the {thing}, it is rarely found in {place}.",
        "The first drawing by {person} is lost.",
    ),
)

JOBS = Prose(
    months=EN_MONTHS,
    openers=EN_OPENERS,
    tails=EN_TAILS,
    titles=(
        "{level} {role}",
        "{role} ({team})",
        "{role} in {city}",
        "{level} {role}, {team}",
        "{role} – fixed term until {year}",
    ),
    headings=("Your tasks", "Your profile", "What we offer", "How to apply", "About us"),
    slots={
        "role": (
            "electrician",
            "data analyst",
            "school nurse",
            "accountant",
            "backend developer",
            "gardener",
            "project manager",
            "physiotherapist",
            "welder",
            "translator",
        ),
        "level": ("Senior", "Junior", "Lead", "Part-time", "Deputy", "Trainee"),
        "team": ("operations", "research", "customer service", "logistics", "public works", "finance"),
        "city": ("Bremen", "Leeds", "Ghent", "Graz", "Aarhus", "Turku", "Lyon", "Porto"),
        "skill": (
            "a driving licence",
            "experience with contracts",
            "good Dutch",
            "a degree",
            "patience",
            "night shifts",
        ),
        "perk": ("a canteen", "30 days of leave", "a bicycle", "flexible hours", "a pension plan", "home office"),
    },
    patterns=(
        "You work in {team} with {n} colleagues in {city}.",
        "We expect {skill} and at least {n} months of practice.",
        "We offer {perk} and {perk}.",
        "The post in {team} is limited to {n} months.",
        "You report to the head of {team}.",
        "Applications with {skill} are preferred.",
        "Interviews take place on {date} in {city}.",
        "Our office in {city} was founded in {year}.",
        "As a {role} you plan the work of {team}.",
        "{skill} would be an advantage, but is no condition.",
        "You travel to {city} about {n} days a year.",
        "We are a company of {n} people and have {perk}.",
    ),
)

HOMES = Prose(
    months=EN_MONTHS,
    openers=EN_OPENERS,
    tails=EN_TAILS,
    titles=(
        "{n} m² {home} in {area}",
        "{adj} {home} near the {near}",
        "{home} with {extra}, {area}",
        "{adj} {home} in {area}",
    ),
    headings=("Description", "Location", "Equipment", "Energy", "Other details"),
    slots={
        "home": ("flat", "terraced house", "studio", "loft", "bungalow", "maisonette", "cottage"),
        "area": ("Old Quay", "Lindholm", "Fernhill", "the Weaver quarter", "Eastgate", "Bellmoor"),
        "adj": ("bright", "renovated", "spacious", "quiet", "charming", "furnished"),
        "near": ("station", "park", "river", "university", "market", "harbour"),
        "extra": ("balcony", "garden", "fireplace", "garage", "roof terrace", "cellar"),
        "floor": ("oak", "tiled", "cork", "linoleum", "parquet"),
    },
    patterns=(
        "The {adj} {home} lies {n} metres from the {near}.",
        "It was built in {year} and has a {extra}.",
        "The living room has {floor} flooring and faces the {near}.",
        "Heating costs were about {n} euros last year.",
        "A {extra} and a {extra} belong to the {home}.",
        "{area} is known for its {near} and its {adj} streets.",
        "The {extra} was renewed in {year}.",
        "Pets are welcome in the {home} after agreement.",
        "The kitchen is {floor} and measures {n} square feet.",
        "From the {near} you reach {area} in a few minutes.",
        "A viewing of the {home} is possible from {date}.",
    ),
)
