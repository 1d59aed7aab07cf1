import { operatorPost } from "../instance/operator.ts";
import { type Filled, names } from "./fill-instance.ts";
import type { Scene } from "./scene.ts";

/** Opens a page, and waits for a text that its data has. */
const page = (path: string, text: string | RegExp): Scene => ({
  show: async (page, { home }) => {
    await page.goto(home + path);
    await page.getByText(text).first().waitFor();
  },
});

/** Screens of the organization and of a person, by the name of the picture. */
export const organizationScenes: Readonly<Record<string, Scene>> = {
  servers: page("/servers", "harbor-desk"),
  "new-server": page("/servers/new", "Deploy the sample"),
  "external-server": page("/servers/external", /External server/),
  "api-keys": page("/settings/api-keys", "Nightly report"),
  members: page("/settings/members", "Mira Okafor"),
  "audit-log": page("/settings/audit-log", /tide-gauges/),
  security: page("/settings/security", /Two-factor/),
  alerts: {
    show: async (page, filled) => {
      await sendAlerts(filled);
      await page.goto(`${filled.home}/settings/alerts`);
      await page.getByText("Recent deliveries").waitFor();
    },
  },
  "public-page": {
    show: async (page, { instance }) => {
      await page.goto(`${instance.url}/app/${names.server}`);
      await page.getByText("find_moorings").first().waitFor();
    },
  },
  "status-page": {
    show: async (page, { instance, slug }) => {
      await page.goto(`${instance.url}/status/${slug}`);
      await page.getByText("harbor-desk").first().waitFor();
    },
  },
};

/** A channel whose messages have all arrived. It sends none: no attempt is due for a day. */
async function sendAlerts({ instance, pool, slug }: Filled): Promise<void> {
  const { rows } = await pool.query("SELECT 1 FROM alert_channel");
  if (rows.length > 0) return;
  const channel = { format: "slack", events: ["error.new", "error.back", "deployment.failed", "server.no-place"] };
  await operatorPost(instance, `organizations/${slug}/alert-channels`, {
    ...channel,
    name: "#harbor-on-call",
    url: "https://hooks.slack.com/services/T0000/B0000/none",
  });
  await pool.query(
    "UPDATE alert_channel SET next_attempt_at = now() + interval '1 day', quiet_from = 1320, quiet_to = 420, time_zone = 'Europe/Amsterdam'",
  );
  await pool.query(
    `INSERT INTO alert_delivery (id, channel_id, event_id, kind, status, due_at, attempts, last_attempt_at, last_status,
        last_answer, settled_at, created_at)
     SELECT gen_random_uuid(), alert_channel.id, alert_event.id, 'alert', 'sent', at, 1, at, 200, 'ok', at, at
       FROM alert_channel, alert_event, LATERAL (SELECT alert_event.created_at AS at) AS times`,
  );
}
