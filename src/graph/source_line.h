#pragma once
#include <source_location>
#include <string>

namespace emplace {

// While one lives, every node that its thread adds bears this line: what the engine builds for a
// call of the user's is the call's. The outermost counts.
class SourceScope {
 public:
  explicit SourceScope(const std::source_location& where);
  ~SourceScope();
  SourceScope(const SourceScope&) = delete;
  SourceScope& operator=(const SourceScope&) = delete;

 private:
  const std::source_location* const outer_;
};

// "file:line" of the scope that this thread is in, else of `where`; empty if that is nowhere.
std::string source_line(const std::source_location& where);

}  // namespace emplace
