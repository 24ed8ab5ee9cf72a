// Session.run and prepared callables the short way: the same fetches and feeds as before, fed with
// plain arrays or numbers. Anything else goes to Python's long way, which words the errors.

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "run_callable.h"
#include "emplace/error.h"
#include "front.h"
#include "numpy_tensor.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

constexpr size_t kMostEntries = 4096;

enum class Kind { kOne, kList, kTuple };

// How to run one signature. Keeps its keys alive, so that their addresses stay theirs.
struct Entry {
  Kind kind = Kind::kOne;
  std::vector<nb::object> fetches, feeds;  // the keys as the user gave them
  std::vector<TensorObject*> fed;          // what each key feeds
  std::vector<nb::object> fed_owners;
  std::vector<int> positions;  // of each fetch among those of the engine; -1: an operation
  nb::object callable;
  const Callable* bound = nullptr;
};

size_t mix(size_t h, const void* p) {
  return (h ^ (reinterpret_cast<uintptr_t>(p) >> 4)) * 0x9e3779b97f4a7c15u;
}

struct SessionObject {
  PyObject_HEAD
  bool closed;
  std::unordered_multimap<size_t, std::shared_ptr<Entry>>* entries;
};

bool forked = false;

// ---- Feeding.

bool fits(const Shape& declared, const Tensor& value) {
  if (!declared.has_rank()) return true;
  if (declared.rank() != value.rank()) return false;
  for (int i = 0; i < declared.rank(); ++i)
    if (declared[i] >= 0 && declared[i] != value.dim(i)) return false;
  return true;
}

bool feed(const TensorObject* t, PyObject* value, std::vector<Tensor>& out) {
  out.push_back(quick_tensor(value, t->node->output_type(t->index)));
  return out.back().has_value() && fits(t->node->output_shape(t->index), out.back());
}

// ---- Fetching.

PyObject* value_at(const Entry& e, size_t i, std::vector<Tensor>& fetched) {
  if (e.positions[i] < 0) Py_RETURN_NONE;
  const auto at = static_cast<size_t>(e.positions[i]);
  const bool last = std::find(e.positions.begin() + static_cast<long>(i) + 1, e.positions.end(),
                              e.positions[i]) == e.positions.end();
  return to_array(last ? std::move(fetched[at]) : fetched[at], true).release().ptr();
}

PyObject* results(const Entry& e, std::vector<Tensor>& fetched) {
  if (e.kind == Kind::kOne) return value_at(e, 0, fetched);
  const auto n = static_cast<Py_ssize_t>(e.positions.size());
  nb::object all = nb::steal(e.kind == Kind::kList ? PyList_New(n) : PyTuple_New(n));
  if (!all) throw nb::python_error();
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* v = value_at(e, static_cast<size_t>(i), fetched);
    if (e.kind == Kind::kList) PyList_SET_ITEM(all.ptr(), i, v);
    else PyTuple_SET_ITEM(all.ptr(), i, v);
  }
  return all.release().ptr();
}

// ---- Running. `session` gives an error the operation it is about.

void set_running_error(PyObject* session, const Error& e) {
  const nb::object exception = exception_of(e);
  PyObject* done = PyObject_CallMethod(session, "_attach", "O", exception.ptr());
  if (done == nullptr) return;
  Py_DECREF(done);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

PyObject* run_entry(PyObject* session, const Entry& e, const std::vector<Tensor>& values) {
  try {
    std::vector<Tensor> fetched;
    run_callable(*e.bound, values, fetched, {}, nullptr);
    return results(e, fetched);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    set_running_error(session, error);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// ---- Session.

std::span<PyObject* const> fetch_items(PyObject* const& fetches, Kind& kind) {
  if (PyList_CheckExact(fetches)) kind = Kind::kList;
  else if (PyTuple_CheckExact(fetches)) kind = Kind::kTuple;
  else return {&fetches, 1};
  return {PySequence_Fast_ITEMS(fetches), static_cast<size_t>(PySequence_Fast_GET_SIZE(fetches))};
}

struct Signature {
  Kind kind = Kind::kOne;
  std::span<PyObject* const> fetches;
  PyObject* feeds = nullptr;  // a dict, or null
  size_t hash = 0;

  Signature(PyObject* const& given, PyObject* feed_dict) {
    fetches = fetch_items(given, kind);
    hash = static_cast<size_t>(kind);
    for (PyObject* f : fetches) hash = mix(hash, f);
    if (feed_dict == nullptr || feed_dict == Py_None) return;
    feeds = feed_dict;
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    while (PyDict_Next(feeds, &at, &key, nullptr)) hash = mix(hash, key);
  }

  bool matches(const Entry& e) const {
    if (e.kind != kind || e.fetches.size() != fetches.size()) return false;
    if (static_cast<Py_ssize_t>(e.feeds.size()) != (feeds ? PyDict_GET_SIZE(feeds) : 0))
      return false;
    for (size_t i = 0; i < fetches.size(); ++i)
      if (e.fetches[i].ptr() != fetches[i]) return false;
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    for (size_t i = 0; feeds != nullptr && PyDict_Next(feeds, &at, &key, nullptr); ++i)
      if (e.feeds[i].ptr() != key) return false;
    return true;
  }
};

// Shared: another thread may forget the entry during the run.
std::shared_ptr<Entry> find_entry(const SessionObject* s, const Signature& signature) {
  const auto range = s->entries->equal_range(signature.hash);
  for (auto it = range.first; it != range.second; ++it)
    if (signature.matches(*it->second)) return it->second;
  return nullptr;
}

bool read_feeds(const Entry& e, PyObject* feeds, std::vector<Tensor>& values) {
  if (feeds == nullptr) return true;
  values.reserve(e.fed.size());
  Py_ssize_t at = 0;
  PyObject *key = nullptr, *value = nullptr;
  for (size_t i = 0; PyDict_Next(feeds, &at, &key, &value); ++i) {
    if (e.fed[i]->graph->has_unfeedable || !feed(e.fed[i], value, values)) return false;
  }
  return true;
}

// Session.run(fetches, feed_dict=None, options=None, run_metadata=None)
PyObject* session_run(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  PyObject* all[4] = {nullptr, Py_None, Py_None, Py_None};
  static const char* const kNames[] = {"fetches", "feed_dict", "options", "run_metadata"};
  for (Py_ssize_t i = 0; i < n && i < 4; ++i) all[i] = args[i];
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
    int k = 0;
    while (k < 4 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), kNames[k]) != 0)
      ++k;
    if (k == 4)
      return PyErr_Format(PyExc_TypeError, "run() got an unexpected keyword argument '%U'",
                          PyTuple_GET_ITEM(names, i));
    all[k] = args[n + i];
  }
  if (all[0] == nullptr || n > 4)
    return PyErr_Format(PyExc_TypeError, all[0] != nullptr
                            ? "run() takes from 2 to 5 positional arguments"
                            : "run() missing 1 required positional argument: 'fetches'");
  auto* s = reinterpret_cast<SessionObject*>(self);
  const bool plain = !s->closed && !forked && all[2] == Py_None && all[3] == Py_None;
  if (plain && (all[1] == Py_None || PyDict_CheckExact(all[1]))) {
    const Signature signature(all[0], all[1]);
    std::vector<Tensor> values;
    if (const auto e = find_entry(s, signature); e && read_feeds(*e, signature.feeds, values))
      return run_entry(self, *e, values);
    if (PyErr_Occurred()) PyErr_Clear();
  }
  static PyObject* const long_name = PyUnicode_InternFromString("_run");
  PyObject* call[] = {self, all[0], all[1], all[2], all[3]};
  PyObject* result = PyObject_VectorcallMethod(long_name, call, 5, nullptr);
  if (result == nullptr) trim_traceback();
  return result;
}

std::shared_ptr<Entry> make_entry(nb::handle keys, nb::handle feed_keys, nb::handle fed,
                                  nb::handle positions, nb::handle callable) {
  auto e = std::make_shared<Entry>();
  for (nb::handle k : nb::borrow(keys)) e->fetches.push_back(nb::borrow(k));
  for (nb::handle k : nb::borrow(feed_keys)) e->feeds.push_back(nb::borrow(k));
  for (nb::handle t : nb::borrow(fed)) {
    if (!is_tensor(t.ptr())) throw nb::type_error("feeds are tensors");
    e->fed.push_back(as_tensor(t.ptr()));
    e->fed_owners.push_back(nb::borrow(t));
  }
  for (nb::handle p : nb::borrow(positions)) e->positions.push_back(nb::cast<int>(p));
  e->callable = nb::borrow(callable);
  e->bound = &nb::cast<const Callable&>(e->callable);
  return e;
}

bool same_objects(const std::vector<nb::object>& a, const std::vector<nb::object>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const nb::object& x, const nb::object& y) { return x.ptr() == y.ptr(); });
}

// _remember(fetches, feed_keys, fed tensors, positions, callable)
PyObject* session_remember(PyObject* self, PyObject* args) {
  PyObject *fetches, *keys, *fed, *positions, *callable;
  if (!PyArg_ParseTuple(args, "OOOOO", &fetches, &keys, &fed, &positions, &callable)) return nullptr;
  try {
    Kind kind = Kind::kOne;
    size_t hash = 0;
    const auto items = fetch_items(fetches, kind);
    hash = static_cast<size_t>(kind);
    nb::list kept;
    for (PyObject* f : items) kept.append(nb::borrow(f)), hash = mix(hash, f);
    auto e = make_entry(kept, keys, fed, positions, callable);
    e->kind = kind;
    for (const nb::object& k : e->feeds) hash = mix(hash, k.ptr());
    auto* s = reinterpret_cast<SessionObject*>(self);
    const auto same = [&](const auto& known) {
      return known.second->kind == kind && same_objects(known.second->fetches, e->fetches) &&
             same_objects(known.second->feeds, e->feeds);
    };
    const auto [first, last] = s->entries->equal_range(hash);
    if (std::find_if(first, last, same) == last && s->entries->size() < kMostEntries)
      s->entries->emplace(hash, std::move(e));
  } catch (nb::python_error& e) {
    e.restore();
    return nullptr;
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* session_forget(PyObject* self, PyObject*) {
  std::unordered_multimap<size_t, std::shared_ptr<Entry>> old;
  old.swap(*reinterpret_cast<SessionObject*>(self)->entries);
  Py_RETURN_NONE;
}

PyObject* session_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr)
    reinterpret_cast<SessionObject*>(self)->entries =
        new std::unordered_multimap<size_t, std::shared_ptr<Entry>>();
  return self;
}

int session_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  for (const auto& [hash, e] : *reinterpret_cast<SessionObject*>(self)->entries) {
    for (const nb::object& o : e->fetches) Py_VISIT(o.ptr());
    for (const nb::object& o : e->feeds) Py_VISIT(o.ptr());
    for (const nb::object& o : e->fed_owners) Py_VISIT(o.ptr());
    Py_VISIT(e->callable.ptr());
  }
  return 0;
}

int session_clear(PyObject* self) {
  Py_XDECREF(session_forget(self, nullptr));
  return 0;
}

void session_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete reinterpret_cast<SessionObject*>(self)->entries;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef session_members[] = {{"_closed", T_BOOL, offsetof(SessionObject, closed), 0, nullptr},
                                 {}};
PyMethodDef session_methods[] = {
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&session_run)),
     METH_FASTCALL | METH_KEYWORDS,
     "run($self, fetches, feed_dict=None, options=None, run_metadata=None)\n--\n\n"
     "Runs what `fetches` need, with the values of `feed_dict`, and returns their values."},
    {"_remember", session_remember, METH_VARARGS, nullptr},
    {"_forget", session_forget, METH_NOARGS, nullptr},
    {}};

// ---- Prepared callables.

struct PreparedObject {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* session;
  PyObject* otherwise;  // the long way, with the same arguments
  std::shared_ptr<Entry>* entry;
};

PyObject* prepared_call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  auto* p = reinterpret_cast<PreparedObject*>(self);
  const auto n = static_cast<size_t>(PyVectorcall_NARGS(flagged));
  const bool closed = reinterpret_cast<SessionObject*>(p->session)->closed || forked;
  const Entry& e = **p->entry;
  if (names == nullptr && !closed && n == e.fed.size()) {
    std::vector<Tensor> values;
    values.reserve(n);
    size_t i = 0;
    while (i < n && !e.fed[i]->graph->has_unfeedable && feed(e.fed[i], args[i], values)) ++i;
    if (i == n) return run_entry(p->session, e, values);
    if (PyErr_Occurred()) PyErr_Clear();
  }
  PyObject* result = PyObject_Vectorcall(p->otherwise, args, flagged, names);
  if (result == nullptr) trim_traceback();
  return result;
}

int prepared_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* p = reinterpret_cast<PreparedObject*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(p->session);
  Py_VISIT(p->otherwise);
  if (p->entry != nullptr) {
    for (const nb::object& o : (*p->entry)->fed_owners) Py_VISIT(o.ptr());
    Py_VISIT((*p->entry)->callable.ptr());
  }
  return 0;
}

void prepared_dealloc(PyObject* self) {
  auto* p = reinterpret_cast<PreparedObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(p->session);
  Py_CLEAR(p->otherwise);
  delete p->entry;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef prepared_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PreparedObject, call), READONLY, nullptr}, {}};

template <class F>
void* slot(F f) {
  return reinterpret_cast<void*>(f);
}

PyTypeObject* prepared_type() {
  static PyTypeObject* const type = [] {
    static PyType_Slot slots[] = {{Py_tp_dealloc, slot(prepared_dealloc)},
                                  {Py_tp_traverse, slot(prepared_traverse)},
                                  {Py_tp_call, slot(PyVectorcall_Call)},
                                  {Py_tp_members, prepared_members},
                                  {0, nullptr}};
    static PyType_Spec spec = {"emplace._core.PreparedCallable", sizeof(PreparedObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC |
                                   Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }();
  return type;
}

nb::object make_prepared(nb::object session, nb::object otherwise, const char* given_kind,
                         nb::object fed, nb::object positions, nb::object callable) {
  auto e = make_entry(nb::list(), nb::list(), fed, positions, callable);
  const std::string_view kind = given_kind;
  e->kind = kind == "list" ? Kind::kList : kind == "tuple" ? Kind::kTuple : Kind::kOne;
  PyObject* made = prepared_type()->tp_alloc(prepared_type(), 0);
  if (made == nullptr) throw nb::python_error();
  auto* p = reinterpret_cast<PreparedObject*>(made);
  p->call = &prepared_call;
  p->session = session.release().ptr();
  p->otherwise = otherwise.release().ptr();
  p->entry = new std::shared_ptr<Entry>(std::move(e));
  return nb::steal(made);
}

}  // namespace

void bind_runner(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_new, slot(session_new)},
                                {Py_tp_dealloc, slot(session_dealloc)},
                                {Py_tp_traverse, slot(session_traverse)},
                                {Py_tp_clear, slot(session_clear)},
                                {Py_tp_members, session_members},
                                {Py_tp_methods, session_methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"emplace._core.SessionBase", sizeof(SessionObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  m.attr("SessionBase") = nb::steal(type);
  m.def("make_prepared", &make_prepared);
  m.def("set_forked", [](bool value) { forked = value; });
}

}  // namespace emplace::python
