// A step that can't fit is refused before anything of it runs: only where that is certain.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/byte_size.h"
#include "exec/prune.h"
#include "placement/dynamic/cost_graph.h"
#include "session/session_impl.h"

namespace emplace {
namespace {

constexpr size_t kNamed = 3;  // variables that the error names
constexpr double kTight = 0.9;  // of a device's memory: some is lost between tensors

// Variables that surely take memory of a card: of floating numbers, of a size that is known. Those
// of one name are one.
class Variables {
 public:
  Variables(std::span<Node* const> step, const Session::Impl& session) {
    std::unordered_set<std::string> names;
    for (Node* n : step) {
      const bool handle = n->type() == "VarHandleOp" && n->handle(0);
      if (!handle && n->type() != "VariableV2" && n->type() != "Variable") continue;
      const DType type = handle ? n->handle(0)->dtype : n->output_type(0);
      if (type != DType::kFloat && type != DType::kDouble && type != DType::kHalf) continue;
      const Shape& shape = handle ? n->handle(0)->shape : n->output_shape(0);
      const AttrValue* shared = n->attr("shared_name");
      const bool has_name = shared && !shared->as<std::string>().empty();
      const std::string& name = has_name ? shared->as<std::string>() : n->name();
      if (shape.is_fully_known() && names.insert(name).second)
        all_.push_back({n, session.device_of(*n), placement::kept_bytes(*n)});
    }
    std::ranges::stable_sort(all_, std::greater<>(), &Kept::bytes);
  }

  double bytes(const Device* device) const {
    double sum = 0;
    for (const Kept& k : all_) sum += k.device == device ? k.bytes : 0;
    return sum;
  }
  const Node* largest(const Device* device) const {
    return std::ranges::find(all_, device, &Kept::device)->node;
  }
  std::string named(const Device* device) const {
    std::string out;
    size_t count = 0;
    for (const Kept& k : all_)
      if (k.device == device && ++count <= kNamed)
        out += fmt::format("{}{} ({})", count > 1 ? ", " : "", k.node->name(), byte_size_text(k.bytes));
    return count > kNamed ? out + fmt::format(" and {} more", count - kNamed) : out;
  }

 private:
  struct Kept {
    const Node* node;
    const Device* device;
    double bytes;
  };
  std::vector<Kept> all_;
};

// What would hold it.
std::string way_out(double needed, const Device& device,
                    const std::vector<std::shared_ptr<Device>>& devices, bool dynamic) {
  double room = 0;
  int alike = 0;
  for (const auto& d : devices)
    if (d->type() == device.type()) room += double(d->memory_limit()), ++alike;
  if (!dynamic && alike > 1 && needed <= room)
    return fmt::format("; the {} devices of type {} have {}: placer 'dynamic' spreads over them",
                       alike, device.type(), byte_size_text(room));
  return fmt::format("; a device of {} would hold it", byte_size_text(needed));
}

void refuse_without_room(const Variables& variables, const Device& device, double computed,
                         const Session::Impl& session) {
  const double kept = variables.bytes(&device);
  if (kept == 0 || kept + computed <= double(device.memory_limit())) return;
  const Node& largest = *variables.largest(&device);
  throw resource_exhausted(
      fmt::format("{} can't hold this step: it has {}, and needs {} for variables, {} for what "
                  "is computed. Largest: {}{}",
                  device.name(), byte_size_text(double(device.memory_limit())),
                  byte_size_text(kept), byte_size_text(computed), variables.named(&device),
                  way_out(kept + computed, device, *session.devices, session.weighs)))
      .at_node(largest.name(), largest.type())
      .on_device(device.name())
      .from_source(largest.source());
}

}  // namespace

// A step is made anew, to be computed in turns, where it would fill a device with variables; what
// has no room even so is refused.
std::shared_ptr<Program> Session::Impl::program_that_fits(
    const Signature& signature,
    const std::function<std::shared_ptr<Program>(bool in_turns)>& make) {
  std::shared_ptr<Program> program = make(false);
  const auto limited = [](const auto& d) { return d->type() != "CPU"; };
  if (std::ranges::none_of(*devices, limited)) return program;
  std::vector<Node*> roots = signature.targets;
  for (const Output& o : signature.fetches) roots.push_back(o.node);
  FeedIndex fed;
  for (const Output& o : signature.feeds) fed.emplace(o, 0);
  const Variables variables(needed_nodes(roots, fed), *this);
  const auto computed = [&](const Device& device) {
    for (size_t s = 0; s < program->devices.size(); ++s)
      if (program->devices[s] == &device) return double(program->arena_bytes[s + 1]);
    return 0.0;
  };
  const bool tight = std::ranges::any_of(*devices, [&](const auto& d) {
    const double kept = limited(d) ? variables.bytes(d.get()) : 0;
    return kept > 0 && kept + computed(*d) > kTight * double(d->memory_limit());
  });
  if (tight) program = make(true);
  for (const auto& device : *devices)
    if (limited(device)) refuse_without_room(variables, *device, computed(*device), *this);
  return program;
}
}  // namespace emplace
