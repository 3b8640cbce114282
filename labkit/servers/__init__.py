"""Real servers: started here or the reader's own, and the same schedules on them.

starting   a server of one kind, in a temporary folder, cleared away afterwards
server     what runs, and raw connections to it
pair       a server with a simulated Redis beside it, compared after every command
beside     the resources of a program, which are real anyway
agreement  one schedule on a server, step by step, as in the simulation
verifying  many programs on all servers here, as a table
racing     the same workers as threads in real time
pausing    a real process, stopped past its real lease; paused is what it runs
"""

from labkit.lazy import lazy

#: Name -> module that defines it, loaded at first use: to start a server takes little of this.
_WHERE = {
    "Disagreement": ".pair", "NoServer": ".server", "Server": ".server", "ServerGone": ".server",
    "available": ".starting", "late_write": ".pausing", "race": ".racing",
    "replay_on": ".agreement", "running": ".starting", "verified_on": ".verifying",
}  # fmt: skip

__all__ = sorted(_WHERE)
__getattr__ = lazy(__name__, _WHERE)
