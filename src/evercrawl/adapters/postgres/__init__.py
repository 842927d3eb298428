"""The state of a collection in PostgreSQL: any number of machines work on it, each shard with one owner."""
