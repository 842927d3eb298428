"""Focused crawling: learn a topic from examples and follow the links that lead to it."""
