"""Alerts: read changes from the visit logs, keep an outbox, and deliver messages."""
