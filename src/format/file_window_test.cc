#include "format/file_window.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "emplace/error.h"
#include "emplace/session.h"
#include "format/inflate.h"
#include "format/record_files.h"

namespace emplace {
namespace {

class FileWindowTest : public ::testing::Test {
 protected:
  FileWindowTest() { std::filesystem::create_directories(folder_); }
  ~FileWindowTest() override { std::filesystem::remove_all(folder_); }
  std::string file(std::string_view bytes) const {
    write_file(folder_ + "/f", bytes);
    return folder_ + "/f";
  }
  static std::vector<std::string> all(OpenFile& f) {
    std::vector<std::string> records;
    while (auto r = f.next()) records.push_back(r->value);
    return records;
  }
  // Lines of all lengths, some of them longer than a piece is.
  static std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (size_t i = 0; i < 40; ++i) all.emplace_back(i * i * 397, static_cast<char>('a' + i % 26));
    return all;
  }

  const std::string folder_ = ::testing::TempDir() + "file_window_" + std::to_string(::getpid());
};

TEST_F(FileWindowTest, KnowsWhereItIs) {
  FileWindow w(file("abcdef"), "");
  EXPECT_TRUE(w.has(4));
  w.skip(4);
  EXPECT_EQ(w.position(), 4u);
  EXPECT_EQ(w.view().substr(0, 2), "ef");
  EXPECT_FALSE(w.has(3));
  EXPECT_TRUE(w.has(2));
}

TEST_F(FileWindowTest, SaysThatThereIsNoFile) {
  try {
    FileWindow w(folder_ + "/none", "");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
  }
}

TEST_F(FileWindowTest, LinesGoOverPieces) {
  std::string bytes;
  for (const std::string& t : texts()) bytes += t + (t.size() % 2 ? "\n" : "\r\n");
  EXPECT_EQ(all(*open_lines(file(bytes), 0)), texts());
  EXPECT_EQ(all(*open_lines(file(bytes + "last"), 0)).back(), "last");
}

TEST_F(FileWindowTest, RecordsGoOverPieces) {
  std::string bytes;
  for (const std::string& t : texts()) bytes += framed_record(t);
  EXPECT_EQ(all(*open_framed(file(bytes), "")), texts());
  const auto offset = static_cast<int64_t>(framed_record(texts()[0]).size());
  EXPECT_EQ(all(*open_framed(file(bytes), "", offset)).size(), texts().size() - 1);
  const auto broken = open_framed(file(bytes.substr(0, bytes.size() - 3)), "");
  for (size_t i = 0; i + 1 < texts().size(); ++i) EXPECT_TRUE(broken->next());
  EXPECT_THROW(broken->next(), Error);
}

TEST_F(FileWindowTest, FixedRecordsLeaveOutTheFooter) {
  const RecordSizes sizes{.record = 100'000, .header = 3, .footer = 2, .hop = 100'000};
  const std::string body(700'000, 'x');
  EXPECT_EQ(all(*open_fixed(file("abc" + body + "yz"), sizes, "")).size(), 7u);
  EXPECT_EQ(all(*open_fixed(file("abc" + body + "y"), sizes, "")).size(), 6u);
}

TEST_F(FileWindowTest, UnpacksPieceByPiece) {
  std::string bytes;
  for (const std::string& t : texts()) bytes += t + "\n";
  for (const char* type : {"GZIP", "ZLIB"}) {
    std::string packed;
    try {
      packed = pack(bytes, type);
    } catch (const Error& e) {
      GTEST_SKIP() << e.message();
    }
    EXPECT_LT(packed.size(), bytes.size() / 10);
    EXPECT_EQ(unpack(packed, type), bytes);
    EXPECT_EQ(all(*open_lines(file(packed), 0, type)), texts());
    EXPECT_EQ(all(*open_lines(file(packed + packed), 0, type)).size(), 2 * texts().size());
    const auto cut = open_lines(file(packed.substr(0, packed.size() / 2)), 0, type);
    EXPECT_THROW(all(*cut), Error);
  }
}

}  // namespace
}  // namespace emplace
