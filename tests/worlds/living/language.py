"""Texts around the content of a living site in several languages, and the words of its content."""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import NamedTuple

from evercrawl.testing.sim_site import words


class Language(NamedTuple):
    """The wording of one site."""

    code: str
    counted: tuple[str, ...]
    """How readers are counted; {} is the number."""
    present: tuple[str, ...]
    aged: tuple[str, ...]
    """How old something is; {} is the number."""
    clock: tuple[str, ...]
    """{d} is the date, {t} the time."""
    months: tuple[str, ...]
    facts: tuple[str, ...]
    """Price, stock, release, phone."""
    stock: tuple[str, ...]
    menu: tuple[str, ...]
    also: str
    weather: str
    words: tuple[str, ...] = ()


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ENGLISH = Language(
    "en",
    ("Read {} times", "{} views", "Viewed {} times since 2009", "Visitors: {}"),
    ("{} users online", "{} people are viewing this page", "{} guests online now"),
    ("Updated {} minutes ago", "{} hours ago", "Last update {} min ago"),
    ("Page generated on {d} {t}", "It is {d}, {t}", "Last updated: {d} {t}", "{d} {t}"),
    _words("January February March April May June July August September October November December"),
    ("Price", "In stock", "Version", "Phone"),
    ("In stock", "Sold out", "Available next week", "Only a few left"),
    ("Home", "News", "Products", "Support", "About us", "Contact", "Careers", "Press"),
    "Read also",
    "Today: {} degrees, {}",
    _words(
        "council tram line harbour debate market square spring winter price bridge school library water lamp"
        " roots window kitchen walnut steel blade handle cache tile memory server limit policy the a of and"
        " in on with for under near after before is was will has had costs builds opens closes moves"
    ),
)
_GERMAN = Language(
    "de",
    ("Gelesen: {} mal", "{} Aufrufe", "{} Besucher seit 2009", "Dieser Beitrag wurde {} mal gelesen"),
    ("{} Nutzer online", "Zurzeit {} Besucher online", "{} Gäste sind gerade da"),
    ("Vor {} Minuten aktualisiert", "vor {} Stunden", "Letzte Änderung vor {} Minuten"),
    ("Seite erzeugt am {d} um {t} Uhr", "Stand: {d}, {t} Uhr", "Heute ist der {d}, {t} Uhr", "{d} {t}"),
    _words("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    ("Preis", "Lager", "Fassung", "Telefon"),
    ("Auf Lager", "Ausverkauft", "Nächste Woche lieferbar", "Nur noch wenige Stück"),
    ("Startseite", "Aktuelles", "Produkte", "Hilfe", "Über uns", "Kontakt", "Stellen", "Presse"),
    "Lesen Sie auch",
    "Heute: {} Grad, {}",
    _words(
        "der die das Rat Hafen Bahn Straße Markt Frühling Winter Brücke Schule Wasser Lampe Küche Fenster"
        " Stahl Klinge Griff Speicher Grenze Regel und oder mit ohne nach vor bei ist war wird hat kostet"
        " baut öffnet schließt zieht liegt neue alte große kleine viele wenige"
    ),
)
_FRENCH = Language(
    "fr",
    ("Lu {} fois", "{} vues", "{} lectures", "{} visiteurs depuis 2009"),
    ("{} visiteurs en ligne", "{} connectés"),
    ("Mis à jour il y a {} minutes", "il y a {} heures"),
    ("Page générée le {d} à {t}", "Nous sommes le {d}, il est {t}", "Dernière mise à jour : {d} {t}"),
    _words("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    ("Prix", "Disponibilité", "Édition", "Téléphone"),
    ("En stock", "Épuisé", "Disponible la semaine prochaine", "Plus que quelques pièces"),
    ("Accueil", "Actualités", "Produits", "Aide", "À propos", "Nous écrire", "Emplois", "Presse"),
    "À lire aussi",
    "Aujourd'hui : {} degrés, {}",
    _words(
        "le la les un une port tram ligne débat marché place printemps hiver pont école eau lampe cuisine"
        " acier lame manche mémoire limite règle et ou avec sans après avant chez est était sera coûte"
        " construit ouvre ferme nouvelle ancienne grande petite"
    ),
)
_RUSSIAN = Language(
    "ru",
    ("Просмотров: {}", "{} просмотров", "Прочитано {} раз"),
    ("Сейчас онлайн: {}", "Посетителей на сайте: {}"),
    ("Обновлено {} минут назад", "{} часа назад"),
    ("Страница сгенерирована {d} {t}", "Сегодня {d}, {t}", "Обновлено: {d} {t}"),
    _words("января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
    ("Цена", "Наличие", "Версия", "Телефон"),
    ("В наличии", "Нет в наличии", "Будет на следующей неделе", "Осталось мало"),
    ("Главная", "Новости", "Товары", "Помощь", "О нас", "Контакты", "Вакансии", "Пресса"),
    "Читайте также",
    "Сегодня: {} градусов, {}",
    _words(
        "город порт трамвай линия спор рынок площадь весна зима мост школа вода лампа кухня сталь клинок"
        " ручка память предел правило и или с без после до у был будет стоит строит открывает новый старый"
        " большой малый"
    ),
)
_JAPANESE = Language(
    "ja",
    ("閲覧数 {}", "{}回閲覧されました"),
    ("現在{}人がオンライン", "オンライン: {}人"),
    ("{}分前に更新", "{}時間前"),
    ("最終更新 {d} {t}", "{d} {t} 現在", "生成日時: {d} {t}"),
    (),
    ("価格", "在庫", "版", "電話"),
    ("在庫あり", "売り切れ", "来週入荷", "残りわずか"),
    ("ホーム", "ニュース", "製品", "サポート", "会社概要", "お問い合わせ", "採用", "プレス"),
    "関連記事",
    "今日: {}度 {}",
    _words(
        "市議会 港 路面電車 議論 市場 広場 春 冬 価格 橋 学校 図書館 水 灯り 台所 窓 鋼 刃 柄 記憶 上限 規則"
        " は が を に で と の から まで 新しい 古い 大きい 小さい 建てる 開く 閉じる 動く 多い"
    ),
)
REAL_TONGUES = (_ENGLISH, _GERMAN, _FRENCH, _RUSSIAN, _JAPANESE)


def make_language(chance: Random, seed: int) -> Language:
    """Return one of the languages, or an unknown one, whose wording can only be learned."""
    at = chance.randrange(len(REAL_TONGUES) + 1)
    return REAL_TONGUES[at] if at < len(REAL_TONGUES) else _unknown(chance, seed)


def _unknown(chance: Random, seed: int) -> Language:
    stock = words(seed)[100:]

    def some(count: int) -> str:
        return " ".join(chance.sample(stock, count)).capitalize()

    return Language(
        "x-sim",
        (f"{some(1)} {{}} {some(1).lower()}", f"{some(2)}: {{}}"),
        (f"{{}} {some(2).lower()}",),
        (f"{some(1)} {{}} {some(1).lower()}",),
        (f"{some(2)} {{d}} {{t}}", f"{some(1)}: {{t}}"),
        (),
        (some(1), some(1), some(1), some(1)),
        (some(2), some(1), some(3), some(2)),
        tuple(some(1 + chance.randrange(2)) for _ in range(8)),
        some(2),
        f"{some(1)}: {{}} {some(1).lower()}, {{}}",
        stock[:120],
    )


def sentence(chance: Random, own: Language) -> str:
    """Return a sentence of the content; without spaces in Japanese."""
    chosen = chance.choices(own.words, k=chance.randint(6, 14))
    if chance.random() < 0.3:
        chosen[chance.randrange(len(chosen))] = str(chance.randint(2, 900))
    if own.code == "ja":
        return "".join(chosen) + "。"
    return " ".join(chosen).capitalize() + "."


def date_text(own: Language, at: datetime, style: int) -> str:
    """Return a date in the format of the site."""
    if own.code == "ja":
        return f"{at.year}年{at.month}月{at.day}日"
    if own.months and style % 3 == 0:
        day = f"{at.day}." if own.code == "de" else str(at.day)
        return f"{day} {own.months[at.month - 1]} {at.year}"
    return at.strftime(("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y")[style % 3])


def count_text(number: int, style: int) -> str:
    """Return a number in the format of the site."""
    sign = (",", ".", " ", "'", "")[style % 5]
    return f"{number:,}".replace(",", sign)
