#include "graph/source_line.h"

#include <charconv>
#include <cstring>

namespace emplace {
namespace {

thread_local const std::source_location* tls_outermost = nullptr;

}  // namespace

SourceScope::SourceScope(const std::source_location& where) : outer_(tls_outermost) {
  if (outer_ == nullptr) tls_outermost = &where;
}

SourceScope::~SourceScope() { tls_outermost = outer_; }

std::string source_line(const std::source_location& where) {
  const std::source_location& at = tls_outermost != nullptr ? *tls_outermost : where;
  std::string line;
  if (at.line() == 0) return line;
  char number[12] = {':'};
  const char* end = std::to_chars(number + 1, number + sizeof number, at.line()).ptr;
  const auto digits = static_cast<size_t>(end - number);
  const size_t file = std::strlen(at.file_name());
  line.reserve(file + digits);  // every node has one: one allocation
  line.append(at.file_name(), file).append(number, digits);
  return line;
}

}  // namespace emplace
