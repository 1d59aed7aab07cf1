import { type AppHealth, appHealth } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";

/** How the App of a connection is at its host now. */
export async function healthOf(number: number): Promise<AppHealth> {
  const found = await gitHub().find(number);
  if (found) {
    const { baseUrl: instanceUrl } = services().config;
    const { github, webhookPath } = found;
    return appHealth({ github, instanceUrl, webhookPath, now: new Date() });
  }
  const detail =
    "Its keys don't open with this instance's TOWPATH_SECRET. The log has the reason. Remove it and connect again.";
  const problem = { kind: "rejected", title: "The stored keys can't be opened", detail, url: null } as const;
  return { settingsUrl: null, name: null, problems: [problem], notes: [] };
}
