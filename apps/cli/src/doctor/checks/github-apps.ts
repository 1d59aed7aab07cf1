import { appHealth, createGitHub, environmentWebhookPath, optionalGitHubConfig } from "@towpath/github";
import { type CheckedApp, listApps } from "../../github/github.ts";
import { openApi } from "../../instance/api.ts";
import type { Facts } from "../facts.ts";
import { type Check, type Finding, fix, invalidSettings, notNeeded, ok } from "../finding.ts";

/** Keys, permissions and webhooks of the GitHub Apps, as their hosts see them. */
export const gitHubApps: Check = async (facts) => {
  const { options, running } = facts;
  if (running === null) return environmentApp(facts);
  // The instance knows also those that were connected in the dashboard.
  const apps = await listApps(openApi(options.dataDirectory));
  if (apps.length === 0) return [notNeeded("GitHub App", "none is connected")];
  return apps.flatMap(({ slug, problems, notes }) => findingsOf(slug, problems, notes));
};

async function environmentApp({ settings, options }: Facts): Promise<readonly Finding[]> {
  const parsed = optionalGitHubConfig.safeParse(settings);
  if (!parsed.success) return [invalidSettings("GitHub App", parsed)];
  if (parsed.data === null)
    return [
      notNeeded("GitHub App", "none is set; those that were connected in the dashboard are checked while it runs"),
    ];
  const { problems, notes } = await appHealth({
    github: createGitHub(parsed.data),
    instanceUrl: options.url,
    webhookPath: environmentWebhookPath,
    now: new Date(),
  });
  return findingsOf(parsed.data.appSlug, problems, notes);
}

function findingsOf(
  slug: string,
  problems: readonly CheckedApp["problems"][number][],
  notes: readonly string[],
): readonly Finding[] {
  const name = `GitHub App ${slug}`;
  if (problems.length === 0) return [ok(name, notes.join(" ") || "works")];
  return problems.map(({ title, detail, url }) => fix(name, title, url === null ? detail : `${detail} ${url}`));
}
