"""Decode screenshots with Pillow (extra `screenshots`)."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from evercrawl.core.change.picture_diff import Picture

FORMATS = ("WEBP", "PNG")
MAX_PIXELS = 20_000_000  # 1280 pixels wide and 15,000 high.


def decode_picture(image: bytes) -> Picture | None:
    """Return the pixels of a picture, on white where it is transparent; None: it is damaged or too large."""
    # Pillow raises many exceptions for damaged files.
    try:
        with Image.open(io.BytesIO(image), formats=FORMATS) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return None
            if not opened.has_transparency_data:
                return np.asarray(opened.convert("RGB"))
            shown, paper = opened.convert("RGBA"), Image.new("RGB", opened.size, "white")
            paper.paste(shown, mask=shown)
            return np.asarray(paper)
    except Exception:
        return None
