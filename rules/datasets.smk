# Data sets: fetched, checked and written once as plain arrays, for every study.

import re

from harness.datasets.entry import FACTS_ENDING, SPARSE_ENDING
from harness.datasets.meta import FACTS
from harness.planning.reserving import preparing_mb

IS_SPARSE, HAS_FACTS = re.escape(SPARSE_ENDING), re.escape(FACTS_ENDING)
# as those of the features, it is named where files go through a storage
FACTS_TOO = [FACTS] if STORAGE.is_used else []


rule dataset:
    output:
        [f"prepared/{{data}}/{name}" for name in PREPARED],
    log:
        "prepared/logs/{data}.log",
    wildcard_constraints:
        data=rf"[A-Za-z0-9._+-]+(?<!{IS_SPARSE})(?<!{HAS_FACTS})",
    retries: 1
    resources:
        mem_mb=lambda wildcards: preparing_mb(JOBS.workload, wildcards.data),
        runtime=120,
    params:
        python=PYTHON,
        study=config["study"],
        folder=STORAGE.folder,
    shell:
        "{params.python:q} -m harness.jobs --folder {params.folder:q} "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "dataset {params.study:q} {wildcards.data:q} >{log:q} 2>&1"


use rule dataset as sparse_dataset with:
    output:
        [f"prepared/{{data}}/{name}" for name in SPARSE],
    wildcard_constraints:
        data=rf"[A-Za-z0-9._+-]+(?<!{HAS_FACTS}){IS_SPARSE}",


use rule dataset as dataset_with_facts with:
    output:
        [f"prepared/{{data}}/{name}" for name in [*PREPARED, *FACTS_TOO]],
    wildcard_constraints:
        data=rf"[A-Za-z0-9._+-]+{HAS_FACTS}",


use rule dataset as sparse_dataset_with_facts with:
    output:
        [f"prepared/{{data}}/{name}" for name in [*SPARSE, *FACTS_TOO]],
    wildcard_constraints:
        data=rf"[A-Za-z0-9._+-]+{HAS_FACTS}{IS_SPARSE}",
