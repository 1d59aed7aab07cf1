import { generateKeyPairSync, randomBytes } from "node:crypto";
import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import type { ForgeContext } from "./forge.context.ts";
import { hidden, page } from "./pages/layout.ts";
import { type PageEnvironment, readSession } from "./sign-in/session.ts";
import { permissionsSchema } from "./state/tokens.ts";

const manifestSchema = z.object({
  name: z.string().max(34),
  url: z.url(),
  redirect_url: z.url(),
  callback_urls: z.array(z.url()).min(1),
  setup_url: z.url(),
  hook_attributes: z.object({ url: z.url(), active: z.boolean() }).optional(),
  default_permissions: permissionsSchema,
  default_events: z.array(z.string()).default([]),
});
type Manifest = z.infer<typeof manifestSchema>;
type Made = { readonly manifest: Manifest; readonly owner: { readonly login: string; readonly type: string } };

const random = () => randomBytes(20).toString("hex");

function read(text: unknown): Manifest | null {
  try {
    return manifestSchema.parse(JSON.parse(String(text)));
  } catch {
    return null;
  }
}

/**
 * GitHub's manifest flow, which makes an App: another site's form posts a manifest, a person confirms, and the site
 * exchanges a code for the App's keys. Unlike GitHub, this host has one App: the newest replaces the one before, until
 * a restart.
 */
export function manifestRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const routes = new Hono<PageEnvironment>();
  const made = new Map<string, Made>();
  routes.use("/settings/apps/*", readSession(context));
  routes.use("/organizations/*", readSession(context));

  for (const path of ["/settings/apps/new", "/organizations/:organization/settings/apps/new"] as const) {
    routes.post(path, async (c) => {
      const form = await c.req.parseBody();
      const viewer = c.get("viewer");
      const manifest = read(form.manifest);
      if (viewer === null || manifest === null) return c.text(viewer === null ? "Sign in first" : "Bad manifest", 422);
      const owner = c.req.param("organization") ?? "";
      const body = html`<form method="post" action="/settings/apps/create">
          ${hidden("manifest", JSON.stringify(manifest))}${hidden("state", c.req.query("state"))}${hidden("owner", owner)}
          <button type="submit">Create GitHub App</button>
        </form>`;
      return c.html(page({ title: `Create GitHub App for ${owner || viewer.login}`, body }));
    });
  }

  routes.post("/settings/apps/create", async (c) => {
    const form = await c.req.parseBody();
    const viewer = c.get("viewer");
    const manifest = read(form.manifest);
    if (viewer === null || manifest === null) return c.text("Bad manifest", 422);
    const code = random();
    const owner = form.owner
      ? { login: String(form.owner), type: "Organization" }
      : { login: viewer.login, type: "User" };
    made.set(code, { manifest, owner });
    const target = new URL(manifest.redirect_url);
    target.searchParams.set("code", code);
    target.searchParams.set("state", String(form.state ?? ""));
    return c.redirect(target.href, 303);
  });

  routes.post("/api/v3/app-manifests/:code/conversions", (c) => {
    const found = made.get(c.req.param("code"));
    made.delete(c.req.param("code"));
    if (!found) return c.json({ message: "Not Found" }, 404);
    const { manifest, owner } = found;
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const app = {
      id: String(1000 + Math.floor(Math.random() * 1e6)),
      slug: manifest.name.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
      privateKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
      clientId: `Iv1.${random()}`,
      clientSecret: random(),
      webhookSecret: manifest.hook_attributes ? random() : "",
      owner,
      permissions: manifest.default_permissions,
      events: manifest.default_events,
    };
    const [callbackUrl] = manifest.callback_urls;
    const webhookUrl = manifest.hook_attributes?.url ?? "";
    Object.assign(context.config, { app, webhookUrl, callbackUrl, setupUrl: manifest.setup_url });
    const { id, slug, clientId, clientSecret, webhookSecret, permissions, events } = app;
    return c.json(
      {
        id: Number(id),
        slug,
        name: manifest.name,
        owner,
        permissions,
        events,
        pem: app.privateKey,
        client_id: clientId,
        client_secret: clientSecret,
        webhook_secret: webhookSecret || null,
        html_url: `${context.config.url}/apps/${slug}`,
      },
      201,
    );
  });
  return routes;
}
