"""tf.distributions."""

from __future__ import annotations

from emplace.framework.continuous_distributions import (
    Beta as Beta, Exponential as Exponential, Gamma as Gamma, Laplace as Laplace, StudentT as StudentT, Uniform as Uniform,
)
from emplace.framework.distributions import (
    FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED as NOT_REPARAMETERIZED, Bernoulli as Bernoulli,
    Categorical as Categorical, Distribution as Distribution, Normal as Normal, RegisterKL as RegisterKL,
    ReparameterizationType as ReparameterizationType, kl_divergence as kl_divergence,
)
from emplace.framework.simplex_distributions import (
    Dirichlet as Dirichlet, DirichletMultinomial as DirichletMultinomial, Multinomial as Multinomial,
)
from emplace.framework import listing as _listing

__dir__ = _listing.of_module(globals())
