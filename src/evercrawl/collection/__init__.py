"""Collection."""
