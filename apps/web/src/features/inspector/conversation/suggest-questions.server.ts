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
export async function suggestQuestions(call: Call & { readonly signal: AbortSignal }): Promise<readonly string[]> {
  const found = await findQuestions(call);
  return "questions" in found ? found.questions : await askModel(call, found);
}

/** The same, or null where a model would have to be asked, which takes seconds. */
export async function knownQuestions(call: Call): Promise<readonly string[] | null> {
  const found = await findQuestions(call);
  return "questions" in found ? found.questions : null;
}

type Call = { readonly ctx: Context; readonly input: ProjectKey & { readonly manifest: Manifest } };
type Model = Parameters<typeof suggestByModel>[0];
/** The model to ask, and what to do with if it fails. */
type Unknown = { readonly model: Model; readonly fromTemplates: readonly string[] };

async function findQuestions({ ctx, input }: Call): Promise<Unknown | { readonly questions: readonly string[] }> {
  const [model] = services().config.chat.models;
  const fromTemplates = suggestFromTemplates(input.manifest);
  const access = await authorizeProject(ctx, "project.read", input);
  if (!model || fromTemplates.length === 0 || !(await mayCallServer(ctx, access))) return { questions: fromTemplates };
  const questions = await findSuggestedQuestions({ ctx, input: { ...input, model: model.name } });
  return questions ? { questions } : { model, fromTemplates };
}

async function askModel(
  call: Call & { readonly signal: AbortSignal },
  { model, fromTemplates }: Unknown,
): Promise<readonly string[]> {
  const { ctx, signal } = call;
  const { limits } = services().config.chat;
  const input = { ...call.input, model: model.name };
  const { manifest } = input;
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
