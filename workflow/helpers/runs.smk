"""What the rules on runs ask: the cell behind a run, its inputs, price and priority."""


def cell_of(wildcards):
    return cells_by_run()[wildcards.run]


def run_environments(wildcards):
    cell = cell_of(wildcards)
    return [] if cell.family is None else draws_path(cell, wildcards.block)


def run_data(wildcards):
    return data_of(cell_of(wildcards))


def environments_option(wildcards, input):
    return f"--environments {quote(input.environments)}" if input.environments else ""


def run_minutes(wildcards, attempt):
    return minutes(price(wildcards.run, wildcards.block), attempt)


def run_seconds(wildcards):
    """Of processor time, for the console; 0 where nothing like the run was measured."""
    cost = price(wildcards.run, wildcards.block)
    return max(ceil(cost.seconds), 1) if cost else 0


def run_memory(wildcards, attempt):
    return megabytes(price(wildcards.run, wildcards.block), attempt)


@cache
def cheap_first(paper, experiment):
    """A priority: cheap experiments go first, one after the other, so that tables come early.

    All other rules have priority 0, above every run.
    """
    runs = runs_of(SCALE, paper, experiment).items()
    costs = [
        KNOWN.cost(cell, len(parse_block(path.stem))) for cell, paths in runs for path in paths
    ]
    never_run = 60 * UNKNOWN_MINUTES  # seconds
    return -sum(START_UP + (cost.seconds if cost else never_run) for cost in costs)


def run_priority(wildcards):
    cell = cell_of(wildcards)
    return cheap_first(cell.paper, cell.experiment)


def run_group(wildcards):
    """On a cluster, runs of seconds are submitted together; here a group would hide its jobs."""
    if not workflow.non_local_exec or not is_short(price(wildcards.run, wildcards.block)):
        return None
    return "runs"


def run_settings(wildcards):
    return cell_of(wildcards).settings()


def run_data_digest(wildcards):
    return cell_of(wildcards).data


def cell_code(wildcards):
    return run_code(cell_of(wildcards))


def label(wildcards, output):
    # a function of the output is not compared between runs: another cell has the same run
    cell = cell_of(wildcards)
    return [cell.paper, cell.experiment, cell.name]


def experiment_runs(wildcards):
    """The files of all cells; committed ones are old, whenever git wrote them."""
    every = runs_of(wildcards.scale, wildcards.paper, wildcards.experiment).values()
    paths = sorted({path for found in every for path in found})
    return [path if path.is_relative_to(LOCAL) else ancient(str(path)) for path in paths]


def experiment_labels(wildcards):
    return labels_of(wildcards.scale, wildcards.paper, wildcards.experiment)
