"""LlamaIndex: cuts the retrieved nodes of a query engine to a token budget.

    engine = index.as_query_engine(node_postprocessors=[CupelPostprocessor(budget=4_000)])

The nodes themselves are not changed.
"""

# The library may be missing where types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

from pycupel.extras import missing_extra
from pycupel.integrations._documents import OnResult, select_documents

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore, QueryBundle
except ModuleNotFoundError as error:
    raise missing_extra(
        error,
        "llama_index.core.postprocessor.types",
        extra="llama-index",
        package="llama-index-core",
        purpose="pycupel.integrations.llama_index",
    ) from error

__all__ = ["CupelPostprocessor"]


class CupelPostprocessor(BaseNodePostprocessor):
    """Keeps the retrieved nodes that fit, the best ones at both edges.

    Attributes:
        budget: The limits, or a number of tokens.
        policy: What ranks and places the nodes: a policy, a pipeline, or the name of a preset.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        on_selection: Called with each result, which has its report.
    """

    budget: Any
    policy: Any = "rag"
    counter: Any = "auto"
    on_selection: OnResult | None = None

    def model_post_init(self, context: Any, /) -> None:  # noqa: ARG002
        """Checks the options."""
        # Fails here if an option is wrong, not in the first query.
        select_documents((), self.budget, self.policy, self.counter)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex saves it."""
        return "CupelPostprocessor"

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002
    ) -> list[NodeWithScore]:
        return select_documents(nodes, self.budget, self.policy, self.counter, self.on_selection)
