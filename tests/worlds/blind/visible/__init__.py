"""The templates that everyone may look at."""

from __future__ import annotations

from tests.worlds.blind.visible import forum_templates, wiki_templates

KINDS = wiki_templates.KINDS + forum_templates.KINDS
