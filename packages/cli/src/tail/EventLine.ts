import { isRecord } from "../file/JsonValue.ts"
import type { Output } from "../output/Output.ts"
import { displayWidth, plainJson, plainLine, truncate } from "../output/Plain.ts"
import { momentOf } from "../output/Wording.ts"
import type { TailEvent } from "./Delivery.ts"

/** What a person would call the thing that the event is about. */
export const aboutOf = (payload: Readonly<Record<string, unknown>>): string | undefined => {
  const { authentication, from, number, price, serviceId, subject } = payload
  if (typeof serviceId === "string")
    return isRecord(price) ? `${serviceId}, ${String(price["amount"])} ${String(price["asset"])}` : serviceId
  if (typeof from === "string") {
    const verdict = isRecord(authentication) ? ` (DMARC ${String(authentication["dmarc"])})` : ""
    return typeof subject === "string" ? `${from}${verdict}: ${subject}` : `${from}${verdict}`
  }
  return typeof number === "string" ? number : undefined
}

/** Columns of all but what the event is about. */
const REST_COLUMNS = 79
/** What is left for that on a narrow terminal, where lines are then broken. */
const ABOUT_COLUMNS = 30

/** An event as one line of JSON, or as one for people, fit for a terminal so wide. */
export const eventLine = (
  event: TailEvent,
  output: Output,
  form: { readonly json: boolean; readonly columns: number | undefined }
): string => {
  if (form.json) return `${plainJson(event)}\n`
  const width = Math.max(ABOUT_COLUMNS, (form.columns ?? 0) - REST_COLUMNS)
  const about = truncate(plainLine(aboutOf(event.payload) ?? event.resourceId), width)
  const type = output.bold(plainLine(event.type).padEnd(17))
  const created = plainLine(momentOf(event.createdAt) ?? "")
  return `${created}  ${type}  ${about}${" ".repeat(width - displayWidth(about))}  ${plainLine(event.eventId)}\n`
}
