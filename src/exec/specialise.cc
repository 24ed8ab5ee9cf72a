#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "exec/fold.h"
#include "exec/loop_run.h"
#include "exec/overlap.h"
#include "exec/program.h"
#include "kernel/called_function.h"
#include "kernel/random_stream.h"

namespace emplace {
namespace {

// A branch that this plan will never take may not fit its shapes: that is said when it is taken.
struct Later {
  Error error;
  void operator()(KernelContext&) const { throw error; }
};

// What is true of both.
Shape common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown();
  std::vector<int64_t> dims(a.dims().begin(), a.dims().end());
  for (int i = 0; i < a.rank(); ++i)
    if (dims[static_cast<size_t>(i)] != b.dim(i)) dims[static_cast<size_t>(i)] = Shape::kUnknown;
  return Shape(std::span<const int64_t>(dims));
}

HandleInfo common(const HandleInfo& a, const HandleInfo& b) {
  if (a.dtype != b.dtype) return {};
  return {a.dtype, common(a.shape, b.shape)};
}

constexpr int kMaxGuesses = 10;  // at a loop's shapes, before nothing is assumed

class Specialiser {
 public:
  Specialiser(StepGraph& g, PlanEnvironment& env) : g_(g), env_(env) {}

  void run(std::span<const Shape> feed_shapes) {
    for (size_t i = 0; i < g_.feeds.size(); ++i)
      if (g_.feeds[i] >= 0) g_.steps[g_.feeds[i]].outputs[0].shape = feed_shapes[i];
    for (size_t i = 0; i < g_.steps.size(); ++i) {
      constexpr size_t kAhead = 8;
      if (i + kAhead < g_.steps.size()) {
        __builtin_prefetch(g_.steps[i + kAhead].node);
        __builtin_prefetch(&g_.steps[i + kAhead].node->attrs());
      }
      Step& step = g_.steps[i];
      if (step.flow->gates.empty()) {
        infer(step);
        prepare(step);
        continue;
      }
      try {
        infer(step);
        prepare(step);
      } catch (const Error& e) {
        give_up(step, e);
      }
    }
  }

 private:
  void infer(Step& step) {
    switch (step.kind) {
      case StepKind::kFeed:
        return;
      case StepKind::kConst:
        return set_constant(step);
      case StepKind::kRead:
        return infer_read(step);
      case StepKind::kCopy:
        step.outputs[0].shape = g_.out(step.inputs[0]).shape;
        step.outputs[0].set_value(g_.out(step.inputs[0]).value());
        return;
      case StepKind::kGate:
      case StepKind::kReceive:  // of a loop that was planned before
      case StepKind::kDeliver:
      case StepKind::kGoOn:
        return;
      case StepKind::kMerge:
        return infer_merge(step);
      case StepKind::kLoop:
        return infer_loop(step);
      case StepKind::kKernel:
        if (step.row && !step.outputs.empty()) infer_kernel(step);
    }
  }

  static void give_up(Step& step, const Error& e) {
    step.kernel = prepared(Later{e});
    for (StepOutput& o : step.outputs) {
      o.shape = Shape::unknown();
      o.set_handle({});
      o.set_value({});
    }
  }

  void infer_merge(Step& step) {
    StepOutput& out = step.outputs[0];
    out.shape = g_.out(step.inputs[0]).shape;
    out.set_handle(g_.out(step.inputs[0]).handle());
    for (Port p : step.inputs) {
      out.shape = common(out.shape, g_.out(p).shape);
      out.set_handle(common(out.handle(), g_.out(p).handle()));
    }
    if (step.outputs.size() > 1) step.outputs[1].shape = Shape{};
  }

  // The shapes of a loop's variables are what holds in every round: guessed from the first, and
  // given up where a round makes another.
  void infer_loop(Step& step) {
    LoopPlan& loop = *step.flow->loop;
    StepGraph& round = loop.round;
    std::vector<Shape> shapes;
    std::vector<HandleInfo> handles;
    for (Port p : step.inputs) {
      shapes.push_back(g_.out(p).shape);
      handles.push_back(g_.out(p).handle());
    }
    for (int guess = 0;; ++guess) {
      for (Step& s : round.steps)
        for (StepOutput& o : s.outputs) o.set_value({});
      for (size_t i = 0; i < shapes.size(); ++i) {
        StepOutput& feed = round.steps[round.feeds[i]].outputs[0];
        feed.set_handle(handles[i]);
        if (i >= loop.num_variables) feed.set_value(g_.out(step.inputs[i]).value());
      }
      specialise(round, shapes, env_);
      if (!widen(loop, guess, shapes, handles)) break;
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      const StepOutput& o = round.out(round.fetches[loop.num_variables + k]);
      step.outputs[k].shape = o.shape;
      step.outputs[k].set_handle(o.handle());
    }
    for (size_t i = 0; i < loop.num_variables; ++i)
      round.fetches[i] = behind_identities(round, round.fetches[i]);
    loop.has_effects = std::ranges::any_of(
        round.steps, [&](const Step& s) { return has_effect(round, s); });
    loop.program = compile_steps(round, env_, {}, &loop);
    step.kernel = loop_kernel(loop);
  }

  // So that the variable's next value is where it is made.
  static Port behind_identities(const StepGraph& g, Port p) {
    while (g.steps[p.step].kind == StepKind::kKernel && g.steps[p.step].row &&
           g.steps[p.step].node->type() == "Identity" &&
           g.out(g.steps[p.step].inputs[0]).space == g.out(p).space &&
           !g.out(g.steps[p.step].inputs[0]).is_ref)
      p = g.steps[p.step].inputs[0];
    return p;
  }

  static bool widen(const LoopPlan& loop, int guess, std::vector<Shape>& shapes,
                    std::vector<HandleInfo>& handles) {
    bool changed = false;
    for (size_t i = 0; i < loop.num_variables; ++i) {
      const StepOutput& next = loop.round.out(loop.round.fetches[i]);
      const Shape shape = common(shapes[i], next.shape);
      const HandleInfo handle = common(handles[i], next.handle());
      if (shape == shapes[i] && handle.dtype == handles[i].dtype &&
          handle.shape == handles[i].shape)
        continue;
      shapes[i] = guess < kMaxGuesses ? shape : Shape::unknown();
      handles[i] = guess < kMaxGuesses ? handle : HandleInfo{};
      changed = true;
    }
    return changed;
  }

  void set_constant(Step& step) {
    const Tensor& value = step.node->attr("value")->as<Tensor>();
    step.outputs[0].shape = value.shape();
    step.outputs[0].set_value(value);
  }

  // A variable declared with a full shape keeps it unless an Assign may change it.
  void infer_read(Step& step) {
    const Step& from = g_.steps[step.inputs[0].step];
    const AttrValue* v = from.node->attr("validate_shape");
    const bool fixed = !v || !v->is<bool>() || v->as<bool>();
    step.outputs[0].shape = fixed ? g_.out(step.inputs[0]).shape : Shape::unknown();
  }

  static bool is_variable(const Node& n) {
    return n.type() == "Variable" || n.type() == "VariableV2";
  }

  static std::string name_of(const Step& variable) {
    const AttrValue* v = variable.node->attr("shared_name");
    return v && !v->as<std::string>().empty() ? v->as<std::string>() : *variable.name;
  }

  // An Assign that does not validate shapes may have given it another than it was declared with,
  // or may do so in this plan.
  bool may_have_outgrown(const Step& variable) {
    const AttrValue* container = variable.node->attr("container");
    const std::string& named = container ? container->as<std::string>() : std::string();
    const auto resource = env_.resources().find(named.empty() ? "localhost" : named,
                                                name_of(variable));
    const auto* v = dynamic_cast<const Variable*>(resource.get());
    if (v && v->initialized() && !v->shape().compatible_with(v->read().shape())) return true;
    return loosely_assigned(variable);
  }

  bool loosely_assigned(const Step& variable) {
    if (!loose_assigns_) {
      loose_assigns_.emplace();
      for (const Step& s : g_.steps) {
        if (s.kind != StepKind::kKernel || s.node->type() != "Assign") continue;
        const AttrValue* v = s.node->attr("validate_shape");
        if (v && !v->as<bool>()) loose_assigns_->push_back(&g_.steps[s.inputs[0].step]);
      }
    }
    return std::ranges::find(*loose_assigns_, &variable) != loose_assigns_->end();
  }

  void infer_kernel(Step& step) {
    const Node& n = *step.node;
    inputs_.clear();
    for (Port p : step.inputs) {
      const StepOutput& o = g_.out(p);
      inputs_.push_back({o.shape, o.dtype, o.has_value() ? &o.value() : nullptr, nullptr,
                         o.handle()});
    }
    ShapeContext c(n.op(), n.attrs(), inputs_, n.num_outputs());
    if (n.op().shape_rule && !rule_holds(step, c)) {
      for (StepOutput& o : step.outputs) {
        o.shape = Shape::unknown();
        o.set_handle({});
      }
      return;
    }
    for (int i = 0; i < n.num_outputs(); ++i) {
      StepOutput& o = step.outputs[i];
      // Not what the graph says of it: set_shape is the user's word, and memory is laid out by this.
      o.shape = c.output(i);
      o.set_handle(c.output_handle(i));
    }
    if (is_variable(n) && may_have_outgrown(step)) step.outputs[0].shape = Shape::unknown();
    std::vector<Tensor> values = fold_integers(g_, step, env_);
    for (size_t i = 0; i < values.size(); ++i) step.outputs[i].set_value(std::move(values[i]));
  }

  // Inputs that a rule refuses are the kernel's to refuse, when it runs: it may stand in a branch
  // that is not taken, and says more of them. Kernels of variables rely on the rule, but Assign's.
  bool rule_holds(const Step& step, ShapeContext& c) {
    try {
      step.node->op().shape_rule(c);
      return true;
    } catch (Error& e) {
      const bool on_variable = std::ranges::any_of(
          step.inputs, [&](Port p) { return g_.out(p).is_ref; });
      if (step.kind == StepKind::kKernel && step.row &&
          (!on_variable || step.node->type() == "Assign"))
        return false;
      e.at_node(*step.name, step.node->type()).from_source(*step.source);
      throw;
    }
  }

  void prepare(Step& step) {
    if (step.kind != StepKind::kKernel || !step.row) return;
    in_types_.clear(), in_shapes_.clear(), values_.clear(), out_types_.clear(), out_shapes_.clear();
    for (Port p : step.inputs) {
      const StepOutput& o = g_.out(p);
      in_types_.push_back(o.dtype);
      in_shapes_.push_back(o.shape);
      values_.push_back(o.has_value() ? &o.value() : nullptr);
    }
    for (const StepOutput& o : step.outputs) {
      out_types_.push_back(o.dtype);
      out_shapes_.push_back(o.shape);
    }
    KernelInit init;
    init.op = &step.node->op();
    init.node = *step.name;
    init.attrs = &step.node->attrs();
    init.input_types = in_types_;
    init.output_types = out_types_;
    init.input_shapes = in_shapes_;
    init.output_shapes = out_shapes_;
    init.input_values = values_;
    init.device = step.device;
    init.resources = draws(*init.op) ? &env_.streams() : &env_.resources();
    const FunctionMaker functions = [&](const std::string& name) {
      return env_.function(*step.node, name);
    };
    const FunctionScope scope(functions);
    try {
      step.kernel = step.row->make(init);
    } catch (Error& e) {
      e.at_node(*step.name, step.node->type())
          .on_device(step.device->name())
          .from_source(*step.source);
      throw;
    }
  }

  StepGraph& g_;
  PlanEnvironment& env_;
  std::vector<ShapeContext::Input> inputs_;
  std::vector<DType> in_types_, out_types_;
  std::vector<Shape> in_shapes_, out_shapes_;
  std::optional<std::vector<const Step*>> loose_assigns_;  // to these variables
  std::vector<const Tensor*> values_;
};

}  // namespace

std::shared_ptr<CalledFunction> PlanEnvironment::function(const Node&, const std::string& name) {
  throw not_found("Function '" + name + "' is not defined.");
}

void specialise(StepGraph& g, std::span<const Shape> feed_shapes, PlanEnvironment& env) {
  Specialiser(g, env).run(feed_shapes);
}

}  // namespace emplace
