"""Small pages for the tests of focused crawling."""

from __future__ import annotations

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
