"""Models that ship with the package; nothing is downloaded.
Created by `bench/train_sentiment.py` and `bench/train_background.py`; see `docs/concepts/sentiment.md` and
`docs/concepts/focus.md`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from evercrawl.core.focus.classifier import FeatureShares, parse_shares
from evercrawl.core.sentiment.classifiers import NaiveBayesModel, NbSvmModel

FOLDER = Path(__file__).resolve().parent
DEFAULT_FILE, PAPER_FILE, BACKGROUND_FILE = "sentiment.bin", "sentiment-paper.tsv", "background.tsv"


@lru_cache(maxsize=1)
def load_sentiment_model() -> NbSvmModel:
    """Load the default sentiment model."""
    return NbSvmModel.from_bytes((FOLDER / DEFAULT_FILE).read_bytes())


@lru_cache(maxsize=1)
def load_paper_model() -> NaiveBayesModel:
    """Load the counts of the paper's method."""
    return NaiveBayesModel.from_text((FOLDER / PAPER_FILE).read_text("utf-8"))


@lru_cache(maxsize=1)
def load_background() -> FeatureShares:
    """Load the word statistics of pages in general."""
    return parse_shares((FOLDER / BACKGROUND_FILE).read_text("utf-8"))
