import { Context, Effect } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { Mailbox } from "./Mailbox.ts"
import type { MailUsage } from "./MailPolicy.ts"

/** What decides whether a mailbox takes another message. */
export interface MailboxStanding {
  readonly usage: MailUsage
  /** Of all mailboxes of its tenant. */
  readonly tenantUsage: MailUsage
  readonly isTenantSuspended: boolean
}

export type Reservation = "reserved" | "taken"

/**
 * The port that keeps mailboxes and the reservations of local parts.
 *
 * A local part belongs for ever to the tenant that first had a mailbox of it. An
 * operation that is not yet paid holds it only until it is paid or given up.
 */
export class MailboxStore extends Context.Service<
  MailboxStore,
  {
    readonly find: (tenantId: TenantId, mailboxId: string) => Effect.Effect<Lookup<Mailbox>>
    /** All mailboxes of the tenant, oldest first. */
    readonly list: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<Mailbox>>
    /** The active mailboxes of these (folded) local parts, of whatever tenant: for inbound mail alone. */
    readonly findActive: (localParts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Mailbox>>
    /**
     * What mailboxes and their tenants store, mail that waits to be delivered included; one that does not exist is left
     * out. Reads counters, never messages.
     */
    readonly findStandings: (mailboxIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, MailboxStanding>>
    /**
     * Whether the local part is free for a tenant (null: for a wallet that is not one yet):
     * no mailbox has it, no other operation holds it and it never belonged to another tenant.
     */
    readonly isAvailable: (localPart: string, tenantId: TenantId | null) => Effect.Effect<boolean>
    /** Reserves a local part for an operation, if it is available to its tenant. */
    readonly reserve: (localPart: string, tenantId: TenantId, operationId: string) => Effect.Effect<Reservation>
    /** Gives up what the operation reserved and never came to own. */
    readonly releaseReservation: (operationId: string) => Effect.Effect<void>
    /** Stores a mailbox under the reservation that the operation holds, which becomes the tenant's own for ever. */
    readonly create: (mailbox: Mailbox, operationId: string) => Effect.Effect<void>
    /** Replaces the mailbox, if the tenant still has it; whether it did. */
    readonly update: (mailbox: Mailbox) => Effect.Effect<boolean>
    /** Deletes the mailbox, its messages and their raw mail; answers how many messages, or none when it was gone. */
    readonly remove: (tenantId: TenantId, mailboxId: string) => Effect.Effect<number | undefined>
  }
>()("@agentos/core/email/MailboxStore") {}
