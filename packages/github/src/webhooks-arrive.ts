import { isIP } from "node:net";

/** Addresses of this machine only, and of networks that the internet doesn't reach. */
const loopback = /^(localhost|.+\.localhost|127\..+|\[::1\])$/;
const privateAddress =
  /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[f[cde])/;
const privateName = /\.(local|internal|lan|home|test|example|invalid|home\.arpa)$/;

/**
 * Whether webhooks of a host might reach an instance (GH-6): not from elsewhere to this machine, and not from the
 * internet into a private network. `true` is no guarantee.
 *
 * @param hostUrl of GitHub or an Enterprise host
 * @param instanceUrl the dashboard's
 */
export function webhooksMayArrive(hostUrl: string, instanceUrl: string): boolean {
  const host = new URL(hostUrl).hostname;
  const instance = new URL(instanceUrl).hostname;
  if (loopback.test(host)) return true;
  if (loopback.test(instance)) return false;
  const isOnInternet = host === "github.com" || host.endsWith(".ghe.com");
  const isSingleLabel = !instance.includes(".") && isIP(instance.replace(/[[\]]/g, "")) === 0;
  return !isOnInternet || !(isSingleLabel || privateAddress.test(instance) || privateName.test(instance));
}
