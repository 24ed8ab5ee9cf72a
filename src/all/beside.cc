#include "all/beside.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace emplace {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> candidates(const std::string& name, const char* variable) {
  if (const char* path = std::getenv(variable); path && *path) return {path};
  std::vector<std::string> paths;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&open_beside), &here) && here.dli_fname) {
    std::error_code ignored;
    fs::path folder = fs::absolute(here.dli_fname, ignored).parent_path();
    for (int up = 0; up < 3 && !folder.empty(); ++up, folder = folder.parent_path())
      if (const fs::path path = folder / name; fs::exists(path, ignored))
        paths.push_back(path.string());
  }
  paths.push_back(name);
  return paths;
}

}  // namespace

void* open_beside(const std::string& name, const char* variable, std::string& problem) {
  for (const std::string& path : candidates(name, variable)) {
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (problem.empty()) problem = dlerror();
  }
  return nullptr;
}

}  // namespace emplace
