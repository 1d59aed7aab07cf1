import { createTransport } from "nodemailer";
import type { MailConfig } from "./mail-config.ts";
import type { RenderedMail } from "./render-mail.ts";

/** Hands messages to a mail server. */
export type MailTransport = {
  /**
   * Resolves once the server has accepted the message. `id` makes its Message-ID. @throws MailRefused, or the failure
   */
  send(message: RenderedMail & { readonly id: string; readonly to: string }): Promise<void>;
};

/** The server refused this message permanently: a retry would fail in the same way. */
export class MailRefused extends Error {
  override readonly name = "MailRefused";
}

const connectMs = 10_000;
const silenceMs = 30_000;

const transportTo = (smtpUrl: string) =>
  createTransport({
    url: smtpUrl,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    // Messages have no attachments, and must not name a file or URL to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });

/** Connects and signs in to the mail server, and sends nothing. @throws Error that says why it can't */
export async function tryMailServer({ smtpUrl }: MailConfig): Promise<void> {
  const transport = transportTo(smtpUrl);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** Sends by SMTP; connects for each message. */
export function createMailTransport({ smtpUrl, from }: MailConfig): MailTransport {
  const transport = transportTo(smtpUrl);
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? "localhost";
  return {
    async send({ id, to, subject, text, html }) {
      const headers = { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" };
      // After a worker was killed a message may be sent twice. Its id is the same, so clients show it once.
      const messageId = `<${id}@${domain}>`;
      try {
        await transport.sendMail({ from, to: { name: "", address: to }, subject, text, html, headers, messageId });
      } catch (error) {
        throw isFinal(error) ? new MailRefused(reasonOf(error)) : error;
      }
    },
  };
}

const textOf = (error: unknown, key: string): unknown =>
  typeof error === "object" && error !== null ? (error as Record<string, unknown>)[key] : undefined;

/**
 * Whether the server answered "permanent failure" (RFC 5321, section 4.2.1) to the message or its recipient. A refused
 * sign-in is retried, as the operator can correct it.
 */
function isFinal(error: unknown): boolean {
  const status = textOf(error, "responseCode");
  return typeof status === "number" && status >= 500 && status < 600 && textOf(error, "code") !== "EAUTH";
}

const maxReason = 200;

/** The server's answer in one line. */
function reasonOf(error: unknown): string {
  const response = textOf(error, "response");
  const reason = typeof response === "string" ? response : error instanceof Error ? error.message : "unknown";
  return reason.replace(/\p{Cc}+/gu, " ").slice(0, maxReason);
}
