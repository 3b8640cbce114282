"""The errors of the machine. Each says what happened, where, what was possible and what to do."""


class LabkitError(Exception):
    """Something the caller can put right. The message says how."""

    def _render_traceback_(self) -> list[str]:
        """In a notebook the message alone: the way through labkit's own code explains nothing."""
        return [f"{type(self).__name__}: {self}"]


class LabkitBug(Exception):
    """A promise of labkit itself was broken. Please report it; it is not your fault."""


class ScheduleError(LabkitError, ValueError):
    """The text is not a schedule, or a move of it cannot be made here.

    Attributes:
        move_number: which move, counted from 1 (``None`` when the text could not be read).
        enabled: the moves that were possible at that point, as text.
    """

    def __init__(
        self, message: str, *, move_number: int | None = None, enabled: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.move_number = move_number
        self.enabled = enabled


class NotModelled(LabkitError):
    """A move, a command or a feature that labkit knows of but does not simulate (yet)."""


class NondeterminismError(LabkitError):
    """The same worker, given the same replies, did something else the second time."""


class WorkerStuckInPython(LabkitError):
    """A worker runs for ever without sending a command, so no schedule can go on."""


class CheckError(LabkitError):
    """The check itself failed: it raised, changed the store, or answered with something odd."""


class Crashed(BaseException):
    """Raised inside a worker whose process has crashed, to unwind it.

    It derives from ``BaseException`` so that ``except Exception`` in worker code does not catch
    it. Commands that a ``finally`` block still tries to send never reach a server.
    """
