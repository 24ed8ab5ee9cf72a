#include "kept_exceptions.h"

#include <algorithm>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace emplace::python {
namespace {

struct Kept {
  uintptr_t number;
  std::string words;  // of the error that stands for it
  PyObject* exception;
};

constexpr size_t kMost = 64;  // those that nobody asked for are dropped in the end

// Never destroyed: Python may be gone by then.
std::vector<Kept>& all_kept() {
  static auto* const kept = new std::vector<Kept>;
  return *kept;
}

template <class Same>
nb::object take(Same same) {
  auto& kept = all_kept();
  const auto it = std::ranges::find_if(kept, same);
  if (it == kept.end()) return {};
  nb::object found = nb::steal(it->exception);
  kept.erase(it);
  return found;
}

nb::object fetch_exception() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return nb::steal(value);
}

int raise_late(void* number) {
  const auto wanted = reinterpret_cast<uintptr_t>(number);
  const nb::object exception = take([&](const Kept& k) { return k.number == wanted; });
  if (!exception) return 0;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  return -1;
}

}  // namespace

Error keep_exception(bool late) {
  static uintptr_t last = 0;
  const uintptr_t number = ++last;
  auto& kept = all_kept();
  if (kept.size() == kMost) Py_DECREF(kept.front().exception), kept.erase(kept.begin());
  nb::object exception = fetch_exception();
  const std::string words = std::string("ended by ") + Py_TYPE(exception.ptr())->tp_name +
                            " (number " + std::to_string(number) + ")";
  kept.push_back({number, words, exception.release().ptr()});
  if (late) Py_AddPendingCall(&raise_late, reinterpret_cast<void*>(number));
  return cancelled(words);
}

nb::object kept_exception(const Error& e) {
  if (e.code() != Code::kCancelled) return {};
  return take([&](const Kept& k) { return e.message().find(k.words) != std::string::npos; });
}

}  // namespace emplace::python
