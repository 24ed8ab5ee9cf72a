"""Nothing that a user can pass to a public function ends the process."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CALLS = 20_000 if os.environ.get("EMPLACE_TEST_FULL") else 1_500


def test_wrong_calls_raise(tmp_path: pathlib.Path) -> None:
    note = tmp_path / "last_call"
    done = subprocess.run(
        [sys.executable, HERE / "robustness.py", str(CALLS), "1", note], capture_output=True, text=True, timeout=3000
    )
    last = note.read_text(errors="replace")[:500] if note.exists() else ""
    assert done.returncode == 0, f"ended by {done.returncode} at: {last}\n{done.stderr[-2000:]}"
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["functions"] > 300
    assert result["ran"] > CALLS // 20
    assert result["wrong"] == []
