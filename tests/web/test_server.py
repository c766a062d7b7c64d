"""The playground's server: who may ask it, for what, and how long it listens."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pycupel import ContextItem
from pycupel.errors import InvalidArgumentError
from pycupel.policies import policy_to_dict
from pycupel.web import Limits, Playground, State, play

ITEMS = [ContextItem("one", 10), ContextItem("two", 20)]
REQUEST = {"policy": policy_to_dict("chat"), "budget": {"max": 15}, "query": ""}

# A request without the end of its head, and one without the end of its body.
HALF = "POST /{token}/select HTTP/1.1\r\nHost: {host}\r\n"
WHOLE = f"{HALF}Content-Type: application/json\r\nContent-Length: 999\r\n\r\n"


@pytest.fixture
def server() -> Iterator[Playground]:
    yield from running(Limits())


def running(limits: Limits) -> Iterator[Playground]:
    with Playground(State(ITEMS), limits=limits) as playground:
        threading.Thread(target=playground.serve_forever, args=(0.02,), daemon=True).start()
        yield playground
        playground.shutdown()


def ask(
    server: Playground, method: str, name: str = "", *, path: str | None = None, body: Any = None, **headers: str
) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    sent = {each.replace("_", "-"): value for each, value in headers.items()}
    text = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    if text is not None:
        sent.setdefault("Content-Type", "application/json")
    connection.request(method, f"/{server.token}/{name}" if path is None else path, text, sent)
    answer = connection.getresponse()
    told = answer.read().decode()
    connection.close()
    return answer.status, told, dict(answer.headers)


class TestWhatItServes:
    def test_the_page(self, server: Playground) -> None:
        status, page, headers = ask(server, "GET")
        assert status == 200
        assert page.startswith("<!doctype html>")
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert server.address == f"http://127.0.0.1:{server.server_port}/{server.token}/"

    def test_selections(self, server: Playground) -> None:
        status, text, headers = ask(server, "POST", "select", body=REQUEST)
        assert status == 200
        assert headers["Content-Type"] == "application/json; charset=utf-8"
        assert json.loads(text)["report"]["rows"]["in"] == [1, 0]

    def test_its_own_page_may_ask(self, server: Playground) -> None:
        for host in ("127.0.0.1", "localhost"):
            origin = f"http://{host}:{server.server_port}"
            status, _, _ = ask(
                server, "POST", "select", body=REQUEST,
                Origin=origin, Host=origin.removeprefix("http://"), Sec_Fetch_Site="same-origin",
            )  # fmt: skip
            assert status == 200


class TestWhoMayAsk:
    @pytest.mark.parametrize("method", ["GET", "POST"])
    @pytest.mark.parametrize(
        "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
    )
    def test_a_foreign_host_is_refused(self, server: Playground, method: str, host: str) -> None:
        status, text, _ = ask(server, method, "select", body=REQUEST, Host=host.format(port=server.server_port))
        assert (status, text) == (403, "The Host is not the address of this playground.\n")

    @pytest.mark.parametrize("method", ["GET", "POST"])
    @pytest.mark.parametrize(
        "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", ""]
    )
    def test_a_foreign_origin_is_refused(self, server: Playground, method: str, origin: str) -> None:
        status, text, _ = ask(server, method, "select", body=REQUEST, Origin=origin.format(port=server.server_port))
        assert (status, text) == (403, "Only the playground's own page may send requests.\n")

    def test_two_hosts_are_refused(self, server: Playground) -> None:
        with socket.create_connection(("127.0.0.1", server.server_port)) as client:
            host = f"127.0.0.1:{server.server_port}"
            client.sendall(f"GET /{server.token}/ HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.0 403")

    def test_a_browser_that_comes_from_another_site_is_refused(self, server: Playground) -> None:
        assert ask(server, "GET", Sec_Fetch_Site="cross-site")[0] == 403
        assert ask(server, "GET", Sec_Fetch_Site="none")[0] == 200

    @pytest.mark.parametrize("path", ["/", "/select", "//", "/wrong/", "/wrong/select", "/%74/", "/\xe9/"])
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_without_the_token_nothing_is_served(self, server: Playground, path: str, method: str) -> None:
        with socket.create_connection(("127.0.0.1", server.server_port)) as client:
            head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nContent-Length: 2\r\n\r\n"
            client.sendall(head.encode("latin-1"))
            assert client.recv(100).startswith(b"HTTP/1.0 403")

    def test_tokens_are_long_and_differ(self) -> None:
        with Playground(State(ITEMS)) as first, Playground(State(ITEMS)) as second:
            assert first.token != second.token
            assert len(first.token) >= 32

    def test_only_loopback_is_listened_on(self, server: Playground) -> None:
        assert server.socket.getsockname()[0] == "127.0.0.1"


class TestNoFileIsReadable:
    @pytest.mark.parametrize(
        "name",
        [
            "../../etc/passwd",
            "..%2f..%2fetc%2fpasswd",
            "/etc/passwd",
            "%2e%2e/server.py",
            "page.js",
            "assets/page.js",
            "index.html",
            "?file=/etc/passwd",
            "select",
            "\\..\\..",
        ],
    )
    def test_whatever_the_path(self, server: Playground, name: str) -> None:
        status, text, _ = ask(server, "GET", name)
        assert (status, text) == (404, "The playground has only one page.\n")
        assert ask(server, "GET", path=f"/../{server.token}/{name}")[0] == 403

    def test_unknown_requests(self, server: Playground) -> None:
        assert ask(server, "POST", "../select", body=REQUEST)[0] == 404
        assert ask(server, "POST", "", body=REQUEST)[0] == 404

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", "TRACE"])
    def test_other_methods(self, server: Playground, method: str) -> None:
        assert ask(server, method, "select")[0] == 501


class TestLimits:
    def test_a_body_that_is_too_large_is_not_even_read(self) -> None:
        for server in running(Limits(body=100)):
            assert ask(server, "POST", "items", body={"name": "a", "text": "b"})[0] == 200
            for length in ("101", "9" * 30):
                status, text, _ = ask(server, "POST", "items", body=b"", Content_Length=length)
                assert (status, text) == (413, "The body may have at most 100 bytes.\n")

    @pytest.mark.parametrize("length", ["-1", "abc", "1e3", "\u0663"])
    def test_a_length_that_is_none(self, server: Playground, length: str) -> None:
        with socket.create_connection(("127.0.0.1", server.server_port)) as client:
            head = (
                f"POST /{server.token}/select HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            )
            client.sendall(head.encode())
            assert client.recv(100).startswith(b"HTTP/1.0 411")

    def test_a_body_in_chunks_is_refused(self, server: Playground) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        connection.request("POST", f"/{server.token}/select", iter([b"{}"]), headers, encode_chunked=True)
        assert connection.getresponse().status == 411
        connection.close()

    def test_a_refused_client_may_finish_before_it_reads_the_answer(self, server: Playground) -> None:
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as client:
            client.sendall(f"POST /wrong/select HTTP/1.0\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
            for _ in range(5):
                time.sleep(0.05)
                client.sendall(b"x" * 1_000)
            assert client.recv(100).startswith(b"HTTP/1.0 403")

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
    def test_a_body_that_is_not_json(self, server: Playground, body: bytes) -> None:
        assert ask(server, "POST", "select", body=body)[0] == 400

    def test_a_form_is_refused(self, server: Playground) -> None:
        assert ask(server, "POST", "select", body=b"{}", Content_Type="text/plain")[0] == 415

    @pytest.mark.parametrize("sent", ["", "GET /", HALF, WHOLE])
    def test_a_slow_client_is_hung_up_on(self, sent: str) -> None:
        for server in running(Limits(seconds=0.3)):
            host = f"127.0.0.1:{server.server_port}"
            with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as client:
                client.sendall(sent.format(token=server.token, host=host).encode())
                start = time.monotonic()
                try:
                    # A byte now and then does not help.
                    while time.monotonic() - start < 60:
                        client.sendall(b"x")
                        time.sleep(0.05)
                        client.setblocking(False)
                        try:
                            if client.recv(1000) == b"":
                                break
                        except BlockingIOError:
                            pass
                        client.settimeout(60)
                except ConnectionError:
                    pass
                assert time.monotonic() - start < 60
            # And others are served, however slow this machine is.
            server.limits = Limits()
            assert ask(server, "GET")[0] == 200

    def test_too_many_clients_at_a_time_are_hung_up_on(self) -> None:
        for server in running(Limits(requests=1, seconds=60)):
            with socket.create_connection(("127.0.0.1", server.server_port)) as first:
                first.sendall(b"GET /")
                with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as second:
                    assert second.recv(1) == b""
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                try:
                    assert ask(server, "GET")[0] == 200
                    break
                except ConnectionError:
                    time.sleep(0.05)
            else:
                pytest.fail("the place is not free again")


class TestErrors:
    def test_a_client_that_hangs_up_is_no_error(self, server: Playground, capsys: pytest.CaptureFixture[str]) -> None:
        try:
            raise ConnectionResetError
        except OSError:
            server.handle_error(None, ("127.0.0.1", 1))
        assert capsys.readouterr().err == ""

    def test_a_bug_is_printed(self, server: Playground, capsys: pytest.CaptureFixture[str]) -> None:
        try:
            raise ZeroDivisionError
        except ArithmeticError:
            server.handle_error(None, ("127.0.0.1", 1))
        assert "ZeroDivisionError" in capsys.readouterr().err

    def test_a_port_in_use(self, server: Playground) -> None:
        with pytest.raises(OSError, match=f"in use: 'port {server.server_port}'"):
            Playground(State(ITEMS), server.server_port)

    @pytest.mark.parametrize("port", [-1, 65_536, pytest.param(10**5000, id="beyond printing")])
    def test_a_port_that_does_not_exist(self, port: int) -> None:
        with pytest.raises(InvalidArgumentError, match="port must"):
            Playground(State(ITEMS), port)


class TestPlay:
    def test_it_tells_the_address_opens_it_and_ends_cleanly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        opened: list[str] = []
        is_open = threading.Event()

        def open_page(address: str) -> None:
            opened.append(address)
            is_open.set()

        def interrupt(_: Playground) -> None:
            assert is_open.wait(60)
            raise KeyboardInterrupt

        monkeypatch.setattr(webbrowser, "open", open_page)
        monkeypatch.setattr(Playground, "serve_forever", interrupt)
        told: list[str] = []
        play(State(ITEMS), tell=told.append)
        assert told == opened
        assert told[0].startswith("http://127.0.0.1:")

    def test_without_a_browser(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(_: Playground) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(webbrowser, "open", lambda _: pytest.fail("a browser was opened"))
        monkeypatch.setattr(Playground, "serve_forever", interrupt)
        play(State(ITEMS), browser=False, tell=lambda _: None)

    @pytest.mark.posix
    def test_ctrl_c_ends_the_process_without_a_traceback(self) -> None:
        code = (
            "from pycupel import ContextItem\nfrom pycupel.web import State, play\n"
            "play(State([ContextItem('a', 1)]), browser=False, tell=lambda text: print(text, flush=True))\nprint('end')"
        )
        source = Path(__file__).parents[2] / "src"
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(source)},
        )  # fmt: skip
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        connection = http.client.HTTPConnection(address.split("/")[2], timeout=60)
        connection.request("GET", "/" + address.split("/", 3)[3])
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "end\n", "")
