// Writing and merging checkpoints.
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/crc32c.h"
#include "base/file.h"
#include "emplace/error.h"
#include "format/bundle.h"
#include "format/table.h"
#include "format/varint.h"
#include "graph/tensor_proto.h"
#include "kernel/encoded_variant.h"

namespace emplace {
namespace {

using RawEntries = std::map<std::string, proto::BundleEntryProto>;

std::string text_bytes(const Tensor& t, uint32_t& crc) {
  std::string out;
  crc = 0;
  for (const std::string& s : t.values<std::string>()) {
    put_varint(out, s.size());
    std::string length;
    if (s.size() <= UINT32_MAX) put_fixed(length, static_cast<uint32_t>(s.size()));
    else put_fixed(length, static_cast<uint64_t>(s.size()));
    crc = extend_crc32c(crc, length);
  }
  const size_t from = out.size();
  put_fixed(out, mask_crc(crc));
  for (const std::string& s : t.values<std::string>()) out += s;
  crc = extend_crc32c(crc, std::string_view(out).substr(from));
  return out;
}

// Of variants that can be saved: the bytes that stand for them.
Tensor encoded(const Tensor& t) {
  Tensor texts(DType::kString, t.shape());
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const auto* e = dynamic_cast<const EncodedVariant*>(t.data<Variant>()[i].value.get());
    if (!e) throw unimplemented("A variant of this kind can't be saved");
    texts.data<std::string>()[i] = e->bytes;
  }
  return texts;
}

proto::BundleEntryProto add_data(const Tensor& t, int shard, std::string& data) {
  proto::BundleEntryProto e;
  e.set_dtype(to_proto(t.dtype()));
  to_proto(t.shape(), e.mutable_shape());
  e.set_shard_id(shard);
  e.set_offset(static_cast<int64_t>(data.size()));
  uint32_t crc = 0;
  if (t.dtype() == DType::kString) {
    data += text_bytes(t, crc);
  } else if (t.dtype() == DType::kVariant) {
    data += text_bytes(encoded(t), crc);
  } else if (is_plain(t.dtype())) {
    const std::string_view bytes(t.data<char>(), t.bytes());
    crc = crc32c(bytes);
    data += bytes;
  } else {
    throw unimplemented(fmt::format("Tensors of dtype {} can't be saved", dtype_name(t.dtype())));
  }
  e.set_size(static_cast<int64_t>(data.size()) - e.offset());
  e.set_crc32c(mask_crc(crc));
  return e;
}

void add_item(const BundleItem& item, int shard, std::string& data, RawEntries& entries) {
  if (item.name.empty()) throw invalid_argument("A tensor to save has no name");
  if (!item.sliced) {
    if (!entries.emplace(item.name, add_data(item.value, shard, data)).second)
      throw invalid_argument(fmt::format("Adding duplicate key: {}", item.name));
    return;
  }
  proto::BundleEntryProto& whole = entries[item.name];
  whole.set_dtype(to_proto(item.value.dtype()));
  to_proto(item.full, whole.mutable_shape());
  item.slice.to_proto(whole.add_slices());
  if (!entries.emplace(item.slice.key(item.name), add_data(item.value, shard, data)).second)
    throw invalid_argument(fmt::format("Adding duplicate slice of: {}", item.name));
}

std::string index_bytes(const RawEntries& entries, int shards) {
  proto::BundleHeaderProto header;
  header.set_num_shards(shards);
  header.mutable_version()->set_producer(1);
  TableEntries table{{"", header.SerializeAsString()}};
  for (const auto& [key, entry] : entries) table.emplace_back(key, entry.SerializeAsString());
  return table_bytes(table);
}

// Data files of earlier checkpoints under this prefix, by their names.
std::vector<std::string> data_files(const std::string& prefix) {
  const std::filesystem::path path(prefix);
  const std::string start = path.filename().string() + ".data-";
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& f : std::filesystem::directory_iterator(
           path.has_parent_path() ? path.parent_path() : ".", ignored))
    if (f.path().filename().string().starts_with(start)) files.push_back(f.path().string());
  return files;
}

// A data file's name that no file has yet, so that the old checkpoint stays whole until the new
// index takes its place: numbers of shards of which only the last exists.
std::pair<int, int> free_shard(const std::string& prefix) {
  for (int shards = 1;; ++shards)
    if (!file_exists(bundle_data_name(prefix, shards - 1, shards))) return {shards - 1, shards};
}

void remove_others(const std::vector<std::string>& files, const std::vector<std::string>& keep) {
  for (const std::string& f : files)
    if (std::ranges::none_of(keep, [&](const std::string& k) {
          return std::filesystem::path(k).filename() == std::filesystem::path(f).filename();
        }))
      remove_file(f);
}

// The index makes a checkpoint of its data files: without it they are of no use to anybody.
void write_index(const std::string& prefix, const RawEntries& entries, int shards,
                 const std::vector<std::string>& data) {
  try {
    write_file(bundle_index_name(prefix), index_bytes(entries, shards));
  } catch (...) {
    for (const std::string& f : data) unlink(f.c_str());
    throw;
  }
}

}  // namespace

void write_bundle(const std::string& prefix, std::span<const BundleItem> items) {
  make_folders(parent_folder(prefix));
  const std::vector<std::string> old = data_files(prefix);
  const auto [shard, shards] = free_shard(prefix);
  std::string data;
  RawEntries entries;
  for (const BundleItem& item : items) add_item(item, shard, data, entries);
  const std::string file = bundle_data_name(prefix, shard, shards);
  write_file(file, data);
  write_index(prefix, entries, shards, {file});
  remove_others(old, {file});
}

void merge_bundles(std::span<const std::string> prefixes, const std::string& destination,
                   bool delete_old_folders, bool allow_missing) {
  make_folders(parent_folder(destination));
  struct Part {
    std::string prefix;
    std::unique_ptr<BundleReader> reader;
    std::map<int, int> shard;  // theirs -> ours
  };
  std::vector<Part> parts;
  int shards = 0;
  for (const std::string& prefix : prefixes) {
    if (!file_exists(bundle_index_name(prefix))) {
      if (allow_missing) continue;
      throw invalid_argument(
          fmt::format("allow_missing_files was set to false and {} did not exist.", prefix));
    }
    Part p{prefix, std::make_unique<BundleReader>(prefix), {}};
    for (const auto& [key, e] : p.reader->raw())
      if (e.slices_size() == 0 && p.shard.emplace(e.shard_id(), shards).second) ++shards;
    parts.push_back(std::move(p));
  }
  const std::vector<std::string> old = data_files(destination);
  // A name of the destination's that is taken belongs to a checkpoint that must stay whole: count
  // from behind all of them.
  int total = std::max(1, shards);
  const auto taken = [&] {
    for (int i = 0; i < shards; ++i)
      if (file_exists(bundle_data_name(destination, i, total))) return true;
    return false;
  };
  while (taken()) ++total;
  RawEntries entries;
  std::vector<std::string> keep;
  for (Part& p : parts) {
    for (const auto& [theirs, ours] : p.shard) {
      keep.push_back(bundle_data_name(destination, ours, total));
      move_file(bundle_data_name(p.prefix, theirs, p.reader->shards()), keep.back());
    }
    for (const auto& [key, raw] : p.reader->raw()) {
      proto::BundleEntryProto e = raw;
      if (e.slices_size() == 0) e.set_shard_id(p.shard.at(e.shard_id()));
      const auto [it, fresh] = entries.emplace(key, e);
      if (fresh) continue;
      if (e.slices_size() == 0 || it->second.slices_size() == 0)
        throw invalid_argument(fmt::format("Merging checkpoints: '{}' is in two of them", key));
      it->second.mutable_slices()->MergeFrom(e.slices());
    }
  }
  write_index(destination, entries, total, keep);
  remove_others(old, keep);
  for (const Part& p : parts) {
    remove_file(bundle_index_name(p.prefix));
    if (delete_old_folders) rmdir(parent_folder(p.prefix).c_str());  // not empty: it stays
  }
}

}  // namespace emplace
