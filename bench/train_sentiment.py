"""Train both sentiment methods from labelled sentences, and say by cross-validation how good they are.

python bench/train_sentiment.py SHARED/conformance/sentiment/{uci_sentences,rt_polarity}.jsonl --check
python bench/train_sentiment.py SHARED/conformance/sentiment/{uci_sentences,rt_polarity}.jsonl --write

Rows have `text` and `label` (1 positive, 0 negative). The same files give the same models, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from math import exp, log1p
from pathlib import Path
from random import Random
from time import process_time
from typing import NamedTuple

from evercrawl.adapters.learned import DEFAULT_FILE, FOLDER, PAPER_FILE
from evercrawl.core.sentiment.classifiers import NbSvmModel
from evercrawl.core.sentiment.sentences import is_english

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from research.sentiment_training import quantize_weights, train_naive_bayes, train_nbsvm

SEED = 1
SLOPE_FOLDS = 5
SLOPE_LOGS = (-4.0, 4.0)
"""Where the logarithm of the slope is looked for."""


class Row(NamedTuple):
    """A labelled sentence."""

    text: str
    positive: bool
    source: str


def read(path: Path) -> list[Row]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [Row(row["text"], bool(row["label"]), path.stem) for row in rows if row["label"] is not None]


def parts(rows: Sequence[Row], folds: int, *, seed: int = SEED) -> list[list[Row]]:
    """The rows in so many random parts; a sentence that occurs twice is in one of them only."""
    texts = sorted({row.text for row in rows})
    Random(seed).shuffle(texts)
    place = {text: number % folds for number, text in enumerate(texts)}
    return [[row for row in rows if place[row.text] == fold] for fold in range(folds)]


def trained(rows: Sequence[Row], *, slope: float = 1.0) -> NbSvmModel:
    return quantize_weights(train_nbsvm(((row.text, row.positive) for row in rows), random=Random(SEED)), slope=slope)


def held_out(rows: Sequence[Row], folds: int, *, seed: int = SEED) -> list[tuple[Row, float]]:
    """Each row with the margin of a model that did not see it."""
    cut = parts(rows, folds, seed=seed)
    found = []
    for part in cut:
        model = trained([row for other in cut if other is not part for row in other])
        found += [(row, model.margin(row.text)) for row in part]
    return found


def slope_of(margins: Sequence[tuple[Row, float]]) -> float:
    """The slope of the logistic curve that fits held-out margins best, by cutting an interval in three."""
    signed = [margin if row.positive else -margin for row, margin in margins]

    def surprise(log_slope: float) -> float:
        return sum(log1p(exp(-max(-30.0, min(30.0, exp(log_slope) * margin)))) for margin in signed)

    low, high = SLOPE_LOGS
    while high - low > 0.01:
        third = (high - low) / 3
        if surprise(low + third) < surprise(high - third):
            high -= third
        else:
            low += third
    return round(exp((low + high) / 2), 4)


def report(name: str, verdicts: Sequence[tuple[Row, bool]]) -> None:
    for source in sorted({row.source for row, _ in verdicts}):
        right = [row.positive == verdict for row, verdict in verdicts if row.source == source]
        print(f"{name:<15}{source:<16}{sum(right) / len(right):.4f} of {len(right)}")


def check(rows: Sequence[Row], folds: int, *, seed: int) -> None:
    """Accuracy on sentences that were held out, and speed."""
    margins = held_out(rows, folds, seed=seed)
    report("default", [(row, margin >= 0) for row, margin in margins])
    # The tool gives no label where a text does not look English; here that counts as wrong.
    report("tool", [(row, (margin >= 0) if is_english(row.text) else not row.positive) for row, margin in margins])
    cut = parts(rows, folds, seed=seed)
    for name, add_one in (("paper", False), ("paper-add-one", True)):
        verdicts = []
        for part in cut:
            model = train_naive_bayes((row.text, row.positive) for other in cut if other is not part for row in other)
            verdicts += [(row, model.score(row.text, add_one=add_one) >= 0) for row in part]
        report(name, verdicts)
    model = trained(rows)
    print(f"default: {speed(model.score, rows):,.0f} sentences per CPU-second")


def speed(score: Callable[[str], float], rows: Sequence[Row]) -> float:
    began = process_time()
    for row in rows:
        score(row.text)
    return len(rows) / (process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--check", action="store_true", help="cross-validate")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=SEED, help="of the cut into folds")
    parser.add_argument("--write", action="store_true", help="train on all and write the models of the package")
    arguments = parser.parse_args()
    rows = [row for path in arguments.files for row in read(path)]
    if arguments.check:
        check(rows, arguments.folds, seed=arguments.seed)
    if arguments.write:
        slope = slope_of(held_out(rows, SLOPE_FOLDS))
        (FOLDER / DEFAULT_FILE).write_bytes(trained(rows, slope=slope).to_bytes())
        paper = train_naive_bayes((row.text, row.positive) for row in rows)
        (FOLDER / PAPER_FILE).write_text(paper.to_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
