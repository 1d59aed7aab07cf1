import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documents } from "../src/features/site/docs/contents.ts";
import { pageRoutes } from "./page-routes.ts";

/** Where a screen is described: an address below `/docs`, and the name of its picture in that section. */
type Described = readonly [address: string, picture?: string];
const server = (path = "") => `/$orgSlug/$projectName${path}`;
const organization = (path: string) => `/$orgSlug${path}`;

const screens: Readonly<Record<string, Described>> = {
  [server()]: ["#deploy-your-first-server", "overview"],
  [server("/access")]: ["roles#who-may-call-a-server", "access"],
  [server("/admin-jwt")]: ["api-keys#admin-jwt"],
  [server("/build-logs/$buildId")]: ["deploy#what-a-build-does", "build"],
  [server("/chat")]: ["chat#chat", "chat"],
  [server("/clients")]: ["clients#in-the-dashboard", "clients"],
  [server("/code")]: ["edit", "code"],
  [server("/deployments")]: ["previews#previews", "previews"],
  [server("/errors")]: ["errors", "errors"],
  [server("/errors/$errorId")]: ["errors#what-an-error-shows", "error"],
  [server("/inspector")]: ["chat#inspector", "inspector"],
  [server("/limits")]: ["limits#set-them", "limits"],
  [server("/logs")]: ["logs#request-log", "logs"],
  [server("/server-logs")]: ["logs#server-log", "server-output"],
  [server("/server-logs/$buildId")]: ["logs#server-log"],
  [server("/servers")]: ["portals", "portal"],
  [server("/sessions")]: ["logs#sessions-and-users", "sessions"],
  [server("/sessions/$sessionId")]: ["logs#sessions-and-users"],
  [server("/settings")]: ["variables#set-them", "variables"],
  [server("/sign-ins")]: ["clients#when-a-sign-in-fails", "sign-ins"],
  [server("/surface")]: ["chat#surface", "surface"],
  [server("/surface/$itemKind/$itemName")]: ["chat#surface"],
  [server("/users")]: ["logs#sessions-and-users", "users"],
  [server("/users/$userId")]: ["logs#sessions-and-users"],
  [organization("/portals")]: ["portals#make-one"],
  [organization("/portals/new")]: ["portals#make-one"],
  [organization("/servers")]: ["organization#servers", "servers"],
  [organization("/servers/external")]: ["external-servers#add-one", "external-server"],
  [organization("/servers/new")]: ["deploy#from-the-dashboard", "new-server"],
  [organization("/servers/package")]: ["deploy#a-published-package"],
  [organization("/servers/registry")]: ["deploy#a-published-package"],
  [organization("/settings/alerts")]: ["alerts#add-a-channel", "alerts"],
  [organization("/settings/api-keys")]: ["api-keys#create-a-key", "api-keys"],
  [organization("/settings/audit-log")]: ["organization#audit-log", "audit-log"],
  [organization("/settings/general")]: ["organization#general"],
  [organization("/settings/github")]: ["organization#github"],
  [organization("/settings/instance")]: ["organization#instance"],
  [organization("/settings/members")]: ["organization#members", "members"],
  [organization("/settings/my-values")]: ["variables#values-of-each-caller"],
  [organization("/settings/preferences")]: ["account#preferences"],
  [organization("/settings/profile")]: ["account#profile"],
  [organization("/settings/security")]: ["account#security", "security"],
  [organization("/settings/sessions")]: ["account#sessions"],
  "/app/$projectName": ["public-pages#the-page-of-a-server", "public-page"],
  "/status/$orgSlug": ["public-pages#status-page", "status-page"],
  "/oauth/consent": ["clients#signing-in", "consent"],
};
/** Pictures of a screen in a second state. */
const further: readonly Described[] = [
  ["deploy#what-a-build-does", "failed-build"],
  ["releases#release-gradually", "release"],
];

/** Screens that nobody looks up. */
const undescribed: Readonly<Record<string, readonly string[]>> = {
  "the public site itself": [...["/", "/blog", "/blog/$slug", "/pricing"], ...["/docs", "/docs/$slug", "/docs/search"]],
  "forms that say what they ask for, on the way to another screen": [
    ...["/login", "/signup", "/welcome/create-organization", "/invitations/$invitationId", "/oauth/choose-server"],
    ...["/provider/sign-in", "/provider/sign-up", "/provider/second-factor", "/provider/problem"],
    ...["/provider/forgot-password", "/provider/reset-password", "/account/email"],
    ...["/new", "/new/github-install", "/new/github-install-success", "/new/import-project", "/new/select-repo"],
    ...["choose-repo", "connect-github", "invite-teammates", "server-deploy", "server-setup"].map((step) =>
      organization(`/welcome/${step}`),
    ),
  ],
  "addresses that lead to another screen": [
    ...["/$orgSlug", organization("/settings"), "/account", "/my-values/$projectId", "/oauth/authorize"],
    ...["/prompts", "/resources", "/resource-templates", "/tools"].map(server),
  ],
};

const root = join(import.meta.dirname, "../../..");
const pictures = join(import.meta.dirname, "../public/docs/pictures");
const read = (file: string) => readFile(join(root, file), "utf8");
/** Anchors as GitHub makes them, of a text without code. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** The text below a heading up to the next one, by address; that before all headings has the page's. */
async function documentedSections(): Promise<ReadonlyMap<string, string>> {
  const sections = new Map<string, string>();
  for (const { slug, file } of documents) {
    const text = (await read(file)).replaceAll(/^```.*?^```$/gms, "");
    for (const [at, part] of text.split(/^##+ /m).entries()) {
      const heading = part.slice(0, part.indexOf("\n"));
      sections.set(at === 0 ? slug : `${slug}#${anchorOf(heading)}`, part);
    }
  }
  return sections;
}

const picturesIn = (text: string) =>
  [...text.matchAll(/^!\[([^\]]*)\]\((?:\.\.\/apps\/web\/public)?\/docs\/pictures\/([a-z-]+)-light\.webp\)$/gm)].map(
    ([, alt = "", name = ""]) => ({ alt, name }),
  );

test("OPS-7 each screen is described on a page of the documentation, with its picture, or has a reason not to be", async () => {
  const listed = [...Object.keys(screens), ...Object.values(undescribed).flat()];
  expect(listed.toSorted()).toEqual(await pageRoutes());
  const sections = await documentedSections();
  for (const [address, picture] of [...Object.values(screens), ...further]) {
    const text = sections.get(address);
    expect(text, address).toBeDefined();
    if (picture === undefined) continue;
    expect([address, picturesIn(text ?? "").map(({ name }) => name)]).toEqual([
      address,
      expect.arrayContaining([picture]),
    ]);
  }
});

/** Bytes of all pictures. */
const maxTotal = 5_000_000;
const sizes = { wide: [1728, 1080], phone: [780, 1280] };

test("OPS-7 UI-2 PUB-4 every picture is shown somewhere, in both themes and one size, with a description; all are small", async () => {
  const tour = join("apps/web/src/features/site/landing/tour");
  const steps = (await readdir(join(root, tour))).map((file) => join(tour, file));
  const shown = { docs: documents.map(({ file }) => file), tour: steps };
  const namesIn = async (files: readonly string[]) => {
    const found = (await Promise.all(files.map(read))).flatMap(picturesIn);
    for (const { alt, name } of found) expect([name, alt.length > 40]).toEqual([name, true]);
    return found.map(({ name }) => name);
  };
  const [inDocs, inTour] = [await namesIn(shown.docs), await namesIn(shown.tour)];
  // A phone shows the tour's in a size of its own.
  const expected = [...inDocs, ...inTour, ...inTour.map((name) => `${name}-phone`)].flatMap((name) =>
    ["light", "dark"].map((theme) => `${name}-${theme}.webp`),
  );
  const files = await readdir(pictures);
  expect(files.toSorted()).toEqual([...new Set(expected)].toSorted());
  let total = 0;
  for (const file of files) {
    const { size } = await stat(join(pictures, file));
    total += size;
    expect([file, Math.max(size, 60_000)]).toEqual([file, 60_000]);
    expect([file, await sizeOf(join(pictures, file))]).toEqual([
      file,
      file.includes("-phone-") ? sizes.phone : sizes.wide,
    ]);
  }
  expect(Math.max(total, maxTotal)).toBe(maxTotal);
});

/** Width and height of a lossy WebP, from its frame's header (RFC 6386, section 9.1). */
async function sizeOf(path: string): Promise<readonly number[]> {
  const content = await readFile(path);
  const start = content.indexOf(Buffer.from([0x9d, 0x01, 0x2a]));
  return [3, 5].map((offset) => content.readUInt16LE(start + offset) & 0x3fff);
}
