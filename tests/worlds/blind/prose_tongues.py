"""Prose of the visible sites in German, French, Spanish, Russian and Japanese."""

from __future__ import annotations

from tests.worlds.blind.prose import Prose
from tests.worlds.blind.tongues import FRENCH, GERMAN, RUSSIAN, SPANISH

CLUB = Prose(
    months=GERMAN.months,
    titles=(
        "{feast} in {place}",
        "Bericht: {feast} {year}",
        "Unsere {group}",
        "Neues aus der {group}",
        "{place} und seine Geschichte",
        "Einladung zum {feast}",
    ),
    headings=("Rückblick", "Ausblick", "Termine", "Anfahrt", "Beiträge", "Ansprechpartner", "Geschichte"),
    slots={
        "feast": ("Sommerfest", "Kirchweihmarkt", "Chorkonzert", "Wandertag", "Adventsbasar", "Vereinsabend"),
        "place": ("Oberau", "Mittelstetten", "Wiesbach", "Hinterzell", "Lindach", "Neuhofen", "Altenried"),
        "group": ("Jugendgruppe", "Blaskapelle", "Frauenrunde", "Wanderabteilung", "Gymnastikriege"),
        "thing": ("Gemeindesaal", "Sportplatz", "Pfarrgarten", "Vereinsheim", "Schützenhaus", "Glockenturm"),
        "person": ("Pfarrer Huber", "Frau Schuster", "der Vorstand", "Herr Lechner", "die Kassenwartin"),
        "adj": ("gelungen", "gut besucht", "verregnet", "feierlich", "ausverkauft"),
    },
    patterns=(
        "{person} dankte allen {n} Helfern in {place}.",
        "Der {thing} wird bis zum {date} renoviert.",
        "Die {group} trifft sich jeden Mittwoch im {thing}.",
        "Das {feast} war trotz des Wetters {adj}.",
        "Der Beitrag beträgt künftig {n} Euro im Jahr.",
        "Seit {year} gibt es die {group} in {place}.",
        "Anmeldungen nimmt {person} bis zum {date} entgegen.",
        "Es kamen {n} Gäste, darunter viele aus {place}.",
        "Für den {thing} fehlen noch {n} Euro.",
        "Im Anschluss lädt die {group} in den {thing} ein.",
        "{person} berichtete über die Arbeiten am {thing}.",
        "Das nächste {feast} findet am {date} statt.",
    ),
)

KITCHEN_FR = Prose(
    months=FRENCH.months,
    titles=(
        "{dish} aux {item}",
        "{dish} de {person}",
        "{dish} façon {region}",
        "{dish} et {item} au four",
        "La vraie recette : {dish}",
    ),
    headings=("Ingrédients", "Préparation", "Conseils", "Conservation", "Accompagnement"),
    slots={
        "dish": ("gratin", "velouté", "tarte salée", "blanquette", "galette", "ragoût", "clafoutis", "soufflé"),
        "item": ("poireaux", "pommes", "lentilles", "noisettes", "champignons", "navets", "figues", "épinards"),
        "region": ("savoyarde", "bretonne", "provençale", "alsacienne", "basque", "normande"),
        "person": ("grand-mère", "tante Odile", "la voisine", "Marcel"),
        "tool": ("une cocotte", "un saladier", "une poêle", "un plat à four", "une casserole"),
    },
    patterns=(
        "Faites revenir les {item} dans {tool} pendant {n} minutes.",
        "Versez le tout dans {tool} et mélangez bien.",
        "Ajoutez {n} g de {item} coupés en dés.",
        "La version {region} se prépare sans {item}.",
        "Enfournez à 180 °C pendant {n} minutes.",
        "Servez la préparation avec des {item}.",
        "Ma {dish} préférée vient d'une recette de {year}.",
        "Laissez reposer dans {tool} toute la nuit.",
        "Les {item} doivent rester un peu fermes.",
        "On peut remplacer les {item} par des {item}.",
    ),
)

PRESS_ES = Prose(
    months=SPANISH.months,
    titles=(
        "{who} aprueba {thing} en {place}",
        "{place} estrena {thing}",
        "Polémica por {thing} en {place}",
        "{who} aplaza {thing}",
        "Las claves de {thing} en {place}",
        "{person}: «No habrá {thing} este año»",
    ),
    headings=("Antecedentes", "Reacciones", "El coste", "Próximos pasos", "Cronología"),
    slots={
        "who": ("El Ayuntamiento", "La Junta", "El Ministerio", "La Diputación", "El Consorcio"),
        "thing": (
            "el nuevo puente",
            "la línea de tranvía",
            "el hospital comarcal",
            "el mercado central",
            "la reforma del puerto",
            "el plan de vivienda",
        ),
        "place": ("Vigo", "Almansa", "Teruel", "la comarca", "Cartagena", "el valle del Jerte", "Lugo"),
        "person": ("La alcaldesa", "El portavoz", "La consejera", "El gerente", "Un vecino"),
        "verb": ("rechazó", "defendió", "anunció", "criticó", "celebró"),
    },
    patterns=(
        "{person} {verb} {thing} ante {n} asistentes.",
        "{who} destinará {n} millones a {thing}.",
        "Las obras en {place} comenzaron en {year} y siguen paradas.",
        "{person} {verb} que {thing} abra antes del {date}.",
        "En {place} viven unas {n} familias afectadas.",
        "{who} no ha respondido a las preguntas de este diario.",
        "El informe señala {n} deficiencias en {thing}.",
        "Según {who}, {thing} estará listo el {date}.",
        "La oposición {verb} la medida en {place}.",
        "Hasta entonces habrá {n} autobuses de refuerzo.",
        "No es la primera vez que {who} aplaza {thing}.",
    ),
)

TALK_RU = Prose(
    months=RUSSIAN.months,
    titles=(
        "Не работает {thing}",
        "Как выбрать {thing}?",
        "{thing} в {place}: опыт и вопросы",
        "Ремонт: {thing}",
        "Посоветуйте {thing} для дачи",
        "{thing} после зимы",
    ),
    headings=("Описание", "Решение", "История", "Характеристики"),
    slots={
        "thing": ("насос", "генератор", "котёл", "теплица", "компрессор", "инвертор", "бензопила"),
        "place": ("Твери", "Карелии", "Подмосковье", "Перми", "Новгороде", "деревне"),
        "part": ("фильтр", "клапан", "подшипник", "датчик", "ремень", "провод", "сальник"),
        "state": ("потёк", "заклинило", "перегрелся", "сгорел", "скрипит", "отошёл"),
        "price": ("рублей", "тысяч", "за штуку"),
    },
    patterns=(
        "У меня {thing} работает уже {n} дней без остановки.",
        "Проверьте {part}, скорее всего он {state}.",
        "Купил в {place} за {n} рублей и не жалею.",
        "С {year} года ничего не менялось, только {part} другой.",
        "Если {part} {state}, то {thing} лучше не включать.",
        "В {place} такой {part} не найти.",
        "Мастер сказал, что {thing} прослужит ещё {n} лет.",
        "Сначала снимите {part}, потом проверьте {part}.",
        "Давление упало до {n}, а {part} целый.",
        "Кто-нибудь ставил {thing} в {place}?",
        "Спасибо, дело было в том, что {part} {state}.",
    ),
)

GOODS_JA = Prose(
    glue="",
    titles=("{region}産{item}{n}g", "{adj}{item}セット", "{item}と{item}の詰め合わせ", "{region}の{adj}{item}"),
    headings=("商品説明", "原材料", "お召し上がり方", "保存方法", "お届けについて"),
    slots={
        "item": ("緑茶", "味噌", "昆布", "羊羹", "そば", "梅干し", "海苔", "醤油"),
        "region": ("宇治", "信州", "北海道", "瀬戸内", "能登", "薩摩", "紀州"),
        "adj": ("特選", "無添加", "手作り", "季節の", "老舗の", "有機"),
        "taste": ("香り", "甘み", "旨み", "渋み", "歯ごたえ"),
        "dish": ("お茶漬け", "鍋料理", "おにぎり", "お吸い物", "和え物"),
    },
    patterns=(
        "{region}で育てた{item}を{n}日間熟成しました。",
        "{adj}{item}の{taste}をお楽しみください。",
        "{dish}にも{dish}にもよく合います。",
        "創業{year}年の蔵で作っています。",
        "一袋に約{n}gの{item}が入っています。",
        "開封後は{n}日以内にお召し上がりください。",
        "{taste}が強く、{dish}に向いています。",
        "{region}の水と{item}だけを使いました。",
        "贈り物には{adj}{item}が人気です。",
        "{item}は涼しい場所で保存してください。",
    ),
)
