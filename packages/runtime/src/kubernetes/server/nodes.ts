import { setTimeout as sleep } from "node:timers/promises";
import { type Address, dial } from "./ask-server.ts";

const kubeletPort = 10_250;
const retryMs = 250;

/**
 * Whether nodes still answer. Kubernetes finds a node lost after 40 s, and calls would wait meanwhile. A server that doesn't
 * answer may be busy, so its node is asked, too: the kernel answers at the port of the kubelet, even if nothing listens there.
 */
export class Nodes {
  /** Others may be behind a firewall: their silence means nothing. */
  readonly #known = new Set<string>();
  readonly #silentMs: number;

  /** `silentMs`: how long a node must be silent to be lost. */
  constructor(silentMs = 6000) {
    this.#silentMs = silentMs;
  }

  /** Learns that a node can be asked. `host`: its address. */
  async learn(host: string): Promise<void> {
    if (!this.#known.has(host) && (await this.#answers(host))) this.#known.add(host);
  }

  /** Whether neither a server that was silent nor its node answers for a while. */
  async isLost(server: Address, host: string): Promise<boolean> {
    if (!this.#known.has(host)) return false;
    const begun = performance.now();
    do {
      const [dialed, answers] = await Promise.all([dial(server), this.#answers(host)]);
      if (dialed !== "silent" || answers) return false;
      await sleep(retryMs);
    } while (performance.now() - begun < this.#silentMs);
    return true;
  }

  async #answers(host: string): Promise<boolean> {
    return (await dial({ host, port: kubeletPort })) !== "silent";
  }
}
