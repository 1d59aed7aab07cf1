import { checkGitSource as check } from "@towpath/core/sources/source";
import { jobContext, type Services } from "../services.ts";

/** Looks for changed branches of a Git URL, after a webhook or a change of its settings. */
export async function checkGitSource(services: Services, projectId: string): Promise<void> {
  await check({ ctx: jobContext(services, "source.check"), input: { projectId } });
}
