export { deliverMail } from "./deliver-mail.ts";
export { type MailConfig, mailConfigSchema } from "./mail-config.ts";
export { createMailSender } from "./mail-sender.ts";
export { createMailTransport, tryMailServer } from "./mail-transport.ts";
