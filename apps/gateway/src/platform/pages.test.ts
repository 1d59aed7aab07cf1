import { afterAll, beforeAll, expect, test } from "vitest";
import { createRig, type Rig } from "../testing/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

test("OPS-2 the gateway's own pages: text, health, metrics for this machine", async () => {
  const base = `http://127.0.0.1:${rig.gateway.port}`;
  expect(await (await fetch(`${base}/`)).text()).toContain("Towpath gateway");
  expect(await (await fetch(`${base}/-/healthz`)).json()).toMatchObject({ ok: true, database: true });
  expect(await (await fetch(`${base}/-/metrics`)).text()).toMatch(/towpath_gateway_requests_total \d+/);
  expect(await (await fetch(`${base}/-/metrics`)).text()).toMatch(/^towpath_prewarm_ready 0$/m);
  expect((await fetch(`${base}/-/metrics`, { headers: { "x-forwarded-for": "1.2.3.4" } })).status).toBe(404);
  expect((await fetch(`${base}/-/other`)).status).toBe(404);
});
