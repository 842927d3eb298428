"""Crawled text for terminals: the rules are those of `core/safe_text.py`, which the web interface shares."""

from __future__ import annotations

from evercrawl.core.safe_text import ELLIPSIS, safe_block, safe_line

__all__ = ["ELLIPSIS", "safe_block", "safe_line"]
