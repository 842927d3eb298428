from __future__ import annotations

from evercrawl.core.traps.novelty import MAX_GROUPS, NOTHING_NEW, TextMemory, new_text
from tests.worlds.traps.sites import prose


def test_known_text_is_not_new() -> None:
    text = prose("a", count=200)
    first, said = new_text(TextMemory(), text)
    again, _ = new_text(said, text)
    assert first == (1.0, 1.0, 1.0)
    assert again == (0.0, 0.0, 0.0)


def test_known_sentences_in_a_new_paragraph_are_told_from_known_paragraphs_in_another_order() -> None:
    stock = [prose("sentence", number, count=11) for number in range(6)]
    _, said = new_text(TextMemory(), "\n".join(stock))
    order, said = new_text(said, "\n".join(reversed(stock)))
    mixed, _ = new_text(said, " ".join(stock[:3]) + "\n" + " ".join(stock[3:]))
    assert order == (0.0, 0.0, 0.0)
    assert mixed.lines == 1.0
    assert mixed.essential == 0.0


def test_numbers_alone_are_not_new_text() -> None:
    _, said = new_text(TextMemory(), "It is now 101 seconds past noon. Wait for 102.")
    share, _ = new_text(said, "It is now 977 seconds past noon. Wait for 978.")
    assert share.essential == 0
    assert share.literal > 0.3


def test_order_of_items_is_not_new_text() -> None:
    items = [prose("item", n, count=4) for n in range(40)]
    _, said = new_text(TextMemory(), "\n".join(items))
    share, _ = new_text(said, "\n".join(reversed(items)))
    assert share.literal < 0.05


def test_other_text_stays_new_with_bounded_memory() -> None:
    said, shares = TextMemory(), []
    for number in range(600):
        share, said = new_text(said, prose("page", number, count=150))
        shares.append(share.literal)
        assert said.count < MAX_GROUPS
    assert min(shares) > 0.6


def test_empty_text_is_not_new() -> None:
    assert new_text(TextMemory(), " \n ") == (NOTHING_NEW, TextMemory())
    share, _ = new_text(TextMemory(), "日本語の文章には空白がないので文字が言葉の代わりになります")
    assert share.literal == 1.0
