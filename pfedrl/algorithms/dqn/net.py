"""Q nets with a head of more than one layer."""

from pfedrl.stack.nets import Perceptron


class HeadOfLayers(Perceptron):
    """A perceptron whose head is its last so many layers, and whose body those before them."""

    def __init__(self, *sizes: int, embedding: int = 0, head_layers: int = 1):
        super().__init__(*sizes, embedding=embedding)
        self.head_layers = head_layers
        head = self.layers[-head_layers][0]
        self.part["body"] = slice(embedding, head)
        self.part["head"] = slice(head, self.part["head"].stop)
