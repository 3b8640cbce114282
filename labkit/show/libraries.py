"""The Redis locks of frameworks and libraries: which rung of the ladder each of them is.

Every line was read in the code or the documentation of the version that stands in it (December
2026). Rungs, as in `labkit.locks`:

    1   look, then take                 4   check the owner, then delete
    2   take, then expire               5   compare and delete, in one step
    3   one step, and a plain delete    5+  and acquire knows its own token
    6   and renew as the owner
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.cases.redis_py import TRAPS
from labkit.show.tables import Records
from labkit.sim.errors import LabkitError

FREES, RAISES, SILENT = "frees its successor's lock", "raises an error", "silent"


class LibraryLock(NamedTuple):
    """One lock. The fields are the columns of the table.

    Attributes:
        lock: the library, and which of its locks.
        version: what was read.
        rung: see above.
        expiry: the time to live when you give none.
        late_release: what a release does when the lease is already lost.
        source: repository and file.
    """

    lock: str
    version: str
    rung: str
    expiry: str
    late_release: str
    source: str


LOCKS = (
    LibraryLock("Laravel Cache::lock on Redis", "13.x, June 2026", "5, and 6 by refresh() (2026)",
                "none (seconds = 0)", "returns false; lost if you pass a callback",
                "laravel/framework: src/Illuminate/Cache/RedisLock.php, Lock.php"),
    LibraryLock("Laravel WithoutOverlapping (jobs)", "13.x, July 2026", "5",
                "none (expireAfter = 0)", "silent",
                "laravel/framework: src/Illuminate/Queue/Middleware/WithoutOverlapping.php"),
    LibraryLock("Laravel ShouldBeUnique (jobs)", "13.x, 2026", "5 to acquire, 3 to release",
                "none (uniqueFor = 0)", FREES,
                "laravel/framework: src/Illuminate/Bus/UniqueLock.php"),
    LibraryLock("Laravel Horizon, internal Lock", "2026", "3 (2 until 2026)", "60 s", FREES,
                "laravel/horizon: src/Lock.php; issue 1738"),
    LibraryLock("Symfony Lock, RedisStore", "store 7.x, Lock 5.4.53", "5+, and 6 by refresh()",
                "300 s", SILENT, "symfony/lock: Store/RedisStore.php, Lock.php"),
    LibraryLock("Celery cookbook", "5.7.0", "3, with a look at its own clock", "600 s",
                f"{FREES}, unless its clock says it is late",
                "celery/celery: docs/tutorials/task-cookbook.rst"),
    LibraryLock("Django cache.add on Redis", "5.2.19", "3", "300 s", FREES,
                "django/django: django/core/cache/backends/redis.py"),
    LibraryLock("django-redis cache.lock", "7.0.0", "5, and 6 by extend()", "none", RAISES,
                "jazzband/django-redis: django_redis/client/default.py"),
    LibraryLock("Spring Integration RedisLockRegistry", "7.0.x", "5+, and 6 if switched on", "60 s",
                RAISES, "spring-projects/spring-integration: RedisLockRegistry.java"),
    LibraryLock("ShedLock, Redis providers", "7.x", "5 to acquire, 3 to release "
                "(5 with safeUpdate)", "must be given", f"{FREES} (silent with safeUpdate)",
                "lukas-krecan/ShedLock: InternalRedisLockProvider.java"),
    LibraryLock("Redisson RLock", "3.45.1", "5+, and 6 by itself", "30 s, renewed", RAISES,
                "redisson/redisson: RedissonLock.java"),
    LibraryLock("redis-py Lock", "8.1.0", "5, and 6 by extend(), reacquire()", "none", RAISES,
                "redis/redis-py: redis/lock.py"),
    LibraryLock("python-redis-lock", "4.0.1", "5, and 6 if switched on", "none", RAISES,
                "ionelmc/python-redis-lock: src/redis_lock/__init__.py"),
    LibraryLock("celery-once", "3.0.1", "5 to acquire, 3 to release", "3,600 s", FREES,
                "cameronmaske/celery-once: celery_once/backends/redis.py"),
    LibraryLock("huey lock_task", "3.5.4", "2", "none", FREES,
                "coleifer/huey: huey/api.py, huey/storage.py"),
    LibraryLock("node-redlock", "4.2.0", "5, and 6 by extend()", "must be given", RAISES,
                "mike-marcacci/node-redlock: redlock.js"),
    LibraryLock("go-redsync", "v4", "5, and 6 by Extend()", "8 s", "returns an error",
                "go-redsync/redsync: mutex.go, scripts.go"),
)  # fmt: skip

_TITLES = ("lock", "version read", "rung", "expiry by default", "a late release", "source")


def known_locks(name: str = "") -> Records:
    """The locks of frameworks and libraries whose name contains this; all of them by default.

    Raises:
        LabkitError: when there is none of such a name.
    """
    found = [one for one in LOCKS if name.lower() in one.lock.lower()]
    if not found:
        known = ", ".join(one.lock for one in LOCKS)
        raise LabkitError(f'No lock here is called "{name}". There are: {known}.')
    return Records(_TITLES, found)


def traps() -> Records:
    """What may surprise you about redis-py's lock: each line is a schedule that runs, now."""
    titles = ("your code", "you may think", "schedule", "what happens", "do instead")
    return Records(titles, ((trap.call, trap.expected, trap.schedule, trap.seen, trap.instead)
                            for trap in TRAPS))  # fmt: skip
