import { html } from "hono/html";
import type { ForgeConfig } from "../config.ts";
import type { Account } from "../state/accounts.ts";
import type { Repository } from "../state/repositories.ts";
import { pushToken } from "../state/tokens.ts";
import { copyable, type Html } from "./layout.ts";

function urlWithToken(config: ForgeConfig, owner: Account, repository: Repository): string {
  const url = new URL(`${config.url}/${repository.owner}/${repository.name}.git`);
  url.username = owner.login;
  url.password = pushToken(config.app.clientSecret, owner);
  return url.href;
}

/** For the owner: how a folder on this machine gets here. */
export function pushInstructions(config: ForgeConfig, owner: Account, repository: Repository): Html {
  const remote = urlWithToken(config, owner, repository);
  const branch = repository.default_branch;
  const existing = `git remote add towpath ${remote}\ngit push -u towpath HEAD:${branch}`;
  const fresh = `git init -b ${branch}\ngit add .\ngit commit -m "First commit"\ngit remote add towpath ${remote}\ngit push -u towpath ${branch}`;
  return html`
    <h2>Push a repository that you have</h2>
    <p class="soft small">In its folder. The address holds your push token; git keeps it in the folder's settings, .git/config.</p>
    ${copyable("Commands to push an existing repository", existing)}
    <h2>Push a folder that is no repository yet</h2>
    ${copyable("Commands to push a new repository", fresh)}
    <details><summary>Without the token in the address</summary>
      <p class="small">Use the address without it; git then asks once for user name and password.</p>
      ${copyable("User name and push token", `user name: ${owner.login}\npassword:  ${pushToken(config.app.clientSecret, owner)}`)}
    </details>`;
}
