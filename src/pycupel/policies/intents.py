"""`PolicyRegistry`: the policies of an application, by purpose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pycupel.errors import InvalidArgumentError, plain
from pycupel.model.checks import checked_str, quoted
from pycupel.model.names import name_key, suggestion
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import PresetName, as_policy
from pycupel.policies.presets import PRESETS

__all__ = ["PolicyRegistry"]


class PolicyRegistry:
    """A registry of policies by intent. It starts empty; `with_presets` starts with the seven presets.

    An intent is a name for a purpose; `code-review`, `code_review` and `CodeReview` are the same intent. Iteration
    yields the intents in the order in which they were added.
    """

    def __init__(self) -> None:
        self._policies: dict[str, tuple[str, Policy]] = {}

    def __repr__(self) -> str:
        count = len(self._policies)
        return f"<{type(self).__name__}: {count} {'policy' if count == 1 else 'policies'}>"

    @classmethod
    def with_presets(cls) -> Self:
        """Return a registry of the seven presets, under their names."""
        registry = cls()
        for intent, policy in PRESETS.items():
            registry.add_policy(intent, policy)
        return registry

    def add_policy(self, intent: str, policy: Policy | PresetName) -> Self:
        """Register a policy for an intent. If the intent is registered in the same spelling, its policy is replaced.

        Args:
            intent: The name of the purpose.
            policy: A policy, a pipeline, or the name of a preset.

        Returns:
            The registry itself, so that calls can be chained.

        Raises:
            TypeError: an argument has the wrong type.
            InvalidArgumentError: the intent is blank or registered in another spelling, or there is no such preset.
        """
        key = _key(intent)
        spelling, _ = self._policies.get(key, (intent, None))
        if intent != spelling:
            raise InvalidArgumentError(
                f"intent {quoted(intent)} is already registered as {quoted(spelling)}; "
                "use that spelling to replace its policy",
                argument="intent",
                value=intent,
            )
        self._policies[key] = (intent, as_policy(policy))
        return self

    def get_policy(self, intent: str) -> Policy:
        """Return the policy for an intent.

        Raises:
            InvalidArgumentError: there is no such policy. A note lists the registered intents.
        """
        policy = self.try_get_policy(intent)
        if policy is None:
            near = suggestion(intent, self)
            raise InvalidArgumentError(
                f"No policy registered for intent '{plain(intent)}'.",
                argument="intent",
                value=intent,
                hint=f"Registered intents: {', '.join(self) or 'none'}{near}",
            )
        return policy

    def try_get_policy(self, intent: str) -> Policy | None:
        """Return the policy for an intent, or None if there is none."""
        return self._policies.get(_key(intent), (None, None))[1]

    def __contains__(self, intent: object) -> bool:
        return isinstance(intent, str) and name_key(intent) in self._policies

    def __iter__(self) -> Iterator[str]:
        return iter([intent for intent, _ in self._policies.values()])

    def __len__(self) -> int:
        return len(self._policies)


def _key(intent: str) -> str:
    key = name_key(checked_str("intent", intent))
    if not key.strip():
        raise InvalidArgumentError("intent must not be blank", argument="intent", value=intent)
    return key
