import type { LiveCall, Memory } from "./live-call.ts";

/** Calls without their client, tasks among them, all servers together, and of one. */
const maxCalls = 1000;
const maxCallsOfProject = 100;
/** Bytes of their requests. */
const maxBytes = 64 * 1024 * 1024;

/** Counts the calls of a process that run without their client, within bounds. */
export class Unattended {
  readonly #share: number;
  readonly #ofProjects = new Map<string, number>();
  #calls = 0;
  #bytes = 0;

  /** `share`: this process's share of the bounds. */
  constructor(share: number) {
    this.#share = share;
  }

  get size(): number {
    return this.#calls;
  }

  hasRoomFor({ admitted }: LiveCall): boolean {
    const ofProject = this.#ofProjects.get(admitted.call.route.projectId) ?? 0;
    if (this.#calls >= maxCalls * this.#share || ofProject >= maxCallsOfProject) return false;
    return this.#bytes + admitted.bodyBytes <= maxBytes * this.#share;
  }

  enter(live: LiveCall): void {
    this.#count(live, 1);
    void live.ended.then(() => this.#count(live, -1));
  }

  #count({ admitted }: LiveCall, by: 1 | -1): void {
    const { projectId } = admitted.call.route;
    this.#calls += by;
    this.#bytes += by * admitted.bodyBytes;
    const calls = (this.#ofProjects.get(projectId) ?? 0) + by;
    if (calls === 0) this.#ofProjects.delete(projectId);
    else this.#ofProjects.set(projectId, calls);
  }
}

/** What the calls of a process may hold of their answers, bytes. */
export function createMemory(bytes: number): Memory {
  let held = 0;
  return {
    take(more) {
      if (held + more > bytes) return false;
      held += more;
      return true;
    },
    give(less) {
      held -= less;
    },
  };
}
