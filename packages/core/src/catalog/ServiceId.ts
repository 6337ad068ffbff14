import { Schema } from "effect"

export const ServiceId = Schema.Literals([
  "discovery.api",
  "discovery.services",
  "email.mailbox.create",
  "email.mailbox.list",
  "email.mailbox.update",
  "email.mailbox.delete",
  "email.message.send",
  "email.message.query",
  "phone.number.us.30d",
  "phone.number.ca.30d",
  "phone.number.renew.30d",
  "phone.call.outbound.1m",
  "phone.call.outbound.5m",
  "phone.call.extend.1m",
  "phone.call.inbound.add.10m",
  "phone.number.release",
  "phone.number.list",
  "phone.call.get",
  "phone.call.transcript",
  "events.realtime-token",
  "events.list",
  "events.get",
  "events.ack",
  "events.ack-all",
  "domain.register"
])
export type ServiceId = typeof ServiceId.Type
