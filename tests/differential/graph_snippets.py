"""Small graph programs, each a function of `tf`, run on TensorFlow and on Emplace alike."""

import graph_snippets_arrays
import graph_snippets_calls
import graph_snippets_errors
import graph_snippets_flow
import graph_snippets_gradients
import graph_snippets_habits
import graph_snippets_layers
import graph_snippets_math
import graph_snippets_options
import graph_snippets_order
import graph_snippets_programs
import graph_snippets_rare
import graph_snippets_rnn
import graph_snippets_scopes
import graph_snippets_state
import graph_snippets_training

SNIPPETS = {}
for _module in (
    graph_snippets_arrays,
    graph_snippets_math,
    graph_snippets_scopes,
    graph_snippets_order,
    graph_snippets_state,
    graph_snippets_errors,
    graph_snippets_gradients,
    graph_snippets_options,
    graph_snippets_training,
    graph_snippets_flow,
    graph_snippets_layers,
    graph_snippets_programs,
    graph_snippets_rnn,
    graph_snippets_habits,
    graph_snippets_rare,
    graph_snippets_calls,
):
    assert not SNIPPETS.keys() & _module.snippet.rows.keys()
    SNIPPETS |= _module.snippet.rows
