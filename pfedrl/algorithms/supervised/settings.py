"""Settings of supervised learning in rounds; without torch, so that reading them is quick."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from pfedrl.core.settings import Settings

Model = Literal["mlp", "tiny_cnn", "dnn", "alexnet", "vgg11", "resnet18"]


class SupervisedSettings(Settings):
    """Local epochs of minibatch SGD; the paper's numbers, and its authors' where it is silent."""

    model: Model = Field(
        description="dnn, alexnet, vgg11, resnet18: the paper's; mlp (128 and 64 units), tiny_cnn"
    )
    communication_rounds: int = Field(gt=0, description="times that workers train and mix")
    local_epochs: int = Field(
        2, gt=0, description="tau, a round's epochs of a head that is trained first; of whole "
        "models, where these are trained"
    )  # fmt: skip
    batch: int = Field(16, gt=0, description="samples of a minibatch; an epoch's last has the rest")
    rate: float = Field(0.01, gt=0, description="beta, of representations and of whole models")
    head_rate: float = Field(
        0.005, gt=0, description="alpha, of heads that are trained by themselves"
    )
    rate_decay: float = Field(0.96, gt=0, le=1, description="multiplies the rates after a round")
    momentum: float = Field(0.9, ge=0, lt=1, description="of SGD, at rest when a phase begins")
    weight_decay: float = Field(1e-5, ge=0, description="L2 penalty on all weights")
    clip: float = Field(10.0, gt=0, description="largest norm of a gradient")
    newcomer_epochs: int = Field(10, gt=0, description="epochs of a new worker's head")
    target_accuracy: float | None = Field(
        None, gt=0, le=100, description="in percent; the steps until it is reached are recorded"
    )
    measure_similarities: bool = Field(
        False, description="cosines between workers, at the end: label shares, heads, bodies"
    )
    device: Literal["cpu", "cuda"] = Field(
        "cpu", description="cuda: on the graphics processor, where there is one"
    )


@dataclass(frozen=True)
class Phase:
    """A part of a round's local training."""

    trains: str  # part of the model: "all", "body", "head", ...
    epochs: int
    rate: float  # before its decay
    steps: int = 0  # at most so many minibatches an epoch; 0: all of them
    model: str = ""  # which, where a worker has several
    pull: float = 0.0  # lambda, towards what the first model was when the round began: Ditto
    balanced: bool = False  # softmax weighted by the worker's own classes: FedRoD
