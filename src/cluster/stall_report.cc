#include "cluster/stall_report.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/log.h"

namespace emplace::cluster {
namespace {

constexpr size_t kMostLines = 10;

}  // namespace

int64_t report_waiting_ms() {
  constexpr int64_t kUsual = 30'000;
  const char* const text = std::getenv("EMPLACE_REPORT_WAITING_S");
  if (!text) return kUsual;
  const std::string_view all(text);
  double seconds = 0;
  const auto read = std::from_chars(all.data(), all.data() + all.size(), seconds);
  if (read.ec != std::errc() || read.ptr != all.data() + all.size() || !(seconds >= 0 && seconds < 1e9)) return kUsual;
  return static_cast<int64_t>(seconds * 1000);
}

std::string waiting_text(const std::vector<WaitingCall>& calls) {
  std::string text;
  for (size_t i = 0; i < calls.size() && i < kMostLines; ++i) {
    const WaitingCall& c = calls[i];
    text += fmt::format("\n  '{}' ({}{}{}) on {}: waits {:.1f} s", c.node, c.op, c.source.empty() ? "" : ", ",
                        c.source, c.device, c.seconds);
    if (!c.awaits.empty()) text += fmt::format(" for {} from {}", c.awaits, c.from);
  }
  if (calls.size() > kMostLines) text += fmt::format("\n  and {} more", calls.size() - kMostLines);
  return text;
}

void StallReport::tell() noexcept {
  try {
    const std::vector<WaitingCall> calls = waiting_();
    if (calls.empty()) return;  // somebody is at work
    log_warning("A step has been under way for {} s. In it wait:{}", static_cast<double>(report_waiting_ms()) / 1000,
                waiting_text(calls));
  } catch (const std::exception&) {  // what is wrong the step says
  }
}

}  // namespace emplace::cluster
