import { LRUCache } from "lru-cache";
import type { RecordedStep } from "./sign-in-recorder.ts";

/** Steps at once, and each hour after that. */
type Allowance = { readonly burst: number; readonly perHour: number };

/** For this process as a whole, a project, and a network in a project. */
const unproven = {
  process: { burst: 2000, perHour: 7200 },
  project: { burst: 240, perHour: 240 },
  network: { burst: 60, perHour: 60 },
} as const satisfies Record<string, Allowance>;
const proven = { project: { burst: 600, perHour: 1200 } } as const satisfies Record<string, Allowance>;

const hourMs = 3_600_000;
const repeatedMs = 5000;
/** Happens to every client every few minutes while it is connected. */
const isRoutine = ({ kind, problem }: RecordedStep) =>
  problem === "token_expired" || (kind === "refresh" && problem === null);
const routineMs = 25 * 60_000;

type Bucket = { left: number; at: number };

/**
 * Decides which steps are kept. Strangers can cause unproven ones, so these have separate allowances: a flood uses up
 * only its own, so does a single network, and stored steps are never displaced by later ones.
 */
export class StepLimits {
  /** Steps left out since the last kept one, by project. */
  readonly #leftOut = new LRUCache<string, number>({ max: 10_000 });
  readonly #buckets = new LRUCache<string, Bucket>({ max: 20_000 });
  readonly #recent = new LRUCache<string, number>({ max: 10_000 });
  readonly #share: number;
  readonly #now: () => number;

  /** `share`: this process's share of the allowances. `now`: monotonic milliseconds. */
  constructor({ share = 1, now = () => performance.now() }: { share?: number; now?: () => number } = {}) {
    this.#share = share;
    this.#now = now;
  }

  /** The number of its project's left-out steps before a step that is kept; null to leave it out. */
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
    const { kind, problem, fault, projectId, clientId, userId, keyId, authorizationId, flow, agent } = step;
    const key = [kind, problem, fault, projectId, clientId, userId, keyId, authorizationId, flow, agent, network].join(
      "\n",
    );
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
