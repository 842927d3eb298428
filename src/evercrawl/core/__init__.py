"""Decisions: pure functions and small state machines of values and `now`. No I/O, no clock, no `await`."""
