import { codeGuides } from "./code-guides.ts";
import { editorGuides } from "./editor-guides.ts";
import {
  type ClientAccess,
  type ClientGuide,
  type ConnectableServer,
  type GuideInput,
  placeholderKey,
} from "./guide-types.ts";
import { hostedGuides } from "./hosted-guides.ts";
import { terminalGuides } from "./terminal-guides.ts";

/**
 * How to connect each client to a server (PRJ-15), in display order. Names and URLs are quoted for their context, so
 * none can break out of it.
 */
export function clientGuides(server: ConnectableServer, access: ClientAccess): readonly ClientGuide[] {
  const input: GuideInput = {
    ...server,
    access,
    headers: access.way === "key" ? { Authorization: `Bearer ${access.key}` } : null,
    key: access.way === "open" ? null : access.key,
  };
  return [...editorGuides(input), ...hostedGuides(input), ...terminalGuides(input), ...codeGuides(input)];
}

/** Access to a server of that mode by a person without a key at hand. */
export function accessOf(authMode: "passthrough" | "towpath-cloud" | "towpath-public"): ClientAccess {
  return authMode === "towpath-cloud" ? { way: "sign-in", key: placeholderKey } : { way: "open" };
}
