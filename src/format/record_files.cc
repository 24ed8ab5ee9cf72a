#include "format/record_files.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/crc32c.h"
#include "base/file.h"
#include "emplace/error.h"
#include "format/inflate.h"

namespace emplace {
namespace {

class Lines : public OpenFile {
 public:
  Lines(std::string name, int64_t skip, const std::string& compression)
      : name_(std::move(name)), text_(unpack(read_file(name_), compression)), skip_(skip) {}
  std::optional<Record> next() override {
    while (at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      size_t last = end;
      if (last > at_ && text_[last - 1] == '\r') --last;
      std::string line = text_.substr(at_, last - at_);
      at_ = end + 1;
      if (++number_ > skip_) return Record{fmt::format("{}:{}", name_, number_), std::move(line)};
    }
    return std::nullopt;
  }

 private:
  const std::string name_, text_;
  const int64_t skip_;
  size_t at_ = 0;
  int64_t number_ = 0;
};

// Length, its checksum, bytes, their checksum.
class FramedRecords : public OpenFile {
 public:
  FramedRecords(std::string name, const std::string& compression, int64_t offset)
      : name_(std::move(name)), bytes_(unpack(read_file(name_), compression)) {
    if (offset < 0 || static_cast<size_t>(offset) > bytes_.size())
      throw out_of_range(fmt::format("{} has no record at {}", name_, offset));
    at_ = static_cast<size_t>(offset);
  }
  std::optional<Record> next() override {
    if (at_ == bytes_.size()) return std::nullopt;
    const size_t start = at_;
    const std::string_view head = take(8);
    uint64_t length;
    std::memcpy(&length, head.data(), 8);
    check(head, start);
    if (length > bytes_.size() - at_) throw lost("truncated", start);
    const std::string_view body = take(length);
    check(body, start);
    return Record{fmt::format("{}:{}", name_, start), std::string(body)};
  }

 private:
  static Error lost(const char* how, size_t at) {
    return Error(Code::kDataLoss, fmt::format("{} record at {}", how, at));
  }
  std::string_view take(size_t n) {
    if (n > bytes_.size() - at_) throw lost("truncated", at_);
    const std::string_view part = std::string_view(bytes_).substr(at_, n);
    at_ += n;
    return part;
  }
  void check(std::string_view part, size_t start) {
    uint32_t stored;
    std::memcpy(&stored, take(4).data(), 4);
    if (stored != mask_crc(crc32c(part)))
      throw lost("corrupted", start);
  }

  const std::string name_, bytes_;
  size_t at_ = 0;
};

class FixedRecords : public OpenFile {
 public:
  FixedRecords(std::string name, const RecordSizes& sizes, const std::string& encoding)
      : name_(std::move(name)), bytes_(unpack(read_file(name_), encoding)), sizes_(sizes),
        at_(static_cast<size_t>(sizes.header)) {
    const int64_t body = static_cast<int64_t>(bytes_.size()) - sizes_.header - sizes_.footer;
    if (sizes_.exact && (body < 0 || body % sizes_.record != 0))
      throw invalid_argument(fmt::format(
          "Excluding the header ({} bytes) and footer ({} bytes), input file \"{}\" has body length {} "
          "bytes, which is not an exact multiple of the record length ({} bytes).",
          sizes_.header, sizes_.footer, name_, body, sizes_.record));
  }
  std::optional<Record> next() override {
    const auto size = static_cast<size_t>(sizes_.record);
    if (at_ + size + static_cast<size_t>(sizes_.footer) > bytes_.size()) return std::nullopt;
    Record r{fmt::format("{}:{}", name_, number_++), bytes_.substr(at_, size)};
    at_ += static_cast<size_t>(sizes_.hop);
    return r;
  }

 private:
  const std::string name_, bytes_;
  const RecordSizes sizes_;
  size_t at_;
  int64_t number_ = 0;
};

class OneRecord : public OpenFile {
 public:
  explicit OneRecord(Record r) : record_(std::move(r)) {}
  std::optional<Record> next() override { return std::exchange(record_, std::nullopt); }

 private:
  std::optional<Record> record_;
};

}  // namespace

std::unique_ptr<OpenFile> open_lines(const std::string& name, int64_t skip,
                                     const std::string& compression) {
  return std::make_unique<Lines>(name, skip, compression);
}
std::unique_ptr<OpenFile> open_framed(const std::string& name, const std::string& compression,
                                      int64_t offset) {
  return std::make_unique<FramedRecords>(name, compression, offset);
}
std::unique_ptr<OpenFile> open_fixed(const std::string& name, const RecordSizes& sizes,
                                     const std::string& encoding) {
  return std::make_unique<FixedRecords>(name, sizes, encoding);
}
std::unique_ptr<OpenFile> open_whole(const std::string& name) {
  return std::make_unique<OneRecord>(Record{name, read_file(name)});
}
std::unique_ptr<OpenFile> open_name(const std::string& name) {
  return std::make_unique<OneRecord>(Record{name, name});
}

}  // namespace emplace
