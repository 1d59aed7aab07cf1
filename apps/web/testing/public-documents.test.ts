import { readFile } from "node:fs/promises";
import { SaxesParser } from "saxes";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { commands } from "../../cli/src/commands/table.ts";
import { postMetaSchema } from "../src/features/site/blog/post.schema.ts";
import { publishedPosts } from "../src/features/site/blog/publish-posts.ts";
import { documents } from "../src/features/site/docs/contents.ts";
import { documentPath } from "../src/features/site/docs/document-path.ts";
import { openSite } from "./site.ts";
import { newVisitor, seededMember } from "./visitor.ts";

const site = openSite(() => ({
  TOWPATH_STAR_URL: "https://stars.example/repo",
  TOWPATH_DOCS_URL: "https://docs.example/",
  TOWPATH_DOCS_EDIT_URL: "https://code.example/edit/main/",
}));

const slugs = ["oauth-proxy-dynamic-registration", "sampling-fallbacks", "context-economy"];
const docsPaths = documents.map(({ slug }) => documentPath(slug));
const publicPaths = ["/", "/pricing", "/blog", ...slugs.map((slug) => `/blog/${slug}`), ...docsPaths];

async function documentAt(path: string) {
  const response = await newVisitor(site.url).get(path);
  const html = await response.text();
  const attribute = (pattern: RegExp) => pattern.exec(html)?.[1] ?? null;
  return {
    status: response.status,
    html,
    title: attribute(/<title>([^<]*)<\/title>/),
    canonical: attribute(/<link rel="canonical" href="([^"]*)"/),
    meta: (name: string) => attribute(new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`)),
  };
}

test.runIf(isThorough)(
  "PUB-7 the blog lists three posts of early September 2025, newest first, with a link to the feed",
  async () => {
    const { html, status } = await documentAt("/blog");
    expect(status).toBe(200);
    const listed = [...html.matchAll(/<a href="\/blog\/([^"]+)"/g)].map(([, slug]) => slug);
    expect(listed).toEqual(slugs);
    const days = [...html.matchAll(/<time dateTime="(2025-09-0\d)T/g)].map(([, day]) => day);
    expect(days).toEqual(days.toSorted().toReversed());
    expect(days.length).toBe(3);
    expect(html).toMatch(/<a href="\/rss.xml"[^>]*>.*?RSS feed/);
    expect(html).toMatch(/<link rel="alternate" type="application\/rss\+xml"/);
  },
);

const page = (publishedAt: string, draft?: boolean) => ({
  frontMatter: postMetaSchema.parse({
    title: "T",
    description: "D",
    author: { name: "A", avatar: "/a.svg" },
    publishedAt,
    tags: ["x"],
    image: "/i",
    ...(draft !== undefined && { draft }),
  }),
  html: "<p>Text</p>",
  headings: [],
  sections: [],
  minutes: 1,
});

test("PUB-7 PUB-16 drafts are in no list, and no post has one as its neighbor", () => {
  const posts = publishedPosts({
    "./posts/old.md": page("2025-09-01"),
    "./posts/draft.md": page("2025-09-02", true),
    "./posts/new.md": page("2025-09-03", false),
  });
  expect(posts.map(({ slug, previous, next }) => [slug, previous?.slug, next?.slug])).toEqual([
    ["new", "old", undefined],
    ["old", undefined, "new"],
  ]);
  expect(posts[0]).toMatchObject({ content: "<p>Text</p>", meta: { publishedAt: "2025-09-03T00:00:00.000Z" } });
});

test.each([
  ["no author", { author: undefined }],
  ["an avatar of another site", { author: { name: "A", avatar: "https://elsewhere.example/a.png" } }],
  ["a day that doesn't exist", { publishedAt: "2025-09-31" }],
  ["no tags", { tags: [] }],
  ["a field that nobody knows", { drafft: true }],
])("PUB-16 front matter is refused with %s", (_what, wrong) => {
  const { frontMatter } = page("2025-09-01");
  const given = { ...frontMatter, publishedAt: "2025-09-01" };
  expect(postMetaSchema.safeParse(given).success).toBe(true);
  expect(postMetaSchema.safeParse({ ...given, ...wrong }).success).toBe(false);
});

test.each(slugs)("PUB-8 /blog/%s has its author, highlighted code, its figure and its neighbors", async (slug) => {
  const { html, status, title, meta } = await documentAt(`/blog/${slug}`);
  expect(status).toBe(200);
  expect(title).toMatch(/ · Towpath$/);
  expect(meta("article:published_time")).toMatch(/^2025-09-0\d/);
  expect(html).toContain('<img src="/authors/towpath.svg"');
  expect(html).toMatch(/<pre [^>]*tabindex="0"[^>]*><code[^>]*>[\s\S]*<span class="hljs-/);
  expect(html).toMatch(/<figure><div role="img" aria-label="[^"]{20,}" tabindex="0"><svg aria-hidden="true"/);
  expect(html).toContain('aria-label="On this page"');
  const words = html
    .replace(/^.*<div class="prose/s, "")
    .replace(/<[^>]+>/g, " ")
    .split(/\s+/).length;
  expect(words).toBeGreaterThan(900);
  const others = [
    ...html.matchAll(/rel="(?:next|prev)"[^>]*href="\/blog\/([^"]+)"|href="\/blog\/([^"]+)" rel="(?:next|prev)"/g),
  ];
  expect(others.length).toBe(slug === "sampling-fallbacks" ? 2 : 1);
});

test.each(["/blog/no-such-post", "/blog/draft", "/blog/..%2Fposts"])(
  "PUB-8 %s is a 404 with such a title, and not for search engines",
  async (path) => {
    const { status, title, meta, html } = await documentAt(path);
    expect([status, title, meta("robots")]).toEqual([404, "404 - Not Found", "noindex"]);
    expect(html).toContain("The page you&#x27;re looking for doesn&#x27;t exist.");
    expect(html).toContain('<a href="/" aria-label="Towpath home"');
  },
);

/** Elements of an XML document in document order, with their path. @throws for a document that isn't well-formed */
function elementsOf(xml: string) {
  const found: { path: string; text: string; attributes: Record<string, string> }[] = [];
  const open: typeof found = [];
  const parser = new SaxesParser({ xmlns: false });
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element = {
      path: `${open.at(-1)?.path ?? ""}/${name}`,
      text: "",
      attributes: attributes as Record<string, string>,
    };
    found.push(element);
    open.push(element);
  });
  const append = (text: string) => {
    const last = open.at(-1);
    if (last) last.text += text;
  };
  parser.on("text", append);
  parser.on("cdata", append);
  parser.on("closetag", () => void open.pop());
  parser.write(xml).close();
  return found;
}

test("PUB-9 the feed is RSS 2.0: well-formed, with all that the specification requires, and absolute addresses", async () => {
  const response = await newVisitor(site.url).get("/rss.xml");
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/rss+xml; charset=utf-8"]);
  const elements = elementsOf(await response.text());
  const at = (path: string) => elements.filter((element) => element.path === path);
  expect(at("/rss").map(({ attributes }) => [attributes.version, attributes["xmlns:atom"]])).toEqual([
    ["2.0", "http://www.w3.org/2005/Atom"],
  ]);
  for (const required of ["title", "link", "description"]) {
    expect([required, at(`/rss/channel/${required}`).map(({ text }) => text.length > 0)]).toEqual([required, [true]]);
  }
  expect(at("/rss/channel/atom:link").map(({ attributes }) => attributes)).toEqual([
    { href: `${site.url}/rss.xml`, rel: "self", type: "application/rss+xml" },
  ]);
  expect(at("/rss/channel/item").length).toBe(3);
  const links = at("/rss/channel/item/link").map(({ text }) => text);
  expect(links).toEqual(slugs.map((slug) => `${site.url}/blog/${slug}`));
  expect(at("/rss/channel/item/guid").map(({ text }) => text)).toEqual(links);
  for (const { text } of [...at("/rss/channel/item/pubDate"), ...at("/rss/channel/lastBuildDate")]) {
    expect(text).toMatch(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d Sep 2025 \d\d:\d\d:\d\d GMT$/);
  }
  for (const name of ["title", "description", "pubDate"]) expect(at(`/rss/channel/item/${name}`).length).toBe(3);
});

test("PUB-15 each public page has its own title, description, canonical link and preview", async () => {
  const documents = await Promise.all(publicPaths.map(documentAt));
  for (const [index, { canonical, meta, title }] of documents.entries()) {
    const path = publicPaths[index] ?? "";
    expect([path, canonical, meta("og:url")]).toEqual([path, `${site.url}${path}`, `${site.url}${path}`]);
    expect([path, meta("og:title"), meta("og:description")]).toEqual([path, title, meta("description")]);
    expect(meta("og:image")).toMatch(new RegExp(`^${site.url}/api/og`));
    expect(meta("description")?.length).toBeGreaterThan(40);
  }
  expect(new Set(documents.map(({ title }) => title)).size).toBe(publicPaths.length);
  expect(new Set(documents.map(({ meta }) => meta("description"))).size).toBe(publicPaths.length);
});

test.each([
  ...["/robots.php", "/wp-login.php", "/rss.xml/x", "/.env"].map((path) => [path, "Page Not Found · Towpath"]),
  // The public site's own not-found page.
  ...["/blog/a/b", "/docs/a/b/c"].map((path) => [path, "404 - Not Found"]),
])("PUB-15 ERR-4 %s is no organization's: visitors get a 404, not a sign-in page", async (path, shown) => {
  const { status, title } = await documentAt(path);
  expect([path, status, title]).toEqual([path, 404, shown]);
});

test("PUB-1 where the star count and Docs lead is a setting", async () => {
  const { html } = await documentAt("/pricing");
  expect(html).toMatch(/<a href="https:\/\/stars.example\/repo"[^>]*aria-label="17k\+ stars on GitHub"/);
  expect(html).toMatch(/<a href="https:\/\/docs.example\/"[^>]*>Docs<\/a>/);
});

test("PUB-3 signed-in users see the app's bar on public pages, visitors the public one", async () => {
  const { visitor, organization } = await seededMember(site.url, site.db);
  for (const path of ["/pricing", "/blog", "/blog/context-economy", "/blog/no-such-post"]) {
    const own = await (await visitor.get(path)).text();
    expect([path, own.includes(`Org ${organization.slug}`), own.includes('href="/login"')]).toEqual([
      path,
      true,
      false,
    ]);
    expect(own).toContain("account of Ada Lovelace");
    const { html } = await documentAt(path);
    expect([path, html.includes("account of"), html.includes('href="/login"')]).toEqual([path, false, true]);
  }
});

test("PUB-6 pricing says what self-hosting costs, and no page calls the project open source without a licence", async () => {
  const { html } = await documentAt("/pricing");
  expect(html).toContain("You run Towpath yourself. There is nothing to buy: it costs what your machine costs.");
  expect(html).toContain("$0");
  for (const path of publicPaths)
    expect([path, (await documentAt(path)).html.match(/open[ -]source/i)]).toEqual([path, null]);
});

test("PUB-13 the page after installing the GitHub App says that it is done, and leads on", async () => {
  const { html, status, meta } = await documentAt("/new/github-install-success");
  expect([status, meta("robots")]).toEqual([200, "noindex"]);
  expect(html).toContain("GitHub is connected");
  expect(html).toContain("Towpath can read the repositories you chose");
  expect(html).toMatch(/<a href="\/"[^>]*>Continue<\/a>/);
});

test("OPS-7 every page of the documentation has its text, contents, neighbors and a link to edit it; its links lead somewhere", async () => {
  const pages = new Map(
    await Promise.all(docsPaths.map(async (path) => [path, (await documentAt(path)).html] as const)),
  );
  const broken: string[] = [];
  for (const [index, [path, html]] of [...pages].entries()) {
    const { title = "", file } = documents[index] ?? {};
    expect(html).toContain(`>${title}</h1>`);
    expect(html).toContain(`href="https://code.example/edit/main/${file}"`);
    expect([path, html.match(/rel="(?:next|prev)"/g)?.length]).toEqual([
      path,
      index === 0 || index === docsPaths.length - 1 ? 1 : 2,
    ]);
    expect([path, html.match(/ aria-current="page"/g)?.length]).toEqual([path, 2]);
    // A visitor's document has no scripts but the inline ones.
    expect([path, html.match(/<script[^>]* src=/)]).toEqual([path, null]);
    for (const [, href = ""] of html.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      const [target = "", anchor] = href.split("#");
      if (/^[a-z]+:/.test(target) || (target !== "" && !/^\/docs(?!\/pictures\/)/.test(target))) continue;
      const found = target === "" ? html : pages.get(target);
      if (found === undefined || (anchor && !found.includes(` id="${anchor}"`))) broken.push(`${path}: ${href}`);
    }
  }
  expect(broken).toEqual([]);
  expect(pages.get("/docs/deploy")).toContain('aria-label="On this page"');
  expect(pages.get("/docs/deploy")).toMatch(
    /<pre [^>]*id="code-1".*?<button type="button" class="copy" data-copies="code-1"/s,
  );
  expect((await documentAt("/docs/no-such-page")).status).toBe(404);
});

test("OPS-7 PUB-4 pages show the product in pictures: of both themes, small, with their size and description", async () => {
  const seen = new Set<string>();
  for (const path of ["/", ...docsPaths]) {
    const { html } = await documentAt(path);
    const figures = [...html.matchAll(/<figure class="picture">(.*?)<\/figure>/gs)].map(([, figure = ""]) => figure);
    for (const figure of figures) {
      const links = [...figure.matchAll(/<a href="([^"]+)" class="in-(light|dark)">(.*?)<\/a>/gs)];
      expect([path, links.map(([, , theme]) => theme)]).toEqual([path, ["light", "dark"]]);
      for (const [, href = "", theme, content = ""] of links) {
        const [image = {}, narrow] = elementsIn(content, "img", "source");
        expect([image.src, image.loading, (image.alt ?? "").length > 40]).toEqual([href, "lazy", true]);
        if (path === "/") expect(narrow).toBeDefined();
        for (const { address, width, height } of [
          { address: href, ...image },
          ...(narrow ? [{ address: narrow.srcset ?? "", ...narrow }] : []),
        ]) {
          expect(address).toMatch(new RegExp(`^/docs/pictures/[a-z-]+-${theme}\\.webp\\?v=[0-9a-f]{8}$`));
          expect([address, width, height]).toEqual([
            address,
            expect.stringMatching(/^\d{3,4}$/),
            expect.stringMatching(/^\d{4}$/),
          ]);
          seen.add(address);
        }
      }
    }
  }
  expect(seen.size).toBeGreaterThan(50);
  for (const address of seen) {
    const response = await fetch(site.url + address);
    expect([address, response.headers.get("content-type")]).toEqual([address, "image/webp"]);
    expect([address, Math.max((await response.arrayBuffer()).byteLength, 60_000)]).toEqual([address, 60_000]);
  }
});

/** The attributes of the first element of each name; undefined: there is none. */
const elementsIn = (html: string, ...names: readonly string[]) =>
  names.map((name) => {
    const attributes = new RegExp(`<${name} ([^>]*)>`).exec(html)?.[1];
    if (attributes === undefined) return undefined;
    return Object.fromEntries(
      [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key?.toLowerCase(), value]),
    );
  });

test("OPS-7 the command line's page names every command and option of the terminal, and no other", async () => {
  const page = await readFile(new URL("../src/features/site/docs/pages/cli.md", import.meta.url), "utf8");
  const sections = page.split(/^## /m).slice(1);
  const documented = sections.map((section) => section.slice(0, section.indexOf("\n")));
  // `test` is for people who work on Towpath.
  expect(documented).toEqual(Object.keys(commands).filter((name) => name !== "test"));
  const ofAll = new Set(["--data-dir", "--json", "--help", "--version"]);
  for (const [at, name] of documented.entries()) {
    const inTable = Object.keys(commands[name as keyof typeof commands].options).map((option) => `--${option}`);
    const inText = [...(sections[at] ?? "").matchAll(/--[a-z][a-z-]+/g)].map(([option]) =>
      option.replace("--no-", "--"),
    );
    const own = (options: readonly string[]) => [...new Set(options)].filter((option) => !ofAll.has(option)).toSorted();
    expect([name, own(inText)]).toEqual([name, own(inTable)]);
  }
});

test("OPS-7 the documentation is searched by words, their beginnings and typos, without a script; queries stay text", async () => {
  const search = async (query: string) => {
    const { html, status, meta } = await documentAt(`/docs/search?q=${encodeURIComponent(query)}`);
    expect([status, meta("robots")]).toEqual([200, "noindex"]);
    expect(meta("description")).toMatch(/^Find pages and sections/);
    const found = [...html.matchAll(/<a href="(\/docs[^"]*)" class="group/g)].map(([, href]) => href);
    return { html, found };
  };
  expect((await search("entrypoint doesn't exist")).found[0]).toBe(
    "/docs/troubleshooting#the-entrypoint--doesnt-exist",
  );
  expect((await search("TOWPATH_GATEWAY_ORIGINS")).found).toContain("/docs/configuration#gateway");
  expect((await search("rollbak")).found.length).toBeGreaterThan(0);
  expect((await search("environ")).found).toContain("/docs/variables#set-them");
  expect((await search("rate limited")).html).toContain("<mark");
  const none = await search("<script>alert(1)</script> zzzzqq");
  expect([none.found, none.html.includes("<script>alert")]).toEqual([[], false]);
  expect(none.html).toContain("No results");
  expect((await search("")).found).toEqual([]);
});
