"""Which short lines are about the page rather than of it? Known beginnings in many languages."""

from __future__ import annotations

import re

NOTHING, LINE, SECTION = range(3)
"""A line to keep; one to leave out; one to leave out together with what it announces."""

LONGEST_PHRASE = 60
LONGEST_LINE = 120
"""Longer paragraphs are never taken for one of these."""
KEY_CHARS = 4

# Whole lines, whatever punctuation follows.
_SECTIONS = """
related; related articles; related stories; related posts; related content; related coverage
related news; related topics; related links; related reading; recommended; recommended for you
recommended reading; recommended stories; we recommend; trending; trending now; most read
most popular; most viewed; popular posts; latest news; latest posts; latest stories; latest articles
recent posts; don't miss; don’t miss; up next; read next; about the author; about the authors
leave a comment; leave a reply; join the conversation; post a comment; add a comment; sponsored
sponsored links; promoted stories; more stories; more articles; more news; top stories
further reading on this site; editor's picks; editors' picks; what to read next; ähnliche artikel
ähnliche beiträge; mehr zum thema; weitere artikel; weitere beiträge; weitere themen
weitere meldungen; weitere nachrichten; auch interessant; auch spannend; passend dazu
verwandte artikel; verwandte beiträge; verwandte themen; beiträge zum thema; zum thema
über den autor; über die autorin; über die autoren; meistgelesen; meistgelesene artikel
neueste beiträge; neueste artikel; schreibe einen kommentar; kommentar schreiben
kommentar hinterlassen; kommentar verfassen; das könnte sie auch interessieren
das könnte dich auch interessieren; das könnte ihnen auch gefallen; leserbriefe; leserpost
lesen sie auch; lesen sie mehr zum thema; themen; schlagworte; empfohlen; empfehlungen; à lire aussi
lire aussi; a lire aussi; sur le même sujet; sur le même thème; articles similaires; articles liés
articles associés; articles connexes; à voir aussi; laisser un commentaire; les plus lus
à propos de l'auteur; à propos de l’auteur; dans la même rubrique; vous aimerez aussi
noticias relacionadas; artículos relacionados; te puede interesar; también te puede interesar
te recomendamos; temas relacionados; lo más leído; lo más visto; más noticias; deja un comentario
deja una respuesta; sobre el autor; seguí leyendo; lee también; lea también; ver también
leia também; leia mais; veja também; notícias relacionadas; artigos relacionados; mais lidas
mais notícias; deixe um comentário; sobre o autor; relacionadas; relacionados
você também pode gostar; leggi anche; articoli correlati; potrebbe interessarti
ti potrebbe interessare; i più letti; lascia un commento; ti potrebbe interessare anche
potrebbero interessarti; l'autore; lees ook; gerelateerde artikelen; meer over dit onderwerp
reageer; lees meer; meest gelezen; läs också; läs även; läs mer; relaterade artiklar; les også
læs også; mest lest; mest læst; lue myös; czytaj także; czytaj też; zobacz także; zobacz też
przeczytaj także; powiązane; powiązane artykuły; podobne; čtěte také; související
související články; súvisiace články; kapcsolódó cikkek; citește și; articole similare
читайте также; похожие статьи; похожие записи; по теме; материалы по теме; новости по теме
смотрите также; добавить комментарий; читайте також; схожі новини; ilgili haberler; ilgili yazılar
bunlar da ilginizi çekebilir; διαβάστε επίσης; διαβάστε ακόμα; σχετικά άρθρα; baca juga
berita terkait; artikel terkait; bài viết liên quan; tin liên quan; có thể bạn quan tâm; اقرأ أيضا
اقرأ أيضاً; مواضيع ذات صلة; مقالات ذات صلة; أخبار ذات صلة; مواضيع مشابهة; مطالب مرتبط; כתבות נוספות
यह भी पढ़ें; संबंधित खबरें; 相关阅读; 相关新闻; 相关文章; 相关推荐; 相关链接; 推荐阅读; 延伸阅读
猜你喜欢; 热门文章; 发表评论; 網友評論; 相關新聞; 相關文章; 相關閱讀; 推薦閱讀; 延伸閱讀
您可能也想看; 関連記事; 関連ニュース; 関連リンク; おすすめ記事; 人気記事; あわせて読みたい
合わせて読みたい; コメントを残す; 관련기사; 관련 기사; 관련뉴스; 추천기사; 많이 본 뉴스; 인기기사
"""
_LINES = """
advertisement; advertisements; ad; share; share this; share this article; share this story
share this post; share on; print; print article; email; tweet; pin it; copy link; follow us; follow
subscribe; newsletter; sign up; sign in; log in; read more; continue reading; learn more; see more
show more; load more; loading; loading ...; comments; comment; no comments; comments are closed
caption; close; menu; search; home; x; click to enlarge; view gallery; view comments; back to top
save; listen; sponsored content; text size; order reprints; story continues below advertisement
article continues below advertisement; getty images; anzeige; werbung; teilen; drucken
artikel teilen; kommentare; kommentar; merken; mehr lesen; weiterlesen; mehr erfahren; schließen
nach oben; artikel drucken; beitrag teilen; keine kommentare; publicité; partager; imprimer
commentaires; lire la suite; publicidad; compartir; imprimir; comentarios; leer más; publicidade
compartilhe; compartilhar; comentários; continua depois da publicidade; pubblicità; condividi
stampa; commenti; continua a leggere; advertentie; delen; reacties; annons; dela; kommentarer
reklama; udostępnij; komentarze; sdílet; diskuze; реклама; поделиться; комментарии; комментариев нет
paylaş; yorumlar; bagikan; komentar; chia sẻ; bình luận; شارك; التعليقات; نظرات; תגובות; 分享; 评论
評論; 打印; 広告; シェア; コメント; 광고; 공유; 댓글; 공유하기; 댓글쓰기
"""
# Beginnings of lines.
_SECTION_STARTS = """
you may also like; you might also like; you may also be interested; you might be interested
more from; more in; more on this; more news from; more stories from; read more about; read more from
also on; see also on; das könnte; sie könnten auch; mehr zum thema; mehr aus; mehr von
weitere artikel; lesen sie auch; auch interessant; vous aimerez; también te; te puede; quizás te
ti potrebbe; potrebbe interessarti; potrebbero; você pode gostar; relacionadas:; lees ook
czytaj także; читайте также; читайте також; 相关推荐; join the conversation
schreibe einen kommentar; hinterlasse einen kommentar; deja un comentario; deixe um comentário
laisser un commentaire; lascia un commento; leave a comment; leave a reply
"""
_LINE_STARTS = """
photo by; photo:; photos:; photo credit; photograph by; photograph:; image:; image credit
image source; images:; picture:; credit:; source: getty; (photo; (image; (picture; (credit; (foto
(bild; foto:; fotos:; bild:; bilder:; bildquelle; bildnachweis; imagen:; crédit photo; photo :
crédits; ©; (c); foto ©; zdjęcie:; фото:; 写真:; 图片来源; 사진=; share this; share on; share the
like this article?; like this story?; like this post?; enjoyed this; if you enjoyed; did you like
sign up for; sign up to; subscribe to; click here to subscribe; follow us; follow @; get our daily
get the latest; get breaking news; join our; support our; read more:; read also:; read:; related:
also read:; see also:; watch:; listen:; must read:; don't miss:; recommended:; more:; tags:; tagged:
filed under; categories:; category:; posted in; posted by; published by; written by
comments are closed; you must be logged in; please log in; this site uses akismet; notify me
your email address; required fields; lesen sie auch:; lesen sie:; lesen sie mehr; mehr dazu:
mehr zum thema:; siehe auch:; auch interessant:; schlagwörter:; schlagworte:; stichworte:
kategorie:; kategorien:; newsletter abonnieren; jetzt abonnieren; folgen sie uns; folge uns
teilen sie; erforderliche felder; ihre e-mail-adresse; deine e-mail-adresse; sie müssen angemeldet
sie sind aktuell nicht; lire aussi; à lire aussi; lire la suite; partager sur; étiquettes
abonnez-vous; suivez-nous; votre adresse; leer también; lea también; lee también; lee más; ver más
suscríbete; síguenos; etiquetas:; su dirección de correo; leia também; leia mais; veja também
siga o; assine; o seu endereço; leggi anche; seguici; iscriviti; tag:; lees ook; volg ons; läs också
läs även; läs mer; les også; læs også; czytaj też; czytaj także; zobacz także; czytaj więcej; tagi:
читайте также; читайте нас; подписывайтесь; подпишитесь; теги:; читайте також; підписуйтесь
ilgili haber; baca juga; xem thêm; اقرأ أيضا; تابعنا; 责任编辑; 责编; 来源：; 编辑：; 关键词; 標籤
记者; 関連記事; タグ; ▶; ☞
"""
_RIGHTS = (
    "all rights reserved",
    "alle rechte vorbehalten",
    "tous droits réservés",
    "todos los derechos",
    "todos os direitos",
    "tutti i diritti",
    "все права защищены",
    "版权所有",
    "無断転載",
    "무단전재",
    "copyright",
    "©",
    "ⓒ",
)
_CREDIT_AT_END = re.compile(
    r"\((?:image|photo|picture|pic|foto|bild|credit|source|quelle|imagen|crédit|fuente)s?\b[^()]*\)$"
    r"|(?:/|photo by |via |image: |©)\s*(?:getty|ap|afp|reuters|dpa|istock|shutterstock)(?: images)?\)?$",
    re.IGNORECASE,
)
_CREDIT_ENDS = (")", "Images", "Reuters", "AP")
_AFTER = " :.…!?*#|>»"
_COUNTED = re.compile(
    r"\d+ (?:comments?|thoughts? on|responses?|replies|reply|shares?|kommentare?|commentaires?|comentarios?"
    r"|comentários?|commenti?|reacties?|комментари|views?|likes?|min(?:ute)?s? read)\b",
    re.IGNORECASE,
)


def _listed(lines: str) -> list[str]:
    return [phrase.strip() for line in lines.split("\n") for phrase in line.split(";") if phrase.strip()]


_WHOLE = dict.fromkeys(_listed(_LINES), LINE) | dict.fromkeys(_listed(_SECTIONS), SECTION)
_STARTS = dict.fromkeys(_listed(_LINE_STARTS), LINE) | dict.fromkeys(_listed(_SECTION_STARTS), SECTION)
_BY_KEY: dict[str, list[str]] = {}
for _phrase in _STARTS:
    _BY_KEY.setdefault(_phrase[:KEY_CHARS], []).append(_phrase)
for _phrase in _WHOLE:
    _BY_KEY.setdefault(_phrase[:KEY_CHARS], [])
# Phrases shorter than the key, by their first character.
_SHORT_STARTS = tuple(phrase for phrase in _STARTS if len(phrase) < KEY_CHARS)
_ODD_FIRST = frozenset("0123456789").union(phrase[0] for phrase in _SHORT_STARTS)


def meaning_of(text: str) -> int:
    """What a short line is to the reader of the text; nearly always its first characters say: nothing."""
    starts = _BY_KEY.get(text[:KEY_CHARS].lower())
    if starts is not None:
        lowered = text[:LONGEST_PHRASE].lower()
        for phrase in starts:
            if lowered.startswith(phrase) and not lowered[len(phrase) : len(phrase) + 1].isalpha():
                return _STARTS[phrase]
        if len(text) < LONGEST_PHRASE and (meaning := _WHOLE.get(lowered.rstrip(_AFTER))):
            return meaning
    if text[0] in _ODD_FIRST:
        return _meaning_of_odd(text)
    return LINE if text.endswith(_CREDIT_ENDS) and _CREDIT_AT_END.search(text) else NOTHING


def _meaning_of_odd(text: str) -> int:
    if text.startswith(_SHORT_STARTS):
        return LINE
    counted = _COUNTED.match(text) if len(text) < LONGEST_PHRASE else None
    if counted is None:
        return NOTHING
    return SECTION if "thought" in counted[0] else LINE


def claims_rights(text: str) -> bool:
    """The line says whose property the text is."""
    lowered = text.lower()
    return any(claim in lowered for claim in _RIGHTS)
