"""Lines that the software of a site adds to the text of its pages."""

from __future__ import annotations

import pytest

from evercrawl.core.document.html import parse_document
from evercrawl.core.document.interface_lines import is_interface_line, without_interface_lines
from evercrawl.model.settings import ParseSettings

SOFTWARE = (
    "Results 1 – 12 of 40",
    "(1-12/12)",
    "1..14 out of 14",
    "24 results - showing 1 to 20.",
    "8 results.",
    "Showing 1 to 20 of 24 entries",
    "Ergebnisse 1–12 von 40",
    "We found 8 results for your search.",
    "0 items in cart: EUR 0.00 Wishlist contains 0 items",
    "Your cart is empty.",
    "Ihr Warenkorb ist leer.",
    "This product does not have any reviews yet - be the first to write one.",
    "There are no comments yet",
    "Be the first to review “Beeswax candles”",
    "Noch keine Bewertungen vorhanden.",
    "Il n'y a pas encore d'avis.",
    "Отзывов пока нет",
    "まだレビューはありません",
    "暂无评论",
    "Also available in: Atom CSV PDF",
    "Sort on: Descending:",
    'Create the page "Heron" on this wiki! See also the search results found.',
    "Erstelle die Seite „Reiher“ in diesem Wiki.",
    "Créer la page « Héron » sur ce wiki !",
    "Parent Directory",
    'No results matching ""',
    "[To Parent Directory]",
    "Up to higher level directory",
    "Expand source code",
    "Show replies by date",
    "[Date Prev][Date Next][Thread Prev][Thread Next][Date Index]",
    "Toggle sidebar",
    "Hide all details",
    "Collapse all comments",
    "Download as PDF",
    "Export to: CSV",
    "Other formats: PDF",
    "Auch verfügbar als: PDF",
    "Également disponible au format PDF",
    "Any reviews yet",
    "No ratings so far",
    "It has no reviews yet",
    "Es gibt noch keine Kommentare",
    "Bisher keine Bewertung",
    "Schreiben Sie als erster",
    "Pas encore de commentaires",
    "Aucun avis",
    "Soyez le premier à donner votre avis",
    "Todavía no hay comentarios",
    "Aún no hay opiniones",
    "Sé el primero en opinar",
    "Non ci sono ancora recensioni",
    "Ainda não há comentários",
    "Nog geen reviews",
    "Er zijn nog geen reacties",
    "Wees de eerste",
    "Inga kommentarer",
    "Ännu inga omdömen",
    "Endnu ingen anmeldelser",
    "Ei vielä kommentteja",
    "Brak opinii",
    "Zatím žádné recenze",
    "Még nincs értékelés",
    "Henüz yorum yok",
    "Пока нет отзывов",
    "Будьте первым",
    "Немає відгуків",
    "아직 리뷰가 없습니다",
    "还没有评论",
    "３ results",
    "Dein Warenkorb: 3 Artikel",
    "My wish list: (3 items)",
    "결과 12개의 결과",
)


@pytest.mark.parametrize("line", SOFTWARE)
def test_lines_of_the_software(line: str):
    assert is_interface_line(line)


CONTENT = (
    "Chapters 1-12 of the book were written in 1990.",
    "The results were good.",
    "In 1990, 20 results of 30 were found by hand.",
    "1-2 of 3 cups of flour",
    "10 – 12 August 2026",
    "12-1 of 3",
    "12 matches",
    "3 eggs in a basket",
    "The basket is empty of bread.",
    "Be the first to know the truth, he said.",
    "There are no comments on this in the literature.",
    "Also available in the shop",
    "Download as much as you like.",
    "Status:",
    "Show code to the inspector.",
    "Create the page template and upload it.",
    "Parent directory of the archive",
    "[Foo][Bar][Baz]",
    "Monday: 10-12",
)


@pytest.mark.parametrize("line", CONTENT)
def test_content(line: str):
    assert not is_interface_line(line)


def test_long_lines_and_a_text_of_nothing_else_are_kept():
    only = "8 results.\nYour cart is empty."
    long = "8 results " + "and more " * 20
    assert without_interface_lines(only) == only
    assert without_interface_lines(f"A text.\n8 results.\n{long}") == f"A text.\n{long}"


def test_the_text_of_a_page_has_no_such_lines():
    body = (
        "<main><h1>Mug</h1><p>Made in a small workshop from clay.</p><h2>Reviews</h2><p>There are no reviews yet.</p>"
    )
    page = parse_document("http://a.test/", (), body.encode(), agent="TestBot", limits=ParseSettings())
    assert "small workshop" in page.text
    assert "no reviews" not in page.text
