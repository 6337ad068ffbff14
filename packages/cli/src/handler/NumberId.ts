import { Failure } from "../failure/Failure.ts"
import { momentOf } from "../output/Wording.ts"
import type { ApiClient, DataOf } from "../server/ApiClient.ts"

/** A number as the API describes it. */
export type PhoneNumber = DataOf<"listNumbers">["items"][number]

/** The id of a number that is named by its id or by itself. */
export const numberIdOf = async (client: ApiClient, text: string): Promise<string> => {
  if (!text.startsWith("+")) return text
  const { items } = await client.call("listNumbers")
  // One that was given back may have been bought again: the newest counts.
  const found = items
    .filter(({ number }) => number === text)
    .toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1))[0]
  if (found !== undefined) return found.phoneNumberId
  throw new Failure({ code: "NOT_FOUND", message: `You have no number ${text}.`, next: ["agentctl number list"] })
}

/** The id of the number that is meant where none is named: the only one that is not given back. */
export const onlyNumberId = async (client: ApiClient): Promise<string> => {
  const { items } = await client.call("listNumbers")
  const usable = items.filter(({ status }) => status === "active" || status === "expiring")
  const [only, ...more] = usable
  if (only !== undefined && more.length === 0) return only.phoneNumberId
  throw new Failure({
    code: "USAGE",
    message: only === undefined ? "You have no number to call from." : "You have several numbers: say which by --from.",
    next: [only === undefined ? "agentctl number buy us" : "agentctl number list"]
  })
}

/** What people are shown of a number. */
export const numberFields = (phoneNumber: PhoneNumber) =>
  [
    ["Number", phoneNumber.number],
    ["Id", phoneNumber.phoneNumberId],
    ["Status", phoneNumber.status],
    ["Until", momentOf(phoneNumber.entitlement.expiresAt)],
    ["Inbound", `${phoneNumber.inboundAllowance.remainingSeconds} s left`],
    ["Agent", phoneNumber.agentName],
    ["Webhook", phoneNumber.agentWebhookUrl]
  ] as const
