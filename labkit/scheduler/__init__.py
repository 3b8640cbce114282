"""Be the scheduler: a schedule that the reader writes, letter by letter.

From the bottom up:

    options  every move there is now: what it does, or why it cannot be made
    search   every way to go on, looked through bit by bit while the reader goes on clicking
    model    the schedule being written: play, undo, paste; no browser here
    words    hint, counts and score, as sentences
    lanes    what can be seen while the lane of the server, or of a worker, is hidden
    page     the trace and the store's contents, as HTML
    view     the widget: buttons, keys and text fields over the model
"""

from labkit.lazy import lazy

_WHERE = {"be_the_scheduler": ".view", "Stepper": ".model"}

__all__ = sorted(_WHERE)
__getattr__ = lazy(__name__, _WHERE)
