import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { type Delivery, findDelivery, insertDelivery, listDeliveries } from "../state/deliveries.ts";
import { type RestEnvironment, requireApp } from "./caller.ts";
import { numberParam, RestError, readBody } from "./rest-request.ts";

function deliveryShape(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.delivered_at,
    redelivery: delivery.redelivery,
    status: delivery.state === "delivered" ? "OK" : delivery.status,
    status_code: delivery.status_code,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installation_id,
    repository_id: delivery.repository_id,
  };
}

/** Lists the App's webhook deliveries and redelivers one. */
export function deliveryRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database } = context;
  const routes = new Hono<RestEnvironment>();

  routes.get("/app/hook/config", (c) => {
    requireApp(c);
    return c.json({ url: context.config.webhookUrl, content_type: "json", secret: "********" });
  });

  routes.patch("/app/hook/config", async (c) => {
    requireApp(c);
    const { url, secret } = await readBody(c, z.object({ url: z.url(), secret: z.string() }));
    const { app } = context.config;
    Object.assign(context.config, { webhookUrl: url, app: { ...app, webhookSecret: secret } });
    return c.json({ url, content_type: "json", secret: "********" });
  });

  routes.get("/app/hook/deliveries", (c) => {
    requireApp(c);
    const size = Math.min(Number(c.req.query("per_page")) || 30, 100);
    const before = Number(c.req.query("cursor")) || Number.MAX_SAFE_INTEGER;
    const rows = listDeliveries(database, before, size + 1);
    const page = rows.slice(0, size);
    const last = page.at(-1);
    if (rows.length > size && last) {
      const url = `${context.config.url}/api/v3/app/hook/deliveries?per_page=${size}&cursor=${last.id}`;
      c.header("link", `<${url}>; rel="next"`);
    }
    return c.json(page.map(deliveryShape));
  });

  routes.post("/app/hook/deliveries/:id/attempts", (c) => {
    requireApp(c);
    const delivery = findDelivery(database, numberParam(c, "id"));
    if (delivery === null) throw new RestError(404, "Not Found");
    // Same guid, so that a receiver can recognize a duplicate (BLD-12).
    insertDelivery(database, { ...delivery, redelivery: true });
    context.deliverer.wake();
    return c.json({}, 202);
  });

  return routes;
}
