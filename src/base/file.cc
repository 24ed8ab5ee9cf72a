#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/errno_text.h"
#include "base/file_reader.h"
#include "base/stop_scope.h"

namespace emplace {
namespace {

constexpr size_t kBlock = size_t{64} << 10;

Code code_of(int error) {
  switch (error) {
    case ENOENT: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE: return Code::kResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY: return Code::kFailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG: return Code::kInvalidArgument;
    default: return Code::kUnknown;
  }
}

// A descriptor that closes itself. An error names the file as it is `called`.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : Descriptor(path, flags, 0, path) {}
  Descriptor(const std::string& path, int flags, mode_t mode, const std::string& called)
      : fd_(open(path.c_str(), flags | O_CLOEXEC, mode)) {
    if (fd_ < 0) throw_errno(called);
  }
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return fd_; }

 private:
  int fd_;
};

void sync_folder(const std::string& file) {
  const std::string folder = parent_folder(file);
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);  // some file systems can't: the rename is in order all the same
  close(fd);
}

void write_all(int fd, std::string_view bytes, const std::string& called) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(called);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

// The file that a symbolic link stands for, be it there or not.
std::string behind_links(const std::string& path) {
  std::filesystem::path at = path;
  std::error_code none;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(at, none); ++links)
    at = at.parent_path() / std::filesystem::read_symlink(at, none);
  if (std::filesystem::is_symlink(at, none)) {  // links that lead to each other
    errno = ELOOP;
    throw_errno(path);
  }
  return at.string();
}

// A new file beside `target` with these bytes, and with the permissions of what is there; returns its
// name. Nothing stays behind if it can't be written.
std::string write_temporary(const std::string& target, std::string_view bytes,
                            const std::string& called, const struct stat* there) {
  static std::atomic<int> made{0};
  const std::string name = fmt::format("{}.tmp{}.{}", target, getpid(), made++);
  unlink(name.c_str());  // of a process long gone
  const Descriptor fd(name, O_WRONLY | O_CREAT | O_EXCL, 0666, called);
  try {
    if (there) fchmod(fd, there->st_mode & 07777);  // not ours: it is as new files are
    write_all(fd, bytes, called);
    if (fsync(fd) != 0 && errno != EINVAL) throw_errno(called);
  } catch (...) {
    unlink(name.c_str());
    throw;
  }
  return name;
}

}  // namespace

void throw_errno(const std::string& path) {
  const int error = errno;
  throw Error(code_of(error), fmt::format("{}; {}", path, errno_text(error)));
}

// Until a pipe or a device has something to read, or its end; stops as long work does.
void wait_for_bytes(int fd) {
  constexpr int kLookMs = 20;
  for (pollfd wanted{fd, POLLIN, 0}; poll(&wanted, 1, kLookMs) <= 0;) StopScope::attend();
}

class FileReader::File {
 public:
  explicit File(const std::string& path)
      : path_(path), fd_(path, O_RDONLY | O_NONBLOCK) {  // a pipe may have no writer yet
    if (fstat(fd_, &info_) != 0) throw_errno(path);
    if (is_regular()) posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  size_t size() const { return is_regular() ? static_cast<size_t>(info_.st_size) : 0; }

  bool read(std::string& out, size_t most) {
    const size_t before = out.size();
    out.resize(before + most);
    ssize_t n;
    do {
      if (!is_regular()) wait_for_bytes(fd_);
      n = ::read(fd_, out.data() + before, most);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    out.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0) throw_errno(path_);
    return n > 0;
  }

 private:
  bool is_regular() const { return S_ISREG(info_.st_mode); }
  const std::string path_;
  const Descriptor fd_;
  struct stat info_ {};
};

FileReader::FileReader(const std::string& path) : file_(std::make_unique<File>(path)) {}
FileReader::~FileReader() = default;
size_t FileReader::size() const { return file_->size(); }
bool FileReader::read(std::string& out, size_t most) { return file_->read(out, most); }

std::string read_file(const std::string& path, size_t at_most) {
  FileReader file(path);
  std::string bytes;
  bytes.reserve(std::min(file.size(), at_most) + kBlock);
  while (file.read(bytes, kBlock))
    if (bytes.size() > at_most)
      throw invalid_argument(fmt::format("{}: more than {} bytes", path, at_most));
  return bytes;
}

std::string read_range(const std::string& path, uint64_t offset, size_t size) {
  const Descriptor fd(path, O_RDONLY);
  struct stat info {};
  if (fstat(fd, &info) != 0) throw_errno(path);
  const auto length = static_cast<uint64_t>(info.st_size);
  if (offset > length || size > length - offset)  // before memory is taken for it
    throw Error(Code::kDataLoss,
                fmt::format("{}: {} bytes at {} were expected, but the file has {}", path, size,
                            offset, length));
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd, bytes.data() + done, size - done,
                            static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(path);
    if (n == 0) throw Error(Code::kDataLoss, fmt::format("{}: ends too early", path));
    done += static_cast<size_t>(n);
  }
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  struct stat there {};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) {
    errno = EISDIR;
    throw_errno(path);
  }
  if (exists && !S_ISREG(there.st_mode)) {  // a pipe, a device
    write_all(Descriptor(path, O_WRONLY), bytes, path);
    return;
  }
  const std::string target = behind_links(path);
  const std::string temporary = write_temporary(target, bytes, path, exists ? &there : nullptr);
  if (rename(temporary.c_str(), target.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    errno = error;
    throw_errno(path);
  }
  sync_folder(target);
}

void move_file(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) throw_errno(to);
  sync_folder(to);
}

void remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) throw_errno(path);
}

void make_folders(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    errno = error.value();
    throw_errno(path);
  }
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

void check_below(const std::string& path, std::span<const std::string> folders) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path wanted(path);
  const bool climbs = std::find(wanted.begin(), wanted.end(), "..") != wanted.end();
  const fs::path real = fs::weakly_canonical(fs::absolute(behind_links(path), none), none);
  for (const std::string& folder : folders) {
    if (climbs || real.empty()) break;
    const fs::path top = fs::weakly_canonical(fs::absolute(folder, none), none);
    // A folder's name may end in '/', which is a part of its own.
    const auto end = top.filename().empty() ? std::prev(top.end()) : top.end();
    if (std::mismatch(top.begin(), end, real.begin(), real.end()).first == end) return;
  }
  std::string list;
  for (const std::string& folder : folders) list += (list.empty() ? "" : ", ") + folder;
  throw Error(Code::kPermissionDenied,
              fmt::format("{}: only files below {} may be touched from elsewhere", path,
                          list.empty() ? "no folder at all" : list));
}

std::string parent_folder(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

std::vector<std::string> matching_files(std::span<const std::string> patterns) {
  std::set<std::string> found;
  for (const std::string& pattern : patterns) {
    glob_t files{};
    const int rc = ::glob(pattern.c_str(), 0, nullptr, &files);
    if (rc == 0) found.insert(files.gl_pathv, files.gl_pathv + files.gl_pathc);
    ::globfree(&files);
    if (rc == GLOB_NOSPACE) throw resource_exhausted("no memory for the files of a pattern");
  }
  return {found.begin(), found.end()};
}

Error damaged(const std::string& path, std::string_view why) {
  return Error(Code::kDataLoss, fmt::format("{}: {}", path, why));
}

}  // namespace emplace
