import type { Auth } from "@towpath/auth";
import { Counter, Histogram, type Registry } from "prom-client";

/** A request that has ended. `route`: its class, see `serve/route-class.ts`. `status`: 0 if the client left before. */
export type EndedRequest = { readonly route: string; readonly status: number; readonly seconds: number };

const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What the site does (OPS-9). */
export class WebMetrics {
  readonly #requests: Counter<"route" | "status">;
  readonly #duration: Histogram<"route">;
  readonly #signIns: Counter<"method" | "result">;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: "towpath_web_requests_total",
      help: "Requests that have ended, by class of route and HTTP status; 0: the client left before there was one",
      labelNames: ["route", "status"],
      registers,
    });
    this.#duration = new Histogram({
      name: "towpath_web_request_duration_seconds",
      help: "From a request's head to the end of its answer",
      labelNames: ["route"],
      buckets: requestSeconds,
      registers,
    });
    this.#signIns = new Counter({
      name: "towpath_web_sign_ins_total",
      help: "Sign-ins of people by method and result; continued: the second factor is next",
      labelNames: ["method", "result"],
      registers,
    });
  }

  requestEnded({ route, status, seconds }: EndedRequest): void {
    this.#requests.inc({ route, status });
    this.#duration.observe({ route }, seconds);
  }

  /** The same sign-in, counted. */
  counting(auth: Auth): Auth {
    const counted =
      <Input>(
        method: "password" | "second-factor" | "sign-up",
        submit: (input: Input, headers: Headers) => Submitted,
      ) =>
      async (input: Input, headers: Headers) => {
        const result = await submit(input, headers);
        const outcome = result.ok ? (result.needsSecondFactor ? "continued" : "ok") : result.problem;
        this.#signIns.inc({ method, result: outcome });
        return result;
      };
    return {
      ...auth,
      signIn: counted("password", auth.signIn),
      signUp: counted("sign-up", auth.signUp),
      signInSecondFactor: counted("second-factor", auth.signInSecondFactor),
      oidcCallback: async (request) => {
        const response = await auth.oidcCallback(request);
        const isIn = response.headers.getSetCookie().some((cookie) => /session_token=[^;]/.test(cookie));
        this.#signIns.inc({ method: "oidc", result: isIn ? "ok" : "failed" });
        return response;
      },
    };
  }
}

type Submitted = ReturnType<Auth["signIn"]>;
