"""`python -m evercrawl` is the command `evercrawl`."""

from evercrawl.cli.main import main

if __name__ == "__main__":
    main()
