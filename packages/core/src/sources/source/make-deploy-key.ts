import { createSshKey } from "@towpath/crypto";
import { sealDeployKey } from "@towpath/secrets";
import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import type { DeployKey } from "./git-source.store.ts";

const dayMs = 86_400_000;

type DeployKeyView = {
  /** A line to add to the repository, with the right to read only. */
  readonly publicKey: string;
  /** Goes with the URL as credential, within a day; opens for this organization only. */
  readonly sealed: string;
};

/**
 * Makes a key pair for a private repository (SRC-2). Nothing is stored before a source uses it; the private part never
 * leaves in the clear.
 */
export async function makeDeployKey(call: Call<{ readonly orgSlug: string }, "secrets">): Promise<DeployKeyView> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: input.orgSlug });
  const { publicKey, privateKey } = createSshKey(`towpath-${organization.slug}`);
  const key: DeployKey = {
    publicKey,
    privateKey,
    expiresAt: new Date(ctx.clock.now().getTime() + dayMs).toISOString(),
  };
  return { publicKey, sealed: sealDeployKey(ctx.secrets, organization.id, JSON.stringify(key)) };
}
