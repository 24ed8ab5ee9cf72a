// Maps from tensors to tensors, as values: a changed map is another one.
#include "kernel/map_kernels.h"

#include <fmt/format.h>

#include <map>

#include "emplace/error.h"
#include "kernel/keep.h"

namespace emplace {
namespace {

class TensorMap final : public VariantValue {
 public:
  std::string_view type_name() const override { return "tensorflow::TensorMap"; }
  struct Entry {
    Tensor key, value;
  };
  std::map<std::string, Entry> entries;  // by the key's dtype, shape and bytes
};

std::string name_of(const Tensor& key) {
  std::string name = fmt::format("{} {} ", dtype_name(key.dtype()), key.shape().str());
  if (key.dtype() == DType::kString)
    for (const std::string& s : key.values<std::string>())
      name += fmt::format("{}:{}", s.size(), s);
  else if (is_plain(key.dtype())) name.append(static_cast<const char*>(key.raw()), key.bytes());
  else throw unimplemented(fmt::format("keys of {}", dtype_name(key.dtype())));
  return name;
}

const TensorMap& map_in(const Tensor& t) {
  const auto* map = t.dtype() == DType::kVariant && t.num_elements() == 1
                        ? dynamic_cast<const TensorMap*>(t.data<Variant>()->value.get())
                        : nullptr;
  if (!map) throw invalid_argument("Input handle is not a map. Saw: '" + t.shape().str() + "'");
  return *map;
}

void put_map(KernelContext& c, std::shared_ptr<TensorMap> map) {
  Tensor t(DType::kVariant, Shape{});
  t.data<Variant>()->value = std::move(map);
  c.set_output(0, std::move(t));
}

void empty(KernelContext& c) { put_map(c, std::make_shared<TensorMap>()); }

void map_size(KernelContext& c) {
  *c.output(0, Shape{}).data<int32_t>() = static_cast<int32_t>(map_in(c.input(0)).entries.size());
}

const TensorMap::Entry& found(KernelContext& c, const char* what) {
  const auto& entries = map_in(c.input(0)).entries;
  const auto it = entries.find(name_of(c.input(1)));
  if (it == entries.end())
    throw invalid_argument(fmt::format("Trying to {}. Could not find key \"{}\".", what,
                                       c.input(1).str()));
  return it->second;
}

void lookup(KernelContext& c) {
  const Tensor& value = found(c, "lookup non-existent key").value;
  if (value.dtype() != c.output_type(0))
    throw invalid_argument(fmt::format("Type mismatch: actual {} vs. expect {}",
                                       dtype_proto_name(value.dtype()),
                                       dtype_proto_name(c.output_type(0))));
  if (is_plain(value.dtype())) put(c, c.output(0, value.shape()), 0, value);
  else c.set_output(0, value.copy());
}

void map_insert(KernelContext& c) {
  auto map = std::make_shared<TensorMap>(map_in(c.input(0)));
  map->entries[name_of(c.input(1))] = {keep(c, c.input(1)), keep(c, c.input(2))};
  put_map(c, std::move(map));
}

void erase(KernelContext& c) {
  found(c, "erase non-existent item");
  auto map = std::make_shared<TensorMap>(map_in(c.input(0)));
  map->entries.erase(name_of(c.input(1)));
  put_map(c, std::move(map));
}

void has_key(KernelContext& c) {
  *c.output(0, Shape{}).data<bool>() = map_in(c.input(0)).entries.contains(name_of(c.input(1)));
}

void stack_keys(KernelContext& c) {
  const auto& entries = map_in(c.input(0)).entries;
  if (entries.empty())
    throw invalid_argument("TensorMapStackKeys cannot be called on empty map.");
  const Tensor& first = entries.begin()->second.key;
  if (first.dtype() != c.output_type(0))
    throw invalid_argument(fmt::format("Key does not match requested dtype: {}",
                                       dtype_proto_name(first.dtype())));
  Tensor& out = c.output(0, with_first(static_cast<int64_t>(entries.size()), first.shape()));
  int64_t at = 0;
  for (const auto& [name, entry] : entries) {
    if (entry.key.dtype() != first.dtype() || !(entry.key.shape() == first.shape()))
      throw invalid_argument("Key has shape mismatch");
    put(c, out, at, entry.key);
    at += first.num_elements();
  }
}

}  // namespace

std::vector<KernelRow> map_kernels(std::string_view device_type) {
  const auto row = [&](const char* op, KernelFactory make) {
    return KernelRow{op, std::string(device_type), {}, {}, make, {}, 0, ""};
  };
  return {row("EmptyTensorMap", stateless<empty>),    row("TensorMapSize", stateless<map_size>),
          row("TensorMapLookup", stateless<lookup>),  row("TensorMapInsert", stateless<map_insert>),
          row("TensorMapErase", stateless<erase>),    row("TensorMapHasKey", stateless<has_key>),
          row("TensorMapStackKeys", stateless<stack_keys>)};
}

}  // namespace emplace
