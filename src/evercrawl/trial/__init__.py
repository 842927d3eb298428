"""Trying revisit policies on recorded history: a trace file, or what a collection has lived through."""

from __future__ import annotations

from evercrawl.trial.chart import drawing
from evercrawl.trial.history import trace_in, trace_of
from evercrawl.trial.run import NAMES, SIGNALS, Run, trials

__all__ = ["NAMES", "SIGNALS", "Run", "drawing", "trace_in", "trace_of", "trials"]
