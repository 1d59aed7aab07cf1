import { createServerFn } from "@tanstack/react-start";
import { getRequest } from "@tanstack/react-start/server";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { answerByModel } from "./answer-by-model.server.ts";
import { askModelSchema } from "./sampling.schema.ts";

/** A model's answer to a server's request (MCP, sampling), which the person reviews before it is sent (PRJ-4). */
export const askModel = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(askModelSchema))
  .handler(({ context, data }) => answerByModel({ ctx: context.ctx, input: data, signal: getRequest().signal }));
