"""What a test leaves in its process is gone before the next (`conftest.py`); the order of these two counts."""

import logging
import os


def test_a_test_may_change_its_process():
    os.environ["EMPLACE_LEFT_BEHIND"] = "1"
    os.environ["PATH"] += ":/left/behind"
    logging.getLogger("emplace").setLevel(7)


def test_the_next_one_does_not_see_it():
    assert "EMPLACE_LEFT_BEHIND" not in os.environ and "left/behind" not in os.environ["PATH"]
    assert logging.getLogger("emplace").level != 7
