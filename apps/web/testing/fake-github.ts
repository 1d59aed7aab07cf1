import { createServer } from "node:http";

type FakeInstallation = {
  readonly id: number;
  readonly login: string;
  readonly suspended?: boolean;
  /** The user's membership if the account is an organization. `hidden`: the App may not read it. */
  readonly membership?: "admin" | "member" | "pending admin" | "none" | "hidden";
};
export type FakeUser = {
  readonly id: number;
  readonly login: string;
  readonly installations: readonly FakeInstallation[];
};

/** The part of GitHub that authorizes users. A code starts with the user's login and works once. */
export async function startFakeGitHub(port: number, users: readonly FakeUser[]): Promise<{ stop(): Promise<void> }> {
  const used = new Set<string>();
  const account = (id: number, login: string, type = "User") => ({
    id,
    login,
    type,
    avatar_url: "https://example.com/a.png",
  });
  const membership = ({ login, membership: kind }: FakeInstallation): unknown => {
    if (kind === "hidden") return "forbidden";
    if (!kind || kind === "none") return null;
    const [role, state] = kind === "pending admin" ? ["admin", "pending"] : [kind, "active"];
    return { state, role, organization: { id: 999, login } };
  };
  const answer = (path: string, authorization: string, body: string): unknown => {
    if (path === "/login/oauth/access_token") {
      const code = String(JSON.parse(body).code);
      if (used.has(code) || !users.some(({ login }) => code.startsWith(login)))
        return { error: "bad_verification_code" };
      used.add(code);
      return { access_token: code, expires_in: 28_800 };
    }
    const user = users.find(({ login }) => authorization.startsWith(`Bearer ${login}`));
    if (!user) return null;
    if (path === "/api/v3/user") return { ...account(user.id, user.login), name: null, email: null };
    const [, organization] = /^\/api\/v3\/user\/memberships\/orgs\/([\w-]+)$/.exec(path) ?? [];
    const asked = user.installations.find(({ login }) => login === organization);
    if (asked) return membership(asked);
    if (path !== "/api/v3/user/installations") return null;
    const installations = user.installations.map(({ id, login, suspended, membership: kind }) => ({
      id,
      account: account(users.find((known) => known.login === login)?.id ?? 999, login, kind ? "Organization" : "User"),
      repository_selection: "all",
      html_url: `https://example.com/installations/${id}`,
      suspended_at: suspended ? "2026-01-01T00:00:00Z" : null,
    }));
    return { total_count: installations.length, installations };
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const value = answer(path, request.headers.authorization ?? "", body);
    response.writeHead(value === null ? 404 : value === "forbidden" ? 403 : 200, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify(value ?? { message: "Not Found" }));
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  return {
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
