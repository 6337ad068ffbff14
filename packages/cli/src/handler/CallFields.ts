import { momentOf } from "../output/Wording.ts"
import type { DataOf } from "../server/ApiClient.ts"

/** What people are shown of a call. */
export const callFields = (call: DataOf<"getCall">["call"]) =>
  [
    ["Call", call.callId],
    ["Direction", call.direction],
    ["From", call.fromNumber],
    ["To", call.toNumber],
    ["Status", call.status],
    ["End reason", call.endReason],
    ["Connected", `${call.connectedSeconds} of ${call.authorizedSeconds} s`],
    ["Created", momentOf(call.createdAt)],
    ["Answered", momentOf(call.answeredAt)],
    ["Ended", momentOf(call.endedAt)],
    ["Number", call.phoneNumberId]
  ] as const
