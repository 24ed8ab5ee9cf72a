#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace emplace {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"trace",   "debug", "info",
                                                         "warning", "error", "off"};

constexpr int kUnread = -1;
std::atomic<int> current_level{kUnread};

// Our own logger, not one of spdlog's registry: a program that uses spdlog itself never meets it.
// Leaked on purpose, since a worker may still log while the process's statics are destroyed.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto* made = new spdlog::logger("emplace", std::move(sink));
    made->set_pattern("%Y-%m-%d %H:%M:%S.%f: %L %n] %v");
    made->set_level(spdlog::level::trace);  // log_level() has already decided
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

std::optional<LogLevel> level_named(std::string_view text) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (text == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

std::optional<LogLevel> level_of_tensorflow(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '3') return std::nullopt;
  return static_cast<LogLevel>(static_cast<int>(LogLevel::kInfo) + (text[0] - '0'));
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

LogLevel log_level_from_environment() {
  const std::string_view ours = environment("EMPLACE_LOG_LEVEL");
  if (const auto level = level_named(ours)) return *level;
  if (!ours.empty()) {
    log_message(LogLevel::kWarning, fmt::format("EMPLACE_LOG_LEVEL='{}' is none of {}", ours,
                                                "trace, debug, info, warning, error, off"));
  }
  return level_of_tensorflow(environment("TF_CPP_MIN_LOG_LEVEL")).value_or(LogLevel::kWarning);
}

LogLevel log_level() {
  int level = current_level.load(std::memory_order_relaxed);
  if (level == kUnread) {
    // Two threads may both read the environment; a level set meanwhile is kept.
    const int read = static_cast<int>(log_level_from_environment());
    if (current_level.compare_exchange_strong(level, read)) level = read;
  }
  return static_cast<LogLevel>(level);
}

void set_log_level(LogLevel level) { current_level.store(static_cast<int>(level)); }

void log_message(LogLevel level, std::string_view message) noexcept {
  try {
    logger().log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
  } catch (...) {
    // A log line that cannot be written must not break what it tells about.
  }
}

}  // namespace emplace
