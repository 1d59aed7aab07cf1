import type { Lease } from "./instance-lease.ts";

type Former = Pick<Lease, "instanceId" | "upstream">;

/** For answers of an instance that has ended which have arrived and aren't read yet. */
const lastAnswersMs = 1000;

/** Connections that were dropped with requests on them. A node that is lost closes none. */
export class FormerInstances {
  readonly #open = new Set<Former>();

  dropped(former: Former): void {
    this.#open.add(former);
    const isClosed = () => this.#open.delete(former);
    former.upstream.close().then(isClosed, isClosed);
  }

  /** The runner starts another instance only when the one before has ended: what was sent to it gets no answer any more. */
  replacedBy({ instanceId }: Former): void {
    for (const former of this.#open) {
      if (former.instanceId === instanceId) continue;
      this.#open.delete(former);
      setTimeout(() => void former.upstream.destroy().catch(() => {}), lastAnswersMs).unref();
    }
  }
}
