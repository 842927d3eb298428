"""The pages: each module collects the data of pages, their JSON and the API."""
