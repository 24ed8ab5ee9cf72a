// The gradient of a loop: a loop that goes back over its rounds, the last one first.
#include <algorithm>

#include "emplace/eager.h"
#include "emplace/op.h"
#include "grad/joint.h"
#include "grad/part.h"
#include "grad/rows.h"

namespace emplace::grad {
namespace {

void append(std::vector<Output>& all, std::span<const Output> more) {
  all.insert(all.end(), more.begin(), more.end());
}

// What is known of a shape, as a tensor; -1 stands for the rest.
Output element_shape(const Shape& shape) {
  if (!shape.has_rank()) return constant(-1);
  std::vector<int32_t> sizes;
  for (int64_t d : shape.dims()) sizes.push_back(d == Shape::kUnknown ? -1 : static_cast<int32_t>(d));
  return ints(std::move(sizes));
}

class Loop {
 public:
  explicit Loop(const Forward& n)
      : n_(n), graph_(n.node.graph()), body_(graph_, n.attr<FunctionName>("body").name) {}

  Back back() {
    find_varying();
    go_back();
    find_kept();
    give();
    return spread(call());
  }

 private:
  bool is_handle(size_t i) const { return body_.argument(i).dtype() == DType::kResource; }

  // The variables that lead to a result with a gradient, be it by way of others.
  void find_varying() {
    std::unordered_set<size_t> found;
    for (size_t i = 0; i < n_.grads.size(); ++i)
      if (n_.grads[i]) found.insert(i);
    for (size_t before = 0; before != found.size();) {
      before = found.size();
      found.merge(body_.reached(found));
    }
    for (size_t i = 0; i < body_.num_arguments(); ++i)
      if (found.contains(i)) (is_handle(i) ? handles_ : values_).push_back(i);
  }

  // A round: from the gradients of what it gave to those of what it took. Those of variables, which
  // are the same in every round, are added up.
  void go_back() {
    for (size_t i : values_) starts_.push_back(n_.dy(static_cast<int>(i)));
    for (size_t k = 0; k < values_.size(); ++k)
      seeds_.push_back(body_.seed(values_[k], starts_[k].dtype()));
    std::vector<size_t> by = values_;
    by.insert(by.end(), handles_.begin(), handles_.end());
    body_.go_back(values_, seeds_, by);
    std::erase_if(handles_, [&](size_t i) { return !body_.gradient(i); });
    for (size_t i : handles_)
      if (!body_.passes_through(i)) refuse_handles();
    const Scope in_body = body_.body().as_default();
    for (size_t k = 0; k < values_.size(); ++k) {
      const Gradient& g = body_.gradient(values_[k]);
      results_.push_back(g ? g.dense() : zeros_for(body_.argument(values_[k]), seeds_[k].dtype()));
    }
    for (size_t i : handles_) add_sum(i);
  }
  void add_sum(size_t i) {
    const Output g = body_.gradient(i).dense();
    const Output sum = body_.more(g.dtype(), g.shape());
    seeds_.push_back(sum);
    results_.push_back(sum + g);
    const Scope outside = graph_.as_default();
    const Gradient& came = n_.grads[i];
    starts_.push_back(came ? came.dense() : zeros_for(n_.x(static_cast<int>(i)), g.dtype()));
  }

  // What the gradient needs of a round: the same for all of them, or a value each.
  void find_kept() {
    for (const Output& o : body_.taken(results_)) {
      const auto at = std::ranges::find(body_.arguments(), o) - body_.arguments().begin();
      if (static_cast<size_t>(at) < body_.num_arguments() && body_.passes_through(at)) {
        same_.push_back(o);
        same_outside_.push_back(n_.x(static_cast<int>(at)));
      } else {
        kept_.push_back(o);
      }
    }
    for (const Output& o : kept_)
      if (o.dtype() == DType::kResource) refuse_handles();
  }
  [[noreturn]] void refuse_handles() const {
    throw unimplemented("the gradient of a loop in which handles change")
        .at_node(n_.node.name(), n_.node.type());
  }

  // The forward loop counts its rounds and puts what is kept into lists.
  void give() {
    const int before = n_.node.num_outputs();
    std::vector<Output> more = {body_.more(DType::kInt32, Shape{})}, next, starts = {constant(0)};
    {
      const Scope in_body = body_.body().as_default();
      next = {more[0] + constant(1)};
      for (const Output& o : kept_) {
        more.push_back(body_.more(DType::kVariant, Shape{}));
        next.push_back(f("TensorListPushBack", more.back(), o));
      }
    }
    for (const Output& o : kept_)
      starts.push_back(op("EmptyTensorList", {element_shape(o.shape()), constant(-1)},
                          {{"element_dtype", o.dtype()}}));
    AttrList attrs;
    set_attr(attrs, "body", FunctionName{extended(body_, more, next), {}});
    Joint test(graph_, n_.attr<FunctionName>("cond").name);
    for (Output& m : more) m = test.more(m.dtype(), m.shape());
    set_attr(attrs, "cond", FunctionName{extended(test, more, {}), {}});
    std::vector<DType> all = types(n_.node.inputs());
    for (const Output& s : starts) all.push_back(s.dtype());
    std::vector<Shape> shapes;
    for (int i = 0; i < before; ++i) shapes.push_back(n_.node.output_shape(i));
    shapes.resize(all.size(), Shape{});
    set_attr(attrs, "T", std::move(all));
    set_attr(attrs, "output_shapes", std::move(shapes));
    extend_call(graph_, &n_.node, starts, std::move(attrs));
    rounds_ = n_.node.output(before);
    for (size_t k = 0; k < kept_.size(); ++k)
      lists_.push_back(n_.node.output(before + 1 + static_cast<int>(k)));
  }
  static std::string extended(Joint& joint, std::span<const Output> more,
                              std::span<const Output> next) {
    std::vector<Output> takes(joint.arguments().begin(), joint.arguments().end());
    std::vector<Output> gives(joint.results().begin(), joint.results().end());
    append(takes, more);
    append(gives, next);
    return joint.forward_part(takes, gives);
  }

  // Over (rounds left, gradients, what is the same, lists).
  Node* call() {
    std::vector<Output> takes = seeds_;
    append(takes, same_);
    append(takes, kept_);
    const std::string round = body_.backward_part(takes, results_);
    std::vector<Output> inputs = {rounds_};
    append(inputs, starts_);
    append(inputs, same_outside_);
    append(inputs, lists_);
    const std::vector<DType> all = types(inputs);
    const std::string test = add_function(graph_, round + "_cond", all, [](auto x) {
      return std::vector<Output>{f("Greater", x[0], constant(0))};
    });
    const std::string body = add_function(graph_, round + "_body", all, [&](auto x) {
      return one_round(round, x);
    });
    AttrList attrs = n_.attrs({"parallel_iterations"});
    set_attr(attrs, "cond", FunctionName{test, {}});
    set_attr(attrs, "body", FunctionName{body, {}});
    return op(n_.node.type(), inputs, std::move(attrs)).node;
  }
  std::vector<Output> one_round(const std::string& round, std::span<const Output> x) const {
    const size_t grads = starts_.size(), fixed = 1 + grads + same_.size();
    std::vector<Output> takes(x.begin() + 1, x.begin() + static_cast<int64_t>(fixed)), rest;
    for (size_t k = 0; k < kept_.size(); ++k) {
      Node* popped = op("TensorListPopBack", {x[fixed + k], element_shape(kept_[k].shape())},
                        {{"element_dtype", kept_[k].dtype()}}).node;
      rest.push_back(popped->output(0));
      takes.push_back(popped->output(1));
    }
    const bool stateful = n_.node.op().stateful;
    Node* called = op(stateful ? "StatefulPartitionedCall" : "PartitionedCall", takes,
                      {{"Tout", types(results_)}, {"f", FunctionName{round, {}}}}).node;
    std::vector<Output> next = {x[0] - constant(1)};
    for (size_t k = 0; k < grads; ++k) next.push_back(called->output(static_cast<int>(k)));
    append(next, x.subspan(1 + grads, same_.size()));
    append(next, rest);
    return next;
  }

  Back spread(Node* made) const {
    std::vector<size_t> by = values_;
    by.insert(by.end(), handles_.begin(), handles_.end());
    Back all(body_.num_arguments());
    for (size_t k = 0; k < by.size(); ++k) {
      const Output g = made->output(1 + static_cast<int>(k)), x = n_.x(static_cast<int>(by[k]));
      if (is_number(x.dtype())) graph_.set_shape(g, x.shape());
      all[by[k]] = g;
    }
    return all;
  }

  const Forward& n_;
  Graph& graph_;
  Joint body_;
  std::vector<size_t> values_, handles_;       // arguments that get gradients
  std::vector<Output> starts_;                 // of the gradients, outside
  std::vector<Output> seeds_, results_;        // of a round, in the body
  std::vector<Output> same_, same_outside_;    // what all rounds share
  std::vector<Output> kept_, lists_;           // what each has of its own, and where it is kept
  Output rounds_;
};

}  // namespace

void add_loops(Rows& rows) {
  rows.add({"While", "StatelessWhile"}, [](const Forward& n) { return Loop(n).back(); });
}

}  // namespace emplace::grad
