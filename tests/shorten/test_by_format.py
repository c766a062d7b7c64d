"""ByFormat: JSON stays JSON, logs fold, tables keep their header, and other texts keep their key lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from pycupel import ContextItem, select
from pycupel.model.item import is_version_of, stated_units
from pycupel.protocols import ShortenContext
from pycupel.shorten import ByFormat, KeyLines
from pycupel.shorten.by_format import WithEnds
from tests.processor_time import within


def item(content: str, tokens: int | None = None) -> ContextItem:
    return ContextItem(content, len(content) if tokens is None else tokens)


def shortened(content: str, query: str | None = None) -> list[str]:
    """The texts of all versions."""
    whole = item(content)
    context = ShortenContext([whole], query=query)
    versions = ByFormat().shorten(whole, context)
    sizes = [whole.tokens, *(version.tokens for version in versions)]
    assert sizes == sorted(set(sizes), reverse=True)
    for version in versions:
        assert is_version_of(version, whole)
        assert version.metadata["pycupel.version"]["maker"].startswith("ByFormat, ")
        units = stated_units(version)
        assert units is not None
        assert 0 <= units <= ByFormat().units(whole, context) + 1e-9
    return [version.content for version in versions]


def records(count: int = 4_500) -> list[dict[str, Any]]:
    return [
        {"id": i, "host": f"node-{i % 40}", "status": "ok", "message": f"sync {i} done in {i % 17} ms"}
        for i in range(count)
    ]


def kept(text: str) -> tuple[list[Any], str | None]:
    """The records in a version of an array, and its note."""
    data = json.loads(text)
    if isinstance(data, dict):
        columns = data["columns"]
        data = [dict(zip(columns, row, strict=True)) if isinstance(row, list) else row for row in data["rows"]]
    note = data.pop()["..."] if "..." in data[-1] else None
    return data, note


def test_an_array_keeps_its_first_and_last_record_and_what_stands_out() -> None:
    data = records()
    data[2718]["message"] = "E42 disk full"
    versions = shortened(json.dumps(data, indent=2))
    assert len(versions) == 11
    # For a window of any size, there is one that fills a third of it.
    assert all(len(longer) < 3 * len(shorter) for longer, shorter in pairwise(versions[:-1]))
    assert len(versions[-2]) < 1_600
    for version in versions:
        found, note = kept(version)
        assert data[2718] in found
        assert [data[each["id"]] for each in found] == found
        if note is not None:
            assert note == f"{4_500 - len(found):,} more records"
    for version in versions[:-1]:
        assert kept(version)[0][0] == data[0]
        assert kept(version)[0][-1] == data[-1]
    assert kept(versions[-1]) == ([data[2718]], "4,499 more records")
    assert '{"...": "4,499 more records"}' in versions[-1]


def test_what_loses_nothing_comes_first() -> None:
    data = records(50)
    compact, columns, *_ = shortened(json.dumps(data, indent=2))
    assert compact == json.dumps(data, separators=(",", ":"))
    assert columns.startswith('{"columns":["id","host","status","message"],"rows":[[0,"node-0","ok","sync 0')
    assert kept(columns) == (data, None)


def test_columns_must_save_a_fifth() -> None:
    data = [{"t": f"{i} " + "text " * 20} for i in range(30)]
    assert not any('"columns"' in version for version in shortened(json.dumps(data, indent=2)))


@pytest.mark.parametrize(
    "change", [lambda record: record.pop("host"), lambda record: record.update(more=1), lambda record: record.clear()]
)
def test_columns_need_equal_keys(change: Callable[[dict[str, Any]], Any]) -> None:
    data = records(50)
    change(data[20])
    assert not any('"columns"' in version for version in shortened(json.dumps(data)))


def test_arrays_inside_become_columns_too() -> None:
    data = {"pages": [{"rows": records(30)}, 3, []], "total": 30}
    _, columns, *_ = shortened(json.dumps(data, indent=1))
    assert json.loads(columns)["pages"][0]["rows"]["columns"] == ["id", "host", "status", "message"]
    assert list(json.loads(columns)) == ["pages", "total"]


def test_rows_keep_their_columns() -> None:
    data = [
        {"id": i, "name": f"name {i}", "note": "word " * 30, "value": {"key": ["x" * 30] * 12}, "last": i}
        for i in range(40)
    ]
    versions = shortened(json.dumps([{key * 20: value for key, value in each.items()} for each in data], indent=4))
    assert any('"columns"' in version for version in versions)
    for version in versions:
        for each in kept(version)[0]:
            assert each["id" * 20] == each["last" * 20]
    assert any('{"...": "1 more key"}' in version for version in versions)


@pytest.mark.parametrize(
    "written",
    [
        "1e400",
        "-0",
        "1.10",
        "123456789012345678901234567890",
        "0.1E+2",
        '"\\u00e9\\/\\"\\\\ \\ud83d\\ude00\\u0003"',
        "true",
    ],
)
def test_values_are_copied_as_written(written: str) -> None:
    text = f'{{"value": {written}, "others": [{", ".join([written] * 200)}]}}'
    versions = shortened(text)
    assert len(versions) > 2
    assert versions[0] == text.replace(", ", ",").replace(": ", ":")
    for version in versions:
        json.loads(version)
        assert version.startswith(f'{{"value":{written},"others":[{written},')


def test_a_number_of_thousands_of_digits_is_copied() -> None:
    digits = "7" * 6_000
    versions = shortened(f"[{digits}, {', '.join(['1'] * 900)}]")
    assert digits in versions[0]


@pytest.mark.parametrize("signs", ["\\u0001", "\\\\u0001", "\\\\u0003", "\\u0004", '\\"u0002'])
def test_escapes_that_look_like_our_signs(signs: str) -> None:
    listed = ", ".join(f'"{signs} {i}"' for i in range(90))
    text = f'{{"list": [{listed}], "key": "{signs}"}}'
    json.loads(text)
    for version in shortened(text):
        json.loads(version)
        assert version.endswith(f'"key":"{signs}"}}')


def test_keys_are_copied_and_keep_their_order() -> None:
    data = {"b\u00e9": 1, 'a"b': "x" * 5_000, "0": {"z": "y" * 2_000, "a": "word " * 300}, "end": [None, True]}
    text = json.dumps(data, indent=3)
    versions = shortened(text)
    assert len(versions) > 3
    for version in versions:
        assert list(json.loads(version)) == list(data)
        assert '"b\\u00e9":1,"a\\"b":"xxx' in version or '"b\\u00e9":1,"a\\"b":"[+5,000 characters]"' in version
        assert version.endswith('"end":[null,true]}')


def test_long_strings_lose_their_middle() -> None:
    lines = [f"the line number {i} is plain" for i in range(200)]
    lines[100] = "ERROR in src/app/config.py: retry_limit = 3"
    versions = shortened(json.dumps({"text": "\n".join(lines)}))
    for version in versions[1:]:
        text = json.loads(version)["text"]
        assert text.startswith("the line number 0 is plain\n")
        assert text.endswith("the line number 199 is plain")
        assert re.search(r" \[\+[\d,]+ characters\] ", text)
    assert all("src/app/config.py" in version for version in versions[:-1])


def test_deep_branches_go_and_say_so() -> None:
    data: Any = {"name": "the_leaf"}
    for level in range(6):
        data = {
            "level": level,
            "inner": data,
            "filler": {f"key_{i}": "word " * 9 for i in range(12)},
            "list": [[1] * 90],
        }
    smallest = shortened(json.dumps(data))[-1]
    assert json.loads(smallest)["filler"] == {"...": "12 more keys"}
    assert json.loads(smallest)["level"] == 5


def test_large_objects_keep_some_members() -> None:
    data = {f"package-{i}": {"version": f"1.{i}", "resolved": f"registry/package-{i}.tgz"} for i in range(300)}
    versions = shortened(json.dumps(data, indent=2))
    for version in versions[1:]:
        found = json.loads(version)
        assert found.pop("...") == f"{300 - len(found):,} more keys"
        assert [data[key] for key in found] == list(found.values())
        assert [key for key in data if key in found] == list(found)


def test_many_short_members_may_go() -> None:
    data = {f"setting number {i}": f"value {i}" for i in range(200)}
    assert "more keys" in shortened(json.dumps(data))[-1]
    few = {f"a setting with a rather long name, number {i}": "some words in it" for i in range(30)}
    assert json.loads(shortened(json.dumps({**few, "flag": None, "long": "word " * 999}))[-1])["flag"] is None


def test_notes_of_earlier_versions_are_added_up() -> None:
    data = records(300)
    text = shortened(json.dumps(data))[2]
    found, note = kept(text)
    assert note == f"{300 - len(found)} more records"
    for version in shortened(text):
        found, note = kept(version)
        assert note == f"{300 - len(found)} more records"
    wrapped = json.dumps(
        {"a": records(40), "b": [{**records(1)[0], "x": i % 2} for i in range(9)] + [{"...": "7 more records"}]}
    )
    assert '"b":[{"...": "16 more records"}]' in shortened(wrapped, "sync 39")[-1]
    members = {f"key {i}": "some words " * 9 for i in range(90)}
    smallest = json.loads(shortened(json.dumps({**members, "...": "1,000 more keys"}))[-1])
    assert smallest["..."] == f"{1_091 - len(smallest):,} more keys"


@pytest.mark.parametrize("value", ["three more keys", 3])
def test_a_member_with_the_name_of_a_note_is_kept(value: Any) -> None:
    members = {f"key {i}": "some words " * 9 for i in range(90)}
    smallest = json.loads(shortened(json.dumps({"...": value, **members}))[-1])
    assert smallest["...."].endswith(" more keys")


def test_one_is_one() -> None:
    data = records(10)
    for version in shortened(json.dumps(data)):
        assert '"1 more records"' not in version
    assert any('"1 more record"' in v for n in range(4, 20) for v in shortened(json.dumps(records(n))))


def test_json_lines_are_shortened_line_by_line() -> None:
    data = records(800)
    data[99]["status"] = "failed"
    text = "\r\n\n".join(json.dumps(each) for each in data) + "\n"
    versions = shortened(text)
    for i, version in enumerate(versions):
        lines = [json.loads(line) for line in version.split("\n")]
        if i:
            assert lines.pop()["..."] == f"{800 - len(lines)} more records"
        assert [each for each in data if each in lines] == lines
        assert data[99] in lines
    assert len(versions[-1].split("\n")) == 2


def test_line_separators_inside_strings_do_not_end_json_lines() -> None:
    text = "\n".join(json.dumps({"id": i, "text": f"a\u2028b {i}"}, ensure_ascii=False) for i in range(90))
    assert all(json.loads(line) for version in shortened(text) for line in version.split("\n"))


@pytest.mark.parametrize(
    ("key", "value"),
    [("status", "failed"), ("code", 500), ("error", {"reason": "disk full"}), ("message", "E42 disk full")],
)
def test_records_with_rare_values_stand_out(key: str, value: Any) -> None:
    data = [{**each, "code": 200, "error": None} for each in records(600)]
    data[321][key] = value
    assert kept(shortened(json.dumps(data))[-1])[0] == [data[321]]


def test_a_key_that_no_other_record_has_stands_out() -> None:
    data = records(600)
    data[321]["retries"] = 3
    assert kept(shortened(json.dumps(data))[-1])[0] == [data[321]]


def test_errors_stand_out_among_a_few() -> None:
    data = [
        {"name": f"the step called {word}", "text": word * 20} for word in ("alpha", "beta", "gamma", "delta", "eps")
    ]
    data[2]["text"] = "failed: " + "no room " * 9
    assert kept(shortened(json.dumps(data, indent=2))[-1])[0] == [data[2]]


def test_records_with_words_of_the_query_stand_out() -> None:
    data = [{**each, "owner": f"{chr(97 + i % 26)}{i} smith"} for i, each in enumerate(records(600))]
    data[77]["owner"] = "Ines Ferreira"
    for version in shortened(json.dumps(data), "What about the disks of ferreira?"):
        assert data[77] in kept(version)[0]


def test_values_are_compared_three_levels_deep() -> None:
    data: list[dict[str, Any]] = [{"id": i, "a": {"b": {"c": 1, "d": {"e": 1}, "f": [1]}}} for i in range(300)]
    data[70]["a"] = {"b": {"c": 1, "d": {"e": 2}, "f": [2]}}
    data[80]["a"] = {"b": {"c": 2, "d": {"e": 1}, "f": [1]}}
    assert kept(shortened(json.dumps(data))[-1])[0] == [data[80]]


def test_the_query_of_a_selection_reaches_the_shortener() -> None:
    data = [{"id": i, "owner": f"{chr(97 + i % 26)}{chr(97 + i // 26)} smith"} for i in range(300)]
    data[77]["owner"] = "ines ferreira"
    items = [item(json.dumps(data)), item("Nothing about the question. " * 9)]
    [found] = select(items, 200, "rag", query="Who is Ferreira?", shorten=ByFormat()).shortened
    assert "ferreira" in found.version.content


def test_if_most_records_would_stand_out_none_does() -> None:
    data = [{"id": i, "status": "failed" if i % 3 else "ok"} for i in range(300)]
    assert kept(shortened(json.dumps(data))[-1])[0] == [data[0]]


def test_what_most_records_reach_does_not_hide_what_stands_out_more() -> None:
    """Most tags are rare, so that most records would stand out by one of them."""
    data: list[dict[str, Any]] = [
        {"id": i, "tags": [f"{chr(97 + (i * n) % 23)}{chr(97 + (i + n) % 19)}" for n in range(1, 1 + i % 7)]}
        for i in range(500)
    ]
    data[321]["owner"] = "nobody"
    assert all(data[321] in kept(version)[0] for version in shortened(json.dumps(data)))


def test_records_inside_records_stand_out() -> None:
    hosts: list[dict[str, Any]] = [{"host": f"node-{i}", "events": records(60)} for i in range(12)]
    hosts[7]["events"][31]["message"] = "E42 disk full"
    for version in shortened(json.dumps(hosts)):
        json.loads(version)
        assert "E42 disk full" in version


def test_records_of_small_pages_stand_out_among_those_of_all_pages() -> None:
    """A page of eight is one piece, or two; in columns or not."""
    rows: list[dict[str, Any]] = [{"id": i, "state": "ok", "message": f"step {i} done"} for i in range(61)]
    rows[21]["message"] = "E42 disk full"
    for size in (5, 8, 12):
        pages = [rows[i : i + size] for i in range(0, len(rows), size)]
        for data in ([{"page": n, "entries": page} for n, page in enumerate(pages)], {"steps": dict(enumerate(pages))}):
            for version in shortened(json.dumps(data)):
                assert "E42 disk full" in version, data


def test_tables_of_others_are_compared_whatever_is_in_them() -> None:
    tables: list[Any] = [{"columns": ["id", "state"], "rows": [[i, "ok" * 90], [i, "ok"], i]} for i in range(12)]
    tables[5]["rows"][1] = [5, "E42 disk full"]
    assert all("E42 disk full" in version for version in shortened(json.dumps(tables)))
    tables.append({"columns": [[1], {}], "rows": [[1, 2], "x" * 500]})
    assert all(map(json.loads, shortened(json.dumps(tables))))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1, "b": "' + "word " * 200 + '", "a": 2}', id="duplicate keys"),
        pytest.param('{"a": 1, "b": "' + "word " * 200 + '", "\\u0061": 2}', id="duplicate keys, one escaped"),
        pytest.param('{"a": NaN, "b": "' + "word " * 200 + '"}', id="NaN"),
        pytest.param('{"a": -Infinity, "b": "' + "word " * 200 + '"}', id="infinity"),
        pytest.param("[" * 65 + "1" + ',\n1,\n"word"' * 150 + "]" * 65, id="too deep"),
        pytest.param("[" * 100_000, id="much too deep"),
        pytest.param('{"a": "' + "word " * 200, id="not closed"),
        pytest.param('{"a": 1}\n{"b": \n' + "word\nother\n" * 150, id="lines that are not JSON"),
        pytest.param('{"a": 1}\nthe rest is text\n' * 40, id="lines of text among JSON"),
    ],
)
def test_other_texts_are_shortened_as_text(text: str) -> None:
    whole = item(text)
    expected = [version.content for version in KeyLines().shorten(whole, ShortenContext([whole]))]
    assert shortened(text) == expected


def test_nesting_up_to_the_limit_is_json() -> None:
    text = "[" * 63 + '{"a": "' + "word " * 200 + '"}' + "]" * 63
    assert all(json.loads(version) for version in shortened(f"{text} "))
    deep = "[" * 20 + json.dumps(["word " * 9] * 90) + "]" * 20
    versions = shortened(deep.replace(", ", ",\n"))
    assert versions[0] == deep.replace(", ", ",")
    assert all(json.loads(version) for version in versions)


@pytest.mark.parametrize("text", ['"short"', "[]", "{}", "[1, 2]", "17", "true", '{"a": {"b": []}}'])
def test_small_values_only_lose_their_spaces(text: str) -> None:
    assert shortened(f"  {text}\n") in ([], [text.replace(" ", "")])


def test_strings_without_spaces_are_cut_between_characters() -> None:
    for raw in ("\\ud83d\\ude00" * 300, "\\u00e9" * 500, "\\\\" * 999, "e\u0301" * 900, '\\"' * 900):
        versions = shortened(f'{{"data": "x{raw}"}}')
        assert versions
        for version in versions:
            text = json.loads(version)["data"]
            text.encode()
            assert not re.search("[] ]\u0301", text)


def test_strings_with_bidirectional_marks_stay_whole_or_go() -> None:
    versions = shortened(json.dumps({"a": "\u202eabc " * 300, "b": ["word " * 30] * 30}, ensure_ascii=False))
    assert all(json.loads(version)["a"] in ("\u202eabc " * 300, "[+1,500 characters]") for version in versions)


def test_logs_lose_escapes_and_progress() -> None:
    log = "\x1b[1mstart\x1b[0m build_all\n" + "".join(f"Downloading {i}%\r" for i in range(101)) + "done\nlast line\n"
    assert shortened(log)[0] == "start build_all\ndone\nlast line\n"


@pytest.mark.parametrize(
    ("line", "clean"),
    [
        (" 10%|#   | 1/10\r 20%|##  | 2/10\r100%|####| 10/10\n", "100%|####| 10/10\n"),
        ("- loading\r\\ loading\r| loading\n", "| loading\n"),
        ("===\r=====\rready\r\n", "ready\r\n"),
        ("first line\rsecond line\n", "first line\rsecond line\n"),
        ("1 of 9\r\r\n", "1 of 9\r\n"),
        ("\r\r\r\n", "\r\n"),
    ],
)
def test_carriage_returns(line: str, clean: str) -> None:
    whole = "the start\r\n" + line * 3
    assert (f"the start\r\n{clean * 3}" in shortened(whole)[:1]) is (line != clean)


def test_similar_lines_fold_to_the_first_the_last_and_a_count() -> None:
    lines = [f"12:00:{i:02} INFO request 8f3a{i:04}bc of req_{i} served in {i * 7} ms" for i in range(60)]
    lines[30] = "12:00:30 ERROR E42 disk full"
    versions = shortened("\n".join(lines))
    assert versions[0] == "\n".join([lines[0], "[+28 such lines]", *lines[29:32], "[+27 such lines]", lines[59]])
    assert all("E42 disk full" in version for version in versions)
    assert all("lines]\n" in version for version in versions)


def test_folded_lines_are_counted_when_they_are_left_out() -> None:
    lines = [f"plain words are here in line {i}" for i in range(60)] + ["the_name: src/app/main.py", "etc."] * 2
    smallest = shortened("\n".join(lines))[-1]
    assert smallest.startswith("plain words are here in line 0\n[+59 lines]\nthe_name") or "[+60 lines]" in smallest


@pytest.mark.parametrize("lines", [["a 1", "a 2", "a 3"], ["", "", "", "", ""], ["}", "}", "}", "}", "}"]])
def test_short_runs_stay(lines: list[str]) -> None:
    text = "\n".join(["the first line", *lines, "the last line"])
    assert not any("such lines" in version for version in shortened(text))


def test_names_with_other_letters_are_not_similar() -> None:
    text = "\n".join(f"tests/test_{name}_v2.py passed" for name in ("parse", "render", "select", "count", "fold"))
    assert not any("such lines" in version for version in shortened(text))


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("id,name,state\n", "{0},host {0},{1}\n"),
        ("id\tname\tstate\n", "{0}\thost {0}\t{1}\n"),
        ("| id | name | state |\n|---|:---|---|\n", "| {0} | host {0} | {1} |\n"),
    ],
)
def test_tables_keep_their_header_and_rows_that_stand_out(header: str, row: str) -> None:
    rows = [row.format(i, "disk full" if i == 321 else "ok") for i in range(500)]
    versions = shortened(header + "".join(rows))
    assert len(versions) == 5
    for version in versions:
        assert version.startswith(header)
        assert rows[321] in version
        assert rows[0] in version
        assert version.endswith(rows[-1])
        assert "such lines" not in version


@pytest.mark.parametrize(
    "row",
    ['{},"Smith, J{}","says ""ok"""\n', "{};Smith {};1,5\n", '"{}","Smith\n{}","a, b"\n', "{}\tSmith {}\ta, b, c\n"],
)
def test_delimiters_inside_quotes_do_not_end_cells(row: str) -> None:
    delimiter = next(sign for sign in "\t;," if sign in row)
    rows = [row.format(i, i) for i in range(240)]
    rows[60] = row.format(60, "FAILED")
    header = delimiter.join(['"id"', "name", "note"]) + "\n"
    versions = shortened(header + "".join(rows))
    assert len(versions) >= 4
    assert all(version.startswith(header + rows[0]) and version.endswith(rows[-1]) for version in versions)
    assert all(rows[60] in version for version in versions)


@pytest.mark.parametrize("quotes", ['5" pipe', '"'])
def test_a_quote_that_is_not_closed_joins_no_lines(quotes: str) -> None:
    rows = [f"{i},part {i},{quotes if i == 3 else 'ok'}\n" for i in range(120)]
    header = "id,name,note\n"
    assert all(version.startswith(header + rows[0]) for version in shortened(header + "".join(rows)))
    assert not shortened("a, b, c\n" * 2 + 'and "so\n' * 2)


def test_a_folded_table_in_a_text_keeps_its_header() -> None:
    header = "| id | state |\n|---|---|\n"
    rows = "".join(f"| {i} | {'FAILED' if i == 30 else 'ok'} |\n" for i in range(90))
    versions = shortened(f"The report of the nightly run.\n\n{header}{rows}\nThat is all.\n")
    assert any("such lines" in version for version in versions)
    assert sum("FAILED" in version for version in versions) == 2
    assert all(header in version for version in versions if "FAILED" in version)


def test_lines_with_commas_are_no_table() -> None:
    text = "".join(f"2026-05-01, worker, request {i}\n" for i in range(90))
    assert "[+88 such lines]\n" in shortened(text)[0]


def test_a_table_in_a_text_is_text() -> None:
    rows = "".join(f"| {i} | host {i} |\n" for i in range(90))
    text = f"| id | name |\n|---|---|\n{rows}" + "".join(f"And {word} then.\n" for word in "abcdefgh" * 20)
    assert "such lines" in shortened(text)[0]


class Text(str):
    """A string with its own ideas."""

    __slots__ = ()

    def strip(self, chars: str | None = None) -> str:
        raise TypeError("no strip")

    def splitlines(self, keepends: bool = False) -> list[str]:
        raise TypeError("no lines")


@pytest.mark.parametrize("text", [json.dumps(records(90), indent=2), "plain line 1 of the log\n" * 90])
def test_strings_of_other_classes(text: str) -> None:
    assert shortened(Text(text)) == shortened(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\x00" * 900, id="binary"),
        pytest.param("\x1b[0m", id="nothing but escapes"),
        pytest.param("word", id="one word"),
    ],
)
def test_what_cannot_be_shortened_has_no_versions(text: str) -> None:
    assert shortened(text) == []


def test_binary_content_counts_as_one() -> None:
    whole = item("\x00" * 100)
    assert ByFormat().units(whole, ShortenContext([whole])) == 1.0


def test_what_a_newer_item_says_is_not_said_again() -> None:
    old, new = item(json.dumps([{"path": f"src/app/module_{i}.py"} for i in range(50)])), item("src/app/module_7.py")
    alone, both = ShortenContext([old]), ShortenContext([old, new])
    assert ByFormat().units(old, both) == ByFormat().units(old, alone) - 1


def test_shorteners_are_values() -> None:
    assert ByFormat() == ByFormat()
    assert hash(ByFormat()) == hash(ByFormat())
    assert repr(ByFormat()) == "ByFormat()"


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(records(50_000)), id="records"),
        pytest.param(json.dumps("x" * 5_000_000), id="a string"),
        pytest.param("[" + "9" * 5_000_000 + "]", id="a number"),
        pytest.param('{"a":' * 500_000, id="nesting"),
        pytest.param("10%\r" * 1_000_000, id="progress"),
        pytest.param("a1" * 2_500_000 + "_", id="an id"),
        pytest.param("a | b\n" + "-|" * 2_500_000 + "x\n" * 3, id="the rule of a table"),
        pytest.param("\x1b]" * 2_500_000, id="escapes"),
    ],
)
def test_large_texts_take_linear_time(text: str) -> None:
    within(25, lambda: shortened(text))


def unread(content: str) -> list[str]:
    """The texts of all versions of what has not been read yet."""
    whole = item(content, len(content) // 4)
    versions = WithEnds().shorten(whole, context := ShortenContext([whole]))
    sizes = [whole.tokens, *(version.tokens for version in versions)]
    assert sizes == sorted(set(sizes), reverse=True)
    assert WithEnds().units(whole, context) == ByFormat().units(whole, context)
    return [version.content for version in versions]


def test_what_has_not_been_read_keeps_its_head_and_tail_and_key_lines_between() -> None:
    lines = [f"{chr(97 + i % 26) * (3 + i % 5)} says nothing of interest" for i in range(400)]
    lines[150] = "setting_7: src/app/module_7.py"
    text = "\n".join(lines)
    versions = unread(text)
    assert len(versions) == 4
    for version in versions:
        assert version.startswith(text[:160])
        assert version.endswith(text[-160:])
        assert lines[150] in version


def test_similar_lines_fold_between_the_ends() -> None:
    lines = [f"12:00:{i:02} worker {i} waits" for i in range(60)]
    head, tail = lines[:7], lines[-7:]
    assert unread("\n".join(lines)) == ["\n".join([*head, lines[7], "[+44 such lines]", lines[52], *tail])]


def test_a_table_that_has_not_been_read_keeps_its_ends() -> None:
    rows = ["name,city,year", *(f"name {i},Rome,{1900 + i}" for i in range(90))]
    rows[40] = "name 40,Lima,1940"
    for version in unread("\n".join(rows)):
        assert version.startswith("\n".join(rows[:8]))
        assert version.endswith("\n".join(rows[-8:]))
        assert rows[40] in version


@pytest.mark.parametrize("text", ["<p>" + "word " * 400 + "</p>\n", "short\n" * 30, "a few\nlines\n"])
def test_what_has_no_middle_has_only_its_ends(text: str) -> None:
    """The lines of the first are long, so that `HeadAndTail` cuts inside them."""
    assert unread(text) == []


def test_json_that_has_not_been_read_stays_json() -> None:
    text = json.dumps(records(400))
    whole = item(text, len(text) // 4)
    assert unread(text) == [each.content for each in ByFormat().shorten(whole, ShortenContext([whole]))]
