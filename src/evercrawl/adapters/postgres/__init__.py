"""The state of a collection in PostgreSQL: many machines work on it, and each shard has one owner."""
