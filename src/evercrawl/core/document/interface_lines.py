"""Recognises short lines that the software of a site adds to the content: which results of how many are shown, that
nobody has commented yet, what is in the cart, other formats, and names of fields without values."""

from __future__ import annotations

import re

from evercrawl.core.document.word_lists import read_lists

_WORDS = {kind: "|".join(lines) for kind, lines in read_lists("evercrawl.core.document", "interface_words.txt").items()}
MAX_INTERFACE_LINE_CHARS = 120  # Longer lines are always kept.

# All repetitions are bounded, so that no text takes more than linear time.
_NUMBER = r"\d[\d.,'’\u00a0\u202f]{0,14}"
_WORD = r"[^\W\d]{1,24}"
_TO = r" ?(?:-|–|—|\.\.\.?|…|~|～|to|through|bis|à|al?|até|tot|till?|til|do|až|до)\s?"
_OF = "of|out of|von|sur|de|di|da|van|av|af|z|ze|od|din|dari|trong|από|из|з|من|מתוך"
_RANGE = re.compile(
    # "Results 1 – 12 of 40", "(1-12/40)", "showing 1 to 20 of 40 entries".
    rf"\(?(?:{_WORD}:? ){{0,3}}(?P<first>{_NUMBER}){_TO}(?P<last>{_NUMBER})"
    rf"(?: ?/ ?| (?:{_OF}) )(?P<all>{_NUMBER})(?: {_WORD})?\)?[.:]?",
    re.IGNORECASE,
)
_RESULTS = _WORDS["results"]
_RESULT_COUNT = re.compile(
    rf"(?:{_WORD} ){{0,2}}{_NUMBER} ?(?:(?:search |matching )?(?:{_RESULTS})\b|件|条结果|個結果|个结果|개의? ?결과)"
    rf"(?: {_WORD}){{0,4}}(?: ?[-–—,(:] ?(?:{_WORD} ){{1,2}}{_NUMBER}(?:{_TO}{_NUMBER})?\)?)?[.:]?",
    re.IGNORECASE,
)
_NOTHING_YET = re.compile(f"(?:{_WORDS['nothing yet']})", re.IGNORECASE)
_CART = f"(?:{_WORDS['carts']})"
_GOODS = (
    r"(?:items?|products?|articles?|artikel|produkte?|produits?|artículos?|productos?|prodott[oi]|articol[oi]|ite[mn]s?"
    r"|produtos?|producten|varor|varer|tuotetta|produkt\w{0,6}|termék|товар\w{0,6}|ürün)"
)
_IN_CART = re.compile(
    rf"{_NUMBER} {_GOODS}(?: {_WORD}){{1,3}} {_CART}\b[^!?]{{0,60}}"
    rf"|(?:{_WORD} ){{0,2}}{_CART}:? \(?{_NUMBER} {_GOODS}\)?[.:]?",
    re.IGNORECASE,
)
_EMPTY_CART = re.compile(rf"(?:{_WORD} ){{0,3}}{_CART} (?:{_WORD} ){{1,2}}{_WORD}[.!]*", re.IGNORECASE)
_FORMAT = (
    r"(?:atom|rss|csv|tsv|pdf|xml|json|html|xhtml|te?xt|xlsx?|ods|odt|docx?|epub|ics|ical|feeds?|print|markdown|rst)"
)
_OTHER_FORMATS = re.compile(
    r"(?:also available (?:in|as)|(?:download|export|this data) (?:as|to|in)|other formats?|auch verfügbar (?:in|als)"
    r"|(?:également )?disponible (?:en|au format)|(?:también )?disponible en)(?: other formats)?"
    rf":?(?:[ ,|/·]{{1,3}}{_FORMAT}){{0,12}}(?: \({_WORD}\))?\.?\Z",
    re.IGNORECASE,
)
_DISCLOSURE = re.compile(
    r"(?:expand|collapse|show|hide|toggle)(?: (?:all|more|less|full|the))?"
    r" (?:source(?: code)?|code|descriptions?|details|replies(?: by \w{1,24})?|comments|contents?|sidebar|menu)\Z",
    re.IGNORECASE,
)
_NO_PAGE_YET = re.compile(
    r"(?:create|erstelle|créer|crear?|criar|maak) (?:the|this|die|la|le|el|a|de) (?:page|article|seite|página|pagina)"
    r" [\"“„«‘'][^\"“”»’]{1,80}[\"“”»’']",
    re.IGNORECASE,
)
_FOLDER_ABOVE = re.compile(
    r"(?:\[?(?:to )?parent directory\]?|up to (?:parent|higher.level) directory)\Z", re.IGNORECASE
)
_STEPS = re.compile(rf"\[{_WORD} {_WORD}\](?: ?\[{_WORD}(?: {_WORD})?\]){{2,12}}")  # "[Date Prev][Date Next]…"
_EMPTY_FIELDS = re.compile(rf"(?:{_WORD}(?: {_WORD}){{0,2}} ?[:：] ?){{2,6}}")
_COUNTS = (_RESULT_COUNT, _IN_CART)
_NO_MATCHES = re.compile(r"(?:no )?results matching\b[\s\"'“”.:]{0,4}\Z", re.IGNORECASE)
_PHRASES = (_NO_MATCHES, _OTHER_FORMATS, _NOTHING_YET, _DISCLOSURE, _NO_PAGE_YET, _FOLDER_ABOVE)
# First letters of each of these phrases, in groups that "|" divides.
_STARTS = (
    "also|auch|disp|down|expo|othe|tamb|égal|coll|expa|hide|show|togg|aind|anco|any|aucu|aún|be t|bish|bisl|bli|brak"
    "|bądź|der|det|ei v|enco|endn|ennå|er z|es g|es s|geen|henü|il n|inga|inge|it h|még|no |noch|nog|non|não|pas|schr"
    "|sei|seja|sem|sii|soye|sé e|the |ther|this|toda|vær|wees|zatí|ännu|žádn|будь|комм|нема|нет|отзы|пока"
    "|resu|crea|cria|crée|erst|maak|pare|[par|[to|up t|まだ|尚无|尚無|暂无|暫無|还没|아직"
)
PHRASE_STARTS = frozenset(_STARTS.split("|"))
# The native pass leaves out a plain ASCII line with one of these starts unless it contains one of the words.
_ENDS = ("yet", "so far", "available", "data as")
NEEDED_WORDS = dict.fromkeys(("the ", "this", "ther"), _ENDS) | {"crea": ('"', "'")}
# The first two letters of words that stand behind the first number of a count.
COUNTED_STARTS = frozenset(word[:2] for word in f"{_RESULTS}|{_GOODS}|search|matching".replace("(?:", "").split("|"))
EMPTY_ENDS = ("empty", "leer", "vide", "vacío", "vuoto", "vazio", "leeg")
_DIGIT = re.compile(r"\d")


def without_interface_lines(text: str) -> str:
    """Return a text without lines that the software adds; unchanged if it has no others."""
    lines = text.split("\n")
    kept = [line for line in lines if len(line) > MAX_INTERFACE_LINE_CHARS or not is_interface_line(line)]
    return "\n".join(kept) if kept and len(kept) < len(lines) else text


def is_interface_line(line: str) -> bool:
    """Return whether a short line is not what a page is about but what its software says about it."""
    if line[-1:] in ":：" and _EMPTY_FIELDS.fullmatch(line):
        return True
    if line[:1] == "[" and _STEPS.fullmatch(line):
        return True
    start = line[:4].lower()
    may_be_phrase = start in PHRASE_STARTS or start[:3] in PHRASE_STARTS or start[:2] in PHRASE_STARTS
    if may_be_phrase and any(pattern.match(line) for pattern in _PHRASES):
        return True
    if _DIGIT.search(line) is None:
        return line.rstrip(".!").endswith(EMPTY_ENDS) and _EMPTY_CART.fullmatch(line) is not None
    shown = _RANGE.fullmatch(line)
    if shown is not None and _value(shown["first"]) <= _value(shown["last"]) <= _value(shown["all"]):
        return True
    return any(pattern.fullmatch(line) for pattern in _COUNTS)


def _value(number: str) -> int:
    return int("".join(filter(str.isdecimal, number)))
