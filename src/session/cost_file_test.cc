#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "emplace/error.h"
#include "emplace/plan.h"

namespace emplace {
namespace {

std::string error_of(std::string_view json) {
  try {
    CostBook::parse(json);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    return e.message();
  }
  return "";
}

CostBook example() {
  CostBook book;
  book.add({"layer \"1\"/MatMul", {"MatMul", "transpose_a=false", "float32[2,3] float32[3,4]"},
            "float32[2,4]", "CPU x2 Model\n", {1.5e-6, 1e-7, 12}});
  book.add({{}, {"Relu", "", "float32[2,4]"}, "", "GPU", {1e-9, 0, 1}});
  book.set_rates({"GPU", 1e-6, 1e12, {{1e4, 1e9}, {1e8, 1e12}}, {{4096, 1e12}}});
  book.set_link({"CPU x2", "GPU", 1e-5, 1e10});
  return book;
}

TEST(CostFile, ReadsWhatItWrites) {
  const std::string text = example().json();
  const CostBook book = CostBook::parse(text);
  EXPECT_EQ(book.json(), text);
  const auto rows = book.rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].node, "layer \"1\"/MatMul");
  EXPECT_EQ(rows[1].cost.seconds, 1.5e-6);
  EXPECT_EQ(rows[1].cost.count, 12);
  EXPECT_EQ(book.rates("GPU")->products.size(), 2u);
  EXPECT_EQ(book.link("CPU x2", "GPU")->latency_s, 1e-5);
  EXPECT_EQ(CostBook::parse(CostBook().json()).size(), 0u);
}

TEST(CostFile, SavesAndLoads) {
  const auto path = std::filesystem::temp_directory_path() / ("emplace_cost_file_test_" + std::to_string(getpid()));
  example().save(path.string());
  EXPECT_EQ(CostBook::load(path.string()).json(), example().json());
  write_file(path.string(), "{\"version\": 1, \"costs\": [{]}");
  try {
    CostBook::load(path.string());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_THAT(e.message(), ::testing::StartsWith(path.string() + ": No costs in JSON: "));
  }
  std::filesystem::remove(path);
  try {
    CostBook::load(path.string());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
  }
}

TEST(CostFile, SaysWhatIsWrong) {
  EXPECT_THAT(error_of(""), ::testing::StartsWith("No costs in JSON: "));
  EXPECT_THAT(error_of("[1, 2]"), ::testing::StartsWith("No costs in JSON: "));
  EXPECT_THAT(error_of("{}"), ::testing::HasSubstr("its version is 0, and 1 is known"));
  EXPECT_THAT(error_of("{\"version\": 1, \"costs\": [{\"op\": \"Neg\", \"device\": \"d\", "
                       "\"seconds\": \"soon\", \"count\": 1}]}"),
              ::testing::HasSubstr("soon"));
  EXPECT_THAT(error_of("{\"version\": 1, \"costs\": [{\"op\": \"Neg\", \"device\": \"d\", "
                       "\"seconds\": -1, \"count\": 1}]}"),
              ::testing::HasSubstr("A cost of -1 s (spread 0, 1 calls) is none: 'Neg'"));
  EXPECT_THAT(error_of("{\"version\": 1, \"costs\": [{\"op\": \"Neg\", \"count\": 1}]}"),
              ::testing::HasSubstr("no kind of device"));
  EXPECT_THAT(error_of("{\"version\": 1, \"devices\": [{\"device\": \"d\", \"ops_per_s\": 1}]}"),
              ::testing::HasSubstr("\"products\" of 'd' are missing"));
  EXPECT_THAT(error_of("{\"version\": 1, \"devices\": [{\"device\": \"d\"}]}"),
              ::testing::HasSubstr("ops_per_s of 'd' is missing, or 0"));
  EXPECT_THAT(error_of("{\"version\": 1, \"devices\": [{\"device\": \"d\", \"ops_per_s\": 1, "
                       "\"products\": [{\"size\": 2, \"per_s\": 1}, {\"size\": 1, \"per_s\": 1}]}]}"),
              ::testing::HasSubstr("not sorted by size"));
  EXPECT_THAT(error_of("{\"version\": 1, \"links\": [{\"from\": \"a\", \"to\": \"b\", "
                       "\"bytes_per_s\": \"NaN\"}]}"),
              ::testing::HasSubstr("bytes_per_s of 'a' to 'b'"));
  EXPECT_THAT(error_of(std::string(CostBook::kMaxFileBytes + 1, ' ')), ::testing::HasSubstr("at most"));
  EXPECT_THAT(error_of(std::string(100000, '[')), ::testing::StartsWith("No costs in JSON: "));
}

TEST(CostFile, PassesOverWhatLaterVersionsAdd) {
  const CostBook book = CostBook::parse(
      "{\"version\": 1, \"later\": [1], \"costs\": [{\"op\": \"Neg\", \"device\": \"d\", "
      "\"seconds\": 1, \"count\": 2, \"more\": {}}]}");
  EXPECT_EQ(book.find({"Neg", "", ""}, "d")->count, 2);
}

}  // namespace
}  // namespace emplace
