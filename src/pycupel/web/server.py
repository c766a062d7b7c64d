"""The server of the playground: one page and two requests, only for the user of this machine.

It listens on loopback. Every address contains a random token; `Host` and `Origin` must be the server's own, so that no
other page in the same browser can use it. It opens no file. The size of a request and the time that it may take to
arrive are limited.
"""

from __future__ import annotations

import io
import json
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Lock
from typing import Any, NamedTuple, cast

from pycupel import __version__
from pycupel.codecs.base import parse_json
from pycupel.diagnostics.report import SelectionReport, report_over
from pycupel.errors import (
    BudgetOverflowError,
    CupelError,
    DocumentError,
    InvalidArgumentError,
    InvalidBudgetError,
    PinnedExceedsBudgetError,
)
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_count, checked_iterable, checked_mapping, checked_str, wrong_type
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.classify import classify_items
from pycupel.pipeline.policy import as_policy
from pycupel.policies import PRESETS, dump_policy, policy_from_dict, policy_to_dict
from pycupel.policies.strategies import name_as_in_policies
from pycupel.registry import SCORERS
from pycupel.render._data import all_tokens, script_number
from pycupel.render.html import page_data, render_page
from pycupel.render.text import name_pinned
from pycupel.text import number_text
from pycupel.wire import read_items

# The choices that the page offers by name; everything else can be written as JSON.
_SLICERS = {
    "best score first": {"type": "greedy", "costExponent": 0, "bestFirst": True},
    "best score per token": {"type": "greedy"},
    "knapsack": {"type": "knapsack"},
    "stream": {"type": "stream"},
}
_PLACERS = {
    "chronological": {"type": "chronological"},
    "system prompt first, then chronological": {"type": "framed", "inner": {"type": "chronological"}},
    "best at both edges": {"type": "uShaped"},
    "system prompt first, best at both edges": {"type": "framed", "inner": {"type": "uShaped"}},
}


# What the page calls the arguments of a budget.
_CONTROLS = {"max_tokens": "Max", "target_tokens": "Target", "output_reserve": "Output"}


class _Settings(NamedTuple):
    policy: Policy
    budget: ContextBudget
    query: str | None


class State:
    """The items of a playground, and selections among them. Safe to use from several threads.

    Args:
        items: The candidates.
        policy: The initial policy: a policy, a pipeline, or the name of a preset.
        budget: The initial budget; by default half of all tokens.
        query: The initial question.
        name: What the page calls the items, such as the name of their file.
        read: Reads the text of a file that was dropped onto the page; by default as JSON lines.

    Raises:
        DocumentError: the policy has a part that cannot be written to a file.
    """

    def __init__(
        self,
        items: Iterable[ContextItem],
        policy: Policy | PresetName = "chat",
        budget: ContextBudget | int | None = None,
        query: str | None = None,
        *,
        name: str = "items",
        read: Callable[[str], Iterable[ContextItem]] | None = None,
    ) -> None:
        self._items, self._name = list(checked_iterable("items", "an iterable of ContextItem", items)), name
        classify_items(self._items)
        self._read: Callable[[str], Iterable[ContextItem]] = read or (lambda text: read_items(io.StringIO(text)))
        limits = _half(self._items) if budget is None else ContextBudget.of(budget)
        self._first = _Settings(as_policy(policy), limits, query)
        self._document = policy_to_dict(policy)
        # One selection at a time: the playground has one user.
        self._lock = Lock()

    def page(self) -> str:
        """Return the page, with the first selection and all possible settings."""
        with self._lock:
            data = _response_of(lambda: self._selection(self._first, None))
            offer = self._choices()
        return render_page("Playground", {**data, "play": offer}, connect="'self'")

    def answer(self, name: str, request: Any) -> dict[str, Any]:
        """Answer a request of the page, `select` or `items`, with its body.

        A mistake in the settings becomes an error in the response; a request of another name is a KeyError.
        """
        handler = {"select": self._select, "items": self._use_items}[name]
        with self._lock:
            return _response_of(lambda: handler(checked_mapping("the request", "an object", request)))

    def _select(self, request: Mapping[str, Any]) -> dict[str, Any]:
        other = request.get("other")
        return self._selection(_settings(request), None if other is None else _settings(other))

    def _use_items(self, request: Mapping[str, Any]) -> dict[str, Any]:
        items = list(self._read(checked_str("text", request.get("text"))))
        if not items:
            raise InvalidArgumentError("the file has no items", argument="text")
        self._items, self._name = items, checked_str("name", request.get("name"))[:200]
        return {"play": self._choices() | {"budget": _budget_data(_half(items))}}

    def _selection(self, settings: _Settings, other: _Settings | None) -> dict[str, Any]:
        report = self._report(settings)
        second = None if other is None else self._report(other)
        formats = {each: dump_policy(settings.policy, each) for each in ("json", "toml")}
        return {
            **page_data(report, items=self._items, other=second),
            "names": ["now", "kept"],
            "policy": formats,
        }

    def _report(self, settings: _Settings) -> SelectionReport:
        try:
            pipeline = Pipeline.from_policy(settings.policy)
            report = pipeline.dry_run(self._items, settings.budget, query=settings.query)
            return report_over(report, notes=tuple(map(name_as_in_policies, report.notes)))
        except PinnedExceedsBudgetError as error:
            advice = f"Raise Max, lower Output, or pin less: {name_pinned(self._items)}."
            raise InvalidArgumentError(f"{error}. {advice}", argument="budget") from None
        except BudgetOverflowError as error:
            raise InvalidArgumentError(
                f"{error}. Raise Target, or choose another way to handle the overflow.", argument="budget"
            ) from None

    def _choices(self) -> dict[str, Any]:
        return {
            "name": self._name,
            "items": len(self._items),
            # As the report counts them, invalid ones included.
            "tokens": script_number(sum([item.tokens for item in self._items])),
            "kinds": sorted({item.kind.value for item in self._items}),
            "policy": self._document,
            "budget": _budget_data(self._first.budget),
            "query": self._first.query or "",
            "presets": {name: policy_to_dict(preset) for name, preset in PRESETS.items()},
            "scorers": [name for name in SCORERS if _needs_no_options(name)],
            "slicers": _SLICERS,
            "placers": _PLACERS,
        }


def _response_of(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of the call, or the error."""
    try:
        return make()
    except (CupelError, TypeError) as error:
        return {"error": str(error)}


def _settings(request: Any) -> _Settings:
    fields = checked_mapping("settings", "an object", request)
    budget = checked_mapping("budget", "an object", fields.get("budget"))
    query = fields.get("query")
    policy = policy_from_dict(checked_mapping("policy", "an object", fields.get("policy")))
    try:
        limits = ContextBudget(budget.get("max"), budget.get("target"), output_reserve=budget.get("reserve", 0))  # type: ignore[arg-type]
    except InvalidBudgetError as error:
        told = str(error)
        for argument, control in _CONTROLS.items():
            told = told.replace(argument, control)
        raise InvalidArgumentError(told, argument="budget") from None
    return _Settings(policy, limits, checked_str("query", query) if query else None)


def _needs_no_options(scorer: str) -> bool:
    try:
        policy_from_dict({"scorers": [{"type": scorer, "weight": 1}]})
    except CupelError:
        return False
    return True


def _half(items: Iterable[ContextItem]) -> ContextBudget:
    return ContextBudget(all_tokens(items) // 2)


def _budget_data(budget: ContextBudget) -> dict[str, int]:
    return {"max": budget.max_tokens, "target": budget.target_tokens, "reserve": budget.output_reserve}


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
        return "text/html", self._playground.state.page()

    def _answer(self, name: str) -> tuple[str, str]:
        request = self._body()
        self._deadline.cancel()
        try:
            response = self._playground.state.answer(name, request)
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
    """Serves a state on a port that only this machine can reach."""

    daemon_threads = True

    def __init__(self, state: State, port: int = 0, *, limits: Limits = _LIMITS) -> None:
        number = checked_count("port", port, InvalidArgumentError)
        if number > _LAST_PORT:
            raise InvalidArgumentError(
                f"port must be at most {_LAST_PORT}, not {number_text(number)}", argument="port", value=port
            )
        self.state, self.limits = state, limits
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


def play(state: State, port: int = 0, *, browser: bool = True, tell: Callable[[str], object] = print) -> None:
    """Serve a state until Ctrl-C, by default on any free port; `tell` is called with the address."""
    if not isinstance(state, State):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("state", "a State, such as State(items)", state)
    # Around everything, because a second Ctrl-C may come while the server closes.
    with suppress(KeyboardInterrupt), Playground(state, port) as server:
        tell(server.address)
        if browser:
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        with suppress(KeyboardInterrupt):
            server.serve_forever()
