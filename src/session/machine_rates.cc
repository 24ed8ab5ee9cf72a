// Rates are measured once a machine: the process and the user's cache keep them.
#include <cstdlib>
#include <mutex>
#include <set>

#include "base/file.h"
#include "session/calibrate.h"

namespace emplace {
namespace {

constexpr char kFile[] = "/emplace/rates-1.json";  // the number: of how they are measured

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

CostBook cached() {
  const std::string path = rates_cache_path();
  if (path.empty() || !file_exists(path)) return {};
  try {
    return CostBook::load(path);
  } catch (const Error&) {  // damaged: it is written anew
    return {};
  }
}

void keep(const CostBook& rates) {
  const std::string path = rates_cache_path();
  if (path.empty()) return;
  try {
    make_folders(parent_folder(path));
    CostBook all = cached();  // others may have written meanwhile
    all.merge(rates);
    all.save(path);
  } catch (const Error&) {  // a home that can't be written: the next process measures again
  }
}

// Once a process: a device without room for it has guesses.
template <class F>
bool try_once(std::set<std::string>& tried, const std::string& what, F measure) {
  if (!tried.insert(what).second) return false;
  try {
    measure();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Of each kind the first device; of two devices of one kind the link between them. True when there
// is something new.
bool complete(const SharedParts& parts, const DeviceKinds& kinds, const KernelRegistry& kernels,
              CostBook& book) {
  static std::set<std::string> tried;  // under the caller's lock
  bool more = false;
  for (const auto& device : *parts.devices)
    if (const std::string& kind = kinds.at(device->name()); !book.rates(kind))
      more |= try_once(tried, kind, [&] {
        book.set_rates(measure_rates(parts, *device, kind, kernels));
      });
  for (const auto& a : *parts.devices)
    for (const auto& b : *parts.devices) {
      const std::string &from = kinds.at(a->name()), &to = kinds.at(b->name());
      if (a == b || book.link(from, to)) continue;
      more |= try_once(tried, from + '\n' + to, [&] {
        LinkRate link = measure_link(parts, *a, *b, kinds, kernels);
        book.set_link(link);
        std::swap(link.from, link.to);
        book.set_link(link);
      });
    }
  return more;
}

}  // namespace

std::string rates_cache_path() {
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.starts_with('/')) return cache + kFile;  // relative ones do not count
  return home.starts_with('/') ? home + "/.cache" + kFile : "";
}

CostBook machine_rates(SharedParts parts, const DeviceKinds& kinds, const KernelRegistry& kernels) {
  static std::mutex mutex;  // who comes meanwhile waits: two that measure disturb each other
  static CostBook known;
  static bool asked_cache = false;
  const std::lock_guard lock(mutex);
  if (!std::exchange(asked_cache, true)) known = cached();
  if (complete(parts, kinds, kernels, known)) keep(known);
  return known;
}

}  // namespace emplace
