import { type Conflict, onboardingService, type ResourceKind, serviceEntry, type ServiceId } from "@agentos/core"
import type { NextCall } from "../schema/NextCall.ts"
import type { FailedRequest } from "./ErrorEnvelope.ts"

/** Returns the call of a service, without a body. */
export const callOf = (serviceId: ServiceId): NextCall => {
  const { method, path } = serviceEntry(serviceId)
  return { method, path }
}

/** Returns the same call for a retry, or undefined for a method that the API does not have. */
export const retryOf = (request: { readonly method: string; readonly path: string }): NextCall | undefined =>
  request.method === "GET" || request.method === "POST" || request.method === "DELETE"
    ? { method: request.method, path: request.path }
    : undefined

/** Returns the call of the start-here service that fits the request, or undefined if this server offers none. */
export const startOf = ({ capabilities, entry }: FailedRequest): NextCall | undefined => {
  const service = onboardingService(entry, capabilities)
  return service === undefined ? undefined : callOf(service.serviceId)
}

const LIST_OF: Readonly<Record<ResourceKind, NextCall | undefined>> = {
  mailbox: callOf("email.mailbox.list"),
  message: callOf("email.message.query"),
  thread: callOf("email.thread.query"),
  attachment: undefined,
  event: { ...callOf("events.list"), body: {} },
  number: callOf("phone.number.list"),
  call: callOf("phone.call.list"),
  service: callOf("discovery.services"),
  tenant: undefined,
  job: undefined,
  webhook: undefined,
  operation: undefined,
  operator: undefined,
  "event webhook": undefined,
  "waiting mail": undefined,
  "waiting message": undefined
}

/** For the kinds without a list: the call that shows the resource inside another one, makes it or finds it otherwise. */
const INSTEAD_OF_LIST: { readonly [Kind in ResourceKind]?: NextCall } = {
  attachment: callOf("email.message.query"),
  webhook: callOf("events.webhook.set"),
  operation: callOf("payment.status")
}

/** Returns the call to make when a resource of a kind was not found. */
export const findOf = (kind: ResourceKind): NextCall | undefined => LIST_OF[kind] ?? INSTEAD_OF_LIST[kind]

/** Returns the call that lists the caller's own resources of a kind, if there is one. */
export const listOf = (kind: ResourceKind): NextCall | undefined => LIST_OF[kind]

export const paymentOf = (operationId: string): NextCall => {
  const { method, path } = callOf("payment.get")
  return { method, path: path.replace("{operationId}", operationId) }
}

/** Returns the call that reads one resource, or the list of its kind if it is not known by id or has no such call. */
export const readOf = ({ id, kind }: NonNullable<Conflict["read"]>): NextCall | undefined => {
  if (kind !== "call" || id === null) return listOf(kind)
  const { method, path } = callOf("phone.call.get")
  return { method, path: path.replace("{callId}", id) }
}
