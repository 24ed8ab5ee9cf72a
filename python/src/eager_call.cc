#include "eager_call.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert.h"
#include "eager_tensor.h"
#include "emplace/op.h"
#include "gil.h"
#include "guarded.h"
#include "options.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

constexpr size_t kMaxCalls = 20'000;
constexpr size_t kSmall = 64 << 10;  // bytes that are worked through without letting others in

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
using Calls = std::unordered_map<std::string, std::shared_ptr<const EagerCall>, Hash,
                                 std::equal_to<>>;

Calls& calls() {
  static Calls* all = new Calls;  // never destroyed: the engine may end later
  return *all;
}

// A call some of whose inputs are Python numbers: the tensors they were made into, each with its
// place among the inputs. Numbers are part of the key.
struct Frozen {
  std::shared_ptr<const EagerCall> call;
  std::vector<std::pair<size_t, nb::object>> constants;
};
using FrozenCalls = std::unordered_map<std::string, Frozen, Hash, std::equal_to<>>;
constexpr size_t kMaxFrozen = 4096;
constexpr Py_ssize_t kMaxNumbers = 16;  // in a list that is kept

FrozenCalls& frozen_calls() {
  static FrozenCalls* all = new FrozenCalls;
  return *all;
}

template <class T>
void put(std::string& key, const T& v) {
  key.append(reinterpret_cast<const char*>(&v), sizeof v);
}

void put_text(std::string& key, const char* text, Py_ssize_t n) {
  put(key, n);
  key.append(text, static_cast<size_t>(n));
}

constexpr int kDeepest = 16;  // lists within lists; one may hold itself

// Appends the value; false when it can't be told apart from others by a few bytes.
bool put_value(std::string& key, PyObject* v, int depth = 0) {
  if (v == Py_None || PyBool_Check(v)) {
    key += v == Py_None ? 'n' : v == Py_True ? 'y' : 'z';
  } else if (PyLong_CheckExact(v)) {
    int overflow = 0;
    const int64_t i = PyLong_AsLongLongAndOverflow(v, &overflow);
    if (overflow) return false;
    key += 'i';
    put(key, i);
  } else if (PyFloat_CheckExact(v)) {
    key += 'f';
    put(key, PyFloat_AS_DOUBLE(v));
  } else if (PyUnicode_CheckExact(v)) {
    Py_ssize_t n = 0;
    const char* text = PyUnicode_AsUTF8AndSize(v, &n);
    if (!text) return PyErr_Clear(), false;
    key += 's';
    put_text(key, text, n);
  } else if (PyBytes_CheckExact(v)) {
    key += 'b';
    put_text(key, PyBytes_AS_STRING(v), PyBytes_GET_SIZE(v));
  } else if (PyList_CheckExact(v) || PyTuple_CheckExact(v)) {
    if (depth == kDeepest) return false;
    key += 'l';
    put(key, PySequence_Fast_GET_SIZE(v));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(v); ++i)
      if (!put_value(key, PySequence_Fast_GET_ITEM(v, i), depth + 1)) return false;
  } else if (Py_TYPE(v) == Py_TYPE(classes().dtypes[1])) {
    key += 't';
    put(key, v);  // there is one object a dtype
  } else {
    return false;
  }
  return true;
}

void put_tensor(std::string& key, const Tensor& t) {
  key += static_cast<char>(t.dtype());
  if (t.dtype() == DType::kResource && t.num_elements() == 1) {
    const std::string& device = t.data<ResourceHandle>()->device;
    put_text(key, device.data(), static_cast<Py_ssize_t>(device.size()));
  }
}

bool is_number(PyObject* v) {
  return PyLong_CheckExact(v) || PyFloat_CheckExact(v) || PyBool_Check(v);
}

bool are_numbers(PyObject* v) {
  if (is_number(v)) return true;
  if (!PyList_CheckExact(v) && !PyTuple_CheckExact(v)) return false;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(v);
  if (n == 0 || n > kMaxNumbers) return false;
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!is_number(PySequence_Fast_GET_ITEM(v, i))) return false;
  return true;
}

// Appends the inputs' dtypes and their objects to `flat`, null for numbers; false when one is
// neither a tensor nor a few numbers.
bool put_inputs(std::string& key, PyObject* inputs, std::vector<PyObject*>& flat) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(inputs); ++i) {
    PyObject* v = PySequence_Fast_GET_ITEM(inputs, i);
    if (is_eager(v)) {
      put_tensor(key, value_of(v));
      flat.push_back(v);
    } else if (are_numbers(v)) {
      key += '#';
      if (!put_value(key, v)) return false;
      flat.push_back(nullptr);
    } else if (PyList_CheckExact(v) || PyTuple_CheckExact(v)) {
      key += '[';
      put(key, PySequence_Fast_GET_SIZE(v));
      for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(v); ++j) {
        PyObject* item = PySequence_Fast_GET_ITEM(v, j);
        if (!is_eager(item)) return false;
        put_tensor(key, value_of(item));
        flat.push_back(item);
      }
    } else {
      return false;
    }
  }
  return true;
}

bool is_sequence(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

// The key of a call; false when it has none.
bool key_of(std::string& key, PyObject* op, PyObject* inputs, PyObject* attrs, PyObject* device,
            std::vector<PyObject*>& flat) {
  if (!PyUnicode_CheckExact(op) || !is_sequence(inputs)) return false;
  if (attrs && !PyDict_CheckExact(attrs)) return false;
  key.clear();
  flat.clear();
  if (!put_value(key, op) || !put_inputs(key, inputs, flat)) return false;
  if (device && !put_value(key, device)) return false;
  key += '|';
  PyObject *name, *value;
  for (Py_ssize_t at = 0; attrs && PyDict_Next(attrs, &at, &name, &value);)
    if (!put_value(key, name) || !put_value(key, value)) return false;
  return true;
}

PyObject* packer = nullptr;  // (op, outputs, attrs) -> what the wrapper returns

// A call's key and inputs. Their memory serves the thread's next call; one that a log or a tape
// makes meanwhile has its own.
struct Scratch {
  std::string key = std::move(spare_key);
  std::vector<PyObject*> flat = std::move(spare_flat);
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  ~Scratch() {
    spare_key = std::move(key);
    spare_flat = std::move(flat);
  }
  static thread_local std::string spare_key;
  static thread_local std::vector<PyObject*> spare_flat;
};
thread_local std::string Scratch::spare_key;
thread_local std::vector<PyObject*> Scratch::spare_flat;

PyObject* list_of(PyObject* const* items, int n) {
  PyObject* list = PyList_New(n);
  for (int i = 0; list && i < n; ++i) PyList_SET_ITEM(list, i, Py_NewRef(items[i]));
  return list;
}

// Runs the call over tensor objects; null with a Python error set.
PyObject* run_objects(const EagerCall& call, PyObject* const* inputs, size_t n) {
  constexpr size_t kInline = 8;
  Tensor few[kInline];
  std::vector<Tensor> many;
  const size_t total = n + static_cast<size_t>(call.num_outputs());
  if (total > kInline) many.resize(total);
  Tensor* values = total > kInline ? many.data() : few;
  for (size_t i = 0; i < n; ++i) values[i] = value_of(inputs[i]);
  run_call(call, values);
  PyObject* outputs = PyList_New(call.num_outputs());
  for (int i = 0; outputs && i < call.num_outputs(); ++i) {
    PyObject* o = wrap(std::move(values[n + static_cast<size_t>(i)]), call.other_cpu());
    if (!o) Py_CLEAR(outputs);
    else PyList_SET_ITEM(outputs, i, o);
  }
  return outputs;
}

}  // namespace

void run_call(const EagerCall& call, Tensor* values) {
  size_t bytes = 0;
  for (int i = 0; i < call.num_inputs(); ++i) bytes += values[i].bytes();
  if (call.light() && bytes <= kSmall) return gate(), engine()->run_quick(call, values);
  const Away away;
  engine()->run(call, values);
}

bool record(ThreadState& s, PyObject* op, PyObject* attrs, PyObject* const* operands,
            const Tensor* values, int num_inputs, PyObject* const* outputs, int num_outputs) {
  PyObject* inputs = PyList_New(num_inputs);
  if (!inputs) return false;
  for (int i = 0; i < num_inputs; ++i) {
    PyObject* o = is_eager(operands[i]) ? Py_NewRef(operands[i]) : wrap(Tensor(values[i]));
    PyList_SET_ITEM(inputs, i, o);
  }
  const nb::object in = nb::steal(inputs), out = nb::steal(list_of(outputs, num_outputs));
  const nb::object given = attrs ? nb::borrow(attrs) : nb::steal(PyDict_New());
  static PyObject* const method = PyUnicode_InternFromString("record");
  const nb::object tapes = nb::steal(PyList_GetSlice(s.recorders, 0, PyList_GET_SIZE(s.recorders)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tapes.ptr()); ++i) {
    PyObject* const tape = PyList_GET_ITEM(tapes.ptr(), i);
    PyObject* const args[] = {tape, op, given.ptr(), in.ptr(), out.ptr()};
    PyObject* done = PyObject_VectorcallMethod(method, args, 5, nullptr);
    if (!done) return false;
    Py_DECREF(done);
  }
  return true;
}

namespace {

// The call of a key, numbers among its inputs replaced by their tensors; null when there is none.
std::shared_ptr<const EagerCall> found_call(const std::string& key, std::vector<PyObject*>& flat,
                                            std::vector<nb::object>& held) {
  const auto missing = std::count(flat.begin(), flat.end(), nullptr);
  if (!missing) {
    const auto it = calls().find(std::string_view(key));
    return it == calls().end() ? nullptr : it->second;
  }
  if (static_cast<size_t>(missing) == flat.size()) return nullptr;  // who runs it, the mode decides
  const auto it = frozen_calls().find(std::string_view(key));
  if (it == frozen_calls().end()) return nullptr;
  for (const auto& [at, tensor] : it->second.constants) {
    held.push_back(tensor);
    flat[at] = tensor.ptr();
  }
  return it->second.call;
}

// Keeps the call under the key of what was given; `tensors` is what became of it.
void keep_call(std::string key, const std::vector<PyObject*>& given, PyObject* const* tensors,
               const std::shared_ptr<const EagerCall>& call) {
  Frozen made{call, {}};
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i]) made.constants.emplace_back(i, nb::borrow(tensors[i]));
  if (made.constants.empty()) {
    calls().emplace(std::move(key), call);
    return;
  }
  if (frozen_calls().size() >= kMaxFrozen) {
    const FrozenCalls gone = std::move(frozen_calls());  // tensors end after the table is whole
    frozen_calls().clear();
  }
  frozen_calls().emplace(std::move(key), std::move(made));
}

}  // namespace

PyObject* quick_call(PyObject* op, PyObject* inputs, PyObject* attrs) {
  ThreadState& s = thread_state();
  if (s.building_graph() || !engine()) return nullptr;
  if (attrs == Py_None) attrs = nullptr;
  Scratch scratch;
  if (!key_of(scratch.key, op, inputs, attrs, s.device(), scratch.flat) || scratch.flat.empty())
    return nullptr;
  std::vector<nb::object> held;  // another thread may forget the call meanwhile
  const std::shared_ptr<const EagerCall> call = found_call(scratch.key, scratch.flat, held);
  if (!call) return nullptr;
  const auto n = static_cast<int>(scratch.flat.size());
  if (n != call->num_inputs()) return nullptr;
  nb::object outputs;
  try {
    outputs = nb::steal(run_objects(*call, scratch.flat.data(), scratch.flat.size()));
  } catch (const std::exception&) {
    return nullptr;  // the long way fails too, in the right words
  }
  if (!outputs) return nullptr;
  PyObject** made = reinterpret_cast<PyListObject*>(outputs.ptr())->ob_item;
  if (s.recording() &&
      !record(s, op, attrs, scratch.flat.data(), nullptr, n, made, call->num_outputs()))
    return nullptr;
  if (!call->gives_list()) return Py_NewRef(made[0]);
  return PyObject_CallFunctionObjArgs(packer, op, outputs.ptr(), attrs ? attrs : Py_None, nullptr);
}

PyObject* execute_call(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 4 && n != 6)
    return PyErr_Format(PyExc_TypeError, "execute takes 4 or 6 arguments, not %zd", n);
  return guarded_or<PyObject*>(nullptr, [&]() -> PyObject* {
    const std::string op_name = nb::cast<std::string>(nb::handle(args[0]));
    const OpDef* op = find_op(op_name);
    if (!op) throw not_found("Op type not registered '" + op_name + "'");
    if (!engine()) throw internal_error("the engine has not started");
    std::string key;
    std::vector<PyObject*> flat;
    PyObject* const device = PyUnicode_GET_LENGTH(args[3]) ? args[3] : nullptr;
    const bool has_key = key_of(key, args[0], args[1], args[2], device, flat);
    std::vector<nb::object> inputs;
    std::vector<Tensor> values;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args[1]); ++i) {
      PyObject* t = PySequence_Fast_GET_ITEM(args[1], i);
      if (!is_eager(t)) {
        PyErr_Format(PyExc_TypeError, "%s: an eager tensor is wanted, not %R", op_name.c_str(), t);
        throw nb::python_error();
      }
      values.push_back(value_of(t));
      flat.resize(static_cast<size_t>(i) + 1);
      flat[static_cast<size_t>(i)] = t;
    }
    std::shared_ptr<const EagerCall> call;
    if (has_key)
      if (const auto it = calls().find(key); it != calls().end()) call = it->second;
    if (!call) {
      call = engine()->prepare(op_name, values, to_attrs(*op, nb::borrow<nb::dict>(args[2])),
                               nb::cast<std::string>(nb::handle(args[3])));
      if (calls().size() > kMaxCalls) calls().clear();
      if (has_key && call->reusable()) calls().emplace(std::move(key), call);
    }
    if (n == 6 && call->reusable()) {
      std::vector<PyObject*> given;  // fewer where an empty list stands for a tensor
      if (key_of(key, args[0], args[4], args[5], device, given) && given.size() == values.size())
        keep_call(std::move(key), given, flat.data(), call);
    }
    return run_objects(*call, flat.data(), flat.size());
  });
}

void set_packer(PyObject* function) { packer = function; }

void forget_calls() {
  calls().clear();
  frozen_calls().clear();
}

}  // namespace emplace::python
