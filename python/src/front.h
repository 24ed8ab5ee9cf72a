#pragma once
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/graph.h"

// The Python faces of graphs, operations and tensors, as plain C types that the Python classes
// extend: making a node and running a step touch nothing but their fields. The GIL guards them.
namespace emplace::python {

// The Python objects of one node; made when first asked for, then kept by the graph, so that
// identity holds (`t.op.outputs[0] is t`).
struct Faces {
  PyObject* op = nullptr;
  PyObject* first = nullptr;  // the tensor of output 0
  PyObject* all = nullptr;    // the list of all outputs
};

// Base of emplace.Graph. Owns the faces; the engine's graph belongs to `core`.
struct GraphObject {
  PyObject_HEAD
  PyObject* core;  // the bound engine graph
  Graph* graph;
  std::vector<Faces>* faces;         // by node id
  Node* node_zero;
  PyObject* blocks;                  // dict: Python's id of a thread -> what Blocks is made of
  PyObject* on_node;                 // called with each operation made, unless None
  bool has_unfeedable;
  bool frozen;                       // finalized, until the session that did it ends
  bool captures;                     // a function's: what is made in its block belongs to it
};

// Base of emplace.Operation.
struct OperationObject {
  PyObject_HEAD
  GraphObject* graph;
  Node* node;
  PyObject* extra;
};

// Base of emplace.Tensor. Eager tensors extend it too: they have no graph and no node.
struct TensorObject {
  PyObject_HEAD
  GraphObject* graph;
  Node* node;
  int index;
  PyObject* dtype;
  PyObject* extra;

  Output output() const { return {node, index}; }
};

// The Python classes, once emplace.framework.ops has handed them over.
struct Classes {
  PyTypeObject* tensor = nullptr;
  PyTypeObject* operation = nullptr;
  PyObject* dtypes[256] = {};  // by number
};
const Classes& classes();

inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == classes().tensor; }
inline bool is_operation(PyObject* o) { return Py_TYPE(o) == classes().operation; }
inline TensorObject* as_tensor(PyObject* o) { return reinterpret_cast<TensorObject*>(o); }
inline OperationObject* as_operation(PyObject* o) { return reinterpret_cast<OperationObject*>(o); }

// New references; null with a Python error set.
PyObject* operation_of(GraphObject* g, Node* node);
PyObject* tensor_of(GraphObject* g, Node* node, int index);
PyObject* outputs_of(GraphObject* g, Node* node);

// Is another graph, a function's, being built on this thread? Then `g`'s tensors are foreign there.
bool is_foreign(const GraphObject* g);

// What the blocks around say of the nodes that the calling thread makes in a graph; borrowed, null
// where they say nothing.
struct Blocks {
  PyObject* attrs = nullptr;      // dict: attributes of every node
  PyObject* gradients = nullptr;  // dict: op type -> gradient's name
  PyObject* on_node = nullptr;    // called with each operation
};
Blocks blocks_of(const GraphObject* g);

// The number of a dtype as Python knows it: 100 more for references.
int dtype_number(const Node& node, int output);

// Adds a node under this thread's scopes; the user's line is noted. `name`: empty for the op's
// own, one that ends in '/' is taken as it is. Null with a Python error set, TensorFlow's kind.
Node* add_node(GraphObject* g, std::string_view type, std::span<const Output> inputs,
               AttrList attrs, std::string_view name);

// "file.py:12" of the innermost frame outside this package; empty if there is none.
const std::string& user_line();

// A block of the graph's own, for Graph.name_scope(name).
PyObject* name_scope_of(GraphObject* g, PyObject* name);

// Is the name valid for nodes and scopes wherever they are made?
bool is_plain_name(std::string_view name);

// A borrowed pointer to `o`, kept alive by the module under `name`: what Python hands over once is
// let go when the interpreter ends, so that nothing seems to leak.
PyObject* kept_by_module(const char* name, nanobind::handle o);

// Sets the Python error for what the engine threw while a node was made.
void set_building_error(const Error& e);
// Takes this package's frames out of the traceback of the Python error that is set: it ends at the
// user's line.
void trim_traceback();
// The exception object for an error of the engine's.
nanobind::object exception_of(const Error& e);

void bind_front(nanobind::module_& m);      // the types
void bind_build(nanobind::module_& m);      // apply, operators
void bind_runner(nanobind::module_& m);     // sessions' quick way
void bind_name_scope(nanobind::module_& m);
void bind_operators(nanobind::module_& m);
void bind_user_line(nanobind::module_& m);

}  // namespace emplace::python
