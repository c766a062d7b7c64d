"""A few seconds of each reader's fuzzer."""

from __future__ import annotations

import pytest

from tests.fuzz.loop import RUNS
from tests.fuzz.readers import READERS, check_corpus, fuzz_reader


@pytest.mark.parametrize("name", READERS)
def test_a_broken_document_is_read_or_refused(name: str) -> None:
    """One error of ours, or a value that is written and read equal."""
    fuzz_reader(READERS[name], RUNS // 2)


@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if reader.corpus])
def test_the_corpus_is_read_or_refused(name: str) -> None:
    """What was found once is found again."""
    assert check_corpus(READERS[name]) >= 2
