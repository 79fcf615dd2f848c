"""Ways in which a method may try to read labels, alter files, reach processes or stay behind.

Each takes a `Target` and returns labels of all points where it found them. One that fails raises
what it was refused with. Its name is what a test reports.
"""

from types import FunctionType

import attacks_on_files
import attacks_on_labels
import attacks_on_processes

HELPERS = {
    *("in_a_namespace", "looks_like_labels", "open_through_cwd_of", "places_of_notes"),
    *("read_descriptors_of", "read_memory_of", "signal_to"),
}
WAYS = [
    function
    for module in (attacks_on_labels, attacks_on_files, attacks_on_processes)
    for name, function in vars(module).items()
    if isinstance(function, FunctionType)
    and function.__module__ == module.__name__
    and name not in HELPERS
]
NAMES = [way.__name__ for way in WAYS]
