// Areas where tensors are laid down for later: in order, or by key.
#include "kernel/staging_kernels.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>

#include "kernel/keep.h"
#include "kernel/shared_resource.h"
#include "kernel/waiting_room.h"

namespace emplace {
namespace {

using Parts = std::vector<std::optional<Tensor>>;

size_t bytes_of(const Parts& parts) {
  size_t sum = 0;
  for (const auto& p : parts) sum += p ? p->bytes() : 0;
  return sum;
}

// What lies there, and how much may. Guarded by the room's turn.
class Area : public Resource {
 public:
  Area(int64_t capacity, int64_t memory_limit) : capacity_(capacity), limit_(memory_limit) {}
  std::string debug_string() const override { return "Staging area"; }

  const std::shared_ptr<WaitingRoom> room = std::make_shared<WaitingRoom>();
  std::deque<Parts> row;            // in order
  std::map<int64_t, Parts> by_key;  // complete ones
  std::map<int64_t, Parts> begun;   // of which parts are missing
  size_t bytes = 0;

  bool has_room(size_t more) const {
    const auto count = static_cast<int64_t>(row.size() + by_key.size());
    if (capacity_ > 0 && count >= capacity_) return false;
    return limit_ <= 0 || bytes == 0 || bytes + more <= static_cast<size_t>(limit_);
  }
  void check_size(size_t more) const {
    if (limit_ > 0 && more > static_cast<size_t>(limit_))
      throw resource_exhausted(fmt::format(
          "Attempted to insert tensors with combined size of '{}' bytes into Staging Area with a "
          "memory limit of '{}'.",
          more, limit_));
  }
  void clear() {
    row.clear();
    by_key.clear();
    begun.clear();
    bytes = 0;
  }

 private:
  const int64_t capacity_, limit_;
};

struct Setup {
  std::shared_ptr<Area> area;
  std::vector<DType> types;
};

Setup setup_of(const KernelInit& init) {
  const int64_t capacity = init.attr<int64_t>("capacity"),
                limit = init.attr<int64_t>("memory_limit");
  return {init.resources->find_or_create_as<Area>(
              init.attr<std::string>("container"), shared_name(init),
              [&] { return std::make_shared<Area>(capacity, limit); }),
          init.attr<std::vector<DType>>("dtypes")};
}

// A kernel made of its setup: `void F(const Setup&, KernelContext&)`.
template <void (*F)(const Setup&, KernelContext&)>
Prepared make(const KernelInit& init) {
  struct Kernel : Setup {
    void operator()(KernelContext& c) const { F(*this, c); }
  };
  return prepared(Kernel{setup_of(init)});
}

void put_part(KernelContext& c, int output, const std::optional<Tensor>& part) {
  if (!part) throw invalid_argument("a tensor that was taken already can't be taken again");
  if (c.output_type(output) != part->dtype())
    throw invalid_argument(fmt::format("a tensor of {} lies there, not of {}",
                                       dtype_name(part->dtype()),
                                       dtype_name(c.output_type(output))));
  if (is_plain(part->dtype())) put(c, c.output(output, part->shape()), 0, *part);
  else c.set_output(output, part->copy());
}

// ---- In order.

void stage(const Setup& s, KernelContext& c) {
  Parts parts;
  for (int i = 0; i < c.num_inputs(); ++i) parts.emplace_back(keep(c, c.input(i)));
  s.area->check_size(bytes_of(parts));
  s.area->room->run(c, [area = s.area, parts = std::move(parts)](KernelContext&) mutable {
    if (!area->has_room(bytes_of(parts))) return false;
    area->bytes += bytes_of(parts);
    area->row.push_back(std::move(parts));
    return true;
  });
}

void put_all(KernelContext& c, const Parts& parts) {
  if (static_cast<int>(parts.size()) != c.num_outputs())
    throw invalid_argument(fmt::format("Mismatch stage/unstage: {} vs. {}", parts.size(),
                                       c.num_outputs()));
  for (size_t i = 0; i < parts.size(); ++i) put_part(c, static_cast<int>(i), parts[i]);
}

void unstage(const Setup& s, KernelContext& c) {
  s.area->room->run(c, [area = s.area](KernelContext& c) {
    if (area->row.empty()) return false;
    put_all(c, area->row.front());
    area->bytes -= bytes_of(area->row.front());
    area->row.pop_front();
    return true;
  });
}

void peek(const Setup& s, KernelContext& c) {
  if (c.input(0).num_elements() != 1) throw invalid_argument("index must be scalar");
  const int32_t index = *c.input(0).data<int32_t>();
  if (index < 0) throw invalid_argument(fmt::format("index must not be negative, got {}", index));
  s.area->room->run(c, [area = s.area, index](KernelContext& c) {
    if (area->row.size() <= static_cast<size_t>(index)) return false;
    put_all(c, area->row[static_cast<size_t>(index)]);
    return true;
  });
}

// ---- By key.

int64_t key_of(const Tensor& t) {
  if (t.num_elements() != 1) throw invalid_argument("key must be an int64 scalar");
  return *t.data<int64_t>();
}
std::vector<size_t> places(const Setup& s, const Tensor& t, int wanted) {
  if (t.rank() != 1 || t.num_elements() != wanted)
    throw invalid_argument(fmt::format("indices must be a vector of {}, not {}", wanted,
                                       t.shape().str()));
  std::vector<size_t> found;
  for (int32_t i : t.values<int32_t>()) {
    if (i < 0 || static_cast<size_t>(i) >= s.types.size())
      throw invalid_argument(fmt::format("Index '{}' is out of bounds '{}'.", i, s.types.size()));
    found.push_back(static_cast<size_t>(i));
  }
  return found;
}

void check_free(const Area& area, int64_t key, const std::vector<size_t>& where) {
  if (area.by_key.contains(key))
    throw invalid_argument(fmt::format("The tensor for key '{}' was already inserted.", key));
  const auto it = area.begun.find(key);
  if (it == area.begun.end()) return;
  for (size_t i : where)
    if (it->second[i])
      throw invalid_argument(
          fmt::format("The tensor for index '{}' for key '{}' was already initialized.", i, key));
}

void map_stage(const Setup& s, KernelContext& c) {
  const int64_t key = key_of(c.input(0));
  const auto where = places(s, c.input(1), c.num_inputs() - 2);
  Parts parts(s.types.size());
  for (size_t i = 0; i < where.size(); ++i) {
    const Tensor& t = c.input(static_cast<int>(i) + 2);
    if (t.dtype() != s.types[where[i]])
      throw invalid_argument(fmt::format("Index '{}' is of {}, not of {}", where[i],
                                         dtype_name(s.types[where[i]]), dtype_name(t.dtype())));
    parts[where[i]] = keep(c, t);
  }
  const size_t bytes = bytes_of(parts);
  s.area->check_size(bytes);
  s.area->room->run(c, [=, area = s.area, parts = std::move(parts)](KernelContext&) mutable {
    check_free(*area, key, where);
    if (!area->has_room(bytes)) return false;
    Parts& all = area->begun[key];
    all.resize(parts.size());
    bool complete = true;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i]) all[i] = std::move(parts[i]);
      complete = complete && all[i];
    }
    area->bytes += bytes;
    if (complete) {
      area->by_key[key] = std::move(all);
      area->begun.erase(key);
    }
    return true;
  });
}

// Gives the parts at `where` to the outputs from `first` on.
void give(KernelContext& c, int first, Area& area, std::map<int64_t, Parts>::iterator it,
          const std::vector<size_t>& where, bool take) {
  for (size_t i = 0; i < where.size(); ++i)
    put_part(c, first + static_cast<int>(i), it->second[where[i]]);
  if (!take) return;
  bool left = false;
  for (size_t i : where) {
    area.bytes -= it->second[i]->bytes();
    it->second[i].reset();
  }
  for (const auto& part : it->second) left = left || part;
  if (!left) area.by_key.erase(it);
}

template <bool kTake>
void map_get(const Setup& s, KernelContext& c) {
  const int64_t key = key_of(c.input(0));
  s.area->room->run(c, [=, area = s.area,
                        where = places(s, c.input(1), c.num_outputs())](KernelContext& c) {
    const auto it = area->by_key.find(key);
    if (it == area->by_key.end()) return false;
    give(c, 0, *area, it, where, kTake);
    return true;
  });
}

void map_take_any(const Setup& s, KernelContext& c) {
  s.area->room->run(c, [area = s.area,
                        where = places(s, c.input(0), c.num_outputs() - 1)](KernelContext& c) {
    if (area->by_key.empty()) return false;
    const auto it = area->by_key.begin();
    *c.output(0, Shape{}).data<int64_t>() = it->first;
    give(c, 1, *area, it, where, true);
    return true;
  });
}

// ---- Both.

template <bool kBegun>
void count(const Setup& s, KernelContext& c) {
  size_t n = 0;
  s.area->room->change([&] {
    n = kBegun ? s.area->begun.size() : s.area->row.size() + s.area->by_key.size();
  });
  *c.output(0, Shape{}).data<int32_t>() = static_cast<int32_t>(n);
}

void clear(const Setup& s, KernelContext&) {
  s.area->room->change([&] { s.area->clear(); });
}

}  // namespace

std::vector<KernelRow> staging_kernels(std::string_view device_type) {
  std::vector<KernelRow> rows;
  const auto add = [&](std::string op, KernelFactory factory, bool blocks) {
    rows.push_back({std::move(op), std::string(device_type), {}, {}, factory, {.blocks = blocks}, 0,
                    ""});
  };
  add("Stage", make<stage>, true);
  add("Unstage", make<unstage>, true);
  add("StagePeek", make<peek>, true);
  add("StageSize", make<count<false>>, false);
  add("StageClear", make<clear>, false);
  for (const std::string kind : {"Map", "OrderedMap"}) {
    add(kind + "Stage", make<map_stage>, true);
    add(kind + "Unstage", make<map_get<true>>, true);
    add(kind + "Peek", make<map_get<false>>, true);
    add(kind + "UnstageNoKey", make<map_take_any>, true);
    add(kind + "Size", make<count<false>>, false);
    add(kind + "IncompleteSize", make<count<true>>, false);
    add(kind + "Clear", make<clear>, false);
  }
  return rows;
}

}  // namespace emplace
