"""Being told: which events an alert wants, when a message goes, what it says, and what comes of it."""
