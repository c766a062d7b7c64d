"""Exit codes, and errors as one message on stderr instead of a traceback."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

_NARROWEST, _USUAL = 40, 80


def screen_width() -> int:
    """Return COLUMNS, the terminal's width, or 80, like `shutil.get_terminal_size`, whose import takes too long."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(_NARROWEST, int(columns))
    try:
        return max(_NARROWEST, os.get_terminal_size(sys.__stdout__.fileno()).columns)  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return _USUAL


OK, FINDINGS, USAGE, TOO_LARGE, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit codes. `lint`, `diff`, `check` and `conformance` have findings; too large: what must stay does not fit."""


class InputError(Exception):
    """A mistake in the arguments or in a file. The user sees only the message."""


def run_guarded(run: Callable[[], int]) -> int:
    """Call `run()` and return the exit code. Expected exceptions become messages."""
    try:
        _prepare_streams()
        try:
            code = run()
        except SystemExit as finished:
            # argparse has printed the help or the version.
            code = int(finished.code or OK)
        # Here, because an error of the flush at exit would be a traceback.
        sys.stdout.flush()
    except BrokenPipeError:
        # The reading process has closed the pipe.
        _discard(sys.stdout)
        return OK
    except KeyboardInterrupt:
        end_line_of_interrupt()
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - what is no mistake of the user is raised again
        return report(error)
    return code


def end_line_of_interrupt() -> None:
    """End the line on which the terminal has shown ^C. The shell writes its prompt right after it."""
    if sys.stderr.isatty():
        sys.stderr.write("\n")


def report(error: Exception) -> int:
    """Write the error to stderr, and return the exit code. A defect is raised again, because it needs its traceback."""
    outcome = _outcome_of(error)
    if outcome is None:
        raise error
    from pycupel.cli.output import visible  # noqa: PLC0415 - only after something went wrong

    code, message = outcome
    write_message(sys.stderr, f"pycupel: {visible(message)}\n")
    return code


def write_message(stderr: TextIO, message: str) -> None:
    """Write a message to stderr. If that is closed or full, what matters is the output and the exit code."""
    try:
        stderr.write(message)
    except OSError:
        _discard(stderr)


def _discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, or Python would print an error when it flushes the stream at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _prepare_streams() -> None:
    """Make streams escape characters that they cannot encode. A closed stream discards everything."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _outcome_of(error: Exception) -> tuple[int, str] | None:
    """Return the exit code and the message for an error; None for a defect, which needs its traceback."""
    if isinstance(error, InputError):
        return USAGE, str(error)
    if isinstance(error, OSError):
        from pycupel.text import escaped  # noqa: PLC0415 - only after something went wrong

        # Without quotes, the empty name of an unset variable would not be seen.
        where = "" if error.filename is None else f"{escaped(str(error.filename)) or repr('')}: "
        return USAGE, f"{where}{error.strerror.lower()}" if error.strerror else str(error)
    from pycupel import errors  # noqa: PLC0415 - only after something went wrong

    if not isinstance(error, errors.CupelError):
        return None
    too_large = (errors.PinnedExceedsBudgetError, errors.BudgetOverflowError, errors.UnitTooLargeError)
    return TOO_LARGE if isinstance(error, too_large) else USAGE, f"{error}{notes_of(error)}"


def notes_of(error: Exception) -> str:
    """Return the notes of an error, each on its own line."""
    return "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
