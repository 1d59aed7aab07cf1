import type { ToolServer } from "@towpath/chat";
import type { ChatAttachment } from "@towpath/core/calling/chat/schema";
import { contentBlocks } from "~/features/shared/project-screen/content-blocks.ts";

const maxLength = 50_000;

/** The attachments of a question as text for the model. @throws McpClientError */
export async function readAttachments(
  server: ToolServer,
  attachments: readonly ChatAttachment[],
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const attachment of attachments) texts.push(await readOne(server, attachment));
  return texts;
}

async function readOne(server: ToolServer, attachment: ChatAttachment): Promise<string> {
  if (attachment.kind === "resource") {
    const { result } = await server.readResource(attachment.uri);
    return `[Resource ${attachment.uri}]\n${textOf(result)}`;
  }
  const { result } = await server.getPrompt(attachment.name, attachment.arguments);
  return `[Prompt ${attachment.name}]\n${textOf(result)}`;
}

function textOf(result: unknown): string {
  const texts = contentBlocks(result).map((block) => {
    if (block.kind === "text" || block.kind === "resource") return block.text;
    return block.kind === "link" ? `${block.name}: ${block.uri}` : `(${block.kind} that has no text)`;
  });
  return texts.join("\n\n").slice(0, maxLength);
}
