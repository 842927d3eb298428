"""Settings from flags, environment and files into typed values, each with the place that it came from."""

from __future__ import annotations

from evercrawl.config.load import (
    COLLECTION_FILE,
    collection_file,
    default_collection_path,
    enclosing_collection,
    find_collection,
    is_collection,
    user_file,
)
from evercrawl.config.load import LoadedSettings, read_settings
from evercrawl.config.edit import create_collection, write_setting

__all__ = [
    "COLLECTION_FILE",
    "LoadedSettings",
    "collection_file",
    "create_collection",
    "default_collection_path",
    "enclosing_collection",
    "find_collection",
    "is_collection",
    "read_settings",
    "user_file",
    "write_setting",
]
