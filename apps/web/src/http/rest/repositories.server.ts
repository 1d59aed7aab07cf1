import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { listInstallations, recordInstallation } from "@towpath/core/installation";
import { projectNameSchema } from "@towpath/core/project/schema";
import { createForgeAdmin } from "@towpath/github";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { withGitHub } from "~/features/github/github-errors.server.ts";
import { operatorOrganization } from "./operator-project.server.ts";

export const newRepositorySchema = z.object({ name: projectNameSchema, organization: z.string().min(1).nullish() });

/** Puts an empty repository into the local forge, for `towpath deploy`. Idempotent. */
export async function createForgeRepository(ctx: Context, input: z.output<typeof newRepositorySchema>) {
  const forge = await localForge();
  const orgSlug = await operatorOrganization(ctx, input.organization ?? undefined);
  const [connected] = await listInstallations({ ctx, input: { orgSlug } });
  const login = connected?.accountLogin ?? orgSlug;
  return withGitHub(async () => {
    await forge.ensureAccount({ login });
    const { installationId } = await forge.ensureInstallation({ login });
    await recordInstallation({ ctx, input: { orgSlug, installationId, accountLogin: login, accountType: "User" } });
    const { repository, pushUrl } = await forge.ensureRepository({ owner: login, name: input.name });
    return {
      organization: orgSlug,
      pushUrl,
      installationId,
      repository: {
        id: repository.id,
        fullName: repository.full_name,
        private: repository.private,
        defaultBranch: repository.default_branch,
      },
    };
  });
}

async function localForge() {
  const { gitHub } = services().config;
  if (gitHub && new URL(gitHub.url).hostname !== "github.com") {
    const forge = createForgeAdmin({ url: gitHub.url, clientSecret: gitHub.clientSecret });
    if (await forge.available()) return forge;
  }
  const message = "This instance has no local forge: push to GitHub, and it deploys from there.";
  throw new TowpathError("not_configured", message);
}
