import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { ServerHost } from "../../ports/index.ts";

/** What starts servers. @throws TowpathError `not_configured` in a process without a way to the runner */
export function requireServerHost({ serverHost }: Context<"serverHost">): ServerHost {
  if (serverHost) return serverHost;
  throw new TowpathError(
    "not_configured",
    "This process can't reach the runner, which starts servers. Ask the operator to set TOWPATH_RUN_DIR or TOWPATH_RUNNER_ADDRESS for web.",
  );
}
