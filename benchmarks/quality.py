"""`python -m benchmarks.quality`: how much of the evidence each policy keeps, on questions whose evidence is known.

Reads sets of questions, `*.jsonl`, `*.jsonl.xz` or `*.jsonl.gz`, one question a line:

    {"id": ..., "query": ..., "gold": [indices], "items": [{"content", "tokens", "timestamp"?, "group"?, "role"?}, ...]}

Every policy selects at 2, 5, 10, 20 and 40 % of the tokens of all items. Recall is the share of the evidence that is
in the selection, and `all` the share of questions with all of it. `mean` is the recall over 2 to 20 %, and beside it
stands the difference to BM25, with a 95 % interval from a paired bootstrap over the questions. Presets run without a
question, with one (`query`), and those that read hints with the scores of BM25 as hints: `raw`, and `scaled` to at most
1; with `both`, they have the question and raw hints. With `shorten`, only items that are selected whole count.

With `--embed COMMAND`, embeddings alone and a hybrid of them and the words are measured, too. The command reads a JSON
list of texts and writes a JSON list of vectors; it is run once for each set.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import math
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from pycupel import (
    CompositeScorer,
    ContextItem,
    GreedySlice,
    Pipeline,
    Policy,
    ReflexiveScorer,
    RelevanceScorer,
    Scorer,
    SimilarityScorer,
)
from pycupel.errors import CupelError
from pycupel.policies import PRESETS
from pycupel.shorten import KeyLines

DATA = Path(__file__).resolve().parents[2] / "shared" / "quality"
SHARES = (0.02, 0.05, 0.10, 0.20, 0.40)
# Differences are measured where budgets are tight.
TIGHT = 4
KINDS = {"tool": "ToolOutput", "user": "Message", "assistant": "Message", "system": "SystemPrompt"}
OPENERS: dict[str, Callable[..., IO[str]]] = {".jsonl": open, ".xz": lzma.open, ".gz": gzip.open}


@dataclass(frozen=True)
class Question:
    """A question about a pool of items, and the indices of those that hold the evidence."""

    query: str
    gold: frozenset[int]
    items: tuple[ContextItem, ...]

    def budgets(self) -> list[int]:
        total = sum(item.tokens for item in self.items)
        return [int(total * share) for share in SHARES]


# What a method selects, as indices, for each of the question's budgets.
Method = Callable[[Question], list[set[int]]]


def read_set(path: Path) -> Iterator[Question]:
    """The questions of one file."""
    with OPENERS[path.suffix](path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield to_question(json.loads(line))
            except (KeyError, TypeError, ValueError, CupelError) as error:
                sys.exit(f"{path}, line {number}: {type(error).__name__}: {error}")


def to_question(row: dict[str, Any]) -> Question:
    question = Question(row["query"], frozenset(row["gold"]), tuple(map(to_item, row["items"])))
    if not question.gold or not question.gold.issubset(range(len(question.items))):
        raise ValueError("gold must be indices of items, and not empty")
    return question


def to_item(row: dict[str, Any]) -> ContextItem:
    """What has a role is a message or a tool's output; what has none, or is code, is a document."""
    timestamp = row.get("timestamp")
    return ContextItem(
        row["content"],
        row["tokens"],
        kind=KINDS.get(row.get("role", ""), "Document"),
        timestamp=None if timestamp is None else datetime.fromisoformat(timestamp),
        metadata={} if row.get("group") is None else {"session": row["group"]},
    )


# The baseline is a BM25 of its own, so that it does not get better or worse with the library.
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about after all an and any are as at be been but by can could did do does for from had has have he her his
        how i if in into is it its just me more most my no not of on only or other our out over she should so some such
        than that the their them then there these they this those to too under up very was we were what when where which
        while who whom why will with would you your s t don ll re ve d m""",
    )
)


def _baseline_terms(text: str) -> list[str]:
    return [_light_stem(word) for word in re.findall(r"\w+", text.lower()) if word not in _STOP_WORDS]


def _light_stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    for ending, least in (("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if len(word) >= least and word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


class Baseline:
    """BM25 with k1 = 1.2 and b = 0.75. Contents are analysed once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Counter[str], int]] = {}

    def scores(self, question: Question) -> list[float]:
        texts = [self._analysed(item.content) for item in question.items]
        mean = sum(length for _, length in texts) / len(texts)
        scores = [0.0] * len(texts)
        for term, repeated in Counter(_baseline_terms(question.query)).items():
            found = [(i, counts[term]) for i, (counts, _) in enumerate(texts) if term in counts]
            idf = math.log(1.0 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
            for i, count in found:
                scores[i] += repeated * idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * texts[i][1] / mean))
        return scores

    def _analysed(self, content: str) -> tuple[Counter[str], int]:
        if content not in self._known:
            terms = _baseline_terms(content)
            self._known[content] = Counter(terms), len(terms)
        return self._known[content]


def in_order(question: Question, order: Sequence[int]) -> list[set[int]]:
    """What fits, in this order, at every budget."""
    selections: list[set[int]] = []
    for budget in question.budgets():
        left, selected = budget, set[int]()
        for i in order:
            if question.items[i].tokens <= left:
                selected.add(i)
                left -= question.items[i].tokens
        selections.append(selected)
    return selections


def by_score(question: Question, scores: Sequence[float]) -> list[set[int]]:
    return in_order(question, sorted(range(len(scores)), key=scores.__getitem__, reverse=True))


def by_policy(question: Question, policy: Policy, *, query: bool) -> list[set[int]]:
    pipeline = Pipeline.from_policy(policy)
    ranking = pipeline.rank(question.items, query=question.query if query else None)
    # Of equal contents, one is enough, and it is as good as any.
    indices: dict[str, set[int]] = {}
    for i, item in enumerate(question.items):
        indices.setdefault(item.content, set()).add(i)
    return [
        # A shortened item may lack the evidence, and does not count.
        {i for item in pipeline.select(ranking, budget).items for i in indices.get(item.content, ())}
        for budget in question.budgets()
    ]


def with_hints(question: Question, hints: Sequence[float]) -> Question:
    items = tuple(
        ContextItem(
            item.content,
            item.tokens,
            kind=item.kind,
            timestamp=item.timestamp,
            metadata=item.metadata,
            future_relevance_hint=hint,
        )
        for item, hint in zip(question.items, hints, strict=True)
    )
    return replace(question, items=items)


def methods(seed: int) -> dict[str, Method]:
    """The baselines, and every preset without a query, with one, and with hints."""
    source = random.Random(seed)
    bm25 = Baseline()
    found: dict[str, Method] = {
        "BM25 by score": lambda q: by_score(q, bm25.scores(q)),
        "random": lambda q: in_order(q, source.sample(range(len(q.items)), len(q.items))),
        "newest first": lambda q: in_order(q, range(len(q.items) - 1, -1, -1)),
    }
    for name, policy in PRESETS.items():
        found[name] = lambda q, policy=policy: by_policy(q, policy, query=False)  # type: ignore[misc]
        found[f"{name}, query"] = lambda q, policy=policy: by_policy(q, policy, query=True)  # type: ignore[misc]
        if reads_hints(policy):
            found[f"{name}, raw"] = lambda q, policy=policy: by_policy(  # type: ignore[misc]
                with_hints(q, bm25.scores(q)), policy, query=False
            )
            found[f"{name}, scaled"] = lambda q, policy=policy: by_policy(  # type: ignore[misc]
                with_hints(q, _scaled(bm25.scores(q))), policy, query=False
            )
            found[f"{name}, both"] = lambda q, policy=policy: by_policy(  # type: ignore[misc]
                with_hints(q, bm25.scores(q)), policy, query=True
            )
    shortening = replace(PRESETS["rag"], shorten=KeyLines())
    found["rag, query, shorten"] = lambda q: by_policy(q, shortening, query=True)
    return found


def reads_hints(policy: Policy) -> bool:
    scorer = policy.scorer
    return isinstance(scorer, CompositeScorer) and any(isinstance(each, ReflexiveScorer) for each in scorer.children)


def embedding_methods(command: str, questions: Sequence[Question]) -> dict[str, Method]:
    """Relevance by words, by embeddings, and by both, in the order of the scores."""
    texts = list(dict.fromkeys(text for q in questions for text in (q.query, *(item.content for item in q.items))))
    output = subprocess.run(shlex.split(command), input=json.dumps(texts), capture_output=True, text=True, check=True)  # noqa: S603
    vectors = dict(zip(texts, json.loads(output.stdout), strict=True))
    words = RelevanceScorer(length_exponent=0.15)
    similarity = SimilarityScorer(lambda wanted: [vectors[text] for text in wanted])
    scorers: dict[str, Scorer] = {
        "words": words,
        "embeddings": similarity,
        "hybrid": CompositeScorer([(words, 1), (similarity, 1)]),
    }
    policies = {name: Policy(scorer, GreedySlice(0, best_first=True)) for name, scorer in scorers.items()}
    return {
        name: lambda q, policy=policy: by_policy(q, policy, query=True)  # type: ignore[misc]
        for name, policy in policies.items()
    }


def _scaled(scores: Sequence[float]) -> list[float]:
    largest = max(scores)
    return [score / largest if largest else 0.0 for score in scores]


@dataclass(frozen=True)
class Result:
    """Recall at each share of the tokens, for every question."""

    recalls: list[list[float]]

    def recall(self, share: int) -> float:
        return 100.0 * sum(row[share] for row in self.recalls) / len(self.recalls)

    def complete(self, share: int) -> float:
        return 100.0 * sum(row[share] == 1.0 for row in self.recalls) / len(self.recalls)

    def tight(self) -> list[float]:
        return [100.0 * sum(row[:TIGHT]) / TIGHT for row in self.recalls]


def measure(name: str, questions: Sequence[Question], by_name: dict[str, Method]) -> dict[str, Result]:
    results: dict[str, Result] = {method: Result([]) for method in by_name}
    for done, question in enumerate(questions):
        show_progress(name, done, len(questions))
        for method, select in by_name.items():
            selections = select(question)
            results[method].recalls.append([len(each & question.gold) / len(question.gold) for each in selections])
    show_progress(name, len(questions), len(questions))
    return results


def show_progress(name: str, done: int, total: int) -> None:
    """A bar on a terminal, which the tables then replace; nothing elsewhere."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        bar = f"{name[:24]:24} [{'#' * filled}{'.' * (40 - filled)}] {done}/{total}"
        print(f"\r{bar}\033[K" if done < total else "\r\033[K", end="", file=sys.stderr, flush=True)


def interval(differences: Sequence[float], samples: int, seed: int) -> tuple[float, float]:
    """The 95 % interval of the mean, from a bootstrap over the questions."""
    source = random.Random(seed)
    n = len(differences)
    means = sorted(sum(source.choices(differences, k=n)) / n for _ in range(samples))
    return means[int(0.025 * samples)], means[int(0.975 * samples)]


def print_tables(name: str, results: dict[str, Result], samples: int, seed: int) -> None:
    baseline = next(iter(results.values())).tight()
    shares = "".join(f"{100 * share:5.0f}%" for share in SHARES)
    print(f"\n{name}: {len(baseline)} questions\n{'recall':20}{shares}  mean  to BM25")
    for method, result in results.items():
        recalls = "".join(f"{result.recall(i):6.1f}" for i in range(len(SHARES)))
        differences = [own - other for own, other in zip(result.tight(), baseline, strict=True)]
        low, high = interval(differences, samples, seed)
        mean = sum(differences) / len(differences)
        beside = "" if method == "BM25 by score" else f" {mean:+6.1f} [{low:+.1f}, {high:+.1f}]"
        print(f"{method:20}{recalls}{sum(result.tight()) / len(baseline):6.1f}{beside}")
    print(f"\n{'all of the evidence':20}{shares}")
    for method, result in results.items():
        print(f"{method:20}{''.join(f'{result.complete(i):6.1f}' for i in range(len(SHARES)))}", flush=True)


def find_sets(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if re.search(r"\.jsonl(\.xz|\.gz)?$", path.name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help=f"the folder with the sets (default {DATA})")
    parser.add_argument("--only", default="", help="measure only methods whose name contains this, and BM25")
    parser.add_argument("--samples", type=int, default=2_000, help="bootstrap samples (default 2000)")
    parser.add_argument("--seed", type=int, default=11, help="for the bootstrap and the random order (default 11)")
    parser.add_argument("--embed", metavar="COMMAND", help="what turns texts into vectors, to measure a hybrid, too")
    parser.add_argument("--questions", type=int, help="measure only the first so many questions of each set")
    options = parser.parse_args()
    sets = find_sets(options.data) if options.data.is_dir() else []
    if not sets:
        parser.error(f"no .jsonl, .jsonl.xz or .jsonl.gz file in {options.data}; choose a folder with --data")
    for path in sets:
        questions = list(read_set(path))[: options.questions]
        chosen = methods(options.seed)
        by_name = {name: chosen[name] for name in chosen if name == "BM25 by score" or options.only in name}
        if options.embed:
            by_name |= embedding_methods(options.embed, questions)
        name = path.name.split(".")[0]
        print_tables(name, measure(name, questions, by_name), options.samples, options.seed)


if __name__ == "__main__":
    main()
