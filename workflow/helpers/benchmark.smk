"""What leaderboards are made from: committed runs alone; `pfedrl bench` makes runs."""

@cache
def board_sources(suite):
    """All that a leaderboard is made from, as one digest; its json keeps it."""
    chosen, stores = with_submissions(PROJECT, read_suite(PROJECT, suite))
    folders = sorted({cell.folder for cell in cells_of(PROJECT, chosen)})
    runs = [STORE.manifest.get(folder) for folder in folders]
    runs += [store.manifest for store in stores.values()]
    code = fingerprint("pfedrl.suites.writing", words=True, only=(*SHOWING, "pfedrl/suites/"))
    return digest_of(chosen.model_dump(mode="json"), runs, STYLES, code)


def board_made_from(wildcards):
    return board_sources(wildcards.suite)


def board_stamp(wildcards):
    output = f"{FIGURES}/benchmark/{wildcards.suite}/leaderboard.json"
    return stamp(f"board/{wildcards.suite}", output, board_sources(wildcards.suite))


def boards():
    """The leaderboard of each suite; only the record has them: they compare committed runs."""
    names = suites(PROJECT) if SCALE == RECORD else []
    return {name: f"{FIGURES}/benchmark/{name}/leaderboard.json" for name in names}
