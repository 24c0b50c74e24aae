from .answer_files import (
    AnswersForm as AnswersForm,
    NuggetsForm as NuggetsForm,
    write_answers as write_answers,
    write_nugget_assignments as write_nugget_assignments,
    write_nuggets as write_nuggets,
    write_support as write_support,
)
from .answers import read_answers as read_answers
from .beir import (
    QUERY_TEXTS as QUERY_TEXTS,
    CollectionParts as CollectionParts,
    corpus_record as corpus_record,
    find_collection as find_collection,
    find_documents as find_documents,
    query_text as query_text,
    write_beir_qrels as write_beir_qrels,
    write_corpus as write_corpus,
    write_queries as write_queries,
    write_topics as write_topics,
)
from .clicks import read_clicks as read_clicks, write_clicks as write_clicks
from .columns import to_pyterrier as to_pyterrier
from .costs import find_run_line as find_run_line, read_costs as read_costs
from .databases import database_lines as database_lines, guess_database as guess_database
from .datasets import download as download
from .decisions import find_decisions as find_decisions, find_unread_decisions as find_unread_decisions
from .document_folder import (
    find_document_files as find_document_files,
    is_document as is_document,
    is_document_folder as is_document_folder,
)
from .documents import has_pdf_files as has_pdf_files, read_documents as read_documents
from .folder import (
    CHECKSUMS as CHECKSUMS,
    WrittenFile as WrittenFile,
    describe_file as describe_file,
    list_files as list_files,
    replacing_folder as replacing_folder,
    write_zip as write_zip,
)
from .images import (
    IMAGE_TYPES as IMAGE_TYPES,
    ImageList as ImageList,
    parse_host as parse_host,
    read_image as read_image,
)
from .judge_labels import parse_grades as parse_grades, read_judge_labels as read_judge_labels
from .judgements import (
    read_preferences as read_preferences,
    write_choices as write_choices,
    write_preferences as write_preferences,
)
from .labels import (
    find_label_line as find_label_line,
    read_label_log as read_label_log,
    read_labels as read_labels,
    write_labels as write_labels,
)
from .nuggets import read_nugget_assignments as read_nugget_assignments, read_nuggets as read_nuggets
from .objects import is_binary as is_binary
from .pdf import PdfFile as PdfFile
from .qrels import (
    QrelsForm as QrelsForm,
    find_pair_line as find_pair_line,
    names_of_qrels as names_of_qrels,
    read_index as read_index,
    read_qrels as read_qrels,
)
from .reference_files import (
    Copy as Copy,
    ExportedReference as ExportedReference,
    write_references as write_references,
    write_text_table as write_text_table,
)
from .references import Reference as Reference, as_reference as as_reference, to_reference as to_reference
from .run import name_runs as name_runs, open_runs as open_runs, read_run as read_run, read_runs as read_runs
from .run_alignment import RunFiles as RunFiles
from .source import (
    Source as Source,
    is_unnamed as is_unnamed,
    named_stem as named_stem,
    opened as opened,
    stem as stem,
)
from .spreadsheet import to_tsv as to_tsv
from .support import read_support as read_support
from .topics import read_topics as read_topics
from .training_examples import write_training as write_training
from .trec_eval_files import read_levels as read_levels, read_reference_scores as read_reference_scores
from .trec_topics import write_topic_file as write_topic_file
from .work_lists import (
    WorkListRow as WorkListRow,
    is_work_list as is_work_list,
    read_work_list as read_work_list,
    require_work_list_ending as require_work_list_ending,
    write_work_list as write_work_list,
)
from .write import (
    require_log_ending as require_log_ending,
    takes_report as takes_report,
    write_duplicates as write_duplicates,
    write_judgements as write_judgements,
    write_lines as write_lines,
    write_log as write_log,
    write_passages as write_passages,
    write_pool as write_pool,
    write_qrels as write_qrels,
    write_report as write_report,
    write_run as write_run,
    write_table as write_table,
)
from .zip_folder import unpack_zip as unpack_zip
