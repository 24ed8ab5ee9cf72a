"""Options shared by the Python tests."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--self",
        action="store_true",
        dest="oracle_self",
        help="run TensorFlow in our place: checks the expectations, not the engine",
    )


# Programs that users would write, test_programs.py runs them: some are named like tests.
collect_ignore = ["programs"]
