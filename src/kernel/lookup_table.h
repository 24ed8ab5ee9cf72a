#pragma once
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_index.h"
#include "emplace/tensor.h"

namespace emplace {

// A table from keys to values, each a tensor of one shape (mostly a scalar). One that is fixed is
// filled once and read then; any other can be changed at all times. Gives its entries in the order
// in which they came. Thread-safe; takes and gives tensors in host memory.
class LookupTable : public Resource {
 public:
  struct Options {
    std::string name;
    DType key_dtype = DType::kInvalid, value_dtype = DType::kInvalid;
    Shape key_shape, value_shape;
    bool fixed = false;
    std::vector<std::pair<std::string, Tensor>>
        reserved;  // what it is called, the key: not for use
  };
  explicit LookupTable(Options options);

  const Options& options() const { return options_; }
  int64_t size() const;

  // InvalidArgument unless keys (and values) are of the table's dtypes.
  void check_keys(DType keys) const;
  void check_values(DType keys, DType values) const;

  // The fixed kind: as many entries again are taken for the same ones.
  void initialize(const Tensor& keys, const Tensor& values);
  // The kind that can be changed.
  void insert(const Tensor& keys, const Tensor& values);
  void replace(const Tensor& keys, const Tensor& values);
  void remove(const Tensor& keys);

  // What `find` will give: the keys' shape and a value's.
  Shape found_shape(const Tensor& keys) const;
  // Values by key; where there is none, `missing`: one value, or one for each key.
  void find(const Tensor& keys, const Tensor& missing, Tensor& out) const;
  std::pair<Tensor, Tensor> entries() const;

  std::string debug_string() const override { return "table " + options_.name; }

 private:
  Shape leading(const Tensor& keys) const;  // the keys' shape without that of one key
  // The bytes of key number i of a tensor of keys, in `room` where they don't stand together.
  std::string_view key_of(const Tensor& keys, int64_t i, std::string& room) const;
  uint64_t hash_of(std::string_view key) const;
  int64_t find_row(std::string_view key) const;  // -1: none
  void check_unreserved(const Tensor& keys) const;
  void check_shapes(const Tensor& keys, const Tensor& values) const;
  void put(std::string_view key, const Tensor& keys, const Tensor& values, int64_t from);
  void put_narrow(const Tensor& keys, const Tensor& values);  // keys of few bytes, plain values
  void put_all(const Tensor& keys, const Tensor& values);
  void forget_all();
  void grow();
  void drop(std::string_view key);

  const Options options_;
  const int64_t key_elements_, value_elements_;
  const bool narrow_;  // a key fits a word, which its hash stands for
  std::vector<std::pair<std::string, std::string>> reserved_;  // as bytes
  mutable std::mutex mutex_;
  FlatIndex index_;  // the row of each key
  int64_t used_ = 0, capacity_ = 0;
  Tensor keys_, values_;  // rows of key_elements_ and of value_elements_
  bool initialized_ = false;
};

}  // namespace emplace
