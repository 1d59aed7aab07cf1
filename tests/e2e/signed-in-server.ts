import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, onTestFinished } from "vitest";
import { launchChromium } from "../chromium.ts";
import { repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { allowInBrowser, openCallback, printedAddress } from "./authorize.ts";
import { newVisitor, type Visitor } from "./browser.ts";

type Opened = {
  readonly browser: Browser;
  /** The server's owner, whose browser allows clients. */
  readonly owner: Visitor;
  /** The home directory of programs. */
  readonly home: string;
  readonly callback: Awaited<ReturnType<typeof openCallback>>;
};

/**
 * Deploys the echo sample for members under this name, with everything for the sign-in of its clients. Call it at the
 * top of a file.
 */
export function openSignedInServer(name: string) {
  const url = new URL(`${inject("serversUrl")}/${name}/mcp`);
  let opened: Opened | undefined;
  beforeAll(async () => {
    const directory = join(repositoryRoot, "python", "samples", "echo");
    const deployed = await towpath(
      "deploy",
      directory,
      "--name",
      name,
      "--entrypoint",
      "echo.py",
      "--data-dir",
      inject("dataDirectory"),
    );
    expect(deployed.stdout + deployed.stderr).toContain(`Live: ${url}`);
    const [home, callback] = [await mkdtemp(join(tmpdir(), "towpath-oauth-")), await openCallback()];
    const browser = await launchChromium();
    opened = { browser, home, callback, owner: await newVisitor(browser) };
  });
  afterAll(async () => {
    await opened?.browser.close();
    await opened?.callback.close();
    if (opened) await rm(opened.home, { recursive: true, force: true });
  });
  const current = (): Opened => {
    if (!opened) throw new Error("The server is there in hooks and tests only.");
    return opened;
  };
  const allow = (address: string | URL, read?: (page: Page) => Promise<void>) =>
    allowInBrowser(current().owner.page, address, { email: inject("ownerEmail"), ...(read && { read }) });

  return {
    url,
    get browser() {
      return current().browser;
    },
    get owner() {
      return current().owner;
    },
    get home() {
      return current().home;
    },
    get callback() {
      return current().callback;
    },
    allow,
    /** Runs a program that prints a sign-in URL, and allows it or calls `answer`; resolves to its output. */
    async runProgram(
      command: string,
      args: readonly string[],
      options: { env?: Record<string, string>; answer?: (address: string) => Promise<unknown> } = {},
    ): Promise<{ status: number; printed: string }> {
      const cache = process.env.UV_CACHE_DIR ?? join(process.env.HOME ?? "", ".cache", "uv");
      const child: ChildProcess = spawn(command, args, {
        env: { ...process.env, HOME: current().home, NO_COLOR: "1", UV_CACHE_DIR: cache, ...options.env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on("data", (chunk: Buffer) => {
          printed += chunk.toString();
        });
      }
      const closed = once(child, "close");
      await (options.answer ?? allow)(await printedAddress(child.stdout, child.stderr));
      const [status] = await closed;
      return { status, printed };
    },
  };
}
