"""The web interface, the REST API and standard protocols. It shows and asks; the collection decides."""
