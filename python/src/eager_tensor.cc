#include "eager_tensor.h"

#include <structmember.h>

#include <bit>
#include <limits>
#include <vector>

#include "convert.h"
#include "eager_operators.h"
#include "gil.h"
#include "guarded.h"
#include "numpy_tensor.h"

namespace emplace::python {

PyTypeObject* eager_type = nullptr;

namespace {

Eager* running = nullptr;
PyObject* make_shape = nullptr;
PyObject* host_name = nullptr;      // what `device` says of host memory

// Objects that were dropped, for the next tensors: an operator's result is often short-lived.
constexpr size_t kKept = 64;
EagerTensor* kept[kKept];
size_t num_kept = 0;

EagerTensor* self_of(PyObject* o) { return reinterpret_cast<EagerTensor*>(o); }

// What ends with the last tensor of an iterator waits for its pipeline's threads, which may want to
// call Python.
void end_without_gil(Tensor& value) {
  PyThreadState* const thread = PyEval_SaveThread();
  value = Tensor();
  outlive_python([&] { PyEval_RestoreThread(thread); });
}

void dealloc(PyObject* o) {
  EagerTensor* self = self_of(o);
  if (self->weakrefs) PyObject_ClearWeakRefs(o);
  Py_CLEAR(self->shape);
  Py_CLEAR(self->assign);
  Py_CLEAR(self->cpu);
  Py_CLEAR(self->dict);
  if (const DType t = self->value.dtype(); t == DType::kResource || t == DType::kVariant)
    end_without_gil(self->value);
  self->value.~Tensor();
  if (num_kept < kKept)
    kept[num_kept++] = self;
  else
    PyObject_Free(o);
  Py_DECREF(eager_type);
}

// What a tensor refers to seldom refers to it (only attributes that a program sets could), so the
// collector need not know it. The slot alone keeps the flag of the base class from being inherited.
int traverse(PyObject*, visitproc, void*) { return 0; }

// ---- Attributes.

PyObject* get_shape(PyObject* o, void*) {
  EagerTensor* self = self_of(o);
  if (!self->shape)
    self->shape = guarded_or<PyObject*>(nullptr, [&] {
      return nanobind::borrow(make_shape)(from_shape(self->value.shape())).release().ptr();
    });
  return Py_XNewRef(self->shape);
}

PyObject* get_dtype(PyObject* o, void*) {
  return Py_NewRef(classes().dtypes[static_cast<int>(value_of(o).dtype())]);
}

PyObject* get_device(PyObject* o, void*) {
  const Tensor& t = value_of(o);
  if (!running) Py_RETURN_NONE;
  if (PyObject* cpu = self_of(o)->cpu) return Py_NewRef(cpu);
  if (!t.device() && t.dtype() != DType::kResource && host_name) return Py_NewRef(host_name);
  return guarded_or<PyObject*>(nullptr, [&] {
    const std::string name = running->device_of(t);
    return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  });
}

PyObject* get_ndim(PyObject* o, void*) { return PyLong_FromLong(value_of(o).rank()); }
PyObject* get_size(PyObject* o, void*) { return PyLong_FromLongLong(value_of(o).num_elements()); }

PyObject* get_dims(PyObject* o, void*) {
  const Shape& s = value_of(o).shape();
  PyObject* dims = PyTuple_New(s.rank());
  for (int i = 0; dims && i < s.rank(); ++i)
    PyTuple_SET_ITEM(dims, i, PyLong_FromLongLong(s.dim(i)));
  return dims;
}

// ---- Its value.

Tensor on_host(const Tensor& t) { return t.device() && running ? running->to_host(t) : t; }

// An array of one's own: `numpy()` of TensorFlow may be written to.
PyObject* numpy(PyObject* o, PyObject*) {
  return guarded_or<PyObject*>(nullptr, [&] {
    const Tensor t = on_host(value_of(o));
    return to_array(t.rank() == 0 ? t : t.copy(), true).release().ptr();
  });
}

// An array over the tensor's memory, to be read.
PyObject* shared_array(PyObject* o) {
  return guarded_or<PyObject*>(
      nullptr, [&] { return to_shared_array(on_host(value_of(o))).release().ptr(); });
}

PyObject* numpy_array(PyObject* o, PyObject*) { return shared_array(o); }

// The same for DLPack, whose capsules mostly cannot say that they are only to be read.
PyObject* array_for_dlpack(PyObject* o, PyObject*) {
  return guarded_or<PyObject*>(
      nullptr, [&] { return to_array(on_host(value_of(o)), false).release().ptr(); });
}

// The buffer protocol: NumPy's words for dtype and shape, the tensor's memory, kept by the array.
int get_buffer(PyObject* o, Py_buffer* view, int flags) {
  view->obj = nullptr;
  PyObject* array = shared_array(o);
  if (!array) return -1;
  const int result = PyObject_GetBuffer(array, view, flags);  // which keeps the array
  Py_DECREF(array);
  return result;
}

Py_ssize_t length(PyObject* o) {
  const Tensor& t = value_of(o);
  if (t.rank() > 0) return static_cast<Py_ssize_t>(t.dim(0));
  PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
  return -1;
}

// The number in a tensor of one element as NumPy's scalar, which knows how to become any other.
PyObject* item(PyObject* o, PyObject* error, const char* text) {
  if (value_of(o).num_elements() != 1) {
    PyErr_SetString(error, text);
    return nullptr;
  }
  return guarded_or<PyObject*>(nullptr, [&] {
    return to_array(on_host(value_of(o)).reshaped(Shape{}), true).release().ptr();
  });
}

int truth(PyObject* o) {
  const Tensor& t = value_of(o);
  if (t.dtype() == DType::kBool && t.num_elements() == 1 && !t.device()) return *t.data<bool>();
  if (t.num_elements() == 0) return 0;
  PyObject* number = item(o, PyExc_ValueError,
                          "The truth value of an array with more than one element is ambiguous. "
                          "Use a.any() or a.all()");
  if (!number) return -1;
  const int result = PyObject_IsTrue(number);
  Py_DECREF(number);
  return result;
}

template <PyObject* (*Convert)(PyObject*)>
PyObject* number(PyObject* o) {
  // NumPy decides, in its words, which arrays are numbers.
  PyObject* n = value_of(o).rank() == 0 ? item(o, PyExc_TypeError, "no number") : shared_array(o);
  if (!n) return nullptr;
  PyObject* result = Convert(n);
  Py_DECREF(n);
  return result;
}

PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"shape", get_shape, nullptr, "its sizes", nullptr},
    {"dtype", get_dtype, nullptr, "the type of its elements", nullptr},
    {"_dtype", get_dtype, nullptr, nullptr, nullptr},
    {"device", get_device, nullptr, "the device whose memory holds it", nullptr},
    {"backing_device", get_device, nullptr, nullptr, nullptr},
    {"ndim", get_ndim, nullptr, "its rank", nullptr},
    {"_size", get_size, nullptr, nullptr, nullptr},
    {"_dims", get_dims, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"assign", T_OBJECT_EX, offsetof(EagerTensor, assign), 0, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(EagerTensor, weakrefs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(EagerTensor, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef methods[] = {
    {"numpy", numpy, METH_NOARGS, "Its value as a NumPy array or scalar."},
    {"_numpy_of_eager", numpy_array, METH_NOARGS, nullptr},
    {"_array_for_dlpack", array_for_dlpack, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

Eager* engine() { return running; }

void set_engine(Eager* e) {
  running = e;
  forget_operators();
  if (e) {
    const std::string name = e->device_of(Tensor());
    const auto length = static_cast<Py_ssize_t>(name.size());
    Py_XSETREF(host_name, PyUnicode_FromStringAndSize(name.data(), length));
  }
}

PyObject* wrap(Tensor&& value, const std::string* other_cpu) noexcept {
  EagerTensor* self = num_kept ? kept[--num_kept]
                               : static_cast<EagerTensor*>(PyObject_Malloc(sizeof(EagerTensor)));
  if (!self) return PyErr_NoMemory();
  PyObject_Init(reinterpret_cast<PyObject*>(self), eager_type);
  self->shape = self->assign = self->weakrefs = self->cpu = self->dict = nullptr;
  if (other_cpu) [[unlikely]]
    self->cpu = PyUnicode_FromStringAndSize(other_cpu->data(),
                                            static_cast<Py_ssize_t>(other_cpu->size()));
  new (&self->value) Tensor(std::move(value));
  return reinterpret_cast<PyObject*>(self);
}

Tensor scalar_of(PyObject* number, DType dtype) {
  if (PyFloat_CheckExact(number) ? !is_floating(dtype) : !PyLong_CheckExact(number)) return {};
  Tensor t = number_tensor(number, dtype);
  if (!t.has_value()) PyErr_Clear();
  return t;
}

PyObject* make_eager_type(PyObject* base, PyObject* shape) {
  if (eager_type) return Py_NewRef(reinterpret_cast<PyObject*>(eager_type));
  Py_XSETREF(make_shape, Py_NewRef(shape));
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_getset, attributes},
      {Py_tp_members, members},
      {Py_tp_methods, methods},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_nb_bool, reinterpret_cast<void*>(truth)},
      {Py_nb_int, reinterpret_cast<void*>(number<PyNumber_Long>)},
      {Py_nb_float, reinterpret_cast<void*>(number<PyNumber_Float>)},
      {Py_nb_index, reinterpret_cast<void*>(number<PyNumber_Index>)},
      {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
  };
  add_operator_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"emplace.EagerTensor", sizeof(EagerTensor), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  PyObject* bases = PyTuple_Pack(1, base);
  if (!bases) return nullptr;
  eager_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases));
  Py_DECREF(bases);
  return Py_XNewRef(reinterpret_cast<PyObject*>(eager_type));
}

}  // namespace emplace::python
