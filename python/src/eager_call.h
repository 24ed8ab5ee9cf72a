#pragma once
#include <Python.h>

#include "emplace/eager.h"
#include "thread_state.h"

// Operations by name, called from Python: a cache from (op, dtypes, attributes, device) to a
// prepared kernel, keyed on the Python values themselves.
namespace emplace::python {

// Runs it on the engine; other Python threads go on meanwhile where it may take long.
void run_call(const EagerCall& call, Tensor* values);

// Tells the listening tapes. `operands`: the inputs as objects; a Python number among them is
// wrapped from `values`. `attrs`: a dict or null. False: a Python error is set.
bool record(ThreadState& s, PyObject* op, PyObject* attrs, PyObject* const* operands,
            const Tensor* values, int num_inputs, PyObject* const* outputs, int num_outputs);

// What the operation's wrapper returns for these inputs, where they are tensors alone and such a
// call was made before. Null without a Python error: take the long way. `attrs`: a dict or None.
PyObject* quick_call(PyObject* op, PyObject* inputs, PyObject* attrs);

// (op, list of outputs, attrs) -> what a wrapper returns for other than one output (borrowed).
void set_packer(PyObject* function);

// execute(op, tensors, attrs, device, given inputs, given attrs) -> list of tensors. Whatever the
// call was made of is remembered for quick_call.
PyObject* execute_call(PyObject*, PyObject* const* args, Py_ssize_t n);

void forget_calls();

}  // namespace emplace::python
