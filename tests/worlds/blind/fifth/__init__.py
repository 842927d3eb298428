"""Kinds of software, languages and edits that the first four parts lack, written before the detector was read.

Forums, a bug tracker, tasks, a company wiki, a catalogue, a record shop, books, films, data sets, meetings, used cars,
a stock market paper, a town hall and a news portal, in Danish, Hungarian, Romanian, Indonesian and English. Its edits
also swap two values, cut a text in half, put one paragraph in the place of another, and change two things at once.
"""

from __future__ import annotations

from tests.worlds.blind.fifth import counter_templates, desk_templates

KINDS = desk_templates.KINDS + counter_templates.KINDS
