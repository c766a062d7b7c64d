"""The terminal: width, colours, characters, progress, closed pipes and other ends."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pycupel import KindScorer, Policy
from pycupel.cli import exits, main, output
from pycupel.cli.output import Screen, visible
from pycupel.policies import parse_policy, policy_to_dict
from tests.cli.calls import Call
from tests.cli.console import Shell

pytestmark = pytest.mark.posix


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Encoded(Terminal):
    encoding = "utf-8"


class Unencoded(Terminal):
    encoding = "no such encoding"


def screen_for(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, **environment: str) -> Screen:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", stream)
    return Screen.of_process()


@pytest.mark.parametrize(
    ("stream", "environment", "color"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (io.StringIO(), {}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "0"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (Unencoded(), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, environment: dict[str, str], color: bool
) -> None:
    assert screen_for(monkeypatch, stream, **environment).color is color


@pytest.mark.parametrize(("given", "color"), [("always", True), ("never", False)])
def test_an_option_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch, given: str, color: bool) -> None:
    screen_for(monkeypatch, Terminal(), NO_COLOR="1" if color else "")
    assert Screen.of_process(color=given).color is color


@pytest.mark.parametrize(("columns", "width"), [("100", 100), ("7", 40), ("0", 80), ("x", 80)])
def test_the_width(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    def refuse(_: int) -> Any:
        raise OSError

    monkeypatch.setattr("os.get_terminal_size", refuse)
    assert screen_for(monkeypatch, io.StringIO(), COLUMNS=columns).width == width
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((123, 45)))
    monkeypatch.delenv("COLUMNS")
    with open(os.devnull, encoding="utf-8") as null:  # noqa: PTH123
        monkeypatch.setattr("sys.__stdout__", null)
        assert Screen.of_process().width == 123


def test_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, unicode = (screen_for(monkeypatch, stream) for stream in (Terminal(), Encoded()))
    assert (plain.unicode, unicode.unicode) == (False, True)
    assert [plain.bar(part, 8) for part in (0, 0.3, 1)] == ["", "##", "########"]
    assert [unicode.bar(part, 8) for part in (0, 0.3, 0.5, 1)] == ["", "██▍", "████", "████████"]
    assert "".join(plain.column(n / 8) for n in range(-1, 10)) == "  ...:::###"
    assert "".join(unicode.column(n / 8) for n in range(-1, 10)) == "  ▁▂▃▄▅▆▇██"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢", "plain é 漢"),
        ("red \x1b[31m", "red \\x1b[31m"),
        ("a\nb\tc", "a\nb\\tc"),
        ("a\rb\x0b\x0c\x1c\x85\u2028\xa0", "a\\rb\\x0b\\x0c\\x1c\\x85\\u2028\\xa0"),
        ("\u202eabc\u200f \x9b \u200b", "\\u202eabc\\u200f \\x9b \\u200b"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_might_interpret_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible("a\r\n\tb \x1b \u202e", laid_out=True) == "a\r\n\tb \\x1b \\u202e", "a table lays out its words"


class Clock:
    """Stands in for the clock of the screen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(output, "perf_counter", lambda: self.now)


def test_progress_begins_after_a_second_and_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, err = Clock(monkeypatch), Terminal()
    with Screen(io.StringIO(), err).progress_of("calls:") as show:
        clock.now = 0.9
        show(1, 4)
        assert err.getvalue() == ""
        clock.now = 2.0
        show(2, 4)
        assert err.getvalue().rstrip(" ") == f"\rcalls: 2 of 4 {'#' * 12} 2 s left"
        clock.now = 2.05
        show(3, 4)
        assert "3 of 4" not in err.getvalue(), "no more often than ten times a second"
        clock.now = 3.0
        show(3, 0)
        assert err.getvalue().rstrip(" ").endswith("\rcalls: 3"), "the total may be unknown"
    assert err.getvalue().endswith(" \r")


def test_in_a_log_progress_is_a_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, err = Clock(monkeypatch), io.StringIO()
    with Screen(io.StringIO(), err).progress_of("calls:") as show:
        for clock.now in (30.0, 61.0, 90.0, 122.0):
            show(int(clock.now), 244)
    assert err.getvalue() == "pycupel: calls: 61 of 244 183 s left\npycupel: calls: 122 of 244 122 s left\n"


def test_what_is_quick_or_quiet_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, err = Clock(monkeypatch), Terminal()
    with Screen(io.StringIO(), err).progress_of("calls:") as show:
        show(1, 1)
    with Screen(io.StringIO(), err, quiet=True).progress_of("calls:") as show:
        clock.now = 5.0
        show(1, 2)
    with Screen(io.StringIO(), err).busy("selecting"):
        pass
    assert err.getvalue() == ""


def test_what_cannot_be_measured_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, err = Clock(monkeypatch), Terminal()
    timer = threading.Timer
    monkeypatch.setattr("threading.Timer", lambda _, run, arguments: timer(0.0, run, arguments))
    with Screen(io.StringIO(), err).busy("selecting from 3 items"):
        while not err.getvalue():
            time.sleep(0.001)
        clock.now = 1.5
    assert err.getvalue().startswith("\rselecting from 3 items ...")
    assert err.getvalue().endswith(" \r")


def test_reading_shows_its_progress(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In bytes of a file; of stdin and of compressed files, nobody knows the size."""
    notes, ticks = list[str](), count(0, 61)
    monkeypatch.setattr(output, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(Screen, "note", lambda _, text: notes.append(text))
    rows = '{"content": "a", "tokens": 1}\n' * 2
    path = tmp_path / "items.jsonl"
    path.write_text(rows, encoding="utf-8")
    for arguments, text, expected in (
        ([str(path)], "", f"bytes of {path} read: 60 of 60 0 s left"),
        (["-"], rows, "lines of stdin read: 1"),
    ):
        call("select", *arguments, "-b", "5", text=text)
        assert expected in notes


def test_an_error_does_not_follow_the_progress_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is the bar longer than a line, which could not be replaced."""
    clock, err = Clock(monkeypatch), Terminal()
    with suppress(ZeroDivisionError), Screen(io.StringIO(), err, width=40).progress_of("calls:") as show:
        clock.now = 5.0
        show(1, 1)
        raise ZeroDivisionError
    assert [len(line) for line in err.getvalue().split("\r")] == [0, 39, 39, 0]


# --- ends


def ending(error: BaseException) -> Callable[[], int]:
    def run() -> int:
        raise error

    return run


def test_a_defect_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        exits.run_guarded(ending(ZeroDivisionError()))


def test_other_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert exits.run_guarded(ending(KeyboardInterrupt())) == 130
    assert exits.run_guarded(ending(SystemExit())) == 0
    assert exits.run_guarded(ending(OSError("no luck"))) == 2
    assert capsys.readouterr().err == "pycupel: no luck\n"
    assert exits.run_guarded(ending(FileNotFoundError(2, "No such file or directory", ""))) == 2
    assert capsys.readouterr().err == "pycupel: '': no such file or directory\n"
    assert exits.run_guarded(ending(OSError(28, "No space left on device"))) == 2
    assert capsys.readouterr().err == "pycupel: no space left on device\n"


def test_after_an_interrupt_the_prompt_has_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Terminal()
    monkeypatch.setattr("sys.stderr", err)
    assert exits.run_guarded(ending(KeyboardInterrupt())) == 130
    assert err.getvalue() == "\n"


def test_stdin_may_be_closed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["select", "-", "-b", "5"]) == 2
    assert capsys.readouterr().err == "pycupel: stdin: is closed\n"


def test_stdin_stays_open_for_the_program_that_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ('{"role": "user", "content": "a"}', "no JSON", "\0"):
        for verb in (["trim", "-b", "50"], ["count"], ["replay", "-b", "50"], ["select", "-b", "50"]):
            stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
            monkeypatch.setattr("sys.stdin", stdin)
            main([*verb, "-"])
            assert stdin.read() == ""
    stdin.close()
    assert main(["select", "-", "-b", "5"]) == 2
    assert capsys.readouterr().err.endswith("pycupel: stdin: is closed\n")


def test_stdin_can_be_read_once(call: Call) -> None:
    for verb in (["count"], ["replay", "-b", "10"]):
        done = call(*verb, "-", "-", text='{"role": "user", "content": "a"}')
        assert (done.code, done.out) == (2, "")
        assert done.err == "pycupel: stdin: has been read already; use `-` only once\n"


def test_json_is_json_in_any_encoding(shell: Shell) -> None:
    r"""Issue: `\xe9` and `\U0001f600` are Python's escapes, which no JSON reader knows."""
    item = {"content": "é 漢 \U0001f600 \x1b", "tokens": 1}
    for encoding in ("ascii", "latin-1", "utf-8"):
        done = shell.run(f"PYTHONIOENCODING={encoding} pycupel select - -b 5 --quiet", text=json.dumps(item))
        assert (json.loads(done.stdout)["content"], done.stderr) == (item["content"], "")


def test_what_is_written_to_closed_streams_is_gone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for closed in (">&-", "2>&-"):
        done = shell.run(f"pycupel demo items {closed}")
        assert (done.returncode, done.stderr) == (0, "")
    monkeypatch.setattr("sys.stdout", None)
    assert exits.run_guarded(lambda: 0) == 0
    sys.stdout.close()


def test_a_closed_pipe_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    redirected: list[int] = []
    monkeypatch.setattr("os.dup2", lambda _, to: redirected.append(to))
    with open(os.devnull, "w", encoding="utf-8") as null:  # noqa: PTH123
        monkeypatch.setattr("sys.stdout", null)
        monkeypatch.setattr("os.open", lambda *_: 0)
        assert exits.run_guarded(ending(BrokenPipeError())) == 0
        assert redirected == [null.fileno()]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")  # noqa: PTH110
def test_a_stderr_that_nobody_can_read_does_not_change_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: an error ended with 1 and a traceback, and `lint` with findings with 0."""
    history = '[{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x", "content": "42"}]'
    for arguments, code in ((["selct"], 2), (["lint", "-", "--json"], 1)):
        with open("/dev/full", "w", encoding="utf-8", buffering=1) as full:  # noqa: PTH123
            monkeypatch.setattr("sys.stderr", full)
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(history.encode())))
            assert main(arguments) == code


def test_streams_that_are_no_files_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert exits.run_guarded(lambda: 0) == 0


def test_a_reader_that_stops_early(shell: Shell) -> None:
    """All of them write more than a pipe holds."""
    for command in ("demo", "demo transcript", "--help"):
        done = shell.run(f"pycupel {command} | head -n 1")
        assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_is_no_traceback(shell: Shell) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pycupel", "count", "-"],
        env=shell.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write("x" * 100_000)
    process.stdin.flush()
    # It has started once it has taken more than a pipe holds.
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == ""


HANGING_SCORER = """
import os
from dataclasses import dataclass
from multiprocessing import current_process
from signal import SIG_BLOCK, SIGINT, SIGTERM, pthread_sigmask
from threading import Event

# The first worker that is started never ends this import.
if current_process().name.endswith("-1"):
    with open("importing.tmp", "w") as file:
        file.write(f"held: {pthread_sigmask(SIG_BLOCK, ()) >= {SIGINT, SIGTERM}}")
    os.rename("importing.tmp", "importing")
    Event().wait()

@dataclass(frozen=True)
class HangingScorer:
    def score(self, item, all_items):
        if item.content == "hang":
            Event().wait()
        return 0.5
"""


@pytest.mark.parametrize(
    ("interrupt", "sent"), [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM), (os.killpg, signal.SIGTERM)]
)
def test_an_interrupted_batch_is_no_traceback_of_its_workers(
    interrupt: Callable[[int, int], None], sent: signal.Signals, shell: Shell
) -> None:
    """As in a terminal, where Ctrl-C goes to all processes, and as from a supervisor, which sends SIGTERM.

    One worker is still importing, so interrupts are held; the other one has done a chunk and hangs in the next. The
    pipe that is read until its end is that of the workers, too, so all of them have ended.
    """
    directory = shell.directory
    (directory / "hanging.py").write_text(HANGING_SCORER, encoding="utf-8")
    (directory / "hanging-1.dist-info").mkdir()
    (directory / "hanging-1.dist-info" / "entry_points.txt").write_text(
        "[pycupel.scorers]\nhanging = hanging:HangingScorer\n", encoding="utf-8"
    )
    (directory / "hanging.toml").write_text('scorers = [{type = "hanging"}]\n', encoding="utf-8")
    rows = [{"items": [{"content": content, "tokens": 1}], "budget": 9} for content in ("quick", "hang")]
    (directory / "requests.jsonl").write_text("".join(f"{json.dumps(row)}\n" * 500 for row in rows), encoding="utf-8")
    batch = ["batch", "requests.jsonl", "-p", "hanging.toml", "-o", "out", "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pycupel", *batch],
        cwd=directory,
        env={**shell.environment, "PYTHONPATH": str(directory)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not ((directory / "importing").exists() and (directory / "out" / "part-000000.jsonl").exists()):
        assert process.poll() is None
        time.sleep(0.01)
    interrupt(process.pid, sent)
    out, err = process.communicate(timeout=60)
    assert (directory / "importing").read_text(encoding="utf-8") == "held: True"
    assert (process.returncode, out, err) == (130, "", "pycupel: interrupted; use --resume to continue\n")


def test_a_terminal_gets_colours_and_its_own_width(shell: Shell) -> None:
    controller, terminal = pty.openpty()
    environment = {name: value for name, value in shell.environment.items() if name != "COLUMNS"}
    shell.run("pycupel demo items > items.jsonl")
    done = subprocess.run(
        [sys.executable, "-m", "pycupel", "explain", "items.jsonl", "-b", "900"],
        cwd=shell.directory,
        env={**environment, "TERM": "xterm"},
        stdout=terminal,
        check=True,
    )
    os.close(terminal)
    assert done.returncode == 0
    shown = os.read(controller, 100_000).decode()
    os.close(controller)
    assert "\x1b[1m" in shown


def test_unprintable_arguments_are_shown_as_text(call: Call) -> None:
    done = call("select", "no\x1b[31m", "-b", "1")
    assert done.err == "pycupel: no\\x1b[31m: no such file or directory\n"


def test_a_terminal_that_knows_only_ascii(shell: Shell) -> None:
    shell.environment["PYTHONIOENCODING"] = "ascii"
    done = shell.run('printf \'{"content": "na\\u00efve", "tokens": 1}\' | pycupel select - -b 5 --quiet')
    assert done.stdout == '{"content": "na\\u00efve", "tokens": 1, "kind": "Message", "source": "Chat"}\n'
    assert output.Screen is Screen


# A carriage return, escape sequences, line breaks of Unicode, bidirectional marks, and what cannot be seen.
HOSTILE = "a\rb\x1b[31m\x9b31m\x07\x85\u2028\u202e\u2066\u200b\x7f\U000e0001\x00c"


def is_harmless(text: str) -> bool:
    return text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("select", HOSTILE.replace("\0", "") + "\nx", "-b", "5"), ""),
        ((HOSTILE,), ""),
        (("select", "-", "-b", HOSTILE), ""),
        (("select", "-", f"--{HOSTILE}"), ""),
        (("select", "-", "-b", "5", "-p", HOSTILE), ""),
        (("select", "-", "-b", "5", "--counter", HOSTILE), json.dumps({"content": "a", "tokens": 1})),
        (("select", "-", "-b", "5"), json.dumps({"content": "a", "tokens": 1, HOSTILE: 1})),
        (("select", "-", "-b", "5", "--strict"), json.dumps({"content": "a", "tokens": 1, HOSTILE: 1})),
        (("select", "-", "-b", "5"), json.dumps({"content": "a", "tokens": HOSTILE})),
        (("trim", "-", "-b", "5"), json.dumps([{"role": HOSTILE, "content": "a"}])),
        (("lint", "-", "--provider", HOSTILE), json.dumps([{"role": "user", "content": "a"}])),
        (("policy", "show", HOSTILE), ""),
        (("policy", "check", HOSTILE.replace("\0", "") + ".yaml"), ""),
        (("conformance", HOSTILE.replace("\0", "")), ""),
    ],
)
def test_messages_have_nothing_that_a_terminal_interprets(call: Call, arguments: tuple[str, ...], text: str) -> None:
    """A carriage return let the rest of a message replace its beginning."""
    done = call(*arguments, text=text)
    assert done.err
    assert is_harmless(done.err)
    assert all(line.startswith(("pycupel: ", "  ")) for line in done.err.splitlines()), "and no name fakes a message"


@pytest.mark.parametrize("form", ["json", "toml", "yaml"])
def test_a_policy_is_shown_without_what_a_terminal_interprets(call: Call, tmp_path: Path, form: Any) -> None:
    policy = Policy(KindScorer({f"k{HOSTILE}": 1}), name=f"é {HOSTILE}", description=HOSTILE)
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(policy_to_dict(policy)))
    done = call("policy", "show", str(path), "--format", form)
    assert is_harmless(done.out)
    assert ("é" in done.out) is (form != "yaml")
    assert parse_policy(done.out, form) == policy
