"""Real servers: started here or the reader's own, and the same schedules on them.

starting   a server of one kind, in a temporary folder, cleared away afterwards
server     what runs, and raw connections to it
pair       a server with a simulated Redis beside it, compared after every command
agreement  one schedule on a server, step by step, as in the simulation
racing     the same workers as threads in real time
"""

from labkit.servers.agreement import replay_on
from labkit.servers.pair import Disagreement
from labkit.servers.racing import race
from labkit.servers.server import NoServer, Server, ServerGone
from labkit.servers.starting import available, running

__all__ = ["Disagreement", "NoServer", "Server", "ServerGone", "available", "race", "replay_on",
           "running"]  # fmt: skip
