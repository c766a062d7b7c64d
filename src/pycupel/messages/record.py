"""A cache that a selection keeps for the next one of the same history. It never changes the result."""

from __future__ import annotations

from bisect import bisect_left

from pycupel.messages.cuts import START, Replayed, State
from pycupel.messages.fingerprints import Fingerprints, owners_of, shape_of
from pycupel.messages.history import History
from pycupel.messages.result import Checkpoint, MessageSelection

# In the repr of an object whose class does not define one.
_ADDRESS = " at 0x"


class Record:
    """Recognises an earlier selection from the start of a history, with the same arguments."""

    def __init__(self, history: History, fingerprints: Fingerprints, facts: tuple[object, ...]) -> None:
        self._history = history
        self._facts = (history.provider.name, *facts)
        self._count = len(history.tokens)
        self._fingerprints = fingerprints
        self._owners = owners_of(history.units, self._count)

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the whole history and the arguments."""
        return self._fingerprint(self._count)

    def _fingerprint(self, end: int) -> str:
        # Counters and pins may be functions, so compare their results for the messages.
        tokens, pins = self._history.tokens[:end], self._history.pins
        return self._fingerprints.of_first(end, tokens, pins[: bisect_left(pins, end)], self._facts)

    def continues(self, previous: MessageSelection) -> bool:
        """Whether the selection was made from the start of this history, with the same arguments."""
        if previous.reading is None and any(_ADDRESS in fact for fact in self._facts if isinstance(fact, str)):
            # The selection was stored, so another object may have got the address of its strategy.
            return False
        end = previous.history_length
        return end <= self._count and previous.fingerprint == self._fingerprint(end)

    def state_of(self, previous: MessageSelection | None) -> State:
        """Return where the replay may continue: the last checkpoint of `previous` that is also a point here."""
        if previous is None:
            return START
        history = self._history
        points = {*history.points, 0}
        reasons = {each.index: each.reason for each in previous.dropped}
        for checkpoint in reversed(previous.checkpoints):
            end = checkpoint.end
            if end in points and end < self._count and checkpoint.shape == shape_of(self._owners[:end]):
                gone = {bisect_left(history.firsts, n): reasons[n] for n in checkpoint.gone}
                return State(end, gone, checkpoint.texts)
        return START

    def checkpoints(self, replayed: Replayed) -> tuple[Checkpoint, ...]:
        """Return the last point before the end, and the end itself, which may become a point."""
        return self._checkpoint(replayed.before), self._checkpoint(replayed.now)

    def _checkpoint(self, state: State) -> Checkpoint:
        units = self._history.units
        return Checkpoint(
            state.end,
            tuple(sorted([units[i].indices[0] for i in state.gone])),
            shape_of(self._owners[: state.end]),
            state.texts,
        )
