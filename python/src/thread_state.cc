#include "thread_state.h"

#include <nanobind/nanobind.h>

namespace emplace::python {
namespace {

constexpr const char* kKey = "emplace.thread_state";
thread_local ThreadState state;
long eager_everywhere = 0;  // the depth that a thread begins with

// The list that holds the thread's lists, made when first asked for.
PyObject* owner() {
  PyObject* dict = PyThreadState_GetDict();
  if (!dict) throw nanobind::python_error();
  PyObject* lists = PyDict_GetItemString(dict, kKey);
  if (lists) return lists;
  lists = Py_BuildValue("[[],[],[]]");
  if (!lists || PyDict_SetItemString(dict, kKey, lists) < 0) throw nanobind::python_error();
  Py_DECREF(lists);
  return lists;
}

void point_at(PyObject* lists) {
  state.graphs = PyList_GET_ITEM(lists, 0);
  state.devices = PyList_GET_ITEM(lists, 1);
  state.recorders = PyList_GET_ITEM(lists, 2);
}

PyObject* get_list(PyObject*, void* which) {
  ThreadState& s = thread_state();
  PyObject* const lists[] = {s.graphs, s.devices, s.recorders};
  return Py_NewRef(lists[reinterpret_cast<intptr_t>(which)]);
}

int set_list(PyObject*, PyObject* value, void* which) {
  if (!value || !PyList_CheckExact(value)) {
    PyErr_SetString(PyExc_TypeError, "a list is wanted");
    return -1;
  }
  thread_state();
  PyObject* lists = owner();
  if (PyList_SetItem(lists, reinterpret_cast<intptr_t>(which), Py_NewRef(value)) < 0) return -1;
  point_at(lists);
  return 0;
}

PyObject* get_eager(PyObject*, void*) { return PyLong_FromLong(thread_state().eager); }

int set_eager(PyObject*, PyObject* value, void*) {
  const long depth = value ? PyLong_AsLong(value) : -1;
  if (depth == -1 && PyErr_Occurred()) return -1;
  thread_state().eager = depth;
  return 0;
}

PyObject* get_everywhere(PyObject*, void*) { return PyBool_FromLong(eager_everywhere); }

// Other threads of the program that were met before keep their depth.
int set_everywhere(PyObject*, PyObject* value, void*) {
  const int on = value ? PyObject_IsTrue(value) : -1;
  if (on < 0) return -1;
  thread_state().eager += on - eager_everywhere;
  eager_everywhere = on;
  return 0;
}

void* slot(intptr_t i) { return reinterpret_cast<void*>(i); }

}  // namespace

ThreadState& thread_state() {
  const uint64_t id = PyThreadState_GetID(PyThreadState_Get());
  if (state.thread != id) [[unlikely]] {
    point_at(owner());
    state.thread = id;
    state.eager = eager_everywhere;
  }
  return state;
}

PyObject* make_thread_state_type() {
  static PyGetSetDef attributes[] = {
      {"graphs", get_list, set_list, "the graphs being built", slot(0)},
      {"devices", get_list, set_list, "device blocks", slot(1)},
      {"recorders", get_list, set_list, "tapes that listen", slot(2)},
      {"eager", get_eager, set_eager, "depth of calls from the eager namespace", nullptr},
      {"eager_everywhere", get_everywhere, set_everywhere, "whether all calls count as such",
       nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_getset, attributes}, {0, nullptr}};
  static PyType_Spec spec = {"emplace._core.ThreadState", sizeof(PyObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return PyType_FromSpec(&spec);
}

}  // namespace emplace::python
