"""The files of `deploy/` are well formed, fit together, and speak of settings and metrics that exist."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from evercrawl.cli.main import COMMANDS
from evercrawl.cli.terminal import ExitCode
from evercrawl.config.schema import known_settings
from evercrawl.web.protocols.streams import METRICS
from tests.docs.test_docs import syntax_error
from tests.programs import find_program

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
YAML_FILES = sorted(DEPLOY.rglob("*.yaml"))
UNITS = sorted(DEPLOY.glob("*.service"))
_METRIC = re.compile(r"\bevercrawl_[a-z_]+")
_VARIABLE = re.compile(r"\bEVERCRAWL_([A-Z_]+?)__([A-Z_]+)")
UPLOADS_END_S = 120


def documents(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: path.name)
def test_yaml_can_be_read(path: Path) -> None:
    assert all(isinstance(document, dict) for document in documents(path))


def test_every_setting_in_the_files_exists() -> None:
    named = {
        f"{section}.{name}".lower()
        for path in DEPLOY.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
        for section, name in _VARIABLE.findall(path.read_text(encoding="utf-8"))
    }
    assert {"store.url", "archive.url", "archive.keep_local"} <= named
    assert named <= set(known_settings())


def test_the_compose_file_for_one_machine_is_tight() -> None:
    (compose,) = documents(DEPLOY / "compose.yaml")
    (service,) = compose["services"].values()
    assert (service["read_only"], service["cap_drop"], service["volumes"]) == (True, ["ALL"], ["data:/data"])
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    stages = re.findall(r"(?m)^FROM \S+ AS (\w+)$", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))
    assert service["build"]["target"] == stages[-1] == "plain"
    assert "browser" in stages


def test_the_compose_file_fits_together() -> None:
    (compose,) = documents(DEPLOY / "compose-cluster.yaml")
    services = compose["services"]
    assert {"worker", "database", "objects"} <= set(services)
    assert services["database"]["image"].endswith("postgres:15")
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        for volume in service.get("volumes", ()):
            name, _, inside = volume.partition(":")
            assert name.startswith("/") or (name in compose["volumes"] and inside)
        assert {entry["source"] for entry in service.get("configs", ())} <= set(compose["configs"])
    worker = services["worker"]
    assert worker["command"][2] in COMMANDS
    assert (DEPLOY / worker["build"]["context"] / worker["build"]["dockerfile"]).is_file()
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose-cluster.yaml").read_text(encoding="utf-8")))
    given = set(re.findall(r"(?m)^(\w+)=", (DEPLOY / "example.env").read_text(encoding="utf-8")))
    assert asked == given


def test_the_image_runs_without_root_and_copies_what_is_there() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    for last in re.split(r"(?m)^FROM base AS ", text)[1:]:
        assert last.endswith(("USER 10001:10001\n", "USER 10001:10001\n\n"))
    health = re.search(r"(?m)^  CMD (\[.*\])$", text)
    assert health is not None
    assert "/healthz" in json.loads(health[1])[-1]
    started = re.search(r"(?m)^CMD (\[.*\])$", text)
    assert started is not None
    assert syntax_error(json.loads(started[1])) is None
    for sources in re.findall(r"(?m)^COPY ((?:(?!--)\S+ )+)\S+$", text):
        assert all((DEPLOY.parent / source).exists() for source in sources.split())
    extras = re.search(r"'\.\[(.*?)\]'", text)
    assert extras is not None
    project = (DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{extra} = [" in project for extra in extras[1].split(","))


def test_the_scripts_can_be_read() -> None:
    for script in DEPLOY.glob("*.sh"):
        assert subprocess.run(["sh", "-n", str(script)], capture_output=True, text=True).stderr == ""


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_the_unit_is_a_sound_one(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    call = re.search(r"(?m)^ExecStart=\S+ (.*)$", text)
    assert call is not None
    assert syntax_error(call[1].split()) is None
    codes = re.findall(r"(?m)^(?:SuccessExitStatus|RestartPreventExitStatus)=(\d+)", text)
    assert {int(code) for code in codes} == {ExitCode.TERMINATED, ExitCode.USAGE}
    stop = re.search(r"(?m)^TimeoutStopSec=(\d+)", text)
    assert stop is not None
    assert int(stop[1]) > UPLOADS_END_S


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_accepts_the_unit(unit: Path, tmp_path: Path) -> None:
    # The program is not installed where the unit expects it.
    text = unit.read_text(encoding="utf-8")
    copy = tmp_path / unit.name
    copy.write_text(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", text), encoding="utf-8")
    analyse = find_program("systemd-analyze", package="systemd")
    done = subprocess.run([analyse, "verify", str(copy)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, unit.name in done.stderr) == (0, False), done.stderr


def test_the_manifests_fit_together() -> None:
    found = [document for path in (DEPLOY / "kubernetes").glob("*.yaml") for document in documents(path)]
    objects = {(each["kind"], each["metadata"]["name"]): each for each in found if "metadata" in each}
    pod = objects["StatefulSet", "worker"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    assert container["args"][2] in COMMANDS
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert pod["spec"]["terminationGracePeriodSeconds"] > UPLOADS_END_S
    for kind, name in (("PodDisruptionBudget", "selector"), ("NetworkPolicy", "podSelector")):
        assert objects[kind, "worker"]["spec"][name]["matchLabels"] == pod["metadata"]["labels"]
    sources = {name["name"] for source in container["envFrom"] for name in source.values()}
    assert all(("ConfigMap", name) in objects and ("Secret", name) in objects for name in sources)
    web = objects["Deployment", "web"]["spec"]["template"]
    (container,) = web["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert objects["Service", "web"]["spec"]["selector"] == web["metadata"]["labels"]
    claims = {
        one["persistentVolumeClaim"]["claimName"]
        for one in web["spec"]["volumes"]
        if len(one) == 2 and "emptyDir" not in one
    }
    assert claims == {"web"} == {name for kind, name in objects if kind == "PersistentVolumeClaim"}
    assert all(each["metadata"].get("namespace", "evercrawl") == "evercrawl" for each in objects.values())


def test_the_kustomization_lists_every_manifest() -> None:
    (listed,) = documents(DEPLOY / "kubernetes" / "kustomization.yaml")
    there = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")} - {"kustomization.yaml"}
    assert sorted(listed["resources"]) == sorted(there)


def test_dashboard_and_alerts_ask_for_metrics_that_exist() -> None:
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(numbers) == len(set(numbers)) >= 10
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    (alerts,) = documents(DEPLOY / "alerts.yaml")
    asked += [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    named = {name for text in asked for name in _METRIC.findall(text)}
    assert len(named) > 10
    assert named <= set(METRICS)
