"""Kinds written after the rules were made, by somebody who has not read the detector."""

from __future__ import annotations

from tests.worlds.blind.third import engine_templates, place_templates

KINDS = engine_templates.KINDS + place_templates.KINDS
