"""Being told: follows what the collection commits, keeps an outbox, and delivers it."""
