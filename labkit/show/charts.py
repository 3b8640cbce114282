"""Charts: durations, contention, counts. Drawn by matplotlib, each with its facts as text."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from labkit.ttl.choosing import TtlChoice

#: Okabe-Ito colours that are dark enough for lines and text on white.
BLUE, ORANGE = "#0072B2", "#D55E00"


class Chart:
    """A picture with a text that says the same; the text is what strict nbval compares.

    Attributes:
        png: the picture, on an opaque white ground so that dark themes cannot hide it.
        text: the facts, as lines.
    """

    def __init__(self, figure: Any, text: str) -> None:
        buffer = io.BytesIO()
        # No "Software" entry: it would change with every version of matplotlib.
        figure.savefig(buffer, format="png", metadata={"Software": None}, facecolor="white")
        self.png = buffer.getvalue()
        self.text = text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": self.text, "image/png": self.png}

    def __repr__(self) -> str:
        return self.text


def collisions_chart(hits: Mapping[float, int], *, runs: int, share: float) -> Chart:
    """How often a gap is hit, beside the share of schedules, which does not change.

    Args:
        hits: length of the gap in ms -> in how many runs both got in.
        runs: how many arrivals were tried for each gap.
        share: violating schedules / all schedules, from an exploration.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2), dpi=100, layout="constrained")
    axes = figure.subplots()
    gaps = list(hits)
    percent = [100 * hits[gap] / runs for gap in gaps]
    axes.plot(gaps, percent, color=BLUE, marker="o", linewidth=2)
    axes.axhline(100 * share, color=ORANGE, linestyle="--", linewidth=2)
    axes.annotate("share of schedules", (gaps[0], 100 * share), (0, 5),
                  textcoords="offset points", color=ORANGE)  # fmt: skip
    axes.annotate("share of random arrivals", (gaps[-1], percent[-1]), (-8, 8), ha="right",
                  textcoords="offset points", color=BLUE)  # fmt: skip
    axes.annotate(f"{gaps[0]:g} ms: {hits[gaps[0]]} of {runs:,}", (gaps[0], percent[0]), (10, 30),
                  textcoords="offset points", color=BLUE)  # fmt: skip
    axes.set_xlabel("gap between GET and SET (ms)")
    axes.set_ylabel("both got in (%)")
    axes.set_ylim(0, 100)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    lines = [f"gap {gap:>4} ms: both got in {count:>5,} times in {runs:,} arrivals"
             for gap, count in hits.items()]  # fmt: skip
    lines.append(f"share of schedules, whatever the gap: {share:.0%}")
    return Chart(figure, "\n".join(lines))


def durations_chart(choice: TtlChoice) -> Chart:
    """How long the runs took, with quantiles and the TTL; both ways are to a logarithmic scale."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3), dpi=100, layout="constrained")
    axes = figure.subplots()
    ordered = choice.durations.ordered
    counts, edges = np.histogram(np.log10(ordered), bins=40)
    axes.stairs(counts, 10**edges, fill=True, color=BLUE, alpha=0.6)
    marks = {quantile.name: quantile.value for quantile in choice.quantiles[:3]}
    marks["TTL"] = choice.ttl_ms
    for name, at in marks.items():
        colour, dashes = (ORANGE, "-") if name == "TTL" else ("black", ":")
        axes.axvline(at, color=colour, linestyle=dashes, linewidth=2 if name == "TTL" else 1)
        beside = (-26 if name == "TTL" else 3, -10)
        axes.annotate(name, (at, 1), beside, xycoords=("data", "axes fraction"),
                      textcoords="offset points", color=colour)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="duration of a run (ms)", ylabel="runs")
    axes.set_ylim(bottom=0.5)  # so that a single run is seen
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    axes.spines[["top", "right"]].set_visible(False)
    said = ", ".join(f"{name} {at:,.0f} ms" for name, at in marks.items())
    return Chart(figure, f"{choice.histogram}\n{said}")
