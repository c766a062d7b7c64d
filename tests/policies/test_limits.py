"""Documents that are small and once took minutes, and the limits that they meet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pycupel import ContextItem, wire
from pycupel.errors import DocumentError
from pycupel.policies import load_policy, parse_policy
from pycupel.policies.files import PolicyFormat
from tests.processor_time import within

POLICY = {"scorers": [{"type": "recency"}]}


def refused(text: str, form: PolicyFormat, seconds: float = 3.0) -> str:
    return refusal(lambda: parse_policy(text, form), seconds)


def refusal(work: Callable[[], object], seconds: float = 3.0) -> str:
    """What the error says, which came soon."""

    def refused() -> str:
        with pytest.raises(DocumentError) as caught:
            work()
        return str(caught.value)

    return within(seconds, refused)


# --- YAML: aliases and merge keys


def composites(levels: int) -> str:
    """Each level twice in the next one."""
    lines = ["l0: &l0 {type: recency}"]
    lines += [f"l{i}: &l{i} {{type: composite, scorers: [*l{i - 1}, *l{i - 1}]}}" for i in range(1, levels + 1)]
    return "\n".join([*lines, f"scorers: [*l{levels}]"])


def merged(levels: int) -> str:
    lines = ["m0: &m0 {a: 1, b: 2}"]
    lines += [f"m{i}: &m{i} {{<<: [*m{i - 1}, *m{i - 1}], c{i}: 3}}" for i in range(1, levels + 1)]
    return "\n".join([*lines, "scorers: [{type: recency}]"])


def list_as_key(levels: int) -> str:
    lines = ["k0: &k0 [1, 1]", *(f"k{i}: &k{i} [*k{i - 1}, *k{i - 1}]" for i in range(1, levels + 1))]
    return "\n".join([*lines, f"? *k{levels}", ": 1"])


@pytest.mark.parametrize("text", [composites(18), composites(60), merged(30), list_as_key(40)])
def test_aliases_that_expand_to_too_much_are_refused(text: str) -> None:
    """Of 1 KB; minutes before."""
    assert refused(text, "yaml") == "aliases expand to more than 10,000 nodes"


@pytest.mark.parametrize("text", [composites(6), merged(6)])
def test_aliases_and_merge_keys_as_such_are_fine(text: str) -> None:
    assert parse_policy(text, "yaml").scorer is not None


@pytest.mark.unmeasured
def test_a_long_policy_without_aliases_has_as_many_nodes_as_it_needs() -> None:
    kinds = "\n".join(f"  kind{i}: 1" for i in range(6_000))
    policy = parse_policy(f"scorers:\n- type: kind\n  kindWeights:\n{kinds.replace('  kind', '    kind')}", "yaml")
    assert len(policy.scorer.weights) == 6_000  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["&a [*a]", "scorers: &a [{b: {c: *a}}]", "? &a [*a]\n: 1"])
def test_what_contains_itself_is_refused(text: str) -> None:
    assert refused(text, "yaml") == "aliases expand to more than 10,000 nodes"


@pytest.mark.unmeasured
def test_a_chain_of_aliases_is_no_recursion() -> None:
    lines = ["a0: &a0 [1]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 3_000))]
    assert refused("\n".join(lines), "yaml", 10.0) == "aliases expand to more than 10,000 nodes"


# --- YAML: scalars and tags


@pytest.mark.parametrize(
    "scalar",
    [
        "1" + ":1" * 490_000,
        "1" + ":1" * 40_000,
        "1" + ":1" * 40_000 + ".5",
        "!!int 1" + ":1" * 40_000,
        "!!float 1" + ":1" * 2_000,
        '!!int ""',
        '!!float ""',
        '!!bool "x"',
        '!!bool "yes"',
        '!!null "x"',
        "!!int 0x10",
        "!!int [1]",
        "!!int {=: 1}",
        '!!timestamp "x"',
        "!!timestamp 2024-13-45",
        "!!binary é",
        "!!set {a}",
        "!!omap [1]",
        "!!python/name:os.system",
        "!mine x",
    ],
    ids=lambda scalar: scalar[:20],
)
def test_a_scalar_of_yaml_is_a_mistake_of_the_document_whatever_it_claims_to_be(scalar: str) -> None:
    """Of base 60, 490,000 digits took minutes and 2,000 overflowed a float; others were a KeyError or an IndexError."""
    assert refused(f"scorers: {scalar}", "yaml")


@pytest.mark.unmeasured
def test_a_list_as_long_as_it_may_be_takes_seconds() -> None:
    """Of 900 KB, it took a minute."""
    assert refused(f"scorers: [{'1,' * 450_000}]", "yaml").startswith("is larger than 100,000 bytes")
    assert refused(f"scorers: [{'1,' * 49_900}]", "yaml", 15.0).startswith("there are 49,900 mistakes")


# --- JSON: duplicate keys


def test_duplicate_keys_are_found_by_counting() -> None:
    """40,000 keys took 69 s."""
    members = ", ".join(f'"k{i}": 1' for i in range(40_000))
    assert refused(f'{{{members}, "k39999": 2}}', "json") == "duplicate key 'k39999' in an object"
    assert refused(f'{{{members}, "k7": 2, "k5": 2}}', "json") == "duplicate key 'k5' in an object"


def test_a_long_key_is_cut() -> None:
    assert refused('{"%s": 1, "%s": 1}' % (("x" * 100_000,) * 2), "json") == (
        f"duplicate key '{'x' * 200}'... in an object"
    )


@pytest.mark.parametrize(
    "work",
    [
        lambda line: wire.loads(ContextItem, line),
        lambda line: wire.loads(ContextItem, line.encode()),
        lambda line: list(wire.read_items([line])),
    ],
)
@pytest.mark.parametrize("extra", ['"tokens": 2', '"metadata": {"a": 1, "a": 2}', '"unknown": {"a": 1, "a": 2}'])
def test_wire_refuses_duplicate_keys_too(work: Callable[[str], object], extra: str) -> None:
    line = f'{{"content": "x", "tokens": 1, {extra}}}'
    assert refusal(lambda: work(line)).endswith("in an object")
    assert "duplicate key" in refusal(lambda: work(line))


# --- TOML: dotted keys


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 20_000) + " = 1",
        "[" + ".".join("a" * 20_000) + "]",
        "[[" + " . ".join(["a", '"b"', "'c.d'"] * 5_000) + "]]",
        "scorers = [{ type = 'recency', " + ".".join("a" * 66) + " = 1}]",
        "description = 'x' # comment.\n" + ".".join("a" * 66) + " = 1",
    ],
)
def test_a_toml_key_has_64_dots_at_most(text: str) -> None:
    """40 KB took 33 s and 1.5 GB."""
    assert "a key has more than 64 dots: " in refused(text, "toml")


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 63) + " = 1",
        'description = "' + "a." * 1_000 + '"',
        "description = '" + "a." * 1_000 + "'",
        'description = """\n' + "a." * 1_000 + '\n\\""" a.b """"',
        "description = '''\n" + "a." * 1_000 + "'''",
        "# " + "a." * 1_000,
        'description = "\\"' + "a." * 1_000 + '"',
        "a.a = 1 # " + "a." * 1_000,
    ],
)
def test_other_dots_do_not_count(text: str) -> None:
    assert parse_policy(f"scorers = [{{type = 'recency'}}]\n{text}", "toml").scorer is not None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = " + "1" * 200_000, "Exceeds the limit"),
        ('a = "' + '\\"' * 50_000, "Unterminated string"),
        ('a = """' + '\\"""' * 50_000, "Unterminated string"),
        ("a = '''" + "x'" * 50_000, "Expected \"'''\""),
    ],
    ids=["a long number", "an open string", "an open string of several lines", "an open literal of several lines"],
)
def test_dots_are_counted_in_one_pass(text: str, problem: str) -> None:
    """Each of the 200,000 digits, and each quote in a string that is not closed, began a search of its own."""
    assert problem in refused(f"# {'.' * 100}\n{text}", "toml")


@pytest.mark.unmeasured
def test_a_key_within_the_limits_takes_seconds_at_most() -> None:
    """Many of them."""
    keys = "\n".join(f"k{i}." + ".".join("a" * 60) + " = 1" for i in range(2_000))
    within(9.0, lambda: parse_policy(f"scorers = [{{type = 'recency'}}]\n{keys}", "toml"))


# --- the size


@pytest.mark.parametrize(("form", "most"), [("json", 1_000_000), ("toml", 1_000_000), ("yaml", 100_000)])
@pytest.mark.parametrize("sign", ["x", "é"])
def test_a_policy_has_a_limited_size(form: PolicyFormat, most: int, sign: str, tmp_path: Path) -> None:
    texts = {
        "json": '{"scorers": [{"type": "recency"}], "description": "%s"}',
        "toml": 'scorers = [{type = "recency"}]\ndescription = "%s"',
        "yaml": 'scorers: [{type: recency}]\ndescription: "%s"',
    }
    longest = (most - len(texts[form] % "")) // len(sign.encode())
    file = tmp_path / f"policy.{form}"
    assert parse_policy(texts[form] % (sign * longest), form).description == sign * longest
    text = texts[form] % (sign * (longest + 1))
    assert refused(text, form) == f"is larger than {most:,} bytes, the limit for a policy in {form.upper()}"
    file.write_text(text, encoding="utf-8")
    assert refusal(lambda: load_policy(file)).endswith(
        f"is larger than {most:,} bytes, the limit for a policy in {form.upper()}"
    )


def test_depth_counts_objects_and_lists() -> None:
    def document(levels: int) -> str:
        value: object = 1
        for _ in range(levels - 1):
            value = [value]
        return json.dumps({**POLICY, "unknown": value})

    assert parse_policy(document(64)).scorer is not None
    assert refused(document(65), "json") == f"unknown{'[0]' * 63}: is nested more than 64 levels deep"


@pytest.mark.parametrize("text", ["!" * 90_000, "scorers: *" + "a" * 90_000, "%TAG " + "x" * 90_000])
def test_what_is_wrong_in_yaml_is_quoted_up_to_1000_characters(text: str) -> None:
    assert refused(text, "yaml").startswith("invalid YAML: ")
    assert len(refused(text, "yaml")) <= 1_020
