// Traced functions: bodies that nodes call, calls that grow, programs of the graph engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "eager_program.h"
#include "eager_tensor.h"
#include "emplace/eager.h"
#include "emplace/op.h"
#include "front.h"
#include "module.h"
#include "options.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

std::shared_ptr<Function> function_of(std::string name, std::shared_ptr<Graph> body,
                                      std::vector<Output> inputs, std::vector<Output> outputs,
                                      std::vector<Node*> controls,
                                      std::vector<std::string> input_names,
                                      std::vector<std::string> output_names, bool stateful) {
  auto f = std::make_shared<Function>();
  f->name = std::move(name);
  f->body = std::move(body);
  for (const Output& o : inputs) f->inputs.push_back(o.node);
  f->outputs = std::move(outputs);
  f->control_outputs = std::move(controls);
  f->input_names = std::move(input_names);
  f->output_names = std::move(output_names);
  f->stateful = stateful;
  return f;
}

// `graph` may call `body` by this name.
void define(Graph& graph, std::string name, std::shared_ptr<Graph> body, std::vector<Output> inputs,
            std::vector<Output> outputs, std::vector<Node*> controls,
            std::vector<std::string> input_names, std::vector<std::string> output_names,
            bool stateful) {
  graph.add_function(function_of(std::move(name), std::move(body), std::move(inputs),
                                 std::move(outputs), std::move(controls), std::move(input_names),
                                 std::move(output_names), stateful));
}

// Operations that run eagerly may name it.
void define_eager(std::string name, std::shared_ptr<Graph> body, std::vector<Output> inputs,
                  std::vector<Output> outputs, std::vector<Node*> controls,
                  std::vector<std::string> input_names, std::vector<std::string> output_names,
                  bool stateful) {
  if (!engine()) throw internal_error("the engine has not started");
  engine()->add_function(function_of(std::move(name), std::move(body), std::move(inputs),
                                     std::move(outputs), std::move(controls),
                                     std::move(input_names), std::move(output_names), stateful));
}

void forget_eager(const std::string& name) {
  if (engine()) engine()->remove_function(name);
}

// extend_call(operation, tensors, attrs): see Graph::extend_call. Outputs that were asked for
// before keep their identity.
void extend_call(nb::handle operation, nb::list more, nb::dict attrs) {
  OperationObject* op = as_operation(operation.ptr());
  std::vector<Output> inputs;
  for (nb::handle t : more) inputs.push_back(as_tensor(t.ptr())->output());
  Node* const node = op->node;
  const int before = node->num_outputs();
  emplace::extend_call(*op->graph->graph, node, inputs, to_attrs(node->op(), attrs));
  auto& faces = *op->graph->faces;
  const auto id = static_cast<size_t>(node->id());
  if (id >= faces.size() || !faces[id].all) return;
  PyObject* old = std::exchange(faces[id].all, nullptr);
  PyObject* list = outputs_of(op->graph, node);
  if (!list) throw nb::python_error();
  for (int i = 0; i < before; ++i)
    PyList_SetItem(list, i, Py_NewRef(PyList_GET_ITEM(old, i)));
  Py_DECREF(list);
  Py_DECREF(old);
}

GraphProgram* graph_program(std::shared_ptr<Graph> graph, std::vector<Output> inputs,
                            std::vector<Output> outputs, std::vector<Node*> effects,
                            std::string device, std::string random_scope) {
  if (!engine()) throw internal_error("the engine has not started");
  return new GraphProgram(engine()->prepare(std::move(graph), std::move(inputs), std::move(outputs),
                                            std::move(effects), std::move(device),
                                            std::move(random_scope)));
}

}  // namespace

void bind_function(nb::module_& m) {
  m.def("define_function", &define);
  m.def("define_eager_function", &define_eager);
  m.def("forget_eager_function", &forget_eager);
  m.def("extend_call", &extend_call);
  nb::class_<GraphProgram, Runnable>(m, "GraphProgram");
  m.def("graph_program", &graph_program, nb::arg("graph"), nb::arg("inputs"), nb::arg("outputs"),
        nb::arg("effects"), nb::arg("device"), nb::arg("random_scope") = "",
        nb::rv_policy::take_ownership);
}

}  // namespace emplace::python
