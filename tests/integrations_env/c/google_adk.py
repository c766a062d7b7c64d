"""An agent of Google's ADK, with a model that asks a brain."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.models.base_llm import LlmCapabilities
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, FunctionCall, Part, UserContent

from pycupel.integrations.google_adk import CupelPlugin
from tests.integrations_env.agents import ANSWER, Framework, look_up
from tests.integrations_env.sessions import SYSTEM

__all__ = ["Adk", "FakeModel"]


class FakeModel(BaseLlm):
    """Asks a brain. A stream gives the answer in two parts, then whole."""

    brain: Any

    @property
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        contents, config = llm_request.contents, llm_request.config
        calls = self.brain.calls(
            is_question=all(part.function_response is None for part in contents[-1].parts or ()),
            messages=[each.model_dump(exclude_none=True) for each in contents],
            system=config.system_instruction,
            tools=[each.model_dump(mode="json", exclude_none=True) for each in config.tools or ()],
        )
        key = {"key": self.brain.key}
        parts = [Part(function_call=FunctionCall(id=each, name="look_up", args=key)) for each in calls]
        if not calls and stream:
            for half in (ANSWER[:20], ANSWER[20:]):
                yield LlmResponse(content=Content(role="model", parts=[Part(text=half)]), partial=True)
        yield LlmResponse(content=Content(role="model", parts=parts or [Part(text=self.brain.answer)]))


class Adk(Framework):
    """One plugin for all conversations, each of which has a runner of its own."""

    provider = "gemini"
    model = "gemini-2.5-flash"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.plugin = CupelPlugin(**self.options)
        self.sessions = InMemorySessionService()  # type: ignore[no-untyped-call]
        self.runners: dict[str, Runner] = {}

    async def _runner(self, name: str) -> Runner:
        if name not in self.runners:
            model = FakeModel(model=self.model, brain=self.brains[name])
            agent = LlmAgent(name="helper", model=model, instruction=SYSTEM, tools=[look_up], **self.agent_options)
            self.runners[name] = Runner(
                app=App(name="app", root_agent=agent, plugins=[self.plugin]), session_service=self.sessions
            )
            await self.sessions.create_session(app_name="app", user_id="u", session_id=name)
        return self.runners[name]

    async def ask(self, name: str, question: str, *, stream: bool = False) -> str:
        config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
        asked = UserContent(parts=[Part(text=question)])
        runner = await self._runner(name)
        texts = [
            part.text or ""
            async for event in runner.run_async(user_id="u", session_id=name, new_message=asked, run_config=config)
            if stream == bool(event.partial)
            for part in (event.content.parts if event.content else None) or ()
        ]
        return "".join(texts).strip()

    async def stored(self, name: str) -> list[str]:
        session = await self.sessions.get_session(app_name="app", user_id="u", session_id=name)
        parts = [part for event in session.events for part in event.content.parts]
        said = [part.function_response.response["result"] if part.function_response else part.text for part in parts]
        return [each for each in said if each]
