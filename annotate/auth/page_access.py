"""The table of pages: section of the menu, address, and the roles that may open each."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from annotate.auth.roles import EVERYBODY, JUDGES, MANAGERS, READERS
from collection.core.records import Role
from collection.core.vocabulary import RETRIEVAL, Vocabulary

SECTIONS = ("", "Set up", "Judge", "Results", "Account")  # sections of the menu, in order
SECTIONS_IN_REVIEW = {"Set up": "Review", "Judge": "Screening"}
"""Names of sections of the menu that differ in a literature review."""

InReview = Literal["", "shown", "only"]
"""Menus with a page: "" that of a review only with *Show all pages*; "shown" all menus; "only" that of a review."""

InTask = Literal["", "shown", "outer"]
"""Whether the menu of an answer task lists a page: "" no; "shown" yes; "outer" yes, for the campaign around it."""


class PageEntry(NamedTuple):
    """One page: its script in ``annotate/views/``, its place in the menu, and the roles that may open it.

    `title_in_review` is its title in a literature review, if that is another one.
    """

    file: str
    title: str
    icon: str
    section: str
    url_path: str
    roles: tuple[Role, ...]
    default: bool = False
    has_uploader: bool = False  # whether the page takes files, from managers
    in_review: InReview = ""
    title_in_review: str = ""
    in_task: InTask = ""
    of_answers: bool = False  # whether only campaigns with generated answers list the page

    @property
    def uploaders(self) -> tuple[Role, ...]:
        """The roles that may upload files on the page."""
        return tuple(role for role in self.roles if role in MANAGERS) if self.has_uploader else ()

    def title_for(self, *, is_review: bool) -> str:
        """The title in the menu of a literature review, or of another campaign."""
        return (self.title_in_review or self.title) if is_review else self.title

    def is_listed(
        self, *, is_review: bool, show_all: bool = False, in_task: bool = False, has_answers: bool = False
    ) -> bool:
        """Return whether the menu has the page; with `show_all`, the menu of a review has all pages."""
        if self.of_answers and not has_answers:
            return False
        if in_task:
            return bool(self.in_task)
        return bool(self.in_review) or show_all if is_review else self.in_review != "only"


PAGES: tuple[PageEntry, ...] = (
    PageEntry(
        "campaign/overview.py",
        "Overview",
        ":material/home:",
        "",
        "overview",
        EVERYBODY,
        default=True,
        in_review="shown",
        in_task="shown",
    ),
    PageEntry(
        "review/set_up.py",
        "Set up",
        ":material/checklist:",
        "Set up",
        "set-up",
        MANAGERS,
        has_uploader=True,
        in_review="only",
    ),
    PageEntry(
        "review/duplicates.py",
        "Duplicates",
        ":material/content_copy:",
        "Set up",
        "duplicates",
        MANAGERS,
        in_review="only",
    ),
    PageEntry(
        "campaign/import_files.py", "Import", ":material/upload:", "Set up", "import", MANAGERS, has_uploader=True
    ),
    PageEntry("campaign/pool.py", "Pool", ":material/stacks:", "Set up", "pool", MANAGERS),
    PageEntry("loop/loop.py", "Loop", ":material/autorenew:", "Set up", "loop", MANAGERS),
    PageEntry(
        "campaign/assign.py", "Assign", ":material/assignment_ind:", "Set up", "assign", MANAGERS, in_task="shown"
    ),
    PageEntry(
        "campaign/guidelines.py",
        "Guidelines",
        ":material/menu_book:",
        "Set up",
        "guidelines",
        EVERYBODY,
        in_task="shown",
    ),
    PageEntry(
        "campaign/judging_page.py",
        "Judging page",
        ":material/view_carousel:",
        "Set up",
        "judging-page",
        MANAGERS,
        has_uploader=True,
        in_task="shown",
    ),
    PageEntry(
        "campaign/people.py",
        "People",
        ":material/group:",
        "Set up",
        "people",
        MANAGERS,
        in_review="shown",
        in_task="outer",
    ),
    PageEntry(
        "campaign/backups.py",
        "Backups",
        ":material/backup:",
        "Set up",
        "backups",
        MANAGERS,
        in_review="shown",
        in_task="outer",
    ),
    PageEntry(
        "judging/judge.py",
        "Judge",
        ":material/gavel:",
        "Judge",
        "judge",
        JUDGES,
        in_review="shown",
        title_in_review="Screen",
        in_task="shown",
    ),
    PageEntry(
        "judging/my_judgements.py",
        "My judgements",
        ":material/history:",
        "Judge",
        "my-judgements",
        JUDGES,
        in_review="shown",
        title_in_review="My decisions",
        in_task="shown",
    ),
    PageEntry(
        "answers/nuggets.py",
        "Nuggets",
        ":material/scatter_plot:",
        "Judge",
        "nuggets",
        JUDGES,
        in_task="outer",
        of_answers=True,
    ),
    PageEntry(
        "judging/adjudicate.py",
        "Adjudicate",
        ":material/balance:",
        "Judge",
        "adjudicate",
        MANAGERS,
        in_review="shown",
        title_in_review="Conflicts",
        in_task="shown",
    ),
    PageEntry(
        "review/full_texts.py",
        "Full texts",
        ":material/picture_as_pdf:",
        "Judge",
        "full-texts",
        MANAGERS,
        has_uploader=True,
        in_review="only",
    ),
    PageEntry("loop/recall.py", "Recall", ":material/travel_explore:", "Results", "recall", READERS),
    PageEntry("review/stopping.py", "Stopping", ":material/flag:", "Results", "stopping", READERS, in_review="only"),
    PageEntry("review/report.py", "Report", ":material/description:", "Results", "report", READERS, in_review="only"),
    PageEntry(
        "results/agreement.py",
        "Agreement",
        ":material/handshake:",
        "Results",
        "agreement",
        READERS,
        in_review="shown",
        in_task="shown",
    ),
    PageEntry(
        "results/annotators.py",
        "Annotators",
        ":material/monitoring:",
        "Results",
        "annotators",
        MANAGERS,
        in_task="shown",
    ),
    PageEntry("results/compare.py", "Compare", ":material/leaderboard:", "Results", "compare", READERS),
    PageEntry(
        "loop/system_order.py", "System order", ":material/format_list_numbered:", "Results", "system-order", READERS
    ),
    PageEntry(
        "results/machine_labels.py",
        "Machine labels",
        ":material/smart_toy:",
        "Results",
        "machine-labels",
        READERS,
        has_uploader=True,
        in_task="shown",
    ),
    PageEntry("results/reusability.py", "Reusability", ":material/recycling:", "Results", "reusability", READERS),
    PageEntry("export/export.py", "Export", ":material/download:", "Results", "export", READERS, in_task="shown"),
    PageEntry(
        "account/account.py",
        "Account",
        ":material/account_circle:",
        "Account",
        "account",
        EVERYBODY,
        in_review="shown",
        in_task="outer",
    ),
)


def find_page(url_path: str) -> PageEntry:
    """Return the entry of the page at an address, such as ``judging-page``."""
    return next(page for page in PAGES if page.url_path == url_path)


def role_names(roles: Sequence[Role], words: Vocabulary = RETRIEVAL) -> str:
    """List roles in the plural, as in ``managers and readers``."""
    return words.apply(" and ".join(f"{role}s" for role in roles))
