"""Tests that are named must exist; open rows are counted."""
import importlib.machinery
import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "check_checklist"
loader = importlib.machinery.SourceFileLoader("check_checklist", str(TOOL))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_checklist", loader))
loader.exec_module(tool)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "a_test.cc").write_text("TEST(Placer, Keeps) {}\nTEST_F(PlacerTest,\n  Wraps) {}\n")
    (tmp_path / "test_a.py").write_text("class TestScope:\n    def test_clears(self): pass\n")
    return tmp_path


def write(root: Path, *ours: str) -> None:
    lines = ["# Checklist", "", "| upstream case | our test |", "|---|---|"]
    lines += [f"| case {i} | {text} |" for i, text in enumerate(ours)]
    (root / tool.CHECKLIST).write_text("\n".join(lines) + "\n")


def test_rows_are_counted_by_kind(root):
    write(root, "?", "needs: queues", "a_test.cc: Placer.Keeps", "?")
    assert tool.check(root) == ([], {"tested": 1, "needs": 1, "open": 2})


@pytest.mark.parametrize("ours", [
    "a_test.cc: Placer.Keeps",
    "`a_test.cc: PlacerTest.Wraps`",
    "test_a.py: test_clears",
    "test_a.py: TestScope.test_clears",
    "a_test.cc: Placer.Keeps; test_a.py: test_clears",
])
def test_tests_that_exist_pass(root, ours):
    write(root, ours)
    assert tool.check(root)[0] == []


@pytest.mark.parametrize("ours, words", [
    ("a_test.cc: Placer.Drops", "no test Placer.Drops in a_test.cc"),
    ("a_test.cc: Keeps", "no test Keeps in a_test.cc"),
    ("test_a.py: TestOther.test_clears", "no test TestOther.test_clears"),
    ("b_test.cc: Placer.Keeps", "no file b_test.cc"),
    ("later", "neither"),
    ("a_test.cc: Placer.Keeps; a_test.cc: Placer.Drops", "no test Placer.Drops"),
])
def test_rows_that_are_wrong_are_found_with_their_line(root, ours, words):
    write(root, ours)
    wrong, _ = tool.check(root)
    assert len(wrong) == 1 and words in wrong[0] and ":5: " in wrong[0]


def test_open_rows_are_wrong_only_when_it_must_be_complete(root):
    write(root, "?")
    assert tool.check(root)[0] == []
    assert tool.check(root, complete=True)[0] == ["tests/CHECKLIST.md:5: still open"]


def test_the_projects_own_checklist_names_only_tests_that_exist():
    assert tool.check(TOOL.parent.parent)[0] == []
