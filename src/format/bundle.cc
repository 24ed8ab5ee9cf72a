// Reading checkpoints.
#include "format/bundle.h"

#include <fmt/format.h>

#include <cstring>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/parse_limits.h"
#include "emplace/error.h"
#include "format/table.h"
#include "format/varint.h"
#include "graph/parse_message.h"
#include "graph/tensor_proto.h"
#include "kernel/encoded_variant.h"

namespace emplace {
namespace {

constexpr int kReads = 1;  // the version of the form

void check_header(const std::string& file, const proto::BundleHeaderProto& header) {
  if (header.num_shards() < 1) throw damaged(file, "says that it has no data files");
  if (header.endianness() != proto::BundleHeaderProto::LITTLE)
    throw unimplemented(fmt::format("{}: written on a big-endian machine", file));
  if (header.version().min_consumer() > kReads)
    throw invalid_argument(fmt::format("{}: Checkpoint min consumer version {} above current "
                                       "version {}",
                                       file, header.version().min_consumer(), kReads));
}

// "[lengths][checksum of the lengths][bytes]".
Tensor parse_texts(std::string_view in, const Shape& shape, const std::string& file,
                   const std::string& name) {
  const auto damage = [&] {
    return damaged(file, fmt::format("the texts of '{}' contradict themselves", name));
  };
  const auto count = static_cast<size_t>(shape.num_elements());
  if (count > in.size()) throw damage();
  std::vector<uint64_t> lengths;
  uint32_t crc = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto length = take_varint(in);
    if (!length || *length > in.size()) throw damage();
    std::string bytes;
    if (*length <= UINT32_MAX) put_fixed(bytes, static_cast<uint32_t>(*length));
    else put_fixed(bytes, *length);
    crc = extend_crc32c(crc, bytes);
    lengths.push_back(*length);
  }
  if (in.size() < 4 || fixed_at<uint32_t>(in, 0) != mask_crc(crc)) throw damage();
  in.remove_prefix(4);
  Tensor t(DType::kString, shape);
  for (size_t i = 0; i < count; ++i) {
    if (lengths[i] > in.size()) throw damage();
    t.data<std::string>()[i] = in.substr(0, lengths[i]);
    in.remove_prefix(lengths[i]);
  }
  if (!in.empty()) throw damage();
  return t;
}

// The checksum of a text tensor covers lengths as numbers, not as they are written.
uint32_t texts_crc(std::string_view in, const Tensor& t) {
  uint32_t crc = 0;
  size_t bytes = 0;
  for (const std::string& s : t.values<std::string>()) {
    std::string length;
    put_fixed(length, static_cast<uint32_t>(s.size()));
    crc = extend_crc32c(crc, length);
    bytes += s.size();
  }
  return extend_crc32c(crc, in.substr(in.size() - bytes - 4));
}

}  // namespace

std::string bundle_index_name(const std::string& prefix) { return prefix + ".index"; }

std::string bundle_data_name(const std::string& prefix, int shard, int shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, shards);
}

BundleReader::BundleReader(std::string prefix) : prefix_(std::move(prefix)) {
  const std::string file = bundle_index_name(prefix_);
  if (!file_exists(file))
    throw not_found(fmt::format("Unsuccessful TensorSliceReader constructor: Failed to find any "
                                "matching files for {}",
                                prefix_));
  bool header_seen = false;
  for (auto& [key, value] : parse_table(read_to_parse(file), file)) {
    if (key.empty()) {
      proto::BundleHeaderProto header;
      if (!parse_message(header, value)) throw damaged(file, "its header can't be read");
      check_header(file, header);
      shards_ = header.num_shards();
      header_seen = true;
      continue;
    }
    proto::BundleEntryProto entry;
    if (!parse_message(entry, value))
      throw damaged(file, fmt::format("the entry of '{}' can't be read", key));
    if (key[0] != '\0') {
      const DType dtype = from_proto(entry.dtype());
      entries_[key] = {dtype, from_proto(entry.shape()), entry.slices_size() > 0};
    }
    raw_[key] = std::move(entry);
  }
  if (!header_seen) throw damaged(file, "it has no header");
}

const BundleReader::Entry& BundleReader::find(const std::string& name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end())
    throw not_found(fmt::format("Key {} not found in checkpoint", name));
  return it->second;
}

namespace {

Tensor as_variants(const Tensor& texts) {
  Tensor t(DType::kVariant, texts.shape());
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.data<Variant>()[i].value = std::make_shared<EncodedVariant>(texts.data<std::string>()[i]);
  return t;
}

}  // namespace

Tensor BundleReader::stored(const std::string& key, const std::string& name) const {
  const auto it = raw_.find(key);
  if (it == raw_.end())
    throw damaged(bundle_index_name(prefix_), fmt::format("a slice of '{}' is missing", name));
  const proto::BundleEntryProto& e = it->second;
  if (e.shard_id() < 0 || e.shard_id() >= shards_ || e.offset() < 0 || e.size() < 0)
    throw damaged(bundle_index_name(prefix_), fmt::format("the entry of '{}' is damaged", name));
  const std::string file = bundle_data_name(prefix_, e.shard_id(), shards_);
  const Shape shape = from_proto(e.shape());
  const DType dtype = from_proto(e.dtype());
  if (dtype == DType::kInvalid || dtype == DType::kResource)
    throw unimplemented(fmt::format("{}: tensor '{}' has dtype {}, which can't be restored", file,
                                    name, proto::DataType_Name(e.dtype())));
  if (!shape.is_fully_known())
    throw damaged(bundle_index_name(prefix_), fmt::format("the shape of '{}' is not known", name));
  const int64_t elements = checked_elements(shape.dims());
  const __int128 expected = static_cast<__int128>(elements) * static_cast<int64_t>(dtype_size(dtype));
  const bool texts = dtype == DType::kString || dtype == DType::kVariant;
  if (!texts && expected != e.size())
    throw damaged(file, fmt::format("Invalid size in bundle entry: key {}; stored size {}; expected "
                                    "size {}",
                                    name, e.size(), expected));
  const std::string bytes =
      read_range(file, static_cast<uint64_t>(e.offset()), static_cast<size_t>(e.size()));
  Tensor t = texts ? parse_texts(bytes, shape, file, name) : Tensor(dtype, shape);
  const uint32_t crc = mask_crc(texts ? texts_crc(bytes, t) : crc32c(bytes));
  if (crc != e.crc32c())
    throw damaged(file, fmt::format("tensor '{}': Checksum does not match: stored {:#x} vs. "
                                    "calculated on the restored bytes {:#x}",
                                    name, e.crc32c(), crc));
  if (dtype == DType::kVariant) return as_variants(t);
  if (!texts && !bytes.empty()) std::memcpy(t.raw(), bytes.data(), bytes.size());
  return t;
}

Tensor BundleReader::read(const std::string& name) const {
  const Entry& e = find(name);
  if (!e.sliced) return stored(name, name);
  TensorSlice all;
  all.extents.resize(static_cast<size_t>(std::max(0, e.shape.rank())));
  return read_slice(name, e.shape, all);
}

Tensor BundleReader::read_slice(const std::string& name, const Shape& full,
                                const TensorSlice& slice) const {
  const Entry& e = find(name);
  if (!(e.shape == full))
    throw invalid_argument(fmt::format("tensor_name = {}; shape in shape_and_slice spec {} does not "
                                       "match the shape stored in checkpoint: {}",
                                       name, full.str(), e.shape.str()));
  const TensorSlice wanted = slice.within(full);
  checked_elements(full.dims());
  Tensor out(e.dtype, wanted.shape());
  int64_t filled = 0;
  const auto take = [&](const std::string& key, const TensorSlice& box) {
    const Tensor part = stored(key, name);
    if (!(part.shape() == box.shape()))
      throw damaged(bundle_index_name(prefix_), fmt::format("a slice of '{}' has another shape", name));
    filled += copy_overlap(part, box, out, wanted);
  };
  if (!e.sliced) {
    TensorSlice all;
    all.extents.resize(static_cast<size_t>(full.rank()));
    take(name, all.within(full));
  } else {
    for (const auto& proto : raw_.at(name).slices()) {
      const TensorSlice s = TensorSlice::from_proto(proto);
      take(s.key(name), s.within(full));
    }
  }
  if (filled < out.num_elements())
    throw damaged(bundle_index_name(prefix_),
                  fmt::format("the slices of '{}' do not cover what is asked for", name));
  return out;
}

}  // namespace emplace
