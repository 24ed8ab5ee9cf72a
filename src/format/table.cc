#include "format/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/crc32c.h"
#include "base/file.h"
#include "emplace/error.h"
#include "format/snappy.h"
#include "format/varint.h"

namespace emplace {
namespace {

constexpr size_t kTrailer = 5;   // kind, checksum
constexpr size_t kFooter = 48;   // two handles, filled up to 40 bytes, the magic number
constexpr uint64_t kTableMagic = 0xdb4775248b80fb57ull;
constexpr size_t kBlockSize = 262144;
constexpr int kRestart = 16;     // entries between keys that are written whole

struct Handle {
  uint64_t offset = 0, size = 0;
};

Handle take_handle(std::string_view& in, const std::string& name) {
  const auto offset = take_varint(in), size = take_varint(in);
  if (!offset || !size) throw damaged(name, "bad block handle");
  return {*offset, *size};
}

// The content of a block, checked; `store` keeps it where it had to be unpacked.
std::string_view block(std::string_view file, Handle h, const std::string& name,
                       std::string& store) {
  if (h.offset > file.size() || h.size > file.size() - h.offset ||
      file.size() - h.offset - h.size < kTrailer)
    throw damaged(name, "truncated block read");
  const std::string_view content = file.substr(h.offset, h.size);
  const auto crc = fixed_at<uint32_t>(file, h.offset + h.size + 1);
  if (mask_crc(crc32c(file.substr(h.offset, h.size + 1))) != crc)
    throw damaged(name, fmt::format("block checksum mismatch at {}", h.offset));
  const char kind = file[h.offset + h.size];
  if (kind == 0) return content;
  if (kind != 1) throw damaged(name, fmt::format("bad block type {}", int{kind}));
  store = unpack_snappy(content, name);
  return store;
}

// Calls f(key, value) for each entry of a block.
template <class F>
void for_each_entry(std::string_view content, const std::string& name, F f) {
  if (content.size() < 4) throw damaged(name, "block too small");
  const uint64_t restarts = fixed_at<uint32_t>(content, content.size() - 4);
  if (restarts > (content.size() - 4) / 4) throw damaged(name, "bad restart count in block");
  std::string_view in = content.substr(0, content.size() - 4 - 4 * restarts);
  std::string key;
  while (!in.empty()) {
    const auto shared = take_varint(in), rest = take_varint(in), length = take_varint(in);
    if (!shared || !rest || !length || *shared > key.size() || *rest > in.size() ||
        *length > in.size() - *rest)
      throw damaged(name, "bad entry in block");
    key.resize(*shared);
    key += in.substr(0, *rest);
    f(key, in.substr(*rest, *length));
    in.remove_prefix(*rest + *length);
  }
}

// Collects entries into one block.
class BlockBuilder {
 public:
  void add(std::string_view key, std::string_view value) {
    size_t shared = 0;
    if (count_ % kRestart == 0) {
      restarts_.push_back(static_cast<uint32_t>(out_.size()));
    } else {
      const size_t n = std::min(last_.size(), key.size());
      while (shared < n && last_[shared] == key[shared]) ++shared;
    }
    put_varint(out_, shared);
    put_varint(out_, key.size() - shared);
    put_varint(out_, value.size());
    out_ += key.substr(shared);
    out_ += value;
    last_ = key;
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  size_t size() const { return out_.size(); }
  std::string finish() {
    if (restarts_.empty()) restarts_.push_back(0);
    for (const uint32_t r : restarts_) put_fixed(out_, r);
    put_fixed(out_, static_cast<uint32_t>(restarts_.size()));
    std::string done = std::move(out_);
    *this = BlockBuilder();
    return done;
  }

 private:
  std::string out_, last_;
  std::vector<uint32_t> restarts_;
  int count_ = 0;
};

std::string add_block(std::string& file, std::string content) {
  std::string handle;
  put_varint(handle, file.size());
  put_varint(handle, content.size());
  content += '\0';  // not compressed
  const uint32_t crc = mask_crc(crc32c(content));
  file += content;
  put_fixed(file, crc);
  return handle;
}

}  // namespace

TableEntries parse_table(std::string_view file, const std::string& name) {
  if (file.size() < kFooter) throw damaged(name, "file is too short to be an sstable");
  if (fixed_at<uint64_t>(file, file.size() - 8) != kTableMagic)
    throw damaged(name, "not an sstable (bad magic number)");
  std::string_view footer = file.substr(file.size() - kFooter, kFooter - 8);
  take_handle(footer, name);  // of what the table says about itself: nothing
  const Handle index = take_handle(footer, name);
  TableEntries entries;
  std::string index_store;
  size_t budget = file.size() + 1;  // handles that name a block again and again are damage
  for_each_entry(block(file, index, name, index_store), name,
                 [&](const std::string&, std::string_view value) {
    const Handle h = take_handle(value, name);
    if (h.size >= budget) throw damaged(name, "blocks overlap");
    budget -= h.size + 1;
    std::string store;
    for_each_entry(block(file, h, name, store), name,
                   [&](const std::string& key, std::string_view v) {
      if (!entries.empty() && entries.back().first >= key) throw damaged(name, "keys out of order");
      entries.emplace_back(key, v);
    });
  });
  return entries;
}

std::string table_bytes(const TableEntries& entries) {
  std::string file;
  BlockBuilder data, index;
  const auto flush = [&](const std::string& last) {
    if (data.empty()) return;
    index.add(last, add_block(file, data.finish()));
  };
  for (size_t i = 0; i < entries.size(); ++i) {
    data.add(entries[i].first, entries[i].second);
    if (data.size() >= kBlockSize) flush(entries[i].first);
  }
  if (!entries.empty()) flush(entries.back().first);
  std::string footer = add_block(file, BlockBuilder().finish());
  footer += add_block(file, index.finish());
  footer.resize(kFooter - 8, '\0');
  put_fixed(footer, kTableMagic);
  return file + footer;
}

}  // namespace emplace
