#include "random_graph_testutil.h"

#include <algorithm>

#include "golden_calls_testutil.h"
#include "node_draw_testutil.h"
#include "op/op_def.h"

namespace emplace::testing {
namespace {

// Of each kind so many in a graph whose turn it is: over many graphs nothing is left out.
constexpr int kTurns = 6, kStateTurns = 3, kPrograms = 2, kOldEvery = 8;

const std::vector<Shape> kShapes = {{},     {1},    {3},    {4},       {2, 3},
                                    {3, 2}, {3, 3}, {1, 3}, {2, 2, 3}, {0}};

class Maker {
 public:
  Maker(uint64_t seed, const RandomGraphOptions& options)
      : seed_(seed), r_(seed), options_(options), graph_(std::make_shared<Graph>(*options.ops)),
        draw_(r_, *graph_) {
    result_.graph = graph_;
    result_.one_cpu = std::make_unique<Session>(graph_, one_cpu_options());
    draw_.source = [this](const Tensor& value) { return source(value); };
    for (const OpDef* op : options.ops->all()) {
      const bool suits = NodeDraw::suits(*op);
      if (!suits && !golden_calls(op->name)) continue;
      (NodeDraw::is_removed(*op) ? removed_ : suits ? suitable_ : with_state_).push_back(op);
    }
  }

  RandomGraph make() {
    const Scope in_graph = graph_->as_default();
    add_sources();
    add_in_turn();
    for (int i = 0, made = 0; made < options_.nodes && i < 60 * options_.nodes; ++i) {
      if (i % 40 == 20) add_call();
      made += add_node(*r_.pick(suitable_));
    }
    add_ordered_step();
    add_random_numbers();
    for (int i = 0; i < kStateTurns; ++i)
      add_with_state(*in_turn(with_state_, seed_ * kStateTurns, i));
    for (int i = 0; i < kPrograms; ++i)
      add_program(in_turn(program_texts(), seed_ * kPrograms, i));
    add_counter();
    choose_fetches();
    return std::move(result_);
  }

 private:
  // ---- Values.

  void add_sources() {
    for (int i = 0; i < 10; ++i) {
      const Scope on = random_device();
      const DType t = i < 4 ? DType::kFloat : kSourceTypes[r_.below(std::size(kSourceTypes))];
      const Tensor value = random_tensor(r_, t, r_.pick(kShapes));
      draw_.pool.push_back({constant(value), value});
    }
    for (int i = 0; i < 4; ++i) add_placeholder();
    for (int i = 0; i < 3; ++i) add_read_only_variable(i);
  }

  void add_placeholder() {
    const DType t = r_.chance(70) ? DType::kFloat : DType::kInt32;
    const Tensor value = random_tensor(r_, t, r_.pick(kShapes));
    draw_.pool.push_back({fed(value), value});
  }

  // Fed with a value whose shape the graph knows only in part, or not at all.
  Output fed(const Tensor& value) {
    Shape known = value.shape();
    for (int i = 0; i < known.rank(); ++i)
      if (r_.chance(50)) known.set_dim(i, Shape::kUnknown);
    const Scope on = random_device();
    const Output x = placeholder(value.dtype(), r_.chance(30) ? Shape::unknown() : known);
    result_.feeds.push_back({x, value});
    return x;
  }

  // Of a call's input: most kernels want some of theirs known when the plan is made.
  Output source(const Tensor& value) {
    const Scope on = random_device();
    return r_.chance(15) ? fed(value) : constant(value);
  }

  void add_read_only_variable(int i) {
    const Scope on = random_device();
    const Tensor value = random_tensor(r_, DType::kFloat, r_.pick(kShapes));
    const std::string name = "w" + std::to_string(i);
    if (r_.chance(50)) {
      const VariableNodes v = variable(value, name);
      initialize(v.initializer);
      draw_.pool.push_back({v.value, value});
    } else {
      const Output v = resource_variable(value, name);
      handles_.push_back({v, value});
      draw_.pool.push_back({op("ReadVariableOp", {v}, {{"dtype", value.dtype()}}), value});
    }
  }

  Output resource_variable(const Tensor& value, const std::string& name) {
    const Output v =
        op("VarHandleOp", {}, {{"dtype", value.dtype()}, {"shape", value.shape()}}, name);
    initialize(graph_->add("AssignVariableOp", {v, constant(value)}));
    return v;
  }

  void initialize(Node* n) {
    result_.one_cpu->run(n);
    result_.initializers.push_back(n);
  }

  Scope random_device() {
    return options_.devices.empty() || r_.chance(30) ? graph_->device("")
                                                     : graph_->device(r_.pick(options_.devices));
  }

  // ---- Nodes.

  bool add_node(const OpDef& op) {
    const Scope on = random_device();
    NodeOptions o;
    if (r_.chance(20)) o.control_inputs.push_back(r_.pick(draw_.pool).output.node);
    Node* n = draw_.draw(op, std::move(o));
    return n && keep(n, draw_.pool);
  }

  template <class C>
  const typename C::value_type& in_turn(const C& of, uint64_t first, int i) const {
    return of[(first + static_cast<uint64_t>(i)) % of.size()];
  }

  // Now and then the graph is an old one, with what newer ones may no longer have.
  void add_in_turn() {
    const bool old = seed_ % kOldEvery == 0;
    if (old) import_graph_def_text(*graph_, "versions { producer: 1 }");
    for (int i = 0; i < kTurns; ++i) {
      const OpDef& op = old ? *in_turn(removed_, seed_ / kOldEvery * kTurns, i)
                            : *in_turn(suitable_, seed_ * kTurns, i);
      const bool suits = NodeDraw::suits(op);
      for (int k = 0; k < 8 && !(suits ? add_node(op) : add_with_state(op));) ++k;
    }
  }

  // Runs the node by itself; what it gives joins the pool.
  bool keep(Node* n, std::vector<Known>& pool) {
    Feeds feeds;
    for (const Output& in : n->inputs())
      if (const Tensor* v = value_of(in, pool)) feeds.push_back({in, *v});
    std::sort(feeds.begin(), feeds.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.node->id(), a.first.index) <
             std::pair(b.first.node->id(), b.first.index);
    });
    feeds.erase(std::unique(feeds.begin(), feeds.end(),
                            [](const auto& a, const auto& b) { return a.first == b.first; }),
                feeds.end());
    for (const auto& feed : result_.feeds)  // control inputs may lead anywhere
      if (std::none_of(feeds.begin(), feeds.end(),
                       [&](const auto& f) { return f.first == feed.first; }))
        feeds.push_back(feed);
    std::vector<Output> outputs;
    for (int i = 0; i < n->num_outputs(); ++i) outputs.push_back(n->output(i));
    std::vector<Tensor> values;
    try {
      values = result_.one_cpu->run(feeds, outputs);
    } catch (const Error&) {
      return false;  // these values don't suit it
    }
    for (const Tensor& v : values)
      if (v.num_elements() > kMaxElements) return false;
    for (size_t i = 0; i < values.size(); ++i) pool.push_back({outputs[i], values[i]});
    return true;
  }

  static const Tensor* value_of(const Output& o, const std::vector<Known>& pool) {
    for (const Known& k : pool)
      if (k.output == o) return &k.value;
    return nullptr;
  }

  // ---- Functions.

  void add_call() {
    std::vector<Known> arguments;
    for (int i = r_.between(1, 3); i > 0; --i) arguments.push_back(r_.pick(draw_.pool));
    if (!handles_.empty() && r_.chance(40)) arguments.push_back(r_.pick(handles_));
    const auto f = random_function(arguments);
    if (!f) return;
    graph_->add_function(f);
    std::vector<Output> inputs;
    for (const Known& k : arguments) inputs.push_back(k.output);
    const Scope on = random_device();
    NodeOptions o;
    if (r_.chance(30)) o.control_inputs.push_back(r_.pick(draw_.pool).output.node);
    keep(call(*f, inputs, std::move(o)), draw_.pool);
  }

  Node* call(const Function& f, const std::vector<Output>& inputs, NodeOptions options) {
    std::vector<DType> out_types;
    for (const Output& o : f.outputs) out_types.push_back(o.dtype());
    bool stateful = false;
    for (const Output& in : inputs) stateful |= in.dtype() == DType::kResource;
    return graph_->add(stateful ? "StatefulPartitionedCall" : "PartitionedCall", inputs,
                       {{"Tout", out_types}, {"f", FunctionName{f.name, {}}}}, std::move(options));
  }

  std::shared_ptr<Function> empty_function() {
    auto f = std::make_shared<Function>();
    f->name = "f" + std::to_string(graph_->functions().size());
    f->body = std::make_shared<Graph>(*options_.ops);
    return f;
  }

  // The argument's value; of a handle, what is read from the variable.
  static Output add_argument(Function& f, const Known& given) {
    const DType dtype = given.output.dtype();
    const auto index = static_cast<int64_t>(f.inputs.size());
    Node* arg = f.body->add("_Arg", {}, {{"T", dtype}, {"index", index}});
    f.inputs.push_back(arg);
    f.input_names.push_back("x" + std::to_string(index));
    if (dtype == DType::kResource)
      return f.body->add("ReadVariableOp", {arg->output()}, {{"dtype", given.value.dtype()}})
          ->output();
    f.body->set_shape(arg->output(), given.value.shape());
    return arg->output();
  }

  std::shared_ptr<Function> random_function(const std::vector<Known>& arguments) {
    auto f = empty_function();
    for (const auto& other : graph_->functions())
      if (r_.chance(30)) f->body->add_function(other);
    NodeDraw body(r_, *f->body);
    const Scope in_body = f->body->as_default();
    for (const Known& given : arguments) body.pool.push_back({add_argument(*f, given), {}});
    for (int i = 0, made = 0; made < 5 && i < 100; ++i) {
      const Scope on = r_.chance(30) && !options_.devices.empty()
                           ? f->body->device(r_.pick(options_.devices))
                           : f->body->device("");
      Node* n = body.draw(*r_.pick(suitable_), {});
      for (int k = 0; n && k < n->num_outputs(); ++k) body.pool.push_back({n->output(k), {}});
      made += n != nullptr;
    }
    for (int i = r_.between(1, 2); i > 0; --i) {
      f->outputs.push_back(r_.pick(body.pool).output);
      f->output_names.push_back("y" + std::to_string(i));
    }
    return f;
  }

  // ---- A step that reads and writes variables, in an order that control edges give.

  struct Cell {
    Output handle;
    bool ref;
    Tensor value;                // at this point of the step
    Node* last_write = nullptr;
    std::vector<Node*> reads;    // since then
  };

  void add_ordered_step() {
    std::vector<Cell> cells;
    for (int i = 0; i < 3; ++i) cells.push_back(make_cell(i));
    std::vector<Known> pool;
    for (const Cell& c : cells) {
      const Scope on = random_device();
      const Tensor value = random_tensor(r_, DType::kFloat, c.value.shape());
      pool.push_back({constant(value), value});
    }
    for (int i = 0; i < 14; ++i) {
      Cell& cell = r_.pick(cells);
      if (r_.chance(45)) write(cell, pool);
      else read(cell, pool);
    }
    for (Cell& c : cells) read(c, pool);
    for (const Known& k : pool)
      if (k.output.node->type() != "Const") result_.ordered.push_back({k.output, k.value});
  }

  Cell make_cell(int i) {
    const Scope on = random_device();
    const Tensor value = random_tensor(r_, DType::kFloat, Shape{r_.between(1, 3)});
    const std::string name = "v" + std::to_string(i);
    if (r_.chance(50)) {
      const VariableNodes v = variable(value, name);
      initialize(v.initializer);
      return {v.ref, true, value, nullptr, {}};
    }
    return {resource_variable(value, name), false, value, nullptr, {}};
  }

  NodeOptions after(const std::vector<Node*>& nodes) {
    NodeOptions o;
    o.control_inputs = nodes;
    return o;
  }

  void write(Cell& c, std::vector<Known>& pool) {
    std::vector<Known> fitting;
    for (const Known& k : pool)
      if (k.value.shape() == c.value.shape()) fitting.push_back(k);
    const Known by = r_.pick(fitting);
    std::vector<Node*> before = c.reads;
    if (c.last_write) before.push_back(c.last_write);
    const int kind = r_.below(3);
    static const char* const kRef[] = {"Assign", "AssignAdd", "AssignSub"};
    static const char* const kResource[] = {"AssignVariableOp", "AssignAddVariableOp",
                                            "AssignSubVariableOp"};
    const char* type = c.ref ? kRef[kind] : kResource[kind];
    const bool in_function = !c.ref && r_.chance(30);
    c.last_write = in_function ? write_in_function(type, c, by, after(before))
                               : graph_->add(type, {c.handle, by.output}, {}, after(before));
    c.reads.clear();
    Tensor next(DType::kFloat, c.value.shape());
    for (int64_t i = 0; i < next.num_elements(); ++i) {
      const float old = c.value.data<float>()[i], v = by.value.data<float>()[i];
      next.data<float>()[i] = kind == 0 ? v : kind == 1 ? old + v : old - v;
    }
    c.value = next;
    if (in_function) pool.push_back({c.last_write->output(), c.value});
  }

  // A call that writes the variable and gives what is read after it.
  Node* write_in_function(const char* type, const Cell& c, const Known& by, NodeOptions options) {
    auto f = empty_function();
    {
      const Scope in_body = f->body->as_default();
      const Output value = add_argument(*f, by);
      Node* handle = f->body->add("_Arg", {}, {{"T", DType::kResource}, {"index", 1}});
      f->inputs.push_back(handle);
      f->input_names.push_back("handle");
      Node* write = f->body->add(type, {handle->output(), value});
      f->outputs = {f->body
                        ->add("ReadVariableOp", {handle->output()}, {{"dtype", DType::kFloat}},
                              after({write}))
                        ->output()};
      f->output_names = {"y"};
    }
    graph_->add_function(f);
    const Scope on = random_device();
    return call(*f, {by.output, c.handle}, std::move(options));
  }

  // Later writes wait for the read itself, not for those that use what it read.
  void read(Cell& c, std::vector<Known>& pool) {
    std::vector<Node*> before;
    if (c.last_write) before.push_back(c.last_write);
    const Scope on = random_device();
    Node* n = c.ref ? graph_->add("Identity", {c.handle}, {}, after(before))
                    : graph_->add("ReadVariableOp", {c.handle}, {{"dtype", DType::kFloat}},
                                  after(before));
    c.reads.push_back(n);
    pool.push_back({n->output(), c.value});
    if (r_.chance(60)) {
      const Scope elsewhere = random_device();
      Node* user = graph_->add(r_.chance(50) ? "Neg" : "Square", {n->output()});
      keep(user, pool);
    }
  }

  // ---- Numbers that differ from step to step, and words about them.

  void add_random_numbers() {
    static const char* const kTypes[] = {"RandomUniform", "RandomStandardNormal",
                                         "TruncatedNormal"};
    for (int i = 0; i < 3; ++i) {
      const Scope on = random_device();
      const char* type = r_.pick(kTypes);
      const Output numbers =
          op(type, {constant(Tensor::of({r_.between(0, 9), 3}, {2}))},
             {{"dtype", DType::kFloat}, {"seed", r_.between(1, 99)}, {"seed2", r_.between(1, 99)}});
      result_.ordered.push_back({numbers, {}});
      const Scope elsewhere = random_device();
      result_.ordered.push_back({with_words(op("Neg", {numbers})), {}});
    }
  }

  // The same value behind an Assert that holds and a Print that has nothing left to say.
  Output with_words(Output x) {
    const Output small = op("Less", {x, constant(1e9f)});
    const Output all = op("All", {small, constant(Tensor::of({0, 1}, {2}))});
    Node* held = graph_->add("Assert", {all, x}, {{"T", std::vector<DType>{DType::kFloat}}});
    const Scope elsewhere = random_device();
    Node* print = graph_->add("Print", {x, small},
                              {{"T", DType::kFloat}, {"U", std::vector<DType>{DType::kBool}},
                               {"first_n", 0}},
                              after({held}));
    return print->output();
  }

  // ---- State: calls from the tables, whole programs.

  // In the ordered step, on variables of its own.
  bool add_with_state(const OpDef& op) {
    const GoldenCall& call = r_.pick(*golden_calls(op.name));
    std::vector<Output> variables, inputs, fetches;
    const Scope on = random_device();  // of all of them: they can't be apart
    for (size_t i = 0; i < call.variables.size(); ++i)
      variables.push_back(state_of(op.inputs[i], call.variables[i]));
    inputs = variables;
    for (const Tensor& t : call.inputs) inputs.push_back(source(t));
    try {
      Node* n = graph_->add(op.name, inputs, seeded(op, call.attrs));
      for (int i = 0; i < n->num_outputs(); ++i)
        if (!n->output_is_ref(i)) fetches.push_back(n->output(i));
      for (size_t i = 0; i < variables.size(); ++i)
        fetches.push_back(read_after(n, variables[i], call.variables[i].dtype()));
      for (int i = 0; i < 4; ++i) result_.one_cpu->run(result_.feeds, fetches);
    } catch (const Error&) {
      return false;
    }
    for (const Output& o : fetches) result_.ordered.push_back({o, {}});
    return true;
  }

  Output state_of(const ArgDef& arg, const Tensor& value) {
    const std::string name = graph_->unique_name("state");
    if (!arg.is_ref) return resource_variable(value, name);
    const VariableNodes v = variable(value, name);
    initialize(v.initializer);
    return v.ref;
  }

  Output read_after(Node* n, Output v, DType dtype) {
    const Scope elsewhere = random_device();
    Node* read = v.is_ref() ? graph_->add("Identity", {v}, {}, after({n}))
                            : graph_->add("ReadVariableOp", {v}, {{"dtype", dtype}}, after({n}));
    return read->output();
  }

  // Seeds that are both zero would be drawn anew in each session.
  AttrList seeded(const OpDef& op, AttrList attrs) {
    if (op.find_attr("seed") && op.find_attr("seed2"))
      set_attr(attrs, "seed2", int64_t{r_.between(1, 99)});
    return attrs;
  }

  void add_program(const ProgramText& text) {
    const std::string folder =
        options_.folder + "/" + std::to_string(seed_) + "_" + text.name;
    result_.programs.emplace_back(*graph_, text, folder, [this] {
      return options_.devices.empty() || r_.chance(30) ? "" : r_.pick(options_.devices);
    });
  }

  // ---- What is run.

  void add_counter() {
    const Scope on = random_device();
    const VariableNodes v = variable(Tensor::scalar(0.f), "counter");
    initialize(v.initializer);
    result_.counter = assign_add(v.ref, constant(1.f)).node;
    result_.count = v.value;
  }

  void choose_fetches() {
    for (const Known& k : draw_.pool)
      if (k.output.node->type() != "Const") result_.pure.push_back({k.output, k.value});
  }

  static constexpr DType kSourceTypes[] = {
      DType::kFloat, DType::kDouble,  DType::kInt32,     DType::kInt64,     DType::kBool,
      DType::kHalf,  DType::kUint8,   DType::kBfloat16,  DType::kComplex64, DType::kString,
      DType::kInt32, DType::kFloat};

  uint64_t seed_;
  Random r_;
  const RandomGraphOptions& options_;
  std::shared_ptr<Graph> graph_;
  NodeDraw draw_;
  RandomGraph result_;
  std::vector<const OpDef*> suitable_, removed_, with_state_;
  std::vector<Known> handles_;  // of variables that nobody writes
};

}  // namespace

SessionOptions one_cpu_options() {
  SessionOptions o;
  o.virtual_gpus = 0;
  o.allow_soft_placement = true;
  o.inter_op_parallelism_threads = -1;
  o.place_pruned_graph = true;
  return o;
}

RandomGraph random_graph(uint64_t seed, const RandomGraphOptions& options) {
  return Maker(seed, options).make();
}

}  // namespace emplace::testing
