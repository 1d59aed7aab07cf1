import { checkGitSource as check } from "@towpath/core/source";
import { jobContext, type Services } from "../services.ts";

/** Asks a Git URL which branches have changed: a webhook came, or its settings were changed. */
export async function checkGitSource(services: Services, projectId: string): Promise<void> {
  await check({ ctx: jobContext(services, "source.check"), input: { projectId } });
}
