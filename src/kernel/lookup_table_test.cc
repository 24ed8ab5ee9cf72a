#include "kernel/lookup_table.h"

#include <gtest/gtest.h>

namespace emplace {
namespace {

LookupTable::Options options(bool fixed = false) {
  LookupTable::Options o;
  o.name = "t";
  o.key_dtype = DType::kString;
  o.value_dtype = DType::kInt64;
  o.fixed = fixed;
  return o;
}

Tensor words(std::initializer_list<std::string> v) {
  return Tensor::of(v, Shape{static_cast<int64_t>(v.size())});
}
Tensor numbers(std::initializer_list<int64_t> v) {
  return Tensor::of(v, Shape{static_cast<int64_t>(v.size())});
}
std::string found(const LookupTable& table, const Tensor& keys, int64_t missing = -1) {
  Tensor out(DType::kInt64, table.found_shape(keys));
  table.find(keys, Tensor::scalar(missing), out);
  return out.str();
}

TEST(LookupTable, LaterValuesReplaceEarlierOnes) {
  LookupTable table(options());
  table.insert(words({"a", "b"}), numbers({1, 2}));
  table.insert(words({"b", "c"}), numbers({20, 3}));
  EXPECT_EQ(found(table, words({"a", "b", "c", "d"})), "[ 1 20  3 -1]");
  EXPECT_EQ(table.size(), 3);
}

TEST(LookupTable, RemovingKeepsTheRest) {
  LookupTable table(options());
  for (int64_t i = 0; i < 100; ++i) table.insert(words({std::to_string(i)}), numbers({i}));
  for (int64_t i = 0; i < 100; i += 2) table.remove(words({std::to_string(i)}));
  EXPECT_EQ(table.size(), 50);
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(found(table, words({std::to_string(i)})), i % 2 ? "[" + std::to_string(i) + "]" : "[-1]");
}

TEST(LookupTable, GivesItsEntriesInTheOrderTheyCame) {
  LookupTable table(options());
  table.insert(words({"z", "a"}), numbers({1, 2}));
  const auto [keys, values] = table.entries();
  EXPECT_EQ(keys.str() + values.str(), "[b'z' b'a'][1 2]");
}

TEST(LookupTable, AFixedOneIsFilledOnce) {
  LookupTable table(options(true));
  EXPECT_THROW(found(table, words({"a"})), Error);
  table.initialize(words({"a", "b"}), numbers({1, 2}));
  table.initialize(words({"a", "b"}), numbers({1, 2}));
  EXPECT_THROW(table.initialize(words({"a"}), numbers({1})), Error);
  EXPECT_EQ(found(table, words({"b"})), "[2]");
}

TEST(LookupTable, OneKeyHasOneValue) {
  LookupTable table(options(true));
  EXPECT_THROW(table.initialize(words({"a", "a"}), numbers({1, 2})), Error);
  EXPECT_EQ(table.size(), 0);
}

TEST(LookupTable, ReservedKeysAreRefused) {
  LookupTable::Options o = options();
  o.reserved = {{"empty_key", Tensor::string("-")}};
  LookupTable table(o);
  EXPECT_THROW(table.insert(words({"-"}), numbers({1})), Error);
  EXPECT_THROW(found(table, words({"-"})), Error);
}

}  // namespace
}  // namespace emplace
