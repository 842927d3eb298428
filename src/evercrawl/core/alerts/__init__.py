"""Alerts: which events an alert matches, when messages are sent, and what they contain."""
