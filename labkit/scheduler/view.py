"""The widget: buttons, keys and text fields over the model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from labkit.cases.case import Case
from labkit.scheduler import words
from labkit.scheduler.lanes import hidden_lanes
from labkit.scheduler.model import Stepper
from labkit.scheduler.options import HINT, Keys, Option
from labkit.scheduler.page import LARGE, legend, report, said, tables
from labkit.show.twin import Twin
from labkit.sim import schedule as moves
from labkit.sim.nodes import Worker
from labkit.sim.schedule import Move

#: How long the search may keep the kernel from answering a click, the pause after that,
#: and how often its progress is shown.
_SEARCH_S, _PAUSE_S, _SAY_EVERY_S = 0.010, 0.002, 0.3
_OF_CASE = ("check", "setup", "workers", "pauses", "faults", "lag", "evict")


def be_the_scheduler(
    worker: Worker | Mapping[str, Worker] | Case,
    schedule: str = "",
    *,
    instead: Worker | Mapping[str, Worker] | None = None,
    hide: str = "",
    present: bool = False,
    **settings: Any,
) -> Twin:
    """One button for each move, undo, a hint, and the schedule as text to copy and to paste.

    Args:
        worker: a worker function, a mapping letter -> function, or a case, whose wrong worker and
            whose rule, faults and pauses are taken.
        schedule: where to begin.
        instead: in a case, another worker in the place of the wrong one.
        hide: lanes to hide until they are asked for, such as "server" or "server B".
        present: large type, and one key for each move, for a room.
        settings: workers, setup, check, pauses, faults as for `labkit.explore`.

    Raises:
        LabkitError: for a worker that cannot be run, and for settings that do not exist.
    """
    if isinstance(worker, Case):
        case = worker
        of_case = {name: getattr(case, name) for name in _OF_CASE if hasattr(case, name)}
        worker, settings = instead or case.wrong, of_case | settings
    stepper = Stepper(worker, schedule, **settings)
    hidden = hidden_lanes(hide, stepper.trace.letters)
    state = "" if hidden else f"{stepper.schedule or 'no move yet'}; {stepper.trace.about_to}"
    # No SVG here: a notebook that is not trusted yet would show its words without the picture.
    static = [said([("Not possible.", stepper.error)]) if stepper.error else "",
              tables(stepper, hidden),
              "<p>Run this cell to choose the moves yourself.</p>"]  # fmt: skip
    return Twin(
        _View(stepper, hidden, present).controls,
        plain=f"be the scheduler: {state or 'hidden: ' + hide}",
        static="\n".join(static),
    )


class _View:
    """The controls, which always show what the model says."""

    def __init__(self, stepper: Stepper, hidden: frozenset[str], present: bool) -> None:
        self._stepper, self._hidden, self._lanes = stepper, hidden, hidden
        self._present, self._keys = present, Keys()
        self._asked: set[Callable[[Stepper], str]] = set()
        self._task: asyncio.Task[None] | None = None
        self._buttons: dict[Move, Any] = {}
        self._lines: dict[str, Any] = {}
        self._moves = widgets.VBox()
        self._messages, self._report = widgets.HTML(), widgets.HTML()
        self._text = self._field("Schedule", "such as A B A B; paste one here", self._typed)
        self._key = self._field("Keys", "click here, then one key for each move", self._pressed)
        self._key.continuous_update = True
        self._undo = self._button("Undo", "Take back the last move", stepper.undo)
        self._redo = self._button("Redo", "Make a move again that was taken back", stepper.redo)
        self._restart = self._button("Restart", "Take back every move", stepper.restart)
        self._hint = self._button("Hint", "A shortest way from here to a violation",
                                  lambda: self._ask(words.hint))  # fmt: skip
        self._counts = self._button("Counts", "How many of all schedules break the rule",
                                    lambda: self._ask(words.counts))  # fmt: skip
        self._reveal = self._button("Reveal", "Show or hide the lanes", self._turn)
        self._show()

    @property
    def controls(self) -> list[Any]:
        buttons = [self._undo, self._redo, self._restart, self._hint, self._counts]
        fields = [self._key, self._text] if self._present else [self._text]
        row = _row([*fields, *buttons, *[self._reveal] * bool(self._lanes)])
        first = [row, self._moves] if self._present else [self._moves, row]
        return [*first, self._messages, self._report]

    # -- making controls ----------------------------------------------------------------------

    def _button(self, description: str, tooltip: str, change: Callable[[], None]) -> Any:
        button = widgets.Button(description=description, tooltip=tooltip, layout={"width": "auto"})
        button.on_click(lambda _: self._after(change))
        return button

    def _field(self, name: str, placeholder: str, changed: Callable[[Any], None]) -> Any:
        field = widgets.Text(description=name, placeholder=placeholder, continuous_update=False)
        field.layout.width = "220px" if self._present else "420px"
        field.style.description_width = "initial"
        field.observe(changed, "value")
        return field

    def _button_of(self, option: Option) -> Any:
        """The button of a move stays the same one, so that it keeps the keyboard's focus."""
        button = self._buttons.get(option.move)
        if button is None:
            button = self._button("", "", lambda: self._stepper.play(option.move))
            if self._present:
                button.style.font_size, button.layout.height = LARGE, "44px"
            self._buttons[option.move] = button
        hidden = option.lane in self._hidden and option.enabled
        name = f"{option.move}: (hidden)" if hidden else str(option)
        button.description = self._short(option, name) if self._present else name
        button.tooltip = moves.MEANING[option.move.kind] if option.enabled else name
        button.disabled = not option.enabled
        return button

    def _short(self, option: Option, name: str) -> str:
        """For a room: with its key, and without what `page.legend` says once for all workers."""
        key = self._keys.of(option.move)
        name = str(option.move) if option.enabled and option.move.is_fault else name.split(", ")[0]
        return f"[{key}] {name}" if key else name

    # -- what the reader does -----------------------------------------------------------------

    def _typed(self, change: Any) -> None:
        # The schedule itself, without a mistake before it, was written by `_show`, not typed.
        if change["new"] != self._shown_schedule() or self._stepper.error:
            self._after(lambda: self._stepper.write(change["new"]))

    def _pressed(self, change: Any) -> None:
        """Each new character is a move; each one that is deleted takes a move back."""
        before, now = change["old"], change["new"]
        for key in now.removeprefix(before) if now.startswith(before) else "":
            self._after(lambda key=key: self._press(key))  # type: ignore[misc]
        for _ in before.removeprefix(now) if before.startswith(now) else "":
            self._after(self._stepper.undo)

    def _press(self, key: str) -> None:
        move = self._keys.move(key)
        if key.lower() == HINT:
            self._ask(words.hint)
        elif move is not None:
            self._stepper.play(move)
        elif not key.isspace():
            self._stepper.error = f'"{key}" is the key of no move. Keys: {self._keys}.'

    def _ask(self, what: Callable[[Stepper], str]) -> None:
        self._asked.add(what)

    def _turn(self) -> None:
        self._hidden = frozenset() if self._hidden else self._lanes

    def _after(self, change: Callable[[], None]) -> None:
        self._asked.discard(words.hint)  # it was a hint from where the reader stood before
        try:
            change()
            self._show()
        except Exception as error:  # a callback's exception would be seen by nobody
            self._messages.value = said([("Not possible.", f"{type(error).__name__}: {error}")])

    # -- what is shown ------------------------------------------------------------------------

    def _show(self) -> None:
        stepper = self._stepper
        self._show_moves()
        self._undo.disabled = self._restart.disabled = not stepper.schedule
        self._redo.disabled = not stepper.can_redo
        self._hint.disabled = self._counts.disabled = bool(self._hidden)
        self._reveal.description = "Reveal" if self._hidden else "Hide again"
        if not stepper.error:  # a schedule with a mistake stays, so that it can be corrected
            self._text.value = self._shown_schedule()
        self._report.value = report(stepper, self._hidden, self._present)
        self._show_messages()
        if not stepper.searched and (self._asked or stepper.trace.broken is not None):
            self._look()

    def _shown_schedule(self) -> str:
        return "" if self._hidden else self._stepper.schedule

    def _show_moves(self) -> None:
        """A line of buttons for each worker, and one for time and the server."""
        self._keys.give(option.move for option in self._stepper.options)
        lines: dict[str, list[Any]] = {}
        for option in self._stepper.options:
            lines.setdefault(option.lane, []).append(self._button_of(option))
        for lane, line in lines.items():
            if lane not in self._lines:
                self._lines[lane] = _row([])
            row = self._lines[lane]
            if list(row.children) != line:
                row.children = line
        if len(self._moves.children) != len(self._lines):
            self._moves.children = list(self._lines.values())

    def _show_messages(self) -> None:
        stepper = self._stepper
        if self._hidden:
            lanes = ", ".join(sorted(self._hidden))
            lines = [("Hidden:", f"{lanes}. What can be known without?")]
        else:
            lines = [("Now:", words.spoken(stepper)), ("Broken:", words.score(stepper))]
        if stepper.error:
            lines.insert(0, ("Not possible.", stepper.error))
        for head, what in (("Hint:", words.hint), ("Counts:", words.counts)):
            if what in self._asked and not self._hidden:
                lines.append((head, what(stepper)))
        faults = stepper.bounds.faults if self._present else ()
        self._messages.value = legend(faults) + said(lines, self._present)

    # -- looking at all schedules -------------------------------------------------------------

    def _look(self) -> None:
        """Search in the pauses between two clicks; at once where there is no event loop."""
        if self._task is not None and not self._task.done():
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            while not self._stepper.search(_SEARCH_S):
                pass
            self._show_messages()
        else:
            self._task = loop.create_task(self._search())

    async def _search(self) -> None:
        said_at = 0.0
        while not self._stepper.search(_SEARCH_S):
            if time.monotonic() - said_at > _SAY_EVERY_S:
                said_at = time.monotonic()
                self._show_messages()
            await asyncio.sleep(_PAUSE_S)
        self._show_messages()


def _row(controls: list[Any]) -> Any:
    return widgets.Box(controls, layout={"flex_flow": "row wrap", "align_items": "center"})
