// Contracts as text: one a line.
#include <fmt/format.h>

#include <charconv>

#include "base/byte_size.h"
#include "emplace/contract.h"
#include "emplace/error.h"
#include "placement/contract/check_contract.h"

namespace emplace {
namespace {

constexpr std::string_view kSpace = " \t\r";

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kSpace));
  line.remove_prefix(word.size());
  return word;
}

int64_t count(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    throw invalid_argument(fmt::format("'{}' is no number of copies", text));
  return value;
}

void read_demand(std::string_view word, Contract& c) {
  const size_t at = word.find('=');
  const std::string_view key = word.substr(0, at);
  const std::string_view value = at == word.npos ? "" : word.substr(at + 1);
  if (key == "ops" && !value.empty()) c.ops = value;
  else if (key == "max_copies") c.max_copies = count(value);
  else if (key == "max_copied_bytes") c.max_copied_bytes = byte_size(value);
  else if (key == "max_peak") c.max_peak = byte_size(value);
  else
    throw invalid_argument(fmt::format(
        "'{}' is none of ops=, max_copies=, max_copied_bytes=, max_peak= with a value", word));
}

Contract read_contract(std::string_view line) {
  Contract c;
  std::string_view word = next_word(line);
  if (word.find('=') == word.npos) {
    c.device = word;
    word = next_word(line);
  }
  for (; !word.empty(); word = next_word(line)) read_demand(word, c);
  check_contract(c);
  return c;
}

}  // namespace

int64_t byte_size(std::string_view text) {
  if (const auto bytes = parse_byte_size(text)) return *bytes;
  throw invalid_argument(fmt::format("'{}' is no size: 64MiB, 1.5GB, 4096 are", text));
}

std::vector<Contract> read_contracts(std::string_view text, std::string_view name) {
  std::vector<Contract> out;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kSpace) == line.npos) continue;
    const std::string source = fmt::format("{}:{}", name, number);
    try {
      out.push_back(read_contract(line));
      out.back().source = source;
    } catch (const Error& e) {
      throw invalid_argument(fmt::format("{}: {}", source, e.message()));
    }
  }
  return out;
}

}  // namespace emplace
