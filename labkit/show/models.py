"""What the widgets know: questions and their answers, a schedule being written. No browser here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from labkit.sim import schedule as moves
from labkit.sim.checks import Check
from labkit.sim.commands import Command
from labkit.sim.errors import LabkitError, ScheduleError
from labkit.sim.nodes import Worker
from labkit.sim.program import Program, Setup, fault_budget
from labkit.sim.replaying import Execution, why_not
from labkit.sim.schedule import Move, Schedule
from labkit.sim.trace import Trace


class Prediction:
    """A question with choices. The right one is asked for only when the reader has chosen.

    Args:
        choices: values, or a mapping from values to the text that is shown for them.
        answer: the right value, or a function that returns it (usually: that runs something).
    """

    def __init__(self, question: str, choices: Iterable[Any], answer: Any) -> None:
        self.question = question
        texts = choices if isinstance(choices, Mapping) else {value: value for value in choices}
        self.choices = {str(text): value for value, text in texts.items()}
        if len(self.choices) < 2 or len(self.choices) < len(texts):
            raise LabkitError(f'predict("{question}"): it needs two or more different choices.')
        self._answer = answer
        self.chosen: str | None = None
        self.right: str | None = None

    def choose(self, text: str) -> None:
        """Take the reader's choice; the first one counts.

        Raises:
            LabkitError: when what the run says is none of the choices.
        """
        if self.chosen is None:
            value = self._answer() if callable(self._answer) else self._answer
            right = [t for t, v in self.choices.items() if v == value]
            if not right:
                raise LabkitError(f"The run says {value!r}, which is none of the choices: "
                                  f"{', '.join(self.choices)}.")  # fmt: skip
            self.chosen, self.right = text, right[0]

    @property
    def missed(self) -> bool:
        return self.chosen != self.right

    @property
    def verdict(self) -> str:
        """What was said and what is, in words; "" before an answer."""
        if self.chosen is None:
            return ""
        if self.missed:
            return f"You said {self.chosen}; it is {self.right}."
        return f"You said {self.chosen}, and it is {self.right}."


class Predictions:
    """The questions of a page, with what became of them. Asking one again starts it afresh."""

    def __init__(self) -> None:
        self._asked: dict[str, Prediction] = {}

    def add(self, prediction: Prediction) -> None:
        self._asked[prediction.question] = prediction

    @property
    def asked(self) -> list[Prediction]:
        return list(self._asked.values())

    @property
    def answered(self) -> list[Prediction]:
        return [prediction for prediction in self.asked if prediction.chosen is not None]

    @property
    def missed(self) -> list[Prediction]:
        return [prediction for prediction in self.answered if prediction.missed]

    def __repr__(self) -> str:
        asked, answered, missed = len(self.asked), len(self.answered), len(self.missed)
        if not asked:
            return "No prediction has been asked yet."
        if not answered:
            return f"You have not answered any of {asked} predictions yet."
        counts = f"{answered - missed} right, {missed} wrong, {asked - answered} not answered"
        lines = [f"Of {asked} predictions: {counts}."]
        lines += [f"- {missed.question} {missed.verdict}" for missed in self.missed]
        return "\n".join(lines)


#: The questions that this kernel has asked.
PREDICTIONS = Predictions()


@dataclass(frozen=True, slots=True)
class Option:
    """A move that can be made now, or cannot. `text` says what it does, or why not."""

    move: Move
    text: str
    enabled: bool


class Stepper:
    """A schedule that is written letter by letter.

    Args:
        faults: the faults that may be chosen, such as "?~!".

    Attributes:
        trace: what has happened so far.
        options: every move, whether possible or not.
        error: why the last text was no possible schedule; "" if it was.
    """

    def __init__(
        self,
        worker: Worker | Mapping[str, Worker],
        schedule: str = "",
        *,
        workers: str | None = None,
        setup: Setup | None = None,
        check: Check | Iterable[Check] | None = None,
        faults: str = "",
    ) -> None:
        self._program = Program(worker, workers, setup, check)
        self._faults = tuple(fault_budget(faults))
        with self._program.virtual():
            self._machine = self._program.machine(faults=self._faults)
            self._machine.locals.close()
        self.error = ""
        self.write(schedule)

    @property
    def schedule(self) -> str:
        return str(self.trace.schedule)

    def write(self, text: str) -> None:
        """Take a whole schedule; where it is not possible, what stands before that is kept."""
        try:
            schedule = Schedule.parse(text)
        except ScheduleError as error:
            self.error = str(error)
            return
        self._play(schedule)

    def play(self, move: Move) -> None:
        """Add one move."""
        self._play([*self.trace.schedule, move])

    def undo(self) -> None:
        self._play(self.trace.schedule[:-1])

    def reset(self) -> None:
        self._play(())

    def _play(self, schedule: Iterable[Move]) -> None:
        self.error = ""
        with self._executing() as execution:
            try:
                for move in schedule:
                    execution.make(move)
            except ScheduleError as error:
                self.error = str(error)
            self.trace: Trace = execution.trace(partial=bool(execution.enabled()))
            self.options = list(self._options(execution))

    @contextmanager
    def _executing(self) -> Iterator[Execution]:
        """From the start again: the machine's tables know every move made before."""
        with self._program.virtual():
            try:
                yield Execution(self._program, self._machine)
            finally:
                self._machine.locals.close()

    def _options(self, execution: Execution) -> Iterator[Option]:
        enabled = execution.enabled()
        kinds = (moves.RUN, *self._faults)
        every = [Move(kind, letter) for letter in self._machine.letters for kind in kinds]
        for move in [*every, Move(moves.TIME)]:
            if move in enabled:
                yield Option(move, self._meaning(execution, move), True)
            else:
                yield Option(move, why_not(self._machine, execution.state, move), False)

    def _meaning(self, execution: Execution, move: Move) -> str:
        if move.worker is None:
            return f"time passes to {self._machine.deadline(execution.state)} ms"
        pending = self._machine.pending(execution.state)[move.worker]
        said: dict[str, Callable[[str], str]] = {
            moves.RUN: str,
            moves.LOST_REPLY: "{}, reply lost".format,
            moves.LOST_REQUEST: "{}, request lost".format,
            moves.CRASH: "crash before {}".format,
        }
        return said[move.kind](str(pending) if isinstance(pending, Command) else "it wakes")
