"""Implementations of the ports. Each adapter hides one library and translates its exceptions."""
