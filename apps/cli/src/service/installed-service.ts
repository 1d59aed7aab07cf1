import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Environment } from "../up/options.ts";

export const serviceName = "towpath.service";

/** Where a service is kept. */
export type ServicePlaces = { readonly unitFile: string; readonly settingsFile: string };

export const systemPlaces: ServicePlaces = {
  unitFile: `/etc/systemd/system/${serviceName}`,
  settingsFile: "/etc/towpath/towpath.env",
};

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** The value of a line that `unitOf` wrote. */
const valueIn = (unit: string, key: string): string | null =>
  unit
    .split("\n")
    .find((line) => line.startsWith(`${key}=`))
    ?.slice(key.length + 1)
    .replace(/^"(.*)"$/, "$1")
    .replaceAll(/\\(.)/g, "$1")
    .replaceAll("%%", "%") ?? null;

/** The settings of the installed service; empty without one, and for who may not read them. */
export function serviceEnvironment({ unitFile }: ServicePlaces = systemPlaces): Environment {
  const unit = textOf(unitFile);
  const [name = "", ...rest] = (valueIn(unit, "Environment") ?? "").split("=");
  const settingsFile = valueIn(unit, "EnvironmentFile");
  return {
    ...(name === "" ? {} : { [name]: rest.join("=") }),
    ...(settingsFile === null ? {} : parseEnv(textOf(settingsFile))),
  };
}

/** Where the installed service keeps its data; null without one. */
export const serviceDataDirectory = (): string | null => serviceEnvironment().TOWPATH_DATA_DIR ?? null;
