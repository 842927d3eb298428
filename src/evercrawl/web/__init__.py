"""The web interface, the REST API and the standards that other programs speak. It shows and asks; the library decides."""
