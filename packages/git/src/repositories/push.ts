import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitRemote } from "@towpath/core/ports";
import type { AddressPolicy } from "@towpath/egress";
import { httpSettings, trustSettings } from "../connection.ts";
import { checkedAddresses, endpointOf } from "../endpoint.ts";
import { configEnvironment } from "../git-environment.ts";
import { runGit } from "../run-git.ts";
import { requirePinning } from "../version.ts";
import { runOn, storeSettings } from "./bare-repository.ts";
import { pushProblem } from "./push-problems.ts";

/** For two gigabytes, GitHub's maximum in one push, over a slow uplink. */
const pushMs = 15 * 60_000;

/** Without force, so that nothing is overwritten. */
const everything = ["refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"];

/**
 * Pushes all branches and tags of a stored repository to a host at addresses that the policy allows. The credential reaches
 * git by its environment.
 *
 * @throws TowpathError as `InstanceRepositories.push`
 */
export async function pushRepository(directory: string, remote: GitRemote, policy: AddressPolicy): Promise<void> {
  const endpoint = endpointOf(remote);
  const scratch = await mkdtemp(join(tmpdir(), "towpath-push-"));
  try {
    if (!remote.atAnyAddress) await requirePinning(runOn(directory).scratch);
    const addresses = remote.atAnyAddress ? [] : await checkedAddresses(endpoint, policy);
    const settings = [
      ...storeSettings,
      ...httpSettings(endpoint, addresses, remote.credential),
      ...(await trustSettings(endpoint, scratch)),
      // The host is silent while it checks the push.
      ["http.lowSpeedTime", "300"],
    ] as const;
    const env = { GIT_ALLOW_PROTOCOL: endpoint.protocol, ...configEnvironment(settings) };
    const flags = ["--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"];
    await runGit(["push", ...flags, "--", endpoint.url, ...everything], runOn(directory, { env, timeoutMs: pushMs }));
  } catch (error) {
    throw pushProblem(error, endpoint.host);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
