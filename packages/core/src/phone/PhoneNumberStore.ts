import { Context, Effect, Option } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"

/** The key of a number: its tenant and its id. */
export type NumberKey = Pick<PhoneNumber, "tenantId" | "phoneNumberId">

export interface NumberReservation {
  readonly number: string
  readonly operationId: string
}

/**
 * The port that stores numbers, and the numbers that purchases have reserved.
 *
 * A number is in one place at a time: reserved by one purchase, or stored as one unreleased `PhoneNumber`.
 */
export class PhoneNumberStore extends Context.Service<
  PhoneNumberStore,
  {
    readonly find: (tenantId: TenantId, phoneNumberId: string) => Effect.Effect<Lookup<PhoneNumber>>
    /** Returns those of these numbers that exist for the given tenants, from one query, in no defined order. */
    readonly findEach: (keys: ReadonlyArray<NumberKey>) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Returns all numbers of the tenant, including released ones, oldest first. */
    readonly list: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Returns the unreleased number of any tenant, for reports of a carrier. */
    readonly findByNumber: (number: string) => Effect.Effect<Option.Option<PhoneNumber>>
    /** Returns those of these numbers that are not released, of any tenant. */
    readonly findByNumbers: (numbers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /**
     * Reserves a number for an operation, in place of any that it had reserved before. Returns `taken` if another
     * operation has reserved the number or it is stored and unreleased; then the previous reservation of the operation
     * stays.
     */
    readonly reserve: (number: string, operationId: string) => Effect.Effect<"reserved" | "taken">
    readonly reservation: (operationId: string) => Effect.Effect<Option.Option<string>>
    /** Returns the reservations of these numbers, in no defined order. */
    readonly findReserved: (numbers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<NumberReservation>>
    /** Returns at most `limit` reservations of operations after `after`, in the order of the operations' ids. */
    readonly reservations: (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<NumberReservation>>
    readonly release: (operationId: string) => Effect.Effect<void>
    /** Stores a number that the operation has reserved and bought, and ends the reservation. */
    readonly create: (number: PhoneNumber, operationId: string) => Effect.Effect<void>
    /**
     * Replaces the number if the tenant has an unreleased number with this id, and returns whether it was replaced. The
     * telephone number itself never changes, and a released number never changes at all. Code that calls this must hold
     * the tenant's lock.
     */
    readonly update: (number: PhoneNumber) => Effect.Effect<boolean>
    /**
     * Applies `update` to all these numbers in one statement, and returns one result each in the order given. Code that
     * calls this must hold the locks of all their tenants. Naming a number twice is a defect.
     */
    readonly updateEach: (numbers: ReadonlyArray<PhoneNumber>) => Effect.Effect<ReadonlyArray<boolean>>
    /** Returns at most `limit` active numbers whose next notice is due at `now`, the longest overdue first. */
    readonly dueForNotice: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Returns at most `limit` active numbers whose entitlement is over at `now`, the earliest end first. */
    readonly expired: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Returns at most `limit` suspended numbers with ids after `after`, in the order of their ids. */
    readonly suspended: (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Returns at most `limit` unreleased numbers with ids after `after`, in the order of their ids. */
    readonly unreleased: (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
  }
>()("@agentos/core/phone/PhoneNumberStore") {}
