"""The tools of the suite that need several rounds (revision 2026-07-28: `input_required`)."""

import mcp_types as types
from fastmcp import Context, FastMCP
from mcp.shared.exceptions import MCPError


def ask(message: str, properties: dict) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str, max_tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def needs(requests: dict, state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


ASK_NAME = {"user_name": ask("What is your name?", {"name": {"type": "string"}})}
ASK_CONFIRM = {"confirm": ask("Please confirm", {"ok": {"type": "boolean"}})}


def answer(ctx: Context, key: str, kind: type):
    """The client's answer to `key`, or None when it is missing or of another kind."""
    value = (ctx.input_responses or {}).get(key)
    return value if isinstance(value, kind) else None


def register_interactive(mcp: FastMCP) -> None:
    _register_single_round(mcp)
    _register_with_state(mcp)
    _register_capabilities(mcp)


def _register_single_round(mcp: FastMCP) -> None:
    @mcp.tool
    async def test_input_required_result_elicitation(ctx: Context) -> str | types.InputRequiredResult:
        """Needs the user's name."""
        given = answer(ctx, "user_name", types.ElicitResult)
        if given is None or not given.content or not isinstance(given.content.get("name"), str):
            return needs(ASK_NAME)
        return f"Hello, {given.content['name']}!"

    @mcp.tool
    async def test_input_required_result_sampling(ctx: Context) -> str | types.InputRequiredResult:
        """Needs the client's model."""
        given = answer(ctx, "capital_question", types.CreateMessageResult)
        if given is None:
            return needs({"capital_question": sample("What is the capital of France?", 100)})
        return getattr(given.content, "text", str(given.content))

    @mcp.tool
    async def test_input_required_result_list_roots(ctx: Context) -> str | types.InputRequiredResult:
        """Needs the client's roots."""
        given = answer(ctx, "client_roots", types.ListRootsResult)
        if given is None:
            return needs({"client_roots": types.ListRootsRequest()})
        return ", ".join(str(root.uri) for root in given.roots)

    @mcp.prompt
    async def test_input_required_result_prompt(ctx: Context) -> str | types.InputRequiredResult:
        """A prompt that needs a context."""
        given = answer(ctx, "user_context", types.ElicitResult)
        if given is None or not given.content:
            return needs({"user_context": ask("What context should the prompt use?", {"context": {"type": "string"}})})
        return f"Use this context: {given.content.get('context')}"


def _register_with_state(mcp: FastMCP) -> None:
    @mcp.tool
    async def test_input_required_result_request_state(ctx: Context) -> str | types.InputRequiredResult:
        """Checks that its state comes back."""
        if answer(ctx, "confirm", types.ElicitResult) is None or ctx.request_state != "asked":
            return needs(ASK_CONFIRM, "asked")
        return "state-ok"

    @mcp.tool
    async def test_input_required_result_tampered_state(ctx: Context) -> str | types.InputRequiredResult:
        """Its state is sealed by the framework."""
        if answer(ctx, "confirm", types.ElicitResult) is None:
            return needs(ASK_CONFIRM, "sealed")
        return "untampered"

    @mcp.tool
    async def test_input_required_result_multiple_inputs(ctx: Context) -> str | types.InputRequiredResult:
        """Needs three things at once."""
        inputs = {**ASK_NAME, "greeting": sample("Generate a greeting", 50), "client_roots": types.ListRootsRequest()}
        if not inputs.keys() <= (ctx.input_responses or {}).keys():
            return needs(inputs, "three")
        return "All three answers arrived."

    @mcp.tool
    async def test_input_required_result_multi_round(ctx: Context) -> str | types.InputRequiredResult:
        """Asks twice, one question after the other."""
        if answer(ctx, "step2", types.ElicitResult) is not None and ctx.request_state == "second":
            return "Both answers arrived."
        if answer(ctx, "step1", types.ElicitResult) is not None and ctx.request_state == "first":
            return needs({"step2": ask("Step 2: What is your favorite color?", {"color": {"type": "string"}})}, "second")
        return needs({"step1": ask("Step 1: What is your name?", {"name": {"type": "string"}})}, "first")


def _register_capabilities(mcp: FastMCP) -> None:
    @mcp.tool
    async def test_input_required_result_capabilities(ctx: Context) -> str | types.InputRequiredResult:
        """Asks only for what the client can give."""
        can = ctx.session.client_params.capabilities if ctx.session.client_params else types.ClientCapabilities()
        inputs = {
            **({"question": sample("What is the capital of France?", 100)} if can.sampling else {}),
            **(ASK_NAME if can.elicitation else {}),
        }
        return needs(inputs) if inputs else "The client can give nothing."

    @mcp.tool
    async def test_missing_capability(ctx: Context) -> str:
        """Works only for clients that can sample."""
        can = ctx.session.client_params.capabilities if ctx.session.client_params else types.ClientCapabilities()
        if can.sampling is None:
            required = types.ClientCapabilities(sampling=types.SamplingCapability())
            raise MCPError(
                code=-32021,
                message="This tool needs the sampling capability",
                data={"requiredCapabilities": required.model_dump(exclude_none=True, by_alias=True)},
            )
        return "The client can sample."
