import { sampleByModel } from "@towpath/chat";
import { authorizeCaller } from "@towpath/core/calling/access";
import { countModelUse, recordUsage } from "@towpath/core/calling/chat";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import type { ModelQuestion } from "./sampling.schema.ts";

/**
 * The first configured model's answer, counted towards the chat's limits.
 *
 * @throws TowpathError `not_found`, `forbidden` as for calls; `not_configured` without a model, `limit_reached`,
 *   `upstream_unavailable` when the model fails
 */
export async function answerByModel(call: {
  ctx: Context;
  input: ProjectKey & ModelQuestion;
  signal: AbortSignal;
}): Promise<{ readonly text: string; readonly model: string }> {
  const { ctx, input, signal } = call;
  await authorizeCaller(ctx, input);
  const { models, limits } = services().config.chat;
  const [model] = models;
  if (!model) throw new TowpathError("not_configured", "No model is configured. Answer by hand.");
  const turnId = await countModelUse({ ctx, input: { ...input, model: model.name }, limits });
  try {
    const { text, ...used } = await sampleByModel(model, input, signal);
    await recordUsage({ ctx, input: { turnId, ...used } });
    return { text, model: model.name };
  } catch (error) {
    if (error instanceof TowpathError) throw error;
    services().log.warn({ model: model.name, problem: error instanceof Error ? error.name : "unknown" }, "no sample");
    throw new TowpathError("upstream_unavailable", `${model.name} didn't answer. Try again, or answer by hand.`);
  }
}
