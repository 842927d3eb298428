"""Dates in text: in figures, in East Asian characters, and with the name of a month in 58 languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice
from unicodedata import normalize

MONTH_FIRST = frozenset({"en-us", "en-ph", "en-pr", "es-pr"})  # Languages of pages that write 11/18/2026.
MAX_DATE_CHARS = 60  # From the first to the last character of a date with a name.
MAX_FILLER_CHARS = 6  # Of a word between its parts, such as "de" and "gada".
_BUDDHIST_YEARS = range(2400, 2700)  # Thai pages count from 543 years earlier.
_ISO = re.compile(r"(?<!\d)(\d{4})(?:[-/]|\.\s?)(\d{1,2})(?:[-/]|\.\s?)(\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.,])(\d{1,2})([./-])\s?(\d{1,2})(?:\2\s?|\s(?=\d{4}))(\d{4}|\d{2})(?!\d)")
_EAST_ASIAN = re.compile(r"(令和\s?\d{1,2}|\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_VIETNAMESE = re.compile(r"(?<!\d)(\d{1,2})\s(?:tháng|thg)\s(\d{1,2}),?(?:\snăm)?\s(\d{4})(?!\d)", re.IGNORECASE)
_HAS_YEAR = re.compile(r"\d{4}")
_PART = re.compile(
    r"(?<!\d)\d{1,4}(?!\d)|[\u0e00-\u0e7f]+(?:\.[\u0e00-\u0e7f]+)*|[^\W\d_][^\s\d.,،;:/()\[\]|–—_-]{0,20}"
)
_BETWEEN = re.compile(r"[\s.,،/()'’°ºª-]{0,4}")
_Dated = tuple[int, date, int]  # A date with its start and end.
_Part = tuple[str, int, int]  # A word or number with its start and end.


def first_date(text: str, lang: str = "") -> date | None:
    """Return the first date of a text; `3/4/2026` is read as the language does, unless only the other is a date."""
    found = min(dates_in(text, lang), key=lambda one: one[0], default=None)
    return found[1] if found is not None else _mail_date(text)


def dates_in(text: str, lang: str = "") -> Iterator[_Dated]:
    """Yield the first date of each form in a text."""
    for pattern in (_ISO, _EAST_ASIAN, _VIETNAMESE, _NUMERIC):
        for found in pattern.finditer(text):
            if (day := _date_of(pattern, found, lang in MONTH_FIRST)) is not None:
                yield found.start(), day, found.end()
                break
    if _HAS_YEAR.search(text) is not None:
        yield from islice(_named_dates(text, lang.partition("-")[0]), 1)


def _date_of(pattern: re.Pattern[str], found: re.Match[str], is_month_first: bool) -> date | None:
    if pattern is _NUMERIC:
        day, month = (found[3], found[1]) if is_month_first and found[2] == "/" else (found[1], found[3])
        year = found[4] if len(found[4]) == 4 else f"20{found[4]}"
        return _date(year, month, day) or _date(year, day, month)
    if pattern is _VIETNAMESE:
        return _date(found[3], found[2], found[1])
    year = str(2018 + int(found[1][2:])) if found[1].startswith("令和") else found[1]
    return _date(year, found[2], found[3])


def _named_dates(text: str, lang: str) -> Iterator[_Dated]:
    """Yield the dates whose month is a word: 5 March 2026, March 5, 2026, and 2026 March 5, also with short words
    between the parts."""
    parts: list[_Part] = [(found[0], found.start(), found.end()) for found in _PART.finditer(text)]
    for at, (word, _, _) in enumerate(parts):
        month = 0 if word[0].isdecimal() else month_number(word, lang)
        if not month:
            continue
        before, after = _number_beside(text, parts, at, -1), _number_beside(text, parts, at, 1)
        second = _number_beside(text, parts, after, 1) if after is not None else None
        first = _number_beside(text, parts, before, -1) if before is not None else None
        for day, year in ((before, after), (after, second), (after, before), (before, first)):
            if day is None or year is None or len(parts[year][0]) != 4 or len(parts[day][0]) > 2:
                continue
            chosen = [parts[at], parts[day], parts[year]]
            start, end = min(one[1] for one in chosen), max(one[2] for one in chosen)
            found = _date(parts[year][0], month, parts[day][0])
            if found is not None and end - start <= MAX_DATE_CHARS:
                yield start, found, end
                break


def _number_beside(text: str, parts: list[_Part], at: int, step: int) -> int | None:
    """Return the place of the next number, if just short words are between."""
    for place in range(at + step, at + 4 * step, step):
        if not 0 <= place < len(parts):
            return None
        first, last = sorted((place, place - step))
        if _BETWEEN.fullmatch(text, parts[first][2], parts[last][1]) is None:
            return None
        if parts[place][0][0].isdecimal():
            return place
        if len(parts[place][0]) > MAX_FILLER_CHARS:
            return None
    return None


def _date(year: str, month: str | int, day: str) -> date | None:
    number = int(year)
    try:
        return date(number - 543 if number in _BUDDHIST_YEARS else number, int(month), int(day))
    except ValueError:
        return None


def _mail_date(text: str) -> date | None:
    try:
        return parsedate_to_datetime(text.strip()).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


# Names of months, from January on; other forms of a name after a slash. Pages also write their first letters alone.

_MONTHS = {
    "en": "january february march april may june july august september october november december",
    "de": "januar/jänner februar märz/maerz april mai juni juli august september oktober november dezember",
    "fr": "janvier février/fevrier mars avril mai juin juillet août/aout septembre octobre novembre "
    "décembre/decembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre "
    "diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março/marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "ca": "gener febrer març abril maig juny juliol agost/ag setembre octubre novembre desembre",
    "nl": "januari februari maart/mrt april mei juni juli augustus september oktober november december",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "da": "januar februar/feber marts april maj juni juli august september oktober november december",
    "pl": "stycznia/styczeń lutego/luty marzec/marca kwietnia/kwiecień maja czerwiec/czerwca lipiec/lipca "
    "sierpnia/sierpień września/wrzesień października listopada grudzień/grudnia",
    "cs": "ledna/leden února března/březen dubna/duben května/květen června/červen/čvn "
    "července/červenec/čvc srpna/srpen září října/říjen listopadu prosince/prosinec",
    "ru": "января/январь февраля/февраль/фев марта апреля/апрель мая/май июня/июнь июля/июль августа "
    "сентября/сентябрь/сен октября/октябрь ноября/ноябрь/ноя декабря/декабрь",
    "fi": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta "
    "lokakuuta marraskuuta joulukuuta",
    "nb": "januar februar mars april mai juni juli august september oktober november desember",
    "is": "janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember",
    "et": "jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember",
    "lv": "janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris "
    "decembris",
    "lt": "sausio/sausis vasario/vasaris kovas/kovo balandžio/balandis gegužės birželio/birželis "
    "liepos/liepa rugpjūčio/rugpjūtis rugsėjis/rugsėjo spalio/spalis lapkričio/lapkritis "
    "gruodžio/gruodis",
    "sk": "januára februára marca/marec apríla mája júna júla augusta septembra/september októbra/október "
    "novembra/november decembra/december",
    "sl": "januar februar marec april maj junij julij avgust september oktober november december",
    "hr": "siječnja/siječanj veljače/veljača ožujka/ožujak travnja/travanj svibnja/svibanj lipnja/lipanj "
    "srpnja/srpanj kolovoza rujna/rujan listopada studenoga/studeni prosinca/prosinac",
    "sr": "јануар/januar фебруар/februar март/mart април/april мај/maj јун/jun јул/jul август/avgust "
    "септембар/septembar октобар/oktobar новембар/novembar децембар/decembar",
    "bs": "januar februar mart april maj juni juli august septembar oktobar novembar decembar",
    "bg": "януари февруари март април май юни юли август септември октомври ноември декември",
    "mk": "јануари февруари март април мај јуни јули август септември октомври ноември декември",
    "uk": "січень/січня лютого/лютий березень/березня квітень/квітня травень/травня червень/червня "
    "липень/липня серпень/серпня вересень/вересня жовтень/жовтня листопада грудень/грудня",
    "be": "студзеня/студзень лютага/люты сакавіка красавіка мая/май чэрвеня/чэрвень ліпеня/ліпень "
    "жнівень/жніўня верасень/верасня кастрычніка лістапада снежань/снежня",
    "ro": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie/nov "
    "decembrie",
    "hu": "január február március április május június július augusztus szeptember október november "
    "december",
    "el": "ιανουαρίου/ιανουάριοσ φεβρουαρίου/φεβρουάριοσ μαρτίου/μάρτιοσ απριλίου/απρίλιοσ μαΐου/μάιοσ "
    "ιουνίου/ιούνιοσ ιουλίου/ιούλιοσ αυγούστου/αύγουστοσ σεπτεμβρίου/σεπτέμβριοσ οκτωβρίου/οκτώβριοσ "
    "νοεμβρίου/νοέμβριοσ δεκεμβρίου/δεκέμβριοσ",
    "tr": "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "az": "yanvar fevral mart aprel may iyun/iyn iyul/iyl avqust sentyabr oktyabr noyabr dekabr",
    "kk": "қаңтар ақпан наурыз сәуір мамыр маусым шілде тамыз қыркүйек қазан қараша желтоқсан",
    "uz": "yanvar fevral mart aprel may iyun/iyn iyul/iyl avgust sentabr oktabr noyabr dekabr",
    "ka": "იანვარი თებერვალი მარტი აპრილი მაისი ივნისი ივლისი აგვისტო სექტემბერი ოქტომბერი ნოემბერი "
    "დეკემბერი",
    "hy": "հունվարի/հնվ փետրվարի/փտվ մարտի/մրտ ապրիլի մայիսի/մյս հունիսի/հնս հուլիսի/հլս օգոստոսի/օգս "
    "սեպտեմբերի հոկտեմբերի նոյեմբերի դեկտեմբերի",
    "sq": "janar shkurt mars prill maj qershor korrik gusht shtator tetor nëntor dhjetor",
    "eu": "urtarrila otsaila martxoa apirila maiatza ekaina uztaila abuztua iraila urria azaroa abendua",
    "gl": "xaneiro febreiro marzo abril maio xuño xullo agosto setembro outubro novembro decembro",
    "cy": "ionawr chwefror mawrth ebrill mai mehefin gorffennaf awst medi hydref tachwedd rhagfyr",
    "ga": "eanáir feabhra márta aibreán bealtaine meitheamh iúil lúnasa mfómh dfómh samhain nollaig",
    "sw": "januari februari machi aprili mei juni julai agosti septemba oktoba novemba desemba",
    "af": "januarie februarie maart/mrt april mei junie julie augustus september oktober november desember",
    "ar": "يناير فبراير/شباط مارس/آذار أبريل/ابريل/نيسان مايو/أيار يونيو/يونيه/حزيران "
    "يوليو/يوليوز/يوليه/تموز أغسطس/اغسطس/غشت/آب سبتمبر/شتنبر/أيلول أكتوبر/اكتوبر نوفمبر/نونبر "
    "ديسمبر/دجنبر",
    "fa": "ژانویهٔ فوریهٔ مارس آوریل مهٔ ژوئن ژوئیهٔ اوت سپتامبر اکتبر نوامبر دسامبر",
    "ur": "جنوری فروری مارچ اپریل مئی جون جولائی اگست ستمبر اکتوبر نومبر دسمبر",
    "he": "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
    "hi": "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
    "bn": "জানুয়ারী ফেব্রুয়ারী মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর",
    "ta": "ஜனவரி பிப்ரவரி மார்ச் ஏப்ரல் மே ஜூன் ஜூலை ஆகஸ்ட் செப்டம்பர் அக்டோபர் நவம்பர் டிசம்பர்",
    "te": "జనవరి ఫిబ్రవరి మార్చి ఏప్రిల్ మే జూన్ జులై ఆగస్టు సెప్టెంబర్ అక్టోబర్ నవంబర్ డిసెంబర్",
    "mr": "जानेवारी फेब्रुवारी मार्च एप्रिल मे जून जुलै ऑगस्ट सप्टेंबर ऑक्टोबर नोव्हेंबर डिसेंबर",
    "gu": "જાન્યુઆરી ફેબ્રુઆરી માર્ચ એપ્રિલ મે જૂન જુલાઈ ઑગસ્ટ સપ્ટેમ્બર ઑક્ટોબર નવેમ્બર ડિસેમ્બર",
    "th": "มกราคม/มค กุมภาพันธ์/กพ มีนาคม/มีค เมษายน/เมย พฤษภาคม/พค มิถุนายน/มิย กรกฎาคม/กค สิงหาคม/สค "
    "กันยายน/กย ตุลาคม/ตค พฤศจิกายน/พย ธันวาคม/ธค",
    "id": "januari februari maret april mei juni juli agustus september oktober november desember",
    "ms": "januari februari mac april mei jun julai ogos september oktober november disember",
    "fil": "enero pebrero marso abril mayo hunyo hulyo agosto setyembre oktubre nobyembre disyembre",
}  # fmt: skip
_COMMON = 14  # So many languages come first where a name means different months.


@lru_cache(maxsize=1000)
def month_number(word: str, lang: str = "") -> int:
    """Return the month that a word names in the language of a page, or else in any; 0: none."""
    plain = normalize("NFC", word.casefold().replace("i\u0307", "i")).rpartition("'")[2].replace(".", "").rstrip("׳॰")
    if lang in _MONTHS and plain in _starts_of(lang):
        return _starts_of(lang)[plain]
    found = _all_starts().get(plain, 0)
    return found or (_all_starts().get(plain[1:], 0) if plain[:1] == "ב" else 0)  # In Hebrew, "in March" is one word.


@lru_cache(maxsize=100)
def _starts_of(lang: str) -> dict[str, int]:
    """Return the names of a language, and their first letters where these name one month only."""
    names = [(name, month) for month, forms in enumerate(_MONTHS[lang].split(), 1) for name in forms.split("/")]
    starts = ((name[:size], month) for name, month in names for size in range(_least_letters(name), len(name)))
    return _unambiguous(starts) | dict(names)


def _least_letters(name: str) -> int:
    return 3 if name < "\u0590" else 2


def _unambiguous(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    months: dict[str, set[int]] = {}
    for name, month in found:
        months.setdefault(name, set()).add(month)
    return {name: next(iter(some)) for name, some in months.items() if len(some) == 1}


@lru_cache(maxsize=1)
def _all_starts() -> dict[str, int]:
    languages = list(_MONTHS)
    found = _unambiguous(one for lang in languages for one in _starts_of(lang).items())
    for lang in reversed(languages[:_COMMON]):
        found |= _starts_of(lang)
    return found
