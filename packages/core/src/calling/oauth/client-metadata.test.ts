import { expect, test } from "vitest";
import { parseClientMetadata } from "./client-metadata.ts";
import { OAuthError } from "./oauth-error.ts";
import { isAllowedRedirectUri, isRegisteredRedirectUri, redirectHost } from "./redirect-uri.ts";

/** Registration bodies as clients send them. */
const bodies = {
  Claude: {
    client_name: "Claude",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "claudeai",
  },
  "Claude Code": {
    client_name: "Claude Code (towpath)",
    redirect_uris: ["http://localhost:54545/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  Cursor: {
    client_name: "Cursor",
    redirect_uris: [
      "cursor://anysphere.cursor-mcp/oauth/callback",
      "https://www.cursor.com/agents/mcp/oauth/callback",
      "http://localhost:8787/callback",
    ],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  "VS Code": {
    client_name: "Visual Studio Code",
    client_uri: "https://code.visualstudio.com",
    grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    response_types: ["code"],
    redirect_uris: [
      "https://insiders.vscode.dev/redirect",
      "https://vscode.dev/redirect",
      "http://127.0.0.1/",
      "http://127.0.0.1:33418/",
    ],
    scope: "openid profile",
    token_endpoint_auth_method: "none",
    application_type: "native",
  },
  ChatGPT: {
    client_name: "ChatGPT",
    redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "client_secret_post",
  },
  "an older TypeScript SDK": {
    client_name: "MCP Inspector",
    client_uri: "https://github.com/modelcontextprotocol/inspector",
    redirect_uris: ["http://localhost:6274/oauth/callback"],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: "",
  },
  "an older Python SDK": {
    redirect_uris: ["http://localhost:3030/callback"],
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: "user",
    client_name: null,
    client_uri: null,
    contacts: null,
    jwks: null,
  },
  "mcp-remote": {
    client_name: "MCP CLI Proxy",
    client_uri: "https://github.com/modelcontextprotocol/mcp-cli",
    redirect_uris: ["http://localhost:3334/oauth/callback"],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    software_id: "2e6dc280-f3c3-4e01-99a7-8181dbd1d23d",
    software_version: "0.1.29",
  },
  "a client that says only where to return": { redirect_uris: ["https://app.example/callback"] },
};

test.each(Object.entries(bodies))("GW-5 the registration of %s is accepted, with its redirect URIs", (_name, body) => {
  const metadata = parseClientMetadata(body, "client_secret_basic");
  expect(metadata.redirectUris).toEqual(body.redirect_uris);
  expect(metadata.grantTypes).toEqual(["authorization_code", "refresh_token"]);
  expect(metadata.name).not.toBe("");
});

function refusal(body: unknown): string {
  try {
    parseClientMetadata(body, "none");
    return "accepted";
  } catch (error) {
    if (error instanceof OAuthError) return error.oauthCode;
    throw error;
  }
}

test("GW-5 registrations that can't work are refused with the code of RFC 7591", () => {
  const good = { redirect_uris: ["https://app.example/callback"] };
  expect(refusal(good)).toBe("accepted");
  for (const redirect_uris of [
    undefined,
    [],
    "https://app.example",
    ["not a url"],
    [7],
    Array(21).fill("https://a.example"),
  ]) {
    expect([redirect_uris, refusal({ redirect_uris })]).toEqual([redirect_uris, "invalid_redirect_uri"]);
  }
  for (const more of [
    { grant_types: ["client_credentials"] },
    { grant_types: ["refresh_token"] },
    { response_types: ["token"] },
    { token_endpoint_auth_method: "private_key_jwt" },
    { token_endpoint_auth_method: 7 },
    { client_name: { toString: "x" } },
  ]) {
    expect([more, refusal({ ...good, ...more })]).toEqual([more, "invalid_client_metadata"]);
  }
  expect(refusal(null)).toBe("invalid_client_metadata");
});

test("GW-5 no redirect URI runs a script, opens a file or goes to another machine without TLS", () => {
  for (const uri of [
    "javascript:alert(1)",
    "JavaScript://x/%0aalert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://a.example/1",
    "about:blank",
    "mailto:a@b.example",
    "ms-msdt:/id",
    "search-ms://query=x&crumb=location:files.example",
    "view-source:https://a.example",
    "intent://a#b",
    "http://app.example/callback",
    "http://localhost.evil.example/",
    "http://127.0.0.2/",
    "http://10.0.0.1/",
    "https://user:password@app.example/",
    "https://app.example/#fragment",
    "https://app.example/#",
    "/callback",
    "",
    "https://app.example/\nx",
    " https://app.example/",
    "https://app.exämple/",
    `https://a.example/${"x".repeat(2000)}`,
    "cursor:callback",
  ]) {
    expect([uri, isAllowedRedirectUri(uri)]).toEqual([uri, false]);
  }
  for (const uri of [
    "com.example.app:/callback",
    "vscode://vscode.mcp/callback",
    "http://[::1]:9/",
    "https://localhost/",
  ]) {
    expect([uri, isAllowedRedirectUri(uri)]).toEqual([uri, true]);
  }
});

test("GW-5 no redirect URI starts a part of an operating system, and those that clients really send are accepted", () => {
  const schemes =
    "ms-msdt ms-settings ms-officecmd ms-word ms-appinstaller ms-excel search search-ms windowsdefender microsoft-edge " +
    "hcp mk res shell its mhtml jar smb cifs nfs ssh sftp telnet ldap rdp vnc dav x-man-page x-apple.systempreferences " +
    "odopen calculator bingmaps itms itmss itms-appss ibooks addressbook podcasts x-web-search feed " +
    "x-help-action help applescript itms-services itms-apps facetime com.apple.tv shortcuts apt appstream snap flatpak " +
    "admin trash intent android-app market content geo sms tel callto magnet web+x file javascript data vbscript blob";
  for (const scheme of schemes.split(" "))
    for (const uri of [`${scheme}://callback`, `${scheme}:/callback`, `${scheme.toUpperCase()}://x/callback`])
      expect([uri, isAllowedRedirectUri(uri)]).toEqual([uri, false]);
  for (const uri of [
    "https://claude.ai/api/mcp/auth_callback",
    "https://claude.com/api/mcp/auth_callback",
    "http://localhost:54545/callback",
    "http://127.0.0.1:33418",
    "https://vscode.dev/redirect",
    "vscode://vscode.github-authentication/did-authenticate",
    "vscode-insiders://x/y",
    "vscodium://x/y",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "windsurf://callback",
    "zed://oauth/callback",
    "goose://oauth",
    "raycast://oauth?package_name=mcp",
    "com.example.app:/callback",
    "ms-appx-web://microsoft.aad.brokerplugin/1",
    "warp://mcp/oauth2callback",
    "chatwise://oauth",
    "lmstudio://oauth",
    "obsidian://mcp",
    "claude://oauth",
    "jetbrains://idea/oauth",
  ])
    expect([uri, isAllowedRedirectUri(uri)]).toEqual([uri, true]);
});

test("GW-5 a redirect URI is compared exactly, but for the port on this machine", () => {
  const registered = ["http://localhost:1/callback", "http://[::1]/callback", "https://app.example/callback"];
  for (const uri of [
    ...registered,
    "http://localhost:54545/callback",
    "http://localhost/callback",
    "http://[::1]:9/callback",
  ]) {
    expect([uri, isRegisteredRedirectUri(registered, uri)]).toEqual([uri, true]);
  }
  for (const uri of [
    "http://127.0.0.1:1/callback",
    "http://localhost:1/callback/",
    "http://localhost:1/callback?x=1",
    "http://localhost:1",
    "https://app.example:8443/callback",
    "https://app.example/callback/..",
    "https://evil.example/callback",
    "http://localhost:1@evil.example/callback",
    "https://app.example.evil.example/callback",
  ]) {
    expect([uri, isRegisteredRedirectUri(registered, uri)]).toEqual([uri, false]);
  }
  // Registered before it was refused.
  for (const uri of ["ms-msdt:/id", "search-ms://query=x", "http://app.example/callback"])
    expect([uri, isRegisteredRedirectUri([uri], uri)]).toEqual([uri, false]);
  expect(redirectHost("cursor://anysphere.cursor-mcp/oauth/callback")).toBe("cursor://anysphere.cursor-mcp");
});

test("GW-5 a client's name is plain text of bounded length", () => {
  const nameOf = (client_name: string) =>
    parseClientMetadata({ client_name, redirect_uris: ["https://app.example/callback"] }, "none").name;
  expect(nameOf("  Claude\n\tDesktop  ")).toBe("Claude Desktop");
  expect(nameOf("evil\u202Eedualc\u200B!")).toBe("evil edualc !");
  expect(nameOf("\u0000\u200B")).toBe("app.example");
  expect(nameOf("x".repeat(500))).toHaveLength(80);
  const uriOf = (client_uri: string) =>
    parseClientMetadata({ client_uri, redirect_uris: ["https://app.example/callback"] }, "none").uri;
  expect(uriOf("javascript:alert(1)")).toBeNull();
});
