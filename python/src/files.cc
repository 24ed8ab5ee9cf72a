// Graphs, checkpoints and records as bytes and files.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "convert.h"
#include "eager_tensor.h"
#include "emplace/session.h"
#include "module.h"
#include "numpy_tensor.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// In the same words whatever locale the program has set.
const char* errno_text(int error) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
  if (const char* const text = strerrordesc_np(error)) return text;
#endif
  return std::strerror(error);
}

nb::bytes as_bytes(const std::string& s) { return nb::bytes(s.data(), s.size()); }
std::string_view view(const nb::bytes& b) { return {b.c_str(), b.size()}; }

nb::bytes graph_bytes(const Graph& g, bool add_shapes, bool strip_defaults, bool functions,
                      bool sources) {
  return as_bytes(graph_def(g, {add_shapes, strip_defaults, functions, sources}));
}

// `input_map`: pairs of a source's name and an output of the graph, index -1 for a control edge.
nb::tuple import(Graph& g, nb::bytes bytes, const std::string& prefix,
                 const std::vector<std::pair<std::string, Output>>& input_map,
                 const std::vector<std::string>& return_tensors,
                 const std::vector<std::string>& return_nodes, bool validate_colocation,
                 bool device_scopes) {
  ImportOptions o;
  o.prefix = prefix;
  o.uniquify_names = true;
  o.input_map = input_map;
  o.return_tensors = return_tensors;
  o.return_nodes = return_nodes;
  o.validate_colocation = validate_colocation;
  o.apply_device_scopes = device_scopes;
  const ImportResult r = import_graph_def(g, view(bytes), o);
  nb::list nodes, outputs, returned;
  for (Node* n : r.nodes) nodes.append(nb::cast(n, nb::rv_policy::reference));
  for (const Output& out : r.outputs) outputs.append(nb::cast(out));
  for (Node* n : r.returned_nodes) returned.append(nb::cast(n, nb::rv_policy::reference));
  return nb::make_tuple(nodes, outputs, returned, r.missing_unused_keys);
}

nb::list function_names(const Graph& g) {
  nb::list names;
  for (const auto& f : g.functions()) names.append(f->name);
  return names;
}

nb::list entries(const Checkpoint& c) {
  nb::list rows;
  for (const Checkpoint::Entry& e : c.entries())
    rows.append(nb::make_tuple(e.name, static_cast<int>(e.dtype), from_shape(e.shape)));
  return rows;
}

void write(const std::string& prefix, nb::dict tensors) {
  std::vector<std::pair<std::string, Tensor>> list;
  for (auto [name, value] : tensors)
    list.emplace_back(nb::cast<std::string>(name),
                      is_eager(value.ptr()) ? value_of(value.ptr()) : from_array(value.ptr()));
  write_checkpoint(prefix, list);
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def("errno_text", [](int error) { return errno_text(error); });
  m.def("graph_def", &graph_bytes);
  m.def("node_def", [](const Node& n) { return as_bytes(node_def(n)); });
  m.def("import_graph_def", &import);
  m.def("function_names", &function_names);
  nb::class_<Checkpoint>(m, "Checkpoint")
      .def(nb::init<const std::string&>())
      .def("entries", &entries)
      .def("read", [](const Checkpoint& c, const std::string& name) {
        return to_array(c.read(name), true);
      });
  m.def("write_checkpoint", &write);
  m.def("framed_record", [](nb::bytes b) { return as_bytes(framed_record(view(b))); });
}

}  // namespace emplace::python
