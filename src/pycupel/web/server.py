"""The server of the playground: one page and two requests, only for the user of this machine.

It listens on loopback. Every address contains a random token; `Host` and `Origin` must be the server's own, so that no
other page in the same browser can use it. It opens no file. The size of a request and the time that it may take to
arrive are limited.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, NamedTuple, cast

from pycupel import __version__
from pycupel.codecs.jsontext import parse_json
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model.checks import checked_count, wrong_type
from pycupel.text import number_text
from pycupel.web.bench import Bench

_LOOPBACK = "127.0.0.1"
_LAST_PORT = 65_535
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Limits(NamedTuple):
    """The limits of a request."""

    body: int = 32_000_000
    """The maximum size of a request's body, in bytes."""

    seconds: float = 10.0
    """How long a request may take to arrive, and its response to be sent."""

    requests: int = 16
    """How many requests may be served at a time."""


_LIMITS = Limits()


class _Refused(Exception):  # noqa: N818 - a response, not an error of the program
    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server_version = f"pycupel/{__version__}"
    sys_version = ""

    def setup(self) -> None:
        self._playground = cast("Playground", self.server)
        super().setup()
        seconds = self._playground.limits.seconds
        self.connection.settimeout(seconds)
        # The socket's timeout is for each read: a client that sends a byte now and then would never reach it.
        self._deadline = threading.Timer(seconds, self._expire)
        self._deadline.daemon = True
        self._deadline.start()

    def _expire(self) -> None:
        self.close_connection = True
        # It may already be closed.
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def finish(self) -> None:
        self._deadline.cancel()
        super().finish()

    def do_GET(self) -> None:
        self._serve(self._page)

    def do_POST(self) -> None:
        self._serve(self._answer)

    def _serve(self, make: Callable[[str], tuple[str, str]]) -> None:
        try:
            kind, text = make(self._checked_name())
            status = HTTPStatus.OK
        except _Refused as refusal:
            status, kind, text = refusal.status, "text/plain", f"{refusal}\n"
        body = text.encode()
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if status is not HTTPStatus.OK:
            self._drain()

    def _drain(self) -> None:
        """Read the rest of a rejected request: closing now would reset the connection and lose the response."""
        left = self._playground.limits.body
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while left > 0 and (received := self.rfile.read1(65_536)):
                left -= len(received)

    def _checked_name(self) -> str:
        """Check everything but the body of a request, and return its name."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0] not in self._playground.hosts:
            raise _Refused(HTTPStatus.FORBIDDEN, "The Host is not the address of this playground.")
        origins = {f"http://{host}" for host in self._playground.hosts}
        site = self.headers.get("Sec-Fetch-Site", "none")
        if not origins.issuperset(self.headers.get_all("Origin", [])) or site not in {"none", "same-origin"}:
            raise _Refused(HTTPStatus.FORBIDDEN, "Only the playground's own page may send requests.")
        token, _, name = self.path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self._playground.token.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "Open the address that pycupel printed, with its token.")
        return name

    def _page(self, name: str) -> tuple[str, str]:
        if name:
            raise _Refused(HTTPStatus.NOT_FOUND, "The playground has only one page.")
        return "text/html", self._playground.bench.page()

    def _answer(self, name: str) -> tuple[str, str]:
        request = self._body()
        self._deadline.cancel()
        try:
            response = self._playground.bench.answer(name, request)
        except KeyError:
            raise _Refused(HTTPStatus.NOT_FOUND, "Unknown request.") from None
        return "application/json", json.dumps(response)

    def _body(self) -> Any:
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be JSON.")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "The request must have a Content-Length.")
        if len(length) > 12 or int(length) > self._playground.limits.body:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The body may have at most {self._playground.limits.body:,} bytes.",
            )
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise _Refused(HTTPStatus.REQUEST_TIMEOUT, "The request did not arrive in time.")
        try:
            return parse_json(body)
        except DocumentError as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, f"The body {error}.") from None

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Do not log requests."""


class Playground(ThreadingHTTPServer):
    """Serves a bench on a port that only this machine can reach.

    Args:
        bench: The bench to serve.
        port: The port; by default any free one.
        limits: The limits of a request.

    Raises:
        OSError: the port is in use.
        InvalidArgumentError: there is no such port.
    """

    daemon_threads = True

    def __init__(self, bench: Bench, port: int = 0, *, limits: Limits = _LIMITS) -> None:
        number = checked_count("port", port, InvalidArgumentError)
        if number > _LAST_PORT:
            raise InvalidArgumentError(
                f"port must be at most {_LAST_PORT}, not {number_text(number)}", argument="port", value=port
            )
        self.bench, self.limits = bench, limits
        self.token = secrets.token_urlsafe(24)
        self._places = threading.BoundedSemaphore(limits.requests)
        super().__init__((_LOOPBACK, number), _Handler)
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in (_LOOPBACK, "localhost"))

    def server_bind(self) -> None:
        """Bind, without looking up this machine's name."""
        try:
            TCPServer.server_bind(self)
        except OSError as error:
            # The system's message does not name the port.
            error.filename = f"port {self.server_address[1]}"
            raise
        self.server_name, self.server_port = _LOOPBACK, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a request in its own thread, or hang up if there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback, unless a client has just hung up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{_LOOPBACK}:{self.server_port}/{self.token}/"


def play(bench: Bench, port: int = 0, *, browser: bool = True, tell: Callable[[str], object] = print) -> None:
    """Serve a bench until Ctrl-C.

    Args:
        bench: The bench to serve.
        port: The port; by default any free one.
        browser: Whether to open the page in a browser.
        tell: Called with the address.

    Raises:
        TypeError: an argument has the wrong type.
        OSError: the port is in use.
        InvalidArgumentError: there is no such port.
    """
    if not isinstance(bench, Bench):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("bench", "a Bench, such as Bench(items)", bench)
    # Around everything, because a second Ctrl-C may come while the server closes.
    with suppress(KeyboardInterrupt), Playground(bench, port) as server:
        tell(server.address)
        if browser:
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        with suppress(KeyboardInterrupt):
            server.serve_forever()
