"""What the rules on environments ask: cells by their draws, and the settings of draws."""


def data_of(cell):
    """The data set's file that a cell reads; cells without theirs are skipped before.

    It is no output of a job: Snakemake removes what it is to make anew, and some data cannot be fetched.
    """
    name = getattr(cell.family, "data", None)
    return [path_of(name)] if name in FACTS else []


@cache
def cells_by_draws():
    """By name of the draws, a cell that uses them; which one does not matter to them."""
    every = reversed(cells_by_run().values())
    return {cell.draws_name(): cell for cell in every if cell.family is not None}


def cell_with_draws(wildcards):
    return cells_by_draws()[wildcards.draws]


def family_code(wildcards):
    return build_code(cell_with_draws(wildcards))


def draw_settings(wildcards):
    return cell_with_draws(wildcards).family.draw_settings()


def drawing_cell(wildcards, output):
    # a function of the output is not compared between runs: another cell draws the same
    cell = cell_with_draws(wildcards)
    return [cell.paper, cell.experiment, cell.name]


def build_priority(wildcards):
    cell = cell_with_draws(wildcards)
    return cheap_first(cell.paper, cell.experiment)


def drawn_data(wildcards):
    return data_of(cell_with_draws(wildcards))
