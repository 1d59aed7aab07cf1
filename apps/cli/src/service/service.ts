import { resolve } from "node:path";
import { parse } from "../commands/parse.ts";
import { repositoryRoot } from "../repository-root.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { orList } from "../terminal/or-list.ts";
import { print, UsageError } from "../terminal/terminal.ts";
import { builtWeb } from "../up/web-build.ts";
import { type ServiceAction, serviceActions } from "./actions.ts";
import { installService, uninstallService } from "./install.ts";
import { serviceName, systemPlaces } from "./installed-service.ts";
import { requireSystemd, show } from "./systemd.ts";
import { type ServiceSettings, unitOf } from "./unit.ts";

const ofInstall = ["user", "data-dir", "env-file", "print"] as const;

/** `towpath service install | status | logs | uninstall`: `up` as a service of systemd. */
export async function service(args: string[]): Promise<number> {
  const { values, positionals } = parse("service", args);
  const [given = ""] = positionals;
  const action = serviceActions.find((each) => each === given);
  if (!action) throw new UsageError(`${given} is not ${orList(serviceActions)}.${didYouMean(given, serviceActions)}`);
  const extra = ofInstall.find((name) => values[name] !== undefined);
  if (extra !== undefined && action !== "install") throw new UsageError(`--${extra} is for install only.`);
  const settings: ServiceSettings = {
    root: repositoryRoot.replace(/\/$/, ""),
    user: values.user ?? "root",
    dataDirectory: resolve(values["data-dir"] ?? "/var/lib/towpath"),
    settingsFile: resolve(values["env-file"] ?? systemPlaces.settingsFile),
  };
  if (values.print) {
    print(unitOf(settings).trimEnd());
    return 0;
  }
  requireSystemd();
  return await actions[action](settings);
}

const actions: Readonly<Record<ServiceAction, (settings: ServiceSettings) => Promise<number>>> = {
  install: async (settings) => {
    // The service's user may not write to the checkout.
    await builtWeb();
    await installService(settings, systemPlaces);
    return 0;
  },
  status: () => show("systemctl", "status", "--no-pager", serviceName),
  logs: () => show("journalctl", "--unit", serviceName, "--lines", "200", "--follow"),
  uninstall: async () => {
    await uninstallService(systemPlaces);
    return 0;
  },
};
