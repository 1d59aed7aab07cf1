import { isObject, type Json } from "~/features/shared/project-screen/json.ts";

const prefix = "args=";
/** Maximum length of the address: messengers truncate longer ones. */
const maxLength = 8_000;

/** The fragment of an address that carries arguments: it never reaches a server. Null: too long for an address. */
export function fragmentOf(args: Readonly<Record<string, unknown>>): string | null {
  const bytes = new TextEncoder().encode(JSON.stringify(args));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const fragment =
    prefix +
    text
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replace(/={1,2}$/, "");
  return fragment.length > maxLength ? null : fragment;
}

/** The arguments in an address; null without valid ones. Untrusted: anybody may have written it. */
export function argumentsIn(fragment: string): Json | null {
  const text = fragment.replace(/^#/, "");
  if (!text.startsWith(prefix) || text.length > maxLength) return null;
  try {
    const binary = atob(text.slice(prefix.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const args: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(args) ? args : null;
  } catch {
    return null;
  }
}
