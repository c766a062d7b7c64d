"""`check` and `skill`, the verbs for a repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pycupel.cli.demo import transcript
from pycupel.messages import lint_messages
from pycupel.policies import preset, save_policy
from tests.cli.calls import Call

FILES = '[tool.pycupel.check]\ncounter = "estimator"\n[tool.pycupel.check.files]\n'
SESSION = '[[tool.pycupel.check.sessions]]\nfiles = "*.jsonl"\nbudget = 12000\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two files and a session."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AGENTS.md").write_text("Be brief and kind.\n" * 20, encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "ask.md").write_text("Ask.\n", encoding="utf-8")
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in transcript()), encoding="utf-8")
    return tmp_path


def settings(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text, encoding="utf-8")


def test_limits_that_hold(project: Path, call: Call) -> None:
    settings(
        project, FILES + '"*.md" = 1000\n"prompts/*.md" = 10\n' + SESSION + "lost = 100\nrefused = 0\nreused = 1\n"
    )
    code, out, err = call("check")
    assert (code, err) == (0, "pycupel: none of 5 limits exceeded\n")
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["ok", "AGENTS.md", "tokens"],
        ["ok", "prompts/ask.md", "tokens"],
        ["ok", "s.jsonl", "lost"],
        ["ok", "s.jsonl", "refused"],
        ["ok", "s.jsonl", "reused"],
    ]


def test_limits_that_do_not_hold(project: Path, call: Call) -> None:
    settings(project, FILES + '"AGENTS.md" = 5\n' + SESSION + 'policy = "chat"\nreused = 99.5\n')
    code, out, err = call("check", "--project", str(project))
    assert (code, err) == (1, "pycupel: 2 of 2 limits exceeded\n")
    assert out.count("FAIL") == 2
    assert ">= 99.5" in out
    code, out, _ = call("check", "--json")
    assert (code, [each["holds"] for each in json.loads(out)]) == (1, [False, False])
    assert json.loads(out)[0] == {
        "name": "AGENTS.md",
        "what": "tokens",
        "value": 99,
        "limit": 5,
        "isLeast": False,
        "holds": False,
    }


def test_a_session_is_measured_as_replay_shows_it(project: Path, call: Call) -> None:
    """Issue: one counted as the provider does, the other did not."""
    settings(project, SESSION.replace("12000", "8000") + "lost = 0\nrefused = 0\nreused = 0\n")
    values = [each["value"] for each in json.loads(call("check", "--json").out)]
    [shown] = json.loads(call("replay", "s.jsonl", "-b", "8000", "-p", "chat", "--json").out)["policies"]
    expected = [100 * (1 - shown["keptShare"]), shown["invalid"] + shown["tooLarge"], 100 * shown["reusedShare"]]
    assert values == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pyproject.toml has no limits: [tool.pycupel.check] needs `files` or `sessions`"),
        ("x = [", "pyproject.toml: invalid TOML: "),
        ("tool = 5", "pyproject.toml: [tool] must be a table"),
        ("[tool]\npycupel = []", "pyproject.toml: [tool.pycupel] must be a table"),
        ("[tool.pycupel]\ncheck = 5", "pyproject.toml: [tool.pycupel.check] must be a table"),
        ("[tool.pycupel.check]\nfils = {}", "unknown key 'fils' in [tool.pycupel.check]; did you mean 'files'?"),
        (FILES + '"AGENTS.md" = -1', "pyproject.toml: files 'AGENTS.md' must be a number of 0 or more"),
        (FILES + '"AGENTS.md" = true', "pyproject.toml: files 'AGENTS.md' must be a number of 0 or more"),
        (FILES + '"nothing.md" = 1', "pyproject.toml: no file matches 'nothing.md'"),
        (FILES + '"" = 1', "pyproject.toml: '' is no pattern: "),
        (FILES + '"../*" = 1', "pyproject.toml: '../*' is not inside the project"),
        (FILES + '"/etc/passwd" = 1', "pyproject.toml: '/etc/passwd' is not inside the project"),
        ("[tool.pycupel.check]\ncounter = 'nope'\nfiles = {}", "pyproject.toml: [tool.pycupel.check] counter: "),
        ("[tool.pycupel.check]\nsessions = 5", "sessions must be a list of tables"),
        (SESSION, "sessions, number 1 needs `files` and one of lost, refused, reused"),
        (SESSION.replace("12000", "'x'") + "lost = 1", "budget of session 1 must be a whole number of 1 or more"),
        (SESSION.replace("12000", "0.5") + "lost = 1", "budget of session 1 must be a whole number of 1 or more"),
        (SESSION.replace("*.jsonl", "*.md") + "lost = 1", "AGENTS.md: no conversation found"),
        (SESSION + "lost = 1\npolicy = 'chta'", "did you mean 'chat'?"),
        (SESSION + "lost = 1\npolicy = '../mine.toml'", "pyproject.toml: '../mine.toml' is not inside the project"),
    ],
)
def test_a_mistake_in_the_settings(project: Path, call: Call, text: str, message: str) -> None:
    settings(project, text)
    code, out, err = call("check")
    assert (code, out) == (2, "")
    assert message in err


def test_without_settings(project: Path, call: Call) -> None:
    code, _, err = call("check")
    assert (code, err.endswith("pyproject.toml: no such file or directory\n")) == (2, True)


@pytest.mark.posix
def test_a_link_out_of_the_project_is_refused(project: Path, call: Call) -> None:
    (project.parent / "secret.md").write_text("secret", encoding="utf-8")
    (project / "link.md").symlink_to(project.parent / "secret.md")
    settings(project, FILES + '"*.md" = 1000')
    assert call("check")[::2] == (2, "pycupel: link.md is a link to a file outside the project\n")


def test_a_policy_is_looked_for_in_the_project(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    save_policy(preset("chat"), project / "mine.toml")
    settings(project, SESSION + 'policy = "mine.toml"\nrefused = 100\n')
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert call("check", "--project", str(project)).code == 0


def test_settings_that_are_no_text(project: Path, call: Call) -> None:
    (project / "pyproject.toml").write_bytes(b"\xff")
    assert call("check") == (2, "", "pycupel: pyproject.toml: is not a UTF-8 text file: invalid start byte\n")


def test_a_file_that_is_no_text(project: Path, call: Call) -> None:
    (project / "AGENTS.md").write_bytes(b"\xff\xfe")
    settings(project, FILES + '"*.md" = 1000')
    assert call("check")[2] == "pycupel: AGENTS.md: is not a UTF-8 text file: invalid start byte\n"


# --- skill


@pytest.mark.parametrize(("agent", "folder"), [("claude", ".claude"), ("codex", ".codex")])
def test_a_skill_for_the_project(project: Path, call: Call, agent: str, folder: str) -> None:
    path = project / folder / "skills" / "context-window" / "SKILL.md"
    shown = f"{folder}/skills/context-window/SKILL.md\n"
    assert call("skill", agent, "--dry-run") == (0, f"would write {shown}", "")
    assert not path.exists()
    assert call("skill", agent, "--project") == (0, f"wrote {shown}", "")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("---\nname: context-window\ndescription: ")
    assert "pycupel context --newest --json" in text
    assert call("skill", agent).code == 0
    path.write_bytes(b"mine\xff")
    assert call("skill", agent) == (2, "", f"pycupel: {shown.strip()} has been changed; --force replaces it\n")
    assert path.read_bytes() == b"mine\xff"
    assert call("skill", agent, "--force").code == 0
    assert path.read_text(encoding="utf-8") == text


def test_a_skill_for_the_user(project: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(project / "codex"))
    monkeypatch.setenv("HOME", str(project / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert call("skill", "codex", "--user").code == 0
    assert (project / "codex" / "skills" / "context-window" / "SKILL.md").is_file()
    assert call("skill", "--user").code == 0
    assert (project / "home" / ".claude" / "skills" / "context-window" / "SKILL.md").is_file()


def test_a_skill_somewhere_else(project: Path, call: Call) -> None:
    assert call("skill", "--to", "elsewhere").out == "wrote elsewhere/context-window/SKILL.md\n"
    code, _, err = call("skill", "--to", "elsewhere", "--user")
    assert (code, "not allowed with argument" in err) == (2, True)


@pytest.mark.posix
@pytest.mark.parametrize("link", [".claude", ".claude/skills/context-window/SKILL.md"])
def test_a_skill_does_not_follow_links(project: Path, call: Call, link: str) -> None:
    (project / link).parent.mkdir(parents=True, exist_ok=True)
    (project / link).symlink_to(project.parent)
    code, out, err = call("skill")
    assert (code, out) == (2, "")
    assert err == f"pycupel: {link} is a link, which is not followed; --to names another folder\n"


def test_the_sessions_are_valid() -> None:
    """What the tests above replay."""
    messages = [row["message"] for row in transcript() if "message" in row]
    assert not [finding for finding in lint_messages(messages, "anthropic") if finding.severity == "error"]
