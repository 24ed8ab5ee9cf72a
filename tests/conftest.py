"""Options shared by the Python tests, and the list of what is known to be missing."""

import os
import pathlib

import pytest

# One TensorFlow on every machine: where the processor has AVX-512 it runs oneDNN's kernels, which
# round otherwise and abort where its own raise.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

# Tests that fail today, one a line: each is marked as an expected failure; one that passes is
# counted as such (`xpassed`). `pytest tests --write-gaps` writes the lines anew. A folder may have
# a list of its own.
_GAPS = pathlib.Path(__file__).with_name("known_gaps.txt")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--self",
        action="store_true",
        dest="oracle_self",
        help="run TensorFlow in our place: checks the expectations, not the engine",
    )
    parser.addoption(
        "--write-gaps", action="store_true", help="note what fails in tests/known_gaps.txt"
    )


# Programs that users would write, test_programs.py runs them: some are named like tests.
collect_ignore = ["programs"]


def _name(nodeid: str) -> str:
    """`test_graph.py::test_x[case]`, wherever pytest was started."""
    return nodeid.rsplit("/", 1)[-1]


def _file_for(path: pathlib.Path) -> pathlib.Path:
    own = path.with_name(_GAPS.name)
    return own if own.exists() else _GAPS


def _gaps(file: pathlib.Path) -> list[str]:
    return file.read_text().split("\n")[:-1] if file.exists() else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("oracle_self") or config.getoption("--write-gaps"):
        return
    gaps = {file: set(_gaps(file)) for file in {_file_for(item.path) for item in items}}
    for item in items:
        if _name(item.nodeid) in gaps[_file_for(item.path)]:
            item.add_marker(pytest.mark.xfail(reason="known gap", strict=False))


class _Writer:
    """Notes failures in the list of their folder."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.seen: dict[pathlib.Path, set[str]] = {}
        self.failed: dict[pathlib.Path, set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = _file_for(self.root / report.nodeid.partition("::")[0])
        if report.when == "call":
            self.seen.setdefault(file, set()).add(_name(report.nodeid))
        if report.failed:
            self.failed.setdefault(file, set()).add(_name(report.nodeid))

    def pytest_sessionfinish(self) -> None:
        for file in self.seen.keys() | self.failed.keys():
            kept = {g for g in _gaps(file) if g not in self.seen.get(file, ())}
            lines = sorted(kept | self.failed.get(file, set()))
            file.write_text("".join(f"{g}\n" for g in lines))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--write-gaps"):
        config.pluginmanager.register(_Writer(config.rootpath))
