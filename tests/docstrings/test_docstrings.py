"""The examples in TensorFlow's docstrings, run on ours: each docstring is a test.

`known_gaps.txt` lists those that fail today (expected failures); `--write-gaps` writes it anew.
In it stay those of TensorFlow's numbers that wrap around: ours are refused.
`not_reproducible.txt` lists examples that TensorFlow itself fails; those don't count.
"""

import importlib.util
from typing import Any

import pytest
from runner import load_examples, outcomes


def _wanted() -> dict[str, Any]:
    if importlib.util.find_spec("tensorflow") is None:
        return {}
    return load_examples()


_WANTED = _wanted()


@pytest.fixture(scope="module")
def failures(request: pytest.FixtureRequest) -> dict[str, list[Any]]:
    chosen = {i.callspec.params["symbol"] for i in request.session.items if hasattr(i, "callspec")
              and "symbol" in i.callspec.params}  # fmt: skip
    return dict(outcomes({s: e for s, e in _WANTED.items() if s in chosen}))


@pytest.mark.skipif(not _WANTED, reason="TensorFlow is not installed")
@pytest.mark.parametrize("symbol", _WANTED)
def test_examples_of(symbol: str, failures: dict[str, list[Any]]) -> None:
    examples = _WANTED[symbol]
    wrong = [f">>> {examples[i]['source']}{examples[i]['want']}BUT {why}" for i, why in failures[symbol]]
    assert not wrong, "\n".join(wrong)
