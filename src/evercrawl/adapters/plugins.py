"""Filters that users write: `module:object`, imported once at start."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evercrawl.core.filters import UrlFilter
from evercrawl.errors import ConfigError


def load_filter(name: str) -> UrlFilter:
    """The filter that `module:object` names; a class is instantiated without arguments."""
    module_name, colon, path = name.partition(":")
    if not (colon and module_name and path):
        raise ConfigError(f"filter {name!r}: write it as module:object, such as my_filters:OnlyNews")
    found = _object(_module(module_name, name), path, name)
    if isinstance(found, type):
        found = _instance(found, name)
    if not callable(getattr(found, "accepts", None)):
        raise ConfigError(f"filter {name!r}: {path} has no method accepts(url)")
    return found  # type: ignore[no-any-return]


def _module(module_name: str, name: str) -> Any:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            remedy = "is it installed, or its folder in PYTHONPATH?"
            raise ConfigError(f"filter {name!r}: there is no module {error.name!r}; {remedy}") from error
        raise ConfigError(f"filter {name!r}: {module_name} needs a missing module: {error}") from error
    except Exception as error:
        raise ConfigError(f"filter {name!r}: importing {module_name} failed: {_said(error)}") from error


def _object(module: Any, path: str, name: str) -> Any:
    found = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise ConfigError(f"filter {name!r}: {module.__name__} has no object {path!r}") from error
    return found


def _instance(kind: type, name: str) -> Any:
    try:
        return kind()
    except Exception as error:
        raise ConfigError(f"filter {name!r}: {kind.__name__}() failed: {_said(error)}") from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
