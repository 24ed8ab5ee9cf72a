#include <array>

#include "front.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

std::string& package_folder() {
  static std::string folder;
  return folder;
}

std::string_view utf8_of(PyObject* unicode) {
  Py_ssize_t n = 0;
  const char* text = PyUnicode_AsUTF8AndSize(unicode, &n);
  if (text != nullptr) return {text, static_cast<size_t>(n)};
  PyErr_Clear();
  return {};
}

std::string_view file_of(PyCodeObject* code) { return utf8_of(code->co_filename); }

bool is_ours(PyCodeObject* code) {
  return !package_folder().empty() && file_of(code).starts_with(package_folder());
}

// Lines of converted code, "file:line" -> the user's line that each comes from; Python fills it.
PyObject* converted_lines = nullptr;

std::string line_of(PyCodeObject* code, PyFrameObject* frame) {
  std::string line(file_of(code));
  line += ":" + std::to_string(PyFrame_GetLineNumber(frame));
  PyObject* const users = PyDict_GetItemString(converted_lines, line.c_str());
  return users != nullptr ? std::string(utf8_of(users)) : line;
}

// A place in the user's program and its text. Programs make many nodes on one line (loops), so the
// text is kept under (code, instruction).
struct Place {
  PyCodeObject* code = nullptr;  // kept alive
  int instruction = -1;
  std::string text;
};

Place& place_of(PyCodeObject* code, int instruction) {
  static std::array<Place, 512> places;
  const auto mixed = reinterpret_cast<uintptr_t>(code) / 16 + static_cast<uintptr_t>(instruction);
  return places[mixed % places.size()];
}

const std::string& text_of(PyCodeObject* code, PyFrameObject* frame) {
  const int instruction = PyFrame_GetLasti(frame);
  Place& place = place_of(code, instruction);
  if (place.code != code || place.instruction != instruction) {
    PyCodeObject* old = place.code;
    Py_INCREF(code);
    place = {code, instruction, line_of(code, frame)};
    Py_XDECREF(old);
  }
  return place.text;
}

}  // namespace

const std::string& user_line() {
  static const std::string none;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const bool ours = is_ours(code);
    const std::string* text = ours ? nullptr : &text_of(code, frame);
    Py_DECREF(code);
    PyFrameObject* back = ours ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    if (text != nullptr) return *text;
    frame = back;
  }
  return none;
}

void bind_user_line(nb::module_& m) {
  const nb::dict lines;
  m.attr("converted_lines") = lines;
  converted_lines = lines.ptr();
  m.def("set_package_folder", [](const char* folder) { package_folder() = folder; });
  m.def("user_line", [] { return nb::str(user_line().c_str()); });
}

}  // namespace emplace::python
