"""The timeline: a trace as a picture, one lane per worker, lock and value.

The vocabulary is the same everywhere: lease = bar, holder = letter, colour and hatch, pause = gap,
expiry = thin line, accepted write = filled marker, refused write = hollow marker with a cross,
critical section = hatched band, fencing token = number, crash = a cross that ends the line, lost
message = broken arrow. Steps are equally far apart; the clock is written where it advances.
"""

from __future__ import annotations

from labkit.draw import story as told
from labkit.draw.sheet import LABELS, LINE, MARGIN, Picture, Sheet
from labkit.draw.story import Mark, Span, Story, Write
from labkit.draw.svg import MONO, SANS, element, escape, number, path, text, wrap
from labkit.sim import schedule as moves
from labkit.sim.commands import Ended
from labkit.sim.trace import Trace

KEYS = 4  # lanes for values at most


def timeline(
    trace: Trace,
    *,
    caption: str | None = None,
    lock: str = "*lock*",
    theme: str = "card",
    foot: tuple[str, ...] = (),
) -> Picture:
    """Draw a trace.

    Args:
        caption: a heading inside the picture.
        lock: a pattern for the keys that are locks; all other keys are values.
        theme: "card" is opaque and light; "live" takes the colours of the page it stands in.
        foot: lines of code to set beneath it.
    """
    sheet = _Timeline(Story(trace, lock))
    if caption:
        sheet.paragraph(caption, "head", 15)
    for first in range(1, sheet.steps + 1, sheet.per_row):
        sheet.row(first, min(sheet.steps, first + sheet.per_row - 1))
    if trace.broken is not None:
        sheet.pill("Broken", MARGIN, sheet.y, 58)
        sheet.paragraph(f"{trace.broken}.", "strong", 14, MARGIN + 68)
    for line in foot:
        sheet.paragraph(line, "code", 13)
    alt = f"timeline of {trace.schedule or 'no moves'}: {outcome(trace)}"
    return Picture(sheet.svg(alt, trace.spoken, theme), alt)


def outcome(trace: Trace) -> str:
    """How a trace ends, in a few words."""
    if trace.broken is not None:
        return trace.broken
    return trace.about_to or ("the rule holds" if trace.rule else "all have ended")


class _Timeline(Sheet):
    """The lanes of a story."""

    def __init__(self, story: Story) -> None:
        self.story, self.trace = story, story.trace
        self.made = len(self.trace.steps)
        # A column at the end for what the workers are about to do, while that is open.
        self.open = bool(self.trace.about_to) and self.trace.broken is None
        self.texts: dict[int, tuple[str, str]] = {}
        self.room = 0  # beneath a worker, for the label of an overlap
        super().__init__(self.made + self.open, self.trace.letters)

    def row(self, first: int, last: int) -> None:
        """The steps from `first` to `last`, with all lanes."""
        self.first, self.last = first, last
        top = self.y
        self.room = 20 * any(self.ends(span.start, span.end) for span in self.story.together)
        self._moves()
        lines = {letter: self._worker(letter) for letter in self.letters}
        for span in self.story.together:
            self._together(span, lines)
        for key, leases in self.story.leases.items():
            self._lock(key, leases)
        keys = list(self.story.writes)
        for key in keys[:KEYS]:
            self._value(key, self.story.writes[key])
        if len(keys) > KEYS:
            self.say(f"and {len(keys) - KEYS} more keys", LABELS, self.y + 8, "quiet start")
            self.y += LINE
        for step in self.trace.steps[first - 1 : last]:
            x, end = number(self.x(step.number)), number(self.y - 4)
            line, below = self.texts.get(step.number, (end, end))  # not behind the step's own text
            guide = f"M{x} {number(top + 40)}V{line}M{x} {below}V{end}"
            is_time = step.move.kind == moves.TIME
            (self.back if is_time else self.under).append(
                path(guide, "time" if is_time else "guide")
            )
        self.y += 10

    def _moves(self) -> None:
        """The schedule's letters, and the clock."""
        before = self.trace.steps[self.first - 2].at_ms if self.first > 1 else 0
        self.say(f"{before} ms", LABELS - 8, self.y + 33, "quiet end")
        for step in self.trace.steps[self.first - 1 : self.last]:
            x = self.x(step.number)
            broken = step.number == self.trace.broken_at
            if broken:
                self.front.append(self.rect(x - 17, self.y - 2, 34, 25, "alarm", 5))
            self.say(step.move, x, self.y + 17, "move said" if broken else "move")
            if step.move.kind == moves.TIME:
                self.say(f"{step.at_ms} ms", x, self.y + 33, "quiet")
        if self.open and self.last == self.steps:
            self.say("next", self.x(self.last), self.y + 16, "quiet")
        self.y += 44

    # -- workers ----------------------------------------------------------------------------------

    def _worker(self, letter: str) -> float:
        """A worker's lane; returns the height of its line."""
        y = self.y + 20
        badge = element("circle", cx=LABELS - 28, cy=y, r=12, class_=f"line w{letter}")
        self.front.append(badge)
        self.say(letter, LABELS - 28, y + 5.5, "name")
        for span in self.story.sections[letter]:
            self._section(span, y)
        self._life(letter, y)
        marks = [mark for mark in self.story.marks[letter] if self.here(mark.at)]
        heights = [self._mark(mark, letter, y) for mark in marks]
        pending = self.trace.pending[letter]
        if self.open and self.last == self.steps and not isinstance(pending, Ended):
            said = wrap(str(pending), self.column - 6, 13, lines=4)
            self.lines([(line, "code quiet") for line in said], self.x(self.last), y + 26)
            heights.append(len(said))
        self.y = y + 24 + LINE * max(heights, default=0) + (self.room or 4)
        return y

    def _section(self, span: Span, y: float) -> None:
        ends = self.bar(span, y, 9)
        if ends is not None and span.start >= self.first:
            self.say("inside", ends[0] + 10, y - 14, "start")

    def _life(self, letter: str, y: float) -> None:
        """The worker's line: thin before its first step, a gap in a pause, dots in a wait."""
        marks, end = self.story.marks[letter], self.story.ended.get(letter)
        begin = at = float(marks[0].at if marks else self.made + 1)
        self.stretch(told.START, begin, y, "guide")
        for left, right, doing in self._gaps(letter):
            if left > begin:
                self.stretch(at, left, y, f"line w{letter}")
                self._idle(left, right, y, doing, letter)
                at = right
        self.stretch(at, self.made + 0.5 if end is None else end, y, f"line w{letter}")
        if end is None:
            self.stretch(self.made + 0.5, None, y, f"line later w{letter}")
        elif self.here(end):
            stop = f"M{number(self.x(end))} {number(y)}h14m0-9v18"
            self.front.append(path(stop, f"line w{letter}"))

    def _gaps(self, letter: str) -> list[tuple[float, float, str]]:
        """Where the worker stands still while time passes; neighbours with one word are one."""
        gaps: list[tuple[float, float, str]] = []
        for (who, step), doing in sorted(self.story.idle.items()):
            if who == letter and self.here(step):
                left, right = step - 0.4, step + 0.4
                if gaps and gaps[-1][1:] == (right - 1, doing):
                    left = gaps.pop()[0]
                gaps.append((left, right, doing))
        return gaps

    def _idle(self, left: float, right: float, y: float, doing: str, letter: str) -> None:
        x1, x2 = self.x(left), self.x(right)
        if doing == "waits":
            self.back.append(path(f"M{number(x1)} {number(y)}H{number(x2)}", "blank"))
            self.stretch(left, right, y, f"line wait w{letter}")
        else:
            self.back.append(self.rect(x1, y - 11, x2 - x1, 22, "ground"))
            ticks = f"M{number(x1)} {number(y - 7)}v14M{number(x2)} {number(y - 7)}v14"
            self.front.append(path(ticks, f"line w{letter}"))
        self.say(doing, (x1 + x2) / 2, y - 14 if doing == "waits" else y + 4)

    def _mark(self, mark: Mark, letter: str, y: float) -> int:
        """One step of a worker, its command and reply beneath; returns the lines of text."""
        x, width = self.x(mark.at), self.column - 6
        whole = element("title", escape(f"{mark.command} → {mark.reply}"))
        self.front.append(element("g", whole + _marker(mark, letter, x, y)))
        lines = [(line, "code") for line in wrap(mark.command, width, 13, lines=4)]
        if mark.fault == moves.CRASH:
            lines.insert(0, ("dies before" if mark.command else "dies", ""))
        elif mark.reply:
            lines += [(line, "code quiet") for line in wrap(f"→ {mark.reply}", width, 13, lines=2)]
        for note in mark.notes:
            lines += [(line, "") for line in wrap(note, width, 12, lines=2, em=SANS)]
        if mark.number:
            self.say(mark.number, x - 10, y - 10, "number end")
        self.lines(lines, x, y + 26)
        if mark.kind != told.WAKE:
            self.texts[mark.at] = (number(y), number(y + 17 + LINE * len(lines)))
        return len(lines)

    def _together(self, span: Span, lines: dict[str, float]) -> None:
        """Several workers inside at once: a framed field over their lanes, with a label."""
        ends = self.ends(span.start, span.end)
        if ends is None:
            return
        heights = [lines[letter] for letter in span.who]
        top, bottom = min(heights) - 12, max(heights) + 12
        self.back.append(self.rect(ends[0], top, ends[1] - ends[0], bottom - top, "clash"))
        label = f"{', '.join(span.who[:-1])} and {span.who[-1]} inside"
        width = len(label) * 13 * SANS + 14
        x = min(max(LABELS, sum(ends) / 2 - width / 2), self.width - MARGIN - width)
        self.pill(label, x, heights[-1] - 49, width)

    # -- locks and values -------------------------------------------------------------------------

    def _lock(self, key: str, leases: list[Span]) -> None:
        y = self.y + 14
        self.lane_name(key, y)
        self.stretch(told.START, None, y, "guide")
        for span in leases:
            self._lease(span, y)
        self.y = y + 32

    def _lease(self, span: Span, y: float) -> None:
        ends = self.bar(span, y, 12)
        if ends is None:
            return
        for label in (span.text, span.text.split(" · ")[0], span.who):
            width = len(label) * MONO * 13 + 8
            if label and width + 6 <= ends[1] - ends[0]:
                self.back.append(self.rect(ends[0] + 4, y - 8.5, width, 17, "ground", 3))
                self.say(label, ends[0] + 8, y + 4.5, "code start")
                break
        if span.ending and self.here(span.end):
            self.say(span.ending, ends[1], y + 26)

    def _value(self, key: str, writes: list[Write]) -> None:
        y = self.y + 10
        self.lane_name(key, y)
        self.stretch(told.START, None, y, "guide")
        value = self.story.first[key]
        for write in writes:
            if write.at < self.first:
                value = write.after
            elif write.at <= self.last:
                self._write(write, y)
        self.say(value or "(none)", LABELS + 2, y + 4.5, "code quiet start")
        self.y = y + 32

    def _write(self, write: Write, y: float) -> None:
        x = self.x(write.at)
        said = f"{write.before or '(none)'} → {write.after or '(none)'}"
        kind = told.WRITE if write.accepted else told.REFUSED
        self.front.append(_shape(kind, write.who, x, y))
        said = said if write.accepted else "refused"
        self.say(wrap(said, self.column, 13, lines=1)[0], x, y + 21, "code")
        if write.number:
            self.say(write.number, x - 10, y - 6, "number end")


def _marker(mark: Mark, letter: str, x: float, y: float) -> str:
    """What a step looks like on a worker's line; lost messages have a broken arrow beside it."""
    if mark.kind == told.WAKE:
        return ""
    if mark.fault == moves.CRASH:
        return path(f"M{number(x - 9)} {number(y - 9)}l18 18m0-18l-18 18", "crash")
    shape = _shape(mark.kind, letter, x, y)
    if mark.fault in (moves.LOST_REPLY, moves.LOST_REQUEST):
        a = number(x + 20)
        arrow = (f"M{a} {number(y - 22)}v14m0 6v10m-5-6l5 6l5-6" if mark.kind == told.UNSENT
                 else f"M{a} {number(y + 10)}v-14m0-6v-10m-5 6l5-6l5 6")  # fmt: skip
        shape += path(arrow, "arrow") + text(mark.fault, x + 34, y - 4, "move")
    return shape


def _shape(kind: str, letter: str, x: float, y: float) -> str:
    """Filled: it wrote. Small and hollow: it read. Hollow with a cross: refused. Dotted: unsent."""
    class_ = {told.WRITE: "full", told.UNSENT: "open wait"}.get(kind, "open")
    shape = element("circle", cx=x, cy=y, r=5.5 if kind == told.READ else 8,
                    class_=f"{class_} w{letter}")  # fmt: skip
    if kind == told.REFUSED:
        cross = f"M{number(x - 4)} {number(y - 4)}l8 8m0-8l-8 8"
        shape += path(cross, f"line w{letter}")
    return shape
