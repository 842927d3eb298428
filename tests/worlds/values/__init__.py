"""Pages of ten templates with a price, a table, a list and a date, which live for weeks and are redesigned."""
