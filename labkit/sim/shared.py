"""Resources: what workers share besides Redis, behind `me.shared` and `lab.shared`.

resource  something that a lock protects, such as a table: a store of its own, and how it is reached
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from labkit.sim.commands import Command
from labkit.sim.errors import LabkitError

if TYPE_CHECKING:
    from labkit.sim.store import Store

Ask = Callable[[Command], Any]  # a command -> its reply as bytes, or Lost


class Resource(Protocol):
    """What a setup may assign to `lab.shared.<name>`."""

    def store(self) -> Store:
        """A new store, filled."""

    def handle(self, ask: Ask, new_session: Callable[[], str], name: str) -> Any:
        """What stands behind `me.shared.<name>`: it turns calls into commands for store `name`."""


class Shared:
    """The resources by name. In a setup, assigning declares one: `lab.shared.bank = ...`.

    Args:
        resources: those declared so far.
        ask: executes a command.
        new_session: names a new connection.
        declare: takes a name and a resource (None: only a setup may declare).
    """

    def __init__(
        self,
        resources: Mapping[str, Resource],
        ask: Ask,
        new_session: Callable[[], str],
        declare: Callable[[str, Any], None] | None = None,
    ) -> None:
        vars(self).update(_resources=resources, _ask=ask, _new=new_session, _declare=declare)

    def __getattr__(self, name: str) -> Any:
        resource = self._resources.get(name)
        if resource is None:
            known = ", ".join(self._resources) or "none"
            raise LabkitError(
                f'There is no resource "{name}" here (declared: {known}). '
                f"A setup declares one: lab.shared.{name} = ..."
            )
        handle = vars(self)[name] = resource.handle(self._ask, self._new, name)
        return handle

    def __setattr__(self, name: str, resource: Any) -> None:
        if self._declare is None:
            raise LabkitError(f"shared.{name} = ...: only a setup declares resources.")
        self._declare(name, resource)


def checked_name(name: str, resource: Any) -> str:
    """The name of a new resource, if it and the resource can be used."""
    if not name.isidentifier() or name.startswith("_") or name == "redis":
        raise LabkitError(
            f'"{name}" cannot name a resource: workers write me.shared.<name>, so it must be a '
            f"Python name, without a leading underscore, and not redis."
        )
    if isinstance(resource, type) or not hasattr(resource, "store"):
        raise LabkitError(
            f"lab.shared.{name} = {resource!r}: this is no resource, and workers could not share "
            f"it: each would have its own copy. Use one of labkit.resources, or Redis."
        )
    return name
