#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emplace/proto/checkpoint.pb.h"
#include "emplace/tensor.h"
#include "format/slice.h"

namespace emplace {

// A checkpoint of TensorFlow's second format: PREFIX.index, a table from names to where their
// bytes are, and data files PREFIX.data-00000-of-00001, …

std::string bundle_index_name(const std::string& prefix);
std::string bundle_data_name(const std::string& prefix, int shard, int shards);

// Reads one. Everything is checked on the way: a file that is missing is NotFound, damage is
// DataLoss that names the file and the tensor. Immutable; any thread may read.
class BundleReader {
 public:
  explicit BundleReader(std::string prefix);

  struct Entry {
    DType dtype;
    Shape shape;
    bool sliced;
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }
  const Entry& find(const std::string& name) const;  // NotFound
  Tensor read(const std::string& name) const;
  // The part of a tensor of `full` shape.
  Tensor read_slice(const std::string& name, const Shape& full, const TensorSlice& slice) const;

  const std::map<std::string, proto::BundleEntryProto>& raw() const { return raw_; }
  int shards() const { return shards_; }

 private:
  Tensor stored(const std::string& key, const std::string& name) const;

  const std::string prefix_;
  int shards_ = 1;
  std::map<std::string, proto::BundleEntryProto> raw_;
  std::map<std::string, Entry> entries_;
};

struct BundleItem {
  std::string name;
  Tensor value;  // host memory
  bool sliced = false;
  Shape full = {};  // with `sliced`: the whole tensor's shape
  TensorSlice slice = {};
};

// Writes a checkpoint of one data file. At every moment a reader of `prefix` finds a whole one: the
// old, or the new. What is left of older ones under this prefix is removed.
void write_bundle(const std::string& prefix, std::span<const BundleItem> items);

// Makes one checkpoint of several; their data files are moved.
void merge_bundles(std::span<const std::string> prefixes, const std::string& destination,
                   bool delete_old_folders, bool allow_missing);

}  // namespace emplace
