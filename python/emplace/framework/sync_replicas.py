"""SyncReplicasOptimizer: workers' gradients are gathered by accumulators, a chief applies their mean."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, control_flow_ops, dtypes, ops, queues, variables
from emplace.framework.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from emplace.framework.hooks import SessionRunHook
from emplace.framework.optimizers import Optimizer
from emplace.framework.queue_runner import QueueRunner
from emplace.framework.session_manager import SessionManager


class SyncReplicasOptimizer(Optimizer):
    """Wraps an optimizer: a step takes the mean of `replicas_to_aggregate` gradients of the same step.

    Each worker hands in its gradient and then waits for a token, which carries the number of the next
    step; gradients of earlier steps are dropped. The chief takes the means, applies them and gives out
    the tokens: by a queue runner, which the hook of `make_session_run_hook` starts.
    """

    def __init__(self, opt: Any, replicas_to_aggregate: int, total_num_replicas: int | None = None, variable_averages: Any = None, variables_to_average: Any = None, use_locking: bool = False, name: str = "sync_replicas") -> None:
        super().__init__(use_locking, name)
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._opt, self._averages, self._averaged = opt, variable_averages, variables_to_average
        self._replicas_to_aggregate, self._total_num_replicas = replicas_to_aggregate, total
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._gradients_applied = False
        self._global_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner: Any = None
        self.local_step_init_op: Any = None
        self.ready_for_local_init_op: Any = None
        self.chief_init_op: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[Any]:
        """As the wrapped optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An op for one step of a worker: hands its gradients in and waits until they count."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        kind = global_step.dtype.base_dtype
        local = variables.Variable(
            initial_value=0, trainable=False, collections=[ops.GraphKeys.LOCAL_VARIABLES], dtype=kind, name="sync_rep_local_step")
        self.local_step_init_op = variables.assign(local, global_step)
        self.ready_for_local_init_op = variables.report_uninitialized_variables(variables.global_variables())
        init_ops = [self.local_step_init_op]
        with ops.name_scope(None, self._name):
            handed_in, means, accumulators = [], [], []
            for grad, var in pairs:
                with ops.device(var.device):
                    if grad is None:
                        means.append((None, var))
                        continue
                    made = self._accumulator(grad, var)
                    accumulators.append((made, var.device))
                    if isinstance(made, SparseConditionalAccumulator):
                        handed_in.append(made.apply_indexed_slices_grad(grad, local_step=local))
                        means.append((made.take_indexed_slices_grad(self._replicas_to_aggregate), var))
                    else:
                        handed_in.append(made.apply_grad(grad, local_step=local))
                        means.append((made.take_grad(self._replicas_to_aggregate), var))
            with ops.device(global_step.device), ops.name_scope(""):
                update = self._opt.apply_gradients(means, global_step)
                train = self._give_out_tokens(update, handed_in, local, kind)
        for made, device in accumulators:
            with ops.device(device):
                init_ops.append(made.set_global_step(global_step, name="SetGlobalStep"))
        self.chief_init_op = control_flow_ops.group(*init_ops)
        self._gradients_applied = True
        return train

    @staticmethod
    def _accumulator(grad: Any, var: Any) -> Any:
        if isinstance(grad, ops.Tensor):
            return ConditionalAccumulator(grad.dtype, shape=var.get_shape(), shared_name=var.name + "/grad_accum")
        if not isinstance(grad, ops.IndexedSlices):
            raise ValueError("Unknown grad type!")
        return SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=var.name + "/grad_accum")

    def _give_out_tokens(self, update: Any, handed_in: list[Any], local: Any, kind: Any) -> Any:
        tokens = queues.FIFOQueue(-1, kind, shapes=(), name="sync_token_q", shared_name="sync_token_q")
        self._sync_token_queue = tokens
        unused = queues.FIFOQueue(1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue")
        with ops.control_dependencies(handed_in):
            token = tokens.dequeue()
        train = variables.assign(local, token)
        with ops.control_dependencies([update]):
            sync = tokens.enqueue_many((array_ops.fill([self._tokens_per_step], self._global_step),))
        if self._averages is not None:
            with ops.control_dependencies([sync]), ops.name_scope(""):
                sync = self._averages.apply(self._averaged)
        self._chief_queue_runner = QueueRunner(unused, [sync])
        return train

    def get_chief_queue_runner(self) -> Any:
        """What the chief runs beside its own steps: the updates and the tokens."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """An op that puts the first tokens into the queue: at least as many as gradients exceed workers."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        if num_tokens <= 0:
            return control_flow_ops.no_op(name="no_init_tokens")
        with ops.device(self._global_step.device), ops.name_scope(""):
            return self._sync_token_queue.enqueue_many((array_ops.fill([num_tokens], self._global_step),))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> Any:
        """The hook that a monitored session needs to train so."""
        return _SyncReplicasHook(self, is_chief, num_tokens)

    # ---- What the wrapped optimizer keeps.

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        return self._opt.variables()



class _SyncReplicasHook(SessionRunHook):
    """Brings a session's local step, accumulators and tokens to life, and starts the chief's queue runner."""

    def __init__(self, opt: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._opt, self._is_chief, self._num_tokens = opt, is_chief, num_tokens
        self._runner: Any = None

    def begin(self) -> None:
        opt = self._opt
        self._tokens: Any = None
        if not opt._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._local_init, self._ready = opt.local_step_init_op, opt.ready_for_local_init_op
        if self._is_chief:
            self._local_init, self._runner = opt.chief_init_op, opt.get_chief_queue_runner()
            self._tokens = opt.get_init_tokens_op(self._num_tokens)

    def after_create_session(self, session: Any, coord: Any) -> None:
        ready, words = SessionManager._ready(session, self._ready)
        if not ready:
            raise RuntimeError(f"Init operations did not make model ready for SyncReplicasOptimizer local_init. Init op: {self._local_init.name}, error: {words}")
        session.run(self._local_init)
        if self._tokens is not None:
            session.run(self._tokens)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)
