"""The archive on object storage: finished WARC files go there, and are read there when they are not here."""
