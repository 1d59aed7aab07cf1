import { z } from "zod";
import { answerNames } from "./answer-names.ts";
import type { Operation } from "./operation.server.ts";
import { requestSchema } from "./request-schema.ts";

const error = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "fields"],
      properties: {
        code: { type: "string" },
        message: { type: "string", description: "What happened and what to do, for people." },
        fields: { type: "object", additionalProperties: { type: "string" } },
      },
    },
  },
};

const refusals: Readonly<Record<string, string>> = {
  400: "Fields or parameters that there aren't, with a text for each.",
  401: "No valid credential.",
  403: "The credential does not allow this.",
  404: "There is no such thing, or it belongs to another organization.",
  409: "It contradicts what is there.",
  422: "Invalid input, with a text for each field.",
  429: "Too many requests, see Retry-After, or a query that takes too long.",
};

/** The REST API as OpenAPI 3.1, with the schemas by which requests are checked (OPS-4). */
export function openApiDocument(operations: readonly Operation[], serverUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = { Error: error };
  for (const operation of operations) {
    const entry = described(operation, contentOf(operation, schemas));
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: entry };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Towpath",
      version: "1",
      description: "See docs/rest.md: who may call what, and what comes back.",
    },
    servers: [{ url: `${serverUrl}/api/v1` }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "An API key that may manage servers, or the operator token.",
        },
      },
      schemas,
      responses: Object.fromEntries(
        Object.entries(refusals).map(([status, description]) => [
          status,
          { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } },
        ]),
      ),
    },
  };
}

function described(
  { path, id, permission, summary, query, body, bodyMediaTypes = [] }: Operation,
  content: Record<string, unknown>,
): Record<string, unknown> {
  const isPublic = permission === "public";
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return {
    operationId: id,
    summary: summary.replace(/ ?\(\[[^\]]*\]\([^)]*\)\)/g, ""),
    "x-permission": permission,
    ...(isPublic && { security: [] }),
    parameters: [...inPath, ...(query ? parametersOf(query) : [])],
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: requestSchema(body) } } } }),
    ...(bodyMediaTypes.length > 0 && {
      requestBody: { required: true, content: Object.fromEntries(bodyMediaTypes.map((type) => [type, {}])) },
    }),
    responses: {
      200: {
        description: "What the operation returns.",
        content,
      },
      ...Object.fromEntries(
        Object.keys(refusals)
          // Public operations have no other refusals.
          .filter((status) => !isPublic || status === "400")
          .map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

function parametersOf(query: z.ZodType) {
  const { properties = {}, required = [] } = requestSchema(query);
  return Object.entries(properties as Record<string, Record<string, unknown>>).map(([name, schema]) => {
    const { description, ...type } = schema;
    const isRequired = (required as readonly string[]).includes(name);
    return { name, in: "query", required: isRequired, ...(description !== undefined && { description }), schema: type };
  });
}

/** The answer's content by media type. */
function contentOf({ answer, mediaTypes }: Operation, schemas: Record<string, unknown>): Record<string, unknown> {
  if (!mediaTypes) return { "application/json": { schema: answerSchema(answer, schemas) } };
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema: { type: "string" } }]));
}

/** The schema of an answer. Schemas with a name are added to `schemas` and referred to. Later versions may answer with more fields. */
function answerSchema(schema: z.ZodType, schemas: Record<string, unknown>): Record<string, unknown> {
  const own = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", metadata: answerNames });
  const text = JSON.stringify(own).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $schema: _dialect, $defs = {}, ...rest } = JSON.parse(text);
  for (const [name, { $schema: _own, id: _id, ...each }] of Object.entries<Record<string, unknown>>($defs)) {
    schemas[name] = each;
  }
  return rest;
}
