import { LRUCache } from "lru-cache";
import type { RecordedStep } from "./sign-in-recorder.ts";

/** Steps at once, and each hour after that. */
type Allowance = { readonly burst: number; readonly perHour: number };

/** Of this process as a whole, of a project, and of a network in a project. */
const unproven = {
  process: { burst: 2000, perHour: 7200 },
  project: { burst: 240, perHour: 240 },
  network: { burst: 60, perHour: 60 },
} as const satisfies Record<string, Allowance>;
const proven = { project: { burst: 600, perHour: 1200 } } as const satisfies Record<string, Allowance>;

const hourMs = 3_600_000;
const repeatedMs = 5000;
/** What happens to every client each few minutes as long as it is connected. */
const isRoutine = ({ kind, problem }: RecordedStep) =>
  problem === "token_expired" || (kind === "refresh" && problem === null);
const routineMs = 25 * 60_000;

type Bucket = { left: number; at: number };

/**
 * Decides which steps are kept. Strangers can cause unproven ones, so these have allowances of their own: a flood uses
 * up only theirs, a single network only its own, and nothing that is stored makes room for later steps.
 */
export class StepLimits {
  /** Steps left out, by project, since the last one that was kept. */
  readonly #leftOut = new LRUCache<string, number>({ max: 10_000 });
  readonly #buckets = new LRUCache<string, Bucket>({ max: 20_000 });
  readonly #recent = new LRUCache<string, number>({ max: 10_000 });
  readonly #share: number;
  readonly #now: () => number;

  /** `share`: the part of the allowances that is this process's. `now`: milliseconds that only grow. */
  constructor({ share = 1, now = () => performance.now() }: { share?: number; now?: () => number } = {}) {
    this.#share = share;
    this.#now = now;
  }

  /** How many steps of its project were left out before one that is kept; null to leave it out. */
  admit(step: RecordedStep, network: string | null): number | null {
    if (this.#isRepeated(step, network)) return null;
    const project = step.projectId ?? "";
    const isAllowed = step.isProven
      ? this.#take(`proven ${project}`, proven.project)
      : this.#take(`network ${project} ${network}`, unproven.network) &&
        this.#take(`project ${project}`, unproven.project) &&
        this.#take("process", unproven.process);
    const leftOut = this.#leftOut.get(project) ?? 0;
    if (!isAllowed) {
      this.#leftOut.set(project, leftOut + 1);
      return null;
    }
    this.#leftOut.delete(project);
    return leftOut;
  }

  #isRepeated(step: RecordedStep, network: string | null): boolean {
    const { kind, problem, projectId, clientId, userId, keyId, authorizationId, flow, agent } = step;
    const key = [kind, problem, projectId, clientId, userId, keyId, authorizationId, flow, agent, network].join("\n");
    const now = this.#now();
    const before = this.#recent.get(key);
    if (before !== undefined && now - before < (isRoutine(step) ? routineMs : repeatedMs)) return true;
    this.#recent.set(key, now);
    return false;
  }

  #take(name: string, { burst, perHour }: Allowance): boolean {
    const now = this.#now();
    const most = Math.max(1, burst * this.#share);
    const before = this.#buckets.get(name) ?? { left: most, at: now };
    const left = Math.min(most, before.left + ((now - before.at) / hourMs) * perHour * this.#share);
    const isLeft = left >= 1;
    this.#buckets.set(name, { left: isLeft ? left - 1 : left, at: now });
    return isLeft;
  }
}
