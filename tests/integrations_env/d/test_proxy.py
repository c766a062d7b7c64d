"""Agents that talk to LiteLLM's proxy, which talks to a server that answers like Anthropic and OpenAI.

The proxy is started once, with the files that the page shows.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.integrations_env.d.requests import SHAPES, converse
from tests.integrations_env.d.test_litellm import BUDGET, TOOL, Agent, streamed, whole
from tests.integrations_env.documentation import block_of
from tests.integrations_env.provider import Provider, running

# Beside the page's model: one of OpenAI's, and two by one name. The router refuses what is larger than these limits.
MODELS = """\
    model_info:
      max_input_tokens: 4000
  - model_name: talker
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/OPENAI_API_KEY
  - model_name: either
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/OPENAI_API_KEY
  - model_name: either
    litellm_params:
      model: openai/gpt-4o-mini
      api_key: os.environ/OPENAI_API_KEY
router_settings:
  enable_pre_call_checks: true
litellm_settings:
"""


class Proxy(NamedTuple):
    """A proxy that runs, and what stands behind it."""

    url: str
    key: str
    server: Provider
    log: Path
    """A line for each selection: the number of messages, and whose rules applied."""

    def agent(self, model: str) -> Agent:
        agent = Agent(self.server, "openai")
        agent.options = {"model": model, "tools": [TOOL], "api_base": f"{self.url}/v1", "api_key": self.key}
        return agent

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", json.dumps(body).encode(), headers)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - loopback
            answer: dict[str, Any] = json.loads(response.read())
        return answer


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("proxy")
    log = folder / "selections"
    hook = block_of("LiteLLM", "text")
    assert "CupelHandler(100_000)" in hook
    note = f"lambda s: print(s.history_length, s.provider, file=open({str(log)!r}, 'a'), flush=True)"
    small = f"CupelHandler({BUDGET}, counter=lambda text: len(text.split()), on_selection={note})"
    (folder / "cupel_hook.py").write_text(hook.replace("CupelHandler(100_000)", small), encoding="utf-8")
    config = block_of("LiteLLM", "yaml").replace("litellm_settings:\n", MODELS)
    assert "router_settings" in config
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    # Without a key of its own the proxy does not start.
    key = f"sk-{secrets.token_hex(32)}"
    command = [str(Path(sys.executable).with_name("litellm")), "--config", "config.yaml", "--host", "127.0.0.1"]
    with running(1) as server:
        settings = {"LITELLM_MASTER_KEY": key}
        for provider in ("ANTHROPIC", "OPENAI"):
            settings |= {f"{provider}_API_BASE": server.url, f"{provider}_API_KEY": "none"}
        with (folder / "log").open("w") as output:
            process = subprocess.Popen(
                [*command, "--port", str(port)], cwd=folder, env=os.environ | settings, stdout=output, stderr=output
            )
        try:
            _wait_for(f"{url}/health/liveliness", process, folder / "log")
            yield Proxy(url, key, server, log)
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the proxy answers; it takes 20 seconds on an idle machine."""
    for _ in range(360):
        time.sleep(0.5)
        assert process.poll() is None, log.read_text()[-3_000:]
        try:
            urllib.request.urlopen(url, timeout=2).close()  # noqa: S310 - loopback
        except OSError:
            continue
        return
    pytest.fail(log.read_text()[-3_000:])


@pytest.fixture
def proxy(started: Proxy) -> Proxy:
    started.server.sent.clear()
    started.log.write_text("")
    return started


def test_the_proxy_trims_what_it_is_sent(proxy: Proxy) -> None:
    """It is called by an alias; the rules are those of the model behind it. Every second turn is streamed."""
    agent = proxy.agent("openai/helper")

    async def talk() -> None:
        for turn in range(20):
            await agent.ask(f"Question {turn} about the log", streamed if turn % 2 else whole)

    asyncio.run(talk())
    assert len({body.get("stream", False) for body in proxy.server.sent}) == 2
    proxy.server.check("anthropic", BUDGET, requests=40, whole=20 * 3)
    # Once for each request, not twice.
    rules = [line.split()[1] for line in proxy.log.read_text().splitlines()]
    assert rules == ["anthropic"] * 40


def test_a_name_with_several_models_is_trimmed_when_one_is_chosen(proxy: Proxy) -> None:
    agent = proxy.agent("openai/either")

    async def talk() -> None:
        for turn in range(12):
            await agent.ask(f"Question {turn} about the log", whole)

    asyncio.run(talk())
    proxy.server.check("openai", BUDGET, requests=24, whole=12 * 3)
    assert {body["model"] for body in proxy.server.sent} == {"gpt-4o", "gpt-4o-mini"}
    assert len(proxy.log.read_text().splitlines()) == 24


def test_what_the_router_would_refuse_is_trimmed_before_it_looks(proxy: Proxy) -> None:
    old = [{"role": role, "content": "word " * 2_000} for role in ("user", "assistant") * 3]
    asked = [*old, {"role": "user", "content": "Well?"}]
    proxy.post("/v1/chat/completions", model="helper", messages=asked)
    proxy.server.check("anthropic", BUDGET, requests=1, whole=7)


@pytest.mark.parametrize("shape", SHAPES)
def test_requests_that_have_the_shape_of_the_provider(shape: Any, proxy: Proxy) -> None:
    path, model = {"anthropic": ("/v1/messages", "helper"), "responses": ("/v1/responses", "talker")}[shape]

    async def send(**request: Any) -> dict[str, Any]:
        return proxy.post(path, model=model, **request)

    asyncio.run(converse(shape, send, 15))
    proxy.server.check(shape, BUDGET, requests=30, whole=15 * 3)
    assert len(proxy.log.read_text().splitlines()) == 30


def test_a_request_that_the_proxy_translates(proxy: Proxy) -> None:
    """It is trimmed as what it is, and looked at again as what it becomes."""

    async def send(**request: Any) -> dict[str, Any]:
        return proxy.post("/v1/messages", model="talker", **request)

    asyncio.run(converse("anthropic", send, 15))
    proxy.server.check("responses", BUDGET, requests=30, whole=15 * 3)
