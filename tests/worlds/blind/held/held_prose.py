"""Prose and interface words of the held sites: Chinese, Arabic, Polish, Italian, Korean, and more English topics."""

from __future__ import annotations

from tests.worlds.blind.prose import EN_MONTHS, Prose
from tests.worlds.blind.tongues import ARABIC, Tongue, _ages, _short

TALK_ZH = Prose(
    glue="",
    titles=(
        "{thing}出现{state}怎么办",
        "求推荐{thing}",
        "{place}的{thing}体验",
        "{thing}使用心得",
        "关于{thing}的{n}个问题",
    ),
    headings=("问题描述", "解决办法", "参数", "注意事项"),
    slots={
        "thing": ("路由器", "投影仪", "电动车", "相机", "净水器", "显示器", "键盘", "空调"),
        "place": ("杭州", "成都", "老家", "公司", "学校", "西安"),
        "state": ("断线", "异响", "黑屏", "漏水", "发热", "卡顿"),
        "part": ("电源", "滤芯", "接口", "驱动", "电池", "镜头"),
        "view": ("值得买", "不太推荐", "性价比高", "做工一般", "还可以"),
    },
    patterns=(
        "我在{place}用了{n}天，{thing}没有{state}。",
        "先检查{part}，再看是不是{state}。",
        "{thing}花了{n}元，感觉{view}。",
        "换了{part}以后，{state}的问题解决了。",
        "{year}年买的那台{thing}到现在还在用。",
        "客服说{part}要等{n}天才到货。",
        "如果经常{state}，建议直接换{part}。",
        "{place}的朋友都说{view}。",
        "固件升级之后{thing}反而更容易{state}。",
        "这款{thing}的{part}是通用的，{view}。",
    ),
)

PRESS_AR = Prose(
    months=ARABIC.months,
    titles=("{who} تعلن {thing} في {place}", "افتتاح {thing} في {place}", "تأجيل {thing}", "{place}: جدل حول {thing}"),
    headings=("خلفية", "ردود الفعل", "التكلفة", "الخطوات القادمة"),
    slots={
        "who": ("الوزارة", "البلدية", "الحكومة", "الهيئة", "الجامعة"),
        "thing": ("مشروع الجسر", "الميناء الجديد", "محطة المياه", "المكتبة العامة", "خط القطار", "السوق المركزي"),
        "place": ("العاصمة", "الإسكندرية", "صفاقس", "عمان", "الدار البيضاء", "المحافظة"),
        "person": ("المتحدث الرسمي", "رئيس البلدية", "مدير المشروع", "أحد السكان", "الوزيرة"),
        "verb": ("رفض", "أيد", "أعلن", "انتقد", "أجل"),
    },
    patterns=(
        "{verb} {person} خطة {thing} أمام {n} شخصا.",
        "تبلغ كلفة {thing} نحو {n} مليونا.",
        "بدأت الأعمال في {place} عام {year} ثم توقفت.",
        "قال {person} إن {thing} سيفتح في {date}.",
        "يعيش في {place} حوالي {n} أسرة متضررة.",
        "لم ترد {who} على أسئلة الصحيفة.",
        "أشار التقرير إلى {n} ملاحظة حول {thing}.",
        "وحسب {who} فإن {thing} جاهز في {place}.",
        "ليست هذه المرة الأولى التي يتأخر فيها {thing}.",
    ),
)

TOWN_PL = Prose(
    months=(
        "stycznia",
        "lutego",
        "marca",
        "kwietnia",
        "maja",
        "czerwca",
        "lipca",
        "sierpnia",
        "września",
        "października",
        "listopada",
        "grudnia",
    ),
    titles=(
        "{thing} w {place}",
        "Ogłoszenie: {thing}",
        "Konsultacje – {thing}",
        "Nabór wniosków: {thing}",
        "{thing} już gotowy",
    ),
    headings=("Informacje ogólne", "Dokumenty", "Terminy", "Kontakt", "Opłaty", "Podstawa prawna"),
    slots={
        "thing": ("plac zabaw", "remont drogi", "budżet obywatelski", "park miejski", "most pieszy", "basen kryty"),
        "place": ("Zalesiu", "Nowej Wsi", "gminie", "Brzezinach", "centrum miasta", "Dąbrowie"),
        "who": ("Burmistrz", "Rada Miejska", "Urząd", "Skarbnik", "Wykonawca"),
        "verb": ("ogłasza", "odwołuje", "przesuwa", "zatwierdza", "rozpoczyna"),
        "doc": ("wniosek", "formularz", "załącznik", "regulamin", "protokół"),
    },
    patterns=(
        "{who} {verb} {thing} w {place}.",
        "Koszt wyniesie {n} tysięcy złotych.",
        "{doc} należy złożyć do {date} w pokoju {n}.",
        "Prace w {place} rozpoczęły się w {year} roku.",
        "{who} przypomina, że {doc} jest bezpłatny.",
        "W spotkaniu wzięło udział {n} mieszkańców.",
        "Do wniosku trzeba dołączyć {doc} i {doc}.",
        "Odbiór robót w {place} zaplanowano na {date}.",
        "{who} {verb} termin składania ofert.",
        "Szczegóły zawiera {doc} numer {n}.",
    ),
)

GOODS_IT = Prose(
    months=(
        "gennaio",
        "febbraio",
        "marzo",
        "aprile",
        "maggio",
        "giugno",
        "luglio",
        "agosto",
        "settembre",
        "ottobre",
        "novembre",
        "dicembre",
    ),
    titles=("{item} {brand} {n}", "{brand} {item} {adj}", "{item} {adj} {brand}", "{item} in {material} {brand}"),
    headings=("Dettagli", "Scheda tecnica", "Contenuto della confezione", "Garanzia", "Consigli d'uso"),
    slots={
        "item": ("Moka", "Lampada", "Zaino", "Bilancia", "Coltello", "Ombrello", "Sedia", "Termos"),
        "brand": ("Alessandri", "Torrente", "Casalinda", "Montebello", "Ferrini"),
        "adj": ("pieghevole", "classica", "compatta", "professionale", "leggera"),
        "material": ("acciaio", "legno di faggio", "alluminio", "ceramica", "cotone"),
        "use": ("la cucina", "i viaggi", "l'ufficio", "il campeggio", "il giardino"),
    },
    patterns=(
        "Realizzata in {material}, pesa solo {n} grammi.",
        "{brand} produce questo articolo dal {year}.",
        "Ideale per {use} e per {use}.",
        "Il manico in {material} resta sempre freddo.",
        "La versione {adj} contiene {n} ml.",
        "Garanzia di {n} mesi del produttore {brand}.",
        "Si pulisce con un panno e dura {n} anni.",
        "Nella confezione si trova un ricambio in {material}.",
        "Non è adatta per {use} senza la base in {material}.",
    ),
)

BOARD_KO = Prose(
    titles=(
        "{place} {thing} 안내",
        "{thing} 신청 방법",
        "{thing} 일정 변경",
        "{place} {thing} 후기",
        "{thing} 관련 공지",
    ),
    headings=("개요", "신청 방법", "일정", "문의", "유의 사항"),
    slots={
        "place": ("수원", "전주", "강릉", "도서관", "주민센터", "대학"),
        "thing": ("독서 모임", "체육 대회", "주차장 공사", "장학금", "음악회", "봉사 활동"),
        "who": ("시청은", "담당자는", "운영위원회는", "학생회는", "관리소는"),
        "verb": ("연기했습니다", "확정했습니다", "취소했습니다", "시작했습니다", "검토했습니다"),
    },
    patterns=(
        "{who} {thing} 일정을 {verb}.",
        "{place}에서 {n}명이 참가했습니다.",
        "신청은 {n}번 창구에서 받습니다.",
        "{thing} 비용은 {n}천 원입니다.",
        "{year}년부터 {place}에서 {thing}을 열고 있습니다.",
        "{who} 예산 {n}만 원을 {verb}.",
        "참가자는 {place} 정문으로 오시기 바랍니다.",
        "자세한 내용은 {place} 게시판을 확인하세요.",
        "{thing} 결과는 {n}일 뒤에 발표합니다.",
    ),
)

SERVICES = Prose(
    months=EN_MONTHS,
    titles=(
        "{part} outage",
        "Degraded {part}",
        "Maintenance of the {part}",
        "{part} delays in {region}",
        "Errors in the {part}",
    ),
    headings=("Endpoints", "Parameters", "Errors", "Rate limits", "Authentication", "Pagination", "Examples"),
    slots={
        "part": ("billing API", "dashboard", "message queue", "object storage", "login service", "webhooks", "search"),
        "region": ("eu-west", "us-east", "ap-south", "all regions", "Frankfurt"),
        "state": ("delayed", "rejected", "retried", "lost", "duplicated", "throttled"),
        "thing": ("invoice", "customer", "webhook", "subscription", "token", "report"),
        "kind": ("string", "integer", "object", "array", "boolean"),
    },
    patterns=(
        "Requests to the {part} in {region} are {state}.",
        "A {thing} holds up to {n} items.",
        "We have found the cause in the {part} and are testing a fix.",
        "About {n} percent of calls to the {part} were {state}.",
        "The {part} returns a {kind} for each {thing}.",
        "Each {thing} has an id of type {kind}.",
        "The limit in {region} is {n} requests per second.",
        "Since version {year} the {thing} may be {state}.",
        "Traffic from {region} was moved away from the {part}.",
        "Use the {thing} only with the {part}.",
        "Calls without a {thing} are {state} after {n} seconds.",
    ),
)

CLIPS = Prose(
    months=EN_MONTHS,
    titles=(
        "I built a {thing} from {stuff}",
        "{thing} repair in {n} minutes",
        "Why your {thing} fails",
        "Testing {n} kinds of {stuff}",
        "The forgotten {thing}",
    ),
    headings=("Chapters", "Tools", "Links", "Music"),
    slots={
        "thing": ("canoe", "radio", "clock", "greenhouse", "bicycle", "telescope", "pottery kiln", "loom"),
        "stuff": ("scrap wood", "cardboard", "old tyres", "copper pipe", "clay", "bamboo"),
        "where": ("my garage", "the forest", "a boat yard", "Iceland", "the attic"),
        "feel": ("harder", "cheaper", "louder", "slower", "better"),
    },
    patterns=(
        "In this video I build a {thing} out of {stuff} in {where}.",
        "It was {feel} than the {thing} of last year.",
        "The plans cost {n} dollars and are linked below.",
        "I filmed in {where} for {n} days.",
        "{stuff} is {feel} to work with than {stuff}.",
        "The {thing} weighs {n} kg and still holds together.",
        "Next time I will try {stuff} instead of {stuff}.",
        "Filmed in {year} in {where}.",
        "Thanks to everybody who sent me a {thing}.",
    ),
)

POLISH = Tongue(
    code="pl",
    age=_ages(
        "przed chwilą",
        "{} temu",
        min=("minutę", "minuty", "minut"),
        hour=("godzinę", "godziny", "godzin"),
        day=("dzień", "dni", "dni"),
        week=("tydzień", "tygodnie", "tygodni"),
        month=("miesiąc", "miesiące", "miesięcy"),
        year=("rok", "lata", "lat"),
    ),
    short_age=_short(" min", " godz.", " dni"),
    months=TOWN_PL.months,
    menu=("Strona główna", "Aktualności", "Urząd", "Mieszkańcy", "Turystyka", "Kontakt"),
    extra_menu=("Newsletter", "Praca", "Galeria"),
    renamed="Sprawy urzędowe",
    footer="Wszelkie prawa zastrzeżone. Deklaracja dostępności.",
    new_footer="Wszelkie prawa zastrzeżone. Zmieniliśmy politykę prywatności.",
    notices=("W niedzielę serwis będzie niedostępny.", "Zapraszamy do wypełnienia ankiety."),
    cookies=("Strona używa plików cookies. Zgadzam się", "Dbamy o Twoją prywatność."),
    adverts=("Okna energooszczędne -20%", "Kursy językowe online", "Ubezpieczenie auta", "Kredyt od ręki"),
    names=("Jan K.", "beata77", "mieszkaniec", "Tomek", "ola_z", "Zofia"),
    group=" ",
)

ITALIAN = Tongue(
    code="it",
    age=_ages(
        "adesso",
        "{} fa",
        min=("minuto", "minuti"),
        hour=("ora", "ore"),
        day=("giorno", "giorni"),
        week=("settimana", "settimane"),
        month=("mese", "mesi"),
        year=("anno", "anni"),
    ),
    short_age=_short(" min", " h", " g"),
    months=GOODS_IT.months,
    menu=("Novità", "Cucina", "Casa", "Giardino", "Offerte", "Marche", "Assistenza"),
    extra_menu=("Outlet", "Lista nozze", "Lavora con noi"),
    renamed="Arredo",
    footer="Tutti i diritti riservati. Condizioni di vendita.",
    new_footer="Tutti i diritti riservati. Le condizioni di vendita sono cambiate.",
    notices=("Domenica il negozio online resterà chiuso per manutenzione.", "Partecipa al nostro sondaggio."),
    cookies=("Questo sito usa i cookie. Accetta", "Teniamo alla tua privacy."),
    adverts=("Materassi scontati", "Voli per la Sardegna", "Corsi di inglese", "Assicurazione moto", "Pannelli solari"),
    names=("Giulia R.", "marco_82", "Nonna Pina", "Luca", "Sara T.", "il_conte"),
    group=".",
)

KOREAN = Tongue(
    code="ko",
    age=_ages(
        "방금", "{} 전", min=("~분",), hour=("~시간",), day=("~일",), week=("~주",), month=("~개월",), year=("~년",)
    ),
    short_age=_short("분 전", "시간 전", "일 전"),
    months=tuple(f"{m}월" for m in range(1, 13)),
    menu=("처음", "공지사항", "자유게시판", "자료실", "갤러리", "문의"),
    extra_menu=("채용", "소식지", "후원"),
    renamed="열린마당",
    footer="모든 권리 보유. 개인정보처리방침",
    new_footer="모든 권리 보유. 개인정보처리방침이 변경되었습니다.",
    notices=("일요일 새벽에 점검이 있습니다.", "설문 조사에 참여해 주세요."),
    cookies=("이 사이트는 쿠키를 사용합니다. 동의",),
    adverts=("최저가 항공권", "영어 회화 무료 체험", "이사 견적 비교", "자동차 보험 비교"),
    names=("하늘", "민수", "kim_83", "바람돌이", "지은", "익명"),
)
