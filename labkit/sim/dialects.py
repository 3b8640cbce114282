"""Which server the simulated Redis imitates: its version, and the commands that fakeredis lacks.

dialect  the commands that a server of one kind and version understands

A setup chooses it, `lab.server = "valkey 9"`; it stays Redis 7 unless chosen. Only then is there
more than fakeredis has, and only for this one store: nothing of fakeredis itself is changed. What
the additions do was compared with real servers where there are some (tests/servers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fakeredis import _msgs as msgs
from fakeredis._commands import Key, Signature
from fakeredis._core._database import delete_keys
from fakeredis._helpers import SimpleError

from labkit.sim.errors import LabkitError

Function = Callable[..., Any]  # (connection, key, ...) -> reply


@dataclass(frozen=True)
class Dialect:
    """What one server understands.

    Attributes:
        name: as it is chosen.
        more: command -> function and signature, for what fakeredis lacks or lacks a part of.
    """

    name: str
    kind: Literal["redis", "valkey"]
    version: tuple[int, ...]
    more: Mapping[str, tuple[Function, Signature]]

    @property
    def title(self) -> str:
        return self.name.capitalize()

    @property
    def probes(self) -> list[tuple[bytes, ...]]:
        """Commands that change nothing, each of which only a server with this dialect accepts."""
        return [_PROBES[command] for command in sorted(_NEW[self.name])]

    def who_knows(self, command: str) -> str:
        """Which dialect has this command, as a sentence for an error; empty if none has."""
        knows = [f'"{name}"' for name, known in _NEW.items() if command in known]
        return f"In the setup, lab.server = {' or '.join(knows)} has it. " if knows else ""


def dialect(name: str) -> Dialect:
    """The dialect of that name.

    Raises:
        LabkitError: when there is none; it says which there are.
    """
    if name not in _NEW:
        known = ", ".join(f'"{one}"' for one in _NEW)
        raise LabkitError(f"lab.server = {name!r}: it can imitate {known}.")
    _, _, version = name.partition(" ")
    kind: Literal["redis", "valkey"] = "redis" if name.startswith("redis") else "valkey"
    more = {command.lower(): _EMULATED[command] for command in _NEW[name] if command in _EMULATED}
    return Dialect(name, kind, tuple(map(int, version.split("."))), more)


def _delifeq(session: Any, key: Any, value: bytes) -> int:
    """DELIFEQ key value: delete the key if it holds this value."""
    if key and not isinstance(key.value, bytes):
        raise SimpleError(msgs.WRONGTYPE_MSG)
    return delete_keys(key) if key and key.value == value else 0


def _set_if(session: Any, key: Any, value: bytes, *options: bytes) -> Any:
    """SET with IFEQ: only if the key holds that value; a key that is gone is not made again."""
    names = [option.upper() for option in options]
    if b"IFEQ" not in names:
        return session.set_(key, value, *options)
    at = names.index(b"IFEQ")
    if at + 1 == len(names) or b"NX" in names or b"XX" in names:
        raise SimpleError(msgs.SYNTAX_ERROR_MSG)
    if key and not isinstance(key.value, bytes):
        raise SimpleError(msgs.WRONGTYPE_MSG)
    rest = (*options[:at], *options[at + 2 :])
    if key and key.value == options[at + 1]:
        return session.set_(key, value, *rest)
    # Whatever is wrong with the other options is wrong whether or not the value fits.
    session.set_(_Nowhere(), value, *rest)
    return key.value if b"GET" in names else None


class _Nowhere:
    """Takes the place of a key, for the errors of a command that must not do anything."""

    key, value, expireat = b"", None, None

    def __bool__(self) -> bool:
        return False

    def update(self, value: Any) -> None:
        pass


def _signature(name: str, fixed: tuple[Any, ...], repeat: tuple[Any, ...] = ()) -> Signature:
    return Signature(name, name, fixed, repeat)


_EMULATED = {
    "DELIFEQ": (_delifeq, _signature("delifeq", (Key(), bytes))),
    "SET": (_set_if, _signature("set", (Key(), bytes), (bytes,))),
}
_PROBES = {
    "SET": (b"SET", b"labkit:probe", b"", b"IFEQ", b"no key holds this"),
    "DELEX": (b"DELEX", b"labkit:probe", b"IFEQ", b"no key holds this"),
    "DELIFEQ": (b"DELIFEQ", b"labkit:probe", b"no key holds this"),
}
REDIS_7 = "redis 7"
#: Dialect -> what it has beyond Redis 7 that locks can use. SET stands for its option IFEQ.
_NEW = {
    REDIS_7: frozenset[str](),
    "redis 8.4": frozenset({"SET", "DELEX"}),
    "valkey 8.1": frozenset({"SET"}),
    "valkey 9": frozenset({"SET", "DELIFEQ"}),
}
