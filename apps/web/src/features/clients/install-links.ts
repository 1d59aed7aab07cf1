export type InstallLink = {
  readonly id: "cursor" | "vscode" | "lm-studio";
  readonly client: string;
  /** Opens the client, which asks the user before it adds the server. */
  readonly href: string;
};

/**
 * One-click links for the clients that have a scheme for them. They hold the server's name and URL and never a key:
 * clients sign in, or ask for one. Every part is encoded, so that no name can add a parameter or end the link.
 *
 * @see https://docs.cursor.com/en/tools/developers and https://code.visualstudio.com/api/extension-guides/ai/mcp
 */
export function installLinks({ name, url }: { readonly name: string; readonly url: string }): readonly InstallLink[] {
  const base64 = (config: unknown) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(config))));
  const query = (config: unknown) => `name=${encodeURIComponent(name)}&config=${encodeURIComponent(base64(config))}`;
  const vscode = encodeURIComponent(JSON.stringify({ name, type: "http", url }));
  return [
    { id: "cursor", client: "Cursor", href: `cursor://anysphere.cursor-deeplink/mcp/install?${query({ url })}` },
    { id: "vscode", client: "VS Code", href: `vscode:mcp/install?${vscode}` },
    { id: "lm-studio", client: "LM Studio", href: `lmstudio://add_mcp?${query({ url })}` },
  ];
}
