#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace emplace {

// Diagnostics for people, on stderr. Nothing that belongs to a result is ever logged, and a run
// that succeeds logs nothing: only warnings and errors are let through unless EMPLACE_LOG_LEVEL
// (trace, debug, info, warning, error, off) or, failing that, TF_CPP_MIN_LOG_LEVEL (0 info,
// 1 warning, 2 error, 3 off) says otherwise. Any thread may log.
enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

// The level in force; read from the environment by the first call.
LogLevel log_level();
void set_log_level(LogLevel level);
// What the environment asks for, read anew.
LogLevel log_level_from_environment();

inline bool log_enabled(LogLevel level) { return level >= log_level(); }

// Writes one line. Never throws.
void log_message(LogLevel level, std::string_view message) noexcept;

// Formats only what will be written.
template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::kInfo, format, std::forward<Args>(args)...);
}

template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::kWarning, format, std::forward<Args>(args)...);
}

template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::kError, format, std::forward<Args>(args)...);
}

}  // namespace emplace
