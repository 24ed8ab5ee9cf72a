#include <fmt/format.h>

#include "exec/fold.h"
#include "exec/step_graph.h"

namespace emplace {
namespace {

class Specialiser {
 public:
  Specialiser(StepGraph& g, PlanEnvironment& env) : g_(g), env_(env) {}

  void run(std::span<const Shape> feed_shapes) {
    for (size_t i = 0; i < g_.feeds.size(); ++i)
      if (g_.feeds[i] >= 0) g_.steps[g_.feeds[i]].outputs[0].shape = feed_shapes[i];
    for (Step& step : g_.steps) {
      infer(step);
      prepare(step);
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
        step.outputs[0].value = g_.out(step.inputs[0]).value;
        return;
      case StepKind::kKernel:
        if (step.row && !step.outputs.empty()) infer_kernel(step);
    }
  }

  void set_constant(Step& step) {
    const Tensor& value = step.node->attr("value")->as<Tensor>();
    step.outputs[0].shape = value.shape();
    step.outputs[0].value = value;
  }

  // A variable declared with a full shape keeps it unless an Assign may change it.
  void infer_read(Step& step) {
    const Step& from = g_.steps[step.inputs[0].step];
    const AttrValue* v = from.node->attr("validate_shape");
    const bool fixed = !v || !v->is<bool>() || v->as<bool>();
    step.outputs[0].shape = fixed ? g_.out(step.inputs[0]).shape : Shape::unknown();
  }

  void infer_kernel(Step& step) {
    const Node& n = *step.node;
    inputs_.clear();
    for (Port p : step.inputs) {
      const StepOutput& o = g_.out(p);
      inputs_.push_back({o.shape, o.dtype, o.value.has_value() ? &o.value : nullptr, nullptr,
                         o.handle});
    }
    ShapeContext c(n.op(), n.attrs(), inputs_, n.num_outputs());
    if (n.op().shape_rule) run_rule(step, c);
    for (int i = 0; i < n.num_outputs(); ++i) {
      StepOutput& o = step.outputs[i];
      // Not what the graph says of it: set_shape is the user's word, and memory is laid out by this.
      o.shape = c.output(i);
      o.handle = c.output_handle(i);
    }
    std::vector<Tensor> values = fold_integers(g_, step, env_);
    for (size_t i = 0; i < values.size(); ++i) step.outputs[i].value = std::move(values[i]);
  }

  void run_rule(const Step& step, ShapeContext& c) {
    try {
      step.node->op().shape_rule(c);
    } catch (Error& e) {
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
      values_.push_back(o.value.has_value() ? &o.value : nullptr);
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
    init.resources = &env_.resources();
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
  std::vector<const Tensor*> values_;
};

}  // namespace

void specialise(StepGraph& g, std::span<const Shape> feed_shapes, PlanEnvironment& env) {
  Specialiser(g, env).run(feed_shapes);
}

}  // namespace emplace
