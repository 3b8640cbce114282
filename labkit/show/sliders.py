"""Sliders for a lease: how TTL, pause and work decide who is inside together, and who is late."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ipywidgets as widgets

from labkit.draw.sheet import COLUMNS, LABELS, MARGIN, Picture, Sheet
from labkit.draw.story import Span
from labkit.draw.svg import element, escape, number, path
from labkit.show.twin import Twin
from labkit.sim.errors import LabkitError
from labkit.ttl.lease import Run, Stay, lease_run


class LeaseSliders(Twin):
    """TTL, pause, work and workers by hand; the picture and its sentences follow."""

    def __init__(self, **given: Any) -> None:
        run = lease_run(**given)
        self.sliders = {
            "ttl_ms": _slider("TTL (ms)", run.ttl_ms, 0, max(2_000, run.ttl_ms)),
            "pause_ms": _slider("pause of A (ms)", run.pause_ms, 0, max(2_000, run.pause_ms)),
            "work_ms": _slider("work (ms)", run.work_ms, 50, max(1_000, run.work_ms)),
            "workers": _slider("workers", len(run.stays), 1, 4, step=1),
        }
        self._shown = widgets.HTML()
        for slider in self.sliders.values():
            slider.observe(self._draw, "value")
        values = ", ".join(f"{name} {slider.value}" for name, slider in self.sliders.items())
        super().__init__(
            [*self.sliders.values(), self._shown],
            plain=f"lease sliders: {values}",
            static=f"<p>{escape(run)}</p>\n<p>Run this cell to move the sliders.</p>",
        )
        self._draw()

    @property
    def run(self) -> Run:
        """The run that the sliders ask for."""
        return lease_run(**{name: slider.value for name, slider in self.sliders.items()})

    def _draw(self, _: Any = None) -> None:
        try:
            run = self.run
        except LabkitError as error:  # a callback's exception would be seen by nobody
            self._shown.value = f"<p><b>Not possible.</b> {escape(error)}</p>"
        else:
            self._shown.value = _drawn(run)


def lease_sliders(**given: Any) -> LeaseSliders:
    """Sliders that begin at `ttl_ms`, `pause_ms`, `work_ms` and `workers`."""
    return LeaseSliders(**given)


@lru_cache(500)  # a slider is moved to and fro
def _drawn(run: Run) -> str:
    return f"{lease_picture(run, theme='live').svg}<p>{escape(run)}</p>"


def _slider(label: str, value: int, least: int, most: int, step: int = 50) -> Any:
    return widgets.IntSlider(
        value, least, most, step, description=label, continuous_update=False,
        style={"description_width": "9em"}, layout={"width": "100%", "max_width": "40em"},
    )  # fmt: skip


def lease_picture(run: Run, *, theme: str = "card") -> Picture:
    """A run as a picture in which time goes from left to right, to scale."""
    sheet = _Scaled(run)
    sheet.axis(run.ends)
    lines = {stay.who: sheet.worker(stay, run.pause_ms) for stay in run.stays}
    for who, start, end in run.together:
        sheet.together(lines[who[0]], lines[who[-1]], start, end)
    sheet.lock(run)
    sheet.count(run)
    title = (f"timeline to scale: TTL {run.ttl_ms:,} ms, pause of A {run.pause_ms:,} ms, "
             f"work {run.work_ms:,} ms, workers {', '.join(sheet.letters)}")  # fmt: skip
    return Picture(sheet.svg(title, str(run), theme), str(run))


class _Scaled(Sheet):
    """A sheet on which positions are instants, in ms."""

    def __init__(self, run: Run) -> None:
        super().__init__(COLUMNS, tuple(stay.who for stay in run.stays))
        self._ms = (self.width - LABELS - 3 * MARGIN) / run.ends

    def x(self, at: float) -> float:
        return LABELS + at * self._ms

    def here(self, at: float | None) -> bool:
        return at is not None

    def ends(self, start: float, end: float | None) -> tuple[float, float] | None:
        return None if end is None else (self.x(start), self.x(end))

    def axis(self, ends: int) -> None:
        """Round instants, at most nine of them."""
        scale = 10 ** (len(str(ends)) - 2)
        step = next(n * scale for n in (1, 2, 5, 10, 20) if ends <= 8 * n * scale)
        for at in range(0, ends + 1, step):
            self.say(f"{at:,}" if at else "0 ms", self.x(at), self.y + 10, "quiet")
        self.y += 24

    def worker(self, stay: Stay, pause_ms: int) -> float:
        """Dots while it waits, a band while it is inside, a gap in a pause; its height."""
        y, who = self.y + 20, stay.who
        badge = element("circle", cx=LABELS - 28, cy=y, r=12, class_=f"line w{who}")
        self.front.append(badge)
        self.say(who, LABELS - 28, y + 5.5, "name")
        self.stretch(0, stay.enter, y, f"line wait w{who}")
        self.bar(Span(stay.enter, stay.leave, who), y, 9)
        if who == "A" and pause_ms:
            left, right = self.x(stay.leave - pause_ms), self.x(stay.leave)
            self.back.append(self.rect(left, y - 11, right - left, 22, "ground"))
            ticks = f"M{number(left)} {number(y - 9)}v18M{number(right)} {number(y - 9)}v18"
            self.back.append(path(ticks, f"line w{who}"))
            self.say("paused" if right - left > 50 else "", (left + right) / 2, y + 4)
        self.front.append(self.dot(stay, y))
        if stay.late:
            self.pill("late", self.x(stay.leave) - 17, y - 31, 34)
        self.y = y + 24
        return y

    def dot(self, stay: Stay, y: float) -> str:
        return element("circle", cx=self.x(stay.leave), cy=y, r=8, class_=f"full w{stay.who}")

    def together(self, top: float, bottom: float, start: int, end: int) -> None:
        left, right = self.x(start), self.x(end)
        self.back.append(self.rect(left, top - 13, right - left, bottom - top + 26, "clash"))

    def lock(self, run: Run) -> None:
        """The leases, and a thin line through all lanes where one is over too early."""
        y = self.y + 16
        self.lane_name("lock", y)
        for stay in run.stays:
            ends = self.bar(Span(stay.enter, min(stay.leave, stay.over), stay.who), y, 12)
            if ends is not None and ends[1] - ends[0] > 30:
                self.say(stay.who, (ends[0] + ends[1]) / 2, y + 4.5, "code")
            if stay.late:
                self.back.append(path(f"M{number(self.x(stay.over))} 30V{number(y + 16)}", "time"))
        self.y = y + 30

    def count(self, run: Run) -> None:
        """Every write, with what it makes of the count."""
        self.lane_name("count", self.y)
        free = [0.0, 0.0]  # two rows for the texts; where there is no room, the sentence has it
        for place, stay in enumerate(sorted(run.stays, key=lambda stay: stay.leave)):
            self.front.append(self.dot(stay, self.y))
            x, row = self.x(stay.leave), place % 2
            if x >= free[row]:
                self.say(f"{stay.read} → {stay.wrote}", x, self.y + 22 + 15 * row, "code")
                free[row] = x + 50
        self.y += 44
