import { createHash } from "node:crypto";
import { suggestedQuestions } from "@towpath/db/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { and, eq } from "drizzle-orm";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";

type Input = ProjectScope & { readonly manifest: Manifest; readonly model: string };

/** The same for the same manifest and model. */
const digestOf = ({ manifest, model }: Pick<Input, "manifest" | "model">): string =>
  createHash("sha256")
    .update(JSON.stringify([model, manifest]))
    .digest("hex");

/** Questions that the model has made for this manifest before; null when there are none (CHAT-2). */
export async function findSuggestedQuestions({ ctx, input }: Call<Input>): Promise<readonly string[] | null> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const [row] = await ctx.db
    .select({ questions: suggestedQuestions.questions })
    .from(suggestedQuestions)
    .where(and(eq(suggestedQuestions.projectId, project.id), eq(suggestedQuestions.digest, digestOf(input))));
  return row?.questions ?? null;
}

/** Keeps them for everybody who chats with the project. */
export async function keepSuggestedQuestions({
  ctx,
  input,
}: Call<Input & { readonly questions: readonly string[] }>): Promise<void> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const values = { projectId: project.id, digest: digestOf(input), questions: [...input.questions] };
  await ctx.db
    .insert(suggestedQuestions)
    .values({ ...values, createdAt: ctx.clock.now() })
    .onConflictDoNothing();
}
