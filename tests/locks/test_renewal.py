"""The upper rungs: an acquire that knows its own token, releases by any command, renewal.

Whatever holds here has mutants that do not, and the danger is met in some of the schedules.
"""

import pytest
import redis

from labkit import (
    LabkitError,
    NotModelled,
    explore,
    freed_after_crash,
    mutual_exclusion,
    nobody_waits_for_itself,
    only_the_owner_releases,
    only_the_owner_renews,
    replay,
)
from labkit.locks import (
    Acquired,
    Busy,
    CompareAndDelete,
    Failed,
    Grant,
    Lost,
    NotOwner,
    OwnerCheckedRenewal,
    Released,
    Renewed,
    TokenAwareAcquire,
    Unknown,
    detect_release,
)

HOLDS = "holds within bounds"


def on(server):
    def set_up(lab):
        lab.server = server

    return set_up


# release_by, renew_by -> a server that has both
WAYS = {
    ("lua", "lua"): on("redis 7"),
    ("delex", "set ifeq"): on("redis 8.4"),
    ("delifeq", "set ifeq"): on("valkey 9"),
    ("lua", "set ifeq"): on("valkey 8.1"),
}
every_way = pytest.mark.parametrize("way", WAYS, ids=" and ".join)


def lock_of(me, way=("lua", "lua"), *, kind=OwnerCheckedRenewal, **settings):
    release_by, renew_by = way
    return kind(me.redis, "lock", ttl_ms=100, release_by=release_by, renew_by=renew_by, **settings)


def holder(way, make=lock_of):
    """Asks once more while there is no answer, renews, works, releases."""

    def hold(me):
        lock = make(me, way)
        got = lock.acquire()
        if isinstance(got, Unknown):
            got = lock.acquire(again=got)
        if not isinstance(got, Acquired):
            return type(got).__name__
        renewal = lock.renew(got.grant)
        if not isinstance(renewal, Renewed):
            return type(renewal).__name__
        me.event("renewed")
        with me.critical_section():
            me.redis.incr("work")
        return type(lock.release(renewal.grant)).__name__

    return hold


def shortest(worker, rule, **bounds):
    found = explore(worker, check=rule, **bounds)
    return str(found.counterexample.schedule) if found.counterexample else found.verdict


def met(worker, setup, what, **bounds):
    """In how many schedules a worker ends like this."""
    return explore(
        worker, check=lambda lab: what if what in lab.returned.values() else None, setup=setup,
        **bounds,
    ).violating  # fmt: skip


# -- what holds, and how often it was in danger ----------------------------------------------------

RULES = [
    only_the_owner_releases.on("lock"),
    only_the_owner_renews.on("lock"),
    nobody_waits_for_itself,
    freed_after_crash.on("lock"),
]


@every_way
def test_releases_and_renewals_of_every_kind_keep_the_rules_that_a_lease_can_keep(way):
    worker, bounds = holder(way), {"setup": WAYS[way], "pauses": 2, "faults": "?~!"}
    found = explore(worker, check=RULES, **bounds)
    assert (found.verdict, found.exact) == (HOLDS, True)
    assert found.worked > 0
    for danger in ("Lost", "NotOwner", "Busy", "Released"):
        assert met(worker, WAYS[way], danger, pauses=2) > 0, danger


def test_all_ways_have_exactly_the_same_schedules():
    counts = {
        (found.schedules, found.violating, found.worked)
        for way, setup in WAYS.items()
        for found in [explore(holder(way), check=RULES, setup=setup, faults="?!")]
    }
    assert len(counts) == 1


@every_way
def test_without_pauses_nobody_is_inside_with_another(way):
    found = explore(holder(way), check=mutual_exclusion, setup=WAYS[way], pauses=0, faults="?")
    assert found.verdict == HOLDS
    assert found.worked > 0


@every_way
def test_no_renewal_survives_a_pause_after_it(way):
    """A lease ends by itself: what it protects must refuse the late write."""
    assert shortest(holder(way), mutual_exclusion, setup=WAYS[way]) == "A A t B B"


# -- mutants ---------------------------------------------------------------------------------------


class Blind(OwnerCheckedRenewal):
    """Each method is one of the mutants."""

    def without_nx(self):
        self._redis.set(self._key, token := self._new_token(), px=100)
        return Acquired(Grant("lock", token, 0.0, 100))

    def without_px(self):
        taken = self._redis.set(self._key, token := self._new_token(), nx=True)
        return Acquired(Grant("lock", token, 0.0, None)) if taken else Busy()

    def with_a_fresh_token(self, again=None):
        return super().acquire()

    def without_owner_check(self, grant):
        return Released() if self._redis.delete(grant.key) else NotOwner()

    def that_resurrects(self, grant):
        self._redis.set(grant.key, grant.token, px=100)
        return Renewed(grant)

    def that_puts_off_anything(self, grant):
        return Renewed(grant) if self._redis.pexpire(grant.key, 200) else Lost()


def mutant(method, mutation):
    kind = type("Mutant", (Blind,), {method: vars(Blind)[mutation]})
    if mutation == "with_a_fresh_token":
        kind.acquire = lambda self, again=None: OwnerCheckedRenewal.acquire(self)
    return holder(("lua", "lua"), lambda me, way: lock_of(me, way, kind=kind))


@pytest.mark.parametrize(
    ("method", "mutation", "rule", "bounds", "caught_by"),
    [
        ("acquire", "without_nx", mutual_exclusion, {"pauses": 0}, "A A B B"),
        ("acquire", "without_px", freed_after_crash.on("lock"), {"faults": "!"}, "A A!"),
        ("acquire", "with_a_fresh_token", nobody_waits_for_itself, {"faults": "?"}, "A? A"),
        ("release", "without_owner_check", only_the_owner_releases.on("lock"), {}, "A A A t B A"),
        ("renew", "that_resurrects", only_the_owner_renews.on("lock"), {}, "A t A"),
        ("renew", "that_puts_off_anything", only_the_owner_renews.on("lock"), {}, "A t B A"),
    ],
)
def test_every_part_of_it_is_needed(method, mutation, rule, bounds, caught_by):
    assert shortest(holder(("lua", "lua")), rule, **bounds) == HOLDS
    assert shortest(mutant(method, mutation), rule, **bounds) == caught_by


def test_a_loser_that_refreshes_the_expiry_is_caught():
    """F06: EXPIRE without looking who has won keeps a dead worker's lock alive for ever."""

    def loser(me):
        me.redis.set("lock", me.name, nx=True, px=100)
        me.redis.pexpire("lock", 100)

    def waits_first(me):
        me.sleep(0.05)
        loser(me)

    rule = only_the_owner_renews.on("lock")
    found = explore({"A": loser, "B": waits_first}, check=rule, faults="!", pauses=0)
    assert found.counterexample.reason == (
        "B's PEXPIRE lock 100 changed the lease that A had begun"
    )


def overlapping(tokens):
    """A's first attempt is late: it releases while A's second attempt holds the lock."""

    def a(me):
        lock = lock_of(me, token=tokens(me))
        first = lock.acquire()
        me.sleep(0.2)
        second = lock.acquire()
        if isinstance(first, Acquired) and isinstance(second, Acquired):
            with me.critical_section():
                me.note(type(lock.release(first.grant)).__name__)
                me.redis.incr("work")

    def b(me):
        me.sleep(0.2)
        if isinstance(lock_of(me).acquire(), Acquired):
            with me.critical_section():
                me.redis.incr("work")

    return {"A": a, "B": b}


def test_a_token_belongs_to_the_attempt_and_not_to_the_lock_object():
    """F40: python-redis-lock's `id`, for instance, is one for all acquires of an object."""
    per_attempt, per_instance = (lambda me: me.token), (lambda me: lambda: me.name)
    assert shortest(overlapping(per_attempt), mutual_exclusion, pauses=0) == HOLDS
    assert shortest(overlapping(per_instance), mutual_exclusion, pauses=0) == "A t t A A B"


def test_a_token_that_all_share_protects_nobody():
    """A late owner deletes its successor's lock, and everybody finds "its own" token in it."""

    def plain(me):
        lock = CompareAndDelete(me.redis, "lock", ttl_ms=100, token=lambda: "shared")
        got = lock.acquire()
        if isinstance(got, Acquired):
            me.redis.incr("work")
            lock.release(got.grant)

    assert shortest(plain, only_the_owner_releases.on("lock")) == "A A t B A"
    aware = holder(("lua", "lua"), lambda me, way: lock_of(me, way, token=lambda: "shared"))
    assert shortest(aware, mutual_exclusion, pauses=0) == "A A B B"


# -- the token-aware acquire -----------------------------------------------------------------------


def asks_twice(me, *, pause_s=0.0):
    lock = TokenAwareAcquire(me.redis, "lock", ttl_ms=100)
    got = lock.acquire()
    me.sleep(pause_s)
    return lock.acquire(again=got) if isinstance(got, Unknown) else got


@pytest.mark.parametrize("schedule", ["A? A", "A~ A", "A"])
def test_after_a_lost_answer_the_same_attempt_finds_its_own_token(schedule):
    trace = replay(asks_twice, schedule, workers="A")
    assert isinstance(trace.pending["A"].value, Acquired)
    assert len({step.command for step in trace.steps}) == 1


def test_the_lease_began_with_the_first_request_if_that_was_executed():
    def late(me):
        return asks_twice(me, pause_s=0.03)

    began_at = {
        schedule: replay(late, schedule, workers="A").pending["A"].value.grant.sent_at
        for schedule in ("A? t A", "A~ t A")
    }
    assert began_at == {"A? t A": 0.0, "A~ t A": 0.03}
    trace = replay(late, "A? t A", workers="A", check=lambda lab: f"{lab.redis.pttl('lock')}")
    assert trace.broken == "70"  # asking again does not begin the lease anew


def test_who_finds_anothers_token_is_busy():
    trace = replay(asks_twice, "A? B A")
    assert isinstance(trace.pending["A"].value, Acquired)
    assert trace.pending["B"].value == Busy()


def test_nil_means_success_and_the_result_says_so():
    trace = replay(asks_twice, "A", workers="A")
    assert trace.steps[0].reply == "(nil)"
    assert isinstance(trace.pending["A"].value, Acquired)


def test_a_request_that_stays_unknown_keeps_its_token():
    answer = replay(asks_twice, "A? A?", workers="A").pending["A"].value
    assert isinstance(answer, Unknown)
    assert answer.request.sent_at == 0.0


def test_the_clients_own_resends_are_told_that_the_lock_is_theirs():
    """redis-py's default client sends SET NX again: without GET it is told "taken", by itself."""

    def plain(me):
        return CompareAndDelete(me.client(), "lock", ttl_ms=100_000).acquire()

    def aware(me):
        return TokenAwareAcquire(me.client(), "lock", ttl_ms=100_000).acquire()

    assert replay(plain, "A? t t A", workers="A").pending["A"].value == Busy()
    granted = replay(aware, "A? t t A", workers="A").pending["A"].value
    assert granted.grant.sent_at == 0.0


# -- releases and renewals, one by one -------------------------------------------------------------


def grant(token="mine"):
    return Grant("lock", token, 0.0, 100)


def asked(way, call, schedule="A", *, held_by="mine", kind="string"):
    def worker(me):
        return call(lock_of(me, way))

    def set_up(lab):
        WAYS[way](lab)
        if kind == "list":
            lab.redis.rpush("lock", "mine")
        elif held_by:
            lab.redis.set("lock", held_by, px=60)

    trace = replay(worker, schedule, workers="A", setup=set_up)
    return trace.pending["A"].value, trace.steps[-1].transition.after


@every_way
def test_a_release_removes_only_its_own(way):
    assert asked(way, lambda lock: lock.release(grant())) == (Released(), {})
    for holder_now in ("other", None):
        answer, after = asked(way, lambda lock: lock.release(grant()), held_by=holder_now)
        assert answer == NotOwner()
        assert (after["lock"].text if after else None) == holder_now


@every_way
def test_a_renewal_puts_off_only_its_own_and_makes_nothing(way):
    answer, after = asked(way, lambda lock: lock.renew(grant()))
    assert answer == Renewed(grant())
    assert after["lock"].expires_at_ms == 100
    answer, after = asked(way, lambda lock: lock.renew(grant()), held_by="other")
    assert (answer, after["lock"].text, after["lock"].expires_at_ms) == (Lost(), "other", 60)
    assert asked(way, lambda lock: lock.renew(grant()), held_by=None) == (Lost(), {})


@every_way
@pytest.mark.parametrize("move", ["A?", "A~"])
def test_without_an_answer_release_and_renewal_are_unknown(way, move):
    for call in (lambda lock: lock.release(grant()), lambda lock: lock.renew(grant())):
        assert isinstance(asked(way, call, move)[0], Unknown)


@every_way
def test_a_key_of_another_type_is_an_error(way):
    for call in (lambda lock: lock.release(grant()), lambda lock: lock.renew(grant())):
        answer, _ = asked(way, call, kind="list")
        assert isinstance(answer, Failed)


def test_a_release_after_an_unknown_one_can_be_asked_again():
    def twice(lock):
        first = lock.release(grant())
        return type(first), lock.release(grant())

    assert asked(("lua", "lua"), twice, "A~ A")[0] == (Unknown, Released())
    assert asked(("lua", "lua"), twice, "A? A")[0] == (Unknown, NotOwner())  # it was released


def test_a_renewed_grant_counts_from_the_renewal():
    def worker(me):
        lock = lock_of(me)
        got = lock.acquire().grant
        me.sleep(0.03)
        return got.remaining_ms(), lock.renew(got).grant.remaining_ms()

    assert replay(worker, "A t A", workers="A").pending["A"].value == pytest.approx((70, 100))


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ttl_ms", "said"),
    [
        (10, r"50 or more. If you mean 10 s, write 10000\."),
        (0.5, r"If you mean 0\.5 s, write 500\."),
        (10.0, r"If you mean 10 s, write 10000\."),
        (True, r"50 or more\.$"),
        (0, r"50 or more\.$"),
    ],
)
def test_a_lease_in_seconds_is_recognised(ttl_ms, said):
    with pytest.raises(ValueError, match=said):
        OwnerCheckedRenewal(redis.Redis(), "lock", ttl_ms=ttl_ms)


def test_an_unknown_way_is_told_the_known_ones():
    with pytest.raises(ValueError, match='release_by=.*: it is one of "lua", "delex", "delifeq"'):
        CompareAndDelete(redis.Redis(), "lock", ttl_ms=100, release_by="del")
    with pytest.raises(ValueError, match='renew_by=\'expire\': it is one of "lua", "set ifeq"'):
        OwnerCheckedRenewal(redis.Redis(), "lock", ttl_ms=100, renew_by="expire")


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (("delex", "lua"), r'does not know "DELEX". In the setup, lab.server = "redis 8.4" has it'),
        (("delifeq", "lua"), r'does not know "DELIFEQ". In the setup, lab.server = "valkey 9"'),
    ],
)
def test_a_command_of_another_server_is_refused_by_name_with_the_way_to_have_it(way, said):
    with pytest.raises(NotModelled, match=said):
        replay(lambda me: lock_of(me, way).release(grant()), "A", workers="A")


def test_a_server_that_is_not_imitated_is_refused_with_those_that_are():
    with pytest.raises(LabkitError, match='"redis 7", "redis 8.4", "valkey 8.1", "valkey 9"'):
        replay(lambda me: None, "", workers="A", setup=on("redis 3"))


def test_the_server_is_chosen_in_the_setup_and_nowhere_else():
    def check(lab):
        lab.server = "valkey 9"

    with pytest.raises(LabkitError, match="the server is chosen in the setup"):
        replay(lambda me: me.redis.get("k"), "A", workers="A", check=check)


def test_detection_tries_the_commands_on_a_key_that_nobody_has():
    class Client:
        def __init__(self, *known):
            self.known, self.asked = known, []

        def execute_command(self, *words):
            self.asked.append(words)
            if words[0] not in self.known:
                raise redis.ResponseError("ERR unknown command")
            return 0

    assert detect_release(Client()) == "lua"
    assert detect_release(Client("DELEX", "DELIFEQ")) == "delex"
    valkey = Client("DELIFEQ")
    assert detect_release(valkey) == "delifeq"
    assert [words[0] for words in valkey.asked] == ["DELEX", "DELIFEQ"]
    assert all(words[1].startswith("no-such-lock:") for words in valkey.asked)


def test_detection_does_not_mistake_a_silent_server_for_an_old_one():
    class Silent:
        def execute_command(self, *words):
            raise redis.TimeoutError("timed out")

    with pytest.raises(redis.TimeoutError):
        detect_release(Silent())
