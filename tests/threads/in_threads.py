"""Work done in threads of its own."""

import threading
from collections.abc import Callable
from typing import Any

PATIENCE = 600  # seconds: a thread that takes longer hangs


def beside(work: Callable[[], Any]) -> Any:
    """What `work` gives in another thread, while this one stays where it is."""
    return at_once(1, lambda _: work())[0]


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What `work` gives for each number, all started together; the first error is raised."""
    results: list[Any] = [None] * count
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(i: int) -> None:
        try:
            start.wait(PATIENCE)
            results[i] = work(i)
        except BaseException as e:  # noqa: BLE001: the caller's thread raises it
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
        assert not t.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]
    return results
