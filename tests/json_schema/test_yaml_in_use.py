"""YAML as people write it for tools of theirs, from schemas for it."""

from __future__ import annotations

from tests.json_schema.yaml_judge import check

DEPLOYMENT = {
    "type": "object",
    "properties": {
        "apiVersion": {"const": "apps/v1"},
        "kind": {"const": "Deployment"},
        "metadata": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer", "minimum": 0},
                "containers": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "image": {"type": "string"},
                            "args": {"type": "array", "items": {"type": "string"}},
                            "ports": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "properties": {"containerPort": {"type": "integer", "maximum": 65535}},
                                    "required": ["containerPort"],
                                    "additionalProperties": False,
                                },
                            },
                        },
                        "required": ["name", "image"],
                        "additionalProperties": False,
                    },
                },
            },
            "required": ["containers"],
            "additionalProperties": False,
        },
    },
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
}


def test_deployment() -> None:
    head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    containers = "spec:\n  containers:\n  - name: web\n    image: nginx:1.25\n"
    check(
        DEPLOYMENT,
        [
            head + containers,
            head + "  labels:\n    app: web\n    app.kubernetes.io/name: web\nspec:\n  replicas: 3\n  containers:\n"
            "    - name: web\n      image: nginx\n      args:\n        - --port=80\n        - -v\n        - http://a:80/x#y\n"
            "      ports:\n        - containerPort: 80\n        - containerPort: 443\n    - name: b\n      image: c\n",
            head + containers + "    args: []\n    ports:\n    - containerPort: 80",
        ],
        [
            head + "spec:\n  containers: []\n",
            head + containers + "    ports:\n    - containerPort: 70000\n",
            head + "  labels:\n    app: 1\n" + containers,
            head + "  labels:\n    app: yes\n" + containers,
            head + "  labels:\n    app: web\n    app: web\n" + containers,
            head + '  labels:\n    app: web\n    "app": web\n' + containers,
            head.replace("web", "Web") + containers,
            head + containers.replace("    image", "  image"),
            head + containers.replace("    image", "     image"),
        ],
        [
            head + "\n" + containers,
            "# a comment\n" + head + containers,
            "---\n" + head + containers,
            head + containers + "    args: [a]\n",
            head + containers + "    ports:\n    -\n      containerPort: 80\n",
        ],
    )


WORKFLOW = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "on": {
            "anyOf": [
                {"enum": ["push", "pull_request"]},
                {"type": "array", "items": {"enum": ["push", "pull_request"]}, "uniqueItems": True},
                {"type": "object", "additionalProperties": {"type": ["object", "null"]}},
            ]
        },
        "jobs": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "runs-on": {"type": "string"},
                    "steps": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "name": {"type": "string"},
                                "uses": {"type": "string"},
                                "run": {"type": "string"},
                                "with": {"type": "object"},
                            },
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["runs-on"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["on", "jobs"],
    "additionalProperties": False,
}


def test_workflow() -> None:
    jobs = (
        "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n"
        "      - name: Set up Python\n        uses: actions/setup-python@v5\n"
        '        with:\n          python-version: "3.10"\n'
        "      - run: pip install -e .[test] && pytest -q\n"
    )
    check(
        WORKFLOW,
        [
            f'name: CI\n"on": push\n{jobs}',
            f'"on":\n- push\n- pull_request\n{jobs}',
            f'"on":\n  push: null\n  pull_request:\n    branches:\n      - main\n      - releases/**\n{jobs}',
        ],
        [
            f"name: CI\non: push\n{jobs}",
            f'"on":\n- push\n- push\n{jobs}',
            f'"on":\n- push\n- "push"\n{jobs}',
            f'"on": push\n{jobs.replace("ubuntu-latest", "&x")}',
            f'"on": push\n{jobs.replace("pip", "% pip")}',
        ],
        [f"'on': push\n{jobs}", f'"on": [push]\n{jobs}', f'"on": push\n{jobs.replace("runs-on:", "runs-on: ")}'],
    )


COMPOSE = {
    "type": "object",
    "properties": {
        "version": {"type": "string"},
        "services": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "image": {"type": "string"},
                    "ports": {
                        "type": "array",
                        "items": {
                            "anyOf": [
                                {"type": ["string", "integer"]},
                                {"type": "object", "properties": {"target": {"type": "integer"}}},
                            ]
                        },
                    },
                    "environment": {"type": "object", "additionalProperties": {"type": ["string", "number", "null"]}},
                },
            },
        },
    },
}


def test_compose() -> None:
    top = 'version: "3.8"\nservices:\n  db:\n    image: postgres:16\n'
    check(
        COMPOSE,
        [
            # No number to either reader: the digits after the colon are more than 59.
            top + '    ports:\n      - "5432:5432"\n      - 5432:5432\n      - 80\n      - 127.0.0.1:80:80\n',
            top + "    ports:\n      - target: 80\n        mode: host\n      - a b\n",
            top
            + "    environment:\n      POSTGRES_USER: me\n      PASSWORD: null\n      N: 1.5\n  web:\n    image: a b\n",
            top + "    ports:\n      - a:b: 1\n      - http://x\n      - x: y:z\n",
        ],
        [
            top.replace('"3.8"', "3.8"),
            top + "    ports:\n      - 22:22\n      - a: 1: 2\n",
            top + "    ports:\n      - target: 80\n      mode: host\n",
            top + "    environment:\n      A: true\n",
            top + "    environment:\n      A: 2024-01-01\n",
        ],
        [top + "    environment:\n      A:\n"],
    )
