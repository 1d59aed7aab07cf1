/** Git hosts with known page URLs. */
export const hostKinds = ["github", "gitlab", "gitea", "bitbucket"] as const;
export type HostKind = (typeof hostKinds)[number];

export const hostNames: Readonly<Record<HostKind, string>> = {
  github: "GitHub",
  gitlab: "GitLab",
  bitbucket: "Bitbucket",
  gitea: "Gitea or Forgejo",
};

const patterns: readonly (readonly [RegExp, HostKind])[] = [
  [/(^|\.)github\./, "github"],
  [/(^|\.)gitlab\./, "gitlab"],
  [/^bitbucket\.org$/, "bitbucket"],
  [/(^|\.)(gitea|forgejo)\.|^codeberg\.org$/, "gitea"],
];

/** Null for other host names, whose software is unknown. */
export const hostKindOf = (hostname: string): HostKind | null =>
  patterns.find(([pattern]) => pattern.test(hostname))?.[1] ?? null;

/** The repository's page at the host. Null for SSH at an unknown host, whose web pages may be elsewhere. */
export function pageOf(url: string): string | null {
  const { protocol, hostname, host, pathname } = new URL(url);
  const path = pathname.replace(/\.git$/, "");
  if (protocol !== "ssh:") return `${protocol}//${host}${path}`;
  return hostKindOf(hostname) === null ? null : `https://${hostname}${path}`;
}

type Place = { readonly sha: string; readonly path: string; readonly line: number | null };

/** Pages of a repository's code; null where the host has no known page. */
export type CodePages = {
  readonly home: string | null;
  commit(sha: string): string | null;
  branch(name: string): string | null;
  pull(number: number | string): string | null;
  file(place: Place): string | null;
};

type Shapes = { readonly commit: string; readonly branch: string; readonly file: string; readonly line: string };

const shapes: Readonly<Record<HostKind, Shapes>> = {
  github: { commit: "commit", branch: "tree", file: "blob", line: "#L" },
  gitlab: { commit: "-/commit", branch: "-/tree", file: "-/blob", line: "#L" },
  bitbucket: { commit: "commits", branch: "src", file: "src", line: "#lines-" },
  gitea: { commit: "commit", branch: "src/branch", file: "src/commit", line: "#L" },
};

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** `home`: the repository's page; null: none. `kind`: null: only that page is known. */
export function codePages(home: string | null, kind: HostKind | null): CodePages {
  const shape = kind && shapes[kind];
  const at = (path: string) => (shape && home !== null ? `${home}/${path}` : null);
  return {
    home,
    commit: (sha) => at(`${shape?.commit}/${sha}`),
    branch: (name) => at(`${shape?.branch}/${encoded(name)}`),
    pull: (number) => (kind === "github" ? at(`pull/${number}`) : null),
    file: ({ sha, path, line }) =>
      at(`${shape?.file}/${sha}/${encoded(path)}${line === null ? "" : `${shape?.line}${line}`}`),
  };
}

type Task = "deployKey" | "token" | "webhook";

const settingsPaths: Readonly<Record<HostKind, Readonly<Record<Task, string>>>> = {
  github: {
    deployKey: "settings/keys/new",
    token: "/settings/personal-access-tokens/new",
    webhook: "settings/hooks/new",
  },
  gitlab: { deployKey: "-/settings/repository", token: "-/settings/access_tokens", webhook: "-/hooks" },
  bitbucket: { deployKey: "admin/access-keys/", token: "admin/access-tokens", webhook: "admin/webhooks" },
  gitea: { deployKey: "settings/keys", token: "/user/settings/applications", webhook: "settings/hooks" },
};

/** The host's page for a task of the repository's owner; null for an unknown host. */
export function settingsPage(url: string, task: Task): string | null {
  const kind = hostKindOf(new URL(url).hostname);
  const home = pageOf(url);
  if (kind === null || home === null) return null;
  const path = settingsPaths[kind][task];
  return path.startsWith("/") ? `${new URL(home).origin}${path}` : `${home}/${path}`;
}
