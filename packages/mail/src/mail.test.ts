import type { Mail } from "@towpath/core/ports";
import { memoryQueue, refusalCode } from "@towpath/core/testing";
import { mailMessage } from "@towpath/db/schema";
import { createTestDatabase, openTestDatabase } from "@towpath/db/testing";
import { openJobQueue, openWorkerQueue } from "@towpath/queue";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { createMailSender, createMailTransport, deliverMail, mailConfigSchema } from "./index.ts";
import { alertLimits, mailLimits } from "./mail-sender.ts";
import { type MailServer, startMailServer } from "./testing/mail-server.ts";

const secret = "a root secret for tests, at least 32 characters";
const secrets = { current: secret, previous: [] };
const from = "Towpath <mail@towpath.example>";

const database = openTestDatabase();
let server: MailServer;
let attempts = 0;
beforeAll(async () => {
  server = await startMailServer({
    refuse(address) {
      if (address.startsWith("nobody")) return { code: 550, message: "No such mailbox" };
      if (address.startsWith("greylisted") && attempts++ === 0) return { code: 451, message: "Try again later" };
      return null;
    },
  });
});
afterAll(async () => {
  await server.stop();
});

const someone = (name = "ada") => `${name}-${crypto.randomUUID()}@example.com`;
const message = (to: string, more: Partial<Mail> = {}): Mail => ({
  purpose: "invitation",
  to,
  sender: null,
  subject: "Join Acme",
  paragraphs: ["Ada invites you."],
  action: { label: "Accept", url: "https://towpath.example/invitations/1?token=t0ken" },
  footnote: "Ignore it if you don't know them.",
  ...more,
});
const sender = (now?: () => Date) =>
  createMailSender({ db: database.db, queue: memoryQueue(), secret, ...(now && { now }) });
const deliver = (mailId: string, more: { smtpUrl?: string; now?: () => Date } = {}) => {
  const transport = createMailTransport({ smtpUrl: more.smtpUrl ?? server.url, from });
  return deliverMail({ db: database.db, secrets, transport, ...more }, mailId);
};
const stored = async (id: string) => (await database.db.select().from(mailMessage).where(eq(mailMessage.id, id)))[0];

test("ORG-6 a message arrives as text and HTML with its link, and its content is erased then", async () => {
  const to = someone();
  const { id } = await sender().send(message(to));
  const waiting = JSON.stringify(await stored(id));
  expect([waiting.includes("t0ken"), waiting.includes(to)]).toEqual([false, false]);
  expect(await deliver(id)).toBe("sent");
  const mail = await server.next(to);
  expect(mail.from).toBe("mail@towpath.example");
  expect(mail.content).toMatchObject({
    subject: "Join Acme",
    from: { name: "Towpath" },
    messageId: `<${id}@towpath.example>`,
  });
  for (const text of [mail.content.text, mail.content.html]) {
    for (const part of [
      "Ada invites you.",
      "https://towpath.example/invitations/1?token=t0ken",
      "Ignore it if you don",
    ]) {
      expect(text).toContain(part);
    }
  }
  expect(await stored(id)).toMatchObject({ status: "sent", sealed: null, problem: null });
  expect(await deliver(id)).toBe("settled");
  expect(server.mails.filter((each) => each.to === to)).toHaveLength(1);
});

test("ORG-6 texts of tenants are neither headers nor HTML", async () => {
  const to = someone();
  const hostile = "Acme\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script><img src=x>";
  const { id } = await sender().send(message(to, { subject: hostile, paragraphs: [hostile] }));
  await deliver(id);
  const { content } = await server.next(to);
  expect(server.mails.filter((each) => each.to === "victim@example.com")).toEqual([]);
  expect(content.headers.map(({ key }) => key)).not.toContain("bcc");
  expect(content.subject).toContain("Acme Bcc: victim@example.com");
  expect(content.html).not.toMatch(/<(script|img)/);
});

test("ORG-6 a mailbox that doesn't exist fails at once, and the mail server's reason is kept", async () => {
  const { id } = await sender().send(message(someone("nobody")));
  expect(await deliver(id)).toBe("failed");
  expect(await stored(id)).toMatchObject({
    status: "failed",
    sealed: null,
    problem: expect.stringContaining("No such mailbox"),
  });
});

test("ORG-6 temporary failures are retried: a server that answers later, and one that is unreachable", async () => {
  const later = await sender().send(message(someone("greylisted")));
  await expect(deliver(later.id)).rejects.toThrow("Try again later");
  expect((await stored(later.id))?.status).toBe("queued");
  expect(await deliver(later.id)).toBe("sent");
  const { id } = await sender().send(message(someone()));
  const unreachable = { smtpUrl: "smtp://127.0.0.1:1" };
  await expect(deliver(id, unreachable)).rejects.toThrow();
  const sevenHoursLater = () => new Date(Date.now() + 7 * 3_600_000);
  expect(await deliver(id, { ...unreachable, now: sevenHoursLater })).toBe("failed");
  expect(await stored(id)).toMatchObject({ sealed: null, problem: expect.stringContaining("could not be reached") });
});

test("ORG-6 a worker without a mail server, or with another secret, says why nothing was sent", async () => {
  const [one, two] = [await sender().send(message(someone())), await sender().send(message(someone()))];
  expect(await deliverMail({ db: database.db, secrets, transport: null }, one.id)).toBe("failed");
  expect((await stored(one.id))?.problem).toContain("TOWPATH_SMTP_URL");
  const transport = createMailTransport({ smtpUrl: server.url, from });
  const other = "another root secret, of at least 32 characters";
  const rotated = { db: database.db, transport, secrets: { current: other, previous: [] } };
  expect(await deliverMail(rotated, two.id)).toBe("failed");
  const three = await sender().send(message(someone()));
  const overlapping = { ...rotated, secrets: { current: other, previous: [secret] } };
  expect(await deliverMail(overlapping, three.id)).toBe("sent");
});

test("ORG-6 one mailbox gets a few messages in an hour, however it is spelled, and at once", async () => {
  const to = someone();
  const { recipientPerHour, recipientPerDay } = mailLimits;
  const both = [to, to.toUpperCase()];
  const sends = Array.from({ length: recipientPerHour + 3 }, (_, at) => sender().send(message(both[at % 2] ?? to)));
  const refused = (await Promise.allSettled(sends)).filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(3);
  for (let hour = 1; hour <= 3; hour++) {
    const now = () => new Date(Date.now() + hour * 3_601_000);
    for (let count = 0; count < recipientPerHour; count++) await sender(now).send(message(to));
  }
  const stillToday = () => new Date(Date.now() + 5 * 3_600_000);
  expect(recipientPerDay).toBe(4 * recipientPerHour);
  expect(await refusalCode(sender(stillToday).send(message(to)))).toBe("limit_reached");
  const tomorrow = () => new Date(Date.now() + 30 * 3_600_000);
  await sender(tomorrow).send(message(to));
});

test("CAP-6 alerts have a limit of their own: they don't keep a person from other mail, nor other mail from alerts", async () => {
  const to = someone();
  const alert = () => sender().send(message(to, { purpose: "alert" }));
  for (let count = 0; count < alertLimits.recipientPerHour; count++) await alert();
  expect(await refusalCode(alert())).toBe("limit_reached");
  const reset = () => sender().send(message(to, { purpose: "password-reset" }));
  for (let count = 0; count < mailLimits.recipientPerHour; count++) await reset();
  expect(await refusalCode(reset())).toBe("limit_reached");
});

test.runIf(isThorough)(
  "ORG-6 mail to strangers is limited per sender; mail that people request for themselves is not",
  async () => {
    const own = await createTestDatabase();
    try {
      const send = createMailSender({ db: own.db, queue: memoryQueue(), secret }).send;
      for (let count = 0; count < mailLimits.senderPerDay; count++)
        await send(message(someone(), { sender: "user:1" }));
      expect(await refusalCode(send(message(someone(), { sender: "user:1" })))).toBe("limit_reached");
      const left = mailLimits.sendersPerHour - mailLimits.senderPerDay;
      for (let count = 0; count < left; count++) await send(message(someone(), { sender: `user:${count + 2}` }));
      expect(await refusalCode(send(message(someone(), { sender: "user:9999" })))).toBe("limit_reached");
      await send(message(someone(), { purpose: "password-reset" }));
    } finally {
      await own.close();
    }
  },
);

test("ORG-6 through the queue: it is sent only if the change commits, and a slow mail server delays nobody", async () => {
  const slow = await startMailServer({ delayMs: 1500 });
  const onProblem = () => {};
  const queue = await openJobQueue({ databaseUrl: database.url, onProblem });
  const workers = await openWorkerQueue({ databaseUrl: database.url, onProblem });
  const transport = createMailTransport({ smtpUrl: slow.url, from });
  const idle = async () => {};
  await workers.work({
    concurrency: {
      "webhook.process": 1,
      "branch.sync": 1,
      "installation.sync": 1,
      "source.check": 1,
      "branch.report": 1,
      "repository.leave": 1,
      "calls.replay": 1,
      "build.run": 1,
      "mail.send": 4,
    },
    handlers: {
      "webhook.process": idle,
      "branch.sync": idle,
      "installation.sync": idle,
      "source.check": idle,
      "branch.report": idle,
      "repository.leave": idle,
      "calls.replay": idle,
      "build.run": idle,
      "mail.send": async ({ mailId }) => void (await deliverMail({ db: database.db, secrets, transport }, mailId)),
    },
  });
  const { send } = createMailSender({ db: database.db, queue, secret });
  const [kept, lost] = [someone(), someone()];
  const rolledBack = database.db.transaction(async (tx) => {
    await send(message(lost), tx);
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  const { id } = await database.db.transaction((tx) => send(message(kept), tx));
  expect((await stored(id))?.status).toBe("queued");
  await slow.next(kept);
  await expect.poll(async () => (await stored(id))?.status).toBe("sent");
  expect(slow.mails.map(({ to }) => to)).toEqual([kept]);
  await workers.stop(2000);
  await queue.close();
  await slow.stop();
});

test.each([
  [{}, null],
  [{ TOWPATH_SMTP_URL: "smtp://u:p@mail.example:587", TOWPATH_MAIL_FROM: "a@b.example" }, "a@b.example"],
  [{ TOWPATH_SMTP_URL: "smtps://mail.example", TOWPATH_MAIL_FROM: from }, from],
])("OPS-1 the settings of mail: %j", (environment, expected) => {
  expect(mailConfigSchema.parse(environment)?.from ?? null).toBe(expected);
});

test.each([
  [{ TOWPATH_SMTP_URL: "smtp://mail.example" }, "TOWPATH_MAIL_FROM"],
  [{ TOWPATH_MAIL_FROM: "a@b.example" }, "TOWPATH_SMTP_URL"],
  [{ TOWPATH_SMTP_URL: "http://mail.example", TOWPATH_MAIL_FROM: "a@b.example" }, "TOWPATH_SMTP_URL"],
  [{ TOWPATH_SMTP_URL: "smtp://mail.example", TOWPATH_MAIL_FROM: "Towpath <nobody>" }, "TOWPATH_MAIL_FROM"],
])("OPS-1 settings of mail that can't be right are named: %j", (environment, name) => {
  const { error } = mailConfigSchema.safeParse(environment);
  expect(error?.issues.map(({ path }) => path.join("."))).toEqual([name]);
});
