import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { exchangeName, OutcomeLabel } from "./request-table.tsx";

test("PRJ-5 an exchange without an MCP method is named by its kind", () => {
  const name = (httpMethod: string, kind: "other" | "batch", method: string | null = null) =>
    exchangeName({ method, httpMethod, kind });
  expect(name("POST", "other")).toBe("POST without a message");
  expect(name("GET", "other")).toBe("GET event stream");
  expect(name("DELETE", "other")).toBe("DELETE session");
  expect(name("POST", "batch")).toBe("POST batch");
  expect(name("POST", "other", "tools/call")).toBe("tools/call");
});

test("PRJ-5 an error within an answer isn't labeled with the answer's status 200", () => {
  const label = (outcome: string, httpStatus: number) =>
    renderToStaticMarkup(<OutcomeLabel entry={{ outcome, httpStatus, isError: true, isRefused: false }} />).replaceAll(
      /<[^>]+>/g,
      "",
    );
  expect(label("tool_error", 200)).toBe("Tool error");
  expect(label("rpc_error", 200)).toBe("Protocol error");
  expect(label("rpc_error", 400)).toBe("400Protocol error");
  expect(label("gateway_error", 502)).toBe("502Gateway error");
});
