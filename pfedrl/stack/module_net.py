"""Any PyTorch module as a net of a stack, differentiated by torch.func: for convolutions."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap

from pfedrl.stack.nets import Views


class ModuleNet:
    """A `Net` whose layers are those of a module; the module's own weights are not used.

    Parts are named by the prefixes of their parameters, in the module's order:
    {"body": ("features",), "head": ("classifier",)}. A module that draws numbers or keeps
    statistics of batches has no place in a stack.
    """

    def __init__(self, module: nn.Module, parts: Mapping[str, Sequence[str]]):
        self.module = module
        self.shapes = {name: value.shape for name, value in module.named_parameters()}
        self.part: dict[str, slice] = {}
        column = 0
        for part, prefixes in parts.items():
            start = column
            for name, shape in self.shapes.items():
                if name.startswith(tuple(prefixes)):
                    column += shape.numel()
            self.part[part] = slice(start, column)
        order = [
            part for name in self.shapes for part in parts if name.startswith(tuple(parts[part]))
        ]
        if len(order) != len(self.shapes) or order != sorted(order, key=list(parts).index):
            raise ValueError(
                f"parts {dict(parts)} must name each of {', '.join(self.shapes)} once, in order"
            )
        self.columns = column
        self.part["all"] = slice(0, column)

    def initial(self, random: np.random.Generator) -> np.ndarray:
        """One net [columns]: U(-1, 1) / sqrt(inputs), biases as the weights before them."""
        pieces, inputs = [], 1
        for shape in self.shapes.values():
            inputs = shape[1:].numel() if len(shape) > 1 else inputs
            pieces.append(random.uniform(-1, 1, shape.numel()) / np.sqrt(inputs))
        return np.concatenate(pieces).astype(np.float32)

    def views(self, rows: Tensor) -> Views:
        found, column = [], 0
        for shape in self.shapes.values():
            found.append((rows[:, column : column + shape.numel()].unflatten(1, shape),))
            column += shape.numel()
        return found

    def _outputs(self, inputs: Tensor, *weights: Tensor) -> Tensor:
        def one(inputs: Tensor, *weights: Tensor) -> Tensor:
            return functional_call(
                self.module, dict(zip(self.shapes, weights, strict=True)), inputs
            )

        return vmap(one)(inputs, *weights)

    def forward(self, views: Views, inputs: Tensor) -> list[Tensor]:
        return [inputs, self._outputs(inputs, *(weight for (weight,) in views))]

    def backward(
        self, views: Views, levels: list[Tensor], slope: Tensor, into: Views | None,
        to_inputs: bool = False,
    ) -> Tensor | None:  # fmt: skip
        """See `Net`. The forward pass is repeated: torch.func keeps no tape."""
        pull = vjp(self._outputs, levels[0], *(weight for (weight,) in views))[1]
        by_inputs, *by_weights = pull(slope)
        if into is not None:
            for (target,), gradient in zip(into, by_weights, strict=True):
                target.copy_(gradient)
        return by_inputs if to_inputs else None
