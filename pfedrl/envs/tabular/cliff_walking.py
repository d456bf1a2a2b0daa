"""CliffWalking 4x12, as in gymnasium: three agents who evaluate three paths (PFedRL-Rep, 4.3)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.envs.family import Draws
from pfedrl.envs.tabular.task import Members, TabularFamily, TabularTask

HEIGHT, WIDTH = 4, 12
STATES = HEIGHT * WIDTH
START, GOAL = 36, 47  # the ends of the bottom row; the cliff lies between them
UP, RIGHT, DOWN, LEFT = range(4)  # gymnasium's order
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))  # (row, column)
FALL = -100.0


class CliffWalking(TabularFamily):
    """Cliff walking; agent i evaluates the path along a row of its own, started anywhere safe."""

    label: ClassVar[str] = "CliffWalking"
    varies: ClassVar[str] = "the row that an agent's policy walks along: 2, 1, 0 in turn"

    agents: int = Field(3, gt=0, description="N; agent i walks along row 2 - i mod 3")

    def draw(self, seeds: Sequence[int]) -> Draws:
        """Nothing is random about the grid."""
        return {"seeds": np.array(seeds)}

    def successors(self) -> np.ndarray:
        """One move an action: walls mean stay, the cliff leads to the start, the goal holds."""
        return np.array([[self.target(s, a)[0]] for s in range(STATES) for a in range(len(MOVES))])

    def target(self, state: int, action: int) -> tuple[int, float]:
        """The next state and the reward of a step."""
        if state == GOAL:
            return GOAL, 0.0
        row, column = divmod(state, WIDTH)
        row = min(max(row + MOVES[action][0], 0), HEIGHT - 1)
        column = min(max(column + MOVES[action][1], 0), WIDTH - 1)
        reached = row * WIDTH + column
        return (START, FALL) if START < reached < GOAL else (reached, -1.0)

    def policies(self) -> np.ndarray:
        """Agent i's path, [agent, s*A + a]: to its row, along it to the right, then down."""
        chosen = np.zeros((self.agents, STATES, len(MOVES)))
        for agent in range(self.agents):
            path = 2 - agent % 3
            for state in range(STATES):
                row, column = divmod(state, WIDTH)
                if column == WIDTH - 1:
                    action = DOWN
                else:
                    action = RIGHT if row == path else DOWN if row < path else UP
                chosen[agent, state, action] = 1.0
        return chosen.reshape(self.agents, -1)

    def task(self, draws: Draws) -> TabularTask:
        seeds = len(draws["seeds"])
        steps = [self.target(s, a) for s in range(STATES) for a in range(len(MOVES))]
        reward = np.array([reward for _, reward in steps])
        safe = np.array([s <= START for s in range(STATES)])
        return TabularTask(
            members=Members(np.ones((self.agents, len(steps), seeds)), None,
                            np.ones((self.held_out, len(steps), seeds))),
            states=STATES,
            actions=len(MOVES),
            gamma=self.gamma,
            successors=self.successors(),
            reward=np.repeat(reward[:, None], seeds, axis=1),
            start=np.eye(STATES)[START],
            score_shift=self.score_shift,
            score_scale=self.score_scale,
            policies=self.policies(),
            terminal=np.arange(STATES) == GOAL,
            restart=safe / safe.sum(),
        )  # fmt: skip
