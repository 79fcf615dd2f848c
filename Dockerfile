# The project and all that it needs, installed from its wheel:
#   pip wheel --no-deps -w dist .
#   docker build -t memory-budget-harness .       (podman and buildah take the same file)
#   apptainer build harness.sif docker-daemon://memory-budget-harness:latest
ARG BASE=docker.io/library/python:3.11-slim
FROM ${BASE}
COPY dist/memory_budget_harness-*.whl /wheels/
RUN python3 -m venv /opt/harness \
    && /opt/harness/bin/pip install --no-cache-dir "$(ls /wheels/*.whl)[slurm]" \
    && rm -r /wheels
ENV PATH=/opt/harness/bin:$PATH
WORKDIR /work
CMD ["harness", "--help"]
