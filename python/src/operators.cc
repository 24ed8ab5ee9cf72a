// Python's binary operators between tensors of one graph, without a detour through Python.

#include "emplace/error.h"
#include "front.h"
#include "numpy_tensor.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// A method of Tensor: `word` names the node ("add"), `op` is its type. What the short way does
// not fit goes to `otherwise`, a Python function with the same meaning.
struct OperatorObject {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* otherwise;
  PyObject* name;
  std::string* word;
  std::string* op;
  uint64_t dtypes;  // of tensors that may go the short way, one bit each
};

PyObject* two_tensors(const OperatorObject& f, TensorObject* x, TensorObject* y) {
  if (x->graph != y->graph || y->node == nullptr ||
      x->node->output_type(x->index) != y->node->output_type(y->index))
    return nullptr;
  const Output inputs[] = {x->output(), y->output()};
  Node* node = add_node(x->graph, *f.op, inputs, {}, *f.word);
  return node != nullptr ? tensor_of(x->graph, node, 0) : nullptr;
}

// `x + 1.0`: the constant is `add/y`, in the scope that the node's name opens.
PyObject* tensor_and_number(const OperatorObject& f, TensorObject* x, PyObject* number) {
  const DType dtype = x->node->output_type(x->index);
  Tensor value = number_tensor(number, dtype);
  if (PyErr_Occurred()) PyErr_Clear();
  if (!value.has_value()) return nullptr;
  Graph& graph = *x->graph->graph;
  std::string full;
  Node* constant = nullptr;
  try {
    const Scope scope = graph.name_scope(*f.word);
    full = graph.current_name_scope();
    constant = add_node(x->graph, "Const", {}, {{"dtype", dtype}, {"value", std::move(value)}}, "y");
  } catch (const Error& e) {
    set_building_error(e);
  }
  if (constant == nullptr) return nullptr;
  const Output inputs[] = {x->output(), {constant, 0}};
  Node* node = add_node(x->graph, *f.op, inputs, {}, full);
  return node != nullptr ? tensor_of(x->graph, node, 0) : nullptr;
}

bool is_plain(const GraphObject* g) {
  const Blocks around = blocks_of(g);
  return !around.attrs && !around.gradients;
}

PyObject* call_quickly(const OperatorObject& f, PyObject* left, PyObject* right) {
  if (!is_tensor(left) || as_tensor(left)->node == nullptr) return nullptr;
  TensorObject* x = as_tensor(left);
  if (is_foreign(x->graph) || !is_plain(x->graph) || !(f.dtypes >> static_cast<int>(x->node->output_type(x->index)) & 1))
    return nullptr;
  if (is_tensor(right)) return two_tensors(f, x, as_tensor(right));
  if (PyFloat_CheckExact(right) || PyLong_CheckExact(right))
    return tensor_and_number(f, x, right);
  return nullptr;
}

PyObject* operator_call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  auto* f = reinterpret_cast<OperatorObject*>(self);
  const Py_ssize_t n = PyVectorcall_NARGS(flagged);
  if (n == 2 && names == nullptr) {
    PyObject* made = call_quickly(*f, args[0], args[1]);
    if (made != nullptr || PyErr_Occurred()) return made;
  }
  PyObject* made = PyObject_Vectorcall(f->otherwise, args, flagged, names);
  if (made == nullptr) trim_traceback();
  return made;
}

PyObject* operator_get(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return PyMethod_New(self, instance);
}

void operator_dealloc(PyObject* self) {
  auto* f = reinterpret_cast<OperatorObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  Py_CLEAR(f->otherwise);
  Py_CLEAR(f->name);
  delete f->word;
  delete f->op;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef operator_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperatorObject, call), READONLY, nullptr},
    {"__name__", T_OBJECT, offsetof(OperatorObject, name), READONLY, nullptr},
    {"__wrapped__", T_OBJECT, offsetof(OperatorObject, otherwise), READONLY, nullptr},
    {}};

template <class F>
void* slot(F f) {
  return reinterpret_cast<void*>(f);
}

PyTypeObject* operator_type() {
  static PyTypeObject* const type = [] {
    static PyType_Slot slots[] = {{Py_tp_dealloc, slot(operator_dealloc)},
                                  {Py_tp_call, slot(PyVectorcall_Call)},
                                  {Py_tp_descr_get, slot(operator_get)},
                                  {Py_tp_members, operator_members},
                                  {0, nullptr}};
    static PyType_Spec spec = {"emplace._core.Operator", sizeof(OperatorObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                   Py_TPFLAGS_METHOD_DESCRIPTOR |
                                   Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }();
  return type;
}

nb::object make_operator(nb::object name, const char* word, const char* op, nb::object dtypes,
                         nb::object otherwise) {
  PyObject* made = operator_type()->tp_alloc(operator_type(), 0);
  if (made == nullptr) throw nb::python_error();
  auto* f = reinterpret_cast<OperatorObject*>(made);
  f->call = &operator_call;
  f->otherwise = otherwise.release().ptr();
  f->name = name.release().ptr();
  f->word = new std::string(word);
  f->op = new std::string(op);
  for (nb::handle number : dtypes) f->dtypes |= 1ull << nb::cast<int>(number);
  return nb::steal(made);
}

}  // namespace

void bind_operators(nb::module_& m) { m.def("make_operator", &make_operator); }

}  // namespace emplace::python
