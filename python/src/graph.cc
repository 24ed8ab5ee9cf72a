#include "emplace/graph.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "emplace/eager.h"
#include "emplace/op.h"
#include "gil.h"
#include "module.h"
#include "options.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// A scope entered by Python; left when closed.
struct OpenScope {
  std::unique_ptr<Scope> scope;
  void close() { scope.reset(); }
};

OpenScope opened(Scope s) { return {std::make_unique<Scope>(std::move(s))}; }

Node* add(Graph& g, const std::string& type, const std::vector<Output>& inputs, nb::dict attrs,
          const std::string& name, const std::vector<Node*>& controls, const std::string& source,
          bool exact_name) {
  const OpDef* op = find_op(type);
  if (!op) throw not_found("Op type not registered '" + type + "'");
  NodeOptions o;
  o.name = name;
  o.control_inputs = controls;
  o.source = source;
  o.exact_name = exact_name;
  return g.add(type, inputs, to_attrs(*op, attrs), std::move(o), {});
}

// A device function of Python's: called with the node while it is being made.
DeviceFunction device_function(nb::object f) {
  return [f = std::move(f)](const Node& n) -> std::string {
    const Back back;
    nb::object result = f(nb::cast(const_cast<Node*>(&n), nb::rv_policy::reference));
    return result.is_none() ? std::string() : nb::cast<std::string>(result);
  };
}

void bind_node(nb::module_& m) {
  nb::class_<Output>(m, "Output")
      .def("__init__", [](Output* o, Node* n, int i) { new (o) Output{n, i}; })
      .def_ro("node", &Output::node, nb::rv_policy::reference)
      .def_ro("index", &Output::index)
      .def_prop_ro("dtype", [](const Output& o) {
        return static_cast<int>(o.dtype()) + (o.is_ref() ? 100 : 0);
      })
      .def_prop_ro("shape", [](const Output& o) { return from_shape(o.shape()); })
      .def_prop_ro("name", &Output::name);

  nb::class_<Node>(m, "Node")
      .def_prop_ro("id", &Node::id)
      .def_prop_ro("name", &Node::name)
      .def_prop_ro("type", &Node::type)
      .def_prop_ro("device", &Node::device)
      .def_prop_ro("source", &Node::source)
      .def_prop_ro("num_outputs", &Node::num_outputs)
      .def_prop_ro("colocation_groups", &Node::colocation_groups)
      .def_prop_ro("definition", &Node::definition)
      .def_prop_ro("inputs", [](const Node& n) {
        return std::vector<Output>(n.inputs().begin(), n.inputs().end());
      })
      .def_prop_ro("control_inputs", [](const Node& n) {
        return std::vector<Node*>(n.control_inputs().begin(), n.control_inputs().end());
      }, nb::rv_policy::reference)
      .def("output", [](Node& n, int i) { return n.output(i); })
      .def("output_types", [](const Node& n) {
        std::vector<int> types;
        for (int i = 0; i < n.num_outputs(); ++i)
          types.push_back(static_cast<int>(n.output_type(i)) + (n.output_is_ref(i) ? 100 : 0));
        return types;
      })
      .def("attr", [](const Node& n, std::string_view name) -> nb::object {
        const AttrValue* v = n.attr(name);
        if (!v) throw nb::key_error(std::string(name).c_str());
        return from_attr(*v);
      })
      .def("attr_names", [](const Node& n) {
        std::vector<std::string> names;
        for (const auto& [name, value] : n.attrs()) names.push_back(name);
        return names;
      })
      .def("attr_kind", [](const Node& n, std::string_view name) -> int {  // index of the variant
        const AttrValue* v = n.attr(name);
        return v ? static_cast<int>(v->value().index()) : -1;
      });
}

void bind_catalogue(nb::module_& m) {
  nb::class_<ArgDef>(m, "ArgDef")
      .def_ro("name", &ArgDef::name)
      .def_prop_ro("type", [](const ArgDef& a) { return static_cast<int>(a.type); })
      .def_ro("type_attr", &ArgDef::type_attr)
      .def_ro("number_attr", &ArgDef::number_attr)
      .def_ro("type_list_attr", &ArgDef::type_list_attr)
      .def_ro("is_ref", &ArgDef::is_ref);
  nb::class_<AttrDef>(m, "AttrDef")
      .def_ro("name", &AttrDef::name)
      .def_prop_ro("type", [](const AttrDef& a) { return attr_type_name(a.type, a.is_list); })
      .def_prop_ro("minimum", [](const AttrDef& a) {
        return a.minimum ? nb::object(nb::int_(*a.minimum)) : nb::object(nb::none());
      })
      .def_prop_ro("has_default", [](const AttrDef& a) { return a.default_value.is_set(); })
      .def_prop_ro("default", [](const AttrDef& a) { return from_attr(a.default_value); })
      .def_prop_ro("allowed_types", [](const AttrDef& a) {
        std::vector<int> types;
        for (const DType t : a.allowed_types) types.push_back(static_cast<int>(t));
        return types;
      })
      .def_ro("allowed_strings", &AttrDef::allowed_strings);
  nb::class_<OpDef>(m, "OpDef")
      .def_ro("name", &OpDef::name)
      .def_ro("inputs", &OpDef::inputs)
      .def_ro("outputs", &OpDef::outputs)
      .def_ro("attrs", &OpDef::attrs)
      .def_ro("stateful", &OpDef::stateful)
      .def_ro("doc", &OpDef::doc);
  m.def("find_op", &find_op, nb::rv_policy::reference);
  m.def("op_names", [] {
    std::vector<std::string> names;
    for (const OpDef* op : catalogue()) names.push_back(op->name);
    return names;
  });
  m.def("op_devices", &op_devices);
  m.def("op_kernels", &op_kernels);
}

}  // namespace

namespace {

// An annotation (`_name`): of the kind that the value itself shows.
AttrValue annotation(nb::handle value, std::string_view name) {
  if (PyBool_Check(value.ptr())) return nb::cast<bool>(value);
  if (PyLong_Check(value.ptr())) return nb::cast<int64_t>(value);
  if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
  return to_attr(value, AttrType::kString, PyList_Check(value.ptr()), name);
}

}  // namespace

AttrList to_attrs(const OpDef& op, nb::dict attrs) {
  AttrList list;
  list.reserve(attrs.size());
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(attrs.ptr(), &at, &key, &value)) {
    Py_ssize_t n = 0;
    const char* text = PyUnicode_AsUTF8AndSize(key, &n);
    if (text == nullptr) throw nb::python_error();
    const std::string_view name(text, static_cast<size_t>(n));
    if (const AttrDef* def = op.find_attr(name)) {
      set_attr(list, name, to_attr(value, def->type, def->is_list, name));
    } else if (name.starts_with('_')) {
      set_attr(list, name, annotation(value, name));
    } else {
      PyErr_Format(PyExc_TypeError, "%s got an unexpected attribute '%s'", op.name.c_str(), text);
      throw nb::python_error();
    }
  }
  return list;
}

void bind_graph(nb::module_& m) {
  bind_catalogue(m);
  bind_node(m);
  nb::class_<OpenScope>(m, "Scope").def("close", &OpenScope::close);
  nb::class_<Graph>(m, "Graph", nb::is_weak_referenceable())
      .def(nb::init<>())
      .def("add", &add, nb::rv_policy::reference, nb::arg("type"), nb::arg("inputs"),
           nb::arg("attrs"), nb::arg("name"), nb::arg("controls"), nb::arg("source"),
           nb::arg("exact_name") = false)
      .def("name_scope", [](Graph& g, std::string_view s) { return opened(g.name_scope(s, {})); })
      .def("device", [](Graph& g, nb::object d) {
        if (d.is_none()) return opened(g.device(nullptr));
        if (PyUnicode_Check(d.ptr())) return opened(g.device(nb::cast<std::string_view>(d), {}));
        return opened(g.device(device_function(std::move(d))));
      }, nb::arg("device").none())
      .def("control_dependencies", [](Graph& g, const std::vector<Node*>& n) {
        return opened(g.control_dependencies(n, {}));
      })
      .def("clear_control_dependencies", [](Graph& g) {
        return opened(g.control_dependencies(nullptr));
      })
      .def("colocate_with", [](Graph& g, Node* n, bool ignore) {
        return opened(g.colocate_with(n, ignore, {}));
      }, nb::arg("node").none(), nb::arg("ignore_existing"))
      .def("current_name_scope", &Graph::current_name_scope)
      .def("unique_name", &Graph::unique_name)
      .def("num_nodes", &Graph::num_nodes)
      .def("nodes", &Graph::nodes, nb::rv_policy::reference)
      .def("find", &Graph::find, nb::rv_policy::reference)
      .def("version", &Graph::version)
      .def("set_device", &Graph::set_device)
      .def("add_control_input", &Graph::add_control_input)
      .def("update_input", &Graph::update_input)
      .def("set_shape", [](Graph& g, Output o, nb::object shape) {
        g.set_shape(o, to_shape(shape));
      }, nb::arg("output"), nb::arg("shape").none())
      .def("set_string_attr", [](Graph& g, Node* n, std::string_view name, nb::bytes v) {
        g.set_attr(n, name, std::string(v.c_str(), v.size()));
      })
      .def("set_int_attr", [](Graph& g, Node* n, std::string_view name, int64_t v) { g.set_attr(n, name, v); })
      .def("set_bool_attr", [](Graph& g, Node* n, std::string_view name, bool v) { g.set_attr(n, name, v); })
      .def("set_string_list_attr", [](Graph& g, Node* n, std::string_view name, nb::object v) {
        g.set_attr(n, name, to_attr(v, AttrType::kString, true, name));
      })
      .def("finalize", &Graph::finalize)
      .def("finalized", &Graph::finalized)
      .def("last_id", &Graph::last_id)
      .def("verify", &Graph::verify);
}

}  // namespace emplace::python
