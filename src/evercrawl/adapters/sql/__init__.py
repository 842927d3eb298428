"""The state of a collection in SQL: one set of statements, which SQLite and PostgreSQL both execute."""
