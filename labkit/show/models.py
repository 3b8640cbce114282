"""What the widgets know: questions and their answers. No browser here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labkit.sim.errors import LabkitError


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
