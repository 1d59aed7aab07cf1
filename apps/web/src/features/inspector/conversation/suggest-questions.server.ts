import { suggestByModel, suggestFromTemplates } from "@towpath/chat";
import { authorizeProject } from "@towpath/core/authorize";
import { mayCallServer } from "@towpath/core/calling/access";
import { countModelUse, findSuggestedQuestions, keepSuggestedQuestions, recordUsage } from "@towpath/core/calling/chat";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import type { Manifest } from "@towpath/mcp/manifest";
import { services } from "~/compose.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

/**
 * Questions for a manifest (CHAT-2), made by the first model and stored. From templates without a model, for people who
 * may not call the server, and when the model fails or its limit is reached.
 */
export async function suggestQuestions(call: {
  ctx: Context;
  input: ProjectKey & { readonly manifest: Manifest };
  signal: AbortSignal;
}): Promise<readonly string[]> {
  const { ctx, signal } = call;
  const { models, limits } = services().config.chat;
  const [model] = models;
  const { manifest } = call.input;
  const fromTemplates = suggestFromTemplates(manifest);
  const access = await authorizeProject(ctx, "project.read", call.input);
  if (!model || fromTemplates.length === 0 || !(await mayCallServer(ctx, access))) return fromTemplates;
  const input = { ...call.input, model: model.name };
  const known = await findSuggestedQuestions({ ctx, input });
  if (known) return known;
  try {
    const turnId = await countModelUse({ ctx, input, limits });
    const { questions, ...used } = await suggestByModel(model, manifest, signal);
    await recordUsage({ ctx, input: { turnId, ...used } });
    if (!questions) return fromTemplates;
    await keepSuggestedQuestions({ ctx, input: { ...input, questions } });
    return questions;
  } catch (error) {
    if (!(error instanceof TowpathError)) {
      services().log.warn(
        { model: model.name, problem: error instanceof Error ? error.name : "unknown" },
        "no suggested questions",
      );
    }
    return fromTemplates;
  }
}
