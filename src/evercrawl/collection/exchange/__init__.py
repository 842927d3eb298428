"""A collection's content taken out, taken in and put to the test."""

from __future__ import annotations
