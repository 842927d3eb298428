"""Bytes to a document: charset, links, directives, title, language and main text."""
