"""The table of pages: section of the menu, address, and the roles that may open each."""

from collections.abc import Sequence
from typing import NamedTuple

from annotate.auth.roles import EVERYBODY, JUDGES, MANAGERS, READERS
from collection.core.records import Role

SECTIONS = ("", "Set up", "Judge", "Results", "Account")  # sections of the menu, in order


class PageEntry(NamedTuple):
    """One page: its script in ``annotate/views/``, its place in the menu, and the roles that may open it."""

    file: str
    title: str
    icon: str
    section: str
    url_path: str
    roles: tuple[Role, ...]
    default: bool = False
    has_uploader: bool = False  # whether the page takes files


PAGES: tuple[PageEntry, ...] = (
    PageEntry("campaign/overview.py", "Overview", ":material/home:", "", "overview", EVERYBODY, default=True),
    PageEntry(
        "campaign/import_files.py", "Import", ":material/upload:", "Set up", "import", MANAGERS, has_uploader=True
    ),
    PageEntry("campaign/pool.py", "Pool", ":material/stacks:", "Set up", "pool", MANAGERS),
    PageEntry("loop/loop.py", "Loop", ":material/autorenew:", "Set up", "loop", MANAGERS),
    PageEntry("campaign/assign.py", "Assign", ":material/assignment_ind:", "Set up", "assign", MANAGERS),
    PageEntry("campaign/guidelines.py", "Guidelines", ":material/menu_book:", "Set up", "guidelines", EVERYBODY),
    PageEntry(
        "campaign/judging_page.py",
        "Judging page",
        ":material/view_carousel:",
        "Set up",
        "judging-page",
        MANAGERS,
        has_uploader=True,
    ),
    PageEntry("campaign/people.py", "People", ":material/group:", "Set up", "people", MANAGERS),
    PageEntry("campaign/backups.py", "Backups", ":material/backup:", "Set up", "backups", MANAGERS),
    PageEntry("judging/judge.py", "Judge", ":material/gavel:", "Judge", "judge", JUDGES),
    PageEntry("judging/my_judgements.py", "My judgements", ":material/history:", "Judge", "my-judgements", JUDGES),
    PageEntry("judging/adjudicate.py", "Adjudicate", ":material/balance:", "Judge", "adjudicate", MANAGERS),
    PageEntry("loop/recall.py", "Recall", ":material/travel_explore:", "Results", "recall", READERS),
    PageEntry("results/agreement.py", "Agreement", ":material/handshake:", "Results", "agreement", READERS),
    PageEntry("results/annotators.py", "Annotators", ":material/monitoring:", "Results", "annotators", MANAGERS),
    PageEntry("results/compare.py", "Compare", ":material/leaderboard:", "Results", "compare", READERS),
    PageEntry(
        "loop/system_order.py", "System order", ":material/format_list_numbered:", "Results", "system-order", READERS
    ),
    PageEntry(
        "results/machine_labels.py", "Machine labels", ":material/smart_toy:", "Results", "machine-labels", READERS
    ),
    PageEntry("results/reusability.py", "Reusability", ":material/recycling:", "Results", "reusability", READERS),
    PageEntry("export/export.py", "Export", ":material/download:", "Results", "export", READERS),
    PageEntry("account/account.py", "Account", ":material/account_circle:", "Account", "account", EVERYBODY),
)


def find_page(url_path: str) -> PageEntry:
    """Return the entry of the page at an address, such as ``judging-page``."""
    return next(page for page in PAGES if page.url_path == url_path)


def role_names(roles: Sequence[Role]) -> str:
    """List roles in the plural, as in ``managers and readers``."""
    return " and ".join(f"{role}s" for role in roles)
