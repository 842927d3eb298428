"""The command line: parse, call the library, show. It decides nothing."""
