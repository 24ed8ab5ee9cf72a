#pragma once
#include <memory>
#include <string>

namespace emplace {

// A file read from its beginning, piece by piece. Whoever waits for the writer of a pipe can be
// stopped.
class FileReader {
 public:
  explicit FileReader(const std::string& path);  // NotFound where there is none
  ~FileReader();
  size_t size() const;  // 0 where that is not known, of a pipe
  // Appends at most so many bytes; false at the end.
  bool read(std::string& out, size_t most);

 private:
  class File;
  const std::unique_ptr<File> file_;
};

}  // namespace emplace
