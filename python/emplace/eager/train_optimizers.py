"""`tf.train.GradientDescentOptimizer` and its like in a program of TensorFlow 2: Keras's optimizers under the older names.

Keras takes them in `model.compile`, as programs of both times write it. `tf.compat.v1.train` has those of graphs.
"""

from __future__ import annotations

from typing import Any

# Our name -> Keras's class, and what its arguments are called there.
_OF_KERAS: dict[str, tuple[str, dict[str, str]]] = {
    "GradientDescentOptimizer": ("SGD", {}),
    "MomentumOptimizer": ("SGD", {"use_nesterov": "nesterov"}),
    "AdagradOptimizer": ("Adagrad", {}),
    "AdadeltaOptimizer": ("Adadelta", {}),
    "AdamOptimizer": ("Adam", {"beta1": "beta_1", "beta2": "beta_2"}),
    "RMSPropOptimizer": ("RMSprop", {"decay": "rho"}),
    "FtrlOptimizer": ("Ftrl", {}),
}
_ORDER = {"MomentumOptimizer": ("momentum",), "AdamOptimizer": ("beta1", "beta2", "epsilon"), "RMSPropOptimizer": ("decay", "momentum", "epsilon")}
_DEFAULTS = {"AdadeltaOptimizer": {"learning_rate": 0.001}, "AdamOptimizer": {"learning_rate": 0.001, "epsilon": 1e-8}}


def __getattr__(name: str) -> Any:
    if name not in _OF_KERAS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = _class(name)
    return made


def _class(name: str) -> Any:
    from emplace.eager import keras

    base: Any = getattr(keras.below("optimizers"), _OF_KERAS[name][0])
    renamed, order = _OF_KERAS[name][1], ("learning_rate", *_ORDER.get(name, ()))

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(order):
            raise TypeError(f"{name} takes at most {len(order)} positional arguments, and was given {len(args)}")
        given = {**_DEFAULTS.get(name, {}), **dict(zip(order, args)), **kwargs}
        given.pop("use_locking", None)  # one step follows the other anyhow
        base.__init__(self, **{renamed.get(k, k): v for k, v in given.items()})

    def minimize(self: Any, loss: Any, global_step: Any = None, var_list: Any = None, tape: Any = None) -> None:
        """One step on the variables that the loss, a function, reads, or those listed; adds 1 to `global_step`."""
        if not callable(loss) and tape is None:
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled.")
        self.apply_gradients(_gradients(loss, var_list, tape))
        if global_step is not None:
            global_step.assign_add(1)

    said = f"Keras's {_OF_KERAS[name][0]} under TensorFlow 1's name and with its arguments, for `model.compile` and tapes."
    return type(name, (base,), {"__init__": __init__, "minimize": minimize, "__doc__": said, "__module__": __name__})


def _gradients(loss: Any, var_list: Any, tape: Any) -> list[Any]:
    from emplace.eager.tape import GradientTape

    with tape or GradientTape() as recorded:
        value = loss() if callable(loss) else loss
    wanted = list(recorded.watched_variables() if var_list is None else var_list)
    return list(zip(recorded.gradient(value, wanted), wanted))


def __dir__() -> list[str]:
    return sorted(_OF_KERAS)
