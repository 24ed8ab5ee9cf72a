#include "exec/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string_view>
#include <unordered_map>

namespace emplace {
namespace {

constexpr int64_t kAlign = 64;
constexpr int kCandidates = 8;  // free blocks looked at before new memory is taken
constexpr size_t kUsersAhead = 80;  // most users of a value are nearer
constexpr int64_t kLarge = 1 << 20;   // bytes from which blocks are packed when all are known …
constexpr size_t kMostPacked = 2048;  // … the largest ones, since each is compared with each
// Its last output has no shape before it runs, as in TensorFlow, but is never an input's memory.
constexpr std::string_view kGivesItsOwn = "FusedBatchNormV3";

struct Block {
  int64_t offset = 0, bytes = 0;
  Space space = kHostSpace;
  int open_users = 0;       // steps that still have to take what is in it
  size_t first_user = 0;    // in Planner::block_users_: those of the present tenant, who must all
  size_t num_users = 0;     // be done before the next comes
  int maker = -1;           // of a large one: the step it is first needed by
  bool is_free = false;     // … and whether its users are known to be all
};

int size_class(int64_t bytes) { return std::bit_width(static_cast<uint64_t>(bytes / kAlign)); }

class Planner {
 public:
  Planner(const StepGraph& g, const Order& order, const Users& users)
      : g_(g), order_(order), users_(users), block_of_(users.num_slots(), -1) {
    plan_.offset.assign(users.num_slots(), MemoryPlan::kNone);
    plan_.arena_bytes.assign(g.devices.size() + 1, 0);
    plan_.largest_slot.assign(g.devices.size() + 1, -1);
    plan_.elided.assign(g.steps.size(), false);
    free_.resize(g.devices.size() + 1);
    largest_.assign(g.devices.size() + 1, -1);
    large_.assign(g.devices.size() + 1, 0);
    packed_from_ = least_packed();
  }

  MemoryPlan run() {
    for (size_t i = 0; i < g_.steps.size(); ++i) {
      look_ahead(g_, i, kUsersAhead);
      const Step& step = g_.steps[i];
      if (step.kind == StepKind::kMerge)
        merge(static_cast<int>(i));
      else if (step.kind == StepKind::kKernel && step.row && step.row->traits.forwards)
        forward(static_cast<int>(i));
      else if ((step.kind == StepKind::kKernel && step.row && !is_read(step)) ||
               step.kind == StepKind::kCopy || step.snapshot)
        for (size_t o = 0; o < step.outputs.size() && o < 32; ++o)
          place(static_cast<int>(i), static_cast<int>(o));
      done_with_inputs(static_cast<int>(i));
    }
    pack();
    for (size_t s = 0; s < block_of_.size(); ++s)
      if (block_of_[s] >= 0) plan_.offset[s] = blocks_[block_of_[s]].offset;
    return std::move(plan_);
  }

 private:
  // Reads share the variable's memory, but for snapshots.
  static bool is_read(const Step& s) { return s.row->op == "ReadVariableOp"; }

  bool static_plain(const StepOutput& o) const {
    return is_plain(o.dtype) && !o.is_ref && o.shape.is_fully_known();
  }

  // Users of a slot's memory, through everything that forwards it later.
  void collect_users(int slot, int64_t bytes, Block& b) {
    std::vector<int>& slots = sharing_;
    slots.assign(1, slot);
    b.first_user = block_users_.size();
    b.open_users = 0;
    for (size_t k = 0; k < slots.size(); ++k) {
      if (users_.fetched(slots[k])) ++b.open_users;  // never free: it is read after the step
      for (int u : users_.of(slots[k])) {
        block_users_.push_back(u);
        ++b.open_users;
        const Step& s = g_.steps[u];
        if (may_hand_on(b.space, bytes, u)) ++b.open_users;  // never free: somebody may hold it
        if (s.kind == StepKind::kKernel && s.row && s.row->traits.forwards &&
            users_.slot(s.inputs[0]) == slots[k] && static_plain(s.outputs[0]))
          slots.push_back(users_.slot({u, 0}));
        else if (s.kind == StepKind::kMerge)
          slots.push_back(users_.slot({u, 0}));
      }
    }
    b.num_users = block_users_.size() - b.first_user;
  }

  std::span<const int> users_of(const Block& b) const {
    return std::span(block_users_).subspan(b.first_user, b.num_users);
  }

  // A kernel may give an output that has no place its input's memory (IdentityN, a Reshape to a
  // shape found by running): all of it, so nothing of another size is meant.
  bool may_hand_on(Space space, int64_t bytes, int step) const {
    const Step& s = g_.steps[step];
    if (s.kind == StepKind::kLoop) return true;  // after no round its results are what it was given
    if (s.kind != StepKind::kKernel || !s.row) return false;
    if (s.node->type() == kGivesItsOwn) return false;
    for (size_t o = 0; o < s.outputs.size(); ++o) {
      const StepOutput& out = s.outputs[o];
      if (!is_plain(out.dtype) || out.space != space) continue;
      if (!out.shape.is_fully_known()) return true;
      const bool placed = o < 32 && !users_.fetched(users_.slot({step, static_cast<int>(o)}));
      if (!placed && bytes_of(out.shape, out.dtype) == bytes) return true;
    }
    return false;
  }

  // A merge's output is one of its inputs' memory: it keeps all of them.
  void merge(int step) {
    std::vector<int>& mine = merged_[users_.slot({step, 0})];
    for (Port p : g_.steps[step].inputs) {
      const int slot = users_.slot(p);
      if (block_of_[slot] >= 0) mine.push_back(block_of_[slot]);
      else if (auto it = merged_.find(slot); it != merged_.end())
        mine.insert(mine.end(), it->second.begin(), it->second.end());
    }
  }

  void forward(int step) {
    const Step& s = g_.steps[step];
    if (s.inputs.empty() || s.outputs.empty() || !static_plain(s.outputs[0])) return;
    if (auto it = merged_.find(users_.slot(s.inputs[0])); it != merged_.end()) {
      auto blocks = it->second;
      merged_[users_.slot({step, 0})] = std::move(blocks);
      return;
    }
    const int from = block_of_[users_.slot(s.inputs[0])];
    if (from < 0 || g_.out(s.inputs[0]).space != s.outputs[0].space) return;
    block_of_[users_.slot({step, 0})] = from;
    plan_.elided[step] = true;
  }

  void place(int step, int output) {
    const StepOutput& o = g_.steps[step].outputs[output];
    const int slot = users_.slot({step, output});
    const int64_t bytes = static_plain(o) ? bytes_of(o.shape, o.dtype) : 0;
    if (bytes == 0 || users_.fetched(slot)) return;
    if (bytes >= kNoRoom - plan_.arena_bytes[o.space] - large_[o.space] - kAlign) refuse(step, o);
    int b = in_place(step, output);
    if (b < 0 && bytes >= packed_from_) b = take_large(step, o.space, bytes);
    if (b < 0) b = take_free(step, o.space, bytes);
    if (b < 0) b = take_new(o.space, bytes);
    block_of_[slot] = b;
    Block& block = blocks_[b];
    collect_users(slot, bytes, block);
    if (block.num_users == 0 && block.open_users == 0) release(b, step);
    if (bytes > largest_[o.space]) largest_[o.space] = bytes, plan_.largest_slot[o.space] = slot;
  }

  [[noreturn]] void refuse(int step, const StepOutput& o) const {
    const Step& s = g_.steps[step];
    throw resource_exhausted(fmt::format("OOM when allocating tensor with shape{} and type {} on {}",
                                         o.shape.str(), dtype_proto_name(o.dtype),
                                         s.device->name()))
        .at_node(*s.name, s.node->type())
        .on_device(s.device->name())
        .from_source(*s.source);
  }

  // The memory of an input that dies here, when the kernel may write over it.
  int in_place(int step, int output) {
    const Step& s = g_.steps[step];
    if (output != 0 || s.kind != StepKind::kKernel || !s.row->traits.in_place) return -1;
    const StepOutput& out = s.outputs[0];
    for (Port p : s.inputs) {
      const StepOutput& in = g_.out(p);
      const int b = block_of_[users_.slot(p)];
      if (b < 0 || in.dtype != out.dtype || in.space != out.space || !(in.shape == out.shape))
        continue;
      if (only_user(b, step) && !shared_by_other_input(s, p, b)) return b;
    }
    return -1;
  }

  bool only_user(int b, int step) const {
    int mine = 0;
    for (int u : users_of(blocks_[b])) {
      if (u == step) ++mine;
      else if (!order_.before(u, step)) return false;
    }
    return mine == blocks_[b].open_users;
  }

  // x + reshape(x): both lie in one block; the kernel reads them element by element, so that is
  // fine only if they are the very same slot.
  bool shared_by_other_input(const Step& s, Port p, int b) const {
    for (Port q : s.inputs)
      if (!(q == p) && block_of_[users_.slot(q)] == b) return true;
    return false;
  }

  int take_free(int step, Space space, int64_t bytes) {
    auto& classes = free_[space];
    const int c = size_class(bytes);
    for (int k = c; k <= c + 1 && k < static_cast<int>(classes.size()); ++k) {
      auto& list = classes[k];
      const size_t stop = list.size() > kCandidates ? list.size() - kCandidates : 0;
      for (size_t i = list.size(); i > stop; --i) {
        const int b = list[i - 1];
        if (blocks_[b].bytes < bytes || !vacant(b, step)) continue;
        list.erase(list.begin() + static_cast<int64_t>(i) - 1);
        return b;
      }
    }
    return -1;
  }

  bool vacant(int b, int step) const {
    for (int u : users_of(blocks_[b]))
      if (!order_.before(u, step)) return false;
    return true;
  }

  int take_new(Space space, int64_t bytes) {
    Block b;
    b.space = space;
    b.bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    b.offset = plan_.arena_bytes[space];
    plan_.arena_bytes[space] += b.bytes;
    blocks_.push_back(std::move(b));
    return static_cast<int>(blocks_.size()) - 1;
  }

  // Gets its place when all blocks are known.
  int take_large(int step, Space space, int64_t bytes) {
    Block b;
    b.space = space;
    b.bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    b.maker = step;
    large_[space] += b.bytes;
    blocks_.push_back(std::move(b));
    return static_cast<int>(blocks_.size()) - 1;
  }

  int64_t least_packed() const {
    std::vector<int64_t> sizes;
    for (const Step& s : g_.steps)
      for (const StepOutput& o : s.outputs)
        if (static_plain(o) && bytes_of(o.shape, o.dtype) >= kLarge)
          sizes.push_back(bytes_of(o.shape, o.dtype));
    if (sizes.size() <= kMostPacked) return kLarge;
    std::ranges::nth_element(sizes, sizes.begin() + kMostPacked, std::greater());
    return sizes[kMostPacked] + 1;
  }

  // Large blocks, the largest first, each as low as those allow that may be in use when it is.
  void pack() {
    std::vector<std::vector<int>> by_space(large_.size());
    for (size_t b = 0; b < blocks_.size(); ++b)
      if (blocks_[b].maker >= 0) by_space[blocks_[b].space].push_back(static_cast<int>(b));
    for (size_t space = 0; space < by_space.size(); ++space) {
      auto& all = by_space[space];
      std::ranges::stable_sort(all, std::greater(), [&](int b) { return blocks_[b].bytes; });
      const int64_t base = plan_.arena_bytes[space];
      std::vector<int> placed;  // by offset
      for (const int b : all) {
        Block& block = blocks_[b];
        block.offset = base;
        for (const int other : placed) {
          const Block& in_the_way = blocks_[other];
          if (in_the_way.offset >= block.offset + block.bytes) break;
          if (in_the_way.offset + in_the_way.bytes > block.offset && meet(b, other))
            block.offset = in_the_way.offset + in_the_way.bytes;
        }
        placed.insert(std::ranges::upper_bound(placed, block.offset, {},
                                               [&](int p) { return blocks_[p].offset; }),
                      b);
        plan_.arena_bytes[space] = std::max(plan_.arena_bytes[space], block.offset + block.bytes);
      }
    }
  }

  // Whether two blocks may be in use at the same time.
  bool meet(int a, int b) const {
    return !(blocks_[a].is_free && vacant(a, blocks_[b].maker)) &&
           !(blocks_[b].is_free && vacant(b, blocks_[a].maker));
  }

  void release(int b, int last_user) {
    if (blocks_[b].num_users == 0) {
      blocks_[b].first_user = block_users_.size();
      blocks_[b].num_users = 1;
      block_users_.push_back(last_user);
    }
    blocks_[b].is_free = true;
    if (blocks_[b].maker >= 0) return;
    free_[blocks_[b].space][size_class(blocks_[b].bytes)].push_back(b);
  }

  void done_with_inputs(int step) {
    for (Port p : g_.steps[step].inputs) {
      const int b = block_of_[users_.slot(p)];
      if (auto it = merged_.find(users_.slot(p)); it != merged_.end())
        for (int m : it->second)
          if (--blocks_[m].open_users == 0) release(m, step);
      // A block written over in place has this step's output in it now.
      if (b < 0 || taken_over(step, b)) continue;
      if (--blocks_[b].open_users == 0) release(b, step);
    }
  }

  bool taken_over(int step, int b) const {
    const Step& s = g_.steps[step];
    if (s.kind == StepKind::kKernel && s.row && s.row->traits.forwards) return false;
    for (size_t o = 0; o < s.outputs.size(); ++o)
      if (block_of_[users_.slot({step, static_cast<int>(o)})] == b) return true;
    return false;
  }

  const StepGraph& g_;
  const Order& order_;
  const Users& users_;
  MemoryPlan plan_;
  std::vector<Block> blocks_;
  std::vector<int> block_users_;
  std::vector<int> sharing_;  // slots in the memory that is looked at
  std::vector<int> block_of_;                         // by slot
  std::unordered_map<int, std::vector<int>> merged_;  // by slot of a merge: blocks it may lie in
  std::vector<std::array<std::vector<int>, 64>> free_;  // by space and size class
  std::vector<int64_t> largest_;
  std::vector<int64_t> large_;  // by space: bytes of large blocks, which have no place yet
  int64_t packed_from_ = 0;
};

}  // namespace

MemoryPlan plan_memory(const StepGraph& g, const Order& order, const Users& users) {
  return Planner(g, order, users).run();
}

}  // namespace emplace
