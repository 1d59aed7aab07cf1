import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { canceledCode } from "../server-call.ts";
import { OutcomeBadge } from "./outcome-badge.tsx";

const badge = (code: string) =>
  renderToStaticMarkup(<OutcomeBadge outcome={{ ok: false, code, rpcCode: null, message: "" }} />);

test("PRJ-4 a canceled call is shown as canceled, not as a failure", () => {
  expect(badge(canceledCode)).toContain("Canceled");
  expect(badge(canceledCode)).not.toContain("text-bad");
  expect(badge("unreachable")).toContain("No answer");
  expect(badge("unreachable")).toContain("text-bad");
});
