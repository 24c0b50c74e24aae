"""The only SQL: a campaign's database, rows in and frames out.

A Store belongs to the thread that opened it. Whoever has several threads opens one in each; SQLite
keeps them apart. Writes happen inside :meth:`Store.transaction`, which is durable when it returns
(WAL, synchronous=FULL) and leaves nothing behind when it raises.
"""

from collection.store.accounts import Account, Link, People
from collection.store.assignments import Assigning, Demand
from collection.store.corpus import Added, Material
from collection.store.history import Former, Remembering, Said
from collection.store.judgement_log import Log, Pair
from collection.store.queue import Choosing, Way
from collection.store.topic_tasks import Standing, Tasks, TopicKey

__all__ = ["Account", "Added", "Demand", "Former", "Link", "Pair", "Said", "Standing", "Store", "TopicKey", "Way"]


class Store(Material, Choosing, Assigning, Log, People, Tasks, Remembering):
    """A campaign's database.

    Parameters
    ----------
    path
        The SQLite file, or ``":memory:"``.
    create
        Make it if it is not there. Without this a missing file is an error.

    Examples
    --------
    >>> from collection.records import Topic
    >>> with Store(":memory:", create=True) as store:
    ...     with store.transaction():
    ...         added = store.add_topics([Topic("1", "wing flow")])
    ...     titles = store.topics()["title"].tolist()
    >>> added, titles
    (Added(new=1, changed=0, same=0), ['wing flow'])
    """
