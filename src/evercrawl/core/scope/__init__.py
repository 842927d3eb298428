"""Scope."""
