// Opens what speaks gRPC, when first asked for.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>

#include "all/beside.h"
#include "cluster/foreign.h"
#include "emplace/error.h"

namespace emplace::cluster {
namespace {

#ifndef EMPLACE_BUILD_ID
#define EMPLACE_BUILD_ID "without parts"
#endif

struct Opened {
  const ForeignLibrary* library = nullptr;
  std::string problem;
};

Opened open_library() {
  Opened o;
  void* const library =
      open_beside("libemplace_cluster.so", "EMPLACE_CLUSTER_LIBRARY", o.problem);
  if (!library) return o;
  using Entry = const ForeignLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kForeignEntry));
  if (!entry || std::strcmp(entry()->build, EMPLACE_BUILD_ID) != 0)
    o.problem = "libemplace_cluster.so is of another build";
  else
    o.library = entry();
  return o;
}

}  // namespace

const ForeignLibrary& foreign_library(std::string_view need) {
  static const Opened* const opened = new Opened(open_library());
  if (opened->library) return *opened->library;
  throw unimplemented(
      fmt::format("{}, which this build of Emplace lacks: {}", need, opened->problem));
}

}  // namespace emplace::cluster
