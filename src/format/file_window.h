#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace emplace {

// A file from some place on: read in pieces, unpacked on the way. The system reads ahead of it. One
// thread at a time.
class FileWindow {
 public:
  // `compression` as of `unpack`. NotFound where there is no such file.
  FileWindow(const std::string& name, const std::string& compression);
  ~FileWindow();
  FileWindow(const FileWindow&) = delete;
  FileWindow& operator=(const FileWindow&) = delete;

  // Are there so many bytes from here on? Then they are in `view`. DataLoss for bytes that can't be
  // unpacked.
  bool has(size_t bytes);
  // What has been read already, from here on; valid until the next call.
  std::string_view view() const { return std::string_view(read_).substr(at_); }
  void skip(size_t bytes);  // of those in view
  uint64_t position() const { return dropped_ + at_; }

 private:
  class File;
  bool read_on();

  const std::unique_ptr<File> file_;
  std::string read_;
  size_t at_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace emplace
