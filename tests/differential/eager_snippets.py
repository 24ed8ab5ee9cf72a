"""Small eager programs, each a function of `tf`, run on TensorFlow 2 and on Emplace alike."""

import eager_snippets_arrays
import eager_snippets_errors
import eager_snippets_everyday
import eager_snippets_functions
import eager_snippets_graphs
import eager_snippets_math
import eager_snippets_nn
import eager_snippets_rare
import eager_snippets_sparse
import eager_snippets_state
import eager_snippets_tapes
import eager_snippets_threads
import eager_snippets_training
import eager_snippets_types
import eager_snippets_values
import eager_snippets_version1
import eager_snippets_wider

SNIPPETS = {}
for _module in (
    eager_snippets_values,
    eager_snippets_arrays,
    eager_snippets_math,
    eager_snippets_nn,
    eager_snippets_state,
    eager_snippets_functions,
    eager_snippets_graphs,
    eager_snippets_tapes,
    eager_snippets_training,
    eager_snippets_errors,
    eager_snippets_everyday,
    eager_snippets_wider,
    eager_snippets_rare,
    eager_snippets_sparse,
    eager_snippets_types,
    eager_snippets_threads,
    eager_snippets_version1,
):
    assert not SNIPPETS.keys() & _module.snippet.rows.keys()
    SNIPPETS |= _module.snippet.rows
