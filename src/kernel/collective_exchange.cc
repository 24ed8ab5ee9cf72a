#include "kernel/collective_exchange.h"

#include <fmt/format.h>

#include <cstring>

#include "base/device_name.h"

namespace emplace {
namespace {

constexpr size_t kWhole = 64 << 10;  // bytes up to which everyone sends everyone all

void check_alike(const Tensor& one, const Tensor& other) {
  if (one.dtype() != other.dtype() || !(one.shape() == other.shape()))
    throw invalid_argument(fmt::format("Inconsistent output shapes, got {}, but expected is {}.",
                                       other.shape().str(), one.shape().str()));
}

// The pieces that tasks make of a value; some are empty where it has few
// elements.
class Pieces {
 public:
  Pieces(const Tensor& whole, size_t count)
      : flat_(whole.reshaped({whole.num_elements()})), count_(static_cast<int64_t>(count)) {}
  Tensor operator[](size_t i) const {
    const auto n = static_cast<int64_t>(i);
    return flat_.slice(flat_.dim(0) * n / count_, flat_.dim(0) * (n + 1) / count_);
  }

 private:
  const Tensor flat_;
  const int64_t count_;
};

class Exchange {
 public:
  Exchange(const CollectiveGroup& group, size_t me, const std::vector<const CollectiveCall*>& own,
           PartWay& way)
      : group_(group), me_(me), tasks_(group.tasks.size()), own_(own), way_(way) {}

  Tensor reduced() {
    Tensor sum = own_[0]->value.copy();
    for (size_t i = 1; i < own_.size(); ++i) merge(sum, own_[i]->value);
    if (tasks_ > 1)
      sum = sum.bytes() <= kWhole ? reduced_whole(sum) : reduced_in_ring(std::move(sum));
    if (own_[0]->finish) own_[0]->finish(sum, group_.size);
    return sum;
  }

  Tensor gathered() {
    const auto& mine = group_.tasks[me_].members;
    std::vector<Tensor> values(static_cast<size_t>(group_.size));
    for (size_t i = 0; i < own_.size(); ++i) {
      values[static_cast<size_t>(mine[i])] = own_[i]->value;
      for (size_t t = 0; t < tasks_; ++t)
        if (t != me_) way_.send(t, mine[i], 0, own_[i]->value);
    }
    for (size_t t = 0; t < tasks_; ++t)
      for (const int32_t member : group_.tasks[t].members)
        if (t != me_) values[static_cast<size_t>(member)] = way_.receive(member, 0);
    Shape shape = values[0].shape();
    shape.set_dim(0, shape[0] * group_.size);
    Tensor all(values[0].dtype(), shape);
    char* to = all.data<char>();
    for (const Tensor& v : values) {
      check_alike(values[0], v);
      if (v.bytes()) std::memcpy(to, v.raw(), v.bytes());
      to += v.bytes();
    }
    way_.settle();
    return all;
  }

  Tensor broadcast() {
    const CollectiveCall* source = nullptr;
    for (const CollectiveCall* c : own_) {
      if (c->kind != CollectiveCall::Kind::kSend) continue;
      if (source) throw internal_error("Only one member of a group may broadcast.");
      source = c;
    }
    if (!source) return way_.receive(0, 0);
    for (size_t t = 0; t < tasks_; ++t)
      if (t != me_) way_.send(t, 0, 0, source->value);
    way_.settle();
    return source->value;
  }

 private:
  void merge(Tensor& to, const Tensor& from) const {
    check_alike(to, from);
    own_[0]->merge(to, from);
  }

  Tensor reduced_whole(const Tensor& mine) {
    for (size_t t = 0; t < tasks_; ++t)
      if (t != me_) way_.send(t, static_cast<int32_t>(me_), 0, mine);
    Tensor sum;
    for (size_t t = 0; t < tasks_; ++t) {
      const Tensor value = t == me_ ? mine : way_.receive(static_cast<int32_t>(t), 0);
      if (t == 0)
        sum = value.copy();
      else
        merge(sum, value);
    }
    way_.settle();
    return sum;
  }

  // Each piece goes once around, merged by who gets it, and, complete, once
  // more.
  Tensor reduced_in_ring(Tensor sum) {
    const Pieces pieces(sum, tasks_);
    const size_t next = (me_ + 1) % tasks_, before = (me_ + tasks_ - 1) % tasks_;
    const auto piece = [&](size_t back) { return pieces[(me_ + 2 * tasks_ - back) % tasks_]; };
    const auto last = static_cast<int32_t>(tasks_ - 1);
    for (int32_t phase = 0; phase < last; ++phase) {
      const auto back = static_cast<size_t>(phase);
      way_.send(next, static_cast<int32_t>(me_), phase, piece(back));
      Tensor to = piece(back + 1);
      merge(to, way_.receive(static_cast<int32_t>(before), phase));
    }
    way_.settle();
    for (int32_t phase = 0; phase < last; ++phase) {
      const auto back = static_cast<size_t>(phase);
      way_.send(next, static_cast<int32_t>(me_), last + phase, piece(back + tasks_ - 1));
      const Tensor whole = way_.receive(static_cast<int32_t>(before), last + phase);
      const Tensor to = piece(back);
      check_alike(to, whole);
      if (to.bytes()) std::memcpy(to.raw(), whole.raw(), to.bytes());
    }
    way_.settle();
    return sum;
  }

  const CollectiveGroup& group_;
  const size_t me_, tasks_;
  const std::vector<const CollectiveCall*>& own_;
  PartWay& way_;
};

}  // namespace

std::string CollectiveGroup::task_of(const std::string& member) {
  return DeviceName::parse(member).task_name();
}

CollectiveGroup::CollectiveGroup(const CollectiveMembers& members)
    : size(static_cast<int32_t>(members.size())) {
  for (size_t i = 0; i < members.size(); ++i) {
    std::string task = task_of(members[i]);
    if (tasks.empty() || tasks.back().task != task) tasks.push_back({std::move(task), {}});
    tasks.back().members.push_back(static_cast<int32_t>(i));
  }
}

Tensor exchanged(const CollectiveGroup& group, size_t me,
                 const std::vector<const CollectiveCall*>& own, PartWay& way) {
  const CollectiveCall::Kind kind = own.at(0)->kind;
  for (const CollectiveCall* c : own)
    if ((c->kind == CollectiveCall::Kind::kReduce) != (kind == CollectiveCall::Kind::kReduce) ||
        (c->kind == CollectiveCall::Kind::kGather) != (kind == CollectiveCall::Kind::kGather))
      throw invalid_argument(fmt::format("Members of group {} disagree about what instance {} is.",
                                         c->group, c->instance));
  Exchange exchange(group, me, own, way);
  switch (kind) {
    case CollectiveCall::Kind::kReduce:
      return exchange.reduced();
    case CollectiveCall::Kind::kGather:
      return exchange.gathered();
    default:
      return exchange.broadcast();
  }
}

}  // namespace emplace
