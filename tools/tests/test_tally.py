"""The closing line counts cases, and a crash is never a pass."""
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parent.parent / "tally"
GTEST = '<testsuites><testsuite name="S">{}</testsuite></testsuites>'
PASS = '<testcase name="a" classname="S" status="run" result="completed"/>'
FAIL = '<testcase name="b" classname="S" status="run" result="completed"><failure/></testcase>'
SKIP = '<testcase name="c" classname="S" status="run" result="skipped"><skipped/></testcase>'


def ctest(folder: Path, **states: str) -> None:
    cases = "".join(f'<testcase name="{n}" classname="{n}" status="{s}">'
                    + ("<failure/>" if s == "fail" else "") + "</testcase>"
                    for n, s in states.items())
    (folder / "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")


def tally(*arguments) -> tuple[str, int]:
    done = subprocess.run([sys.executable, TOOL, *map(str, arguments)], capture_output=True,
                          text=True)
    return done.stdout.splitlines()[-1], done.returncode


def test_cases_of_executables_are_summed(tmp_path):
    (tmp_path / "x_test.xml").write_text(GTEST.format(PASS + PASS + SKIP))
    ctest(tmp_path, x_test="run", install="run")
    assert tally(tmp_path) == ("3 passed, 0 failed, 1 skipped", 0)


def test_failing_case_is_named_and_fails(tmp_path):
    (tmp_path / "x_test.xml").write_text(GTEST.format(PASS + FAIL))
    ctest(tmp_path, x_test="fail")
    assert tally(tmp_path) == ("1 passed, 1 failed", 1)


def test_crash_without_report_is_a_failure(tmp_path):
    (tmp_path / "y_test.xml").write_text(GTEST.format(PASS))
    ctest(tmp_path, x_test="fail", y_test="run")
    assert tally(tmp_path) == ("1 passed, 1 failed", 1)


def test_death_after_a_clean_report_is_a_failure(tmp_path):
    (tmp_path / "x_test.xml").write_text(GTEST.format(PASS))
    ctest(tmp_path, x_test="fail")
    assert tally(tmp_path) == ("1 passed, 1 failed", 1)


def test_report_cut_short_is_a_failure(tmp_path):
    (tmp_path / "x_test.xml").write_text("<testsuites><testsuite>")
    ctest(tmp_path, x_test="fail")
    assert tally(tmp_path) == ("0 passed, 1 failed", 1)


def test_two_folders_and_broken_steps_add_up(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pytest.xml").write_text(GTEST.format(PASS))
    folders = (tmp_path / "one", tmp_path / "two")
    assert tally(*folders) == ("2 passed, 0 failed", 0)
    assert tally("--broken", 1, *folders) == ("2 passed, 1 failed", 1)


def test_nothing_run_is_not_success(tmp_path):
    assert tally(tmp_path) == ("0 passed, 0 failed", 1)
