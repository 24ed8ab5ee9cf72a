#include "common.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace emplace::cli {
namespace {

// What the system says went wrong last, in the words of the engine's own files.
Error file_error(const std::string& path) {
  const int error = errno;
  const auto code = [&] {
    switch (error) {
      case ENOENT: return Code::kNotFound;
      case EACCES:
      case EPERM:
      case EROFS: return Code::kPermissionDenied;
      case EISDIR:
      case ENOTDIR: return Code::kFailedPrecondition;
      case ENOSPC: return Code::kResourceExhausted;
      default: return Code::kUnknown;
    }
  };
  return Error(code(), path + "; " + (error ? std::strerror(error) : "can't be read or written"));
}

}  // namespace

CLI::App* subcommand(CLI::App& app, Context& context, const std::string& name,
                     const std::string& what) {
  CLI::App* sub = app.add_subcommand(name, what);
  sub->add_flag("--json", context.json, "Print JSON on stdout instead of text");
  return sub;
}

std::string read_text(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) throw file_error(path);
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw file_error(path);
}

SessionOptions options_from(const std::string& config_file) {
  if (config_file.empty()) return {};
  try {
    return session_options(read_text(config_file));
  } catch (const Error& e) {
    if (e.code() != Code::kInvalidArgument) throw;
    throw invalid_argument(config_file + ": " + e.message());
  }
}

void print(const Json& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (width.size() <= i) width.push_back(0);
      width[i] = std::max(width[i], row[i].size());
    }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], width[i]) : row[i];
    std::cout << line << '\n';
  }
}

std::string size_text(double bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

Json error_json(const Error& e) {
  return {{"code", code_name(e.code())}, {"message", e.message()}, {"node", e.node()},
          {"op", e.op()},                {"device", e.device()},   {"source", e.source()}};
}

std::string error_text(const Error& e) {
  std::string text = e.what();
  if (!e.node().empty()) text += fmt::format("\n  node: {} ({})", e.node(), e.op());
  if (!e.device().empty()) text += fmt::format("\n  device: {}", e.device());
  if (!e.source().empty()) text += fmt::format("\n  defined at: {}", e.source());
  return text;
}

}  // namespace emplace::cli
