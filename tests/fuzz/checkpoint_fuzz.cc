// Whole checkpoints: the first bytes are entries of an index that is put together properly, the
// rest is the data file.
#include <unistd.h>

#include <cstdlib>

#include "format/bundle.h"
#include "base/file.h"
#include "format/table.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  if (size < 2) return 0;
  static const std::string prefix = [] {
    char name[] = "/tmp/emplace_fuzz_XXXXXX";
    return std::string(mkdtemp(name)) + "/m";
  }();
  return fuzz::tried(data, size, [](std::string_view bytes) {
    const size_t entry = std::min<size_t>(static_cast<uint8_t>(bytes[0]), bytes.size() - 1);
    proto::BundleHeaderProto header;
    header.set_num_shards(1);
    const TableEntries entries{{"", header.SerializeAsString()},
                               {"a", std::string(bytes.substr(1, entry))}};
    write_file(bundle_index_name(prefix), table_bytes(entries));
    write_file(bundle_data_name(prefix, 0, 1), bytes.substr(1 + entry));
    const BundleReader reader(prefix);
    for (const auto& [name, e] : reader.entries()) reader.read(name);
  });
}
