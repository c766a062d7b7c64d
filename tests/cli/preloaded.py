"""A `pycupel` that starts at once: a server has imported all of it, and forks a process for each command.

The program on the path is a client. It hands its arguments, directory, environment, stdin, stdout and stderr to the
server, and ends as the command has ended. `tools/cli_smoke.py` runs the same commands with the installed program.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import NoReturn

from pycupel.cli import VERBS, main
from pycupel.cli.parsers import load_verb
from tests.cli.console import ROOT, write_program

__all__ = ["running_server", "write_client"]

# It imports nothing that takes time. The address is relative to its folder, because it has at most some 100 characters.
CLIENT = """\
import _socket, os, sys
directory = os.getcwd()
os.chdir(sys.argv.pop(1))
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect("server")
environment = [name + "=" + value for name, value in os.environ.items()]
parts = [str(len(sys.argv)), directory, *sys.argv[1:], *environment]
message = os.fsencode("\\0".join(parts))
streams = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2))
sent = server.sendmsg([message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(message[sent:])
server.shutdown(_socket.SHUT_WR)
os._exit(int(server.recv(10) or 255))
"""


def write_client(program: Path, folder: Path) -> None:
    """Write the program that runs its command line at the server with its socket in this folder."""
    client = program.with_suffix(".py")
    client.write_text(CLIENT, encoding="utf-8")
    write_program(program, f'"{sys.executable}" -IS "{client}" "{folder}"')


@contextmanager
def running_server(folder: Path) -> Iterator[None]:
    """A server with its socket in this folder, ready when the block begins."""
    environment = {**os.environ, "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "tests.cli.preloaded", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stdout
        assert server.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            server.terminate()


def serve(folder: str) -> None:
    for verb in VERBS:
        load_verb(verb)
    gc.freeze()
    # Nobody waits for those that attend to a client.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(folder)
        listener.bind("server")
        listener.listen()
        print("ready", flush=True)  # noqa: T201
        while True:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    attend(connection)


def attend(connection: socket.socket) -> NoReturn:
    """Run the command of a client in a process of its own, and send its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, _, _ = socket.recv_fds(connection, 1_000_000, 3)
    while more := connection.recv(1_000_000):
        message += more
    process = os.fork()
    if process == 0:
        connection.close()
        run(os.fsdecode(message).split("\0"), streams)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    # As a shell has it, if a signal has ended the command.
    connection.sendall(b"%d" % (code if code >= 0 else 128 - code))
    os._exit(0)


def run(parts: list[str], streams: list[int]) -> NoReturn:
    """Become the command."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    count, directory, *rest = parts
    arguments, environment = rest[: int(count) - 1], rest[int(count) - 1 :]
    os.chdir(directory)
    os.environ.clear()
    os.environ.update((name, value) for name, _, value in (each.partition("=") for each in environment))
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = TextIOWrapper(BufferedReader(FileIO(0)), encoding)
    sys.stdout = TextIOWrapper(BufferedWriter(FileIO(1, "w")), encoding)
    sys.stderr = TextIOWrapper(BufferedWriter(FileIO(2, "w")), encoding, "backslashreplace")
    sys.argv = ["pycupel", *arguments]
    code = main()
    # What Python does at its end, without tidying up all that the server has imported.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
