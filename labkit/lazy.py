"""Names of a package that are loaded when they are first used: importing a part costs little."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: its `__name__`.
        where: name -> the module that defines it, ".module" for one of the package itself.
    """

    def load(name: str) -> Any:
        if name not in where:
            known = ", ".join(sorted(where))
            raise AttributeError(f"{package} has no {name!r}. It has: {known}.")
        return getattr(importlib.import_module(where[name], package), name)

    return load
