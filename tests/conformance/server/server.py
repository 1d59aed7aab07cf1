"""The server that the MCP conformance suite asks for, on FastMCP.

Names and answers are the suite's: it calls them by these names. The same file runs bare and behind Towpath, so that
the totals of both can be compared.
"""

import asyncio
import base64
import json
from typing import Annotated

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message
from fastmcp.tools.function_tool import FunctionTool
from fastmcp.utilities.types import Audio, Image
from interactive import register_interactive
from pydantic import Field
from tasks import register_tasks

mcp = FastMCP("conformance", version="1.0.0", client_log_level="info", dereference_schemas=False)

# One red pixel, and eight silent samples.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
WAV = b"RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x08\x00\x00\x00" + b"\x80" * 8


def embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


def png() -> types.ImageContent:
    return types.ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")


@mcp.tool
def test_simple_text() -> str:
    """Answers with a fixed text."""
    return "This is a simple text response for testing."


@mcp.tool
def test_image_content() -> Image:
    """Answers with an image."""
    return Image(data=PNG, format="png")


@mcp.tool
def test_audio_content() -> Audio:
    """Answers with a sound."""
    return Audio(data=WAV, format="wav")


@mcp.tool(output_schema=None)
def test_embedded_resource() -> types.EmbeddedResource:
    """Answers with a resource inside the result."""
    return embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")


@mcp.tool(output_schema=None)
def test_multiple_content_types() -> list:
    """Answers with text, an image and a resource."""
    document = json.dumps({"test": "data", "value": 123})
    return [
        types.TextContent(type="text", text="Multiple content types test:"),
        png(),
        embedded("test://mixed-content-resource", "application/json", document),
    ]


@mcp.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs three times while it works."""
    await ctx.info("Tool execution started")
    await asyncio.sleep(0.05)
    await ctx.info("Tool processing data")
    await asyncio.sleep(0.05)
    await ctx.info("Tool execution completed")
    return "Logged three messages."


@mcp.tool
async def test_logging_tool(ctx: Context) -> str:
    """Logs once."""
    await ctx.info("A message from the logging tool")
    return "Logged one message."


@mcp.tool
def test_error_handling() -> str:
    """Always fails."""
    raise ToolError("This tool intentionally returns an error for testing")


@mcp.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports progress three times."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(0.05)
    return "Reported progress."


@mcp.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    result = await ctx.session.create_message(messages=[message], max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {getattr(result.content, 'text', result.content)}"


@mcp.tool
async def test_custom_headers(message: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Message"})]) -> str:
    """Its argument is repeated in a header."""
    return f"Received {message}"


def describe_person(name: str | None = None, address: dict | None = None) -> str:
    return f"{name} lives at {address}"


ADDRESS = {
    "$anchor": "address",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
PERSON = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
    "if": {"required": ["address"]},
    "then": {"properties": {"name": {"minLength": 1}}},
    "else": {},
    "additionalProperties": False,
}
mcp.add_tool(
    FunctionTool(
        fn=describe_person,
        name="json_schema_2020_12_tool",
        description="Its schema uses what JSON Schema 2020-12 has.",
        parameters=PERSON,
    )
)


async def elicit(ctx: Context, message: str, schema: dict) -> types.ElicitResult:
    return await ctx.session.elicit(message=message, requested_schema=schema, related_request_id=ctx.request_id)


def described(result: types.ElicitResult) -> str:
    return f"action={result.action}, content={json.dumps(result.content)}"


@mcp.tool
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user for name and address."""
    schema = {
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    }
    return f"User response: {described(await elicit(ctx, message, schema))}"


@mcp.tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks with a default for each primitive type."""
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
    }
    return f"Elicitation completed: {described(await elicit(ctx, 'Check the defaults', schema))}"


@mcp.tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks with every way to write an enumeration."""
    titled = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)]
    choices = [{"const": f"value{n}", "title": f"{word} Choice"} for n, word in enumerate(("First", "Second", "Third"), 1)]
    plain = ["option1", "option2", "option3"]
    schema = {
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {"type": "array", "items": {"anyOf": choices}},
        },
    }
    return f"Elicitation completed: {described(await elicit(ctx, 'Choose', schema))}"


@mcp.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A fixed text."""
    return "This is the content of the static text resource."


@mcp.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A fixed image."""
    return PNG


@mcp.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """A resource to subscribe to."""
    return "Watched."


@mcp.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> str:
    """Data of an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@mcp.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@mcp.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@mcp.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list:
    """A prompt that carries a resource."""
    resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [Message(resource), Message("Please process the embedded resource above.")]


@mcp.prompt
def test_prompt_with_image() -> list:
    """A prompt that carries an image."""
    return [Message(png()), Message("Please analyze the image above.")]


@mcp.completion
def complete(reference, argument, context) -> list[str]:
    return [value for value in ("paris", "park", "party") if value.startswith(argument.value)]


register_interactive(mcp)
register_tasks(mcp)
