"""A planted violation is found; what the table allows passes."""
import importlib.machinery
import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "check_layers"
loader = importlib.machinery.SourceFileLoader("check_layers", str(TOOL))
layers = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
loader.exec_module(layers)


def plant(root: Path, path: str, *includes: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#pragma once\n" + "".join(f"#include {i}\n" for i in includes))


@pytest.mark.parametrize("path, include, words", [
    ("src/base/a.h", '"tensor/tensor.h"', "base may not include tensor"),
    ("src/op/a.cc", '"graph/graph.h"', "op may not include graph"),
    ("src/placement/a.cc", '"kernel/registry.h"', "placement may not include kernel"),
    ("src/exec/a.cc", '"placement/placer.h"', "exec may not include placement"),
    ("src/stdops/a.cc", '"kernel/registry.h"', "stdops may not include kernel"),
    ("src/backends/cpu/a.cc", '"backends/virtual/v.h"', "may not include backends/virtual"),
    ("src/backends/virtual/a.cc", '"../cpu/c.h"', "may not include backends/cpu"),
    ("src/session/a.cc", '"all/all.h"', "session may not include all"),
    ("src/session/a.cc", '<grpcpp/grpcpp.h>', "only cluster may"),
    ("src/exec/a.cc", '<cuda_runtime.h>', "only backends/cuda may"),
    ("src/op/a.cc", '"emplace/proto/graph.pb.h"', "may not see wire messages"),
    ("src/odd/a.cc", "<vector>", "not in a folder"),
    ("include/emplace/a.h", "<fmt/core.h>", "public header may not include"),
    ("include/emplace/a.h", '"base/log.h"', "public header may not include"),
    ("cli/a.cc", '"session/session.h"', "sees only <emplace/...>"),
    ("python/src/a.cc", '"emplace/proto/graph.pb.h"', "sees only <emplace/...>"),
])
def test_violation_is_found_with_its_line(tmp_path, path, include, words):
    plant(tmp_path, "src/session/session.h")
    plant(tmp_path, "src/backends/cpu/c.h")
    plant(tmp_path, path, "<string>", include)
    found = layers.check(tmp_path)
    assert len(found) == 1 and words in found[0]
    if "not in a folder" not in words:
        assert f"{path}:3: " in found[0]


@pytest.mark.parametrize("path, include", [
    ("src/exec/a.cc", '"base/log.h"'),
    ("src/exec/a.cc", '"device/queue.h"'),
    ("src/session/a.cc", '"stdops/math.h"'),
    ("src/all/a.cc", '"backends/cpu/c.h"'),
    ("src/graph/a.cc", '"emplace/proto/graph.pb.h"'),
    ("src/base/a.cc", "<emplace/tensor.h>"),
    ("src/base/a.cc", "<fmt/core.h>"),
    ("src/backends/cpu/a.cc", "<dnnl.hpp>"),
    ("examples/a.cc", "<emplace/emplace.h>"),
])
def test_what_the_table_allows_passes(tmp_path, path, include):
    plant(tmp_path, path, include)
    assert layers.check(tmp_path) == []


def test_table_has_no_cycle():
    for folder, allowed in layers.ALLOWED.items():
        for other in allowed - {folder}:
            assert folder not in layers.ALLOWED[other]


def test_one_public_header_too_many_is_found(tmp_path):
    for n in range(layers.MAX_PUBLIC_HEADERS + 1):
        plant(tmp_path, f"include/emplace/h{n}.h")
    assert f"{layers.MAX_PUBLIC_HEADERS + 1} public headers" in layers.check(tmp_path)[0]
