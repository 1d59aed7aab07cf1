import { listRegistryVersions, type RegistryVersion } from "@towpath/core/projects/registry";
import { atHost } from "@towpath/core/sources/github-connection/numbers";
import { z } from "zod";
import { gitHub, services } from "~/compose.server.ts";

// The MCP Registry API, version 0.1 (PUB-14), read-only. The official one is specified in
// https://github.com/modelcontextprotocol/registry: docs/reference/api/openapi.yaml.

const schemaUrl = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

const defaultLimit = 30;
const maxLimit = 100;
/** More versions than retention keeps. */
const maxVersions = 1000;

/** Versions are named by the order of their builds. They follow semantic versioning, so that clients can sort them. */
const versionName = (sequence: number) => `1.0.${sequence}`;
const sequenceOf = (version: string) => {
  const sequence = /^1\.0\.(\d{1,15})$/.exec(version)?.[1];
  return sequence === undefined ? null : Number(sequence);
};

const cursorSchema = z.tuple([z.string().max(100), z.number().int()]);
const cursor = z.string().transform((text, issues) => {
  try {
    const [name, sequence] = cursorSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return { name, sequence };
  } catch {
    issues.addIssue({ code: "custom", message: "must be a nextCursor of an earlier response" });
    return z.NEVER;
  }
});
const cursorOf = ({ projectName, sequence }: RegistryVersion) =>
  Buffer.from(JSON.stringify([projectName.toLowerCase(), sequence])).toString("base64url");

const querySchema = z.object({
  cursor: cursor.optional(),
  limit: z.coerce.number("must be a number").int().min(1, "must be at least 1").default(defaultLimit),
  search: z.string().max(200, "must be 200 characters or less").optional(),
  updated_since: z.iso.datetime({ offset: true, error: "must be an RFC 3339 time" }).optional(),
  version: z.string().max(255).optional(),
});

/** `GET /v0.1/servers`: all versions, or those of the query. */
export async function listServers(request: Request): Promise<Response> {
  const parsed = querySchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refusal(400, `Invalid parameter ${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { cursor: after, search, updated_since: since, version } = parsed.data;
  const sequence = version === undefined || version === "latest" ? version : sequenceOf(version);
  if (sequence === null) return answer({ servers: [], metadata: { count: 0 } });
  const limit = Math.min(parsed.data.limit, maxLimit);
  const { ctx } = instance();
  const found = await listRegistryVersions({
    ctx,
    input: {
      // One more than requested, to know whether there is a next page.
      limit: limit + 1,
      ...(after && { after }),
      ...(search && { search: lastPart(search) }),
      ...(since !== undefined && { updatedSince: new Date(since) }),
      ...(sequence !== undefined && { version: sequence }),
    },
  });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const more = found.length > limit && last ? { nextCursor: cursorOf(last) } : {};
  return answer({ servers: await Promise.all(page.map(serverResponse)), metadata: { count: page.length, ...more } });
}

/** `GET /v0.1/servers/{serverName}/versions`, newest first. */
export async function listServerVersions(serverName: string): Promise<Response> {
  const versions = await versionsOf(serverName, undefined);
  if (versions.length === 0) return refusal(404, "Server not found");
  return answer({ servers: await Promise.all(versions.map(serverResponse)), metadata: { count: versions.length } });
}

/** `GET /v0.1/servers/{serverName}/versions/{version}`; `latest` is what the server's address serves now. */
export async function getServerVersion(serverName: string, version: string): Promise<Response> {
  const requested = version === "latest" ? version : sequenceOf(version);
  const [found] = requested === null ? [] : await versionsOf(serverName, requested);
  return found ? answer(await serverResponse(found)) : refusal(404, "Server not found");
}

async function versionsOf(serverName: string, version: "latest" | number | undefined) {
  const { ctx, namespace } = instance();
  const [first, name, ...rest] = serverName.split("/");
  if (first?.toLowerCase() !== namespace || !name || rest.length > 0) return [];
  return listRegistryVersions({ ctx, input: { name, limit: maxVersions, ...(version !== undefined && { version }) } });
}

/** Names are searched with their namespace, which is the same for all: the part after it must match. */
function lastPart(search: string): string {
  const { namespace } = instance();
  const text = search.trim().toLowerCase();
  return text.startsWith(`${namespace}/`) ? text.slice(namespace.length + 1) : text;
}

function instance() {
  const { database, config } = services();
  const { baseUrl, serverUrlTemplate } = config;
  // com.example.towpath for https://towpath.example.com
  const namespace = new URL(baseUrl).hostname
    .replace(/[[\]:]/g, "")
    .split(".")
    .toReversed()
    .join(".")
    .toLowerCase();
  return { ctx: { db: database.db, serverUrlTemplate }, namespace, baseUrl };
}

/** `ServerResponse` of the specification. */
async function serverResponse(version: RegistryVersion) {
  const { namespace, baseUrl } = instance();
  const { projectName, authMode } = version;
  const name = projectName.toLowerCase();
  return {
    server: {
      $schema: schemaUrl,
      name: `${namespace}/${name}`,
      title: shorten(version.title),
      description: shorten(version.description),
      version: versionName(version.sequence),
      websiteUrl: `${baseUrl}/app/${name}`,
      ...(await repositoryOf(version)),
      remotes: [
        { type: "streamable-http", url: version.url, ...(authMode === "towpath-cloud" && { headers: [keyHeader] }) },
      ],
    },
    _meta: {
      "io.modelcontextprotocol.registry/official": {
        status: "active",
        publishedAt: version.publishedAt,
        updatedAt: version.updatedAt,
        isLatest: version.isLatest,
      },
    },
  };
}

/** The specification only has repositories at github.com; `id` is GitHub's. */
async function repositoryOf({ repository }: RegistryVersion) {
  if (!repository) return {};
  const { connection, id } = atHost(repository.id);
  const url = (await gitHub().find(connection))?.github.config.url;
  if (!url || new URL(url).hostname !== "github.com") return {};
  return { repository: { url: `${url}/${repository.fullName}`, source: "github", id: String(id) } };
}

const keyHeader = {
  name: "Authorization",
  description: "Bearer and an API key, for clients that don't sign in",
  isRequired: false,
  isSecret: true,
};

/** The specification allows 100 characters. */
const shorten = (text: string) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 100 ? `${line.slice(0, 99).trimEnd()}…` : line;
};

/** Anybody may read it, from any site. */
const headers = { "access-control-allow-origin": "*", "cache-control": "public, max-age=60" };
const answer = (body: unknown) => Response.json(body, { headers });
const refusal = (status: 400 | 404, error: string) => Response.json({ error }, { status, headers });
