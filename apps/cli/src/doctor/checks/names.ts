import { lookup } from "node:dns/promises";
import { type Check, type Finding, fix, notNeeded, ok, reasonOf } from "../finding.ts";
import { isAddressLiteral, isLocalhost, type PublicAddress, publicAddresses, shownHost } from "../public-addresses.ts";

/** Whether the names of dashboard and servers resolve on this machine. */
export const names: Check = async (facts) =>
  Promise.all(publicAddresses(facts).map((address) => nameFinding(address, facts.options.gatewayPort)));

async function nameFinding(address: PublicAddress, gatewayPort: number): Promise<Finding> {
  const name = `name of ${address.of === "servers" ? "servers" : "the dashboard"}`;
  const { url } = address;
  const host = shownHost(address);
  if (isAddressLiteral(url)) return notNeeded(name, `${host} is an address`);
  try {
    const found = await lookup(url.hostname, { all: true });
    return ok(name, `${host} is ${found.map((each) => each.address).join(", ")}`);
  } catch (error) {
    const remedy = isLocalhost(url)
      ? `apt-get install libnss-myhostname, or set TOWPATH_SERVER_URL=http://localhost:${gatewayPort}/{name}`
      : `Make a DNS record for ${host} that leads to this machine or to the proxy in front of it.`;
    return fix(name, `${host} doesn't resolve: ${reasonOf(error)}`, remedy);
  }
}
