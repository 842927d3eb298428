"""Real software filled with our own texts, to measure what the main text keeps."""
