#include "format/bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "emplace/error.h"
#include "format/table.h"

namespace emplace {
namespace {

class Bundle : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("emplace_bundle_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    prefix = (folder / "model").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Error error_of(const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& e) {
      return e;
    }
    ADD_FAILURE() << "no error";
    return {Code::kOk, ""};
  }
  void damage(const std::string& file, size_t at) {
    std::string bytes = read_file(file);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(file, bytes);
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  std::filesystem::path folder;
  std::string prefix;
};

TEST_F(Bundle, WhatIsWrittenIsRead) {
  const BundleItem items[] = {{"w", Tensor::of({1.f, 2.f}, {2})},
                              {"n", Tensor::scalar(int64_t{5})},
                              {"s", Tensor::of<std::string>({"one", "", "three"}, {3})},
                              {"empty", Tensor(DType::kFloat, Shape{0, 3})}};
  write_bundle(prefix, items);
  const BundleReader reader(prefix);
  EXPECT_EQ(reader.entries().size(), 4u);
  EXPECT_EQ(reader.read("w").str(), "[1. 2.]");
  EXPECT_EQ(reader.read("n").item<int64_t>(), 5);
  EXPECT_EQ(reader.read("s").values<std::string>()[2], "three");
  EXPECT_EQ(reader.read("empty").shape().str(), "[0,3]");
  EXPECT_EQ(error_of([&] { reader.read("x"); }).message(), "Key x not found in checkpoint");
}

TEST_F(Bundle, ManyNamesMakeManyBlocks) {
  std::vector<BundleItem> items;
  for (int i = 0; i < 20000; ++i)
    items.push_back({"layer_" + std::to_string(i) + "/kernel", Tensor::scalar(i)});
  write_bundle(prefix, items);
  const BundleReader reader(prefix);
  EXPECT_EQ(reader.entries().size(), 20000u);
  EXPECT_EQ(reader.read("layer_12345/kernel").item<int32_t>(), 12345);
}

TEST_F(Bundle, AnOlderOneGivesWayAndLeavesNothing) {
  for (float v : {1.f, 2.f, 3.f}) {
    const BundleItem item[] = {{"v", Tensor::scalar(v)}};
    write_bundle(prefix, item);
    EXPECT_EQ(BundleReader(prefix).read("v").item<float>(), v);
    EXPECT_EQ(files(), 2u);
  }
}

TEST_F(Bundle, TheOldOneStaysWholeUntilTheNewIndexIsThere) {
  const BundleItem one[] = {{"v", Tensor::scalar(1.f)}};
  write_bundle(prefix, one);
  const std::string old_index = read_file(bundle_index_name(prefix));
  const std::string old_data = bundle_data_name(prefix, 0, 1);
  const std::string old_bytes = read_file(old_data);
  const BundleItem two[] = {{"v", Tensor::scalar(2.f)}};
  write_bundle(prefix, two);
  // As a kill just before the index is renamed would leave it.
  write_file(bundle_index_name(prefix), old_index);
  write_file(old_data, old_bytes);
  EXPECT_EQ(BundleReader(prefix).read("v").item<float>(), 1.f);
}

TEST_F(Bundle, NoDataStaysBehindWithoutAnIndex) {
  make_folders(bundle_index_name(prefix));  // so that no file can take its place
  const BundleItem items[] = {{"v", Tensor::scalar(1.f)}};
  EXPECT_EQ(error_of([&] { write_bundle(prefix, items); }).code(), Code::kFailedPrecondition);
  EXPECT_EQ(files(), 1u);
}

TEST_F(Bundle, DamageIsNamed) {
  const BundleItem items[] = {{"weights", Tensor::of({1.f, 2.f}, {2})}};
  write_bundle(prefix, items);
  damage(bundle_data_name(prefix, 0, 1), 3);
  Error e = error_of([&] { BundleReader(prefix).read("weights"); });
  EXPECT_EQ(e.code(), Code::kDataLoss);
  EXPECT_NE(e.message().find("weights"), std::string::npos);
  write_bundle(prefix, items);
  damage(bundle_index_name(prefix), 5);
  e = error_of([&] { BundleReader r(prefix); });
  EXPECT_EQ(e.code(), Code::kDataLoss);
  EXPECT_NE(e.message().find("model.index"), std::string::npos);
}

TEST_F(Bundle, AFileThatIsTooShortIsDamage) {
  const BundleItem items[] = {{"w", Tensor::of({1.f, 2.f}, {2})}};
  write_bundle(prefix, items);
  write_file(bundle_data_name(prefix, 0, 1), "abc");
  EXPECT_EQ(error_of([&] { BundleReader(prefix).read("w"); }).code(), Code::kDataLoss);
  remove_file(bundle_data_name(prefix, 0, 1));
  EXPECT_EQ(error_of([&] { BundleReader(prefix).read("w"); }).code(), Code::kNotFound);
  remove_file(bundle_index_name(prefix));
  EXPECT_EQ(error_of([&] { BundleReader r(prefix); }).message(),
            "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for " +
                prefix);
}

TEST_F(Bundle, ASizeBeyondSixtyFourBitsIsDamageLikeAnyOther) {
  proto::BundleHeaderProto header;
  header.set_num_shards(1);
  proto::BundleEntryProto entry;
  entry.set_dtype(proto::DT_COMPLEX128);
  entry.mutable_shape()->add_dim()->set_size(int64_t{1} << 60);
  entry.set_size(16);
  write_file(bundle_index_name(prefix),
             table_bytes({{"", header.SerializeAsString()}, {"a", entry.SerializeAsString()}}));
  write_file(bundle_data_name(prefix, 0, 1), std::string(16, '\0'));
  const Error e = error_of([&] { BundleReader(prefix).read("a"); });
  EXPECT_EQ(e.code(), Code::kDataLoss);
  EXPECT_NE(e.message().find("stored size 16; expected size 18446744073709551616"), std::string::npos) << e.message();
}

TEST_F(Bundle, SlicesMakeAWhole) {
  std::vector<BundleItem> items;
  for (const char* spec : {"4,2 0,1:-", "4,2 1,3:-"}) {
    BundleItem item{"p", Tensor()};
    std::tie(item.full, item.slice) = parse_shape_and_slice(spec);
    item.sliced = true;
    item.value = spec[4] == '0' ? Tensor::of({0, 1}, {1, 2})
                                : Tensor::of({2, 3, 4, 5, 6, 7}, {3, 2});
    items.push_back(item);
  }
  write_bundle(prefix, items);
  const BundleReader reader(prefix);
  EXPECT_EQ(reader.read("p").str(), "[[0 1]\n [2 3]\n [4 5]\n [6 7]]");
  const auto [full, slice] = parse_shape_and_slice("4,2 0,3:1,1");
  EXPECT_EQ(reader.read_slice("p", full, slice).str(), "[[1]\n [3]\n [5]]");
}

TEST_F(Bundle, SeveralAreMerged) {
  const BundleItem a[] = {{"a", Tensor::scalar(1)}}, b[] = {{"b", Tensor::scalar(2)}};
  const std::string parts[] = {prefix + "_temp/part-0", prefix + "_temp/part-1"};
  write_bundle(parts[0], a);
  write_bundle(parts[1], b);
  merge_bundles(parts, prefix, true, false);
  const BundleReader reader(prefix);
  EXPECT_EQ(reader.shards(), 2);
  EXPECT_EQ(reader.read("a").item<int32_t>() + reader.read("b").item<int32_t>(), 3);
  EXPECT_FALSE(is_folder(prefix + "_temp"));
}

}  // namespace
}  // namespace emplace
