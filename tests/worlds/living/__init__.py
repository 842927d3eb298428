"""Sites whose authors edit content, whose templates change and whose widgets never rest."""
