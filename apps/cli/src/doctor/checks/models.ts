import { type ChatModel, chatSettings } from "@towpath/chat/config";
import { z } from "zod";
import { type Check, type Finding, fix, invalidSettings, notNeeded, ok, reasonOf } from "../finding.ts";

const withinMs = 10_000;

/** Whether the providers of the chat's models answer, and take the keys. Nothing is asked that costs tokens. */
export const models: Check = async ({ settings }) => {
  const { TOWPATH_CHAT_MODELS } = chatSettings;
  const parsed = z.object({ TOWPATH_CHAT_MODELS }).safeParse(settings);
  if (!parsed.success) return [invalidSettings("model", parsed)];
  const found = parsed.data.TOWPATH_CHAT_MODELS;
  if (found.length === 0) return [notNeeded("model", "the chat is off")];
  return Promise.all(found.map(modelFinding));
};

async function modelFinding(model: ChatModel): Promise<Finding> {
  const name = `model ${model.name}`;
  const url = `${model.url.replace(/\/+$/, "")}/models`;
  try {
    const { status } = await fetch(url, { headers: headersOf(model), signal: AbortSignal.timeout(withinMs) });
    if (status === 401 || status === 403)
      return fix(name, `${url} answers ${status}`, "Replace its key in TOWPATH_CHAT_MODELS.");
    if (status >= 500)
      return fix(name, `${url} answers ${status}`, "Ask its provider, or name another model in TOWPATH_CHAT_MODELS.");
    return ok(name, `${new URL(url).host} answers`);
  } catch (error) {
    return fix(name, `${url}: ${reasonOf(error)}`, "Start what serves it, or correct its url in TOWPATH_CHAT_MODELS.");
  }
}

const headersOf = ({ provider, key }: ChatModel): Record<string, string> => {
  if (key === undefined) return {};
  return provider === "anthropic"
    ? { "x-api-key": key, "anthropic-version": "2023-06-01" }
    : { authorization: `Bearer ${key}` };
};
