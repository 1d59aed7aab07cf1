"""The quickstart's sample, as it is in the repository."""

from __future__ import annotations

from client import Client
from conftest import Start
from environments import HARNESS

SAMPLE = HARNESS.parent / "samples" / "echo"


def test_BLD_4_sample_has_one_of_everything(start: Start) -> None:
    harness = start({"echo.py": (SAMPLE / "echo.py").read_text()}, "echo.py")
    version = harness.ready()["frameworks"]["fastmcp"]
    assert version.split(".")[0] == "4" and "fastmcp==4." in (SAMPLE / "requirements.txt").read_text()
    client = Client(harness.socket)
    assert client.initialize()["instructions"]
    assert [tool["name"] for tool in client.call("tools/list")["tools"]] == ["echo"]
    assert [found["uri"] for found in client.call("resources/list")["resources"]] == ["echo://about"]
    templates = client.call("resources/templates/list")["resourceTemplates"]
    assert [found["uriTemplate"] for found in templates] == ["echo://{text}"]
    assert [prompt["name"] for prompt in client.call("prompts/list")["prompts"]] == ["repeat"]

    result = client.call("tools/call", {"name": "echo", "arguments": {"text": "hello"}})
    assert result["content"][0]["text"] == "hello"
    about, other = (client.call("resources/read", {"uri": uri})["contents"][0] for uri in ("echo://about", "echo://hi"))
    assert (about["text"], other["text"]) == ("Echo repeats text.", "Echo: hi")
    prompt = client.call("prompts/get", {"name": "repeat", "arguments": {"text": "hello"}})
    assert "hello" in prompt["messages"][0]["content"]["text"]
    assert (
        client.modern("tools/call", {"name": "echo", "arguments": {"text": "again"}})["content"][0]["text"] == "again"
    )
