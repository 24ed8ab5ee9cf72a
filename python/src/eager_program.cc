#include "eager_program.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_map>

#include "eager_tensor.h"
#include "emplace/op.h"
#include "gil.h"
#include "guarded.h"
#include "interrupts.h"
#include "options.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

constexpr int kKept = INT32_MAX;
constexpr size_t kSmall = 64 << 10;  // bytes that are worked through without letting others in
bool run_eagerly = false;            // tf.config.run_functions_eagerly

}  // namespace

int EagerProgram::add(std::string op, AttrList attrs, std::string device, std::vector<int> sources,
                      int num_outputs) {
  for (const int s : sources) last_.at(static_cast<size_t>(s)) = static_cast<int>(steps_.size());
  const int first = values_;
  values_ += num_outputs;
  last_.resize(static_cast<size_t>(values_), -1);
  steps_.push_back({std::move(op), std::move(attrs), std::move(device), std::move(sources),
                    num_outputs, first, nullptr});
  return first;
}

void EagerProgram::set_results(std::vector<int> results) {
  for (const int r : results) last_.at(static_cast<size_t>(r)) = kKept;
  results_ = std::move(results);
}

const EagerCall& EagerProgram::prepare(Step& s, std::span<const Tensor> inputs) {
  auto made = engine()->prepare(s.op, inputs, s.attrs, s.device);
  if (!s.call) s.call = std::move(made);  // the first stays: another thread may be running it
  ready_ = std::ranges::all_of(steps_, [](const Step& x) { return x.call != nullptr; });
  light_ = ready_ && std::ranges::all_of(steps_, [](const Step& x) { return x.call->light(); });
  return *s.call;
}

// With the GIL, the first time: an operation is prepared under it and run without.
static void run_first(const EagerCall& call, Tensor* operands) {
  const Away away;
  engine()->run_quick(call, operands);
}

void EagerProgram::run_steps(std::vector<Tensor>& values, bool ready) {
  std::vector<Tensor> many;
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& s = steps_[i];
    const size_t n = s.sources.size(), total = n + static_cast<size_t>(s.num_outputs);
    Tensor few[6];
    if (total > 6) many.assign(total, {});
    Tensor* const operands = total > 6 ? many.data() : few;
    for (size_t k = 0; k < n; ++k) {
      const auto source = static_cast<size_t>(s.sources[k]);
      // Twice among the operands: the later one takes it.
      const bool again = std::find(s.sources.begin() + static_cast<int64_t>(k) + 1, s.sources.end(),
                                   s.sources[k]) != s.sources.end();
      const bool dies = last_[source] == static_cast<int>(i) && !again;
      operands[k] = dies ? std::move(values[source]) : values[source];
    }
    if (ready) engine()->run_quick(*s.call, operands);
    else run_first(s.call ? *s.call : prepare(s, {operands, n}), operands);
    for (int o = 0; o < s.num_outputs; ++o)
      values[static_cast<size_t>(s.first + o)] = std::move(operands[n + static_cast<size_t>(o)]);
  }
}

std::vector<Tensor> EagerProgram::run(std::vector<Tensor> inputs) {
  if (!engine()) throw internal_error("the engine has not started");
  size_t bytes = 0;
  for (const Tensor& t : inputs) bytes += t.bytes();
  inputs.resize(static_cast<size_t>(values_));
  if (light_ && bytes <= kSmall) {
    gate();
    run_steps(inputs, true);
  } else if (!ready_) {
    hear_signals();
    engine()->run_as_one([&] { run_steps(inputs, false); });
  } else {
    const Away away;
    engine()->run_as_one([&] { run_steps(inputs, true); });
  }
  std::vector<Tensor> results;
  for (const int r : results_) results.push_back(inputs[static_cast<size_t>(r)]);
  return results;
}

std::vector<Tensor> GraphProgram::run(std::vector<Tensor> inputs) {
  const Away away;
  std::vector<Tensor> results;
  function_->run(inputs, results);
  return results;
}

namespace {

Tensor tensor_at(nb::handle t) {
  if (is_eager(t.ptr())) return value_of(t.ptr());
  PyErr_Format(PyExc_TypeError, "an eager tensor is wanted, not %R", t.ptr());
  throw nb::python_error();
}

nb::list run_program(Runnable& p, nb::list inputs) {
  std::vector<Tensor> values;
  for (nb::handle t : inputs) values.push_back(tensor_at(t));
  nb::list results;
  for (Tensor& t : p.run(std::move(values))) results.append(nb::steal(wrap(std::move(t))));
  return results;
}

// A function's traces by the dtypes and shapes of its arguments, for calls with tensors alone.
struct FunctionCache {
  PyObject_HEAD
  vectorcallfunc call;
  struct Trace {
    nb::object program;            // keeps `run` alive
    Runnable* run;
    std::vector<nb::object> captured;
    nb::object pack;               // None: one tensor; else (list of results) -> what is returned
    nb::object told;               // (exception) -> the exception to raise instead
  };
  std::unordered_map<std::string, Trace>* traces;
  Py_ssize_t hits;  // calls that needed no Python
};

bool key_of(std::string& key, PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!is_eager(args[i])) return false;
    const Tensor& t = value_of(args[i]);
    key += static_cast<char>(t.dtype());
    key += static_cast<char>(t.rank());
    key.append(reinterpret_cast<const char*>(t.shape().begin()),
               static_cast<size_t>(t.rank()) * sizeof(int64_t));
  }
  return true;
}

// The exception that is set, as the function's own side words it.
void retell(const nb::object& told) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* said = value ? PyObject_CallOneArg(told.ptr(), value) : nullptr;
  if (said) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(said)), said);
  Py_XDECREF(said);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

PyObject* cache_call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(flagged);
  const ThreadState& s = thread_state();
  if (run_eagerly || names || s.building_graph() || s.recording() || s.device())
    Py_RETURN_NOTIMPLEMENTED;
  std::string key;
  if (!key_of(key, args, n)) Py_RETURN_NOTIMPLEMENTED;
  auto& traces = *reinterpret_cast<FunctionCache*>(self)->traces;
  const auto it = traces.find(key);
  if (it == traces.end()) Py_RETURN_NOTIMPLEMENTED;
  ++reinterpret_cast<FunctionCache*>(self)->hits;
  const FunctionCache::Trace trace = it->second;
  PyObject* returned = guarded_or<PyObject*>(nullptr, [&]() -> PyObject* {
    std::vector<Tensor> inputs;
    inputs.reserve(static_cast<size_t>(n) + trace.captured.size() + 4);
    for (Py_ssize_t i = 0; i < n; ++i) inputs.push_back(value_of(args[i]));
    for (const nb::object& c : trace.captured) inputs.push_back(value_of(c.ptr()));
    std::vector<Tensor> results = trace.run->run(std::move(inputs));
    if (trace.pack.is_none()) return wrap(std::move(results.at(0)));
    nb::list list;
    for (Tensor& t : results) list.append(nb::steal(wrap(std::move(t))));
    return trace.pack(list).release().ptr();
  });
  if (!returned) retell(trace.told);
  return returned;
}

PyObject* cache_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  reinterpret_cast<FunctionCache*>(self)->call = &cache_call;
  reinterpret_cast<FunctionCache*>(self)->traces =
      new std::unordered_map<std::string, FunctionCache::Trace>;
  return self;
}

int cache_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  auto* traces = reinterpret_cast<FunctionCache*>(self)->traces;
  if (traces)
    for (auto& [key, t] : *traces) {
      Py_VISIT(t.program.ptr());
      Py_VISIT(t.pack.ptr());
      Py_VISIT(t.told.ptr());
      for (nb::object& c : t.captured) Py_VISIT(c.ptr());
    }
  return 0;
}

int cache_clear(PyObject* self) {
  auto* f = reinterpret_cast<FunctionCache*>(self);
  if (f->traces) {
    auto gone = std::move(*f->traces);
    f->traces->clear();
  }
  return 0;
}

void cache_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  cache_clear(self);
  delete reinterpret_cast<FunctionCache*>(self)->traces;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// add(args, program, captured, pack, told): calls with such arguments run the program from now on.
PyObject* cache_add(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (n != 5) return PyErr_Format(PyExc_TypeError, "add(args, program, captured, pack, told)");
  return guarded_or<PyObject*>(nullptr, [&]() -> PyObject* {
    std::string key;
    const nb::object given = nb::steal(PySequence_Tuple(args[0]));
    if (!given) throw nb::python_error();
    if (!key_of(key, PySequence_Fast_ITEMS(given.ptr()), PyTuple_GET_SIZE(given.ptr())))
      Py_RETURN_NONE;
    FunctionCache::Trace t;
    t.program = nb::borrow(args[1]);
    t.run = nb::cast<Runnable*>(t.program);
    for (nb::handle c : nb::borrow(args[2])) {
      tensor_at(c);
      t.captured.push_back(nb::borrow(c));
    }
    t.pack = nb::borrow(args[3]);
    t.told = nb::borrow(args[4]);
    (*reinterpret_cast<FunctionCache*>(self)->traces)[key] = std::move(t);
    Py_RETURN_NONE;
  });
}

PyMemberDef cache_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionCache, call), READONLY, nullptr},
    {"hits", T_PYSSIZET, offsetof(FunctionCache, hits), READONLY, nullptr},
    {}};
PyMethodDef cache_methods[] = {
    {"add", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&cache_add)), METH_FASTCALL,
     "(args, program, captured, pack, told)"},
    {}};

PyObject* make_cache_type() {
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(cache_new)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(cache_dealloc)},
                                {Py_tp_traverse, reinterpret_cast<void*>(cache_traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(cache_clear)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_members, cache_members},
                                {Py_tp_methods, cache_methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"emplace._core.FunctionCache", sizeof(FunctionCache), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                             slots};
  return PyType_FromSpec(&spec);
}

}  // namespace

void bind_eager_program(nb::module_& m) {
  nb::class_<Runnable>(m, "Runnable").def("run", &run_program);
  nb::class_<EagerProgram, Runnable>(m, "EagerProgram")
      .def(nb::init<int>())
      .def("add", [](EagerProgram& p, const std::string& op, nb::dict attrs,
                     const std::string& device, std::vector<int> sources, int num_outputs) {
        const OpDef* def = find_op(op);
        if (!def) throw not_found("Op type not registered '" + op + "'");
        return p.add(op, to_attrs(*def, attrs), device, std::move(sources), num_outputs);
      })
      .def("set_results", &EagerProgram::set_results);
  PyObject* type = make_cache_type();
  if (!type) throw nb::python_error();
  m.attr("FunctionCache") = nb::steal(type);
  m.def("set_functions_run_eagerly", [](bool on) { run_eagerly = on; });
}

}  // namespace emplace::python
