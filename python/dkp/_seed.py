"""Seeds, as scikit-learn has them."""

from __future__ import annotations

from typing import Any

import numpy as np


def seed(random_state: Any) -> int:
    """A seed of a seed, a generator, or nothing, which is 0."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    value = int(random_state)
    if not 0 <= value < 2**64:
        raise ValueError("random_state must be from 0 to 2**64 - 1")
    return value
