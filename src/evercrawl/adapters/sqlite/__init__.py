"""The state of a collection in SQLite files, one for each shard; any SQLite tool can open them."""
