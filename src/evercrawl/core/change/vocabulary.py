"""The words by which pages of many languages name counts, times and their own upkeep.

Whoever adds a language adds its words to each list; a language that is missing here is still learned, it
only takes a few visits longer.
"""

from __future__ import annotations

COUNT_WORDS = (
    # Stems that stand beside a number which counts readers, not things: no guests, no members, no stock.
    r"views?|viewed|viewers?|page ?views?|visits?|visitors?|hits|reads|readers?|online|watching|browsing"
    r"|viewing|likes|followers?|downloads|downloaded|plays|listens|comments?|clicks|impressions|subscribers?"
    r"|aufrufe|abrufe|besucher|besuche|gelesen|angesehen|leser|klicks|zugriffe|kommentare?|heruntergeladen"
    r"|vues?|visites?|visiteurs?|lectures?|lecteurs?|lue?|consultations?|connectés?|en ligne|abonnés"
    r"|commentaires?|téléchargements?|fois"
    r"|vistas?|visitas?|visitantes?|lecturas?|leíd[oa]|lectores|conectados|en línea|visualizaciones"
    r"|descargas|comentarios?|seguidores"
    r"|visualizzazion[ei]|visitator[ei]|letture|lett[oa]|lettori|commenti"
    r"|visualizações|leituras|visualizado|visitante|acessos|lid[oa]|comentários?"
    r"|weergaven|bekeken|bezoekers|gelezen|lezers|reacties"
    r"|visningar|besökare|läst|visninger|besøgende|besøkende|læst|lest|näyttökertaa|katselukertaa|kävijää"
    r"|wyświetle\w+|odsłon\w*|odwiedzin\w*|czytelników|przeczytano|zobrazení|návštěv\w*|přečteno|zobrazeno"
    r"|megtekintés\w*|látogató\w*|vizualizări|vizitatori|citiri|görüntülenme|okunma|ziyaretçi|okundu"
    r"|просмотр\w*|прочита\w*|посетител\w*|посещени\w*|онлайн|перегляд\w*|відвідувач\w*"
    r"|προβολές|αναγνώσεις|επισκέπτες|مشاهد\w*|زيار\w*|قراء\w*|צפיות|بازدید|दर्शक|बार देखा|बार पढ़ा"
    r"|lượt xem|lượt đọc|dilihat|kali dibaca|pengunjung|ผู้ชม"
)
COUNT_SIGNS = (
    r"閲覧|視聴|回表示|アクセス|訪問者|オンライン"
    r"|浏览|瀏覽|阅读|閱讀|访问|訪問|点击|點擊|在线|在線|播放|조회|방문|접속|읽음"
)
COUNTED_PEOPLE = (
    r"\b(?:users?|guests?|members?|people|players?|customers?|others)\b.{0,20}?"
    r"\b(?:online|active|viewing|watching|browsing|looking|reading|here now|right now)\b"
)
COUNTED_TIMES = r"\b(?:read|seen|viewed|visited|opened|played|shared|downloaded|requested|accessed)\b.{0,12}?\btimes?\b"
KEPT_WORDS = (
    # Words with which a page speaks of its own making.
    r"(?:last |page |site )?(?:updated|modified|generated|refreshed|rendered|retrieved|cached|checked|served)"
    r"|(?:last|latest) (?:update|change|check|refresh|edit)|as of|(?:current|local|server) (?:time|date)"
    r"|page (?:created|built)"
    r"|(?:zuletzt )?(?:aktualisiert|geändert|erzeugt|generiert|abgerufen|geladen)"
    r"|letztes? (?:aktualisierung|änderung|update)|stand|seite erstellt|serverzeit"
    r"|mise? à jour|dernière (?:mise à jour|modification)|généré\w*|modifié\w*|actualisé\w*"
    r"|actualizad[oa]|última (?:actualización|modificación)|generad[oa]|modificad[oa]|hora actual"
    r"|aggiornat[oa]|ultim[oa] (?:aggiornamento|modifica)|generat[oa]"
    r"|atualizad[oa]|última atualização|gerad[oa]"
    r"|bijgewerkt|laatste? (?:bijgewerkt|gewijzigd|update)|gegenereerd"
    r"|(?:senast )?(?:uppdaterad|ändrad)|(?:sist |senest )?(?:oppdatert|opdateret)|päivitetty"
    r"|(?:ostatnia )?(?:aktualizacja|zaktualizowano)|wygenerowano|aktualizováno|poslední aktualizace"
    r"|frissítve|actualizat|güncellen\w*|son güncelleme|oluşturul\w*"
    r"|обновлен\w*|последнее обновление|сгенерирован\w*|оновлен\w*|ενημερώθηκε|تحديث|آخر تحديث|עודכן"
    r"|अपडेट\w*|cập nhật|diperbarui|อัปเดต"
)
NOW_WORDS = (
    # Words that stand before a clock; beside other words they say nothing about numbers.
    r"today(?: is)?|it is(?: now)?|time|now|clock|heute(?: ist)?|es ist|uhrzeit|zeit|jetzt|datum"
    r"|nous sommes|aujourd'hui|il est|heure|hoy(?: es)?|hora|son las|ahora|oggi(?: è)?|ora|sono le|hoje|agora"
    r"|vandaag|tijd|nu|i ?dag|klockan|klokken|dzisiaj|dziś|godzina|dnes|je|bugün|saat|сегодня|сейчас|время"
)
KEPT_SIGNS = r"最終更新日?時?|更新日時?|更新时间|更新時間|更新|最后更新|最後更新|生成|업데이트|수정일|최종 수정"
NOW_SIGNS = r"現在時?刻?|本日|今日|现在|現在|时间|時刻|今天|현재|오늘|시각"
_SMALL = (
    "on at in by the of is it to and am pm a an um uhr der die das den am ist vom und le la les à de du des"
    " el los las del y il lo di e o os as em às da do op het den på kl w o godz v ve saat в от h utc gmt cet"
    " cest est edt pst pdt mez mesz published posted last page site this was now time"
)
SMALL_WORDS = frozenset(_SMALL.split())
UNITS_OF_TIME = r"(?:s|sec|secs|seconds?|min|mins|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?|mo|y|w)"
RELATIVE_TIMES = (
    rf"(?:about |over |almost |less than )?(?:\d+|an?|one|two|a few|several) ?{UNITS_OF_TIME}"
    rf"(?:,? (?:and )?\d+ ?{UNITS_OF_TIME})? ago",
    r"just now|moments? ago|seconds ago|a (?:moment|while) ago",
    r"vor (?:\d+|einem|einer|wenigen|etwa \d+) (?:sek|min|std|stund|tag|woch|monat|jahr)\w*\.?|gerade eben",
    r"il y a (?:environ )?(?:\d+|une?|quelques) \w+|à l'instant",
    r"hace (?:\d+|una?|unos|unas) \w+|ahora mismo",
    r"(?:\d+|una?|pochi|poche) \w+ fa|proprio ora",
    r"há (?:cerca de )?(?:\d+|uma?|alguns|algumas) \w+|agora mesmo",
    r"(?:\d+|een|enkele) \w+ geleden|zojuist",
    r"för (?:\d+|en|ett|några) \w+ sedan|for (?:\d+|en|et|noen|få) \w+ siden|\d+ \w+ sitten",
    r"\d+ \w+ temu|před \d+ \w+|\d+ \w+ ezelőtt|\d+ (?:perce|órája|napja)|acum \d+ \w+|\d+ \w+ önce",
    r"\d+ \w+ назад|\d+ \w+ тому|πριν (?:από )?\d+ \w+|منذ \d+ \w+|לפני \d+ \w+|\d+ \w+ पहले|\d+ \w+ پیش",
    r"\d+ \w+ trước|\d+ \w+ yang lalu|\d+ ?\w+ที่แล้ว",
    r"\d+ ?(?:秒|分|時間|日|週間|[かヶカ]?月|年|分钟|分鐘|小时|小時|天|周|个月|個月)(?:間|以)?前",
    r"刚刚|剛剛|たった今",
    r"\d+ ?(?:초|분|시간|일|주|개월|년) ?전|방금",
)
MONTHS = (
    r"jan(?:uary|uar|vier|uari)?|feb(?:ruary|ruar|ruari)?|mar(?:ch|s)?|märz|maart|apr(?:il)?|may|mai|mei|maj"
    r"|june?|juni|july?|juli|aug(?:ust|ustus)?|sep(?:t|tember|tembre)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?"
    r"|de[cz](?:ember|embre)?|janvier|févr(?:ier)?|avril|juin|juillet|août|décembre"
    r"|ene(?:ro)?|febrero|marzo|abr(?:il)?|mayo|junio|julio|ago(?:sto)?|septiembre|octubre|noviembre|dic(?:iembre)?"
    r"|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|novembre|dicembre"
    r"|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
    r"|januar[iy]?|februar[iy]?|augusti|oktober|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia"
    r"|września|października|listopada|grudnia|ledna|února|března|dubna|května|června|července|srpna|září"
    r"|října|listopadu|prosince|ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık"
    r"|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
    r"|tammikuuta|helmikuuta|maaliskuuta|huhtikuuta|toukokuuta|kesäkuuta|heinäkuuta|elokuuta|syyskuuta"
    r"|lokakuuta|marraskuuta|joulukuuta"
)
WEEKDAYS = (
    r"mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lunedì|martedì|mercoledì|giovedì|venerdì|sabato"
    r"|domenica|segunda|terça|quarta|quinta|sexta|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag"
    r"|måndag|tisdag|onsdag|torsdag|fredag|lördag|söndag|mandag|tirsdag|lørdag|søndag"
    r"|poniedziałek|wtorek|środa|czwartek|piątek|sobota|niedziela|понедельник|вторник|среда|четверг|пятница"
    r"|суббота|воскресенье|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar"
)
MONEY = (
    r"[$€£¥₹₽₩₺₴₫฿]"
    r"|\b(?:usd|eur|gbp|chf|jpy|cny|inr|rub|pln|czk|sek|nok|dkk|kr|zł|kč|ft|lei|euros?|dollars?)\b|円|元|원|руб"
)
IDENTITY_WORDS = (
    r"(?:request|session|trace|transaction|correlation|visit|ray|error|cache|server|node|host|event)"
    r"[ -]?(?:id|key|no)|token|nonce|uuid|served by|sitzungs?-?id|anfrage-?id|vorgangsnummer"
    r"|id de (?:requête|session|sesión)|id (?:sessione|запроса)"
)
