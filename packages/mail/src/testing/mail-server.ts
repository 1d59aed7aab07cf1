import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";

/** A received message: the envelope, and the parsed content. */
type ReceivedMail = { readonly from: string; readonly to: string; readonly content: Email };

export type MailServer = {
  /** For TOWPATH_SMTP_URL. */
  readonly url: string;
  /** Oldest first. */
  readonly mails: readonly ReceivedMail[];
  /** The `count`th message to an address; waits for it. */
  next(to: string, count?: number): Promise<ReceivedMail>;
  stop(): Promise<void>;
};

type Behavior = {
  /** Answers a recipient with an error, such as `550`; null accepts. */
  readonly refuse?: (address: string) => { readonly code: number; readonly message: string } | null;
  /** Delay before a message is accepted. */
  readonly delayMs?: number;
};

const patienceMs = 30_000;

/** A real SMTP server on loopback that keeps what it receives. */
export async function startMailServer({ refuse, delayMs = 0 }: Behavior = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo({ address }, _session, done) {
      const refusal = refuse?.(address);
      done(refusal ? Object.assign(new Error(refusal.message), { responseCode: refusal.code }) : null);
    },
    onData(stream, session, done) {
      const read = async () => {
        const content = await PostalMime.parse(await text(stream));
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : "";
        for (const { address } of session.envelope.rcptTo) mails.push({ from, to: address, content });
      };
      read().then(() => done(), done);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    async next(to, count = 1) {
      const end = Date.now() + patienceMs;
      for (;;) {
        const found = mails.filter((mail) => mail.to === to)[count - 1];
        if (found) return found;
        if (Date.now() > end) throw new Error(`no message ${count} to ${to}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
