"""The web interface, the REST API and standard protocols; all logic is in `collection`."""
