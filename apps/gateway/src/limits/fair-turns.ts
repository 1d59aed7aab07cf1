/** Requests of one organization that begin within one turn of the event loop, and of all that wait together. */
const perTurn = 8;

/**
 * Shares the event loop between organizations (GW-8). A burst within somebody's limits, or many calls that waited for
 * one server to start, would otherwise be worked off in a single turn, and everybody else's calls and answers wait until
 * it ends. The first `perTurn` requests of an organization in a turn begin at once. The others wait in a queue for each
 * organization, in their order, and `perTurn` of them begin in each turn, organizations taking turns. Nothing is refused
 * and no time is lost: while somebody waits, the loop doesn't sleep.
 *
 * A turn is for the work of forwarding a request. How long its answer takes doesn't matter.
 */
export class FairTurns {
  /** Requests that have begun in this turn, by organization. */
  readonly #begun = new Map<string, number>();
  /** Requests that wait, oldest first, by organization; the organization whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTurnOpen = false;
  #size = 0;

  /** Requests that wait at the moment. */
  get size(): number {
    return this.#size;
  }

  /**
   * Resolves when a request may begin; undefined: at once. `open`: requests of the organization under way, this one
   * included: with few of them there is nothing to share, and nothing is counted. Left out: many.
   */
  take(organizationId: string, open = Number.POSITIVE_INFINITY): Promise<void> | undefined {
    if (open <= perTurn) return undefined;
    const queue = this.#waiting.get(organizationId);
    this.#openTurn();
    if (queue === undefined) {
      const begun = this.#begun.get(organizationId) ?? 0;
      if (begun < perTurn) {
        this.#begun.set(organizationId, begun + 1);
        return undefined;
      }
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    if (queue) queue.push(resolve);
    else this.#waiting.set(organizationId, [resolve]);
    this.#size++;
    return promise;
  }

  #openTurn(): void {
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isTurnOpen = false;
    this.#begun.clear();
    let left = perTurn;
    // An organization that is put back is visited again.
    for (const [organizationId, queue] of this.#waiting) {
      if (left === 0) break;
      left--;
      this.#size--;
      queue.shift()?.();
      this.#waiting.delete(organizationId);
      if (queue.length > 0) this.#waiting.set(organizationId, queue);
    }
    if (this.#waiting.size > 0) this.#openTurn();
  };
}
