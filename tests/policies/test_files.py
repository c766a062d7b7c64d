"""Policies in files and texts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pycupel import CompositeScorer, GreedySlice, KindScorer, KnapsackSlice, Policy, QuotaSlice, RecencyScorer, Slicer
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.policies import DOCUMENT_QA, RAG, dump_policy, load_policy, parse_policy, policy_to_dict, save_policy
from pycupel.policies.files import PolicyFormat

FORMATS: list[PolicyFormat] = ["json", "toml", "yaml"]

RECENCY = {
    "json": '{"scorers": [{"type": "recency"}]}',
    "toml": '[[scorers]]\ntype = "recency"\n',
    "yaml": "scorers:\n- type: recency\n",
}
TWO_MISTAKES = {
    "json": '{"scorers": [{"type": "recensy"}], "placerTyp": "uShaped"}',
    "toml": 'placerTyp = "uShaped"\n[[scorers]]\ntype = "recensy"\n',
    "yaml": "scorers:\n- type: recensy\nplacerTyp: uShaped\n",
}


def refused(action: Callable[[], object]) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        action()
    assert caught.value.errors
    return caught.value


def parsing(text: str, form: PolicyFormat) -> str:
    return str(refused(lambda: parse_policy(text, form)))


# --- what is read and written


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("policy", [RAG, DOCUMENT_QA, Policy(RecencyScorer())])
def test_a_policy_comes_back_from_every_format(policy: Policy, form: PolicyFormat) -> None:
    assert parse_policy(dump_policy(policy, form), form) == policy


@pytest.mark.parametrize("suffix", [".json", ".toml", ".yaml", ".yml", ".JSON", ".Toml"])
def test_the_suffix_of_a_file_is_its_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"policy.v2{suffix}"
    save_policy(DOCUMENT_QA, path)
    assert load_policy(path) == load_policy(str(path)) == DOCUMENT_QA
    form: Any = "yaml" if suffix == ".yml" else suffix[1:].lower()
    assert path.read_text(encoding="utf-8") == dump_policy(DOCUMENT_QA, form)


def test_a_preset_is_written_by_its_name(tmp_path: Path) -> None:
    save_policy("rag", tmp_path / "rag.json")
    assert load_policy(tmp_path / "rag.json") == RAG
    assert dump_policy("rag", "toml") == dump_policy(RAG, "toml")


def test_json_is_the_format_of_texts_unless_told_otherwise() -> None:
    assert json.loads(dump_policy(RAG)) == policy_to_dict(RAG)
    assert parse_policy(RECENCY["json"]) == Policy(RecencyScorer())


def test_json_is_written_for_people() -> None:
    text = dump_policy(Policy(RecencyScorer(), name="Größe"))
    assert text == (
        '{\n  "name": "Größe",\n  "scorers": [\n    {\n      "type": "recency",\n      "weight": 1\n    }\n  ],\n'
        '  "slicerType": "greedy",\n  "placerType": "chronological",\n  "deduplicationEnabled": true,\n'
        '  "overflowStrategy": "throw"\n}\n'
    )


def test_yaml_is_written_for_people() -> None:
    text = dump_policy(Policy(RecencyScorer(), name="Größe"), "yaml")
    assert text == (
        "name: Größe\nscorers:\n- type: recency\n  weight: 1\nslicerType: greedy\nplacerType: chronological\n"
        "deduplicationEnabled: true\noverflowStrategy: throw\n"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_line_ends_of_windows_and_a_byte_order_mark_do_no_harm(form: PolicyFormat, tmp_path: Path) -> None:
    """What editors on Windows write."""
    path = tmp_path / f"policy.{form}"
    path.write_bytes(b"\xef\xbb\xbf" + RECENCY[form].replace("\n", "\r\n").encode())
    assert load_policy(path) == Policy(RecencyScorer())


def test_a_file_is_written_only_if_the_policy_can_be(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    save_policy(RAG, path)
    with pytest.raises(DocumentError):
        save_policy(Policy(RecencyScorer(), name="\ud800"), path)
    assert load_policy(path) == RAG


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029", "\ufeff", "\x00", "\x7f", "\U0001f600"])
def test_every_sign_comes_back_from_every_format(sign: str) -> None:
    """PyYAML takes the first three for blanks unless they are escaped."""
    policy = Policy(KindScorer({f"{sign}x": 1}), name=f"a{sign}b", description=f"{sign} ")
    for form in FORMATS:
        assert parse_policy(dump_policy(policy, form), form) == policy


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\x9b"])
def test_what_a_terminal_interprets_is_escaped(sign: str, form: PolicyFormat) -> None:
    assert dump_policy(Policy(RecencyScorer(), name=f"a{sign}b"), form).replace("\n", "").isprintable()


def test_anchors_of_yaml_may_be_used() -> None:
    text = "scorers:\n- &base {type: kind, kindWeights: {Note: 1}}\n- {<<: *base, weight: 2}\n- *base\n"
    kind = KindScorer({"Note": 1})
    assert parse_policy(text, "yaml") == Policy(CompositeScorer([(kind, 1), (kind, 2), (kind, 1)]))


@pytest.mark.parametrize("word", ["yes", "No", "on", "OFF", "True", "y"])
def test_a_flag_in_yaml_is_true_or_false(word: str) -> None:
    """YAML 1.1 has six spellings of each, and so `no` cannot be the name of a kind."""
    text = "scorers: [{{type: recency}}]\ndeduplicationEnabled: {}"
    assert parsing(text.format(word), "yaml") == f"deduplicationEnabled: must be true or false, not {word!r} (str)"
    assert parse_policy(text.format("false"), "yaml").deduplication is False


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(text, text) for text in ("no", "010", "0x10", "0b1", "1_000", "12:30:45", "2024-01-01", "+1", ".5", "=")],
        *[(text, text) for text in ("1.", ".inf", ".NaN", "NULL", "nul", "trues", "-a", "1e", "0.5.1", "!!str null")],
        ("null", None),
        ("~", None),
        ("", None),
        ('!!null ""', None),
    ],
)
def test_only_the_words_and_numbers_of_json_are_not_texts_in_yaml(text: str, value: str | None) -> None:
    assert parse_policy(f"name: {text}\nscorers: [{{type: recency}}]", "yaml").name == (
        value.removeprefix("!!str ") if value else None
    )


@pytest.mark.parametrize("number", ["0", "-0", "12", "1.5", "1e5", "2E-3", "1.25e+2", "!!int 3", '!!float "2"'])
def test_the_numbers_of_yaml_are_those_of_json(number: str) -> None:
    policy = parse_policy(f"scorers: [{{type: kind, kindWeights: {{a: {number}}}}}]", "yaml")
    assert policy == Policy(KindScorer({"a": json.loads(number.rsplit(maxsplit=1)[-1].strip('"'))}))


@pytest.mark.parametrize(
    "text", ["1e5", "1E-7", "yes", "null", "~", "12:30", "2024-01-01", "0o10", "<<", "=", "-1", ""]
)
def test_a_text_that_looks_like_something_else_comes_back_from_yaml(text: str) -> None:
    """PyYAML does not quote `1e5`, which it does not take for a number."""
    policy = Policy(KindScorer({f"{text}.": 1}), name="a", description=text)
    assert parse_policy(dump_policy(policy, "yaml"), "yaml") == policy
    assert yaml.safe_load(dump_policy(policy, "yaml"))["description"] == text, "nor do others misread it"


# --- what is no document


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_text_is_refused(text: str, form: PolicyFormat) -> None:
    """REFERENCE-FACTS 5: "JSON input cannot be empty."."""
    assert parsing(text, form) == f"{form.upper()} input cannot be empty."


def test_null_is_refused() -> None:
    """REFERENCE-FACTS 5: the sentence of the .NET implementation."""
    assert parsing("null", "json") == "Policy cannot be null. Received JSON literal 'null'."
    assert parsing("~", "yaml") == parsing("# nothing", "yaml") == "must be an object, not None (NoneType)"


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("[]", "json", "must be an object, not a list"),
        ("- a\n- b\n", "yaml", "must be an object, not a list"),
        ('"chat"', "json", "must be an object, not 'chat' (str)"),
        ("chat", "yaml", "must be an object, not 'chat' (str)"),
        ('{"scorers": [}', "json", "invalid JSON: Expecting value at column 14"),
        ('{\n"scorers"', "json", "invalid JSON: Expecting ':' delimiter at line 2, column 10"),
        ("scorers = [", "toml", "invalid TOML: Invalid value (at end of document)"),
        ("chat", "toml", "invalid TOML: Expected '=' after a key in a key/value pair (at end of document)"),
        ('{"scorers": [{"type": "recency", "type": "kind"}]}', "json", "duplicate key 'type' in an object"),
        ('name = "a"\nname = "b"\n', "toml", "invalid TOML: Cannot overwrite a value (at line 2, column 11)"),
        ("name: a\nname: b\n", "yaml", "invalid YAML: duplicate key 'name' in an object"),
        (
            "scorers:\n- {type: scaled, innerScorer: {type: recency, type: kind}}\n",
            "yaml",
            "invalid YAML: duplicate key 'type' in an object",
        ),
        ('{"scorers": [{"type": "recency", "weight": NaN}]}', "json", "scorers[0].weight: must be finite, not nan"),
        ("scorers = [{type = 'recency', weight = inf}]", "toml", "scorers[0].weight: must be finite, not inf"),
        ("scorers: [{type: recency, weight: .nan}]", "yaml", "scorers[0].weight: must be a number, not '.nan' (str)"),
        (
            "name = 2024-01-01\nscorers = [{type = 'recency'}]",
            "toml",
            "name: must be a string, not a value of type date",
        ),
    ],
)
def test_texts_that_are_no_policies(text: str, form: PolicyFormat, message: str) -> None:
    assert parsing(text, form) == message


@pytest.mark.parametrize(("text", "form"), [("a: [", "yaml"), ("a: b: c", "yaml"), ("--- 1\n--- 2\n", "yaml")])
def test_what_the_parser_of_yaml_says_is_told(text: str, form: PolicyFormat) -> None:
    assert parsing(text, form).startswith("invalid YAML: ")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("[" * 10_000 + "]" * 10_000, "json"),
        ('{"scorers":' * 10_000 + "1" + "}" * 10_000, "json"),
        ("scorers = " + "[" * 10_000 + "]" * 10_000, "toml"),
        pytest.param("[" * 1_000 + "]" * 1_000, "yaml", marks=pytest.mark.unmeasured),
        ("scorers: [&a {type: scaled, innerScorer: *a}]", "yaml"),
    ],
)
def test_what_is_nested_too_deeply_is_refused(text: str, form: PolicyFormat) -> None:
    """No RecursionError, whoever meets it first; YAML can even write what contains itself."""
    endings = ("is nested more than 64 levels deep", "it is nested too deeply", "10,000 nodes")
    assert parsing(text, form).endswith(endings)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"knapsackBucketSize": 1' + "0" * 5000 + "}", "json"),
        ("knapsackBucketSize = 1" + "0" * 5000, "toml"),
        ("slicer = {options = [{bucketSize = 0x" + "f" * 4000 + "}]}", "toml"),
        ("knapsackBucketSize: 1" + "0" * 5000, "yaml"),
    ],
)
def test_integers_with_more_digits_than_python_converts_are_refused(text: str, form: PolicyFormat) -> None:
    assert "4300 digits" in parsing(text, form)


@pytest.mark.parametrize("form", FORMATS)
def test_integers_with_more_digits_than_python_converts_are_not_written(form: PolicyFormat) -> None:
    policy = Policy(RecencyScorer(), KnapsackSlice(10**5000))
    with pytest.raises(DocumentError, match=f"^cannot be written as {form.upper()}: .*4300 digits"):
        dump_policy(policy, form)


@pytest.mark.unmeasured
@pytest.mark.parametrize("share", [1, 0.4])
def test_what_is_nested_too_deeply_is_not_written(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is the dictionary that cannot be made, or a text of it, which could not be read back."""
    monkeypatch.setattr("pycupel.model.checks.MAX_NESTING", 10_000)
    slicer: Slicer = GreedySlice()
    for _ in range(int(sys.getrecursionlimit() * share)):
        slicer = QuotaSlice([], slicer)
    with pytest.raises(DocumentError, match=r"(^is nested too deeply|: is nested more than 64 levels deep)$"):
        dump_policy(Policy(RecencyScorer(), slicer), "yaml")


@pytest.mark.parametrize("form", FORMATS)
def test_what_can_be_built_can_be_written_and_read(form: PolicyFormat) -> None:
    """The deepest slicer that a document may hold: its innermost list is on level 64."""
    slicer: Slicer = GreedySlice()
    for _ in range(62):
        slicer = QuotaSlice([], slicer)
    policy = Policy(RecencyScorer(), slicer)
    assert parse_policy(dump_policy(policy, form), form) == policy
    with pytest.raises(DocumentError, match=r"^slicer\.inner\.inner.*: is nested more than 64 levels deep$"):
        dump_policy(Policy(RecencyScorer(), QuotaSlice([], slicer)), form)


def test_only_strings_are_texts() -> None:
    with pytest.raises(TypeError, match=r"^text must be a str, not b'{}' \(bytes\)$"):
        parse_policy(b"{}")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["TOML", "Toml", "to-ml"])
def test_the_name_of_a_format_may_be_spelled_in_any_way(name: Any) -> None:
    assert parse_policy(dump_policy(RAG, name), name) == RAG
    assert parsing(" ", name) == "TOML input cannot be empty."


MISSPELT: Any = "jsn"


@pytest.mark.parametrize("action", [lambda: parse_policy("{}", MISSPELT), lambda: dump_policy(RAG, MISSPELT)])
def test_an_unknown_format_is_refused_with_a_suggestion(action: Callable[[], object]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        action()
    assert str(caught.value) == "format must be one of json, toml, yaml, not 'jsn'; did you mean 'json'?"
    assert (caught.value.argument, caught.value.value) == ("format", "jsn")


def test_a_format_is_a_string() -> None:
    with pytest.raises(TypeError, match=r"^format must be a str, not None \(NoneType\)$"):
        parse_policy("{}", None)  # type: ignore[arg-type]


# --- files


@pytest.mark.parametrize("form", FORMATS)
def test_the_mistakes_of_a_file_are_told_with_its_name(form: PolicyFormat, tmp_path: Path) -> None:
    path = tmp_path / f"policy.{form}"
    path.write_text(TWO_MISTAKES[form], encoding="utf-8")
    error = refused(lambda: load_policy(path))
    first, *lines = str(error).splitlines()
    assert first == f"{path}: there are 2 mistakes in the policy:"
    assert lines[0] == "  placerTyp: unknown field; did you mean 'placerType'?"
    assert lines[1].startswith("  scorers[0].type: unknown scorer 'recensy'; choose from recency, ")
    assert [each.path for each in error.errors] == ["placerTyp", "scorers[0].type"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("policy.json", b"", "JSON input cannot be empty."),
        ("policy.json", b"{", "invalid JSON: Expecting property name enclosed in double quotes at column 2"),
        ("policy.json", b"{}", "scorers: is missing"),
        ("policy.json", b"\xff\xfe{\x00}\x00", "is not UTF-8: invalid start byte at byte 0"),
        ("policy.toml", b'name = "\xe9"', "is not UTF-8: invalid continuation byte at byte 8"),
    ],
)
def test_a_file_that_holds_no_policy_is_named(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    error = refused(lambda: load_policy(path))
    assert str(error) == f"{path}: {message}"
    assert [str(each) for each in error.errors] == [message]


def test_a_file_that_is_not_there_is_the_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        load_policy(tmp_path / "nowhere.json")
    with pytest.raises(IsADirectoryError):
        load_policy(_directory(tmp_path / "folder.json"))


def _directory(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("name", ["policy.txt", "policy", "json"])
@pytest.mark.parametrize("action", [load_policy, lambda path: save_policy(RAG, path)])
def test_a_wrong_suffix_is_refused_before_anything_is_touched(action: Callable[..., Any], name: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        action(Path("nowhere") / name)
    assert str(caught.value) == f"the name of a policy file must end with .json, .toml, .yaml, .yml, not {name!r}"
    assert caught.value.argument == "path"


def test_a_directory_without_a_name_is_named_in_the_error() -> None:
    with pytest.raises(InvalidArgumentError, match=r"not '\.'$"):
        load_policy(".")


def test_without_pyyaml_yaml_is_a_missing_extra_and_the_rest_works(tmp_path: Path) -> None:
    """A missing extra answers with the pip line."""
    (tmp_path / "policy.yaml").write_text(RECENCY["yaml"], encoding="utf-8")
    (tmp_path / "policy.json").write_text(RECENCY["json"], encoding="utf-8")
    script = """
import sys
sys.modules["yaml"] = None
from pycupel.errors import MissingExtraError
from pycupel.policies import dump_policy, load_policy
policy = load_policy("policy.json")
for action in (lambda: load_policy("policy.yaml"), lambda: dump_policy(policy, "yaml")):
    try:
        action()
    except MissingExtraError as error:
        print(error)
print(dump_policy(policy, "toml").splitlines()[0])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    missing = "a policy in YAML needs PyYAML, which is not installed: pip install 'pycupel[yaml]'"
    assert done.stdout.splitlines() == [missing, missing, 'slicerType = "greedy"']
