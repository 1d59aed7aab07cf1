import { z } from "zod";
import { answerNames } from "./answers.schema.ts";
import type { Operation } from "./operation.server.ts";

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
    const answer = operation.answer && answerSchema(operation.answer, schemas);
    const entry = described(operation, answer ?? null);
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
  { path, id, permission, summary, query, body }: Operation,
  answer: Record<string, unknown> | null,
): Record<string, unknown> {
  const isPublic = permission === "public";
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
  }));
  return {
    operationId: id,
    summary: summary.replace(/ ?\(\[[^\]]*\]\([^)]*\)\)/g, ""),
    "x-permission": permission,
    ...(isPublic && { security: [] }),
    parameters: [...inPath, ...(query ? parametersOf(query) : [])],
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: jsonSchemaOf(body) } } } }),
    responses: {
      200: {
        description: "What the operation returns.",
        content: { "application/json": answer === null ? {} : { schema: answer } },
      },
      ...Object.fromEntries(
        isPublic ? [] : Object.keys(refusals).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

function parametersOf(query: z.ZodType) {
  const { properties = {}, required = [] } = jsonSchemaOf(query);
  return Object.entries(properties as Record<string, Record<string, unknown>>).map(([name, schema]) => {
    const { description, ...type } = schema;
    const isRequired = (required as readonly string[]).includes(name);
    return { name, in: "query", required: isRequired, ...(description !== undefined && { description }), schema: type };
  });
}

/** What comes back. Schemas with a name are added to `schemas` and referred to. Later versions may answer with more fields. */
function answerSchema(schema: z.ZodType, schemas: Record<string, unknown>): Record<string, unknown> {
  const own = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", metadata: answerNames });
  const text = JSON.stringify(own).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $schema: _dialect, $defs = {}, ...rest } = JSON.parse(text);
  for (const [name, { $schema: _own, id: _id, ...each }] of Object.entries<Record<string, unknown>>($defs)) {
    schemas[name] = each;
  }
  return rest;
}

/** What may be sent. A rule that JSON Schema can't say is left out: the server still checks it. */
function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}
