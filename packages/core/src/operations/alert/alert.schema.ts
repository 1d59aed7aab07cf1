import { z } from "zod";

// Browser-safe.

/** The kinds of events that a channel can get. `latency.band` includes its end. */
export const alertKinds = [
  "error.new",
  "error.back",
  "error.rate",
  "deployment.failed",
  "preview.failed",
  "server.no-place",
  "sign-in.loop",
  "latency.band",
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** What each kind is, in a form and in docs. */
export const alertKindTexts: Readonly<Record<AlertKind, { readonly label: string; readonly text: string }>> = {
  "error.new": { label: "New error", text: "A call fails in a way that was not seen before." },
  "error.back": { label: "Error is back", text: "An error that somebody resolved occurs again." },
  "error.rate": { label: "Many errors", text: "An error occurs more often than the server's settings allow." },
  "deployment.failed": {
    label: "Failed deployment",
    text: "A build for production fails, or its gradual release goes back by itself.",
  },
  "preview.failed": { label: "Failed preview", text: "A build of another branch fails." },
  "server.no-place": { label: "No place to run", text: "The machine is full, and a server can't start." },
  "sign-in.loop": {
    label: "Sign-in loop",
    text: "The same client begins to sign in again and again, without success.",
  },
  "latency.band": {
    label: "Slow calls",
    text: "Calls take longer than usual or than the server's limit, and when that ends.",
  },
};

export const channelFormats = ["mail", "standard", "slack", "discord", "teams"] as const;
export type ChannelFormat = (typeof channelFormats)[number];

export const channelFormatTexts: Readonly<Record<ChannelFormat, string>> = {
  mail: "Email",
  standard: "Signed webhook",
  slack: "Slack",
  discord: "Discord",
  teams: "Microsoft Teams",
};

export const dayMinutes = 24 * 60;

const minuteOfDay = z
  .number({ error: "Enter a time of the day" })
  .int("Enter a time of the day")
  .min(0, "Enter a time of the day")
  .max(dayMinutes - 1, "Enter a time of the day");

/** A name of the IANA time zone database that this process knows. */
const isTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return /^[A-Za-z]/.test(zone);
  } catch {
    return false;
  }
};

/** Between `from` and `to`, minutes of the day there, messages wait; over midnight if `to` is before `from`. */
export const quietHoursSchema = z
  .object({
    from: minuteOfDay,
    to: minuteOfDay,
    timeZone: z.string().max(64).refine(isTimeZone, "Enter a time zone such as Europe/Berlin"),
  })
  .refine(({ from, to }) => from !== to, {
    path: ["to"],
    error: "Quiet hours must end at another time than they begin",
  });
export type QuietHours = z.infer<typeof quietHoursSchema>;

const changeableSchema = z.object({
  name: z
    .string({ error: "Name is required" })
    .trim()
    .min(1, { error: "Name is required", abort: true })
    .max(64, "Name must be 64 characters or less"),
  events: z
    .array(z.enum(alertKinds, { error: `Choose among ${alertKinds.join(", ")}` }))
    .min(1, "Choose at least one kind of event")
    .transform((kinds) => [...new Set(kinds)]),
  /** The servers whose events it gets; null: all of the organization, future ones included. */
  projectIds: z
    .array(z.uuid())
    .min(1, "Choose at least one server")
    .max(200, "Choose at most 200 servers")
    .nullable()
    .transform((ids) => ids && [...new Set(ids)]),
  quietHours: quietHoursSchema.nullable(),
  /** Of an email channel: who gets the messages. */
  userIds: z
    .array(z.uuid())
    .min(1, "Choose at least one member")
    .max(20, "Choose at most 20 members")
    .transform((ids) => [...new Set(ids)]),
  /** Of the others: where they are posted. Shown to nobody, because it may contain a credential. */
  url: z.string({ error: "Enter the webhook's address" }).trim().min(1, "Enter the webhook's address").max(2000),
});

export const createChannelSchema = changeableSchema
  .extend({
    format: z.enum(channelFormats),
    projectIds: changeableSchema.shape.projectIds.default(null),
    quietHours: changeableSchema.shape.quietHours.default(null),
  })
  .partial({ userIds: true, url: true })
  .superRefine(({ format, userIds, url }, context) => {
    const missing = format === "mail" ? (userIds ? null : "userIds") : url ? null : "url";
    if (missing === null) return;
    const message = missing === "url" ? "Enter the webhook's address" : "Choose at least one member";
    context.addIssue({ code: "custom", path: [missing], message });
  });
export type CreateChannelInput = z.input<typeof createChannelSchema>;

/** Absent fields stay as they are. `enabled`: true also after the receiver answered 410. */
export const updateChannelSchema = changeableSchema.extend({ enabled: z.boolean() }).partial();
export type UpdateChannelInput = z.input<typeof updateChannelSchema>;

/** When a server's calls are slow (CAP-6). */
export const latencyRuleSchema = z.object({
  /** The 95th percentile of 15 minutes above which they are, milliseconds; null: no such limit. */
  latencyMs: z
    .number({ error: "Enter milliseconds" })
    .int("Enter whole milliseconds")
    .min(1, "Enter 1 ms or more")
    .max(3_600_000, "Enter an hour or less")
    .nullable(),
  /** How many times the 95th percentile of the week before; null: not compared with it. */
  latencyFactor: z
    .number({ error: "Enter a number" })
    .int("Enter a whole number")
    .min(2, "Enter 2 or more")
    .max(100, "Enter 100 or less")
    .nullable(),
});
export type LatencyRule = z.infer<typeof latencyRuleSchema>;
