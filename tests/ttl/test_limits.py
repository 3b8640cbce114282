"""The statistics against known values, and their promise against seeded samples."""

import math
from fractions import Fraction

import numpy as np
import pytest

from labkit.ttl.limits import at_most, quantile, share_limits


@pytest.mark.parametrize(
    ("k", "n", "p"), [(0, 1, 0.5), (3, 10, 0.3), (49, 50, 0.99), (7, 7, 0.2), (295, 300, 0.99),
                      (0, 2000, 0.001), (1000, 2000, 0.5), (-1, 5, 0.5), (2, 5, 0), (4, 5, 1)]
)  # fmt: skip
def test_the_binomial_distribution_is_exact(k, n, p):
    q = Fraction(p)
    exact = sum(math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k + 1))
    assert at_most(k, n, p) == pytest.approx(float(exact), rel=1e-9)


def test_the_limits_of_a_share_are_clopper_and_pearson_s():
    # The two-sided 90 % interval of the textbooks has these one-sided 95 % limits.
    assert share_limits(5, 20) == pytest.approx((0.10408, 0.45558), abs=1e-5)
    assert share_limits(0, 10) == pytest.approx((0, 0.25887), abs=1e-5)
    assert share_limits(20, 20) == pytest.approx((0.05 ** (1 / 20), 1))


def test_none_in_2000_is_the_rule_of_three():
    low, high = share_limits(0, 2_000)
    assert low == 0 and high == pytest.approx(3 / 2_000, rel=0.003)


@pytest.mark.parametrize(("q", "needed"), [(0.5, 5), (0.95, 59), (0.99, 299), (0.999, 2_995)])
def test_an_upper_limit_of_a_quantile_takes_so_many_values(q, needed):
    enough, fewer = np.arange(1.0, needed + 1), np.arange(1.0, needed)
    assert quantile(enough, q).high == needed
    assert quantile(fewer, q).high is None and quantile(fewer, q).needed == needed


def test_the_ranks_are_those_of_the_tables():
    found = quantile(np.arange(1.0, 101), 0.5)  # Conover, table of the binomial distribution
    assert (found.value, found.low, found.high) == (50, 42, 59)
    assert found.name == "p50" and quantile(np.arange(1.0, 101), 0.999).name == "p99.9"


@pytest.mark.parametrize("q", [0.5, 0.95, 0.99])
def test_in_95_of_100_samples_the_true_quantile_is_not_beyond_a_limit(q):
    random = np.random.default_rng(11)
    truth = np.exp(5 + 0.8 * {0.5: 0, 0.95: 1.6448536, 0.99: 2.3263479}[q])
    samples = [quantile(np.sort(random.lognormal(5, 0.8, 400)), q) for _ in range(800)]
    below = np.mean([found.high >= truth for found in samples])
    above = np.mean([found.low <= truth for found in samples])
    assert below > 0.935 and above > 0.935  # 0.95 less what chance does in 800 samples
    assert below < 0.985 and above < 0.985, "limits that nearly always hold are too wide"


def test_in_95_of_100_samples_the_true_share_is_not_beyond_a_limit():
    random = np.random.default_rng(12)
    seen = [int(hits) for hits in random.binomial(300, 0.02, 1_500)]
    known = {hits: share_limits(hits, 300) for hits in set(seen)}
    limits = [known[hits] for hits in seen]
    assert np.mean([low <= 0.02 for low, _ in limits]) > 0.94
    assert np.mean([high >= 0.02 for _, high in limits]) > 0.94
