#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emplace {

// A sorted table of keys and values in one file: blocks of entries whose keys share prefixes, each
// with a checksum, an index of the blocks, and a footer. The form that checkpoint indexes have.

using TableEntries = std::vector<std::pair<std::string, std::string>>;

// Reads all of it. `name` is for errors: DataLoss that says what is damaged, Unimplemented for
// compressed blocks of an unknown kind. Memory stays in proportion to the bytes given.
TableEntries parse_table(std::string_view bytes, const std::string& name);

// `entries` in ascending order of their keys, without repeats.
std::string table_bytes(const TableEntries& entries);

}  // namespace emplace
