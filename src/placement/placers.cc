// The placers there are, by name: a further one is a row here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/dynamic/dynamic_placer.h"
#include "placement/placer.h"
#include "placement/simple_placer.h"

namespace emplace {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<const Placer> (*make)();
};

template <typename P>
std::unique_ptr<const Placer> made() {
  return std::make_unique<const P>();
}

constexpr Row kPlacers[] = {
    {"simple", made<SimplePlacer>},
    {"dynamic", made<DynamicPlacer>},
};

}  // namespace

std::unique_ptr<const Placer> make_placer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Row& row : kPlacers) {
    if (row.name == name) return row.make();
    names.push_back(row.name);
  }
  throw invalid_argument(
      fmt::format("There is no placer '{}': known are {}", name, fmt::join(names, ", ")));
}

}  // namespace emplace
