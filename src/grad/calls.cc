// Gradients of calls and branches: calls of functions that go back over those that were called.
#include "emplace/eager.h"
#include "grad/joint.h"
#include "grad/rows.h"

namespace emplace::grad {
namespace {

using Names = std::vector<std::string>;

// A call is a choice among one: no question comes before its arguments.
bool asks(const Forward& n) { return !n.node.attr("f"); }

Names functions(const Forward& n) {
  if (!asks(n)) return {n.attr<FunctionName>("f").name};
  if (!n.node.attr("branches"))
    return {n.attr<FunctionName>("then_branch").name, n.attr<FunctionName>("else_branch").name};
  Names names;
  for (const FunctionName& f : n.attr<std::vector<FunctionName>>("branches")) names.push_back(f.name);
  return names;
}

void set_functions(const Forward& n, AttrList& attrs, const Names& names) {
  if (!asks(n)) return set_attr(attrs, "f", FunctionName{names[0], {}});
  if (!n.node.attr("branches")) {
    set_attr(attrs, "then_branch", FunctionName{names[0], {}});
    return set_attr(attrs, "else_branch", FunctionName{names[1], {}});
  }
  std::vector<FunctionName> all;
  for (const std::string& name : names) all.push_back({name, {}});
  set_attr(attrs, "branches", std::move(all));
}

// What a branch gives in place of another's value: nobody reads it.
Output nothing(DType dtype) {
  if (dtype == DType::kVariant) return f("OptionalNone");
  return constant(Tensor(dtype, Shape{0}));
}

class Branches {
 public:
  explicit Branches(const Forward& n) : n_(n), first_(asks(n) ? 1 : 0) {
    for (const std::string& name : functions(n)) joints_.emplace_back(n.node.graph(), name);
    for (size_t i = 0; i < n.grads.size(); ++i)
      if (n.grads[i]) wanted_.push_back(i);
    for (size_t i = 0; i < num_arguments(); ++i)
      if (flows(argument(i).dtype())) by_.push_back(i);
  }

  Back back() {
    for (Joint& j : joints_) go_back(j);
    std::erase_if(by_, [&](size_t i) { return !somewhere(i); });
    if (by_.empty()) return {};
    for (Joint& j : joints_) fill(j);
    const std::vector<Output> values = give();
    return spread(call(values));
  }

 private:
  size_t num_arguments() const { return n_.node.inputs().size() - first_; }
  Output argument(size_t i) const { return n_.node.inputs()[first_ + i]; }

  void go_back(Joint& j) {
    std::vector<Output> seeds;
    for (size_t i : wanted_) seeds.push_back(j.seed(i, n_.grads[i].values.dtype()));
    j.go_back(wanted_, seeds, by_);
    seeds_.push_back(std::move(seeds));
  }
  Gradient somewhere(size_t i) {
    for (Joint& j : joints_)
      if (j.gradient(i)) return j.gradient(i);
    return {};
  }
  // Zeros, where another branch has a gradient.
  void fill(Joint& j) {
    const Scope in_body = j.body().as_default();
    std::vector<Output> results;
    for (size_t i : by_) {
      Gradient& g = j.gradient(i);
      if (!g) g = zeros_for(j.argument(i), somewhere(i).values.dtype());
      results.push_back(g.dense());
    }
    std::vector<Output> kept;
    for (const Output& o : j.taken(results))
      if (std::ranges::find(j.arguments(), o) == j.arguments().end()) kept.push_back(o);
    kept_.push_back(std::move(kept));
    results_.push_back(std::move(results));
  }

  // The forward call gives what the branches keep, each in places of its own; these outputs.
  std::vector<Output> give() {
    const size_t before = n_.node.num_outputs();
    Names names;
    std::vector<DType> all;
    for (size_t b = 0; b < joints_.size(); ++b) {
      Joint& j = joints_[b];
      const Scope in_body = j.body().as_default();
      std::vector<Output> outputs(j.results().begin(), j.results().end());
      for (size_t other = 0; other < joints_.size(); ++other)
        for (const Output& o : kept_[other])
          outputs.push_back(other == b ? o : nothing(o.dtype()));
      all = types(outputs);
      if (all.size() > before) names.push_back(j.forward_part(j.arguments(), outputs));
    }
    if (all.size() == before) return {};
    AttrList attrs = {{"Tout", all}};
    set_functions(n_, attrs, names);
    if (asks(n_)) set_attr(attrs, "output_shapes", output_shapes());
    extend_call(n_.node.graph(), &n_.node, {}, std::move(attrs));
    std::vector<Output> values;
    for (size_t i = before; i < all.size(); ++i) values.push_back(n_.node.output(static_cast<int>(i)));
    return values;
  }
  std::vector<Shape> output_shapes() const {
    std::vector<Shape> shapes;
    for (int i = 0; i < n_.node.num_outputs(); ++i) shapes.push_back(n_.node.output_shape(i));
    for (const auto& kept : kept_) shapes.resize(shapes.size() + kept.size(), Shape::unknown());
    return shapes;
  }

  Node* call(const std::vector<Output>& values) {
    Names names;
    for (size_t b = 0; b < joints_.size(); ++b) {
      Joint& j = joints_[b];
      std::vector<Output> takes = seeds_[b];
      takes.insert(takes.end(), j.arguments().begin(), j.arguments().end());
      for (size_t other = 0; other < joints_.size(); ++other)
        for (const Output& o : kept_[other]) takes.push_back(other == b ? o : j.more(o.dtype()));
      names.push_back(j.backward_part(takes, results_[b]));
    }
    std::vector<Output> inputs;
    if (asks(n_)) inputs.push_back(n_.x(0));
    for (size_t i : wanted_) inputs.push_back(n_.dy(static_cast<int>(i)));
    for (size_t i = 0; i < num_arguments(); ++i) inputs.push_back(argument(i));
    inputs.insert(inputs.end(), values.begin(), values.end());
    AttrList attrs = {{"Tout", types(results_[0])}};
    set_functions(n_, attrs, names);
    return op(n_.node.type(), inputs, std::move(attrs)).node;
  }

  Back spread(Node* made) const {
    Back all(n_.node.inputs().size());
    for (size_t k = 0; k < by_.size(); ++k) {
      const Output g = made->output(static_cast<int>(k));
      const Output x = argument(by_[k]);
      if (is_number(x.dtype())) g.graph().set_shape(g, x.shape());
      all[first_ + by_[k]] = g;
    }
    return all;
  }

  const Forward& n_;
  const size_t first_;
  std::vector<Joint> joints_;
  std::vector<size_t> wanted_, by_;  // results with a gradient, arguments that get one
  // Of each branch: what the gradients begin with and come to, and the values between.
  std::vector<std::vector<Output>> seeds_, results_, kept_;
};

}  // namespace

void add_calls(Rows& rows) {
  rows.add({"PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case",
            "StatelessCase"},
           [](const Forward& n) { return Branches(n).back(); });
}

}  // namespace emplace::grad
