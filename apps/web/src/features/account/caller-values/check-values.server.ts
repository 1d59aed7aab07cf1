import { type SigningKeys, signUserJwt } from "@towpath/auth/credentials";
import type { Context } from "@towpath/core/context";
import { listBranchesWithDeployments } from "@towpath/core/delivery/deployment";
import { TowpathError } from "@towpath/core/errors";
import { readCallerCheck, type ValueCheckView } from "@towpath/core/projects/caller-value";
import { readValuesToRedact } from "@towpath/core/projects/secret";
import { type McpClient, McpClientError, openClient } from "@towpath/mcp/client";
import { createRedactor } from "@towpath/secrets/redaction";

/** The client's name in the request log. */
const clientName = "Towpath check of values";
/** A server that starts for it is waited for. */
const checkMs = 60_000;
const maxBytes = 4 * 1024 * 1024;
const maxAnswer = 500;

/**
 * Calls the tool that the server's owner named with the acting person's own values, by the server's public URL: like any
 * call of theirs, it is policed and logged, and reaches their own instance (CAP-1). The answer has no value in it.
 *
 * @throws TowpathError as `readCallerCheck`; `conflict` while nothing is live
 */
export async function checkCallerValues({
  ctx,
  keys,
  input,
}: {
  readonly ctx: Context<"secrets">;
  readonly keys: SigningKeys;
  readonly input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<ValueCheckView> {
  const { probe, caller, keyNames } = await readCallerCheck({ ctx, input });
  const branches = await listBranchesWithDeployments({ ctx, input });
  const live = branches.find(({ isDefault }) => isDefault)?.deployment;
  if (!live) throw new TowpathError("conflict", "Nothing of the server is live, so it can't check values.");
  const values = await readValuesToRedact({ ctx, input: { ...input, deploymentId: live.id } });
  const hide = hiderOf(values, keyNames);
  let client: McpClient | null = null;
  try {
    // The token lives five minutes and never leaves this process and the gateway.
    const { token } = await signUserJwt(keys, caller);
    const target = { url: live.url, headers: { authorization: `Bearer ${token}` } };
    client = await openClient(target, { clientName, timeoutMs: checkMs, maxBytes });
    const { result } = await client.callTool(probe.tool, probe.arguments);
    if (result.isError !== true) return { outcome: "accepted", answer: null };
    return { outcome: "refused", answer: hide(textOf(result)) };
  } catch (error) {
    if (!(error instanceof McpClientError)) throw error;
    return { outcome: "unclear", answer: hide(error.message) };
  } finally {
    await client?.close();
  }
}

/**
 * Removes values from a text. Redaction leaves short ones, as in logs; what a page shows of a server's answer must not have
 * the person's own, those of `keyNames`, however short they are.
 */
function hiderOf(values: Readonly<Record<string, string>>, keyNames: readonly string[]): (text: string) => string {
  const redactor = createRedactor(values);
  const own = keyNames.flatMap((name) => (values[name] ? [{ name, value: values[name] }] : []));
  own.sort((one, other) => other.value.length - one.value.length);
  return (text) => {
    const hidden = own.reduce((rest, { name, value }) => rest.replaceAll(value, `[${name}]`), redactor.text(text));
    return hidden.slice(0, maxAnswer);
  };
}

function textOf({ content }: Readonly<Record<string, unknown>>): string {
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (typeof part?.text === "string" ? [part.text] : [])).join("\n");
}
