import { z } from "zod";

/** A Simple API, and the header with its credentials. */
export type IndexAddress = { readonly url: URL; readonly authorization: string | null };

const named = /^([A-Za-z0-9._-]+)=(.+)$/;
const isIndex = (text: string) => URL.canParse(named.exec(text)?.[2] ?? text);
const indexSetting = z
  .string()
  .refine((text) => text.split(/\s+/).filter(Boolean).every(isIndex), "must be URLs of package indexes")
  .optional();

/** uv's settings of indexes, checked when a process starts. */
export const packageIndexSettings = {
  UV_DEFAULT_INDEX: indexSetting,
  UV_INDEX_URL: indexSetting,
  UV_INDEX: indexSetting,
  UV_EXTRA_INDEX_URL: indexSetting,
};

const standard = "https://pypi.org/simple";

/**
 * The indexes in uv's order: extra ones first. Reads the settings that builds get (`pickBuildEnvironment`), so that
 * people see what builds can install. `packageIndexSettings` has checked the addresses.
 */
export function indexesOf(environment: Readonly<Record<string, string | undefined>>): readonly IndexAddress[] {
  const listed = [environment.UV_INDEX, environment.UV_EXTRA_INDEX_URL].flatMap((value) => value?.split(/\s+/) ?? []);
  const main = environment.UV_DEFAULT_INDEX || environment.UV_INDEX_URL || standard;
  return [...listed, main].filter(Boolean).map((text) => addressOf(text, environment));
}

/** `name=https://…` gives an index a name, under which its credentials may be set. */
function addressOf(text: string, environment: Readonly<Record<string, string | undefined>>): IndexAddress {
  const [, name, address = text] = named.exec(text) ?? [];
  const url = new URL(address);
  const variable = name === undefined ? null : `UV_INDEX_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
  const user = decodeURIComponent(url.username) || (variable && environment[`${variable}_USERNAME`]) || "";
  const password = decodeURIComponent(url.password) || (variable && environment[`${variable}_PASSWORD`]) || "";
  url.username = "";
  url.password = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  const authorization =
    user === "" && password === "" ? null : `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  return { url, authorization };
}
