import type { Locator, Page } from "playwright-core";
import { connectClient } from "./call-servers.ts";
import { type Filled, names, releaseGradually } from "./fill-instance.ts";
import { organizationScenes } from "./organization-scenes.ts";
import type { Scene } from "./scene.ts";
import { question } from "./waterways-model.ts";
import { writeReleaseCalls } from "./write-week.ts";

/** Scrolls so that an element is below the bar, which is 64 px high. */
async function showFrom(page: Page, element: Locator): Promise<void> {
  const top = (await element.boundingBox())?.y ?? 0;
  await page.evaluate(`scrollBy(0, ${top - 96})`);
}

const rows = (page: Page) => page.locator("main [data-row]");

async function callTool(page: Page, { server }: Filled): Promise<void> {
  await page.goto(`${server}/inspector?tool=water_level`);
  await page.getByLabel(/^gauge/).fill("Leiden");
  await page.getByRole("button", { name: "Call tool" }).click();
  await page.getByText(/ms for the call/).waitFor();
  await showFrom(page, page.getByRole("tab", { name: /^Tools/ }));
}

async function openBuild(page: Page, { server, pool }: Filled, message: string): Promise<void> {
  const { rows: found } = await pool.query("SELECT id FROM build WHERE commit_message = $1", [message]);
  await page.goto(`${server}/build-logs/${found[0].id}`);
}

/** Screens of a server, by the name of the picture; in this order, as some change what others show. */
const serverScenes: Readonly<Record<string, Scene>> = {
  overview: {
    show: async (page, { server }) => {
      await page.goto(server);
      await page.getByText("Top tools").first().waitFor();
    },
  },
  build: {
    show: async (page, filled) => {
      await openBuild(page, filled, "Book a mooring");
      await page.getByText("Roll out").first().waitFor();
    },
  },
  "failed-build": {
    onPhone: true,
    show: async (page, filled) => {
      await openBuild(page, filled, "Ask the tide service");
      await page.getByRole("heading", { name: /httpx/ }).waitFor();
    },
  },
  previews: {
    onPhone: true,
    show: async (page, { server }) => {
      await page.goto(`${server}/deployments`);
      await page
        .getByRole("button", { name: /Promote/ })
        .first()
        .waitFor({ timeout: 90_000 });
      await showFrom(page, page.getByText("Production is live"));
    },
  },
  code: {
    show: async (page, { server }) => {
      await page.goto(`${server}/code?branch=${names.broken}&file=server.py`);
      await page.getByRole("textbox", { name: "Text of server.py" }).waitFor();
      await page.getByRole("textbox", { name: "Text of server.py" }).click();
      await page.keyboard.press("Control+Home");
      await page.keyboard.press("Shift+ArrowDown");
      for (const _line of ["the import", "an empty line"]) await page.keyboard.press("Delete");
    },
  },
  inspector: { onPhone: true, show: callTool },
  chat: {
    show: async (page, { server }) => {
      await page.goto(`${server}/chat`);
      const begin = page.getByRole("button", { name: "New chat" });
      if (await begin.isEnabled()) await begin.click();
      await page.getByLabel("Your question").fill(question);
      await page.getByLabel("Your question").press("Enter");
      await page.getByText("has room for 15 m").waitFor();
    },
  },
  surface: {
    show: async (page, { server }) => {
      await page.goto(`${server}/surface`);
      await page.getByText("find_moorings").first().waitFor();
    },
  },
  logs: {
    show: async (page, { server }) => {
      await page.goto(`${server}/logs?status=error&methodType=tool:water_level`);
      await page.locator("button[data-row]").first().click();
      await page.getByText("Protocol version").waitFor();
    },
  },
  errors: {
    show: async (page, { server }) => {
      await page.goto(`${server}/errors`);
      await page.getByText("KeyError: 'Katwijk'").first().waitFor();
    },
  },
  error: {
    onPhone: true,
    show: async (page, { server }) => {
      await page.goto(`${server}/errors`);
      await page
        .getByRole("link", { name: /KeyError/ })
        .first()
        .click();
      await page.getByText("return LEVELS[gauge]").first().waitFor();
    },
  },
  sessions: {
    show: async (page, { server }) => {
      await page.goto(`${server}/sessions`);
      await rows(page).first().waitFor();
    },
  },
  users: {
    show: async (page, { server }) => {
      await page.goto(`${server}/users`);
      await rows(page).first().waitFor();
    },
  },
  "server-output": {
    show: async (page, { server }) => {
      await page.goto(`${server}/server-logs`);
      await page
        .getByText(/moorings near Leiden/)
        .first()
        .waitFor();
    },
  },
  "sign-ins": {
    show: async (page, { server }) => {
      await page.goto(`${server}/sign-ins`);
      await page.getByText("Cursor").first().waitFor();
    },
  },
  variables: {
    show: async (page, { server }) => {
      await page.goto(`${server}/settings#environment-variables`);
      await page.getByText("LEVEL_UNIT").first().waitFor();
      await showFrom(page, page.getByRole("heading", { name: "Environment variables" }));
    },
  },
  access: {
    onPhone: true,
    show: async (page, { server }) => {
      await page.goto(`${server}/access`);
      await page.getByRole("radio", { name: /^Only selected tools/ }).click();
      await page.getByRole("checkbox", { name: /^book_mooring/ }).click();
      await showFrom(page, page.getByRole("heading", { name: "API keys and workloads" }));
    },
  },
  limits: {
    show: async (page, { server }) => {
      await page.goto(`${server}/limits`);
      await page.getByRole("heading", { name: "Limits" }).waitFor();
    },
  },
  clients: {
    show: async (page, { server }) => {
      await page.goto(`${server}/clients`);
      await page.getByText("Claude Code").first().waitFor();
    },
  },
  consent: {
    show: async (page, { instance }) => {
      const { url } = await connectClient(instance, names.server, "Claude Code");
      await page.goto(url);
      await page.getByRole("button", { name: "Allow" }).waitFor();
    },
  },
  portal: {
    show: async (page, { home }) => {
      await page.goto(`${home}/${names.portal}/servers`);
      await page.getByRole("checkbox", { name: /^find_moorings/ }).waitFor();
    },
  },
};

/** The last one: a release changes many screens. */
const release: Scene = {
  onPhone: true,
  show: async (page, filled) => {
    const { rows: running } = await filled.pool.query("SELECT 1 FROM gradual_release WHERE state = 'running'");
    if (running.length === 0) {
      await releaseGradually(filled);
      await writeReleaseCalls(filled.pool);
    }
    await page.goto(filled.server);
    await page.getByRole("table", { name: "Both versions in this step" }).waitFor();
  },
};

export const scenes: Readonly<Record<string, Scene>> = { ...serverScenes, ...organizationScenes, release };
