"""What the conformance suite calls by fixed names, on the SDK's own server: with it the suite tries our transport."""

import base64
import warnings
from typing import Any, Final

from mcp import types
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPDeprecationWarning

PNG: Final = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
WAV: Final = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVE").decode()
STATUS: Final = ["active", "inactive", "pending"]
DEFAULTS: Final[dict[str, Any]] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": STATUS, "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_TITLED: Final = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
ENUMS: Final[dict[str, Any]] = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}

warnings.simplefilter("ignore", MCPDeprecationWarning)
suite = MCPServer("conformance", version="1")


def server() -> Any:
    return suite._lowlevel_server


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def _embedded(uri: str, mime: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime, text=text)
    )


@suite.tool(description="for the suite")
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@suite.tool(description="for the suite")
def test_image_content() -> list[types.ImageContent]:
    return [_image()]


@suite.tool(description="for the suite")
def test_audio_content() -> list[types.AudioContent]:
    return [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


@suite.tool(description="for the suite")
def test_embedded_resource() -> list[types.EmbeddedResource]:
    return [_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@suite.tool(description="for the suite")
def test_multiple_content_types() -> list[types.TextContent | types.ImageContent | types.EmbeddedResource]:
    mixed = _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return [_text("Multiple content types test:"), _image(), mixed]


@suite.tool(description="for the suite")
def test_error_handling() -> str:
    raise ValueError("This tool intentionally returns an error for testing")


@suite.tool(description="for the suite")
async def test_tool_with_logging(context: Context) -> str:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.info(line)
    return "logged"


@suite.tool(description="for the suite")
async def test_tool_with_progress(context: Context) -> str:
    for passed in (0, 50, 100):
        await context.report_progress(passed, 100)
    return "done"


@suite.tool(description="for the suite")
async def test_sampling(prompt: str, context: Context) -> str:
    asked = types.SamplingMessage(role="user", content=_text(prompt))
    answer = await context.session.create_message([asked], max_tokens=100, related_request_id=context.request_id)
    return f"LLM response: {answer.content}"


async def _elicited(context: Context, message: str, properties: dict[str, Any]) -> str:
    schema = {"type": "object", "properties": properties, "required": []}
    answer = await context.session.elicit_form(message, schema, context.request_id)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


@suite.tool(description="for the suite")
async def test_elicitation(message: str, context: Context) -> str:
    return await _elicited(context, message, {"username": {"type": "string"}, "email": {"type": "string"}})


@suite.tool(description="for the suite")
async def test_elicitation_sep1034_defaults(context: Context) -> str:
    return await _elicited(context, "Please check", DEFAULTS)


@suite.tool(description="for the suite")
async def test_elicitation_sep1330_enums(context: Context) -> str:
    return await _elicited(context, "Please choose", ENUMS)


@suite.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@suite.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PNG)


@suite.resource("test://template/{id}/data", mime_type="application/json")
def from_template(id: str) -> str:
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


@suite.prompt(description="for the suite")
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@suite.prompt(description="for the suite")
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@suite.prompt(description="for the suite")
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
    resource = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [{"role": "user", "content": resource}, {"role": "user", "content": _text("Please process it.")}]


@suite.prompt(description="for the suite")
def test_prompt_with_image() -> list[Any]:
    return [{"role": "user", "content": _image()}, {"role": "user", "content": _text("Please analyze it.")}]


@suite.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def completed(ref: Any, argument: Any, context: Any) -> types.Completion:
    return types.Completion(values=["paris", "park", "party"], total=3, has_more=False)
