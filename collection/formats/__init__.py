"""Files to frames and back.

Only this package knows the field's own column names (``docno``, ``qid``, ``Q0``). All readers also read gzip, whatever
the file's name, and raise :class:`.FormatError` with path and line for anything that does not fit
the format. All writers compress files whose name ends in ``.gz``, replace an existing file only when everything is
written, and raise :class:`~collection.core.errors.InputError` if that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collection.core.imports import exports_at_use

if TYPE_CHECKING:
    from collection.formats.beir import (
        QUERY_TEXTS,
        CollectionParts,
        corpus_record,
        find_collection,
        query_text,
        write_beir_qrels,
        write_corpus,
        write_queries,
        write_topics,
    )
    from collection.formats.clicks import read_clicks, write_clicks
    from collection.formats.columns import to_pyterrier
    from collection.formats.costs import find_run_line, read_costs
    from collection.formats.datasets import download
    from collection.formats.documents import read_documents
    from collection.formats.folder import CHECKSUMS, WrittenFile, describe_file, list_files, replacing_folder, write_zip
    from collection.formats.images import IMAGE_TYPES, ImageList, parse_host, read_image
    from collection.formats.judgements import read_preferences, write_choices, write_preferences
    from collection.formats.labels import find_label_line, read_label_log, read_labels, write_labels
    from collection.formats.objects import is_binary
    from collection.formats.qrels import QrelsForm, find_pair_line, names_of_qrels, read_index, read_qrels
    from collection.formats.references import Reference
    from collection.formats.run import name_runs, open_runs, read_run, read_runs
    from collection.formats.run_alignment import RunFiles
    from collection.formats.source import Source, opened, stem
    from collection.formats.spreadsheet import to_tsv
    from collection.formats.topics import read_topics
    from collection.formats.training_examples import write_training
    from collection.formats.trec_eval_files import read_levels, read_reference_scores
    from collection.formats.work_lists import (
        WorkListRow,
        is_work_list,
        read_work_list,
        require_work_list_ending,
        write_work_list,
    )
    from collection.formats.write import (
        require_log_ending,
        takes_report,
        write_duplicates,
        write_judgements,
        write_lines,
        write_log,
        write_passages,
        write_pool,
        write_qrels,
        write_report,
        write_run,
        write_table,
    )

__getattr__, __dir__, __all__ = exports_at_use(__name__, __file__)
