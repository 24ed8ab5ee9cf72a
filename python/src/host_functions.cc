#include <nanobind/nanobind.h>

#include "eager_tensor.h"
#include "emplace/eager.h"
#include "emplace/error.h"
#include "front.h"
#include "gil.h"
#include "kept_exceptions.h"
#include "module.h"
#include "numpy_tensor.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// (op, token, device, inputs) -> a list of results, or (code, message); set by the Python side.
PyObject* answer = nullptr;

nb::object argument(const Tensor& t, bool eager) {
  if (!eager) return to_array(t, true);
  if (eager_type == nullptr) throw failed_precondition("eager tensors are not loaded");
  PyObject* made = wrap(Tensor(t));
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

Tensor result(nb::handle value) {
  return is_eager(value.ptr()) ? value_of(value.ptr()) : from_array(value.ptr());
}

// With the GIL. What the function raised that is none of the operation's errors (Ctrl-C) goes on as
// it is.
std::vector<Tensor> call(const HostCall& given) {
  nb::list inputs;
  for (const Tensor& t : given.inputs) inputs.append(argument(t, given.op == "EagerPyFunc"));
  const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
  const nb::object said =
      nb::borrow(answer)(text(given.op), text(given.token), text(given.device), inputs, given.session);
  if (nb::isinstance<nb::tuple>(said))
    throw Error(static_cast<Code>(nb::cast<int>(said[0])), nb::str(said[1]).c_str());
  std::vector<Tensor> results;
  for (nb::handle value : said) results.push_back(result(value).copy());
  return results;
}

std::vector<Tensor> guarded_call(const HostCall& given) {
  const Back back;
  try {
    return outlive_python([&] { return call(given); });
  } catch (nb::python_error& e) {
    e.restore();
    throw keep_exception(false);
  }
}

}  // namespace

void bind_host_functions(nb::module_& m) {
  m.def("set_host_function", [](nb::object function) {
    answer = kept_by_module("_host_function", function);
    set_host_function(&guarded_call);
  });
}

}  // namespace emplace::python
