"""The pages: each module collects the data of some pages, for their HTML, JSON and API."""
