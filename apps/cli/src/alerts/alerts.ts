import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { ownOrganization } from "../instance/own-organization.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { bold, CommandError, dim, green, output, plain, print, red, UsageError, yellow } from "../terminal/terminal.ts";
import { ago } from "../terminal/time.ts";

const channelSchema = z.object({
  id: z.string(),
  name: z.string(),
  format: z.string(),
  host: z.string().nullable(),
  recipients: z.array(z.object({ name: z.string() })).nullable(),
  events: z.array(z.string()),
  servers: z.array(z.object({ name: z.string() })).nullable(),
  state: z.string(),
});
type Channel = z.infer<typeof channelSchema>;

const deliverySchema = z.object({
  channel: z.object({ name: z.string() }),
  title: z.string(),
  status: z.string(),
  lastStatus: z.number().nullable(),
  lastAnswer: z.string().nullable(),
  createdAt: z.string(),
});
type Delivery = z.infer<typeof deliverySchema>;

const actions = ["list", "deliveries", "test"];

/** `towpath alerts [list | deliveries | test CHANNEL]`: where alerts are sent, and how that went (CAP-6). */
export async function alerts(args: string[]): Promise<number> {
  const { values, positionals } = parse("alerts", args);
  const [action = "list", channel] = positionals;
  if (!actions.includes(action))
    throw new UsageError(`${action} is not list, deliveries or test.${didYouMean(action, actions)}`);
  if (action === "test" && channel === undefined) throw new UsageError("Name the channel: towpath alerts test CHANNEL");
  if (action !== "test" && channel !== undefined)
    throw new UsageError(`${channel} is too much for ${action}. See towpath help alerts.`);
  const api = await connectApi(values);
  const slug = values.organization ?? (await ownOrganization(api));
  const path = `/api/v1/organizations/${encodeURIComponent(slug)}`;
  if (action === "deliveries") {
    const found = await api.call("GET", `${path}/alert-deliveries`, z.array(deliverySchema));
    output(found, () => printDeliveries(found));
    return 0;
  }
  const channels = await api.call("GET", `${path}/alert-channels`, z.array(channelSchema));
  if (action === "list") {
    output(channels, () => printChannels(channels));
    return 0;
  }
  const { id } = chosen(channels, channel ?? "");
  const sent = await api.call("POST", `${path}/alert-channels/${encodeURIComponent(id)}/test`, deliverySchema);
  output(sent, () => printDeliveries([sent]));
  return sent.status === "sent" ? 0 : 1;
}

/** By id or by name. @throws CommandError for none, and for a name that several have */
function chosen(channels: readonly Channel[], given: string): Channel {
  const found = channels.filter(({ id, name }) => id === given || name.toLowerCase() === given.toLowerCase());
  const [first] = found;
  if (first && found.length === 1) return first;
  throw new CommandError(
    first
      ? `${found.length} channels are called ${given}. Name one by its id: towpath alerts list shows them.`
      : `There is no alert channel ${given}. towpath alerts list shows them.`,
  );
}

const marks: Readonly<Record<string, string>> = {
  on: green("✓"),
  sent: green("✓"),
  failing: yellow("!"),
  waiting: yellow("!"),
  held: dim("…"),
  digested: green("✓"),
};

function printChannels(channels: readonly Channel[]): void {
  if (channels.length === 0) print(`No alert channels. ${dim("Add one in the dashboard: Settings, Alerts.")}`);
  for (const { id, name, format, host, recipients, events, servers, state } of channels) {
    const to = host ?? recipients?.map((each) => each.name).join(", ") ?? "";
    print(`${marks[state] ?? red("✗")} ${bold(plain(name))}  ${format}  ${plain(to)}  ${dim(state)}`);
    print(`  ${id}  ${servers?.map((each) => each.name).join(", ") ?? "all servers"}  ${events.join(" ")}`);
  }
}

function printDeliveries(deliveries: readonly Delivery[]): void {
  if (deliveries.length === 0) print("Nothing was sent yet.");
  for (const { channel, title, status, lastStatus, lastAnswer, createdAt } of deliveries) {
    print(
      `${marks[status] ?? red("✗")} ${bold(plain(title))}  ${plain(channel.name)}  ${dim(`${status}, ${ago(createdAt)}`)}`,
    );
    const answer = [...(lastStatus === null ? [] : [`answered ${lastStatus}`]), ...(lastAnswer ? [lastAnswer] : [])];
    if (answer.length > 0) print(`  ${plain(answer.join(": "))}`);
  }
}
