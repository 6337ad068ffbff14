import { Context, Effect } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { Mailbox } from "./Mailbox.ts"
import type { RefusedMails } from "./RefusedMail.ts"
import type { MailUsage } from "./MailPolicy.ts"
import type { SendingRecord } from "./SendingQuota.ts"

/** The facts that decide whether a mailbox accepts another message. */
export interface MailboxStanding {
  readonly usage: MailUsage
  /** Of all mailboxes of its tenant. */
  readonly tenantUsage: MailUsage
  readonly isTenantSuspended: boolean
}

/** A mailbox, and the facts that decide whether it may send a message to some addresses. */
export interface MailboxSender {
  readonly mailbox: Mailbox
  readonly standing: MailboxStanding
  /** Those of the addresses that the tenant may no longer write to. */
  readonly suppressed: ReadonlyArray<string>
  /** The sending of the tenant; undefined if it has never sent. */
  readonly sending: SendingRecord | undefined
}

export type Reservation = "reserved" | "taken"

/**
 * The port that stores mailboxes and the reservations of local parts.
 *
 * A local part belongs permanently to the tenant that first had a mailbox with it. An unpaid operation reserves it only
 * until the operation is paid or abandoned.
 */
export class MailboxStore extends Context.Service<
  MailboxStore,
  {
    readonly find: (tenantId: TenantId, mailboxId: string) => Effect.Effect<Lookup<Mailbox>>
    /** All mailboxes of the tenant, oldest first. */
    readonly list: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<Mailbox>>
    /** Returns the active mailboxes with these (folded) local parts, of any tenant. For inbound mail only. */
    readonly findActive: (localParts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Mailbox>>
    /**
     * Returns the usage of mailboxes and of their tenants, including mail that waits for delivery. Mailboxes that do
     * not exist are left out. Reads counters, never messages.
     */
    readonly findStandings: (mailboxIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, MailboxStanding>>
    /**
     * Returns the mailbox as a sender to these (folded) addresses, all read at the same moment, as a statement for each
     * would make every message wait.
     */
    readonly findSender: (
      tenantId: TenantId,
      mailboxId: string,
      addresses: ReadonlyArray<string>
    ) => Effect.Effect<Lookup<MailboxSender>>
    /**
     * Whether the local part is available to a tenant (null: to a wallet that is not a tenant yet): no mailbox uses it,
     * no other operation reserves it, and it never belonged to another tenant.
     */
    readonly isAvailable: (localPart: string, tenantId: TenantId | null) => Effect.Effect<boolean>
    /** Reserves a local part for an operation, if it is available to its tenant. */
    readonly reserve: (localPart: string, tenantId: TenantId, operationId: string) => Effect.Effect<Reservation>
    /** Releases the reservation of the operation if it did not become permanent. */
    readonly release: (operationId: string) => Effect.Effect<void>
    /** Stores a mailbox under the reservation of the operation, which then permanently belongs to the tenant. */
    readonly create: (mailbox: Mailbox, operationId: string) => Effect.Effect<void>
    /** Adds counts to those of the active mailbox with this (folded) local part, if there is one. */
    readonly addRefused: (localPart: string, refused: RefusedMails) => Effect.Effect<void>
    /** Replaces the mailbox, except `refused`, if the tenant still has it, and returns whether it was replaced. */
    readonly update: (mailbox: Mailbox) => Effect.Effect<boolean>
    /**
     * Deletes the mailbox, its messages and their raw mail. Returns the number of messages, or undefined if the mailbox
     * did not exist.
     */
    readonly remove: (tenantId: TenantId, mailboxId: string) => Effect.Effect<number | undefined>
  }
>()("@agentos/core/email/MailboxStore") {}
