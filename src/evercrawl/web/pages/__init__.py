"""The pages: each module collects what a page, its JSON twin and the API show."""
