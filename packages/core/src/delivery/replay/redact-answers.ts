import type { AskServer, CallAnswer } from "@towpath/replay";
import { openSecrets, readDeploymentSecrets, versionsOf } from "@towpath/secrets";
import { createBoundedRedactor, type Redactor, withoutSecretMembers } from "@towpath/secrets/redaction";
import { auditDecryption } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";

/** As of the gateway's. */
const maxBytes = 24 * 1024 * 1024;

/** Of JSON: removes values of variables; `withoutSecrets` also removes members that are named like secrets. */
export type Redaction = {
  readonly values: <Value>(json: Value) => Value;
  readonly withoutSecrets: <Value>(json: Value) => Value;
  /** The server with answers that are redacted. */
  readonly answers: (ask: AskServer) => AskServer;
};

/** Null: the variables are too large to be searched for. */
export type ReadRedaction = () => Promise<Redaction | null>;

/**
 * Removes the values of both deployments' variables from answers, and members that are named like secrets: what is compared,
 * stored, shown and sent to a model has none. The audit log has the decryption.
 */
export async function readRedaction(
  ctx: Context<"secrets">,
  of: { readonly organizationId: string; readonly projectId: string; readonly deploymentIds: readonly string[] },
): Promise<Redaction | null> {
  const { organizationId, projectId } = of;
  const redactors: Redactor[] = [];
  for (const deploymentId of of.deploymentIds) {
    const stored = await readDeploymentSecrets(ctx.db.$client, deploymentId);
    if (stored === null || stored.secrets.length === 0) continue;
    await auditDecryption(ctx, {
      organizationId,
      projectId,
      action: "secret.decrypt",
      subject: deploymentId,
      detail: { reason: "redaction", versions: versionsOf(stored) },
    });
    const redactor = await createBoundedRedactor(openSecrets(ctx.secrets, stored), maxBytes);
    if (redactor === null) return null;
    redactors.push(redactor);
  }
  const text = (value: string) => redactors.reduce((kept, redactor) => redactor.text(kept), value);
  const values = <Value>(json: Value) => redactors.reduce<unknown>((kept, each) => each.json(kept), json) as Value;
  const withoutSecrets = <Value>(json: Value) => values(withoutSecretMembers(json) as Value);
  const redact = { text, json: withoutSecrets };
  return {
    values,
    withoutSecrets,
    answers: (ask) => async (call, signal) => redacted(await ask(call, signal), redact),
  };
}

type Redact = { readonly text: (value: string) => string; readonly json: Redaction["withoutSecrets"] };

function redacted(answer: CallAnswer, { text, json }: Redact): CallAnswer {
  if (answer.kind === "result") return { ...answer, result: json(answer.result) };
  return answer.kind === "error"
    ? { ...answer, message: text(answer.message) }
    : { ...answer, reason: text(answer.reason) };
}
