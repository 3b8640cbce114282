"""The machine: workers, virtual time, a simulated Redis, schedules, traces, exploration.

From the bottom up:

    schedule     moves as text                    commands    what a worker is about to do
    resp         replies as bytes                 connection  redis-py's connection, redirected
    virtual      time and randomness in workers   threads     what threading is in workers
    process      one run of a worker              me          what a worker holds in its hand
    store        the simulated Redis              worlds      contents of all stores, numbered
    shared       resources beside Redis           replies     what comes instead of one
    dialects     servers to imitate               waiting     commands that wait at the server
    nodes        workers as trees of replies      transitions one move with all that happens
    machine      all states and moves
    invariants   rules                            checks      rules applied to a run
    replaying    one schedule, strictly           trace       what happened, as text
    exploration  every schedule, counted          report      the verdict, as text
"""
