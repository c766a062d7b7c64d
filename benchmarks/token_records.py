"""What machines write, from seeded generators: two unlike ones for each class, one to fit and one to measure."""

from __future__ import annotations

import base64
import json
import random
import uuid
from pathlib import Path

__all__ = [
    "access_log",
    "agent_log",
    "build_log",
    "csv_measurements",
    "csv_records",
    "digests",
    "hex_dump",
    "json_calls",
    "json_records",
    "listing",
    "processes",
    "server_log",
    "uuids",
    "web_tokens",
]

_NAMES = [
    "Ada",
    "Grace",
    "Mehmet",
    "Chiara",
    "Oleksandr",
    "Wanjiru",
    "Siobhan",
    "Jürgen",
    "Takeshi",
    "Xochitl",
    "Bogdan",
]
_CITIES = [
    "Lisbon",
    "Rotterdam",
    "Wroclaw",
    "Thessaloniki",
    "Bengaluru",
    "Kumamoto",
    "Guadalajara",
    "Reykjavik",
    "Cork",
]
_SERVICES = ["checkout", "billing-api", "auth-gateway", "search-indexer", "notifier", "inventory-sync", "media-proxy"]
_ERRORS = (
    "connection reset by peer",
    "upstream timed out (110: Connection timed out) while reading response header",
    'duplicate key value violates unique constraint "orders_pkey"',
    "could not acquire lock within 5000ms",
    "TLS handshake failed: certificate has expired",
    "disk quota exceeded while writing segment",
)
_TOOLS = ["read_file", "search_code", "run_tests", "list_directory", "apply_patch", "fetch_url", "query_database"]


def _hex(draw: random.Random, size: int) -> str:
    return draw.randbytes(size).hex()


def _time(draw: random.Random) -> str:
    return f"{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}"


def _date(draw: random.Random) -> str:
    return f"202{draw.randrange(10)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"


def json_records(draw: random.Random) -> str:
    rows = [
        {
            "id": draw.randrange(10**6),
            "customer": {"name": draw.choice(_NAMES), "city": draw.choice(_CITIES), "verified": draw.random() < 0.5},
            "total": round(draw.uniform(1, 2_000), 2),
            "createdAt": f"{_date(draw)}T{_time(draw)}Z",
            "tags": draw.sample(_SERVICES, draw.randrange(4)),
            "checksum": _hex(draw, 16),
            "note": draw.choice([None, *_ERRORS]),
        }
        for _ in range(400)
    ]
    compact, pretty = json.dumps(rows[:200], separators=(",", ":")), json.dumps(rows[200:300], indent=2)
    return "\n".join([compact, pretty, *map(json.dumps, rows[300:])])


def json_calls(draw: random.Random) -> str:
    def call(i: int) -> dict[str, object]:
        arguments = {"path": f"src/{draw.choice(_SERVICES)}/{draw.choice(_TOOLS)}.py", "start_line": i, "limit": 200}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{_token(draw, 24)}",
                    "type": "function",
                    "function": {"name": draw.choice(_TOOLS), "arguments": json.dumps(arguments)},
                }
            ],
            "usage": {"prompt_tokens": draw.randrange(90_000), "completion_tokens": draw.randrange(900)},
        }

    calls = [call(i) for i in range(300)]
    return "\n".join([json.dumps(calls[:100], indent=4), *map(json.dumps, calls[100:])])


def server_log(draw: random.Random) -> str:
    return "\n".join(
        f"{_date(draw)} {_time(draw)},{draw.randrange(1_000):03} {draw.choice(['INFO', 'WARNING', 'ERROR'])} "
        f"[{draw.choice(_SERVICES)}] request_id={_hex(draw, 8)} user={draw.randrange(10**5)} {draw.choice(_ERRORS)} "
        f"duration_ms={draw.randrange(9_000)}"
        for _ in range(900)
    )


def build_log(draw: random.Random) -> str:
    lines = (
        "#{n} [{a}/{b}] RUN pip install --no-cache-dir -r requirements.txt",
        "#{n} {t} Collecting {s}>={a}.{b}.0",
        "#{n} sha256:{h} {a}.{b}MB / 48.2MB {a}.{b}s",
        "   Compiling {s} v{a}.{b}.{n} (/build/crates/{s})",
        "warning: unused variable: `{s}` --> src/main.rs:{n}:{a}",
        "tests/test_{s}.py::test_case_{n} PASSED [ {a}%]",
        "npm warn deprecated {s}@{a}.{b}.{n}: this version is no longer supported",
    )
    return "\n".join(
        draw.choice(lines).format(
            n=draw.randrange(1, 400),
            a=draw.randrange(1, 99),
            b=draw.randrange(1, 20),
            s=draw.choice(_SERVICES),
            t=f"{draw.uniform(0, 90):.3f}",
            h=_hex(draw, 32),
        )
        for _ in range(1_200)
    )


def agent_log(draw: random.Random) -> str:
    lines = (
        "[{d}T{t}Z] DEBUG agent.loop step={n} tool={tool} tokens_in={k} tokens_out={n}",
        "[{d}T{t}Z] INFO  agent.tools {tool} finished in {f}s, {k} bytes",
        "[{d}T{t}Z] WARN  agent.memory dropped {n} messages, {k} tokens over budget",
        'I1116 {t}.{k:06} 1 controller.go:{n}] "Reconciling" controller="{s}" namespace="prod-{n}" name="{s}-{h}"',
        "Nov 16 {t} worker-{n} kernel: [{f}] Out of memory: Killed process {k} ({s}) total-vm:{k}kB",
        "{t} | thread-{n} | o.s.web.servlet.DispatcherServlet : Completed 500 INTERNAL_SERVER_ERROR in {k} ms",
    )
    return "\n".join(
        draw.choice(lines).format(
            d=_date(draw),
            t=_time(draw),
            n=draw.randrange(200),
            k=draw.randrange(10**6),
            f=f"{draw.uniform(0, 5_000):.4f}",
            s=draw.choice(_SERVICES),
            tool=draw.choice(_TOOLS),
            h=_hex(draw, 5),
        )
        for _ in range(1_000)
    )


def access_log(draw: random.Random) -> str:
    agents = ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "curl/8.5.0", "kube-probe/1.29")
    return "\n".join(
        f'{_address(draw)} - - [16/Nov/2026:{_time(draw)} +0000] "{draw.choice(["GET", "POST"])} '
        f'/api/v2/{draw.choice(_SERVICES)}/{uuid.UUID(bytes=draw.randbytes(16))}?page={draw.randrange(50)} HTTP/1.1" '
        f'{draw.choice([200, 204, 304, 404, 502])} {draw.randrange(90_000)} "-" "{draw.choice(agents)}"'
        for _ in range(700)
    )


def _address(draw: random.Random) -> str:
    return ".".join(str(draw.randrange(256)) for _ in range(4))


def csv_records(draw: random.Random) -> str:
    rows = (
        f"{i},{draw.choice(_NAMES)},{draw.choice(_CITIES)},{_date(draw)},{draw.uniform(0, 9_999):.2f},"
        f"{draw.choice(['true', 'false'])},{draw.choice(_ERRORS)}"
        for i in range(1_000)
    )
    return "\n".join(["id,name,city,signed_up,balance,active,last_error", *rows])


def csv_measurements(draw: random.Random) -> str:
    rows = (
        f"{_date(draw)} {_time(draw)};{draw.choice(_SERVICES)};{draw.gauss(20, 5):.4f};{draw.random():.6f};"
        f'{draw.randrange(10**7)};"{draw.choice(_CITIES)}, {draw.choice(_NAMES)}"'
        for _ in range(1_000)
    )
    return "\n".join(["timestamp;station;temperature;humidity;counter;place", *rows])


def listing(directory: Path, draw: random.Random) -> str:
    """Like `ls -l`; the sizes and dates are drawn, because they differ from machine to machine."""
    paths = sorted(path.relative_to(directory) for path in directory.glob("*/*.py"))
    return "\n".join(
        f"-rw-r--r-- 1 root root {draw.randrange(10 ** draw.randrange(2, 7)):>8} Nov {draw.randrange(1, 29):>2} "
        f"{_time(draw)[:5]} {path.as_posix()}"
        for path in draw.sample(paths, min(1_200, len(paths)))
    )


def processes(draw: random.Random) -> str:
    return "\n".join(
        f"{draw.choice(['root', 'www-data', 'postgres']):<10}{draw.randrange(10**5):>8} {draw.uniform(0, 99):5.1f} "
        f"{draw.uniform(0, 9):4.1f} {draw.randrange(10**6):>8} {draw.randrange(10**5):>7} ?        Ssl  "
        f"{_time(draw)[:5]}   0:{draw.randrange(60):02} /usr/lib/{draw.choice(_SERVICES)}/bin/{draw.choice(_TOOLS)} "
        f"--config=/etc/{draw.choice(_SERVICES)}.conf --port {draw.randrange(1_000, 65_000)}"
        for _ in range(600)
    )


def digests(draw: random.Random) -> str:
    return "\n".join(f"{_hex(draw, 32)}  {draw.choice(_SERVICES)}-{draw.randrange(99)}.tar.gz" for _ in range(700))


def hex_dump(draw: random.Random) -> str:
    return "\n".join(f"{i * 16:08x}: {draw.randbytes(16).hex(' ', 2)}" for i in range(1_000))


def uuids(draw: random.Random) -> str:
    return "\n".join(str(uuid.UUID(bytes=draw.randbytes(16))) for _ in range(1_000))


def web_tokens(draw: random.Random) -> str:
    header = base64.urlsafe_b64encode(b'{"alg":"ES256","typ":"JWT"}').decode().rstrip("=")
    return "\n".join(f"Authorization: Bearer {header}.{_token(draw, 120)}.{_token(draw, 86)}" for _ in range(200))


def _token(draw: random.Random, length: int) -> str:
    return base64.urlsafe_b64encode(draw.randbytes(length)).decode()[:length]
