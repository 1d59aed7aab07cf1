import type { Context } from "@towpath/core/context";
import { parseInput } from "@towpath/core/input";
import type { z } from "zod";
import { answering } from "~/http/error-response.server.ts";
import { operatorContext } from "~/http/operator-token.server.ts";
import { parseJsonObject, readBody } from "~/http/read-body.server.ts";

const maxBytes = 64 * 1024;

/** A REST route of the operator: token first, then `work`, whose result is the JSON answer (OPS-4). */
export const operatorRoute = (request: Request, work: (ctx: Context) => Promise<unknown>): Promise<Response> =>
  answering(request, async () => Response.json(await work(await operatorContext(request))));

/** @throws TowpathError `invalid_input` with a text for each faulty field. */
export async function jsonBody<Schema extends z.ZodType>(request: Request, schema: Schema): Promise<z.output<Schema>> {
  return parseInput(schema, parseJsonObject(await readBody(request, maxBytes)));
}
