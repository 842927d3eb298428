"""The command line: parse arguments, call the collection, print the result."""
