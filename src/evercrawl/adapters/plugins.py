"""Filters and other parts that users write: `module:object`, imported once at start."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evercrawl.core.scope.url_filter import UrlFilter
from evercrawl.errors import ConfigError


def load_filter(name: str) -> UrlFilter:
    """The filter that `module:object` names; a class is instantiated without arguments."""
    found = load_object(name, "filter", "my_filters:OnlyNews")
    path = name.partition(":")[2]
    if not callable(getattr(found, "accepts", None)):
        raise ConfigError(f"filter {name!r}: {path} has no method accepts(url)")
    return found  # type: ignore[no-any-return]


def load_object(name: str, kind: str, example: str) -> Any:
    """The object that `module:object` names; a class is instantiated without arguments."""
    module_name, colon, path = name.partition(":")
    if not (colon and module_name and path):
        raise ConfigError(f"{kind} {name!r}: write it as module:object, such as {example}")
    label = f"{kind} {name!r}"
    found = _object(_module(module_name, label), path, label)
    return _instance(found, label) if isinstance(found, type) else found


def _module(module_name: str, label: str) -> Any:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            remedy = "is it installed, or its folder in PYTHONPATH?"
            raise ConfigError(f"{label}: there is no module {error.name!r}; {remedy}") from error
        raise ConfigError(f"{label}: {module_name} needs a missing module: {error}") from error
    except Exception as error:
        raise ConfigError(f"{label}: importing {module_name} failed: {_said(error)}") from error


def _object(module: Any, path: str, label: str) -> Any:
    found = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise ConfigError(f"{label}: {module.__name__} has no object {path!r}") from error
    return found


def _instance(kind: type, label: str) -> Any:
    try:
        return kind()
    except Exception as error:
        raise ConfigError(f"{label}: {kind.__name__}() failed: {_said(error)}") from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
