import { Effect, Schema } from "effect"
import { Conflict, invalid } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { PaidService } from "../payment/PaidService.ts"
import * as TokenGrant from "../payment/TokenGrant.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { CreateMailboxInput } from "./EmailInput.ts"
import { EmailProvider } from "./EmailProvider.ts"
import * as LocalPart from "./LocalPart.ts"
import { type Mailbox, toMailboxRecord } from "./Mailbox.ts"
import { MailboxStore } from "./MailboxStore.ts"
import * as SenderPolicy from "./SenderPolicy.ts"

const Plan = Schema.Struct({ ...TokenGrant.TokenGrantPlan, mailboxId: Uuid.Uuid })
type Plan = typeof Plan.Type

/**
 * Creates a mailbox and returns the access token of the wallet. No provider is called: all mail for the domain already
 * arrives at this service.
 */
export const mailboxCreation = Effect.gen(function* () {
  const store = yield* MailboxStore
  const provider = yield* EmailProvider
  const authenticationOf = yield* TokenGrant.make

  /** The conflict that tells a tenant from others. A wallet without a token is told apart only after it has paid. */
  const taken = Effect.fnUntraced(function* (localPart: string, tenantId: TenantId | null) {
    const address = `${localPart}@${provider.domain}`
    const own = tenantId === null ? [] : yield* store.list(tenantId)
    const existing = own.find((mailbox) => mailbox.localPart === localPart)
    return yield* new Conflict({
      ...(existing === undefined ? {} : { read: { kind: "mailbox" as const, id: existing.mailboxId } }),
      message:
        existing === undefined
          ? `localPart is already taken: ${address}. Choose another one, or send your access token if the mailbox was yours.`
          : `localPart is already taken: you own ${address}, the mailbox ${existing.mailboxId}. Use that mailbox, or choose another localPart.`
    })
  })

  /** Whether the local part is available to this tenant only, because it owned a mailbox with it before. */
  const hadBefore = Effect.fnUntraced(function* (localPart: string, tenantId: TenantId | null) {
    return (
      tenantId !== null &&
      !(yield* store.isAvailable(localPart, null)) &&
      (yield* store.isAvailable(localPart, tenantId))
    )
  })

  const service: PaidService<CreateMailboxInput, Plan, void> = {
    serviceId: "email.mailbox.create",
    input: CreateMailboxInput,
    plan: Plan,
    retryFor: Timestamp.HOUR,
    check: Effect.fnUntraced(function* (tenant, input) {
      const localPart = LocalPart.fold(input.localPart)
      const tenantId = tenant?.tenantId ?? null
      // A name may have become reserved after it was sold. It still belongs to the wallet that first owned it.
      if (LocalPart.isReserved(localPart) && !(yield* hadBefore(localPart, tenantId))) {
        return yield* invalid("localPart", "is reserved for the operator of the domain. Choose another one")
      }
      if (!(yield* store.isAvailable(localPart, tenantId))) return yield* taken(localPart, tenantId)
    }),
    prepare: Effect.fnUntraced(function* (context, input) {
      const localPart = LocalPart.fold(input.localPart)
      const reservation = yield* store.reserve(localPart, context.tenant.tenantId, context.operationId)
      return reservation === "reserved"
        ? { ...TokenGrant.planOf(context), mailboxId: yield* Uuid.next }
        : yield* taken(localPart, context.tenant.tenantId)
    }),
    abandon: (context) => store.release(context.operationId),
    perform: () => Effect.void,
    record: Effect.fnUntraced(function* ({ createdAt, operationId, tenant }, plan, input) {
      const localPart = LocalPart.fold(input.localPart)
      const mailbox: Mailbox = {
        mailboxId: plan.mailboxId,
        tenantId: tenant.tenantId,
        localPart,
        address: `${localPart}@${provider.domain}`,
        displayName: input.displayName || null,
        outboundSignature: input.outboundSignature || null,
        active: true,
        senderPolicy: SenderPolicy.fromInput(input.senderPolicy ?? {}),
        createdAt,
        updatedAt: createdAt
      }
      yield* store.create(mailbox, operationId)
      const authentication = yield* authenticationOf(tenant, plan)
      return { created: true, data: { mailbox: toMailboxRecord(mailbox), authentication } }
    })
  }
  return service
})
