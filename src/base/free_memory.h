#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace emplace {

// Bytes that this process could still fill before the kernel ends somebody for it: what the machine
// can spare, or less where a control group (version 1 or 2, or one above it) says so. Nullopt where
// nothing can be read. `root` is put before every path, for tests.
std::optional<size_t> free_memory(const std::string& root = "");

}  // namespace emplace
