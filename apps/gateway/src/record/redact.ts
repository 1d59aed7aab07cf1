import { type Redactor, withoutSecretMembers } from "@towpath/secrets/redaction";
import { completeJson } from "./complete-json.ts";

/** The part of a payload that is kept, bytes. */
export const captureBytes = 64 * 1024;

export type Capture = { payload: unknown; isTruncated: boolean };
const nothing: Capture = { payload: null, isTruncated: false };

/** Stands for a text that could not be searched for the values of variables. No JSON-RPC message is a string. */
export const withheld = "[withheld: the variables of this deployment could not be read, to remove their values]";

/**
 * A payload for the request log: parsed, with secrets replaced; null when it is no JSON. Of more than 64 KiB the
 * beginning is kept, as far as it can be parsed: what is no JSON can't be redacted by the names of its members.
 *
 * @param body the payload, or its beginning, of at least 64 KiB if it is longer than that
 * @param bytes the length of the whole payload
 * @param redactor removes the values of variables (KEY-4); null when they are not known: nothing is kept
 */
export function captureOf(body: Buffer | null, bytes: number, redactor: Redactor | null): Capture {
  if (body === null || body.length === 0) return nothing;
  const isTruncated = bytes > captureBytes || bytes > body.length;
  if (redactor === null) return { payload: withheld, isTruncated };
  const text = body.toString("utf8", 0, captureBytes);
  try {
    const json = isTruncated ? completeJson(text) : text;
    return { payload: redactor.json(withoutSecretMembers(JSON.parse(json)), isTruncated), isTruncated };
  } catch {
    return { payload: null, isTruncated };
  }
}

/** A text of a server for the request log, as `captureOf`. */
export function redactedText(text: string | null, redactor: Redactor | null): string | null {
  if (text === null) return null;
  return redactor === null ? withheld : redactor.text(text);
}
