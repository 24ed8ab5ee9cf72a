// Tables with blocks, checksums and compressed parts.
#include "format/table.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view bytes) {
    const TableEntries entries = parse_table(bytes, "fuzz.index");
    if (parse_table(table_bytes(entries), "again") != entries) __builtin_trap();
  });
}
