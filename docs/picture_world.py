"""The web in the pictures of the docs: a harbour, a museum and a council whose pages are edited as real ones are.

Prices rise, opening hours change, minutes are published, an exhibition ends. `[[DAY]]` in a text is the date of
that day of the history.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from tests.web.history_fixture import StoryWeb

from evercrawl.core.url import path_of, site_of

HARBOUR, MUSEUM, COUNCIL = "https://harbour.example", "https://museum.example", "https://council.example"
SEEDS = (f"{HARBOUR}/", f"{MUSEUM}/", f"{COUNCIL}/")
NAMES = {HARBOUR: "Northhaven Harbour", MUSEUM: "Northhaven Museum", COUNCIL: "Northhaven Council"}
FOOTERS = {
    HARBOUR: "Harbour office, Quay 1, Northhaven. VHF channel 12.",
    MUSEUM: "Northhaven Museum, 14 Ropewalk Street. Closed on Mondays.",
    COUNCIL: "Northhaven Council, Market Square. Telephone 555 0142.",
}
CLOSING, CLOSING_DAY = "The council offices are closed from 24 December to 1 January.", 58
STYLE = (
    "body{font:17px/1.6 Georgia,serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "nav a{margin-right:1rem}table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.3rem .8rem}"
    "aside{background:#fff3d6;padding:.5rem 1rem}footer{margin-top:3rem;color:#555}"
)
CALENDAR = re.compile(r"/calendar/(\d{4})-(\d\d)")
DATE = re.compile(r"\[\[(\d+)\]\]")
MINUTES_EVERY, FIRST_MINUTES = 14, 4


class Edit(NamedTuple):
    """From a day on, a text reads differently."""

    day: int
    old: str
    new: str


class Story(NamedTuple):
    """A page, its edits, and the day on which it appears and vanishes."""

    title: str
    text: str
    edits: tuple[Edit, ...] = ()
    first: int = 0
    gone: int = 999


HARBOUR_PAGES = {
    "/ferry": Story(
        "Ferry timetable and fares",
        "<p>The ferry Kittiwake sails between Northhaven and Skerry Island all year. The crossing takes 35 minutes.</p>"
        "<table><tr><th>Northhaven</th><th>Skerry Island</th></tr><tr><td>06:30</td><td>07:20</td></tr>"
        "<tr><td>09:00</td><td>09:50</td></tr><tr><td>13:15</td><td>14:05</td></tr>"
        "<tr><td>17:40</td><td>18:30</td></tr></table>"
        "<p>The last boat back leaves Skerry Island at 18:30.</p>"
        "<p>Adults pay 12.50 for a return ticket, children under 12 travel free.</p>"
        "<p>Bicycles cost 4.00. Dogs travel free on a lead.</p>"
        "<p>In wind above 17 metres per second the ferry does not sail. We announce it here by 5 in the morning.</p>",
        (
            Edit(12, "Bicycles cost 4.00.", "Bicycles travel free from Monday to Thursday and cost 4.00 otherwise."),
            Edit(26, "The last boat back leaves Skerry Island at 18:30.", "The last boat back leaves at 18:30 sharp."),
            Edit(38, "<tr><td>13:15</td><td>14:05</td></tr>", "<tr><td>12:45</td><td>13:35</td></tr>"),
            Edit(
                60,
                "The last boat back leaves at 18:30 sharp.",
                "The last boat back leaves Skerry Island at 21:10 on Fridays and Saturdays, and at 18:30 otherwise.",
            ),
            Edit(60, "Adults pay 12.50 for a return ticket", "Adults pay 13.80 for a return ticket"),
        ),
    ),
    "/berths": Story(
        "Guest berths",
        "<p>There are 48 berths for visiting boats, with water and electricity on every pontoon.</p>"
        "<p>Boats up to 8 metres pay 24.00 a night, up to 12 metres 31.00, and longer boats 42.00.</p>"
        "<p>Berths are given in the order of arrival. Call the harbour office on VHF channel 12 before you enter.</p>"
        "<p>Showers and laundry are open from 6 to 22 and included in the price.</p>",
        (
            Edit(20, "included in the price", "included in the price; the code is on your receipt"),
            Edit(59, "up to 12 metres 31.00", "up to 12 metres 33.50"),
        ),
    ),
    "/notices": Story(
        "Notices to mariners",
        "<p>Notices stay here until they are cancelled.</p><ul>"
        "<li>No. 31: The light on the west breakwater is weaker than charted.</li>"
        "<li>No. 32: Least depth in the fairway is 4.6 metres.</li></ul>"
        "<p>Report hazards on VHF channel 16.</p>",
        (
            Edit(9, "</ul>", "<li>No. 33: Divers work at Quay 3 from [[10]] to [[14]]. Pass slowly.</li></ul>"),
            Edit(15, "<li>No. 33: Divers work at Quay 3 from [[10]] to [[14]]. Pass slowly.</li>", ""),
            Edit(33, "</ul>", "<li>No. 34: A wreck buoy is laid 0.4 miles east of Gull Rock.</li></ul>"),
            Edit(47, "is weaker than charted", "is out of service"),
            Edit(61, "</ul>", "<li>No. 35: The swing bridge stays closed to boats on [[64]] from 8 to 16.</li></ul>"),
        ),
    ),
    "/tides": Story(
        "Tides and water",
        "<p>Mean spring range is 3.1 metres, mean neap range 1.4 metres.</p>"
        "<p>Times of high and low water are calculated for the tide gauge at Quay 2.</p>"
        "<p>The current in the entrance reaches 2.5 knots two hours after high water.</p>",
    ),
    "/fish-market": Story(
        "Fish market",
        "<p>The fish market on Quay 4 sells the catch of nine local boats.</p>"
        "<p>It is open on Tuesday, Thursday and Saturday from 7 to 11.</p>"
        "<p>Today's boats are listed on the board at the entrance. Bring a bag; ice is free.</p>",
        (Edit(44, "on Tuesday, Thursday and Saturday from 7 to 11", "from Tuesday to Saturday from 7 to 12"),),
    ),
    "/sailing-school": Story(
        "Sailing school",
        "<p>Courses for beginners start every second Saturday between April and October.</p>"
        "<p>A weekend course costs 180.00 and includes oilskins, life jacket and lunch.</p>"
        "<p>There are 3 places left on the next course.</p>",
        (
            Edit(18, "There are 3 places left on the next course.", "The next course is fully booked."),
            Edit(52, "A weekend course costs 180.00", "A weekend course costs 195.00"),
            Edit(52, "The next course is fully booked.", "Courses for next spring can be booked now."),
        ),
    ),
    "/winter-swimming": Story(
        "Winter swimming",
        "<p>The swimming club meets at the slipway on Sundays at 9. A warm sauna waits on the quay.</p>"
        "<p>Guests pay 5.00. Nobody swims alone.</p>",
        first=40,
    ),
    "/dredging": Story(
        "Dredging of the inner harbour",
        "<p>The inner harbour is dredged to 3.2 metres. The work began in August and ends in November.</p>"
        "<p>Pontoons C and D are closed until the work is done. Berth holders were given places on pontoon F.</p>",
        (Edit(30, "ends in November", "ends in January, because hard clay was found below pontoon D"),),
    ),
    "/lighthouse": Story(
        "The lighthouse",
        "<p>Gull Rock lighthouse was built in 1868 and has been unmanned since 1984.</p>"
        "<p>Boat trips to the rock take two hours and run from May to September, weather permitting.</p>",
    ),
    "/contact": Story(
        "Contact",
        "<p>The harbour office is open from 8 to 16 on weekdays and from 9 to 12 on Saturdays.</p>"
        "<p>Harbour master: Ingrid Solheim. Outside office hours, call the duty officer.</p>",
        (Edit(55, "Harbour master: Ingrid Solheim", "Harbour master: Tomas Reyes"),),
    ),
}
MUSEUM_PAGES = {
    "/visit": Story(
        "Plan your visit",
        "<h2>Opening hours</h2><p>Tuesday to Sunday from 10 to 17, Wednesday to 20.</p>"
        "<h2>Tickets</h2><p>Adults 9.00, students 5.00, under 18 free. The first Wednesday of the month is free.</p>"
        "<p>The museum is five minutes on foot from the ferry. The entrance on Ropewalk Street has no steps.</p>",
        (
            Edit(23, "The first Wednesday of the month is free.", "Admission is free on Wednesdays after 17."),
            Edit(60, "Tuesday to Sunday from 10 to 17, Wednesday to 20.", "Tuesday to Sunday from 11 to 18."),
            Edit(60, "Adults 9.00, students 5.00", "Adults 11.00, students 6.00"),
        ),
    ),
    "/exhibitions": Story(
        "Exhibitions",
        "<p>Now showing: <em>Whalers and their wives</em>, until [[50]].</p>"
        "<p>In the attic: <em>Northhaven in photographs</em>, 1890 to 1930.</p>",
        (
            Edit(
                50,
                "Now showing: <em>Whalers and their wives</em>, until [[50]].",
                "Now showing: <em>Salt: how a town grew rich</em>, until [[170]].",
            ),
        ),
    ),
    "/exhibitions/whalers": Story(
        "Whalers and their wives",
        "<p>Letters, log books and household accounts of twelve families, shown for the first time.</p>"
        "<p>Guided tours on Sundays at 14. The catalogue costs 18.00.</p>",
        (Edit(42, "Guided tours on Sundays at 14.", "Extra tours on the last two Sundays at 12 and 14."),),
        gone=51,
    ),
    "/exhibitions/salt": Story(
        "Salt: how a town grew rich",
        "<p>Four centuries of salt trade in 90 objects, from the first pan to the last barge.</p>"
        "<p>Taste eleven kinds of salt on Saturdays at 15.</p>",
        (Edit(59, "on Saturdays at 15", "on Saturdays and Sundays at 15"),),
        first=49,
    ),
    "/exhibitions/photographs": Story(
        "Northhaven in photographs",
        "<p>Glass plates by Marie Holt, who ran the studio on Market Square for forty years.</p>"
        "<p>Do you recognise somebody? Write to us: 214 faces still have no name.</p>",
        (Edit(16, "214 faces", "209 faces"), Edit(37, "209 faces", "197 faces"), Edit(57, "197 faces", "188 faces")),
    ),
    "/collection/logbook": Story(
        "Log book of the brig Concordia",
        "<p>Kept by the mate Anders Lund between 1841 and 1843. It records a mutiny off the Azores.</p>"
        "<p>Given by the Lund family in 1936. Not on display; ask in the reading room.</p>",
        (Edit(35, "Not on display; ask in the reading room.", "Digitised in full; read it in our catalogue."),),
    ),
    "/collection/sextant": Story(
        "Sextant by Troughton",
        "<p>Brass, London, about 1810. Used on three voyages to the Baltic.</p><p>On display in room 2.</p>",
    ),
    "/events": Story(
        "Events",
        "<ul><li>[[8]]: Lecture, The sound of foghorns. Free.</li><li>[[22]]: Knot evening for families.</li></ul>"
        "<p>Doors open half an hour before.</p>",
        (
            Edit(9, "<li>[[8]]: Lecture, The sound of foghorns. Free.</li>", ""),
            Edit(24, "[[22]]: Knot evening for families.", "[[45]]: Museum night, open until 1 in the morning."),
            Edit(46, "[[45]]: Museum night, open until 1 in the morning.", "[[66]]: Concert, Songs of the sea. 15.00."),
            Edit(61, "Songs of the sea. 15.00.", "Songs of the sea. Sold out."),
        ),
    ),
    "/schools": Story(
        "School visits",
        "<p>A visit with a guide takes 90 minutes and is free for schools in the county.</p>"
        "<p>Book at least two weeks ahead. At most 28 pupils per group.</p>",
    ),
    "/jobs": Story(
        "Jobs",
        "<p>There are no vacancies at the moment.</p><p>We take on volunteers for the photograph archive.</p>",
        (
            Edit(
                58,
                "There are no vacancies at the moment.",
                "We are looking for a conservator for paper (80%). Apply by [[78]].",
            ),
        ),
    ),
}
COUNCIL_PAGES = {
    "/waste": Story(
        "Waste collection",
        "<p>Household waste is collected every Tuesday, paper on the first Thursday of the month.</p>"
        "<p>Put bins out by 6 in the morning. A second bin costs 68.00 a year.</p>"
        "<p>Bulky waste: book a collection online, at most three items.</p>",
        (
            Edit(28, "paper on the first Thursday", "paper and cardboard on the first and third Thursday"),
            Edit(59, "every Tuesday", "every Wednesday from 1 January"),
        ),
    ),
    "/parking": Story(
        "Parking permits",
        "<p>A resident's permit costs 96.00 a year. Zones A and B cover the old town.</p>"
        "<p>Visitors pay 2.20 an hour between 8 and 18. Electric cars park free for two hours.</p>",
        (Edit(60, "Visitors pay 2.20 an hour between 8 and 18.", "Visitors pay 2.60 an hour between 8 and 20."),),
    ),
    "/library": Story(
        "Library",
        "<p>Open Monday to Friday from 10 to 19, Saturday from 10 to 14.</p>"
        "<p>Loans are free for everybody. There are no fines for children's books.</p>",
        (Edit(45, "Saturday from 10 to 14", "Saturday from 10 to 16"),),
    ),
    "/tax": Story(
        "Council tax",
        "<p>Council tax is due in ten instalments. Band D pays 1,742 in this year.</p>"
        "<p>People who live alone get a discount of 25%.</p>",
    ),
    "/schools": Story(
        "School places",
        "<p>Apply for a school place by [[90]]. You can name three schools in the order of your wish.</p>"
        "<p>The new school on Mill Road opens in August with 240 places.</p>",
        (Edit(34, "opens in August with 240 places", "opens in August with 300 places"),),
    ),
    "/planning": Story(
        "Planning notices",
        "<p>Plans can be seen in the town hall and here. Comments are accepted for 28 days.</p><ul>"
        "<li><a href='/planning/412'>412: Hotel on the old rope factory site</a></li></ul>",
        (Edit(31, "</ul>", "<li><a href='/planning/419'>419: Cycle path to the lighthouse</a></li></ul>"),),
    ),
    "/planning/412": Story(
        "Application 412: hotel on the old rope factory site",
        "<p>A hotel with 84 rooms and a public terrace. The chimney is kept.</p>"
        "<p>Status: open for comments until [[40]].</p>",
        (
            Edit(40, "Status: open for comments until [[40]].", "Status: comments closed, 131 received."),
            Edit(60, "Status: comments closed, 131 received.", "Status: approved with conditions on [[60]]."),
            Edit(60, "84 rooms", "72 rooms"),
        ),
    ),
    "/planning/419": Story(
        "Application 419: cycle path to the lighthouse",
        "<p>A path of 3.4 kilometres along the shore, three metres wide, without lights.</p>"
        "<p>Status: open for comments until [[62]].</p>",
        (Edit(57, "without lights", "with lights that dim at night"),),
        first=30,
    ),
    "/elections": Story(
        "Elections",
        "<p>The next council election is in May. You can register to vote until 12 days before.</p>"
        "<p>Polling stations are open from 7 to 22.</p>",
    ),
    "/allotments": Story(
        "Allotments",
        "<p>An allotment costs 48.00 a year, water included. The waiting list is about 14 months.</p>",
        (Edit(50, "about 14 months", "about 18 months"),),
    ),
}
PAGES = {
    site + path: story
    for site, pages in ((HARBOUR, HARBOUR_PAGES), (MUSEUM, MUSEUM_PAGES), (COUNCIL, COUNCIL_PAGES))
    for path, story in pages.items()
}
DECISIONS = (
    "The rent of the sailing club stays as it is. 9 votes to 4.",
    "The street lights on Ropewalk Street are replaced by LED lamps for 41,000.",
    "The swing bridge is painted in spring. The cheapest of three offers is accepted.",
    "The library opens longer on Saturdays for a trial of six months.",
    "The hotel on the old rope factory site is approved with conditions. 8 votes to 5.",
)


class CoastWeb(StoryWeb):
    """The Fetcher of this web."""

    def answer(self, url: str, day: int) -> tuple[int, bytes, str]:
        """Status, body and type of a page on a day."""
        site, path = site_of(url), path_of(url)
        if site not in NAMES:
            return 404, b"<title>Not found</title>no such page", "text/html"
        if path == "/robots.txt":
            return 200, robots(site), "text/plain"
        if path == "/sitemap.xml" and site == MUSEUM:
            return 200, sitemap(day, self.begin), "application/xml"
        made = self._page(site, path, day)
        if made is None:
            return 410 if url in PAGES and day >= PAGES[url].gone else 404, b"<title>Gone</title>gone", "text/html"
        title, text = made
        dated = DATE.sub(lambda found: long_date(self.begin, int(found[1])), text)
        return 200, document(site, title, dated, day).encode(), "text/html; charset=utf-8"

    def _page(self, site: str, path: str, day: int) -> tuple[str, str] | None:
        if path == "/":
            return NAMES[site], home(site, day)
        if site == COUNCIL and (found := CALENDAR.fullmatch(path)):
            return f"Calendar {found[1]}-{found[2]}", calendar(int(found[1]), int(found[2]))
        if site == COUNCIL and path.startswith("/minutes"):
            return minutes(path, day)
        story = PAGES.get(site + path)
        if story is None or not story.first <= day < story.gone:
            return None
        text = story.text
        for edit in story.edits:
            if day >= edit.day:
                assert edit.old in text, (path, edit.old)
                text = text.replace(edit.old, edit.new)
        return story.title, text


def document(site: str, title: str, text: str, day: int) -> str:
    is_closing = site == COUNCIL and day >= CLOSING_DAY and not title.startswith("Calendar")
    closing = f"<aside>{CLOSING}</aside>" if is_closing else ""
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title><style>{STYLE}</style></head><body>"
        f"<nav><a href='/'>{NAMES[site]}</a></nav>{closing}<main><h1>{title}</h1>{text}</main>"
        f"<footer>{FOOTERS[site]} Visitors today: {day * 37 % 211 + 40}.</footer></body></html>"
    )


def home(site: str, day: int) -> str:
    links = [
        f"<li><a href='{path_of(url)}'>{story.title}</a></li>"
        for url, story in PAGES.items()
        if url.startswith(site) and story.first <= day and (story.gone == 999 or day < story.gone + 9)
    ]
    if site == COUNCIL:
        links += [
            "<li><a href='/minutes'>Council minutes</a></li>",
            "<li><a href='/calendar/2026-11'>Calendar</a></li>",
        ]
    links += ["<li><a href='/intern/rota'>Rota</a></li>", "<li><a href='/plan.zip'>Plans</a></li>"]
    links += [f"<li><a href='{other}/'>{name}</a></li>" for other, name in NAMES.items() if other != site]
    return f"<p>Welcome to {NAMES[site]}.</p><ul>{''.join(links)}</ul>"


def minutes(path: str, day: int) -> tuple[str, str] | None:
    """The list of minutes, or one of them: the council meets every two weeks."""
    meetings = range(FIRST_MINUTES, day + 1, MINUTES_EVERY)
    if path == "/minutes":
        items = "".join(f"<li><a href='/minutes/{n}'>Meeting of [[{at}]]</a></li>" for n, at in enumerate(meetings))
        return "Council minutes", f"<p>Minutes are published on the day of the meeting.</p><ul>{items}</ul>"
    number = path.removeprefix("/minutes/")
    if not number.isdigit() or int(number) >= len(meetings):
        return None
    at = meetings[int(number)]
    return (
        f"Minutes of meeting {241 + int(number)}",
        f"<p>Present on [[{at}]]: the mayor, 13 councillors and 22 guests.</p><p>{DECISIONS[int(number)]}</p>"
        "<p>The meeting ended at 20:40.</p>",
    )


def calendar(year: int, month: int) -> str:
    """A month that leads to the next one without end."""
    later = f"{year + month // 12}-{month % 12 + 1:02}"
    return f"<p>Nothing is planned in this month.</p><p><a href='/calendar/{later}'>Next month</a></p>"


def robots(site: str) -> bytes:
    listed = f"Sitemap: {site}/sitemap.xml\n" if site == MUSEUM else ""
    return f"User-agent: *\nDisallow: /intern/\nCrawl-delay: 2\n{listed}".encode()


def sitemap(day: int, begin: datetime) -> bytes:
    """Every page of the museum with the day of its last edit."""
    listed = ""
    for url, story in PAGES.items():
        if url.startswith(MUSEUM) and story.first <= day < story.gone:
            last = max((edit.day for edit in story.edits if edit.day <= day), default=story.first)
            listed += f"<url><loc>{url}</loc><lastmod>{begin + timedelta(days=last):%Y-%m-%d}</lastmod></url>"
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'.encode()


def long_date(begin: datetime, day: int) -> str:
    at = begin + timedelta(days=day)
    return f"{at.day} {at:%B}"
