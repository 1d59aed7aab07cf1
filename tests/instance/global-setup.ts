import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitHubSettings, startGitHub } from "@towpath/github-stand-in";
import { freePort } from "@towpath/role/testing";
import type { TestProject } from "vitest/node";
import { launchChromium } from "../chromium.ts";
import { createOrganization, newVisitor, signUp } from "../e2e/browser.ts";
import { startEchoingModel } from "./echoing-model.ts";
import { instancePorts, startTowpath } from "./towpath-process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    url: string;
    serversUrl: string;
    /** Address of the stand-in for GitHub. */
    gitHubUrl: string;
    dataDirectory: string;
    /** Email of the first account, which owns the terminal's servers. */
    ownerEmail: string;
  }
}

/** Makes the first organization, which owns the terminal's servers, so that no test gets it by chance. */
async function makeFirstAccount(url: string): Promise<string> {
  const browser = await launchChromium();
  try {
    const { page } = await newVisitor(browser);
    const email = await signUp(page, url);
    await createOrganization(page, "First");
    return email;
  } finally {
    await browser.close();
  }
}

/** One instance for all end-to-end files; each file makes its own account and organization. */
export default async function startInstance(project: TestProject): Promise<() => Promise<void>> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-e2e-"));
  // Long enough for a busy machine, and shorter than the default for servers that never start.
  const model = await startEchoingModel();
  const key = "a-key-that-only-web-has";
  const models = [{ name: "Echoing", provider: "openai-compatible", model: "echoing", url: model.url, key }];
  const ports = await instancePorts();
  const settings = gitHubSettings(`http://localhost:${await freePort()}`);
  const gitHub = await startGitHub({ settings, webUrl: `http://localhost:${ports.web}` });
  const instance = await startTowpath(dataDirectory, ports, {
    ...settings,
    TOWPATH_START_TIMEOUT_MS: "20000",
    TOWPATH_CHAT_MODELS: JSON.stringify(models),
  });
  project.provide("ownerEmail", await makeFirstAccount(instance.url));
  for (const name of ["url", "serversUrl", "dataDirectory"] as const) project.provide(name, instance[name]);
  project.provide("gitHubUrl", gitHub.url);
  return async () => {
    const { status } = await instance.stop();
    await model.close();
    await gitHub.close();
    await rm(dataDirectory, { recursive: true, force: true });
    if (status !== 0) throw new Error(`towpath up ended with status ${status}:\n${instance.output()}`);
  };
}
