"""Crawled text for terminals: the rules are those of `model/sanitize.py`, which the web interface shares."""

from __future__ import annotations

from evercrawl.model.sanitize import ELLIPSIS, safe_block, safe_line

__all__ = ["ELLIPSIS", "safe_block", "safe_line"]
