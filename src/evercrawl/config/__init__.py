"""Load and edit settings: typed values from flags, environment and files, with the origin of each."""

from __future__ import annotations

from evercrawl.adapters.system import is_writable
from evercrawl.config.edit import create_collection, write_setting
from evercrawl.config.load import (
    COLLECTION_FILE,
    LoadedSettings,
    collection_file,
    default_collection_path,
    enclosing_collection,
    find_collection,
    is_collection,
    read_settings,
    removals_folder,
    user_file,
)

__all__ = [
    "COLLECTION_FILE", "LoadedSettings", "collection_file", "create_collection", "default_collection_path",
    "enclosing_collection", "find_collection", "is_collection", "is_writable", "read_settings", "removals_folder",
    "user_file", "write_setting",
]  # fmt: skip
