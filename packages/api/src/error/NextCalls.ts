import { type ResourceKind, serviceEntry, type ServiceId } from "@agentos/core"
import type { NextCall } from "./ErrorEnvelope.ts"

/** The call of a service, without the body that it may need. */
export const callOf = (serviceId: ServiceId): NextCall => {
  const { method, path } = serviceEntry(serviceId)
  return { method, path }
}

/** The same call again, for requests of the kind that the API has. */
export const again = (request: { readonly method: string; readonly path: string }): NextCall | undefined =>
  request.method === "GET" || request.method === "POST" ? { method: request.method, path: request.path } : undefined

const LIST_OF: Readonly<Record<ResourceKind, NextCall | undefined>> = {
  mailbox: callOf("email.mailbox.list"),
  message: callOf("email.message.query"),
  event: { ...callOf("events.list"), body: {} },
  number: callOf("phone.number.list"),
  call: undefined,
  service: callOf("discovery.services")
}

/** The list in which a caller finds the ids of a kind that are its own. */
export const listOf = (kind: ResourceKind): NextCall | undefined => LIST_OF[kind]
