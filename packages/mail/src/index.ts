export { type DeliverySettings, deliverMail } from "./deliver-mail.ts";
export { type MailConfig, mailConfigSchema } from "./mail-config.ts";
export { createMailSender } from "./mail-sender.ts";
export { createMailTransport, type MailTransport } from "./mail-transport.ts";
