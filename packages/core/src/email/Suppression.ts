import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { MailPolicy } from "./MailPolicy.ts"
import type { MessageStore } from "./MessageStore.ts"
import * as SendingQuota from "./SendingQuota.ts"

/**
 * Suppresses (folded) addresses that bounced or complained, and counts them in the tenant's sending record, which may
 * pause its sending. Must run under the tenant's lock. An address that is suppressed already does not count again.
 */
export const suppress = Effect.fnUntraced(function* (
  messages: MessageStore["Service"],
  policy: MailPolicy,
  tenantId: TenantId,
  addresses: ReadonlyArray<string>,
  reason: SendingQuota.PauseReason
) {
  if (addresses.length === 0) return
  const more = yield* messages.suppress(tenantId, addresses, reason)
  const now = yield* Timestamp.now
  const record = SendingQuota.today(policy.sending, yield* messages.findSending(tenantId), now)
  yield* messages.putSending(tenantId, SendingQuota.withFeedback(policy.sending, record, reason, more, now))
})
