// Making nodes the short way: all inputs are tensors of one graph, of the right dtypes. Whatever
// else comes (values to convert, eager tensors, errors to word) goes to Python's long way.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "eager_call.h"
#include "emplace/error.h"
#include "emplace/op.h"
#include "front.h"
#include "numpy_tensor.h"
#include "options.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

constexpr size_t kMostTypeAttrs = 8;

struct Argument {
  int type = 0;             // a dtype's number; 0: by attribute
  int attr = -1;            // which type attribute
  uint64_t allowed = ~0ull;  // dtypes, one bit each
  bool is_ref = false, is_list = false;
  std::string number_attr;  // of a list
};

// An op laid out for quick calls.
struct Quick {
  const OpDef* op = nullptr;
  bool usable = true;       // no argument of a kind that needs the long way
  bool one_output = false;  // a single tensor, not a list
  std::vector<Argument> inputs;

  explicit Quick(const OpDef& def) : op(&def) {
    std::vector<std::string> attrs;
    for (const ArgDef& a : def.inputs) inputs.push_back(argument(a, attrs));
    usable = usable && attrs.size() <= kMostTypeAttrs && !inputs.empty();
    one_output = def.outputs.size() == 1 && !def.outputs[0].is_list();
  }

 private:
  Argument argument(const ArgDef& a, std::vector<std::string>& attrs) {
    Argument out;
    out.type = static_cast<int>(a.type);
    out.is_ref = a.is_ref;
    out.is_list = a.is_list();
    out.number_attr = a.number_attr;
    if (!a.type_list_attr.empty()) usable = false;
    if (a.type_attr.empty()) return out;
    out.type = 0;
    auto at = std::ranges::find(attrs, a.type_attr);
    out.attr = static_cast<int>(at - attrs.begin());
    if (at == attrs.end()) attrs.push_back(a.type_attr);
    const AttrDef* def = op->find_attr(a.type_attr);
    if (def != nullptr && !def->allowed_types.empty()) {
      out.allowed = 0;
      for (const DType t : def->allowed_types) out.allowed |= 1ull << static_cast<int>(t);
    }
    return out;
  }
};

// Ops by the Python string that names them; strings of names are few and mostly interned.
const Quick* quick_op(PyObject* type) {
  static std::unordered_map<PyObject*, std::unique_ptr<Quick>> known;
  auto it = known.find(type);
  if (it != known.end()) return it->second.get();
  const char* name = PyUnicode_Check(type) ? PyUnicode_AsUTF8(type) : nullptr;
  const OpDef* op = name != nullptr ? find_op(name) : nullptr;
  if (op == nullptr) return PyErr_Clear(), nullptr;
  Py_INCREF(type);
  return known.emplace(type, std::make_unique<Quick>(*op)).first->second.get();
}

// Collects the inputs of one call and says whether the short way fits them.
class Inputs {
 public:
  explicit Inputs(const Quick& q) : q_(q) {}

  bool take(PyObject* const* values, Py_ssize_t n) {
    if (!q_.usable || static_cast<size_t>(n) != q_.inputs.size()) return false;
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!take_argument(q_.inputs[static_cast<size_t>(i)], values[i])) return false;
    return graph_ != nullptr;
  }
  GraphObject* graph() const { return graph_; }
  std::span<const Output> outputs() const { return outputs_; }
  AttrList& lengths() { return lengths_; }  // of list arguments

 private:
  bool take_argument(const Argument& a, PyObject* value) {
    if (!a.is_list) return is_tensor(value) && take_tensor(a, as_tensor(value));
    if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value)) return false;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(value);
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(value, i);
      if (!is_tensor(item) || !take_tensor(a, as_tensor(item))) return false;
    }
    if (n > 0) set_attr(lengths_, a.number_attr, AttrValue(static_cast<int64_t>(n)));
    return n > 0;
  }

  bool take_tensor(const Argument& a, TensorObject* t) {
    if (t->node == nullptr || (graph_ != nullptr && t->graph != graph_)) return false;
    graph_ = t->graph;
    const int type = static_cast<int>(t->node->output_type(t->index));
    if (a.attr < 0 && a.type != type) return false;
    if (a.attr >= 0) {
      int& known = types_[a.attr];
      if (known == 0) known = type;
      if (known != type || !(a.allowed >> type & 1)) return false;
    }
    if (a.is_ref && !t->node->output_is_ref(t->index)) return false;
    outputs_.push_back(t->output());
    return true;
  }

  struct Few {  // inputs without an allocation, for all but long lists
    Output inline_[8];
    std::vector<Output> heap;
    size_t n = 0;
    void push_back(Output o) {
      if (n < 8) inline_[n] = o;
      else if (n == 8) heap.assign(inline_, inline_ + 8), heap.push_back(o);
      else heap.push_back(o);
      ++n;
    }
    operator std::span<const Output>() const {
      return n <= 8 ? std::span<const Output>(inline_, n) : std::span<const Output>(heap);
    }
  };

  const Quick& q_;
  GraphObject* graph_ = nullptr;
  int types_[kMostTypeAttrs] = {};
  Few outputs_;
  AttrList lengths_;
};

bool starts_well(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
}

bool goes_on_well(char c) {
  return starts_well(c) || c == '_' || c == '/' || c == '-' || c == '\\' || c == '>';
}

// The name of a node as text. False with an error set when it is none. Names that are valid
// everywhere pass at once, Python judges the others.
bool read_name(GraphObject* g, PyObject* name, std::string_view& out) {
  if (name == nullptr || name == Py_None) return true;
  Py_ssize_t n = 0;
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &n) : nullptr;
  if (text != nullptr) out = {text, static_cast<size_t>(n)};
  if (text != nullptr && n == 0) return true;  // as none
  if (out.size() > 1 && out.ends_with('/')) return true;  // a scope's own
  if (is_plain_name(out)) return true;
  PyErr_Clear();
  PyObject* judged = PyObject_CallMethod(reinterpret_cast<PyObject*>(g), "_check_name", "O", name);
  Py_XDECREF(judged);
  return judged != nullptr;
}

// What the graph's blocks add to the attributes of each node.
bool add_scoped_attrs(GraphObject* g, const OpDef& op, AttrList& attrs) {
  const Blocks around = blocks_of(g);
  PyObject* gradient =
      around.gradients ? PyDict_GetItemString(around.gradients, op.name.c_str()) : nullptr;
  if (gradient != nullptr) {
    const char* text = PyUnicode_AsUTF8(gradient);
    if (text == nullptr) return false;
    set_attr(attrs, "_gradient_op_type", AttrValue(text));
  }
  if (!around.attrs) return true;
  for (auto& [name, value] : to_attrs(op, nb::borrow<nb::dict>(around.attrs))) {
    if (name == "_container") {  // for what keeps state, and does not say itself where
      const AttrValue* const given = find_attr(attrs, "container");
      if (op.stateful && op.find_attr("container") != nullptr &&
          (given == nullptr || given->as<std::string>().empty()))
        set_attr(attrs, "container", std::move(value));
    } else if (find_attr(attrs, name) == nullptr) {
      set_attr(attrs, name, std::move(value));
    }
  }
  return true;
}

// Refuses a string that is none of those the attribute allows, in TensorFlow's words.
void check_allowed(const OpDef& op, const std::string& key, const AttrValue& value) {
  if (!value.is<std::string>()) return;
  const AttrDef* def = op.find_attr(key);
  if (def == nullptr || def->allowed_strings.empty()) return;
  const std::string& text = value.as<std::string>();
  if (std::ranges::find(def->allowed_strings, text) != def->allowed_strings.end()) return;
  std::string allowed;
  for (const std::string& a : def->allowed_strings)
    allowed += (allowed.empty() ? "\"" : ", \"") + a + "\"";
  throw nb::value_error(("Attr '" + key + "' of '" + op.name + "' Op passed string '" + text +
                         "' not in: " + allowed + ".").c_str());
}

// A node of `op`; null with an error set.
Node* make_node(GraphObject* g, const OpDef& op, std::span<const Output> inputs, AttrList attrs,
                PyObject* given_attrs, PyObject* name) {
  std::string_view asked;
  if (!read_name(g, name, asked)) return nullptr;
  if (given_attrs != nullptr && given_attrs != Py_None && PyDict_GET_SIZE(given_attrs) > 0) {
    AttrList given = to_attrs(op, nb::borrow<nb::dict>(given_attrs));
    for (const auto& [key, value] : given) check_allowed(op, key, value);
    if (attrs.empty()) attrs = std::move(given);
    else
      for (auto& [key, value] : given) set_attr(attrs, key, std::move(value));
  }
  if (!add_scoped_attrs(g, op, attrs)) return nullptr;
  return add_node(g, op.name, inputs, std::move(attrs), asked);
}

PyObject* long_way = nullptr;      // (op_type, inputs, attrs, name) -> outputs
PyObject* shape_results = nullptr;  // (op_type, op) -> what the wrapper returns

// Python errors thrown by nanobind and errors of the engine, as a C function leaves them.
template <class F>
PyObject* guarded(F f) {
  try {
    return f();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    set_building_error(e);
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(e.type() == nb::exception_type::key_error ? PyExc_KeyError : PyExc_ValueError,
                    e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

PyObject* result_of(const Quick& q, GraphObject* g, Node* node, PyObject* type) {
  if (q.one_output) return tensor_of(g, node, 0);
  PyObject* op = operation_of(g, node);
  if (op == nullptr || q.op->outputs.empty()) return op;
  PyObject* args[] = {type, op};
  PyObject* result = PyObject_Vectorcall(shape_results, args, 2, nullptr);
  Py_DECREF(op);
  return result;
}

// Null without an error: the short way does not fit.
PyObject* apply_quickly(PyObject* type, PyObject* inputs, PyObject* attrs, PyObject* name) {
  if (!PyList_CheckExact(inputs) && !PyTuple_CheckExact(inputs)) return nullptr;
  if (attrs != nullptr && attrs != Py_None && !PyDict_CheckExact(attrs)) return nullptr;
  const Quick* q = quick_op(type);
  if (q == nullptr) return nullptr;
  Inputs in(*q);
  if (!in.take(PySequence_Fast_ITEMS(inputs), PySequence_Fast_GET_SIZE(inputs))) return nullptr;
  if (is_foreign(in.graph())) return nullptr;
  Node* node = make_node(in.graph(), *q->op, in.outputs(), std::move(in.lengths()), attrs, name);
  return node != nullptr ? result_of(*q, in.graph(), node, type) : nullptr;
}

// apply(op_type, inputs, attrs=None, name=None)
PyObject* apply(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  PyObject* all[4] = {nullptr, nullptr, Py_None, Py_None};
  static const char* const kNames[] = {"op_type", "inputs", "attrs", "name"};
  for (Py_ssize_t i = 0; i < n && i < 4; ++i) all[i] = args[i];
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i)
    for (int k = 0; k < 4; ++k)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), kNames[k]) == 0)
        all[k] = args[n + i];
  if (all[0] == nullptr || all[1] == nullptr || n > 4) {
    PyErr_SetString(PyExc_TypeError, "apply(op_type, inputs, attrs=None, name=None)");
    return nullptr;
  }
  PyObject* made = guarded([&] {
    PyObject* value = quick_call(all[0], all[1], all[2]);
    if (value != nullptr || PyErr_Occurred()) return value;
    return apply_quickly(all[0], all[1], all[2], all[3]);
  });
  if (made != nullptr || PyErr_Occurred()) return made;
  if (long_way == nullptr) Py_XDECREF(PyImport_ImportModule("emplace.framework.gen"));
  if (long_way == nullptr) return nullptr;
  made = PyObject_Vectorcall(long_way, all, 4, nullptr);
  if (made == nullptr) trim_traceback();
  return made;
}

// number(graph, value, dtype, name): a constant of a Python number; None where that is not as
// simple as it sounds. dtype 0: as the number itself says.
PyObject* number(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 4) {
    PyErr_SetString(PyExc_TypeError, "number(graph, value, dtype, name)");
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    PyObject* value = args[1];
    auto dtype = static_cast<DType>(PyLong_AsLong(args[2]));
    if (dtype == DType::kInvalid)
      dtype = PyFloat_CheckExact(value)  ? DType::kFloat
              : PyBool_Check(value)      ? DType::kBool
              : PyLong_CheckExact(value) ? DType::kInt32
                                         : DType::kInvalid;
    if (!PyFloat_CheckExact(value) && !PyBool_Check(value) && !PyLong_CheckExact(value))
      Py_RETURN_NONE;
    Tensor t = number_tensor(value, dtype);
    if (!t.has_value()) {
      PyErr_Clear();
      Py_RETURN_NONE;
    }
    auto* g = reinterpret_cast<GraphObject*>(args[0]);
    static const OpDef* const op = find_op("Const");
    Node* node = make_node(g, *op, {}, {{"dtype", dtype}, {"value", std::move(t)}}, nullptr, args[3]);
    return node != nullptr ? tensor_of(g, node, 0) : nullptr;
  });
}

// Graph._add(op_type, inputs, attrs, name): inputs flattened, tensors or outputs of the engine.
PyObject* graph_add(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 5) {
    PyErr_SetString(PyExc_TypeError, "add(graph, op_type, inputs, attrs, name)");
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    auto* g = reinterpret_cast<GraphObject*>(args[0]);
    std::vector<Output> inputs;
    for (nb::handle i : nb::borrow(args[2])) {
      if (is_tensor(i.ptr())) inputs.push_back(as_tensor(i.ptr())->output());
      else inputs.push_back(nb::cast<Output>(i));
    }
    const Quick* q = quick_op(args[1]);
    const auto type = nb::cast<const char*>(nb::handle(args[1]));
    Node* node;
    if (q != nullptr) {
      node = make_node(g, *q->op, inputs, {}, args[3], args[4]);
    } else {  // the name of a function of the graph, perhaps
      std::string_view name;
      if (!read_name(g, args[4], name)) return nullptr;
      node = add_node(g, type, inputs, {}, name);
    }
    return node != nullptr ? operation_of(g, node) : nullptr;
  });
}

PyMethodDef functions[] = {
    {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&apply)),
     METH_FASTCALL | METH_KEYWORDS,
     "Adds an operation to the graph of its inputs: one value an argument, lists for lists."},
    {"number", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&number)), METH_FASTCALL,
     "A constant of a Python number."},
    {"add_to_graph", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&graph_add)),
     METH_FASTCALL, "Adds an operation; inputs flattened."},
    {}};

}  // namespace

bool is_foreign(const GraphObject* g) {
  PyObject* const graphs = thread_state().graphs;
  const Py_ssize_t n = PyList_GET_SIZE(graphs);
  if (n == 0) return g->captures;  // a function's tensor outside of it
  const auto* inner = reinterpret_cast<const GraphObject*>(PyList_GET_ITEM(graphs, n - 1));
  return inner != g && inner->captures;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && starts_well(name[0]) && std::ranges::all_of(name, goes_on_well);
}

// A branch or a loop that is being built takes up each node made in it. False with an error set.
static bool tell(GraphObject* g, Node* node) {
  const nb::object listener = nb::borrow(blocks_of(g).on_node);
  if (!listener) return true;
  PyObject* op = operation_of(g, node);
  if (op == nullptr) return false;
  PyObject* said = PyObject_CallOneArg(listener.ptr(), op);
  Py_DECREF(op);
  Py_XDECREF(said);
  return said != nullptr;
}

Node* add_node(GraphObject* g, std::string_view type, std::span<const Output> inputs,
               AttrList attrs, std::string_view name) {
  NodeOptions o;
  if (name.size() > 1 && name.ends_with('/')) {
    name.remove_suffix(1);
    o.exact_name = true;
  }
  o.name = name;
  o.source = user_line();
  try {
    if (g->frozen) throw failed_precondition("Graph is finalized and cannot be modified.");
    Node* node = g->graph->add(type, inputs, std::move(attrs), std::move(o), {});
    return tell(g, node) ? node : nullptr;
  } catch (const Error& e) {
    set_building_error(e);
    return nullptr;
  }
}

void bind_build(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0) throw nb::python_error();
  m.def("set_long_way", [](nb::object apply, nb::object results) {
    long_way = kept_by_module("_long_way", apply);
    shape_results = kept_by_module("_shape_results", results);
  });
  bind_operators(m);
  bind_name_scope(m);
}

}  // namespace emplace::python
