import { permissionsOf } from "@towpath/core/authorize";
import type { Role } from "@towpath/core/context";
import { expect, test } from "vitest";
import { projectScreens } from "~/features/shell/navigation/navigation.tsx";
import { rankItems } from "~/ui/rank-items.ts";
import { type PaletteActions, type PalettePlace, paletteGroups } from "./palette-groups.tsx";

type Projects = PalettePlace["profile"]["projects"];
const own = (name: string, kind: Projects[number]["kind"] = "hosted"): Projects[number] => ({
  id: name,
  name,
  kind,
  pathName: name,
  orgSlug: "acme",
  iconUrl: null,
});
const foreign = { ...own("forecast-archive"), orgSlug: "rainfall" };
const acme = { id: "o1", slug: "acme", name: "Acme" };
const profile = {
  id: "u1",
  email: "a@b.example",
  firstName: null,
  lastName: null,
  displayName: "a",
  profilePictureUrl: null,
  preferences: { timeZone: null, hourCycle: "h23" },
  hidesFirstSteps: false,
  githubUserId: null,
  githubInstallations: [],
  organizations: [
    { ...acme, externalId: "o1", pictureUrl: null, role: "owner" },
    { id: "o2", slug: "rainfall", name: "Weather people", externalId: "o2", pictureUrl: null, role: "member" },
  ],
  projects: [own("weather-api"), own("wiki-elsewhere", "external"), own("desk-portal", "portal"), foreign],
} as const satisfies PalettePlace["profile"];

const view = (list: "audit" | "requests", name: string, search: Readonly<Record<string, string>>) => ({
  id: name,
  list,
  name,
  search,
  missing: {},
  isShared: false,
  isDefault: false,
});

/** The entries of a role on a page of this server or portal; `done` collects their actions. */
function palette(role: Role, opened: Projects[number] | null = null) {
  const done: unknown[][] = [];
  const actions = new Proxy({} as PaletteActions, {
    get:
      (_, name) =>
      (...given: unknown[]) =>
        void done.push([name, ...given]),
  });
  const organization = { ...acme, role, permissions: permissionsOf(role) };
  const key = opened && { orgSlug: "acme", projectName: opened.pathName };
  const screens = key && projectScreens(key, organization.permissions, { branchId: null, kind: opened.kind });
  const latest = opened?.kind === "hosted" ? { id: "b1", commitSha: "0123456789abcdef", packageVersion: null } : null;
  const groups = paletteGroups(
    { profile, organization, open: key && screens && { key, screens } },
    opened && {
      name: opened.name,
      url: `https://towpath.example/${opened.name}/mcp`,
      latest,
      tools: ["forecast", "weather-api"],
      builds: latest ? [{ ...latest, commitMessage: "Add gusts\n\nIn knots.", branch: { name: "gusts-2" } }] : [],
    },
    {
      ofOrganization: [view("audit", "Keys this week", { group: "keys", time: "7d" })],
      ofProject: [view("requests", "Slow calls", { duration: ">1s" })],
    },
    actions,
  );
  const found = (query: string) => rankItems(groups, query).flatMap(({ items }) => items);
  return {
    done,
    labels: (query = "") => found(query).map(({ label }) => label),
    /** Types, and presses Enter. */
    enter(query: string) {
      found(query)[0]?.run();
      return done.at(-1);
    },
  };
}

test("UI-4 typing in the palette finds servers, portals, pages and actions, and Enter goes there", () => {
  const { enter, labels } = palette("owner");
  expect(enter("weather-api")).toEqual(["open", "/acme/weather-api"]);
  expect(enter("elsewhere")).toEqual(["open", "/acme/wiki-elsewhere"]);
  expect(enter("desk")).toEqual(["open", "/acme/desk-portal"]);
  expect(enter("portals")).toMatchObject(["follow", { to: "/$orgSlug/portals", params: { orgSlug: "acme" } }]);
  expect(enter("api keys")).toMatchObject(["follow", { to: "/$orgSlug/settings/api-keys" }]);
  expect(enter("who changed")).toMatchObject(["follow", { to: "/$orgSlug/settings/audit-log" }]);
  expect(enter("new portal")).toEqual(["open", "/acme/portals/new"]);
  expect(enter("external")).toEqual(["open", "/acme/servers/external"]);
  expect(enter("deploy")).toEqual(["open", "/acme/servers/new"]);
  expect(enter("dark")).toEqual(["setTheme", "dark"]);
  expect(enter("sign out")).toEqual(["signOut"]);
  expect(labels("no such thing")).toEqual([]);
});

test("UI-4 servers are found first, then tools, builds by message, commit or branch, and the documentation", () => {
  const { enter, labels } = palette("member", own("weather-api"));
  expect(enter("weather-api")).toEqual(["open", "/acme/weather-api"]);
  expect(labels("weather-api").slice(0, 2)).toEqual(["weather-api", "weather-api"]);
  expect(enter("forecast")).toEqual(["open", "/acme/weather-api/inspector?tool=forecast"]);
  for (const query of ["gusts", "0123456", "gusts-2"])
    expect(enter(query)).toEqual(["open", "/acme/weather-api/build-logs/b1"]);
  expect(labels("gusts")).toEqual(["Add gusts"]);
  expect(enter("rollbacks")).toEqual(["openDocument", "/docs/previews"]);
});

test("UI-4 CAP-7 saved views are found by name and by list, those of a server on its pages", () => {
  const { enter, labels } = palette("owner", own("weather-api"));
  const logs = { to: "/$orgSlug/$projectName/logs", params: { orgSlug: "acme", projectName: "weather-api" } };
  expect(enter("slow calls")).toEqual(["follow", { ...logs, search: { duration: ">1s" } }]);
  expect(enter("keys this week")).toMatchObject(["follow", { to: "/$orgSlug/settings/audit-log" }]);
  expect(labels("view")).toEqual(expect.arrayContaining(["Slow calls", "Keys this week"]));
  expect(palette("owner").labels()).not.toContain("Slow calls");
});

test("UI-4 AUTH-6 a server of another organization is opened in a new document, as is the organization", () => {
  const { enter } = palette("owner");
  expect(enter("forecast-archive")).toEqual(["openDocument", "/rainfall/forecast-archive"]);
  expect(enter("weather people")).toMatchObject(["switchTo", { slug: "rainfall" }]);
});

test("UI-4 ORG-3 the open server's screens and actions come first; a portal has those that portals have", () => {
  const server = palette("owner", own("weather-api"));
  expect(server.labels()[0]).toBe("Overview");
  expect(server.enter("deployments")).toMatchObject(["follow", { params: { projectName: "weather-api" } }]);
  // By the entry of the sidebar and by what they were named.
  expect(server.labels("try it").slice(0, 3)).toEqual(["Inspector", "Chat", "Surface"]);
  for (const query of ["surface", "prompts", "templates"])
    expect(server.enter(query)).toMatchObject(["follow", { to: "/$orgSlug/$projectName/surface" }]);
  expect(server.enter("stdout")).toMatchObject(["follow", { to: "/$orgSlug/$projectName/server-logs" }]);
  expect(server.enter("redeploy")).toEqual(["redeploy", "b1"]);
  expect(server.enter("copy url")).toEqual(["copyUrl", "https://towpath.example/weather-api/mcp"]);
  const portal = palette("owner", own("desk-portal", "portal"));
  expect(portal.enter("servers and tools")).toMatchObject(["follow", { to: "/$orgSlug/$projectName/servers" }]);
  expect(portal.enter("copy url")).toEqual(["copyUrl", "https://towpath.example/desk-portal/mcp"]);
  for (const missing of ["Deployments", "Chat", "Rebuild production"]) expect(portal.labels()).not.toContain(missing);
});

const byRole = {
  owner: [],
  admin: [],
  member: ["Audit log", "Admin JWT", "General", "Instance"],
  viewer: [
    "Deploy a new server",
    "Add an external server",
    "Deploy a package",
    "Find a server in a registry",
    "New portal",
    "Rebuild production",
    "Code",
    "API keys",
    "GitHub",
    "Alerts",
    "Clients",
    "Sign-ins",
    "Audit log",
    "Admin JWT",
    "General",
    "Instance",
  ],
} as const satisfies Record<Role, readonly string[]>;

test.each(["owner", "admin", "member", "viewer"] as const)(
  "UI-4 ORG-6 the palette of a role leaves out exactly what it may not do: %s",
  (role) => {
    const all = palette("owner", own("weather-api")).labels();
    const offered = palette(role, own("weather-api")).labels();
    const missing = new Set<string>(byRole[role]);
    expect([...missing].filter((label) => !all.includes(label))).toEqual([]);
    expect(offered).toEqual(all.filter((label) => !missing.has(label)));
    for (const label of missing)
      expect(palette(role, own("weather-api")).labels(label.toLowerCase())).not.toContain(label);
  },
);
