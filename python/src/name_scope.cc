// `with tf.name_scope(name, default_name, values) as scope` and `with graph.name_scope(name)`.
#include <memory>

#include "emplace/error.h"
#include "front.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// A block, perhaps entered more than once. With `owner` it belongs to that graph; otherwise to the
// graph of `values`, which is the default one inside the block.
struct NameScopeObject {
  PyObject_HEAD
  PyObject* name;  // None: the root
  PyObject* values;
  GraphObject* owner;
  std::vector<std::pair<PyObject*, std::unique_ptr<Scope>>>* open;  // graph (owned), its block
};

PyTypeObject* scope_type = nullptr;
PyObject* default_stack = nullptr;   // its attribute `stack`: this thread's default graphs
PyObject* find_graph = nullptr;      // (values) -> graph
PyObject* dispatch = nullptr;        // its attribute `runs_eagerly`: None or (values) -> bool

NameScopeObject* self_as(PyObject* o) { return reinterpret_cast<NameScopeObject*>(o); }

nb::object attribute(PyObject* o, const char* name) {
  PyObject* value = PyObject_GetAttrString(o, name);
  if (value == nullptr) throw nb::python_error();
  return nb::steal(value);
}

bool runs_eagerly(PyObject* values) {
  const ThreadState& s = thread_state();
  if (s.building_graph()) return false;
  if (s.eager > 0) return true;
  const nb::object asked = attribute(dispatch, "runs_eagerly");
  if (asked.is_none()) return false;
  nb::object answer = values != nullptr && values != Py_None ? asked(nb::handle(values))
                                                              : asked(nb::make_tuple());
  return PyObject_IsTrue(answer.ptr()) == 1;
}

// The graph of the first tensor; Python looks at anything else.
nb::object graph_for(PyObject* values) {
  if (values != nullptr && (PyList_CheckExact(values) || PyTuple_CheckExact(values)) &&
      PySequence_Fast_GET_SIZE(values) > 0) {
    PyObject* first = PySequence_Fast_GET_ITEM(values, 0);
    if (is_tensor(first) && as_tensor(first)->graph != nullptr &&
        !is_foreign(as_tensor(first)->graph))
      return nb::borrow(reinterpret_cast<PyObject*>(as_tensor(first)->graph));
  }
  return nb::borrow(find_graph)(nb::handle(values != nullptr ? values : Py_None));
}

std::string_view checked_name(PyObject* graph, PyObject* name) {
  if (name == nullptr || name == Py_None || PyObject_IsTrue(name) == 0) return {};
  if (!PyUnicode_Check(name)) throw nb::value_error("name for name_scope must be a string.");
  Py_ssize_t n = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &n);
  if (text == nullptr) throw nb::python_error();
  const std::string_view found(text, static_cast<size_t>(n));
  if (!is_plain_name(found)) nb::handle(graph).attr("_check_name")(nb::handle(name));
  return found;
}

PyObject* enter(NameScopeObject* s) {
  nb::object graph = nb::borrow(reinterpret_cast<PyObject*>(s->owner));
  if (s->owner == nullptr) {
    if (runs_eagerly(s->values)) {
      s->open->emplace_back(nullptr, nullptr);
      return PyUnicode_FromFormat("%S/", s->name);
    }
    graph = graph_for(s->values);
  }
  auto* g = reinterpret_cast<GraphObject*>(graph.ptr());
  const std::string_view name = checked_name(graph.ptr(), s->name);
  auto scope = std::make_unique<Scope>(g->graph->name_scope(name, {}));
  const std::string full = g->graph->current_name_scope();
  if (s->owner == nullptr) {
    const nb::object stack = attribute(default_stack, "stack");
    if (PyList_Append(stack.ptr(), graph.ptr()) < 0) throw nb::python_error();
  }
  s->open->emplace_back(graph.release().ptr(), std::move(scope));
  return PyUnicode_FromStringAndSize(full.data(), static_cast<Py_ssize_t>(full.size()));
}

void leave(NameScopeObject* s) {
  if (s->open->empty()) return;
  auto [graph, scope] = std::move(s->open->back());
  s->open->pop_back();
  if (graph == nullptr) return;
  const nb::object kept = nb::steal(graph);
  scope.reset();
  if (s->owner != nullptr) return;
  const nb::object stack = attribute(default_stack, "stack");
  const Py_ssize_t n = PyList_GET_SIZE(stack.ptr());
  if (n == 0 || PyList_GET_ITEM(stack.ptr(), n - 1) != graph) {
    PyErr_SetString(PyExc_AssertionError, "Nesting violated for default stack of Graph objects");
    throw nb::python_error();
  }
  if (PyList_SetSlice(stack.ptr(), n - 1, n, nullptr) < 0) throw nb::python_error();
}

template <class F>
PyObject* guarded(F f) {
  try {
    return f();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    set_building_error(e);
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
  return nullptr;
}

PyObject* scope_enter(PyObject* self, PyObject*) {
  return guarded([&] { return enter(self_as(self)); });
}

PyObject* scope_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  return guarded([&]() -> PyObject* {
    leave(self_as(self));
    Py_RETURN_NONE;
  });
}

PyObject* scope_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr)
    self_as(self)->open = new std::vector<std::pair<PyObject*, std::unique_ptr<Scope>>>();
  return self;
}

int scope_init(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* const kNames[] = {"name", "default_name", "values", nullptr};
  PyObject *name = nullptr, *default_name = Py_None, *values = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:name_scope", const_cast<char**>(kNames),
                                   &name, &default_name, &values))
    return -1;
  if (name != Py_None && !PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "`name` for name_scope must be a string, got %R", name);
    return -1;
  }
  if (name == Py_None && default_name == Py_None && values != Py_None) {
    PyErr_Format(PyExc_ValueError,
                 "At least one of name (%S) and default_name (%S) must be provided.", name,
                 default_name);
    return -1;
  }
  auto* s = self_as(self);
  Py_XSETREF(s->name, Py_NewRef(name == Py_None ? default_name : name));
  Py_XSETREF(s->values, Py_NewRef(values));
  return 0;
}

int scope_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* s = self_as(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(s->name);
  Py_VISIT(s->values);
  Py_VISIT(reinterpret_cast<PyObject*>(s->owner));
  for (const auto& [graph, scope] : *s->open) Py_VISIT(graph);
  return 0;
}

int scope_clear(PyObject* self) {
  Py_CLEAR(self_as(self)->values);
  return 0;
}

void scope_dealloc(PyObject* self) {
  auto* s = self_as(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  for (auto& [graph, scope] : *s->open) {
    scope.reset();
    Py_XDECREF(graph);
  }
  delete s->open;
  Py_CLEAR(s->name);
  Py_CLEAR(s->values);
  Py_CLEAR(s->owner);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef scope_members[] = {
    {"name", T_OBJECT, offsetof(NameScopeObject, name), READONLY, "The name it was given."}, {}};
PyMethodDef scope_methods[] = {
    {"__enter__", scope_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&scope_exit)), METH_FASTCALL,
     nullptr},
    {}};

template <class F>
void* slot(F f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

PyObject* name_scope_of(GraphObject* g, PyObject* name) {
  PyObject* self = scope_new(scope_type, nullptr, nullptr);
  if (self == nullptr) return nullptr;
  self_as(self)->name = Py_NewRef(name);
  self_as(self)->owner = reinterpret_cast<GraphObject*>(Py_NewRef(reinterpret_cast<PyObject*>(g)));
  return self;
}

void bind_name_scope(nb::module_& m) {
  static const char* const kDoc = "`with tf.name_scope(name, default_name, values) as scope`.";
  static PyType_Slot slots[] = {{Py_tp_new, slot(scope_new)},
                                {Py_tp_init, slot(scope_init)},
                                {Py_tp_dealloc, slot(scope_dealloc)},
                                {Py_tp_traverse, slot(scope_traverse)},
                                {Py_tp_clear, slot(scope_clear)},
                                {Py_tp_members, scope_members},
                                {Py_tp_methods, scope_methods},
                                {Py_tp_doc, const_cast<char*>(kDoc)},
                                {0, nullptr}};
  static PyType_Spec spec = {"emplace.name_scope", sizeof(NameScopeObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  scope_type = reinterpret_cast<PyTypeObject*>(type);
  m.attr("NameScope") = nb::steal(type);
  m.def("set_name_scopes", [](nb::object stack, nb::object graph_of, nb::object dispatch_module) {
    default_stack = kept_by_module("_default_stack", stack);
    find_graph = kept_by_module("_graph_of", graph_of);
    dispatch = kept_by_module("_dispatch", dispatch_module);
  });
}

}  // namespace emplace::python
