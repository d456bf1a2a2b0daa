# The environment of `make install`, with the same pins:
#   docker build -t pfedrl .
#   docker run -v "$PWD/results:/pfedrl/results" pfedrl
# For Apptainer: docker save pfedrl -o pfedrl.tar && apptainer build pfedrl.sif docker-archive:pfedrl.tar
FROM python:3.11-slim-bookworm

# SUMO's wheel needs these of the system; git names the commit in the provenance, and what holds
# MKL to its pin is compiled
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev git make libgomp1 libgl1 libxrender1 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /pfedrl
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY pfedrl/__init__.py pfedrl/
COPY pfedrl/core/ pfedrl/core/
RUN pip install --no-cache-dir -c constraints.txt -e ".[cluster]"
COPY . .

ENTRYPOINT ["snakemake"]
CMD ["--cores", "all"]
