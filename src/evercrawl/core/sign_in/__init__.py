"""Signed-in crawls: cookies, login forms, and whether a session still holds."""
