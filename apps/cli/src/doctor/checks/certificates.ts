import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { type Check, type Finding, fix, notNeeded, ok, reasonOf } from "../finding.ts";
import {
  isAddressLiteral,
  isLoopback,
  type PublicAddress,
  plainHost,
  publicAddresses,
  shownHost,
} from "../public-addresses.ts";

const withinMs = 5_000;
/** Certificates of 90 days are renewed a month before their end. */
const minDaysLeft = 14;

/** Whether browsers and clients trust what the addresses of dashboard and servers present. */
export const certificates: Check = async (facts) => Promise.all(publicAddresses(facts).map(certificateFinding));

async function certificateFinding(address: PublicAddress): Promise<Finding> {
  const name = `certificate of ${address.of === "servers" ? "servers" : "the dashboard"}`;
  const host = shownHost(address);
  if (address.url.protocol !== "https:") {
    const reach = isLoopback(address.url)
      ? "only this machine opens it"
      : "others on the network can read what is sent";
    return notNeeded(name, `${address.url.origin} has no TLS: ${reach}`);
  }
  const socket = connect({
    host: plainHost(address.url),
    port: Number(address.url.port || 443),
    ...(isAddressLiteral(address.url) ? {} : { servername: address.url.hostname }),
    // What is wrong with it is reported, and nothing is sent.
    rejectUnauthorized: false,
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(withinMs) });
    return judge(name, host, socket);
  } catch (error) {
    return fix(
      name,
      `no TLS connection to ${address.url.host}: ${reasonOf(error)}`,
      "Start what serves HTTPS there, such as your reverse proxy, and open its port.",
    );
  } finally {
    socket.destroy();
  }
}

function judge(name: string, host: string, socket: TLSSocket): Finding {
  const { valid_to: until } = socket.getPeerCertificate();
  if (!socket.authorized) {
    const why = String(socket.authorizationError);
    return fix(
      name,
      `clients refuse it: ${why}`,
      `Get a certificate for ${host} from an authority that clients trust, with its whole chain.`,
    );
  }
  const days = Math.floor((Date.parse(until) - Date.now()) / 86_400_000);
  if (days < minDaysLeft) return fix(name, `it ends on ${until}`, "Renew it, and see why it wasn't renewed by itself.");
  return ok(name, `${host}, for another ${days} days`);
}
