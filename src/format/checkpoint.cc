// The public face of checkpoints.
#include "base/crc32c.h"
#include "emplace/session.h"
#include "format/bundle.h"
#include "format/varint.h"

namespace emplace {

struct Checkpoint::State {
  explicit State(const std::string& prefix) : reader(prefix) {
    for (const auto& [name, e] : reader.entries()) entries.push_back({name, e.dtype, e.shape});
  }
  BundleReader reader;
  std::vector<Entry> entries;
};

Checkpoint::Checkpoint(const std::string& prefix)
    : state_(std::make_shared<const State>(prefix)) {}
const std::vector<Checkpoint::Entry>& Checkpoint::entries() const { return state_->entries; }
Tensor Checkpoint::read(const std::string& name) const { return state_->reader.read(name); }

void write_checkpoint(const std::string& prefix,
                      std::span<const std::pair<std::string, Tensor>> tensors) {
  std::vector<BundleItem> items;
  for (const auto& [name, value] : tensors) items.push_back({name, value});
  write_bundle(prefix, items);
}

std::string framed_record(std::string_view bytes) {
  std::string out;
  put_fixed(out, static_cast<uint64_t>(bytes.size()));
  put_fixed(out, mask_crc(crc32c(out)));
  out += bytes;
  put_fixed(out, mask_crc(crc32c(bytes)));
  return out;
}

}  // namespace emplace
