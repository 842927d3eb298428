"""Traps: what a URL alone can show, what a part of a site has yielded, and what operators say about it."""

from __future__ import annotations

from evercrawl.core.trap.harvest import Observation, SiteYield, book, observe
from evercrawl.core.trap.packed import pack, unpack
from evercrawl.core.trap.probe import ProbeWanted, book_probe, probe_wanted
from evercrawl.core.trap.ruling import Ruled, Ruling, on_offer, on_turn, report
from evercrawl.core.trap.soft404 import Answer
from evercrawl.core.trap.verdict import Verdict, url_verdict

__all__ = [
    "Answer",
    "Observation",
    "ProbeWanted",
    "Ruled",
    "Ruling",
    "SiteYield",
    "Verdict",
    "book",
    "book_probe",
    "observe",
    "on_offer",
    "on_turn",
    "pack",
    "probe_wanted",
    "report",
    "unpack",
    "url_verdict",
]
