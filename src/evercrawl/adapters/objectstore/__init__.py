"""The archive on object storage: upload finished WARC files, and read files that are not on this machine."""
