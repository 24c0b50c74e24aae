"""Known vulnerabilities of the packages in requirements.lock, by pip-audit: what `make audit` runs.

The exit status is 0 without any, 1 with some, and 2 where the service that knows them did not answer for all packages:
pip-audit itself reports "no known vulnerabilities" for packages that its service has no answer for.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
COMMAND = ("--disable-pip", "--require-hashes", "--format", "json", "--progress-spinner", "off", "--timeout", "20")


def report(output: str) -> tuple[int, list[str]]:
    """The exit status and the lines to print, from what pip-audit printed as JSON."""
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 2, ["The vulnerability service could not be reached, so nothing was checked."]
    lines = []
    for package in packages:
        for found in package.get("vulns", []):
            fixed = ", ".join(found["fix_versions"]) or "no version"
            lines.append(f"{package['name']} {package['version']}: {found['id']}, fixed in {fixed}")
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if lines:
        return 1, lines
    if len(skipped) == len(packages):
        return 2, ["The vulnerability service knows none of the packages, so nothing was checked."]
    if skipped:
        return 2, [f"The vulnerability service has no answer for {', '.join(skipped)}."]
    return 0, [f"No known vulnerabilities in {len(packages)} packages."]


def main() -> int:
    audit = [sys.executable, "-m", "pip_audit", *COMMAND, "--requirement", str(LOCK)]
    status, lines = report(subprocess.run(audit, capture_output=True, text=True, check=False).stdout)
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
