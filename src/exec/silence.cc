#include "exec/silence.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace emplace {
namespace {

constexpr size_t kMostLines = 10;

int64_t from_environment() {
  constexpr int64_t kUsual = 30'000;
  const char* const text = std::getenv("EMPLACE_REPORT_WAITING_S");
  if (!text) return kUsual;
  const std::string_view all(text);
  double seconds = 0;
  const auto read = std::from_chars(all.data(), all.data() + all.size(), seconds);
  if (read.ec != std::errc() || read.ptr != all.data() + all.size() || !(seconds >= 0 && seconds < 1e9)) return kUsual;
  return static_cast<int64_t>(seconds * 1000);
}

}  // namespace

int64_t report_waiting_ms() {
  static const int64_t ms = from_environment();
  return ms;
}

std::string waiting_text(const std::vector<WaitingCall>& calls) {
  std::string text;
  for (size_t i = 0; i < calls.size() && i < kMostLines; ++i) {
    const WaitingCall& c = calls[i];
    text += fmt::format("\n  '{}' ({}{}{}) on {}: waits {:.1f} s", c.node, c.op, c.source.empty() ? "" : ", ",
                        c.source, c.device, c.seconds);
    if (!c.awaits.empty()) text += " for " + c.awaits;
    if (!c.from.empty()) text += " from " + c.from;
  }
  if (calls.size() > kMostLines) text += fmt::format("\n  and {} more", calls.size() - kMostLines);
  return text;
}

std::string awaited_by(const std::string& op) {
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"Enqueue", "room in a queue"},   {"Dequeue", "an element of a queue"},
      {"Barrier", "a barrier"},         {"Mutex", "a lock"},
      {"PyFunc", "a Python function"},  {"Reader", "a file name from a queue"},
      {"Accumulator", "gradients"},     {"Unstage", "a staging area"},
      {"Stage", "a staging area"},      {"Peek", "a staging area"},
      {"Iterator", "a dataset"},        {"Dataset", "a dataset"},
      {"Recv", "a value of another device"}};
  for (const auto& [part, what] : kKinds)
    if (op.find(part) != std::string::npos) return std::string(what);
  return {};
}

bool tell_waiting(const std::vector<WaitingCall>& calls) noexcept {
  try {
    if (calls.empty()) return false;
    log_warning("A step has been under way for {} s. In it wait:{}", static_cast<double>(report_waiting_ms()) / 1000,
                waiting_text(calls));
  } catch (const std::exception&) {  // what is wrong the step says
  }
  return true;
}

void Silence::tell(const std::vector<WaitingCall>& calls) noexcept {
  told_ = tell_waiting(calls);
  end();
}

std::chrono::nanoseconds Silence::left() const {
  if (told_ || report_waiting_ms() == 0) return {};
  const auto left = since_ + std::chrono::milliseconds(report_waiting_ms()) - Clock::now();
  return std::max<std::chrono::nanoseconds>(left, std::chrono::nanoseconds(1));
}

}  // namespace emplace
