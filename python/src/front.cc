#include "front.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "convert.h"
#include "emplace/error.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

Classes found;

template <class T>
T* self_as(PyObject* o) {
  return reinterpret_cast<T*>(o);
}

PyObject* text(std::string_view s) {
  return PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace");
}

PyObject* new_reference(PyObject* o) {
  PyObject* result = o != nullptr ? o : Py_None;
  Py_INCREF(result);
  return result;
}

void end_dealloc(PyObject* self) {  // a heap type's instance holds its type
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* gone() {
  PyErr_SetString(PyExc_RuntimeError, "this handle belongs to no graph");
  return nullptr;
}

PyObject* make_operation(GraphObject* g, Node* node);

// ---- Tensor.

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* t = self_as<TensorObject>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject*>(t->graph));
  Py_VISIT(t->dtype);
  Py_VISIT(t->extra);
  return 0;
}

int tensor_clear(PyObject* self) {  // graph and dtype stay: others may still look at them
  Py_CLEAR(self_as<TensorObject>(self)->extra);
  return 0;
}

void tensor_dealloc(PyObject* self) {
  auto* t = self_as<TensorObject>(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(t->graph);
  Py_CLEAR(t->dtype);
  Py_CLEAR(t->extra);
  end_dealloc(self);
}

PyObject* tensor_op(PyObject* self, void*) {
  auto* t = self_as<TensorObject>(self);
  return t->node != nullptr ? operation_of(t->graph, t->node) : new_reference(nullptr);
}

PyObject* tensor_graph(PyObject* self, void*) {
  return new_reference(reinterpret_cast<PyObject*>(self_as<TensorObject>(self)->graph));
}

PyObject* tensor_name(PyObject* self, void*) {
  auto* t = self_as<TensorObject>(self);
  return t->node != nullptr ? text(t->output().name()) : gone();
}

PyObject* tensor_device(PyObject* self, void*) {
  auto* t = self_as<TensorObject>(self);
  return t->node != nullptr ? text(t->node->device()) : gone();
}

PyObject* tensor_out(PyObject* self, void*) {
  auto* t = self_as<TensorObject>(self);
  return t->node != nullptr ? nb::cast(t->output()).release().ptr() : gone();
}

PyObject* tensor_dims(PyObject* self, void*) {
  auto* t = self_as<TensorObject>(self);
  if (t->node == nullptr) return gone();
  const Shape& s = t->node->output_shape(t->index);
  if (!s.has_rank()) return new_reference(nullptr);
  PyObject* dims = PyTuple_New(s.rank());
  for (int i = 0; dims != nullptr && i < s.rank(); ++i)
    PyTuple_SET_ITEM(dims, i, s[i] < 0 ? new_reference(nullptr) : PyLong_FromLongLong(s[i]));
  return dims;
}

// _bind(op, index): what Tensor(op, value_index, dtype) needs.
PyObject* tensor_bind(PyObject* self, PyObject* args) {
  PyObject* op = nullptr;
  int index = 0;
  if (!PyArg_ParseTuple(args, "Oi", &op, &index)) return nullptr;
  auto* t = self_as<TensorObject>(self);
  auto* o = self_as<OperationObject>(op);
  if (!is_operation(op) || index < 0 || index >= o->node->num_outputs()) {
    PyErr_SetString(PyExc_ValueError, "the operation has no such output");
    return nullptr;
  }
  Py_INCREF(o->graph);
  Py_XSETREF(t->graph, o->graph);
  t->node = o->node;
  t->index = index;
  Py_RETURN_NONE;
}

PyMemberDef tensor_members[] = {
    {"_index", T_INT, offsetof(TensorObject, index), 0, nullptr},
    {"_dtype", T_OBJECT, offsetof(TensorObject, dtype), 0, nullptr},
    {"_extra", T_OBJECT, offsetof(TensorObject, extra), 0, nullptr},
    {"dtype", T_OBJECT, offsetof(TensorObject, dtype), READONLY, "The type of its elements."},
    {"value_index", T_INT, offsetof(TensorObject, index), READONLY, "Which output of its op."},
    {}};
PyGetSetDef tensor_getset[] = {
    {"op", tensor_op, nullptr, "The operation that makes it.", nullptr},
    {"_op", tensor_op, nullptr, nullptr, nullptr},
    {"graph", tensor_graph, nullptr, "The graph it belongs to.", nullptr},
    {"_graph", tensor_graph, nullptr, nullptr, nullptr},
    {"name", tensor_name, nullptr, "`op:index`.", nullptr},
    {"device", tensor_device, nullptr, "The device asked for.", nullptr},
    {"_out", tensor_out, nullptr, nullptr, nullptr},
    {"_dims", tensor_dims, nullptr, nullptr, nullptr},
    {}};
PyMethodDef tensor_methods[] = {{"_bind", tensor_bind, METH_VARARGS, nullptr}, {}};

// ---- Operation.

int operation_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* o = self_as<OperationObject>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject*>(o->graph));
  Py_VISIT(o->extra);
  return 0;
}

int operation_clear(PyObject* self) {
  Py_CLEAR(self_as<OperationObject>(self)->extra);
  return 0;
}

void operation_dealloc(PyObject* self) {
  auto* o = self_as<OperationObject>(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(o->graph);
  Py_CLEAR(o->extra);
  end_dealloc(self);
}

Node* node_of(PyObject* self) {
  Node* node = self_as<OperationObject>(self)->node;
  if (node == nullptr) gone();
  return node;
}

PyObject* operation_name(PyObject* self, void*) {
  Node* n = node_of(self);
  return n != nullptr ? text(n->name()) : nullptr;
}
PyObject* operation_type(PyObject* self, void*) {
  Node* n = node_of(self);
  return n != nullptr ? text(n->type()) : nullptr;
}
PyObject* operation_device(PyObject* self, void*) {
  Node* n = node_of(self);
  return n != nullptr ? text(n->device()) : nullptr;
}
PyObject* operation_source(PyObject* self, void*) {
  Node* n = node_of(self);
  return n != nullptr ? text(n->source()) : nullptr;
}
PyObject* operation_id(PyObject* self, void*) {
  Node* n = node_of(self);
  return n != nullptr ? PyLong_FromLong(n->id()) : nullptr;
}
PyObject* operation_graph(PyObject* self, void*) {
  return new_reference(reinterpret_cast<PyObject*>(self_as<OperationObject>(self)->graph));
}
PyObject* operation_node(PyObject* self, void*) {
  Node* n = node_of(self);
  return n != nullptr ? nb::cast(n, nb::rv_policy::reference).release().ptr() : nullptr;
}
PyObject* operation_outputs(PyObject* self, void*) {
  Node* n = node_of(self);
  return n != nullptr ? outputs_of(self_as<OperationObject>(self)->graph, n) : nullptr;
}

PyObject* operation_inputs(PyObject* self, void*) {
  Node* n = node_of(self);
  if (n == nullptr) return nullptr;
  const auto inputs = n->inputs();
  PyObject* result = PyTuple_New(static_cast<Py_ssize_t>(inputs.size()));
  for (size_t i = 0; result != nullptr && i < inputs.size(); ++i) {
    PyObject* t = tensor_of(self_as<OperationObject>(self)->graph, inputs[i].node, inputs[i].index);
    if (t == nullptr) Py_CLEAR(result);
    else PyTuple_SET_ITEM(result, static_cast<Py_ssize_t>(i), t);
  }
  return result;
}

PyObject* operation_control_inputs(PyObject* self, void*) {
  Node* n = node_of(self);
  if (n == nullptr) return nullptr;
  const auto inputs = n->control_inputs();
  PyObject* result = PyList_New(static_cast<Py_ssize_t>(inputs.size()));
  for (size_t i = 0; result != nullptr && i < inputs.size(); ++i) {
    PyObject* op = operation_of(self_as<OperationObject>(self)->graph, inputs[i]);
    if (op == nullptr) Py_CLEAR(result);
    else PyList_SET_ITEM(result, static_cast<Py_ssize_t>(i), op);
  }
  return result;
}

PyMemberDef operation_members[] = {
    {"_extra", T_OBJECT, offsetof(OperationObject, extra), 0, nullptr}, {}};
PyGetSetDef operation_getset[] = {
    {"name", operation_name, nullptr, "Its full name.", nullptr},
    {"type", operation_type, nullptr, "The op's name in the catalogue.", nullptr},
    {"device", operation_device, nullptr, "The device asked for.", nullptr},
    {"graph", operation_graph, nullptr, "The graph it belongs to.", nullptr},
    {"_graph", operation_graph, nullptr, nullptr, nullptr},
    {"_id", operation_id, nullptr, nullptr, nullptr},
    {"_node", operation_node, nullptr, nullptr, nullptr},
    {"_source", operation_source, nullptr, nullptr, nullptr},
    {"outputs", operation_outputs, nullptr, "Its tensors.", nullptr},
    {"inputs", operation_inputs, nullptr, "The tensors it reads.", nullptr},
    {"control_inputs", operation_control_inputs, nullptr, "What it waits for.", nullptr},
    {}};

// ---- Graph.

PyObject* graph_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  auto* g = self_as<GraphObject>(self);
  g->faces = new std::vector<Faces>();
  g->blocks = PyDict_New();
  g->on_node = Py_NewRef(Py_None);
  return self;
}

int graph_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* g = self_as<GraphObject>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(g->blocks);
  Py_VISIT(g->on_node);
  for (const Faces& f : *g->faces) {
    Py_VISIT(f.op);
    Py_VISIT(f.first);
    Py_VISIT(f.all);
  }
  return 0;
}

int graph_clear(PyObject* self) {
  auto* g = self_as<GraphObject>(self);
  std::vector<Faces> old;
  old.swap(*g->faces);
  for (Faces& f : old) {
    Py_CLEAR(f.op);
    Py_CLEAR(f.first);
    Py_CLEAR(f.all);
  }
  Py_CLEAR(g->blocks);
  Py_CLEAR(g->on_node);
  return 0;
}

void graph_dealloc(PyObject* self) {
  auto* g = self_as<GraphObject>(self);
  PyObject_GC_UnTrack(self);
  graph_clear(self);
  delete g->faces;
  Py_CLEAR(g->core);
  end_dealloc(self);
}

PyObject* graph_bind(PyObject* self, PyObject* core) {
  auto* g = self_as<GraphObject>(self);
  Graph* graph = nullptr;
  if (!nb::try_cast(nb::handle(core), graph) || graph == nullptr) {
    PyErr_SetString(PyExc_TypeError, "expected a graph of the engine");
    return nullptr;
  }
  Py_INCREF(core);
  Py_XSETREF(g->core, core);
  g->graph = graph;
  Py_RETURN_NONE;
}

PyObject* graph_op_of(PyObject* self, PyObject* node) {
  Node* n = nullptr;
  if (!nb::try_cast(nb::handle(node), n) || n == nullptr) {
    PyErr_SetString(PyExc_TypeError, "expected a node");
    return nullptr;
  }
  return operation_of(self_as<GraphObject>(self), n);
}

// A face of its own for a node that is still being made.
PyObject* graph_pending_op(PyObject* self, PyObject* node) {
  Node* n = nullptr;
  if (!nb::try_cast(nb::handle(node), n) || n == nullptr) {
    PyErr_SetString(PyExc_TypeError, "expected a node");
    return nullptr;
  }
  return make_operation(self_as<GraphObject>(self), n);
}

PyObject* graph_tensor_of(PyObject* self, PyObject* output) {
  Output o;
  if (!nb::try_cast(nb::handle(output), o)) {
    PyErr_SetString(PyExc_TypeError, "expected an output");
    return nullptr;
  }
  return tensor_of(self_as<GraphObject>(self), o.node, o.index);
}

PyObject* graph_name_scope(PyObject* self, PyObject* name) {
  return name_scope_of(self_as<GraphObject>(self), name);
}

PyObject* graph_operations(PyObject* self, PyObject*) {
  auto* g = self_as<GraphObject>(self);
  if (g->graph == nullptr) return gone();
  const std::vector<Node*> nodes = g->graph->nodes();
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(nodes.size()));
  for (size_t i = 0; list != nullptr && i < nodes.size(); ++i) {
    PyObject* op = operation_of(g, nodes[i]);
    if (op == nullptr) Py_CLEAR(list);
    else PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), op);
  }
  return list;
}

// The calling thread's blocks in the graph, borrowed: null outside of them.
PyObject* blocks_tuple(const GraphObject* g) {
  if (!g->blocks || PyDict_GET_SIZE(g->blocks) == 0) return nullptr;
  const nb::object thread = nb::steal(PyLong_FromUnsignedLongLong(thread_state().thread));
  return PyDict_GetItem(g->blocks, thread.ptr());
}

PyObject* graph_blocks(PyObject* self, void*) {
  PyObject* const found = blocks_tuple(self_as<GraphObject>(self));
  return Py_NewRef(found ? found : Py_None);
}

// None: the outermost has been left.
int set_graph_blocks(PyObject* self, PyObject* blocks, void*) {
  PyObject* const all = self_as<GraphObject>(self)->blocks;
  if (!all) return 0;  // the graph is being taken apart
  const nb::object thread = nb::steal(PyLong_FromUnsignedLongLong(thread_state().thread));
  if (blocks && PyTuple_Check(blocks) && PyTuple_GET_SIZE(blocks) == 3)
    return PyDict_SetItem(all, thread.ptr(), blocks);
  if (PyDict_DelItem(all, thread.ptr()) < 0) PyErr_Clear();
  return 0;
}

PyGetSetDef graph_attributes[] = {
    {"_blocks", graph_blocks, set_graph_blocks, nullptr, nullptr}, {}};
PyMemberDef graph_members[] = {
    {"_core", T_OBJECT, offsetof(GraphObject, core), READONLY, nullptr},
    {"_on_node", T_OBJECT, offsetof(GraphObject, on_node), 0, nullptr},
    {"_captures", T_BOOL, offsetof(GraphObject, captures), 0, nullptr},
    {"_has_unfeedable", T_BOOL, offsetof(GraphObject, has_unfeedable), 0, nullptr},
    {"_frozen", T_BOOL, offsetof(GraphObject, frozen), 0, nullptr},
    {}};
PyMethodDef graph_methods[] = {{"_bind", graph_bind, METH_O, nullptr},
                               {"_op_of", graph_op_of, METH_O, nullptr},
                               {"_pending_op", graph_pending_op, METH_O, nullptr},
                               {"_tensor_of", graph_tensor_of, METH_O, nullptr},
                               {"name_scope", graph_name_scope, METH_O,
                                "A block whose nodes are named below `name`."},
                               {"get_operations", graph_operations, METH_NOARGS,
                                "The operations, in order of creation."},
                               {}};

// ---- The types.

PyObject* make_type(const char* name, size_t size, std::vector<PyType_Slot> slots) {
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, static_cast<int>(size), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  return type;
}

template <class F>
void* slot(F f) {
  return reinterpret_cast<void*>(f);
}

void set_classes(nb::object tensor, nb::object operation, nb::dict dtypes) {
  found.tensor = reinterpret_cast<PyTypeObject*>(kept_by_module("_tensor_class", tensor));
  found.operation = reinterpret_cast<PyTypeObject*>(kept_by_module("_operation_class", operation));
  kept_by_module("_dtypes", dtypes);
  for (auto [number, dtype] : dtypes) found.dtypes[nb::cast<int>(number)] = dtype.ptr();
}

// Is the node still being made (a device function is looking at it)? Its id is not its own yet.
bool is_pending(GraphObject* g, const Node* node) {
  if (node->id() != 0) return false;
  if (g->node_zero == nullptr && g->graph->num_nodes() > 0) g->node_zero = g->graph->nodes()[0];
  return node != g->node_zero;
}

// Null for a node still being made: nothing is kept for it.
Faces* faces_of(GraphObject* g, const Node* node) {
  if (is_pending(g, node)) return nullptr;
  const auto id = static_cast<size_t>(node->id());
  if (id >= g->faces->size()) g->faces->resize(std::max(id + 1, 2 * g->faces->size()));
  return &(*g->faces)[id];
}

// Keeps `made` where `member` says, and hands it on. Allocating it may have moved the faces.
PyObject* keep(GraphObject* g, const Node* node, PyObject* Faces::*member, PyObject* made) {
  Faces* f = made != nullptr ? faces_of(g, node) : nullptr;
  if (f == nullptr) return made;
  if (f->*member == nullptr) {
    Py_INCREF(made);
    f->*member = made;
  }
  return made;
}

PyObject* kept(GraphObject* g, const Node* node, PyObject* Faces::*member) {
  const Faces* f = faces_of(g, node);
  PyObject* o = f != nullptr ? f->*member : nullptr;
  Py_XINCREF(o);
  return o;
}

PyObject* make_operation(GraphObject* g, Node* node) {
  PyObject* made = found.operation->tp_alloc(found.operation, 0);
  if (made == nullptr) return nullptr;
  auto* o = self_as<OperationObject>(made);
  Py_INCREF(g);
  o->graph = g;
  o->node = node;
  return made;
}

PyObject* make_tensor(GraphObject* g, Node* node, int index) {
  PyObject* made = found.tensor->tp_alloc(found.tensor, 0);
  if (made == nullptr) return nullptr;
  auto* t = self_as<TensorObject>(made);
  Py_INCREF(g);
  t->graph = g;
  t->node = node;
  t->index = index;
  t->dtype = new_reference(found.dtypes[dtype_number(*node, index)]);
  return made;
}

}  // namespace

const Classes& classes() { return found; }

PyObject* kept_by_module(const char* name, nb::handle o) {
  nb::module_::import_("emplace._core").attr(name) = o;
  return o.ptr();
}

int dtype_number(const Node& node, int output) {
  return static_cast<int>(node.output_type(output)) + (node.output_is_ref(output) ? 100 : 0);
}

PyObject* operation_of(GraphObject* g, Node* node) {
  if (PyObject* op = kept(g, node, &Faces::op)) return op;
  return keep(g, node, &Faces::op, make_operation(g, node));
}

PyObject* tensor_of(GraphObject* g, Node* node, int index) {
  if (index == 0) {
    if (PyObject* first = kept(g, node, &Faces::first)) return first;
    return keep(g, node, &Faces::first, make_tensor(g, node, 0));
  }
  PyObject* all = outputs_of(g, node);
  if (all == nullptr) return nullptr;
  PyObject* item = PyList_GetItem(all, index);
  Py_XINCREF(item);
  Py_DECREF(all);
  return item;
}

PyObject* outputs_of(GraphObject* g, Node* node) {
  if (PyObject* all = kept(g, node, &Faces::all)) return all;
  const int n = node->num_outputs();
  PyObject* all = PyList_New(n);
  for (int i = 0; all != nullptr && i < n; ++i) {
    PyObject* t = i == 0 ? tensor_of(g, node, 0) : make_tensor(g, node, i);
    if (t == nullptr) Py_CLEAR(all);
    else PyList_SET_ITEM(all, i, t);
  }
  return keep(g, node, &Faces::all, all);
}

Blocks blocks_of(const GraphObject* g) {
  Blocks around;
  if (PyObject* const said = blocks_tuple(g)) {
    PyObject* const* items = reinterpret_cast<PyTupleObject*>(said)->ob_item;
    if (PyDict_GET_SIZE(items[0]) > 0) around.attrs = items[0];
    if (PyDict_GET_SIZE(items[1]) > 0) around.gradients = items[1];
    around.on_node = items[2];
  }
  if (!around.on_node || around.on_node == Py_None) around.on_node = g->on_node;
  if (around.on_node == Py_None || around.on_node == Py_False) around.on_node = nullptr;
  return around;
}

void bind_front(nb::module_& m) {
  m.attr("TensorBase") = nb::steal(make_type(
      "emplace._core.TensorBase", sizeof(TensorObject),
      {{Py_tp_traverse, slot(tensor_traverse)}, {Py_tp_clear, slot(tensor_clear)},
       {Py_tp_dealloc, slot(tensor_dealloc)}, {Py_tp_members, tensor_members},
       {Py_tp_getset, tensor_getset}, {Py_tp_methods, tensor_methods},
       {Py_tp_new, slot(PyType_GenericNew)}}));
  m.attr("OperationBase") = nb::steal(make_type(
      "emplace._core.OperationBase", sizeof(OperationObject),
      {{Py_tp_traverse, slot(operation_traverse)}, {Py_tp_clear, slot(operation_clear)},
       {Py_tp_dealloc, slot(operation_dealloc)}, {Py_tp_members, operation_members},
       {Py_tp_getset, operation_getset}, {Py_tp_new, slot(PyType_GenericNew)}}));
  m.attr("GraphBase") = nb::steal(make_type(
      "emplace._core.GraphBase", sizeof(GraphObject),
      {{Py_tp_traverse, slot(graph_traverse)}, {Py_tp_clear, slot(graph_clear)},
       {Py_tp_dealloc, slot(graph_dealloc)}, {Py_tp_members, graph_members},
       {Py_tp_getset, graph_attributes},
       {Py_tp_methods, graph_methods}, {Py_tp_new, slot(graph_new)}}));
  m.def("set_classes", &set_classes);
}

}  // namespace emplace::python
