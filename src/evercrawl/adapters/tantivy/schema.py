"""The fields of the index, and how texts are cut into words."""

from __future__ import annotations

from functools import lru_cache

import tantivy

FORMAT = 1
"""Part of the folder's name: an index of another format is left alone and made anew."""
FOREVER_US = 2**62
"""When a version that is still the newest ends."""
WORDS = "words"
"""The analyser of every text: runs of letters and digits, in lower case, without accents."""

STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Languages whose word forms are known."""


def version_schema() -> tantivy.Schema:
    """The fields of a version: texts with places of words, filters as single terms, numbers in columns."""
    fields = tantivy.SchemaBuilder()
    for name in ("key", "state", "lang", "site"):
        fields.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("text", "title"):
        fields.add_text_field(name, tokenizer_name=WORDS, index_option="position")
    for name in ("headings", "url"):
        fields.add_text_field(name, tokenizer_name=WORDS, index_option="freq")
    fields.add_unsigned_field("page", indexed=True, fast=True)
    for name in ("number", "from_us", "to_us", "gone_us"):
        fields.add_unsigned_field(name, fast=True)
    fields.add_bytes_field("note", stored=True)
    return fields.build()


def anchor_schema() -> tantivy.Schema:
    """The fields of a page as others call it."""
    fields = tantivy.SchemaBuilder()
    fields.add_unsigned_field("page", fast=True)
    fields.add_text_field("anchor", tokenizer_name=WORDS, index_option="freq")
    return fields.build()


@lru_cache(maxsize=1)
def word_analyser() -> tantivy.TextAnalyzer:
    """Cuts what `core/search/tokenizer.py` has prepared."""
    cutter = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    return cutter.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold()).build()


@lru_cache(maxsize=len(STEMMERS))
def stem_analyser(language: str) -> tantivy.TextAnalyzer:
    """Stems words that stand apart by spaces."""
    cutter = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return cutter.filter(tantivy.Filter.stemmer(STEMMERS[language])).build()


def open_index(schema: tantivy.Schema, folder: str) -> tantivy.Index:
    """The index of a folder, made if it is empty."""
    index = tantivy.Index(schema, path=folder, reuse=True)
    index.register_tokenizer(WORDS, word_analyser())
    return index
