import { ProjectUse } from "../policy/project-use.ts";
import type { LiveCall, Memory } from "./live-call.ts";

/** Calls without their client, tasks among them, all servers together, and of one. */
const maxCalls = 1000;
const maxCallsOfProject = 100;
/** Bytes of the answers of all calls that may be asked for again. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** Bytes of their requests. */
const maxBytes = 64 * 1024 * 1024;

/** Counts the calls of a process that run without their client, within bounds. */
export class Unattended {
  readonly #share: number;
  readonly #use = new ProjectUse();

  /** `share`: this process's share of the bounds. */
  constructor(share: number) {
    this.#share = share;
  }

  get size(): number {
    return this.#use.all.requests;
  }

  hasRoomFor({ admitted }: LiveCall): boolean {
    const { all } = this.#use;
    const ofProject = this.#use.of(admitted.call.route.projectId);
    const mostOfProject = Math.ceil(maxCallsOfProject * this.#share);
    if (all.requests >= maxCalls * this.#share || ofProject.requests >= mostOfProject) return false;
    return all.bytes + admitted.bodyBytes <= maxBytes * this.#share;
  }

  enter({ admitted, ended }: LiveCall): void {
    const { projectId } = admitted.call.route;
    const { bodyBytes } = admitted;
    this.#use.add(projectId, { requests: 1, bytes: bodyBytes });
    void ended.then(() => this.#use.add(projectId, { requests: -1, bytes: -bodyBytes }));
  }
}

/** What the calls of a process may hold of their answers. `share`: this process's share of the bound. */
export function createMemory(share: number): Memory {
  const bytes = maxAnswerBytes * share;
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
