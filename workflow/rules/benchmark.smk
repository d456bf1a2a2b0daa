"""Leaderboards of the benchmark's suites."""


rule board:
    input:
        stamp=board_stamp,
    output:
        board=f"{FIGURES}/benchmark/{{suite}}/leaderboard.json",
    log:
        f"results/{SCALE}/logs/benchmark/{{suite}}.log",
    threads: 1
    resources:
        mem_mb=1000,
    params:
        made_from=board_made_from,
        folder=lambda wildcards, output: Path(output.board).parent,
    message:
        "Scoring the suite {wildcards.suite}"
    shell:
        "python -m pfedrl --log {log:q} board {wildcards.suite:q} --output {params.folder:q} "
        "--made-from {params.made_from:q}"


for name in suites(PROJECT) if SCALE == RECORD else []:

    rule:
        name:
            f"board_{name}"
        input:
            f"{FIGURES}/benchmark/{name}/leaderboard.json",
