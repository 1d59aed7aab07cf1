import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@towpath/role/testing";
import react from "@vitejs/plugin-react";
import type { Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { toast as Toast } from "~/ui/toast.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { newPage, openBrowser } from "./browser.ts";

// The real toaster on a page of its own, because pages of the product show few kinds of toasts. The browser's clock is
// moved by the tests.

const page = `
  import { createElement } from "react";
  import { createRoot } from "react-dom/client";
  import { Toaster } from "/src/ui/toaster.tsx";
  import { toast } from "/src/ui/toast.ts";
  globalThis.toast = toast;
  createRoot(document.getElementById("app")).render(createElement(Toaster));`;

const browser = openBrowser();
let vite: ViteDevServer;
let url: string;
let cacheDir: string;
let tab: Page;

beforeAll(async () => {
  const port = await freePort();
  url = `http://localhost:${port}/toasts`;
  cacheDir = await mkdtemp(join(tmpdir(), "towpath-toasts-"));
  vite = await createServer({
    configFile: false,
    root: join(import.meta.dirname, ".."),
    cacheDir,
    logLevel: "error",
    appType: "custom",
    server: { port, hmr: false, watch: null },
    resolve: { tsconfigPaths: true },
    optimizeDeps: { include: ["react", "react-dom/client", "sonner"], noDiscovery: true },
    plugins: [
      react(),
      {
        name: "toasts-page",
        resolveId: (id) => (id === "/toasts.js" ? id : null),
        load: (id) => (id === "/toasts.js" ? page : null),
        configureServer: (server) => {
          server.middlewares.use("/toasts", async (request, response, next) => {
            if (request.url !== "/") return next();
            const html = `<!doctype html><div id="app"></div><script type="module" src="/toasts.js"></script>`;
            response.setHeader("content-type", "text/html");
            response.end(await server.transformIndexHtml("/toasts", html));
          });
        },
      },
    ],
  });
  await vite.listen();
}, 120_000);
afterAll(async () => {
  await vite?.close();
  await rm(cacheDir, { recursive: true, force: true });
});

beforeEach(async () => {
  tab = await newPage(await browser.newContext());
  await tab.clock.install();
  await tab.goto(url);
  await tab.waitForFunction(() => "toast" in globalThis);
  await tab.clock.pauseAt(Date.now() + 60 * 60_000);
});
afterEach(() => tab.context().close());

type Kind = "show" | "success" | "info" | "warning" | "error";
const show = (kind: Kind, text: string) =>
  tab.evaluate(([name, message]) => (globalThis as unknown as { toast: typeof Toast }).toast[name](message), [
    kind,
    text,
  ] as const);
const toasts = () => tab.locator("[data-sonner-toast]");
/** Lets time pass, with its effects. */
async function pass(milliseconds: number): Promise<void> {
  await tab.clock.runFor(milliseconds);
  await tab.clock.runFor(300);
}
async function shown(kind: Kind, text: string): Promise<void> {
  await show(kind, text);
  await pass(100);
  await tab.getByText(text).waitFor();
}

test.runIf(isThorough)("UI-1 toasts of every kind: default, success, info, warning, error and loading", async () => {
  for (const kind of ["show", "success", "info", "warning", "error"] as const) {
    await shown(kind, `A ${kind}`);
    const type = await toasts()
      .filter({ hasText: `A ${kind}` })
      .getAttribute("data-type");
    expect([kind, type]).toEqual([kind, kind === "show" ? null : kind]);
  }
  await tab.evaluate(() => {
    const { toast } = globalThis as unknown as { toast: typeof Toast };
    void toast.promise(new Promise(() => {}), { loading: "Still going", success: "Done" });
  });
  await pass(100);
  await expect.poll(() => toasts().filter({ hasText: "Still going" }).getAttribute("data-type")).toBe("loading");
});

test("UI-1 a toast goes after 4000 ms, an error stays until it is dismissed", async () => {
  await shown("success", "Saved");
  await shown("error", "Not saved");
  await pass(2800);
  await expect.poll(() => tab.getByText("Saved", { exact: true }).count()).toBe(1);
  await pass(1000);
  await tab.getByText("Saved", { exact: true }).waitFor({ state: "detached" });
  await pass(60_000);
  await expect.poll(() => tab.getByText("Not saved").count()).toBe(1);
  await toasts().filter({ hasText: "Not saved" }).getByRole("button", { name: "Close toast" }).click();
  await pass(500);
  await tab.getByText("Not saved").waitFor({ state: "detached" });
});

test("UI-1 the time stands still while the pointer is over a toast, the list has focus, or the tab is hidden", async () => {
  await shown("info", "Over it");
  await tab.getByText("Over it").hover();
  await pass(20_000);
  await expect.poll(() => tab.getByText("Over it").count()).toBe(1);
  await tab.mouse.move(5, 5);
  await pass(5000);
  await tab.getByText("Over it").waitFor({ state: "detached" });

  await shown("info", "Focused");
  await tab.keyboard.press("Alt+KeyT");
  await pass(20_000);
  await expect.poll(() => tab.getByText("Focused").count()).toBe(1);
  await tab.keyboard.press("Escape");
  await tab.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await pass(5000);
  await tab.getByText("Focused").waitFor({ state: "detached" });

  await shown("info", "Hidden tab");
  const hide = (hidden: boolean) =>
    tab.evaluate((value) => {
      Object.defineProperty(document, "hidden", { configurable: true, value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await hide(true);
  await pass(20_000);
  await expect.poll(() => tab.getByText("Hidden tab").count()).toBe(1);
  await hide(false);
  await pass(5000);
  await tab.getByText("Hidden tab").waitFor({ state: "detached" });
});

test("UI-1 three are visible, 356 px wide and 14 px apart when the list is open, which alt+T does", async () => {
  for (const text of ["One", "Two", "Three", "Four", "Five"]) await shown("error", text);
  await expect.poll(() => tab.locator("[data-sonner-toast][data-visible=true]").count()).toBe(3);
  await tab.keyboard.press("Alt+KeyT");
  await pass(1000);
  await expect.poll(() => tab.locator("[data-sonner-toast][data-expanded=true]").count()).toBe(5);
  const boxes = await Promise.all(
    ["Three", "Four", "Five"].map((text) => toasts().filter({ hasText: text }).boundingBox()),
  );
  expect(boxes.map((box) => box?.width)).toEqual([356, 356, 356]);
  const [three, four, five] = boxes.map((box) => ({ top: box?.y ?? 0, bottom: (box?.y ?? 0) + (box?.height ?? 0) }));
  expect(Math.round((four?.top ?? 0) - (three?.bottom ?? 0))).toBe(14);
  expect(Math.round((five?.top ?? 0) - (four?.bottom ?? 0))).toBe(14);
});

test.runIf(isThorough)(
  "UI-1 a swipe of 45 px dismisses, a shorter and slow one doesn't, a quick one does",
  async () => {
    /** Drags a toast to the right, within that time on its clock. */
    const swipe = async (text: string, distance: number, milliseconds: number) => {
      const box = await toasts().filter({ hasText: text }).boundingBox();
      // Beside its text, because dragging would select it.
      const [x, y] = [(box?.x ?? 0) + 290, (box?.y ?? 0) + 20];
      await tab.mouse.move(x, y);
      await tab.mouse.down();
      for (const moved of [5, distance]) {
        await tab.mouse.move(x + moved, y);
        await tab.clock.runFor(milliseconds / 2);
      }
      await tab.mouse.up();
      await tab.mouse.move(5, 5);
      await pass(1000);
    };
    await shown("error", "Short and slow");
    await swipe("Short and slow", 40, 2000);
    await expect.poll(() => tab.getByText("Short and slow").count()).toBe(1);
    await swipe("Short and slow", 46, 2000);
    await tab.getByText("Short and slow").waitFor({ state: "detached" });
    await shown("error", "Quick");
    await swipe("Quick", 30, 100);
    await tab.getByText("Quick").waitFor({ state: "detached" });
  },
);

test("UI-1 the promise helper tells loading, then success; an HTTP failure becomes an error with its status text", async () => {
  const settle = (outcome: "works" | "fails") =>
    tab.evaluate((how) => {
      const { toast } = globalThis as unknown as { toast: typeof Toast };
      const response =
        how === "works" ? new Response("{}") : new Response(null, { status: 503, statusText: "Lock Closed" });
      const work = toast.promise(Promise.resolve(response), { loading: "Saving", success: "All saved" });
      return work.then(
        () => "resolved",
        (error: unknown) => (error instanceof Response ? error.status : "other"),
      );
    }, outcome);
  expect(await settle("works")).toBe("resolved");
  await pass(100);
  await tab.getByText("All saved").waitFor();
  expect(await settle("fails")).toBe(503);
  await pass(100);
  const failed = toasts().filter({ hasText: "Lock Closed" });
  await expect.poll(() => failed.getAttribute("data-type")).toBe("error");
  await pass(20_000);
  await expect.poll(async () => [await tab.getByText("All saved").count(), await failed.count()]).toEqual([0, 1]);
});
