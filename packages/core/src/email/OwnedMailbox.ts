import { Effect } from "effect"
import { type Lookup, orFail } from "../kernel/Lookup.ts"
import type { ResourceNotFound, ResourceNotOwned } from "../kernel/ResourceError.ts"
import { ResourceGone } from "../payment/PaidService.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import type { Mailbox } from "./Mailbox.ts"
import type { MailboxStore } from "./MailboxStore.ts"

/** Returns what is found of the tenant's own mailbox. A paid service that needs one is never offered without a tenant. */
export const owned = <A>(
  tenant: Tenant | null,
  mailboxId: string,
  find: (tenant: Tenant) => Effect.Effect<Lookup<A>>
): Effect.Effect<A, ResourceNotFound | ResourceNotOwned> =>
  tenant === null
    ? Effect.die(new Error("a service on a mailbox was called without a tenant"))
    : Effect.flatMap(find(tenant), (found) => orFail(found, "mailbox", mailboxId))

/** Returns the tenant's own mailbox. */
export const ownedMailbox = (
  store: MailboxStore["Service"],
  tenant: Tenant | null,
  mailboxId: string
): Effect.Effect<Mailbox, ResourceNotFound | ResourceNotOwned> =>
  owned(tenant, mailboxId, ({ tenantId }) => store.find(tenantId, mailboxId))

/** Returns the mailbox that was paid for, or fails with `ResourceGone` if it was deleted since. */
export const remainingMailbox = (
  store: MailboxStore["Service"],
  tenant: Tenant,
  mailboxId: string
): Effect.Effect<Mailbox, ResourceGone> =>
  Effect.mapError(
    ownedMailbox(store, tenant, mailboxId),
    () => new ResourceGone({ message: "The mailbox was deleted before the operation could complete." })
  )
