#include "eager_operators.h"

#include <array>
#include <string_view>

#include "eager_call.h"
#include "eager_tensor.h"
#include "guarded.h"
#include "thread_state.h"

namespace emplace::python {
namespace {

enum Word {
  kAdd, kSub, kMul, kTrueDiv, kFloorDiv, kMod, kPow, kMatMul, kAnd, kOr, kXor,
  kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual, kNegative, kWords
};

enum class Fits { kNumbers, kFloats, kReals, kIntsOrBool, kNegatable, kAny, kNever };

struct Operator {
  const char* left;   // Python's names
  const char* right;
  const char* op;     // the operation
  const char* of_bools;
  Fits fits;
  std::string_view false_attr;  // an attribute that is set to false
};

constexpr Operator kOperators[kWords] = {
    {"__add__", "__radd__", "AddV2", nullptr, Fits::kNumbers, ""},
    {"__sub__", "__rsub__", "Sub", nullptr, Fits::kNumbers, ""},
    {"__mul__", "__rmul__", "Mul", nullptr, Fits::kNumbers, ""},
    {"__truediv__", "__rtruediv__", "RealDiv", nullptr, Fits::kFloats, ""},
    {"__floordiv__", "__rfloordiv__", "FloorDiv", nullptr, Fits::kReals, ""},
    {"__mod__", "__rmod__", "FloorMod", nullptr, Fits::kReals, ""},
    {"__pow__", "__rpow__", "Pow", nullptr, Fits::kFloats, ""},
    {"__matmul__", "__rmatmul__", "MatMul", nullptr, Fits::kFloats, ""},
    {"__and__", "__rand__", "BitwiseAnd", "LogicalAnd", Fits::kIntsOrBool, ""},
    {"__or__", "__ror__", "BitwiseOr", "LogicalOr", Fits::kIntsOrBool, ""},
    {"__xor__", "__rxor__", nullptr, nullptr, Fits::kNever, ""},
    {"__lt__", "__gt__", "Less", nullptr, Fits::kReals, ""},
    {"__le__", "__ge__", "LessEqual", nullptr, Fits::kReals, ""},
    {"__gt__", "__lt__", "Greater", nullptr, Fits::kReals, ""},
    {"__ge__", "__le__", "GreaterEqual", nullptr, Fits::kReals, ""},
    {"__eq__", "__eq__", "Equal", nullptr, Fits::kAny, "incompatible_shape_error"},
    {"__ne__", "__ne__", "NotEqual", nullptr, Fits::kAny, "incompatible_shape_error"},
    {"__neg__", "__neg__", "Neg", nullptr, Fits::kNegatable, ""},
};

// What one operator and dtype came to, last time.
struct Cached {
  std::shared_ptr<const EagerCall> call;
  PyObject* device = nullptr;  // the innermost device block's name then
};

std::array<std::array<Cached, 32>, kWords> caches;
PyObject* long_way[kWords][2];
PyObject* op_names[kWords][2];  // op, of_bools

bool fits(Fits f, DType t) {
  switch (f) {
    case Fits::kNumbers: return is_floating(t) || is_integer(t) || is_complex(t);
    case Fits::kFloats: return is_floating(t) || is_complex(t);
    case Fits::kReals: return is_floating(t) || is_integer(t);
    case Fits::kIntsOrBool: return is_integer(t) || t == DType::kBool;
    case Fits::kNegatable: return is_floating(t) || is_integer(t) || is_complex(t);
    case Fits::kAny: return is_floating(t) || is_integer(t) || is_complex(t) || t == DType::kBool;
    case Fits::kNever: return false;
  }
  return false;
}

// The kernel for these operands, from the cache or made; null when the long way must say why not.
const EagerCall* find_call(Word word, std::span<const Tensor> inputs, PyObject* device) {
  const DType dtype = inputs[0].dtype();
  Cached& cached = caches[word][static_cast<size_t>(dtype) & 31];
  if (cached.call && cached.device == device) [[likely]] return cached.call.get();
  const Operator& o = kOperators[word];
  AttrList attrs;
  if (!o.false_attr.empty()) attrs.emplace_back(std::string(o.false_attr), false);
  const char* op = dtype == DType::kBool && o.of_bools ? o.of_bools : o.op;
  const char* where = device ? PyUnicode_AsUTF8(device) : "";
  if (!where) throw nanobind::python_error();
  cached.call = engine()->prepare(op, inputs, std::move(attrs), where);
  Py_XSETREF(cached.device, Py_XNewRef(device));
  return cached.call.get();
}

PyObject* finish(Word word, ThreadState& s, Tensor* values, int n, PyObject* const* operands) {
  const DType dtype = values[0].dtype();
  const EagerCall* call = find_call(word, {values, static_cast<size_t>(n)}, s.device());
  run_call(*call, values);
  PyObject* result = wrap(std::move(values[n]), call->other_cpu());
  if (result && s.recording()) [[unlikely]] {
    PyObject* name = op_names[word][dtype == DType::kBool && kOperators[word].of_bools];
    if (!record(s, name, nullptr, operands, values, n, &result, 1)) Py_CLEAR(result);
  }
  return result;
}

// Null without an error: take the long way.
PyObject* short_way(Word word, PyObject* a, PyObject* b) {
  ThreadState& s = thread_state();
  if (!engine() || s.building_graph()) return nullptr;
  const bool left = is_eager(a), right = is_eager(b);
  const DType dtype = value_of(left ? a : b).dtype();
  if (!fits(kOperators[word].fits, dtype)) return nullptr;
  Tensor values[] = {left ? value_of(a) : scalar_of(a, dtype),
                     right ? value_of(b) : scalar_of(b, dtype), Tensor()};
  if (values[0].dtype() != dtype || values[1].dtype() != dtype) return nullptr;
  if (word == kMatMul && (values[0].rank() != 2 || values[1].rank() != 2)) return nullptr;
  PyObject* const operands[] = {a, b};
  try {
    return finish(word, s, values, 2, operands);
  } catch (nanobind::python_error& e) {
    e.restore();
  } catch (const std::exception&) {  // the long way fails too, in the right words
  }
  return nullptr;
}

PyObject* call_long_way(Word word, bool mirrored, PyObject* a, PyObject* b) {
  PyObject* function = long_way[word][mirrored];
  if (!function) Py_RETURN_NOTIMPLEMENTED;
  return PyObject_CallFunctionObjArgs(function, a, b, nullptr);
}

template <Word kWord>
PyObject* binary(PyObject* a, PyObject* b) {
  PyObject* result = short_way(kWord, a, b);
  if (result || PyErr_Occurred()) return result;
  if (is_eager(a)) {
    result = call_long_way(kWord, false, a, b);
    if (result != Py_NotImplemented || !is_eager(b)) return result;
    Py_DECREF(result);
  }
  return call_long_way(kWord, true, b, a);
}

PyObject* power(PyObject* a, PyObject* b, PyObject*) { return binary<kPow>(a, b); }

PyObject* negative(PyObject* a) {
  ThreadState& s = thread_state();
  if (engine() && !s.building_graph() && fits(Fits::kNegatable, value_of(a).dtype())) {
    Tensor values[2] = {value_of(a), {}};
    try {
      return finish(kNegative, s, values, 1, &a);
    } catch (nanobind::python_error& e) {
      e.restore();
      return nullptr;
    } catch (const std::exception&) {
    }
  }
  return PyObject_CallFunctionObjArgs(long_way[kNegative][0], a, nullptr);
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  static constexpr Word kOf[] = {kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual};
  const Word word = kOf[how];
  if (is_eager(b) || PyFloat_CheckExact(b) || PyLong_CheckExact(b)) {
    PyObject* result = short_way(word, a, b);
    if (result || PyErr_Occurred()) return result;
  }
  return call_long_way(word, false, a, b);
}

template <class F>
PyType_Slot slot(int which, F f) {
  return {which, reinterpret_cast<void*>(f)};
}

}  // namespace

void add_operator_slots(std::vector<PyType_Slot>& slots) {
  for (const PyType_Slot& s : {
           slot(Py_nb_add, binary<kAdd>), slot(Py_nb_subtract, binary<kSub>),
           slot(Py_nb_multiply, binary<kMul>), slot(Py_nb_true_divide, binary<kTrueDiv>),
           slot(Py_nb_floor_divide, binary<kFloorDiv>), slot(Py_nb_remainder, binary<kMod>),
           slot(Py_nb_power, power), slot(Py_nb_matrix_multiply, binary<kMatMul>),
           slot(Py_nb_and, binary<kAnd>), slot(Py_nb_or, binary<kOr>),
           slot(Py_nb_xor, binary<kXor>), slot(Py_nb_negative, negative),
           slot(Py_tp_richcompare, compare),
       })
    slots.push_back(s);
}

void set_long_way(PyObject* functions) {
  for (int w = 0; w < kWords; ++w) {
    const Operator& o = kOperators[w];
    const char* const names[] = {o.left, o.right};
    for (int i = 0; i < 2; ++i)
      Py_XSETREF(long_way[w][i], Py_XNewRef(PyDict_GetItemString(functions, names[i])));
    if (o.op) Py_XSETREF(op_names[w][0], PyUnicode_InternFromString(o.op));
    if (o.of_bools) Py_XSETREF(op_names[w][1], PyUnicode_InternFromString(o.of_bools));
  }
}

void forget_operators() {
  for (auto& row : caches)
    for (Cached& c : row) {
      c.call.reset();
      Py_CLEAR(c.device);
    }
  forget_calls();
}

}  // namespace emplace::python
