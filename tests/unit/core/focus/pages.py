"""Small pages for the tests of focused crawling."""

from __future__ import annotations

from random import Random

from evercrawl.core.focus.focus import ExamplePage, parse_page

COURSE = "lecture homework syllabus exam instructor grading midterm"
PERSON = "interests publications family hobbies resume music travel"


def page(url: str, title: str, words: str, links: dict[str, str] | None = None) -> str:
    anchors = "".join(f"<p>see <a href='{to}'>{text}</a> there</p>" for to, text in (links or {}).items())
    return f"<title>{title}</title><body><p>{words} {words}.</p>{anchors}</body>"


def web(site: str, size: int = 12) -> dict[str, str]:
    """Return a root that links to people and to a list of courses, which links to the courses."""
    courses = {f"{site}/classes/cs{100 + n}/": f"CS {100 + n} course" for n in range(size)}
    people = {f"{site}/people/p{n}.html": f"member number {n}" for n in range(3 * size)}
    pages = {url: page(url, text, COURSE) for url, text in courses.items()}
    pages |= {url: page(url, text, PERSON) for url, text in people.items()}
    pages[f"{site}/classes.html"] = page("", "Classes", "this term", courses)
    pages[f"{site}/people.html"] = page("", "People", "who we are", people)
    pages[f"{site}/"] = page(
        "", "Department", "welcome", {f"{site}/people.html": "people", f"{site}/classes.html": "classes"}
    )
    return pages


def examples(site: str) -> list[ExamplePage]:
    return [ExamplePage(url, parse_page(url, html), "/classes/" in url) for url, html in web(site).items()]


SECTIONS = ("garden", "sailing", "chess", "baking", "astronomy", "railway")


def magazine(site: str, *, seed: int, telling_urls: bool, size: int = 40) -> tuple[dict[str, str], dict[str, str]]:
    """Return the pages of a magazine with several sections, and the section of each article.
    Each section has words of its own; articles also link to articles of other sections."""
    random = Random(seed)
    general = [_invented_word(random) for _ in range(300)]
    pages: dict[str, str] = {}
    sections: dict[str, str] = {}
    for section in SECTIONS:
        for number in range(size):
            name = f"{section}/{number}" if telling_urls else f"article/{random.randrange(10**6)}"
            sections[f"{site}/{name}.html"] = section
    for section in SECTIONS:
        own = [section, *(_invented_word(random) for _ in range(40))]
        mine = [url for url, of in sections.items() if of == section]
        for url in mine:
            title = f"{random.choice(own).title()} {random.choice(general)}"
            words = random.sample(general, 60) + random.choices(own, k=20)
            random.shuffle(words)
            links = {other: random.choice(general) for other in random.sample(sorted(sections), 3)}
            pages[url] = page(url, title, " ".join(words), {**links, f"{site}/{section}.html": section})
        lists = {url: " ".join(random.sample(own, 2)) for url in mine}
        pages[f"{site}/{section}.html"] = page("", section.title(), "all articles", lists)
    home = {f"{site}/{section}.html": section for section in SECTIONS}
    pages[f"{site}/"] = page("", "Magazine", "welcome", home)
    return pages, sections


def _invented_word(random: Random) -> str:
    return "".join(random.choice("bdfgklmnprstvz") + random.choice("aeiou") for _ in range(random.randint(2, 4)))
