#include "format/record_files.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/parse_limits.h"
#include "emplace/error.h"
#include "format/file_window.h"

namespace emplace {
namespace {

class Lines : public OpenFile {
 public:
  Lines(std::string name, int64_t skip, const std::string& compression)
      : name_(std::move(name)), file_(name_, compression), skip_(skip) {}
  std::optional<Record> next() override {
    while (file_.has(1)) {
      std::string line = take_line();
      if (++number_ > skip_) return Record{fmt::format("{}:{}", name_, number_), std::move(line)};
    }
    return std::nullopt;
  }

 private:
  std::string take_line() {
    size_t end = 0;
    bool whole = false;
    for (; !whole && file_.has(end + 1);) {
      const size_t found = file_.view().find('\n', end);
      whole = found != std::string_view::npos;
      end = whole ? found : file_.view().size();
    }
    std::string_view line = file_.view().substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string text(line);
    file_.skip(end + whole);
    return text;
  }

  const std::string name_;
  FileWindow file_;
  const int64_t skip_;
  int64_t number_ = 0;
};

// Length, its checksum, bytes, their checksum.
class FramedRecords : public OpenFile {
 public:
  FramedRecords(std::string name, const std::string& compression, int64_t offset)
      : name_(std::move(name)), file_(name_, compression) {
    for (int64_t left = offset; left != 0;) {
      const int64_t n = std::min<int64_t>(left, 1 << 16);
      if (n < 0 || !file_.has(static_cast<size_t>(n)))
        throw out_of_range(fmt::format("{} has no record at {}", name_, offset));
      file_.skip(static_cast<size_t>(n));
      left -= n;
    }
  }
  std::optional<Record> next() override {
    if (!file_.has(1)) return std::nullopt;
    const uint64_t start = file_.position();
    uint64_t length;
    std::memcpy(&length, take(8, start).data(), 8);
    check_parse_size(length, name_);
    // Behind a length comes its checksum too: no room is made for a broken one.
    const std::string body = take(length, start);
    return Record{fmt::format("{}:{}", name_, start), body};
  }

 private:
  static Error lost(const char* how, uint64_t at) {
    return Error(Code::kDataLoss, fmt::format("{} record at {}", how, at));
  }
  // So many bytes, with the checksum behind them.
  std::string take(uint64_t n, uint64_t start) {
    if (n > SIZE_MAX - 4 || !file_.has(n)) throw lost("truncated", start);
    if (!file_.has(n + 4)) throw lost("truncated", file_.position() + n);
    const std::string_view part = file_.view();
    uint32_t stored;
    std::memcpy(&stored, part.data() + n, 4);
    if (stored != mask_crc(crc32c(part.substr(0, n)))) throw lost("corrupted", start);
    std::string taken(part.substr(0, n));
    file_.skip(n + 4);
    return taken;
  }

  const std::string name_;
  FileWindow file_;
};

class FixedRecords : public OpenFile {
 public:
  FixedRecords(std::string name, const RecordSizes& sizes, const std::string& encoding)
      : name_(std::move(name)), file_(name_, encoding), sizes_(sizes) {
    if (sizes_.exact) check_length(encoding);
    if (file_.has(static_cast<size_t>(sizes_.header)))
      file_.skip(static_cast<size_t>(sizes_.header));
    else ended_ = true;
  }
  std::optional<Record> next() override {
    const auto size = static_cast<size_t>(sizes_.record);
    if (ended_ || !file_.has(size + static_cast<size_t>(sizes_.footer))) return std::nullopt;
    Record r{fmt::format("{}:{}", name_, number_++), std::string(file_.view().substr(0, size))};
    const auto hop = static_cast<size_t>(sizes_.hop);
    ended_ = !file_.has(hop);
    if (!ended_) file_.skip(hop);
    return r;
  }

 private:
  void check_length(const std::string& encoding) {
    FileWindow all(name_, encoding);
    for (; all.has(1); all.skip(all.view().size())) {
    }
    const int64_t body = static_cast<int64_t>(all.position()) - sizes_.header - sizes_.footer;
    if (body < 0 || body % sizes_.record != 0)
      throw invalid_argument(
          fmt::format("Excluding the header ({} bytes) and footer ({} bytes), input file \"{}\" "
                      "has body length "
                      "{} bytes, which is not an exact multiple of the record length ({} bytes).",
                      sizes_.header, sizes_.footer, name_, body, sizes_.record));
  }

  const std::string name_;
  FileWindow file_;
  const RecordSizes sizes_;
  int64_t number_ = 0;
  bool ended_ = false;
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
