#pragma once
#include <memory>
#include <optional>
#include <string>

namespace emplace {

struct Record {
  std::string key, value;
};

// A file that is being read: its records one by one.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual std::optional<Record> next() = 0;
};

struct RecordSizes {
  int64_t record = 0, header = 0, footer = 0, hop = 0;  // bytes
  bool exact = false;  // InvalidArgument for a file that is not made of whole records
};

// Each reads its file in pieces: NotFound where there is none, DataLoss when it comes to where it
// is broken.
std::unique_ptr<OpenFile> open_lines(const std::string& name, int64_t skip,
                                     const std::string& compression = {});
std::unique_ptr<OpenFile> open_framed(const std::string& name, const std::string& compression,
                                      int64_t offset = 0);
std::unique_ptr<OpenFile> open_fixed(const std::string& name, const RecordSizes& sizes,
                                     const std::string& encoding);
std::unique_ptr<OpenFile> open_whole(const std::string& name);
std::unique_ptr<OpenFile> open_name(const std::string& name);  // the name itself is the record

}  // namespace emplace
