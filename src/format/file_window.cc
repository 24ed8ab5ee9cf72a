#include "format/file_window.h"

#include "base/file_reader.h"
#include "format/inflate.h"

namespace emplace {
namespace {

constexpr size_t kPiece = size_t{256} << 10;

}  // namespace

class FileWindow::File {
 public:
  File(const std::string& name, const std::string& compression)
      : unpacker_(compression.empty() ? nullptr : std::make_unique<Unpacker>(compression)),
        file_(name) {}

  // Appends the next piece; false at the end.
  bool read(std::string& out) {
    if (!unpacker_) return file_.read(out, kPiece);
    const size_t before = out.size();
    while (out.size() == before && !ended_) {
      packed_.clear();
      ended_ = !file_.read(packed_, kPiece);
      if (ended_) unpacker_->finish();
      else unpacker_->feed(packed_, out);
    }
    return out.size() > before;
  }

 private:
  const std::unique_ptr<Unpacker> unpacker_;
  FileReader file_;
  bool ended_ = false;
  std::string packed_;
};

FileWindow::FileWindow(const std::string& name, const std::string& compression)
    : file_(std::make_unique<File>(name, compression)) {}
FileWindow::~FileWindow() = default;

bool FileWindow::has(size_t bytes) {
  while (read_.size() - at_ < bytes)
    if (!read_on()) return false;
  return true;
}

void FileWindow::skip(size_t bytes) { at_ += bytes; }

// What lies behind goes once it is more than a piece, so that bytes are moved once or twice.
bool FileWindow::read_on() {
  if (at_ >= kPiece || at_ == read_.size()) {
    read_.erase(0, at_);
    dropped_ += at_;
    at_ = 0;
  }
  return file_->read(read_);
}

}  // namespace emplace
