"""Kinds of software, languages and edits that the first three parts lack, written without having read the detector.

A tracker, releases, a mobile wiki, a profile, a course catalogue, a collection, an airline, a court, a register, a
market, a messenger's channel, a shop, questions and a podcast, in nine languages. Its edits also move paragraphs,
entries and rows, correct one digit of a cell, append to a post, take links away and split paragraphs by a heading.
"""

from __future__ import annotations

from tests.worlds.blind.fourth import street_templates, tool_templates

KINDS = tool_templates.KINDS + street_templates.KINDS
