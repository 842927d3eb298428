"""Sentiment of sentences, pages and sites; English only."""
