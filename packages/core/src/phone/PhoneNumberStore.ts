import { Context, Effect, Option } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"

/** Which number, and whose. */
export type NumberKey = Pick<PhoneNumber, "tenantId" | "phoneNumberId">

/**
 * The port that keeps numbers, and which number a purchase is about to buy.
 *
 * A number is in one place at a time: one purchase has chosen it, or one
 * unreleased `PhoneNumber` is it.
 */
export class PhoneNumberStore extends Context.Service<
  PhoneNumberStore,
  {
    readonly find: (tenantId: TenantId, phoneNumberId: string) => Effect.Effect<Lookup<PhoneNumber>>
    /** Those of these numbers that are there, each its own tenant's, in one go and in no order. */
    readonly findEach: (keys: ReadonlyArray<NumberKey>) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** All numbers of the tenant, released ones included, oldest first. */
    readonly list: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** The number that is not released, of whatever tenant: for what comes from a carrier. */
    readonly findByNumber: (number: string) => Effect.Effect<Option.Option<PhoneNumber>>
    /** Those of these numbers that are not released, of whatever tenant. */
    readonly findByNumbers: (numbers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /**
     * Writes down that an operation will buy this number, in place of any that it had chosen before; `taken` when
     * another has chosen it or it is ours, and then what it had chosen before stays so.
     */
    readonly choose: (number: string, operationId: string) => Effect.Effect<"chosen" | "taken">
    /** What an operation has chosen. */
    readonly chosen: (operationId: string) => Effect.Effect<Option.Option<string>>
    /** Those of these numbers that some operation has chosen. */
    readonly findChosen: (numbers: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
    /** Gives up what the operation has chosen. */
    readonly unchoose: (operationId: string) => Effect.Effect<void>
    /** Stores a number that the operation has chosen, and bought, which is the end of the choice. */
    readonly create: (number: PhoneNumber, operationId: string) => Effect.Effect<void>
    /**
     * Replaces the number, if the tenant has one of its id that is not released; whether it did. Which number it is
     * never changes, nor does anything of one that is released. Callers hold the tenant's lock.
     */
    readonly update: (number: PhoneNumber) => Effect.Effect<boolean>
    /**
     * `update` of each of these numbers, in one go: one answer each in the order given. Callers hold the locks of all
     * their tenants. To name a number twice is a defect.
     */
    readonly updateEach: (numbers: ReadonlyArray<PhoneNumber>) => Effect.Effect<ReadonlyArray<boolean>>
    /** Active numbers whose next notice is due at `now`, the longest due first; `limit` at most. */
    readonly dueForNotice: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Active numbers whose entitlement is over at `now`, the longest over first; `limit` at most. */
    readonly expired: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Suspended numbers, in the order of their ids after `after`; `limit` at most. */
    readonly suspended: (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Numbers that are not released, in the order of their ids after `after`; `limit` at most. */
    readonly unreleased: (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
  }
>()("@agentos/core/phone/PhoneNumberStore") {}
