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
            shown = opened.convert("RGBA")
            return np.asarray(Image.alpha_composite(Image.new("RGBA", shown.size, "white"), shown).convert("RGB"))
    except Exception:
        return None
