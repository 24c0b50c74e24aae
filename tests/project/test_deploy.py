"""The examples in `deploy/`, read by the programs that they are for, and tried with them where they are installed.

Each test puts names, ports and paths of its own into an example and leaves the rest as it is.
"""

import http.client
import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server.document_payload import PREFIX
from annotate.server.error_log import UNEXPECTED
from collection import Campaign
from collection.store import schema_version
from tests.browser.serving import free_port
from tests.helpers import GOLDEN, PATIENCE, ROOT, ok, until

pytestmark = pytest.mark.slow

DEPLOY = ROOT / "deploy"
EXAMPLES = ROOT / "docs" / "examples"
PROGRAM = Path(sys.executable).with_name("cleverdon")
NAME = "judging.example.org"
BROWSER = "127.0.0.5"
"""Address from which the browser of these tests connects: another than that of the web servers."""


def needs(program: str) -> str:
    """The path of a program; skips the test where it is not installed."""
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def change(text: str, changes: dict[str, str]) -> str:
    """The text with these parts replaced; each must be in it."""
    for old, new in changes.items():
        assert old in text, f"expected {old!r} in the example"
        text = text.replace(old, new)
    return text


def checked(command: list[str]) -> str:
    """What a command prints, which must succeed."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with something to judge, in place of `/srv/wings`."""
    directory = tmp_path_factory.mktemp("srv") / "wings"
    ok("new", directory)
    files = ["--documents", EXAMPLES / "documents.jsonl", "--topics", EXAMPLES / "topics.tsv"]
    ok("import", directory, *files, "--run", EXAMPLES / "bm25.run")
    ok("pool", directory, "--depth", 5)
    return directory


def test_the_unit_is_one_that_systemd_reads(tmp_path: Path) -> None:
    text = (DEPLOY / "cleverdon.service").read_text()
    unit = tmp_path / "cleverdon.service"
    text = change(text, {"/opt/cleverdon/bin/cleverdon": str(PROGRAM)})
    unit.write_text(text)
    verify = [needs("systemd-analyze"), "verify", str(unit)]
    assert checked(verify) == ""
    # systemd ignores a wrong setting with a warning only.
    unit.write_text(change(text, {"ProtectSystem=strict": "ProtectSystem=strictly"}))
    assert "strictly" in checked(verify)


def service_command(campaign: Path, log: Path, port: int, public: str) -> list[str]:
    """The command of the unit, on this campaign."""
    text = (DEPLOY / "cleverdon.service").read_text()
    changes = {
        "/opt/cleverdon/bin/cleverdon": str(PROGRAM),
        "/srv/wings": str(campaign),
        "/var/log/cleverdon/wings.log": str(log),
        "--port 8501": f"--port {port}",
        f"https://{NAME}": public,
    }
    return shlex.split(re.findall(r"^ExecStart=(.*)", change(text, changes), re.M)[0])


@pytest.mark.long
def test_cron_makes_a_backup_that_is_complete(campaign: Path, tmp_path: Path) -> None:
    lines = [line for line in (DEPLOY / "cleverdon.cron").read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 1
    *times, user, command = lines[0].split(maxsplit=6)
    assert times == ["15", "3", "*", "*", "*"]
    assert user == "cleverdon"
    changes = {"/opt/cleverdon/bin/": f"{PROGRAM.parent}/", "/srv/wings": str(campaign), "/backup": str(tmp_path)}
    assert "%" not in command  # cron would end the line there
    # What cron runs commands with, and with little more on the path.
    shell = ["/bin/sh", "-c", change(command, changes)]
    done = subprocess.run(shell, check=True, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""  # cron would send it by mail
    (backup,) = tmp_path.glob("wings-*.zip")
    assert ok("check", backup) == "No problems.\n"


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile in their order: name and rest, without comments."""
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    parts = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (part.partition(" ") for part in parts) if name]


def test_the_image_contains_what_the_package_is_built_of() -> None:
    """What hatchling reads is copied, and nothing that `Dockerfile.dockerignore` keeps out."""
    copied = {
        source
        for name, rest in instructions()
        if name == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    sent = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert {line[1:] for line in sent if line.startswith("!")} == copied
    assert {"pyproject.toml", "hatch_build.py", "requirements.lock", "collection", "annotate"} <= copied
    assert all((ROOT / source).exists() for source in copied)


def test_the_container_runs_without_root_and_without_secrets() -> None:
    found = instructions()
    assert found[-1][0] == "CMD"
    assert [rest for name, rest in found if name == "USER"] == ["cleverdon"]
    assert any("pip install" in rest and "--require-hashes" in rest for name, rest in found if name == "RUN")
    assert {name for name, _ in found if name in ("ARG", "ENV", "ADD")} == {"ENV"}
    (path,) = [rest for name, rest in found if name == "ENV"]
    assert path == "PATH=/opt/cleverdon/bin:$PATH"


@pytest.mark.long
def test_the_rollback_of_the_documentation_brings_all_rows_back(tmp_path: Path, later_version: None) -> None:
    directory = tmp_path / "wings"
    shutil.copytree(GOLDEN / "campaign-0.1.0", directory)
    before = rows(directory / "campaign.db")
    with Campaign(directory) as campaign:
        campaign.people.accounts.add("late", "annotator")
    assert rows(directory / "campaign.db") != before
    page = (ROOT / "docs" / "operations" / "backup.md").read_text()
    (commands,) = re.findall(r"^```text\n(rm .*?)^```", page, re.S | re.M)
    commands = re.sub(r"before-version-\d+", f"before-version-{schema_version.latest()}", commands)
    subprocess.run(["/bin/sh", "-e", "-c", commands], check=True, cwd=tmp_path)
    assert rows(directory / "campaign.db") == before


def rows(database: Path) -> list[str]:
    """All tables and rows, as SQL."""
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


class Service(NamedTuple):
    """The server of the unit: ports of the web server in front of it (HTTPS, HTTP), its own, and its certificate."""

    campaign: Path
    front: int
    plain: int
    port: int
    certificate: Path
    key: Path


@pytest.fixture(scope="module")
def service(campaign: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """What the unit starts, behind a public address with HTTPS, with the health check of the Dockerfile."""
    if sys.platform != "linux":
        pytest.skip("needs several loopback addresses, as Linux has")
    folder = tmp_path_factory.mktemp("service")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -addext subjectAltName=DNS:{NAME}"
    checked([needs("openssl"), *made.split(), "-out", str(certificate), "-keyout", str(key)])
    front, port = free_port(), free_port()
    command = service_command(campaign, folder / "wings.log", port, f"https://{NAME}:{front}")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        try:
            assert f"at https://{NAME}:{front}" in (printed := server.stdout.readline()), printed
            yield Service(campaign, front, free_port(), port, certificate, key)
        finally:
            server.terminate()
            printed = server.stdout.read()
    assert "token=" not in printed
    assert (folder / "wings.log").read_text() == ""


def caddyfile(service: Service, folder: Path) -> list[str]:
    """The options that let Caddy run the example here, with the test's certificate and without port 80."""
    text = (DEPLOY / "Caddyfile").read_text()
    site = f"\nhttps://{NAME}:{service.front} {{\n\tbind 127.0.0.1\n\ttls {service.certificate} {service.key}\n"
    changes = {f"\n{NAME} {{\n": site, "127.0.0.1:8501": f"127.0.0.1:{service.port}"}
    file = folder / "Caddyfile"
    file.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + change(text, changes))
    return ["--config", str(file), "--adapter", "caddyfile"]


def nginx_options(service: Service, folder: Path) -> list[str]:
    """The options that let nginx run the example here, in the foreground and with its files in a folder."""
    changes = {
        "listen 80;": f"listen 127.0.0.1:{service.plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{service.front} ssl;",
        f"/etc/letsencrypt/live/{NAME}/fullchain.pem": str(service.certificate),
        f"/etc/letsencrypt/live/{NAME}/privkey.pem": str(service.key),
        "/var/log/nginx": str(folder),
        "127.0.0.1:8501": f"127.0.0.1:{service.port}",
    }
    (folder / "site.conf").write_text(change((DEPLOY / "nginx.conf").read_text(), changes))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    main = [
        *(["user root;"] if os.geteuid() == 0 else []),  # the folder is this user's
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;",
        f"events {{}} http {{ access_log {folder}/access.log;",
        *(f"{kind}_temp_path {folder}/{kind};" for kind in kinds),
        f"include {folder}/site.conf; }}",
    ]
    (folder / "nginx.conf").write_text("\n".join(main))
    return ["-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


@pytest.mark.long
def test_nginx_logs_no_link_on_port_80() -> None:
    """As the next tests see with the real program, which few machines have."""
    server = (DEPLOY / "nginx.conf").read_text().partition("listen 80;")[2].partition("\n}")[0]
    assert "return 301" in server
    assert "access_log off;" in server


@pytest.fixture(params=["caddy", "nginx"])
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """The service behind a web server, which accepts the example when asked to check it."""
    program = needs(request.param)
    service: Service = request.getfixturevalue("service")
    if request.param == "caddy":
        options = caddyfile(service, tmp_path)
        checked([program, "validate", *options])
        command = [program, "run", *options]
    else:
        options = nginx_options(service, tmp_path)
        checked([program, "-t", *options])
        command = [program, *options]
    homes = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with (
        (tmp_path / "printed").open("w") as printed,
        subprocess.Popen(command, stdout=printed, stderr=printed, env=os.environ | homes) as server,
    ):
        try:
            until(lambda: listens(service.front) or server.poll() is not None, "the web server")
            assert server.poll() is None, (tmp_path / "printed").read_text()
            yield service
        finally:
            server.terminate()


def listens(port: int) -> bool:
    """Whether a server accepts connections on this port."""
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def reach(service: Service) -> socket.socket:
    """A connection to the web server from the browser's address."""
    return socket.create_connection(("127.0.0.1", service.front), PATIENCE, (BROWSER, 0))


def trust(service: Service) -> ssl.SSLContext:
    """What trusts the certificate of the test, and no other."""
    return ssl.create_default_context(cafile=str(service.certificate))


def request(
    service: Service, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
) -> tuple[http.client.HTTPResponse, str]:
    """The answer to a request by HTTPS, and its body."""
    connection = http.client.HTTPConnection(NAME, service.front, timeout=PATIENCE)
    connection.sock = trust(service).wrap_socket(reach(service), server_hostname=NAME)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer, answer.read().decode()
    finally:
        connection.close()


def open_socket(service: Service, cookie: str, origin: str) -> ClientConnection:
    """The WebSocket of the app, as a page of this origin opens it."""
    options: dict[str, Any] = {
        "sock": reach(service),
        "ssl": trust(service),
        "origin": origin,
        "additional_headers": {"Cookie": cookie},
        "subprotocols": ["streamlit"],
        "max_size": None,
        "proxy": None,
        "open_timeout": PATIENCE,
    }
    opened: ClientConnection = connect(f"wss://{NAME}:{service.front}/_stcore/stream", **options)
    return opened


def answers(pages: ClientConnection, last: str) -> list[ForwardMsg]:
    """What the app sends, until a message of this type."""
    found: list[ForwardMsg] = []
    while not found or found[-1].WhichOneof("type") != last:
        found.append(ForwardMsg.FromString(pages.recv(60, decode=False)))
    return found


def sign_in(service: Service, name: str) -> str:
    """Sign in by a one-time link, while claiming another address; the cookie, as browsers send it."""
    with Campaign(service.campaign) as campaign:
        if name not in campaign.store.accounts.table()["name"].tolist():
            campaign.people.accounts.add(name, "manager")
        token = campaign.people.accounts.make_signin_link(name)
    page, _ = request(service, "GET", f"/signin?token={token}")
    assert page.status == 200
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Origin": f"https://{NAME}:{service.front}",
        "X-Forwarded-For": "203.0.113.7",
    }
    answer, text = request(service, "POST", "/signin", urlencode({"token": token}), headers)
    assert answer.status == 303, text
    cookie = answer.headers["Set-Cookie"]
    assert {"Secure", "HttpOnly"} <= set(cookie.split("; "))
    assert answer.headers["Strict-Transport-Security"].startswith("max-age=")
    return str(cookie.partition(";")[0])


@pytest.mark.long
def test_the_health_check_of_the_container_tells_a_server_from_none(service: Service) -> None:
    (check,) = [rest for name, rest in instructions() if name == "HEALTHCHECK"]
    _, *arguments = json.loads(check.partition(" CMD ")[2])

    def ask(port: int) -> int:
        command = shlex.split(change(shlex.join(arguments), {":8501": f":{port}"}))
        return subprocess.run([sys.executable, *command], check=False, capture_output=True).returncode

    assert ask(service.port) == 0
    assert ask(free_port()) == 1


@pytest.mark.long
def test_people_judge_behind_the_web_server(front: Service, tmp_path: Path) -> None:
    cookie = sign_in(front, "ann")
    origin = f"https://{NAME}:{front.front}"

    with open_socket(front, cookie, origin) as pages:
        message = BackMsg()
        message.rerun_script.page_name = "judge"
        pages.send(message.SerializeToString())
        drawn = [each.delta.new_element for each in answers(pages, "script_finished")]
        elements = {element.WhichOneof("type") for element in drawn}
        assert "bidi_component" in elements  # the judging card
        assert "exception" not in elements
        assert not [element.alert.body for element in drawn if UNEXPECTED in element.alert.body]
    with pytest.raises(InvalidStatus, match="403"):
        open_socket(front, cookie, "https://elsewhere.example.org")

    headers = {"Cookie": cookie, "Origin": origin, "Content-Type": "application/json", TOKEN_HEADER: ""}

    def post(route: str, **payload: Any) -> dict[str, Any]:
        answer, text = request(front, "POST", f"{PREFIX}/{route}", json.dumps(payload), headers)
        assert answer.status == 200, text
        found: dict[str, Any] = json.loads(text)
        return found

    headers[TOKEN_HEADER] = post("token", annotator="ann")["token"]
    query_id = post("topics")["topics"][0]["query_id"]
    document = post("sync", decisions=[], query_id=query_id, holding=[], want=1)["documents"][0]["doc_id"]
    decision = {"uuid": str(uuid4()), "seconds": 1.0, "query_id": query_id, "doc_id": document, "kind": "graded"}
    saved = post("sync", decisions=[{**decision, "relevance": 1}], query_id=query_id, holding=[], want=0)
    assert saved["saved"] == [decision["uuid"]]

    with Campaign(front.campaign) as campaign:
        assert set(campaign.people.accounts.sessions("ann")["address"]) == {BROWSER}
    if (tmp_path / "access.log").exists():  # nginx; Caddy has no log of requests, and its redirects are off here
        plain = http.client.HTTPConnection("127.0.0.1", front.plain, timeout=PATIENCE)
        plain.request("GET", "/signin?token=x", headers={"Host": NAME})
        assert plain.getresponse().status == 301
        plain.close()
    logs = [file.read_text() for file in tmp_path.glob("*") if file.suffix == ".log" or file.name == "printed"]
    assert logs
    assert not any("token=" in log for log in logs)


@pytest.mark.long
def test_a_manager_uploads_more_than_nginx_allows_by_itself(front: Service) -> None:
    cookie, origin = sign_in(front, "ann"), f"https://{NAME}:{front.front}"
    with open_socket(front, cookie, origin) as pages:
        message = BackMsg()
        message.rerun_script.page_name = "import"
        pages.send(message.SerializeToString())
        drawn = answers(pages, "script_finished")
        message = BackMsg()
        message.file_urls_request.file_names.append("documents.jsonl")
        message.file_urls_request.session_id = drawn[0].new_session.initialize.session_id
        pages.send(message.SerializeToString())
        (urls,) = answers(pages, "file_urls_response")[-1].file_urls_response.file_urls
        start, end = "--b\r\nContent-Disposition: form-data; name=file; filename=d\r\n\r\n", "\r\n--b--\r\n"
        health, _ = request(front, "GET", "/_stcore/health", headers={"Cookie": cookie})
        xsrf = health.headers["Set-Cookie"]
        assert "Secure" in xsrf.split("; ")
        headers = {
            "Cookie": f"{cookie}; {xsrf.partition(';')[0]}",
            "X-Xsrftoken": xsrf.partition(";")[0].partition("=")[2],
            "Origin": origin,
            "Content-Type": "multipart/form-data; boundary=b",
        }
        answer, text = request(front, "PUT", urls.upload_url, f"{start}{'x' * 2_000_000}{end}", headers)
        assert answer.status == 204, text
