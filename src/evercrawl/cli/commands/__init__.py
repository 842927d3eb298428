"""The commands; `NAME_command` is the click command of `evercrawl NAME`."""
