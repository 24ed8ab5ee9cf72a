#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/error.h"

namespace emplace {

// The whole file. Throws NotFound, PermissionDenied or Unknown, naming it; InvalidArgument when it
// has more bytes than that.
std::string read_file(const std::string& path, size_t at_most = SIZE_MAX);
// Bytes [offset, offset + size) of a file; DataLoss when it is shorter.
std::string read_range(const std::string& path, uint64_t offset, size_t size);

// Puts `bytes` in the place of the file at once: whoever reads meanwhile, and whoever comes after
// a crash, finds the old content or the new. A link stays a link; a pipe or a device is written to.
void write_file(const std::string& path, std::string_view bytes);
// Renames over what is there.
void move_file(const std::string& from, const std::string& to);
void remove_file(const std::string& path);  // nothing there: fine
void make_folders(const std::string& path);
bool is_folder(const std::string& path);
// The files that match any of the patterns ("a/*.txt"), in order, each once.
std::vector<std::string> matching_files(std::span<const std::string> patterns);
bool file_exists(const std::string& path);
std::string parent_folder(const std::string& path);  // "" if there is none
// Throws PermissionDenied unless the file, be it there or not, is below one of the folders, wherever links
// lead. A path with ".." is refused.
void check_below(const std::string& path, std::span<const std::string> folders);

// An error of the system's, as TensorFlow codes them: "path; No such file or directory".
[[noreturn]] void throw_errno(const std::string& path);

// DataLoss in this file.
Error damaged(const std::string& path, std::string_view why);

}  // namespace emplace
