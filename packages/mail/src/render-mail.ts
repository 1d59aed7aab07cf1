import type { Mail } from "@towpath/core/ports";

/** A message as a mail client shows it. */
export type RenderedMail = { readonly subject: string; readonly text: string; readonly html: string };

const maxSubject = 200;

/** One line: a line break in a subject would begin another header. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, " ").trim();

/** A message as plain text and as HTML with the same content. Nothing in it is loaded from elsewhere. */
export function renderMail(mail: Mail): RenderedMail {
  const { paragraphs, action, footnote } = mail;
  const text = [
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...(footnote ? ["-- ", footnote] : []),
  ];
  return {
    subject: oneLine(mail.subject).slice(0, maxSubject),
    text: `${text.join("\n\n")}\n`,
    html: htmlOf(mail),
  };
}

const font = "font-family:system-ui,-apple-system,'Segoe UI',sans-serif";

function htmlOf({ paragraphs, action, footnote }: Mail): string {
  const body = paragraphs.map((paragraph) => `<p style="margin:0 0 16px">${escaped(paragraph)}</p>`);
  if (action) {
    const url = escaped(action.url);
    body.push(
      `<p style="margin:24px 0"><a href="${url}" style="display:inline-block;padding:10px 18px;border-radius:8px;background:#0b6e6e;color:#ffffff;text-decoration:none;font-weight:600">${escaped(action.label)}</a></p>`,
      `<p style="margin:0 0 16px;font-size:13px;color:#5b6770">Or open this address:<br><a href="${url}" style="color:#0b6e6e;word-break:break-all">${url}</a></p>`,
    );
  }
  if (footnote) body.push(`<p style="margin:24px 0 0;font-size:13px;color:#5b6770">${escaped(footnote)}</p>`);
  return `<!doctype html><html lang="en"><body style="margin:0;padding:24px;background:#ffffff;color:#1b2328;font-size:15px;line-height:1.5;${font}"><div style="max-width:520px">${body.join("")}</div></body></html>`;
}

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll("\n", "<br>");
