"""Documents -> matrices for a linear model that learns while people judge.

Each block is one representation: "words" (tf-idf of words), "chars" (tf-idf of character 4-grams), "dense" (the user's
embeddings). :func:`build` makes features in memory; :func:`update` makes or updates them in a directory, and
:func:`open_features` opens them there; :func:`top` selects the rows with the best scores.

    tokens -> counting -> (workers) -> assembling -> blocks -> matrix        storage: the same on disk
                                  partitions: several matrices as one        cluster: partitions at Dask's workers
"""

from collection.active_learning.features.assembly import FeatureProgress as FeatureProgress, build as build
from collection.active_learning.features.cluster import Cluster as Cluster, write_to_cluster as write_to_cluster
from collection.active_learning.features.files import open_features as open_features, stored_files as stored_files
from collection.active_learning.features.matrix import FeatureMatrix as FeatureMatrix
from collection.active_learning.features.selection import top as top
from collection.active_learning.features.storage import Report as Report, update as update, usual_blocks as usual_blocks
from collection.active_learning.features.workers import ONE_THREAD as ONE_THREAD
