import { expect, test } from "vitest";
import { installLinks } from "./install-links.ts";

const url = "https://lock-keeper.example.com/mcp";
const configOf = (href: string) =>
  JSON.parse(Buffer.from(new URL(href).searchParams.get("config") ?? "", "base64").toString());

test("PRJ-15 each link carries the server's name and URL in its client's form", () => {
  const links = Object.fromEntries(installLinks({ name: "lock-keeper", url }).map(({ id, href }) => [id, href]));
  for (const id of ["cursor", "lm-studio"]) {
    const href = links[id] ?? "";
    expect([id, new URL(href).searchParams.get("name"), configOf(href)]).toEqual([id, "lock-keeper", { url }]);
  }
  expect(links.cursor).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?/);
  const [scheme, json = ""] = links.vscode?.split("?") ?? [];
  expect([scheme, JSON.parse(decodeURIComponent(json))]).toEqual([
    "vscode:mcp/install",
    { name: "lock-keeper", type: "http", url },
  ]);
});

test.each(["a&config=evil", 'x" onclick="1', "ü#frag?y=1", "</a>", "名前"])(
  "PRJ-15 no name breaks out of a link: %s",
  (name) => {
    for (const { id, href } of installLinks({ name, url })) {
      expect([id, /^[\w:/.?=&%~!'()*-]+$/.test(href)]).toEqual([id, true]);
      const parameters = new URL(href).searchParams;
      if (id === "vscode") expect(JSON.parse(decodeURIComponent(href.split("?")[1] ?? "")).name).toBe(name);
      else expect([[...parameters.keys()], parameters.get("name")]).toEqual([["name", "config"], name]);
    }
  },
);
