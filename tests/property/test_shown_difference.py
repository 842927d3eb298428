"""Every place that reports a change of content shows each changed word with its neighbours, and nothing unchanged."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import escape, unescape
from itertools import pairwise
from random import Random
from typing import NamedTuple

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from evercrawl.cli.commands.versions import diff_lines
from evercrawl.collection.change_groups import describe_group
from evercrawl.collection.history import edits_outside
from evercrawl.core.alerts.html_message import MessageLinks
from evercrawl.core.alerts.message_format import MessageContent, atom_feed, html_text, message_fields, plain_text
from evercrawl.core.change.classify import compare
from evercrawl.core.change.grouping import group_changes
from evercrawl.core.change.text_diff import diff_text, is_visible, join_moves
from evercrawl.core.document.html import parse_document
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, EventKind, PendingEvent
from evercrawl.model.change import Change, ChangeClass, VersionDiff, VersionMark
from evercrawl.model.listing import ChangeRecord
from evercrawl.model.settings import ParseSettings
from evercrawl.web.protocols.atom_feeds import change_entry

URL = "https://harbour.example/news"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS = """
latin harbour ferry ticket council pier winter lantern market bridge garden captain letter window river
german Fähre Brücke Straßenfest Bürgermeister Öffnung Gärten Kapitän Fenster Flüsse Märkte Grüße Türme
cyrillic гавань паром билет совет причал зима фонарь рынок мост сад капитан письмо окно река
arabic ميناء عبارة تذكرة مجلس رصيف شتاء فانوس سوق جسر حديقة قبطان رسالة نافذة نهر
hindi बंदरगाह नौका टिकट परिषद घाट सर्दी लालटेन बाज़ार पुल बगीचा कप्तान पत्र खिड़की नदी
korean 항구 여객선 승차권 의회 부두 겨울 등불 시장 다리 정원 선장 편지 창문 강물
japanese 港 船着き場 切符 市役所 桟橋 冬 灯り 市場 橋 庭園 船長 手紙 窓 川
chinese 港口 渡轮 船票 议会 码头 冬天 灯笼 市场 桥梁 花园 船长 信件 窗户 河流 老城
hebrew נמל מעבורת כרטיס מועצה רציף חורף פנס שוק גשר גן קפטן מכתב חלון נהר עיר
greek λιμάνι πλοίο εισιτήριο συμβούλιο προβλήτα χειμώνας φανάρι αγορά γέφυρα κήπος γράμμα παράθυρο ποτάμι
signs a<b R&D [x] {y} C++ $5 50% -v --all x_y `code` "quoted" (paren) https://a.test/x?y=1&z=2 #7 @me <tag> &amp; | \\
thai ท่าเรือ เรือข้ามฟาก ตั๋ว สภา สะพาน ฤดูหนาว โคมไฟ ตลาด สวน กัปตัน จดหมาย หน้าต่าง แม่น้ำ
"""
WORDS = {line.split()[0]: line.split()[1:] for line in _WORDS.strip().splitlines()}
JOINTS = {"japanese": "", "chinese": "", "thai": ""}  # Scripts without spaces.
UNIQUE = "ʘ"  # In words that occur once.
ENDINGS = ["", "", "", "", ",", "."]


class Block(NamedTuple):
    """One block of a page: its element, and its words."""

    kind: str
    words: tuple[str, ...]
    joint: str = " "

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Return the words from one place to another."""
        return self.joint.join(self.words[start:end])


class Expected(NamedTuple):
    """A changed word between its neighbours, as one version has it."""

    sign: str
    text: str


def word(chance: Random, script: str, number: int | None = None) -> str:
    """Return a word of the script; with a number, one that occurs nowhere else."""
    base = chance.choice(WORDS[script])
    return (
        base + chance.choice(ENDINGS)
        if number is None
        else f"{base}{UNIQUE}{chr(97 + number // 26)}{chr(97 + number % 26)}"
    )


def page_blocks(chance: Random, script: str) -> list[Block]:
    """Return the blocks of a page: prose, now and then very long, lists, tables, definitions, code and quotations."""
    kinds = ["p", "p", "p", "h2", *chance.choices(["li", "oli", "linked", "td", "dd", "pre", "blockquote", "p"], k=2)]
    joint = JOINTS.get(script, " ")
    blocks = [Block("h1", tuple(word(chance, script) for _ in range(4)), joint)]
    for _ in range(chance.randint(4, 14)):
        kind = chance.choice(kinds)
        most = 4000 if chance.random() < 0.03 else 300
        count = {"p": chance.choice([3, 12, 60, most]), "h2": 4, "dd": 8, "pre": 20, "blockquote": 20}.get(kind, 6)
        if kind in ("li", "oli"):
            count = chance.choice([1, 3, 6, 30])
        words = tuple(word(chance, script) for _ in range(count))
        # Some blocks repeat an earlier one.
        blocks.append(Block(kind, chance.choice(blocks).words if chance.random() < 0.1 else words, joint))
    return blocks


def html_of(blocks: list[Block]) -> str:
    """Return the page; adjacent blocks of one kind are one list or table."""
    parts: list[str] = []
    wrappers = {"li": "ul", "linked": "ul", "oli": "ol", "td": "table", "dd": "dl"}
    previous = ""
    for block in blocks:
        wrapper = wrappers.get(block.kind, "")
        if wrapper != previous:
            parts += [f"</{previous}>" if previous else "", f"<{wrapper}>" if wrapper else ""]
        previous = wrapper
        parts.append(_element(block))
    parts.append(f"</{previous}>" if previous else "")
    return (
        "<!doctype html><html><head><title>Harbour news</title></head><body>"
        f"<main>{''.join(parts)}</main></body></html>"
    )


def _element(block: Block) -> str:
    text = escape(block.text())
    match block.kind:
        case "linked":
            return f'<li><a href="/item/{escape(block.words[0])}">{text}</a></li>'
        case "oli":
            return f"<li>{text}</li>"
        case "td":
            half = len(block.words) // 2
            cells = escape(block.text(0, half)), escape(block.text(half))
            return f"<tr><td>{cells[0]}</td><td>{cells[1]}</td></tr>"
        case "dd":
            return f"<dt>{escape(block.words[0])}</dt><dd>{text}</dd>"
        case _:
            return f"<{block.kind}>{text}</{block.kind}>"


class Versions(NamedTuple):
    """Two versions of a page, and what must be shown of their difference."""

    old: list[Block]
    new: list[Block]
    expected: list[Expected]


def edited(chance: Random, blocks: list[Block], script: str) -> Versions:
    """Return the page before and after some edits: of words anywhere, of whole blocks, several in one block."""
    pairs: list[tuple[Block | None, Block | None]] = [(block, block) for block in blocks]
    expected: list[Expected] = []
    number = 0
    for place in chance.sample(range(len(blocks)), k=min(len(blocks), chance.randint(1, 4))):
        block = blocks[place]
        marked = block._replace(words=(*block.words[:2], word(chance, script, number), *block.words[2:]))
        match chance.randrange(8):
            case 0:
                pairs[place] = (marked, None)
                expected.append(Expected("-", _around(marked, 2)))
            case 1:
                pairs[place] = (None, marked)
                expected.append(Expected("+", _around(marked, 2)))
            case _:
                pairs[place], found = _edited_words(chance, block, script, number + 1)
                expected += found
        number += 12
    old, new = ([pair[side] for pair in pairs] for side in (0, 1))
    if chance.random() < 0.3:
        _swap_entries(chance, new)
    return Versions([one for one in old if one is not None], [one for one in new if one is not None], expected)


def _swap_entries(chance: Random, blocks: list[Block | None]) -> None:
    """Exchange two entries of lists, or two rows, without edits."""
    kind = chance.choice(["li", "oli", "linked", "td", "dd"])
    places = [at for at, one in enumerate(blocks) if one and one.kind == kind and UNIQUE not in "".join(one.words)]
    if len(places) > 1:
        one, other = chance.sample(places, 2)
        blocks[one], blocks[other] = blocks[other], blocks[one]


def _edited_words(chance: Random, block: Block, script: str, number: int) -> tuple[tuple[Block, Block], list[Expected]]:
    """Return a block with one to three words changed."""
    before, after = list(block.words), list(block.words)
    changes = sorted(
        chance.sample(range(len(block.words)), k=min(len(block.words), chance.choice([1, 1, 1, 2, 3]))), reverse=True
    )
    for at in changes:
        action = chance.choice(["replace", "replace", "insert", "delete" if len(after) > 1 else "replace"])
        if action != "insert":
            before[at] = word(chance, script, number)
        if action == "insert":
            after.insert(at, word(chance, script, number + 1))
        elif action == "replace":
            after[at] = word(chance, script, number + 1)
        else:
            del after[at]
        number += 2
    pair = block._replace(words=tuple(before)), block._replace(words=tuple(after))
    expected = [
        Expected(sign, _around(side, at))
        for sign, side in zip("-+", pair, strict=True)
        for at, one in enumerate(side.words)
        if UNIQUE in one
    ]
    return pair, expected


def _around(block: Block, at: int) -> str:
    """Return a word between its neighbours in the same element."""
    half = len(block.words) // 2 if block.kind == "td" else 0
    start, end = (0, half) if at < half else (half, len(block.words))
    return block.text(max(start, at - 1), min(end, at + 2))


def side_of_marked(text: str, sign: str) -> str:
    """Return one version of lines with [-removed-] and {+added+} words, or with a sign in front."""
    other = {"-": r"\{\+.*?\+\}", "+": r"\[-.*?-\]"}[sign]
    lines = [line for line in text.splitlines() if not line.lstrip().startswith({"-": "+ ", "+": "- "}[sign])]
    return _spaces(re.sub(r"\[-|-\]|\{\+|\+\}", "", re.sub(other, "", "\n".join(lines))))


def side_of_html(html: str, sign: str) -> str:
    """Return one version of text with del and ins elements."""
    other = {"-": "ins", "+": "del"}[sign]
    assert "[-" not in html
    assert "{+" not in html
    shown = re.sub(rf"<{other}\b.*?</{other}>", "", html, flags=re.DOTALL)
    return _spaces(unescape(re.sub(r"<[^>]*>", "", shown)))


def side_of_plain(text: str, sign: str) -> str:
    """Return the lines of one version in a message, without the stars around changed words."""
    mark = {"-": "− ", "+": "+ "}[sign]
    return _spaces("\n".join(line for line in text.splitlines() if line.startswith(mark)).replace("*", ""))


def check_pairs(shown: str) -> None:
    """Check that nothing is marked as removed and added again right beside it."""
    html = re.findall(r"<del\b[^>]*>(.*?)</del>\s*<ins\b[^>]*>(.*?)</ins>", shown, flags=re.DOTALL)
    marked = re.findall(r"\[-(.*?)-\]\{\+(.*?)\+\}", shown)
    lines = [
        (one[2:], two[2:]) for one, two in pairwise(shown.splitlines()) if one[:2] in ("− ", "- ") and two[:2] == "+ "
    ]
    for one, two in (*html, *marked, *lines):
        assert _spaces(one) != _spaces(two)


def _spaces(text: str) -> str:
    return " ".join(text.split())


def event_of(change: Change) -> Event:
    edits = tuple(edit for edit in change.edits if not edit.is_template)
    return Event(
        0, 1, 1, URL, EventKind.CONTENT, change.size, 1_790_000_000_000_000, 2, "News", edits, None, change.omitted
    )


def main_text(html: str) -> str:
    headers = (("content-type", "text/html; charset=utf-8"),)
    return parse_document(URL, headers, html.encode(), agent="evercrawl", limits=ParseSettings()).text


def shown_sides(before: str, after: str, change: Change) -> dict[str, dict[str, str]]:
    """Return what each place shows of both versions."""
    texts = [main_text(before), main_text(after)]
    edits = join_moves(diff_text(*texts).edits)
    marks = VersionMark(1, NOW), VersionMark(2, NOW)
    found = VersionDiff(URL, *marks, edits=edits, outside=edits_outside(change, edits, ()))
    difference = "\n".join(line.plain for line in diff_lines(found))
    (group,) = group_changes([(URL, change)])
    example = describe_group(group).example
    message = MessageContent(
        Alert("news", AlertFilter(), Destination(Channel.WEBHOOK, "me@example.org")),
        (PendingEvent(1, 0, event_of(change)),),
        MessageLinks("news", "news", "https://crawl.example"),
    )
    fields = message_fields(message, message_id="1", at_us=0)["changes"][0]["edits"]
    feed = change_entry(ChangeRecord(1, URL, 1_790_000_000_000_000, change), "https://crawl.example").content
    alert_feed = unescape(atom_feed(message, feed_id="urn:x").decode())
    for shown in (difference, example, html_text(message), plain_text(message).replace("*", ""), feed, alert_feed):
        check_pairs(shown)
    return {
        "diff": {sign: side_of_marked(difference, sign) for sign in "-+"},
        "changes": {sign: side_of_marked(example, sign) for sign in "-+"},
        "mail": {sign: side_of_html(html_text(message), sign) for sign in "-+"},
        "plain mail": {sign: side_of_plain(plain_text(message), sign) for sign in "-+"},
        "webhook": {
            "-": _spaces(" ".join(one["removed"] for one in fields)),
            "+": _spaces(" ".join(one["added"] for one in fields)),
        },
        "feed": {sign: side_of_html(feed, sign) for sign in "-+"},
        "feed of an alert": {sign: side_of_html(alert_feed, sign) for sign in "-+"},
    }


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(WORDS)))
@example(1056, "german")  # A very long text of few different words.
def test_every_changed_word_is_shown_with_its_neighbours(seed: int, script: str) -> None:
    chance = Random(seed)
    old, new, expected = edited(chance, page_blocks(chance, script), script)
    assume(old != new)
    before, after = html_of(old), html_of(new)
    change = compare(before, after)
    assume(change.kind is ChangeClass.CONTENT)
    for name, sides in shown_sides(before, after, change).items():
        for sign, text in expected:
            shown = sides[sign] if script not in JOINTS else sides[sign].replace(" ", "")
            assert text in shown, f"seed {seed} {script}: {name} does not show {sign} {text!r}"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(WORDS)))
def test_no_edit_is_an_unchanged_pair(seed: int, script: str) -> None:
    chance = Random(seed)
    old, new, _ = edited(chance, page_blocks(chance, script), script)
    change = compare(html_of(old), html_of(new))
    for edit in change.edits:
        assert _spaces(edit.removed) != _spaces(edit.added)
        assert {run.sign for run in edit.words} & {"-", "+"}
    if change.kind is ChangeClass.CONTENT:
        assert change.edits
        (group,) = group_changes([(URL, change)])
        assert describe_group(group).example


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(set(WORDS) - set(JOINTS))))
def test_moved_paragraphs_are_shown(seed: int, script: str) -> None:
    chance = Random(seed)
    blocks = [Block("p", tuple(word(chance, script) for _ in range(30))) for _ in range(6)]
    moved = chance.randrange(1, 6)
    change = compare(html_of(blocks), html_of([*blocks[moved:], *blocks[:moved]]))
    assert change.kind is ChangeClass.CONTENT
    assert change.edits
    assert all(is_visible(edit) for edit in change.edits)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32), st.sampled_from(sorted(set(WORDS) - {*JOINTS, "signs"})), st.sampled_from(["link", "image"])
)
def test_changed_targets_are_shown(seed: int, script: str, kind: str) -> None:
    chance = Random(seed)
    label = f"{word(chance, script, 1)} {word(chance, script, 2)}"
    marks = {"link": f"<a href='/{{}}.pdf'>{label}</a>", "image": f"<img src='/{{}}.jpg' alt='{label}'>"}
    place = Block("p", tuple(word(chance, script) for _ in range(12)))
    html = html_of([*page_blocks(chance, script), place])
    before, after = (
        html.replace("</main>", f"<p>{place.text(0, 4)} {marks[kind].format(name)} {place.text(4)}</p></main>")
        for name in ("summer-plan", "winter-plan")
    )
    change = compare(before, after)
    assert change.kind is ChangeClass.CONTENT
    for name, sides in shown_sides(before, after, change).items():
        assert "summer-plan" in sides["-"], name
        assert "winter-plan" in sides["+"], name
        assert label in sides["+"], name
