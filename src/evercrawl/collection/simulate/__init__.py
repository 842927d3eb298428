"""Trying revisit policies on recorded history: a trace file, or what a collection has lived through."""

from __future__ import annotations

from evercrawl.collection.simulate.chart import drawing
from evercrawl.collection.simulate.history import trace_in, trace_of
from evercrawl.collection.simulate.run import NAMES, SIGNALS, Run, trials

__all__ = ["NAMES", "SIGNALS", "Run", "drawing", "trace_in", "trace_of", "trials"]
