"""The words of a site's interface: menus, ages, months, adverts and notices, per language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Tongue:
    """What the templates of one language say around the content."""

    code: str
    age: Callable[[float], str]
    short_age: Callable[[float], str]
    months: tuple[str, ...]
    menu: tuple[str, ...]
    extra_menu: tuple[str, ...]
    renamed: str
    footer: str
    new_footer: str
    notices: tuple[str, ...]
    cookies: tuple[str, ...]
    adverts: tuple[str, ...]
    names: tuple[str, ...]
    group: str = ","
    rtl: bool = False


def _steps(hours: float) -> tuple[str, int]:
    minutes = hours * 60
    if minutes < 1:
        return "now", 0
    if minutes < 60:
        return "min", int(minutes)
    if hours < 24:
        return "hour", int(hours)
    if hours < 24 * 7:
        return "day", int(hours / 24)
    if hours < 24 * 31:
        return "week", int(hours / 24 / 7)
    if hours < 24 * 365:
        return "month", int(hours / 24 / 30.4) or 1
    return "year", int(hours / 24 / 365)


def _ages(now: str, form: str, **units: tuple[str, ...]) -> Callable[[float], str]:
    """Build an age function from the forms of each unit: (one, many) or (one, few, many)."""

    def age(hours: float) -> str:
        unit, count = _steps(hours)
        if unit == "now":
            return now
        forms = units[unit]
        if len(forms) == 1:
            word = forms[0]
        elif len(forms) == 2:
            word = forms[0] if count == 1 else forms[1]
        else:
            last, two = count % 10, count % 100
            few = 2 <= last <= 4 and not 12 <= two <= 14
            word = forms[0] if last == 1 and two != 11 else forms[1] if few else forms[2]
        return form.format(f"{count} {word}" if not word.startswith("~") else f"{count}{word[1:]}")

    return age


def _short(minute: str, hour: str, day: str) -> Callable[[float], str]:
    def age(hours: float) -> str:
        if hours < 1:
            return f"{max(1, int(hours * 60))}{minute}"
        if hours < 24:
            return f"{int(hours)}{hour}"
        return f"{int(hours / 24)}{day}"

    return age


def moment_age(hours: float) -> str:
    """Write an age in words, as moment.js does."""
    unit, count = _steps(hours)
    if unit == "now":
        return "a few seconds ago"
    if count == 1:
        return {"min": "a minute ago", "hour": "an hour ago", "week": "a week ago"}.get(unit, f"a {unit} ago")
    return f"{count} {'minute' if unit == 'min' else unit}s ago"


def rails_age(hours: float) -> str:
    """Write an age with "about" and "less than", as Ruby on Rails does."""
    if hours < 0.75:
        minutes = int(hours * 60)
        return "less than a minute ago" if minutes < 1 else f"{minutes} minute{'s' * (minutes > 1)} ago"
    if hours < 24:
        rounded = max(1, round(hours))
        return f"about {rounded} hour{'s' * (rounded > 1)} ago"
    if hours < 48:
        return "yesterday"
    if hours < 24 * 30:
        return f"{int(hours / 24)} days ago"
    months = max(1, round(hours / 24 / 30.4))
    return f"about {months} month{'s' * (months > 1)} ago" if months < 12 else f"over {months // 12} years ago"


EN_NAMES = (
    "marlow",
    "tinker_bell7",
    "j.okafor",
    "Hedgehog",
    "quietstorm",
    "Anna Lindqvist",
    "bob_the_admin",
    "Sable",
    "peterv",
    "nina.rao",
    "OldTimer",
    "c0ffee",
    "Greta M.",
    "lfischer",
    "ratchet",
    "Ingrid",
    "samwise",
    "dvorak88",
    "mrs_hudson",
    "kowalski",
)

ENGLISH = Tongue(
    code="en",
    age=_ages(
        "just now",
        "{} ago",
        min=("minute", "minutes"),
        hour=("hour", "hours"),
        day=("day", "days"),
        week=("week", "weeks"),
        month=("month", "months"),
        year=("year", "years"),
    ),
    short_age=_short("m", "h", "d"),
    months=("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    menu=("Home", "Latest", "Browse", "Archive", "Members", "About", "Contact", "Help"),
    extra_menu=("Newsletter", "Jobs", "Gallery", "Support us"),
    renamed="Discover",
    footer="All rights reserved. Imprint and privacy policy apply.",
    new_footer="All rights reserved. Use of this site means you accept our new terms of service.",
    notices=(
        "Maintenance on Sunday night: the site will be read-only for two hours.",
        "We are moving to a new server next week. Please report problems.",
        "Our annual survey is open. Tell us what you think!",
    ),
    cookies=(
        "We use cookies to improve your experience. Accept all or choose settings.",
        "This website uses cookies. By continuing you agree.",
        "Your privacy matters to us and our 842 partners.",
    ),
    adverts=(
        "Save 40% on garden furniture this weekend",
        "Learn a language in 3 weeks",
        "Refinance your home today",
        "The shoes everyone is talking about",
        "Cloud hosting from $2.99 a month",
        "Meet singles over 50",
        "Win a trip to Madeira",
        "Why dentists hate this brush",
        "Compare car insurance in two minutes",
        "Solar panels: is your roof suitable?",
    ),
    names=EN_NAMES,
)

GERMAN = Tongue(
    code="de",
    age=_ages(
        "gerade eben",
        "vor {}",
        min=("Minute", "Minuten"),
        hour=("Stunde", "Stunden"),
        day=("Tag", "Tagen"),
        week=("Woche", "Wochen"),
        month=("Monat", "Monaten"),
        year=("Jahr", "Jahren"),
    ),
    short_age=_short(" Min.", " Std.", " Tg."),
    months=(
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ),
    menu=("Startseite", "Aktuelles", "Verein", "Termine", "Mitglieder", "Chronik", "Kontakt", "Impressum"),
    extra_menu=("Rundbrief", "Bildergalerie", "Spenden"),
    renamed="Über uns",
    footer="Alle Rechte vorbehalten. Es gelten Impressum und Datenschutzerklärung.",
    new_footer="Alle Rechte vorbehalten. Unsere Datenschutzerklärung wurde überarbeitet.",
    notices=(
        "Wartungsarbeiten: Am Sonntag ist die Seite nicht erreichbar.",
        "Das Büro bleibt zwischen den Jahren geschlossen.",
        "Bitte beachten Sie unsere neue Umfrage.",
    ),
    cookies=("Diese Website verwendet Cookies. Mehr erfahren", "Wir schätzen Ihre Privatsphäre. Alle akzeptieren"),
    adverts=(
        "Jetzt Stromtarif vergleichen",
        "Treppenlift ab 79 Euro im Monat",
        "Gartenmöbel stark reduziert",
        "Sprachreise gewinnen",
        "Hörgeräte zur Probe tragen",
        "Kredit mit Sofortzusage",
    ),
    names=("Waldi66", "S. Brandt", "hofmann_k", "Ute R.", "Gipfelstürmer", "Jens-Peter", "Mira", "moosbauer", "Lotte"),
    group=".",
)

FRENCH = Tongue(
    code="fr",
    age=_ages(
        "à l'instant",
        "il y a {}",
        min=("minute", "minutes"),
        hour=("heure", "heures"),
        day=("jour", "jours"),
        week=("semaine", "semaines"),
        month=("mois", "mois"),
        year=("an", "ans"),
    ),
    short_age=_short(" min", " h", " j"),
    months=("janv.", "févr.", "mars", "avril", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."),
    menu=("Accueil", "Actualités", "Agenda", "Culture", "Vie pratique", "La mairie", "Contact"),
    extra_menu=("Lettre d'information", "Marchés publics", "Galerie"),
    renamed="Nos services",
    footer="Tous droits réservés. Mentions légales et plan du site.",
    new_footer="Tous droits réservés. Nos mentions légales ont été mises à jour.",
    notices=(
        "Le site sera indisponible dimanche soir pour maintenance.",
        "Enquête : donnez votre avis sur notre site.",
    ),
    cookies=("Ce site utilise des cookies. Tout accepter", "Nous respectons votre vie privée."),
    adverts=(
        "Isolation à 1 euro : êtes-vous éligible ?",
        "Vos vacances en Bretagne dès 199 euros",
        "Changez d'assurance auto",
        "Cuisine équipée : moins 30 %",
        "Apprenez l'anglais en dormant",
    ),
    names=("Camille B.", "jeannot", "LaMouette", "P. Garnier", "sylvie22", "Théo", "brocoli", "Mme Lenoir"),
    group=" ",
)

SPANISH = Tongue(
    code="es",
    age=_ages(
        "ahora mismo",
        "hace {}",
        min=("minuto", "minutos"),
        hour=("hora", "horas"),
        day=("día", "días"),
        week=("semana", "semanas"),
        month=("mes", "meses"),
        year=("año", "años"),
    ),
    short_age=_short(" min", " h", " d"),
    months=("ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"),
    menu=("Portada", "Últimas noticias", "Economía", "Deportes", "Cultura", "Opinión", "Contacto"),
    extra_menu=("Boletín", "Vídeos", "Loterías"),
    renamed="Sociedad",
    footer="Todos los derechos reservados. Aviso legal y política de privacidad.",
    new_footer="Todos los derechos reservados. Hemos actualizado la política de privacidad.",
    notices=("El domingo haremos trabajos de mantenimiento.", "Participe en nuestra encuesta anual."),
    cookies=("Usamos cookies propias y de terceros. Aceptar", "Su privacidad nos importa."),
    adverts=(
        "Hipotecas desde el 1,9 %",
        "Vuelos a Canarias por 39 euros",
        "Gafas progresivas a mitad de precio",
        "Curso de cocina en línea",
        "Sofás con entrega gratis",
    ),
    names=("pepa_gz", "Lector de Vigo", "J. Molina", "maruja", "toni84", "Rocío", "elvasco"),
    group=".",
)

RUSSIAN = Tongue(
    code="ru",
    age=_ages(
        "только что",
        "{} назад",
        min=("минуту", "минуты", "минут"),
        hour=("час", "часа", "часов"),
        day=("день", "дня", "дней"),
        week=("неделю", "недели", "недель"),
        month=("месяц", "месяца", "месяцев"),
        year=("год", "года", "лет"),
    ),
    short_age=_short(" мин", " ч", " дн"),
    months=(
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ),
    menu=("Главная", "Новости", "Форум", "Статьи", "Объявления", "О проекте", "Контакты"),
    extra_menu=("Рассылка", "Фотогалерея", "Вакансии"),
    renamed="О нас",
    footer="Все права защищены. При перепечатке ссылка обязательна.",
    new_footer="Все права защищены. Обновлены правила пользования сайтом.",
    notices=("В воскресенье сайт будет недоступен с 2 до 4 часов.", "Примите участие в нашем опросе."),
    cookies=("Мы используем файлы cookie. Принять", "Сайт собирает данные о посетителях."),
    adverts=(
        "Кредит без справок за 5 минут",
        "Пластиковые окна со скидкой",
        "Курсы английского онлайн",
        "Зимняя резина по акции",
        "Туры в Карелию",
    ),
    names=("Сергей_К", "bars", "Ольга М.", "Дачник", "vasya1980", "Лиса", "инженер", "Палыч"),
    group=" ",
)

JAPANESE = Tongue(
    code="ja",
    age=_ages(
        "たった今",
        "{}前",
        min=("~分",),
        hour=("~時間",),
        day=("~日",),
        week=("~週間",),
        month=("~か月",),
        year=("~年",),
    ),
    short_age=_short("分前", "時間前", "日前"),
    months=tuple(f"{m}月" for m in range(1, 13)),
    menu=("ホーム", "お知らせ", "商品一覧", "ご利用案内", "店舗情報", "お問い合わせ"),
    extra_menu=("メールマガジン", "採用情報", "ギャラリー"),
    renamed="特集",
    footer="本サイトの無断転載を禁じます。",
    new_footer="本サイトの無断転載を禁じます。プライバシーポリシーを改定しました。",
    notices=("日曜日の深夜にメンテナンスを行います。", "アンケートにご協力ください。"),
    cookies=("当サイトではクッキーを使用しています。同意する",),
    adverts=("今だけ送料無料", "英会話を三か月で", "引っ越し見積もり比較", "健康茶お試しセット", "温泉旅行が半額"),
    names=("さくら", "tanuki_3", "山田", "ねこまる", "名無しさん", "haru", "青い空", "けんた"),
    group=",",
)

CHINESE = Tongue(
    code="zh",
    age=_ages(
        "刚刚", "{}前", min=("~分钟",), hour=("~小时",), day=("~天",), week=("~周",), month=("~个月",), year=("~年",)
    ),
    short_age=_short("分钟前", "小时前", "天前"),
    months=tuple(f"{m}月" for m in range(1, 13)),
    menu=("首页", "新闻", "论坛", "专题", "下载", "关于我们", "联系方式"),
    extra_menu=("招聘", "图片", "手机版"),
    renamed="频道",
    footer="版权所有 未经许可不得转载",
    new_footer="版权所有 未经许可不得转载 用户协议已更新",
    notices=("周日凌晨系统维护，请提前保存。", "欢迎参加年度问卷调查。"),
    cookies=("本网站使用Cookie。同意",),
    adverts=("新款手机限时优惠", "英语培训免费试听", "装修报价三分钟", "低价机票", "理财产品推荐"),
    names=("小明", "老王", "liu_2019", "江南雨", "路人甲", "飞鸟", "北方的狼"),
    group=",",
)

ARABIC = Tongue(
    code="ar",
    age=_ages(
        "الآن",
        "منذ {}",
        min=("دقيقة", "دقائق"),
        hour=("ساعة", "ساعات"),
        day=("يوم", "أيام"),
        week=("أسبوع", "أسابيع"),
        month=("شهر", "أشهر"),
        year=("سنة", "سنوات"),
    ),
    short_age=_short(" د", " س", " ي"),
    months=(
        "يناير",
        "فبراير",
        "مارس",
        "أبريل",
        "مايو",
        "يونيو",
        "يوليو",
        "أغسطس",
        "سبتمبر",
        "أكتوبر",
        "نوفمبر",
        "ديسمبر",
    ),
    menu=("الرئيسية", "الأخبار", "الاقتصاد", "الرياضة", "الثقافة", "من نحن", "اتصل بنا"),
    extra_menu=("النشرة البريدية", "وظائف", "صور"),
    renamed="منوعات",
    footer="جميع الحقوق محفوظة.",
    new_footer="جميع الحقوق محفوظة. تم تحديث سياسة الخصوصية.",
    notices=("سيتوقف الموقع للصيانة مساء الأحد.", "شارك في استطلاع الرأي السنوي."),
    cookies=("يستخدم هذا الموقع ملفات تعريف الارتباط. موافق",),
    adverts=("تخفيضات على الأثاث", "تعلم الإنجليزية بسرعة", "تأمين السيارات", "رحلات إلى إسطنبول", "عروض الهواتف"),
    names=("أبو خالد", "ليلى", "سامر", "نور الدين", "قارئ", "هدى م."),
    rtl=True,
)
