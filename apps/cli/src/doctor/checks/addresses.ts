import { type Check, type Finding, fix, notNeeded, ok, reasonOf } from "../finding.ts";
import { isLoopback, type PublicAddress, publicAddresses } from "../public-addresses.ts";

const withinMs = 5_000;

/** Whether the public addresses lead to this instance, through the proxy or load balancer in front of it. */
export const addresses: Check = async (facts) => {
  const { host, port, gatewayHost, gatewayPort } = facts.options;
  const targets = { dashboard: `${host}:${port}`, servers: `${gatewayHost}:${gatewayPort}` };
  return Promise.all(
    publicAddresses(facts).map(async (address) => {
      if (isLoopback(address.url)) return notNeeded(nameOf(address), `${address.url.origin} is this machine's own`);
      if (facts.running === null) return notNeeded(nameOf(address), "no instance runs");
      return await addressFinding(address, targets[address.of]);
    }),
  );
};

const nameOf = ({ of }: Pick<PublicAddress, "of">) => `address of ${of === "servers" ? "servers" : "the dashboard"}`;

/** `target`: where the process listens. */
export async function addressFinding({ of, url }: Pick<PublicAddress, "of" | "url">, target: string): Promise<Finding> {
  const name = nameOf({ of });
  const health = `${url.origin}${of === "servers" ? "/-/healthz" : "/healthz"}`;
  const remedy = `Have your proxy pass ${url.host} to ${target} with the Host header as it came.`;
  try {
    const answer = await fetch(health, { redirect: "manual", signal: AbortSignal.timeout(withinMs) });
    const text = await answer.text();
    return /^\{"ok":/.test(text)
      ? ok(name, url.origin)
      : fix(name, `${health} answers ${answer.status}, and it isn't Towpath that answers`, remedy);
  } catch (error) {
    return fix(name, `${health} doesn't answer: ${reasonOf(error)}`, remedy);
  }
}
