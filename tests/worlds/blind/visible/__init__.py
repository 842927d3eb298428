"""The templates that everyone may look at."""

from __future__ import annotations

from tests.worlds.blind.visible import (
    code_templates,
    forum_templates,
    press_templates,
    shop_templates,
    software_templates,
    table_templates,
    wiki_templates,
)

KINDS = (
    wiki_templates.KINDS
    + forum_templates.KINDS
    + software_templates.KINDS
    + shop_templates.KINDS
    + press_templates.KINDS
    + table_templates.KINDS
    + code_templates.KINDS
)
