"""`PolicyRegistry`: which policy an application uses for which purpose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_str, wrong_type
from pycupel.model.names import fold, suggestion
from pycupel.pipeline import Policy
from pycupel.policies.presets import PRESETS

__all__ = ["PolicyRegistry"]


class PolicyRegistry:
    """Policies by intent, a name in any case. It starts empty; `with_presets` starts with the seven presets."""

    def __init__(self) -> None:
        self._policies: dict[str, tuple[str, Policy]] = {}

    @classmethod
    def with_presets(cls) -> Self:
        registry = cls()
        for intent, policy in PRESETS.items():
            registry.add_policy(intent, policy)
        return registry

    def add_policy(self, intent: str, policy: Policy) -> Self:
        """Use the policy for the intent from now on, instead of an earlier one. Calls may be chained."""
        if not isinstance(policy, Policy):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("policy", "a Policy", policy)
        self._policies[_key(intent)] = (intent, policy)
        return self

    def get_policy(self, intent: str) -> Policy:
        """The policy for the intent.

        Raises:
            InvalidArgumentError: there is none.
        """
        policy = self.try_get_policy(intent)
        if policy is None:
            near = suggestion(intent, self)
            raise InvalidArgumentError(
                f"No policy registered for intent '{intent}'.",
                argument="intent",
                value=intent,
                hint=f"Registered are: {', '.join(self) or 'none'}{near}",
            )
        return policy

    def try_get_policy(self, intent: str) -> Policy | None:
        return self._policies.get(_key(intent), (None, None))[1]

    def __contains__(self, intent: object) -> bool:
        return isinstance(intent, str) and fold(intent) in self._policies

    def __iter__(self) -> Iterator[str]:
        """The intents as they were spelled, in the order in which they were added."""
        return iter([intent for intent, _ in self._policies.values()])

    def __len__(self) -> int:
        return len(self._policies)


def _key(intent: str) -> str:
    if not checked_str("intent", intent).strip():
        raise InvalidArgumentError("intent must not be blank", argument="intent", value=intent)
    return fold(intent)
