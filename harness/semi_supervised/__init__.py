"""What estimators of partly labeled points share: an author writes the map, or the machine.

As in `sklearn.semi_supervised`, y is -1 where a point has no label. Checks, labels, folds, blocks,
thresholds and the parameters that many have are here, once.
"""

from harness.semi_supervised.classifiers import PartlyLabeledClassifier, SplitClassifier
from harness.semi_supervised.cluster_features import VirtualSampleSVM
from harness.semi_supervised.kernel_operators import GramProduct, LinearProduct
from harness.semi_supervised.labels import (
    Labels,
    expand_scores,
    predict_labels,
    read_labels,
    transduced,
)
from harness.semi_supervised.landmark_machines import (
    LandmarkMachine,
    landmark_machine_block,
    landmark_machine_phases,
)
from harness.semi_supervised.least_squares import (
    GaussianExpansionMixin,
    RidgeOnFeatures,
    SplitLeastSquares,
    SquaredLossMixin,
    centered_kernel_ridge,
    centered_ridge,
    expansion_arrays,
)
from harness.semi_supervised.on_features import SVMOnFeatures, svm_phases
from harness.semi_supervised.one_vs_rest_svm import (
    machine_bytes,
    train_linear_machines,
    train_machines,
)
from harness.semi_supervised.thresholds import (
    DecisionThreshold,
    DecisionThresholdMixin,
    threshold_block_rows,
    threshold_bytes,
    threshold_rows,
)

__all__ = [
    "DecisionThreshold",
    "DecisionThresholdMixin",
    "GaussianExpansionMixin",
    "GramProduct",
    "Labels",
    "LandmarkMachine",
    "LinearProduct",
    "PartlyLabeledClassifier",
    "RidgeOnFeatures",
    "SVMOnFeatures",
    "SplitClassifier",
    "SplitLeastSquares",
    "SquaredLossMixin",
    "VirtualSampleSVM",
    "centered_kernel_ridge",
    "centered_ridge",
    "expand_scores",
    "expansion_arrays",
    "landmark_machine_block",
    "landmark_machine_phases",
    "machine_bytes",
    "predict_labels",
    "read_labels",
    "svm_phases",
    "threshold_block_rows",
    "threshold_bytes",
    "threshold_rows",
    "train_linear_machines",
    "train_machines",
    "transduced",
]
