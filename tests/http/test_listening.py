"""Where the server listens: addresses, sockets, ports shared, certificates, prefixes."""

import socket
import ssl
import subprocess
from dataclasses import replace

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving, serving_on

from ferrox_gguf.errors import StartupError
from ferrox_gguf.server.listen import listening
from ferrox_gguf.settings import ServerSettings, Settings, TlsSettings

CLIENT = httpx.Client(verify=False)


def server(**fields):
    return replace(ServerSettings(), port=0, **fields)


def ready():
    return scripted_ready(b"hi")


def answers(client, url):
    return client.post(url + "/completion", json={"prompt": "a"}).json()["content"] == "hi"


def ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    new = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    command = [*new.split(), "-addext", names, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return TlsSettings(key_file=str(key), cert_file=str(cert))


def test_every_address_of_host_answers_on_one_port():
    hosts = ("127.0.0.1", "127.0.0.2", "::1") if ipv6() else ("127.0.0.1", "127.0.0.2")
    with serving_on(ready, server(hosts=hosts)) as urls:
        assert len(urls) == len(hosts)
        assert len({url.rsplit(":", 1)[1] for url in urls}) == 1
        assert all(answers(CLIENT, url) for url in urls)


def test_a_unix_socket_answers_and_is_gone_afterwards(tmp_path):
    path = tmp_path / "server.sock"
    with serving_on(ready, server(hosts=(str(path),))) as (url,):
        assert url == f"unix://{path}"
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path))) as client:
            assert answers(client, "http://server")
            assert client.get("http://server/health").headers["server"] == "ferrox_gguf"
    assert not path.exists()


def test_a_unix_socket_beside_an_address(tmp_path):
    path = tmp_path / "server.sock"
    with serving_on(ready, server(hosts=("127.0.0.1", str(path)))) as (url, _):
        assert answers(CLIENT, url)
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path))) as client:
            assert answers(client, "http://server")


def test_a_socket_that_a_dead_server_left_is_replaced_and_a_living_ones_is_not(tmp_path):
    path = tmp_path / "server.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with listening(server(hosts=(str(path),))), pytest.raises(StartupError, match="in use"):  # noqa: SIM117
        with listening(server(hosts=(str(path),))):
            pass


def test_a_file_that_is_no_socket_is_never_replaced(tmp_path):
    path = tmp_path / "precious.sock"
    path.write_text("data")
    with pytest.raises(StartupError), listening(server(hosts=(str(path),))):
        pass
    assert path.read_text() == "data"


def test_one_address_that_cannot_be_had_closes_the_others_and_is_named():
    with listening(server()) as (first,):
        port = first.socket.getsockname()[1]
        taken = replace(ServerSettings(), hosts=("127.0.0.2", "127.0.0.1"), port=port)
        with pytest.raises(StartupError, match=rf"127\.0\.0\.1:{port}"), listening(taken):
            pass
        with listening(replace(taken, hosts=("127.0.0.2",))) as (other,):
            assert other.url == f"http://127.0.0.2:{port}"


def test_a_name_that_is_none_is_named():
    with pytest.raises(StartupError, match=r"nowhere\.invalid"), listening(server(hosts=("nowhere.invalid",))):
        pass


@pytest.mark.skipif(not hasattr(socket, "SO_REUSEPORT"), reason="this system cannot share a port")
def test_two_processes_may_share_a_port_when_both_say_so():
    with listening(server(reuse_port=True)) as (first,):
        port = first.socket.getsockname()[1]
        with listening(replace(ServerSettings(), port=port, reuse_port=True)) as (second,):
            assert second.url == first.url
        with pytest.raises(StartupError, match="in use"), listening(replace(ServerSettings(), port=port)):
            pass


def test_https_with_a_certificate_of_ones_own(certificate):
    with serving_on(ready, server(tls=certificate)) as (url,):
        assert url.startswith("https://")
        context = ssl.create_default_context(cafile=certificate.cert_file)
        with httpx.Client(verify=context) as client:
            assert answers(client, url)
            with client.stream("POST", url + "/completion", json={"prompt": "a", "stream": True}) as answer:
                assert b'"stop":true' in answer.read()
        with pytest.raises(httpx.ConnectError), httpx.Client() as stranger:
            stranger.get(url + "/health")
        with pytest.raises(httpx.TransportError):
            CLIENT.get(url.replace("https", "http") + "/health")


def test_a_key_that_is_none_is_one_clear_line(certificate, tmp_path):
    broken = tmp_path / "key.pem"
    broken.write_text("not a key")
    with (
        pytest.raises(StartupError, match="--ssl-key-file"),
        serving_on(ready, server(tls=replace(certificate, key_file=str(broken)))),
    ):
        pass


def test_below_a_prefix_and_nowhere_else():
    settings = replace(Settings(), server=replace(ServerSettings(), api_prefix="/llm", api_keys=("k",)))
    with serving(ready, settings, prefix="/llm") as url:
        assert CLIENT.get(url + "/llm/health").status_code == 200
        assert CLIENT.get(url + "/llm/v1/models").status_code == 401
        with httpx.Client(verify=False, headers={"authorization": "Bearer k"}) as client:
            assert answers(client, url + "/llm")
            assert client.get(url + "/health").status_code == 404
            wrong = client.post(url + "/llm/v1/messages", json={})
            assert (wrong.status_code, wrong.json()["type"]) == (400, "error")
