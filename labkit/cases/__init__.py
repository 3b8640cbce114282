"""Named situations: what is at stake, who works on it, and the rule that must hold.

    account   a bank account in Redis, and two who take money from it
    gap       random arrivals: how often a gap is hit
"""
