import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { type Manifest, manifestSchema, readServerIcons, type ServerIcon } from "../manifest/index.ts";
import { asMcpClientError, McpClientError } from "./errors.ts";
import { openTarget } from "./open-client.ts";
import type { OpenConnection } from "./open-connection.ts";
import type { McpTarget } from "./target.ts";

export type ReadManifestOptions = {
  /** In total: handshake and all pages. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Maximum tools, resources, templates and prompts in total. Default 5,000. */
  readonly maxItems?: number;
  /** Maximum bytes of all responses. Default 8 MiB. */
  readonly maxBytes?: number;
};

export type ListName = "tools" | "resources" | "templates" | "prompts";

export type ReadManifest = {
  readonly manifest: Manifest;
  /** Of the server itself. */
  readonly icons: readonly ServerIcon[];
  /** Lists that the server announces but failed to return, with its error; empty in the manifest. */
  readonly failedLists: readonly { readonly list: ListName; readonly error: McpClientError }[];
};

/**
 * Reads a server's manifest by a real handshake, with all pages (BLD-6). A list without its capability is empty, and so
 * is one that the server answers with an error.
 *
 * @throws McpClientError when the handshake fails, and for failures of all lists: sign-in, time, size, the connection
 */
export async function readManifest(target: McpTarget, options: ReadManifestOptions): Promise<ReadManifest> {
  const { timeoutMs, maxItems = 5_000, maxBytes = 8 * 1024 * 1024 } = options;
  const deadline = performance.now() + timeoutMs;
  const connection = await openTarget(target, {
    timeoutMs,
    maxBytes,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  try {
    // `timeoutMs` includes the handshake.
    const { lists, failedLists } = await connection.guard((signal) => readLists(connection, signal), {
      timeoutMs: Math.max(1, deadline - performance.now()),
    });
    const items = lists.tools.length + lists.resources.length + lists.templates.length + lists.prompts.length;
    if (items > maxItems) {
      throw new McpClientError("too_large", `The server lists ${items} items; at most ${maxItems} are kept.`);
    }
    const { protocolVersion, server, instructions } = connection;
    const icons = readServerIcons(connection.client.getServerVersion()?.icons);
    return { manifest: parse({ protocolVersion, server, instructions, ...lists }), icons, failedLists };
  } finally {
    await connection.close();
  }
}

function parse(manifest: Manifest): Manifest {
  const parsed = manifestSchema.safeParse(storable(manifest));
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new McpClientError("not_mcp", `The server's description of itself is malformed at ${where}.`, {
    cause: parsed.error,
  });
}

/**
 * With U+FFFD in place of what PostgreSQL can't query, including in names of properties: NUL and lone surrogates. The
 * list of servers counts tools by a query, which must not fail because of one server.
 */
function storable(manifest: Manifest): unknown {
  let text: string;
  try {
    text = JSON.stringify(manifest);
  } catch (cause) {
    throw new McpClientError("not_mcp", "The server's description of itself is nested too deeply.", { cause });
  }
  // It writes no other character as an escape of these forms. A backslash is written twice: such pairs are skipped.
  const clean = text.replaceAll(
    /(\\\\)|\\u0000|\\ud[89a-f][0-9a-f]{2}/g,
    (_, backslash?: string) => backslash ?? "\ufffd",
  );
  return clean === text ? manifest : JSON.parse(clean);
}

type Lists = Pick<Manifest, "tools" | "resources" | "templates" | "prompts">;

async function readLists(
  { client }: OpenConnection,
  signal: AbortSignal,
): Promise<{ readonly lists: Lists; readonly failedLists: ReadManifest["failedLists"] }> {
  // `guard` holds the deadline; the library's own must not fire before it.
  const options = { signal, timeout: 2 ** 31 - 1 };
  const has = client.getServerCapabilities() ?? {};
  const failedLists: { list: ListName; error: McpClientError }[] = [];
  const attempt = async <T>(list: ListName, capability: object | undefined, read: () => Promise<T[]>): Promise<T[]> => {
    try {
      return await orEmpty(capability, read);
    } catch (error) {
      const answered = asMcpClientError(error);
      if (signal.aborted || !concernsOneList(answered)) throw error;
      failedLists.push({ list, error: answered });
      return [];
    }
  };
  const [tools, resources, templates, prompts] = await Promise.all([
    attempt("tools", has.tools, async () => (await client.listTools(undefined, options)).tools),
    attempt("resources", has.resources, async () => (await client.listResources(undefined, options)).resources),
    attempt(
      "templates",
      has.resources,
      async () => (await client.listResourceTemplates(undefined, options)).resourceTemplates,
    ),
    attempt("prompts", has.prompts, async () => (await client.listPrompts(undefined, options)).prompts),
  ]);
  const lists = {
    tools: tools.map((tool) => ({
      tool_name: tool.name,
      title: tool.title ?? null,
      description: tool.description ?? null,
      inputSchema: { ...tool.inputSchema },
      outputSchema: tool.outputSchema === undefined ? null : { ...tool.outputSchema },
      annotations: tool.annotations === undefined ? null : { ...tool.annotations },
      ...iconsOf(tool.icons),
    })),
    resources: resources.map((resource) => ({
      resource_name: resource.name,
      uri: resource.uri,
      title: resource.title ?? null,
      description: resource.description ?? null,
      mimeType: resource.mimeType ?? null,
      ...iconsOf(resource.icons),
    })),
    templates: templates.map((template) => ({
      template_name: template.name,
      uriTemplate: template.uriTemplate,
      title: template.title ?? null,
      description: template.description ?? null,
      mimeType: template.mimeType ?? null,
      ...iconsOf(template.icons),
    })),
    prompts: prompts.map((prompt) => ({
      prompt_name: prompt.name,
      title: prompt.title ?? null,
      description: prompt.description ?? null,
      arguments: (prompt.arguments ?? []).map((argument) => ({
        name: argument.name,
        description: argument.description ?? null,
        required: argument.required ?? false,
      })),
      ...iconsOf(prompt.icons),
    })),
  };
  return { lists, failedLists };
}

/** The server answered this request, but not with a list: an error, an HTTP status, something malformed. */
const concernsOneList = ({ code, httpStatus }: McpClientError) =>
  code === "server_error" || code === "not_mcp" || (code === "unreachable" && httpStatus !== null);

const iconsOf = <T extends { src: string }>(icons: readonly T[] | undefined) =>
  icons === undefined ? {} : { icons: icons.map((icon) => ({ ...icon })) };

/** A server may advertise resources without supporting `resources/templates/list`: an empty list, not a failure. */
async function orEmpty<T>(capability: object | undefined, list: () => Promise<T[]>): Promise<T[]> {
  if (capability === undefined) return [];
  try {
    return await list();
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return [];
    throw error;
  }
}
