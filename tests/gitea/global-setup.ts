import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { launchChromium } from "../chromium.ts";
import { createOrganization, newVisitor, signUp } from "../e2e/browser.ts";
import { instancePorts, startTowpath } from "../instance/towpath-process.ts";
import { startGitea } from "./gitea-process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    giteaUrl: string;
    giteaSshPort: number;
    giteaOwner: { readonly name: string; readonly password: string };
    /** Cookies of the owner of the organization that the terminal deploys to. */
    signedIn: string;
    organization: string;
  }
}

/** A Gitea, and an instance whose operator has allowed its network. */
export default async function start(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "tw-gitea-"));
  const gitea = await startGitea(join(directory, "gitea"));
  const instance = await startTowpath(join(directory, "data"), await instancePorts(), {
    TOWPATH_EXTERNAL_NETWORKS: "127.0.0.1/32",
  });
  const browser = await launchChromium();
  try {
    const { page, context } = await newVisitor(browser);
    await signUp(page, instance.url);
    project.provide("organization", await createOrganization(page, "Canal"));
    project.provide("signedIn", JSON.stringify(await context.storageState()));
  } finally {
    await browser.close();
  }
  for (const name of ["url", "serversUrl", "dataDirectory"] as const) project.provide(name, instance[name]);
  project.provide("giteaUrl", gitea.url);
  project.provide("giteaSshPort", gitea.sshPort);
  project.provide("giteaOwner", gitea.owner);
  return async () => {
    const { status } = await instance.stop();
    await gitea.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    if (status !== 0) throw new Error(`towpath up ended with status ${status}:\n${instance.output()}`);
  };
}
