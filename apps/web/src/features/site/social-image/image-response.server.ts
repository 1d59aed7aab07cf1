import { publicFile } from "~/http/public-file.server.ts";
import { renderCard } from "./render-card.server.tsx";
import type { SocialCard } from "./social-card.tsx";

/** How long caches may keep an image, in seconds. */
const maxAgeSeconds = 3600;

/** A card as the response of an image route (PUB-12). `null`: 404. */
export async function imageResponse(card: SocialCard | null): Promise<Response> {
  if (!card) return Response.json({ error: "There is no such image." }, { status: 404 });
  const image = await renderCard(card);
  if (!image) return new Response(null, { status: 503, headers: { "retry-after": "5" } });
  const response = publicFile(image, "image/png", { maxAgeSeconds });
  // For other sites' link previews; all other responses are for this origin only.
  response.headers.set("cross-origin-resource-policy", "cross-origin");
  return response;
}
